// The expected gradient: a sum over all histograms of scores, as estimators/theory/channel_field.cpp has it, with the answers in place of the definition.
#include "estimators/conformance/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "estimators/theory/setting.hpp"

namespace odrpo {
namespace {

using Values = std::vector<double>;

/// channel[quality][score] = P(score | quality) of a judge over `levels`.
std::vector<double> channel_of(int levels, double wrong, double generous) {
  const auto n = static_cast<std::size_t>(levels);
  Values channel(n * n, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < n; ++k) channel[j * n + k] += wrong / static_cast<double>(n);
    channel[j * n + j] += (1 - wrong) * (1 - generous);
    channel[j * n + std::min(j + 1, n - 1)] += (1 - wrong) * generous;
  }
  return channel;
}

/// E[(1/M) sum over members i of A_i (1[quality of i = j] - p_j)] of a policy p over qualities, for advantages[histograms][members].
Values expected_gradient(const Question& q, std::span<const double> advantages, const Values& p, const Values& channel) {
  const std::size_t levels = p.size();
  Values seen(levels, 0.0), gradient(levels, 0.0);
  for (std::size_t j = 0; j < levels; ++j)
    for (std::size_t k = 0; k < levels; ++k) seen[k] += p[j] * channel[j * levels + k];
  const Multinomial multinomial(seen, q.members);
  std::vector<int> counts(levels);
  for (std::size_t g = 0; g < q.groups(); ++g) {
    const auto scores = q.group(q.scores, g), a = q.group(advantages, g);
    std::fill(counts.begin(), counts.end(), 0);
    for (const double s : scores) ++counts[static_cast<std::size_t>(s) - 1];
    const double weight = multinomial(counts) / q.members;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::size_t k = static_cast<std::size_t>(scores[i]) - 1;
      for (std::size_t j = 0; j < levels && seen[k] > 0; ++j) gradient[j] += weight * a[i] * (p[j] * channel[j * levels + k] / seen[k] - p[j]);
    }
  }
  return gradient;
}

double product(const Values& a, const Values& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

}  // namespace

void EstimatorComparison::add_gradients(const EstimatorVariant& variant, Conformance& out) const {
  if (variant.whitening.on) return;
  const auto at = std::find_if(asked_.begin(), asked_.end(), [](const AnsweredBatch& a) { return a.question.check == Check::histograms; });
  const Question& q = at->question;
  if (std::any_of(at->answer.begin(), at->answer.end(), [](double a) { return a != a; })) return;
  const Values expected = expected_of(variant, q);
  const int levels = histogram_levels(o_.levels);
  Values even(static_cast<std::size_t>(levels), 1.0 / levels), tilted;
  for (int j = 0; j < levels; ++j) tilted.push_back(std::ldexp(1.0, -j) / (2 - std::ldexp(2.0, -levels)));
  struct Judge {
    const char* name;
    double wrong, generous;
  };
  for (const Judge& judge : {Judge{"exact", 0, 0}, Judge{"30 % of the scores random", 0.3, 0}, Judge{"half the scores a level higher", 0, 0.5}})
    for (const auto& [name, p] : {std::pair("even", &even), std::pair("mostly low", &tilted)}) {
      const Values channel = channel_of(levels, judge.wrong, judge.generous);
      const Values mine = expected_gradient(q, at->answer, *p, channel), definition = expected_gradient(q, expected, *p, channel);
      Values gap = mine;
      for (std::size_t j = 0; j < gap.size(); ++j) gap[j] -= definition[j];
      const double size = std::sqrt(product(definition, definition)), own = std::sqrt(product(mine, mine));
      out.gradients.push_back({judge.name, name, mine, definition, std::sqrt(product(gap, gap)) / size, product(mine, definition) / (size * own), own / size});  // 0 / 0 is NaN
    }
}

}  // namespace odrpo
