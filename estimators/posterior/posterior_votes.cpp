// Computes what the votes of a response say about it (VoteRow), and posterior scores of groups from that.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "estimators/posterior/posterior.hpp"
#include "kernels/math.hpp"
#include "kernels/shared/judge_model.hpp"

namespace odrpo {

namespace portable {
extern const VoteStages vote_table;
}
namespace avx2 {
extern const VoteStages vote_table;
}
const VoteStages& vote_stages(Isa isa) { return isa == Isa::portable ? portable::vote_table : avx2::vote_table; }

namespace {

constexpr double least_product = 1e-250;  ///< products of probabilities below this may have lost digits

/// ln P(votes | response) of one response, by sums of logarithms, for products that are too small for doubles.
double log_likelihood(const CallModel& m, std::span<const VoteCount> votes, std::size_t response) {
  const auto sum_of_logs = [](const std::vector<double>& terms) {
    const double highest = *std::max_element(terms.begin(), terms.end());
    double sum = 0;
    for (const double x : terms) sum += math::exp(x - highest);
    return highest + math::log(sum);
  };
  std::vector<double> of_traits, of_classes;
  for (int t = 0; t < m.traits; ++t) {
    double of_trait = log_of(m.trait[static_cast<std::size_t>(t)]);
    for (std::size_t v = 0, end = 0; v < votes.size(); v = end) {
      of_classes.clear();
      for (int u = 0; u < m.classes; ++u) {
        double of_class = -math::log(m.classes);
        for (end = v; end < votes.size() && votes[end].judge == votes[v].judge; ++end) {
          const std::size_t score = static_cast<std::size_t>(votes[end].judge * m.scores + votes[end].score),
                            kind = static_cast<std::size_t>(u * m.traits + t);
          of_class +=
              votes[end].count * log_of(m.call[(score * static_cast<std::size_t>(m.classes * m.traits) + kind) * m.width + response]);
        }
        of_classes.push_back(of_class);
      }
      of_trait += sum_of_logs(of_classes);
    }
    of_traits.push_back(of_trait);
  }
  return sum_of_logs(of_traits);
}

/// Returns P(votes | response) for each response [width], divided by its maximum over responses.
std::vector<double> relative_likelihood(const CallModel& m, const VoteStages& stages, std::span<const VoteCount> votes) {
  std::vector<double> likelihood(m.width);
  stages.likelihood(m, votes, likelihood.data());
  const auto end = likelihood.begin() + static_cast<std::ptrdiff_t>(m.responses());
  double highest = *std::max_element(likelihood.begin(), end);
  if (highest < least_product) {
    for (std::size_t r = 0; r < m.responses(); ++r) likelihood[r] = log_likelihood(m, votes, r);
    const double top = *std::max_element(likelihood.begin(), end);
    std::transform(likelihood.begin(), end, likelihood.begin(), [&](double x) { return math::exp(x - top); });
    highest = 1;
  }
  for (double& x : likelihood) x /= highest;
  return likelihood;
}

/// Counts the votes of a response by judge and score, in ascending order of both.
std::vector<VoteCount> counts_of(const CallModel& m, std::span<const std::uint8_t> seen, int judge) {
  std::vector<VoteCount> counts;
  for (std::size_t v = 0; v < seen.size(); ++v) {
    if (seen[v] == no_score) continue;
    const VoteCount vote{(judge + static_cast<int>(v)) % m.judges, seen[v] - m.lowest, 1};
    const auto same =
        std::find_if(counts.begin(), counts.end(), [&](const VoteCount& c) { return c.judge == vote.judge && c.score == vote.score; });
    if (same == counts.end()) counts.push_back(vote);
    else ++same->count;
  }
  std::sort(counts.begin(), counts.end(),
            [](const VoteCount& a, const VoteCount& b) { return std::pair(a.judge, a.score) < std::pair(b.judge, b.score); });
  return counts;
}

std::string name_of(std::span<const VoteCount> counts) {
  std::string name;
  for (const VoteCount& c : counts)
    for (const int part : {c.judge, c.score, c.count & 255, c.count >> 8}) name.push_back(static_cast<char>(part));
  return name;
}

}  // namespace

PosteriorVotes::PosteriorVotes(CallModel model, Isa isa) : model_(std::move(model)), stages_(vote_stages(isa)), isa_(isa) {
  unseen_ = sums_over(std::vector<double>(model_.width, 1.0));
  divide(unseen_);
}

/// For each state, sums over responses of P(response | state) weight[response] times 1, quality, quality^2 (Sums::variance) and (x - b)^2.
PosteriorVotes::Sums PosteriorVotes::sums_over(std::vector<double> weight) const {
  // weights (the largest is 1) below this do not count. In a model of a file, all responses of a state may be unlikely, so all count
  const double negligible = model_.of_world() ? 1e-40 : 0;
  const std::size_t responses = model_.responses(), states = model_.states();
  std::vector<std::uint32_t> likely;
  for (std::size_t r = 0; r < responses; ++r)
    if (weight[r] > negligible) likely.push_back(static_cast<std::uint32_t>(r));
    else weight[r] = 0;
  const auto times = [&](const std::vector<double>& weight_of, const std::vector<double>& of_response) {
    std::vector<double> product(weight_of);
    for (const std::uint32_t r : likely) product[r] *= of_response[r];
    return product;
  };
  const std::vector<double> quality = times(weight, model_.quality), quality_squares = times(quality, model_.quality);
  Sums sums{std::vector<double>(states), std::vector<double>(states), std::vector<double>(states), {}};
  const std::array<const double*, 3> of{weight.data(), quality.data(), quality_squares.data()};
  const std::array<double*, 3> to{sums.one.data(), sums.quality.data(), sums.variance.data()};
  stages_.spread(model_, likely, of, to);
  if (model_.place.empty()) return sums;
  // (x - b)^2 = x^2 + b (b - 2 x)
  std::vector<double> x(states);
  const std::vector<double> place = times(weight, model_.place), place_squares = times(place, model_.place);
  sums.square.resize(states);
  const std::array<const double*, 2> of_places{place.data(), place_squares.data()};
  const std::array<double*, 2> to_places{x.data(), sums.square.data()};
  stages_.spread(model_, likely, of_places, to_places);
  for (std::size_t c = 0; c < states; ++c) {
    const double b = model_.prompts.centre[c];
    sums.square[c] += b * (b * sums.one[c] - 2 * x[c]);
  }
  return sums;
}

/// Turns sums into means and a variance. A state in which the votes are impossible gets the means over all its responses instead.
void PosteriorVotes::divide(Sums& sums) const {
  for (std::size_t c = 0; c < sums.one.size(); ++c) {
    const double p = sums.one[c];
    if (p > 0) {
      sums.quality[c] /= p;
      sums.variance[c] = std::max(0.0, sums.variance[c] / p - sums.quality[c] * sums.quality[c]);
      if (!sums.square.empty()) sums.square[c] /= p;
    } else {
      sums.quality[c] = unseen_.quality[c], sums.variance[c] = unseen_.variance[c];
      if (!sums.square.empty()) sums.square[c] = unseen_.square[c];
    }
  }
}

std::shared_ptr<const VoteRow> PosteriorVotes::make_row(std::string votes, std::span<const VoteCount> counts) const {
  Sums sums = sums_over(relative_likelihood(model_, stages_, counts));
  divide(sums);
  const double highest = *std::max_element(sums.one.begin(), sums.one.end());
  for (double& p : sums.one) p = highest > 0 ? p / highest : 1;  // votes that no state explains count alike in all
  return std::make_shared<const VoteRow>(
      VoteRow{std::move(votes), std::move(sums.one), std::move(sums.quality), std::move(sums.variance), std::move(sums.square)});
}

std::shared_ptr<const VoteRow> PosteriorVotes::row(std::span<const std::uint8_t> seen, int judge) const {
  const std::vector<VoteCount> counts = counts_of(model_, seen, judge);
  if (counts.empty()) return nullptr;
  std::string name = name_of(counts);
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = kept_.find(name); known != kept_.end()) return known->second;
  }
  auto row = make_row(name, counts);  // outside the lock: two threads may both compute it, with the same result
  const std::lock_guard lock(mutex_);
  if (kept_bytes_ + row->bytes() > most_kept) {
    kept_.clear();
    kept_bytes_ = 0;
  }
  if (kept_.try_emplace(std::move(name), row).second) kept_bytes_ += row->bytes();
  return row;
}

double PosteriorVoteGroup::values(const PosteriorVotes& votes, const StatePrior& prior, std::span<const std::uint8_t> seen, int judge,
                                  std::span<double> value) {
  row_.clear();
  sorted_.clear();
  const std::size_t each = value.empty() ? 0 : seen.size() / value.size();
  for (std::size_t i = 0; i < value.size(); ++i) {
    row_.push_back(votes.row(seen.subspan(i * each, each), judge));
    if (row_.back()) sorted_.push_back(row_.back().get());
  }
  // sorted, so that rounding does not depend on the order of a group's members
  std::sort(sorted_.begin(), sorted_.end(), [](const VoteRow* a, const VoteRow* b) { return a->votes < b->votes; });
  factor_.clear();
  rows_.clear();
  for (const VoteRow* row : sorted_) {
    factor_.push_back({row->relative.data(), nullptr, 1});
    rows_.push_back({row->expected.data(), row->variance.data(), 1.0 / static_cast<double>(sorted_.size())});
  }
  posterior_.set(prior, factor_);
  value_.resize(rows_.size());
  const double open = sorted_.empty() ? 0 : posterior_.values_and_variance(rows_, static_cast<int>(sorted_.size()), value_);
  even_out(value_);
  for (std::size_t i = 0; i < value.size(); ++i) {
    const auto place = std::find(sorted_.begin(), sorted_.end(), row_[i].get());
    value[i] = row_[i] ? value_[static_cast<std::size_t>(place - sorted_.begin())] : std::numeric_limits<double>::quiet_NaN();
  }
  return open;
}

double PosteriorVoteGroup::mean_square() const {
  double sum = 0;
  for (const VoteRow* row : sorted_) sum += posterior_.mean_of(row->square.data());
  return sorted_.empty() ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(sorted_.size());
}

}  // namespace odrpo
