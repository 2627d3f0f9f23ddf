// Computes moments of updates by sums over histograms, solves for the best map of advantages, and finds the prior that training reaches.
#include "estimators/theory/bound.hpp"

#include <algorithm>
#include <limits>

#include "estimators/definition.hpp"
#include "estimators/theory/others.hpp"
#include "estimators/theory/field.hpp"
#include "kernels/math.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo {
namespace {

constexpr double least_probability = 1e-13;  ///< rarer histograms of a prompt are left out
constexpr double least_pivot = 1e-12;        ///< smaller pivots, relative to the block's largest diagonal element, are rounding

/// Conditional means over a prompt's actions, given their score; s and g* as in BoundPrompt.
struct ByScore {
  std::size_t levels, parameters;
  std::vector<double> seen;   ///< [levels] P(score)
  std::vector<double> along;  ///< [levels] E[<s, g*> | score]
  std::vector<double> own;    ///< [levels] E[|s|^2 | score]
  std::vector<double> mean;   ///< [levels][parameters] E[s | score]
  std::vector<double> gram;   ///< [levels][levels] scalar products of the rows of `mean`

  explicit ByScore(const BoundPrompt& prompt)
      : levels(prompt.channel.size() / prompt.policy.size()),
        parameters(prompt.gradient.size()),
        seen(levels, 0.0),
        along(levels, 0.0),
        own(levels, 0.0),
        mean(levels * parameters, 0.0),
        gram(levels * levels) {
    for (std::size_t a = 0; a < prompt.policy.size(); ++a) {
      const double* s = &prompt.score[a * parameters];
      double square = 0, product = 0;
      for (std::size_t d = 0; d < parameters; ++d) square += s[d] * s[d], product += s[d] * prompt.gradient[d];
      for (std::size_t k = 0; k < levels; ++k) {
        const double p = prompt.policy[a] * prompt.channel[a * levels + k];
        if (p == 0) continue;
        seen[k] += p, along[k] += p * product, own[k] += p * square;
        for (std::size_t d = 0; d < parameters; ++d) mean[k * parameters + d] += p * s[d];
      }
    }
    for (std::size_t k = 0; k < levels; ++k) {
      if (seen[k] == 0) continue;
      along[k] /= seen[k], own[k] /= seen[k];
      for (std::size_t d = 0; d < parameters; ++d) mean[k * parameters + d] /= seen[k];
    }
    for (std::size_t i = 0; i < levels; ++i)
      for (std::size_t j = 0; j < levels; ++j) {
        double sum = 0;
        for (std::size_t d = 0; d < parameters; ++d) sum += mean[i * parameters + d] * mean[j * parameters + d];
        gram[i * levels + j] = sum;
      }
  }
};

/// Calls visit(index, probability, counts) for the histograms of Multi(members, p) that are not too rare, by recursion over levels from the
/// highest. Each level takes a binomial count of the members that are left. Probabilities only fall, so rare branches are cut early.
template <class Visit>
class LikelyHistograms {
 public:
  LikelyHistograms(const HistogramIndex& index, std::span<const double> p, Visit visit)
      : index_(index), visit_(visit), counts_(p.size(), 0), share_(p.size(), 0.0) {
    double below = 0;
    for (std::size_t k = 0; k < p.size(); ++k) {
      below += p[k];
      share_[k] = below > 0 ? p[k] / below : 0;
    }
    go(index.levels() - 1, index.members(), 0, 1);
  }

 private:
  void go(int k, int left, std::size_t place, double probability) {
    const auto level = static_cast<std::size_t>(k);
    if (k == 0 || left == 0) {
      counts_[level] = left;
      visit_(place, k > 0 || share_[0] > 0 || left == 0 ? probability : 0.0, std::span<const int>(counts_));
      counts_[level] = 0;
      return;
    }
    const double share = share_[level], rest = 1 - share;
    for (int n = 0; n <= left; ++n) {  // n ~ Bin(left, share) members at this level
      double of_count = 1;
      for (int i = 0; i < n; ++i) of_count *= share * (left - i) / (i + 1);
      for (int i = n; i < left; ++i) of_count *= rest;
      if (probability * of_count < least_probability) continue;
      counts_[level] = n;
      go(k - 1, left - n, place + index_.before(k, left, n), probability * of_count);
    }
    counts_[level] = 0;
  }
  const HistogramIndex& index_;
  Visit visit_;
  std::vector<int> counts_;
  std::vector<double> share_;  ///< [levels] p_k / (p_1 + .. + p_k)
};

/// Solves X Y = R: X = `x`, a symmetric positive semidefinite matrix [n][n]; R = `right` [n][columns], in the range of X; Y = `out`. Uses
/// pivoted Cholesky decomposition; rows of Y beyond the rank of X get 0.
void solve_semidefinite(std::vector<double> x, std::size_t n, std::span<const double> right, std::size_t columns, std::span<double> out) {
  std::vector<std::size_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = i;
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, x[i * n + i]);
  std::vector<double> lower(n * n, 0.0);
  std::size_t rank = 0;
  for (; rank < n; ++rank) {
    std::size_t pivot = rank;
    for (std::size_t i = rank; i < n; ++i)
      if (x[order[i] * n + order[i]] > x[order[pivot] * n + order[pivot]]) pivot = i;
    std::swap(order[rank], order[pivot]);
    const std::size_t at = order[rank];
    if (!(x[at * n + at] > least_pivot * largest)) break;
    const double root = math::sqrt(x[at * n + at]);
    for (std::size_t i = rank; i < n; ++i) lower[order[i] * n + rank] = x[order[i] * n + at] / root;
    for (std::size_t i = rank + 1; i < n; ++i)
      for (std::size_t j = rank + 1; j < n; ++j) x[order[i] * n + order[j]] -= lower[order[i] * n + rank] * lower[order[j] * n + rank];
  }
  std::vector<double> half(rank);
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t r = 0; r < rank; ++r) {
      double sum = right[order[r] * columns + c];
      for (std::size_t i = 0; i < r; ++i) sum -= lower[order[r] * n + i] * half[i];
      half[r] = sum / lower[order[r] * n + r];
    }
    for (std::size_t i = 0; i < n; ++i) out[i * columns + c] = 0;
    for (std::size_t r = rank; r-- > 0;) {
      double sum = half[r];
      for (std::size_t i = r + 1; i < rank; ++i) sum -= lower[order[i] * n + r] * out[order[i] * columns + c];
      out[order[r] * columns + c] = sum / lower[order[r] * n + r];
    }
  }
}

/// The HistogramIndex of a problem; throws if it would be too large.
HistogramIndex checked_index(const BoundProblem& problem) {
  UpdateMoments::check_size(problem.levels, problem.members);
  return {problem.levels, problem.members};
}

}  // namespace

void UpdateMoments::check_size(int levels, int members) {
  constexpr double steps = 2000;  // estimated elementary steps per histogram
  check_histogram_work(levels, members, steps);
}

UpdateMoments::UpdateMoments(const BoundProblem& problem)
    : index_(checked_index(problem)),
      shared_(problem.shared),
      batch_(problem.batch),
      weight_(1 / static_cast<double>(problem.prompts.size())),
      parameters_(problem.parameters()),
      probability_(index_.histograms(), 0.0),
      along_(index_.entries(), 0.0),
      seen_(index_.entries(), 0.0),
      block_(1, 0) {
  for (std::size_t h = 0; h < index_.histograms(); ++h) {
    const std::size_t n = index_.first(h + 1) - index_.first(h);
    block_.push_back(block_.back() + n * n);
  }
  gram_.resize(block_.back());
  if (shared_) mean_.resize(index_.entries() * parameters_);
  for (const BoundPrompt& prompt : problem.prompts) add_prompt(problem, prompt);
}

void UpdateMoments::add_prompt(const BoundProblem& problem, const BoundPrompt& prompt) {
  const ByScore of(prompt);
  const auto levels = static_cast<std::size_t>(problem.levels);
  double square = 0;
  for (const double g : prompt.gradient) square += g * g;
  goal_square_ += weight_ * square;
  std::vector<std::size_t> has(levels);
  const auto visit = [&](std::size_t place, double probability, std::span<const int> counts) {
    const double p = weight_ * probability;
    if (p == 0) return;
    std::size_t n = 0;
    for (std::size_t k = 0; k < levels; ++k)
      if (counts[k] > 0) has[n++] = k;
    const std::size_t first = index_.first(place);
    double* gram = &gram_[block_[place]];
    probability_[place] += p;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t k = has[i];
      const double members = p * counts[k];
      along_[first + i] += members * of.along[k];
      seen_[first + i] += members;
      for (std::size_t j = 0; j < n; ++j) gram[i * n + j] += members * counts[has[j]] * of.gram[k * levels + has[j]];
      gram[i * n + i] += members * (of.own[k] - of.gram[k * levels + k]);
      if (!shared_) continue;
      double* mean = &mean_[(first + i) * parameters_];
      for (std::size_t d = 0; d < parameters_; ++d) mean[d] += members * of.mean[k * parameters_ + d];
    }
  };
  LikelyHistograms<decltype(visit)>(index_, of.seen, visit);
}

void UpdateMoments::solve_block(std::size_t h, std::span<const double> right, std::size_t columns, std::span<double> out) const {
  const std::size_t first = index_.first(h), n = index_.first(h + 1) - first;
  solve_semidefinite({gram_.begin() + static_cast<std::ptrdiff_t>(block_[h]), gram_.begin() + static_cast<std::ptrdiff_t>(block_[h + 1])},
                     n, right.subspan(first * columns, n * columns), columns, out.subspan(first * columns, n * columns));
}

std::vector<double> UpdateMoments::best_map() const {
  std::vector<double> map(index_.entries(), 0.0);
  for (std::size_t h = 0; h < index_.histograms(); ++h)
    if (probability_[h] > 0) solve_block(h, along_, 1, map);
  if (!shared_ || batch_ <= 1) return map;
  // A = y - X (I / (B - 1) + M X)^-1 M y with S y = b and S X = M' (Woodbury), since b and M' lie in the range of S
  const std::size_t d = parameters_;
  std::vector<double> x(mean_.size(), 0.0), inner(d * d, 0.0), right(d, 0.0), moved(d);
  for (std::size_t h = 0; h < index_.histograms(); ++h)
    if (probability_[h] > 0) solve_block(h, mean_, d, x);
  for (std::size_t e = 0; e < map.size(); ++e)
    for (std::size_t i = 0; i < d; ++i) {
      const double m = mean_[e * d + i];
      right[i] += m * map[e];
      for (std::size_t j = 0; j < d; ++j) inner[i * d + j] += m * x[e * d + j];
    }
  for (std::size_t i = 0; i < d; ++i) inner[i * d + i] += 1 / (batch_ - 1);
  solve_semidefinite(inner, d, right, 1, moved);
  for (std::size_t e = 0; e < map.size(); ++e)
    for (std::size_t i = 0; i < d; ++i) map[e] -= x[e * d + i] * moved[i];
  return map;
}

double UpdateMoments::along(std::span<const double> map) const {
  double sum = 0;
  for (std::size_t e = 0; e < map.size(); ++e) sum += along_[e] * map[e];
  return sum;
}

double UpdateMoments::shared_mean_square(std::span<const double> map) const {
  std::vector<double> mean(parameters_, 0.0);
  for (std::size_t e = 0; e < map.size(); ++e)
    for (std::size_t i = 0; i < parameters_; ++i) mean[i] += mean_[e * parameters_ + i] * map[e];
  double square = 0;
  for (const double m : mean) square += m * m;
  return square;
}

std::vector<double> UpdateMoments::mean_squares(const BoundProblem& problem, std::span<const std::vector<double>> maps) const {
  std::vector<double> out;
  for (const std::vector<double>& map : maps) out.push_back(shared_ ? shared_mean_square(map) : 0);
  if (shared_) return out;
  const auto levels = static_cast<std::size_t>(problem.levels);
  std::vector<double> advantage(maps.size() * levels);  // E[sum of the advantages of members with score k] for each map
  for (const BoundPrompt& prompt : problem.prompts) {
    const ByScore of(prompt);
    std::fill(advantage.begin(), advantage.end(), 0.0);
    const auto visit = [&](std::size_t place, double probability, std::span<const int> counts) {
      std::size_t entry = index_.first(place);
      for (std::size_t k = 0; k < levels && probability > 0; ++k) {
        if (counts[k] == 0) continue;
        for (std::size_t m = 0; m < maps.size(); ++m) advantage[m * levels + k] += probability * counts[k] * maps[m][entry];
        ++entry;
      }
    };
    LikelyHistograms<decltype(visit)>(index_, of.seen, visit);
    for (std::size_t m = 0; m < maps.size(); ++m)
      for (std::size_t i = 0; i < levels; ++i)
        for (std::size_t j = 0; j < levels; ++j) out[m] += weight_ * advantage[m * levels + i] * advantage[m * levels + j] * of.gram[i * levels + j];
  }
  return out;
}

double UpdateMoments::aligned(std::span<const double> map, double mean_square) const {
  const double along = this->along(map), most = mean_square * goal_square_;
  return most > 0 ? along * along / most : std::numeric_limits<double>::quiet_NaN();
}

double UpdateMoments::efficiency(std::span<const double> map) const {
  const double along = this->along(map);
  double square = 0;
  for (std::size_t h = 0; h < index_.histograms(); ++h) {
    const std::size_t first = index_.first(h), n = index_.first(h + 1) - first;
    const double* gram = &gram_[block_[h]];
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) square += map[first + i] * map[first + j] * gram[i * n + j];
  }
  if (shared_) square = (square + (batch_ - 1) * shared_mean_square(map)) / batch_;
  const double most = square * goal_square_;
  return most > 0 ? along * along / most : std::numeric_limits<double>::quiet_NaN();
}

std::vector<double> UpdateMoments::scaled(std::vector<double> map) const {
  double square = 0, members = 0;
  for (std::size_t e = 0; e < map.size(); ++e) square += seen_[e] * map[e] * map[e], members += seen_[e];
  if (square > 0)
    for (double& a : map) a *= math::sqrt(members / square);
  return map;
}

std::vector<double> estimator_map(const EstimatorConfig& config, std::span<const double> values, const HistogramIndex& index) {
  const auto levels = static_cast<std::size_t>(index.levels());
  OthersMap others({config, {values.begin(), values.end()}, index.members()});
  std::vector<double> map, advantages(levels);
  for_each_histogram(index.levels(), index.members(), [&](std::span<const int> counts) {
    others.advantages(counts, advantages);
    for (std::size_t k = 0; k < levels; ++k)
      if (counts[k] > 0) map.push_back(advantages[k]);
  });
  return map;
}

// Posterior estimators, evaluated for every histogram of a group.

namespace {

constexpr double least_weight = 1e-9;  ///< rarer histograms are left out when a prior is updated

/// Calls visit(histogram, scores) for every histogram; `scores` are those of its members, as indices in the model.
template <class Visit>
void for_each_group(const ScoreModel& model, const HistogramIndex& index, Visit visit) {
  if (model.lowest != 1 || model.per_level != 1 || model.scores != index.levels())
    throw Failure(Exit::internal, "the model of a judge has other scores than the map");
  std::vector<int> numbers(static_cast<std::size_t>(index.members()));
  std::size_t histogram = 0;
  for_each_histogram(index.levels(), index.members(), [&](std::span<const int> counts) {
    auto end = numbers.begin();
    for (std::size_t k = 0; k < counts.size(); ++k) end = std::fill_n(end, counts[k], static_cast<int>(k));
    visit(histogram++, numbers);
  });
}

}  // namespace

std::vector<double> posterior_map(const EstimatorConfig& config, const ScoreModel& model, const StatePrior& prior,
                                  const HistogramIndex& index) {
  const EstimatorConfig form = form_of(config);
  const PosteriorScores posterior(model);
  PosteriorGroup group(posterior);
  std::vector<double> map, value(static_cast<std::size_t>(index.members())), advantage(value.size());
  for_each_group(model, index, [&](std::size_t, const std::vector<int>& numbers) {
    const double variance = group.values_and_variance(posterior, prior, numbers, value);
    advantages(form, index.levels(), value, no_median, advantage, floor_squared(config, variance));
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (i == 0 || numbers[i] != numbers[i - 1]) map.push_back(advantage[i]);
  });
  return map;
}

StatePrior followed_prior(const ScoreModel& model, const UpdateMoments& moments, int rounds) {
  const PosteriorScores posterior(model);
  PosteriorGroup group(posterior);
  StatePrior prior(model.prompts.prior);
  std::vector<double> value(static_cast<std::size_t>(moments.index().members()));
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> mean(model.states(), 0.0);
    double total = 0;
    for_each_group(model, moments.index(), [&](std::size_t histogram, const std::vector<int>& numbers) {
      const double p = moments.probability(histogram);
      if (p < least_weight) return;
      group.values(posterior, prior, numbers, value);
      total += p;
      for (std::size_t c = 0; c < mean.size(); ++c) mean[c] += p * group.weights()[c];
    });
    for (double& w : mean) w /= total;
    prior.set(mean);
  }
  return prior;
}

}  // namespace odrpo
