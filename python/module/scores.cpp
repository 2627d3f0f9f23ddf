// Reads scores and masks of any type and strides.
#include "python/module/scores.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <vector>

#include "app/compute/arguments.hpp"

namespace odrpo::python {
namespace {

template <class T>
void read_as(const Matrix& m, std::size_t first, std::size_t count, double* out) {
  const auto step = m.member_stride;
  for (std::size_t g = first; g < first + count; ++g, out += m.members) {
    const T* row = static_cast<const T*>(m.data) + static_cast<std::ptrdiff_t>(g) * m.group_stride;
    if (step == 1)
      for (std::size_t i = 0; i < m.members; ++i) out[i] = static_cast<double>(row[i]);
    else
      for (std::size_t i = 0; i < m.members; ++i) out[i] = static_cast<double>(row[static_cast<std::ptrdiff_t>(i) * step]);
  }
}

std::string place_of(const Scores& s, const char* what, std::size_t group, std::size_t member) {
  return s.one_group ? fmt::format("{}[{}]", what, member) : fmt::format("{}[{}, {}]", what, group, member);
}

/// Throws for the first of these numbers that is no score.
[[noreturn]] void refuse(const Scores& s, std::size_t first, std::span<const double> numbers, std::span<const double> mask) {
  std::size_t i = 0;
  while ((!mask.empty() && mask[i] == 0) || std::abs(numbers[i]) <= app::any_number) ++i;
  const std::string place = place_of(s, "scores", first + i / s.members(), i % s.members());
  if (std::isnan(numbers[i])) throw BadScore(place + " is nan: a score that is missing is one that `mask` leaves out");
  throw BadScore(fmt::format("{}: {} is not in {} .. {}", place, numbers[i], -app::any_number, app::any_number));
}

}  // namespace

void read_numbers(const Matrix& m, std::size_t first, std::size_t count, std::span<double> out) {
  double* to = out.data();
  switch (m.number) {
    case Number::float32: return read_as<float>(m, first, count, to);
    case Number::float64: return read_as<double>(m, first, count, to);
    case Number::int8: return read_as<std::int8_t>(m, first, count, to);
    case Number::int16: return read_as<std::int16_t>(m, first, count, to);
    case Number::int32: return read_as<std::int32_t>(m, first, count, to);
    case Number::int64: return read_as<std::int64_t>(m, first, count, to);
    case Number::uint8: return read_as<std::uint8_t>(m, first, count, to);
    case Number::uint16: return read_as<std::uint16_t>(m, first, count, to);
    case Number::uint32: return read_as<std::uint32_t>(m, first, count, to);
    case Number::uint64: return read_as<std::uint64_t>(m, first, count, to);
    case Number::boolean: return read_as<bool>(m, first, count, to);
  }
}

bool Scores::read_levels(std::size_t first, std::size_t count, int most, std::span<std::uint8_t> out) const {
  if (mask.data != nullptr || scores.number != Number::float32 || scores.member_stride != 1 || scores.group_stride != static_cast<std::ptrdiff_t>(scores.members))
    return false;
  const float* from = static_cast<const float*>(scores.data) + first * scores.members;
  int broken = 0;
  for (std::size_t i = 0; i < count * scores.members; ++i) {  // without branches: several at a time
    const float x = from[i];
    const int level = static_cast<int>(x >= 0 && x <= 255 ? x : 0);
    broken |= (static_cast<float>(level) != x) | (level > most);
    out[i] = static_cast<std::uint8_t>(level);
  }
  return broken == 0;
}

void Scores::read(std::size_t first, std::size_t count, std::span<double> out) const {
  read_numbers(scores, first, count, out);
  std::vector<double> there(mask.data == nullptr ? 0 : out.size());
  if (!there.empty()) read_numbers(mask, first, count, there);
  double largest = 0;  // a comparison with NaN is false, so the sum finds it
  double sum = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double x = there.empty() || there[i] != 0 ? out[i] : 0;
    largest = std::abs(x) > largest ? std::abs(x) : largest;
    sum += x - x;
  }
  if (!(sum == 0) || largest > app::any_number) refuse(*this, first, out, there);
  for (std::size_t i = 0; i < there.size(); ++i)
    if (std::isnan(there[i])) throw BadScore(place_of(*this, "mask", first + i / members(), i % members()) + " is nan");
    else if (there[i] == 0) out[i] = std::numeric_limits<double>::quiet_NaN();
}

}  // namespace odrpo::python
