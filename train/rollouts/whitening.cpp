// Whitens the advantages of one step of a dump in double, where lengths may be large.
#include "estimators/batch.hpp"
#include "kernels/system/fail.hpp"
#include "train/rollouts/logged.hpp"

namespace odrpo {

void whiten_step(const Whitening& whitening, std::span<const double> reward, std::span<const double> length, std::span<double> advantage) {
  const bool by_token = whitening.unit == WhitenUnit::token;
  const auto times = [&](std::size_t i) {
    if (reward[i] != reward[i]) return 0.0;
    if (!by_token) return 1.0;
    if (!(i < length.size() && length[i] >= 0)) fail(Exit::limits, "whitening over tokens needs the length of every completion");
    return length[i];
  };
  double count = 0, sum = 0, first = 0;
  bool equal = true;
  for (std::size_t i = 0; i < advantage.size(); ++i) {
    const double c = times(i);
    if (c == 0) {
      advantage[i] = 0;
      continue;
    }
    if (count == 0) first = advantage[i];
    equal = equal && advantage[i] == first;
    count += c, sum += c * (advantage[i] - first);
  }
  if (!whitening.on) return;
  const double mean = sum / count;  // of the differences from the first advantage
  double squares = 0;
  for (std::size_t i = 0; i < advantage.size(); ++i) {
    const double d = (advantage[i] - first) - mean;
    squares += times(i) * d * d;
  }
  const double scale = whitening_scale(whitening, squares / (count - whitening.ddof));
  for (std::size_t i = 0; i < advantage.size(); ++i)
    if (times(i) != 0) advantage[i] = equal ? 0.0 : (whitening.centred ? (advantage[i] - first) - mean : advantage[i]) / scale;
}

}  // namespace odrpo
