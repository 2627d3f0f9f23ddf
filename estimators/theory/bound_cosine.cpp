// Estimates the expected cosine of update and gradient from random batches, and searches for a map of advantages that raises it.
#include <algorithm>
#include <limits>

#include "estimators/theory/bound.hpp"
#include "kernels/math.hpp"
#include "kernels/random.hpp"

namespace odrpo {
namespace {

double unit(std::uint32_t word) { return (word + 0.5) * 0x1p-32; }

/// Draws random batches: prompts, the actions of each group, and their scores.
class BatchDraws {
 public:
  BatchDraws(const BoundProblem& problem, const HistogramIndex& index, std::uint64_t key) : problem_(problem), index_(index), key_(key) {
    const auto running = [](std::vector<double> p, std::size_t width) {
      for (std::size_t i = 0; i < p.size(); ++i)
        if (i % width > 0) p[i] += p[i - 1];
      return p;
    };
    for (const BoundPrompt& prompt : problem.prompts)
      reach_.push_back({running(prompt.policy, prompt.policy.size()), running(prompt.channel, static_cast<std::size_t>(problem.levels))});
    const auto members = static_cast<std::size_t>(problem.batch) * static_cast<std::size_t>(problem.members);
    prompt.resize(static_cast<std::size_t>(problem.batch));
    action.resize(members), entry.resize(members);
  }

  std::vector<std::size_t> prompt;  ///< [B] prompts of the batch
  std::vector<std::size_t> action;  ///< [B][M] action of each member
  std::vector<std::size_t> entry;   ///< [B][M] index of the member's advantage in a map: its group's histogram and its score

  void draw_batch(std::uint32_t number) {
    const auto levels = static_cast<std::size_t>(problem_.levels), members = static_cast<std::size_t>(problem_.members);
    counts_.assign(levels, 0);
    score_.resize(members);
    rank_.resize(levels);
    for (std::size_t b = 0; b < prompt.size(); ++b) {
      const auto slot = static_cast<std::uint32_t>(b);
      prompt[b] = uniform_below(draw(key_, Purpose::order, number, slot, 0).x[0], static_cast<std::uint32_t>(problem_.prompts.size()));
      const Reach& reach = reach_[prompt[b]];
      std::fill(counts_.begin(), counts_.end(), 0);
      for (std::size_t i = 0; i < members; ++i) {
        const Words4 words = draw(key_, Purpose::action, number, slot, static_cast<std::uint32_t>(i));
        const std::size_t a = pick(reach.policy, words.x[0]);
        action[b * members + i] = a;
        score_[i] = pick(std::span(reach.channel).subspan(a * levels, levels), words.x[1]);
        ++counts_[score_[i]];
      }
      std::size_t first = index_.first(index_.place(counts_));
      for (std::size_t k = 0; k < levels; ++k)
        if (counts_[k] > 0) rank_[k] = first++;
      for (std::size_t i = 0; i < members; ++i) entry[b * members + i] = rank_[score_[i]];
    }
  }

 private:
  struct Reach {
    std::vector<double> policy, channel;  ///< running sums of BoundPrompt's arrays of the same names, to draw from them
  };
  static std::size_t pick(std::span<const double> running, std::uint32_t word) {
    const double x = unit(word) * running.back();
    return static_cast<std::size_t>(std::upper_bound(running.begin(), running.end() - 1, x) - running.begin());
  }
  const BoundProblem& problem_;
  const HistogramIndex& index_;
  std::uint64_t key_;
  std::vector<Reach> reach_;
  std::vector<int> counts_;
  std::vector<std::size_t> score_, rank_;
};

/// The update u that a map of advantages gives for a batch: one vector if parameters are shared, else one for each prompt of the batch.
struct BatchUpdate {
  std::vector<double> update;
  double along = 0, square = 0, goal = 0;  ///< <u, g*>, |u|^2, |g*|^2

  void make(const BoundProblem& problem, const BatchDraws& batch, std::span<const double> map) {
    const std::size_t d = problem.parameters(), prompts = batch.prompt.size(), members = batch.action.size() / prompts;
    update.assign(problem.shared ? d : d * prompts, 0.0);
    for (std::size_t b = 0; b < prompts; ++b) {
      double* u = &update[problem.shared ? 0 : b * d];
      for (std::size_t i = b * members; i < (b + 1) * members; ++i) {
        const double advantage = map[batch.entry[i]];
        const double* s = &problem.prompts[batch.prompt[b]].score[batch.action[i] * d];
        for (std::size_t j = 0; j < d; ++j) u[j] += advantage * s[j];
      }
    }
    along = square = goal = 0;
    for (const double u : update) square += u * u;
    for (std::size_t b = 0; b < (problem.shared ? 1 : prompts); ++b)
      for (std::size_t j = 0; j < d; ++j) {
        const double g = problem.prompts[batch.prompt[b]].gradient[j];
        along += update[(problem.shared ? 0 : b * d) + j] * g, goal += g * g;
      }
  }
  /// The cosine of u and g*; 0 if one of them is 0.
  double cosine() const { return square > 0 && goal > 0 ? along / (math::sqrt(square) * math::sqrt(goal)) : 0; }
};

struct Mean {
  double sum = 0, squares = 0;
  void add(double x) { sum += x, squares += x * x; }
  double mean(double n) const { return sum / n; }
  double error(double n) const {
    return n > 1 ? math::sqrt(std::max(0.0, squares - sum * sum / n) / (n - 1) / n) : std::numeric_limits<double>::quiet_NaN();
  }
};

}  // namespace

std::vector<MeanCosine> mean_cosines(const BoundProblem& problem, const HistogramIndex& index, std::span<const std::vector<double>> maps,
                                     int batches, std::uint64_t key) {
  BatchDraws batch(problem, index, key);
  BatchUpdate update;
  std::vector<Mean> own(maps.size()), less(maps.size());
  for (int n = 0; n < batches; ++n) {
    batch.draw_batch(static_cast<std::uint32_t>(n));
    double first = 0;
    for (std::size_t m = 0; m < maps.size(); ++m) {
      update.make(problem, batch, maps[m]);
      const double cosine = update.cosine();
      if (m == 0) first = cosine;
      own[m].add(cosine), less[m].add(cosine - first);
    }
  }
  std::vector<MeanCosine> out;
  for (std::size_t m = 0; m < maps.size(); ++m)
    out.push_back({own[m].mean(batches), own[m].error(batches), less[m].mean(batches), less[m].error(batches)});
  return out;
}

std::vector<double> improve_cosine(const BoundProblem& problem, const UpdateMoments& moments, const std::vector<double>& from, int steps,
                                   std::uint64_t key) {
  constexpr int rounds = 8;
  constexpr double lengths[] = {1, 0.5, 0.25, 0.1};  // factors of Newton's step; without the Hessian's off-diagonal it may be too long
  struct Slope {
    double sum = 0, squares = 0, now = 0, bend = 0;  // sums over batches of slope, slope^2; slope in this batch; sum of curvatures
  };
  const int batches = std::max(1, steps / (2 * rounds));
  const std::size_t d = problem.parameters(), members = static_cast<std::size_t>(problem.members);
  std::vector<double> map = moments.scaled(from);
  BatchDraws batch(problem, moments.index(), key);
  BatchUpdate update;
  std::uint32_t number = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<Slope> slope(map.size());
    for (int n = 0; n < batches; ++n) {
      batch.draw_batch(number++);
      update.make(problem, batch, map);
      if (!(update.square > 0 && update.goal > 0)) continue;
      const double by_goal = 1 / (math::sqrt(update.square) * math::sqrt(update.goal)), by_update = update.along * by_goal / update.square;
      for (std::size_t i = 0; i < batch.entry.size(); ++i) {
        const BoundPrompt& prompt = problem.prompts[batch.prompt[i / members]];
        const double* s = &prompt.score[batch.action[i] * d];
        const double* u = &update.update[problem.shared ? 0 : i / members * d];
        double along = 0, back = 0, own = 0;
        for (std::size_t j = 0; j < d; ++j) along += s[j] * prompt.gradient[j], back += s[j] * u[j], own += s[j] * s[j];
        slope[batch.entry[i]].now += along * by_goal - back * by_update;
        slope[batch.entry[i]].bend += own * by_update;
      }
      for (const std::size_t e : batch.entry) {
        slope[e].sum += slope[e].now, slope[e].squares += slope[e].now * slope[e].now;
        slope[e].now = 0;  // so an entry that occurs again in this batch adds nothing more
      }
    }
    std::vector<std::vector<double>> moved = {map};
    for (const double length : lengths) {
      moved.push_back(map);
      for (std::size_t e = 0; e < map.size(); ++e) {
        const double sum = slope[e].sum;
        if (sum == 0 || !(slope[e].bend > 0)) continue;
        const double sure = std::max(0.0, 1 - slope[e].squares / (sum * sum));  // shrinks the step; 0 for a slope within its noise
        moved.back()[e] += length * sure * sum / slope[e].bend;
      }
    }
    // a length is taken only where fresh batches show a gain beyond twice its standard error
    std::vector<Mean> gain(moved.size());
    for (int n = 0; n < batches; ++n) {
      batch.draw_batch(number++);
      double before = 0;
      for (std::size_t m = 0; m < moved.size(); ++m) {
        update.make(problem, batch, moved[m]);
        if (m == 0) before = update.cosine();
        gain[m].add(update.cosine() - before);
      }
    }
    std::size_t best = 0;
    for (std::size_t m = 1; m < moved.size(); ++m)
      if (gain[m].mean(batches) > 2 * gain[m].error(batches) && gain[m].mean(batches) > gain[best].mean(batches)) best = m;
    map = moved[best];
  }
  return map;
}

}  // namespace odrpo
