// Implements batch.hpp.
#include "estimators/outside/batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace odrpo {
namespace {

constexpr double agreement = 1e-5;

/// The groups of `values` in reverse, each of `size` values.
template <class T>
std::vector<T> reversed(std::span<const T> values, std::size_t size) {
  std::vector<T> turned;
  turned.reserve(values.size());
  for (std::size_t g = values.size() / size; g-- > 0;) turned.insert(turned.end(), values.begin() + g * size, values.begin() + (g + 1) * size);
  return turned;
}

}  // namespace

std::string disagreement(const OutsideBatch& batch, std::span<const double> first, const std::function<void(const OutsideBatch&, std::span<double>)>& ask) {
  const std::size_t members = static_cast<std::size_t>(batch.members);
  const auto prompts = reversed(batch.prompts, 1);
  const auto scores = reversed(batch.scores, members);
  const auto lengths = reversed(batch.lengths, members);
  std::vector<double> again(first.size());
  ask({batch.step, prompts, batch.members, scores, lengths}, again);
  again = reversed(std::span<const double>(again), members);
  double largest = 0;
  for (const double a : first) largest = std::max(largest, std::fabs(a));  // a NaN changes nothing
  for (std::size_t i = 0; i < first.size(); ++i) {
    const bool same = first[i] != first[i] ? again[i] != again[i] : std::fabs(first[i] - again[i]) <= agreement * largest;
    if (!same)
      return fmt::format("the same batch, its groups in another order, gets other advantages: [{}][{}] is {} and then {}. An answer must depend on its request alone, and not on the "
                         "order of groups; an estimator with memory has state = \"run\"",
                         i / members, i % members, first[i], again[i]);
  }
  return "";
}

}  // namespace odrpo
