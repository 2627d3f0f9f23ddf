// Compares advantages of a dump with true qualities that are drawn from their posterior, and with those of new scores.
#include "train/rollouts/judged.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "estimators/definition.hpp"
#include "kernels/random.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/system/fail.hpp"
#include "results/scores/reading.hpp"
#include "results/stats/bootstrap.hpp"
#include "train/rollouts/advantages.hpp"
#include "train/rollouts/quality_posterior.hpp"

namespace odrpo {
namespace {

constexpr double nan_reward = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t window_groups = 128, most_windows = 32;  ///< groups of neighbouring steps that share a prior: at least, and how many such windows
constexpr std::size_t fitted_groups = 256;                     ///< of a window, to which its prior is fitted
constexpr std::size_t most_units = 1000;                       ///< prompts, or sets of prompts, that resamples draw
constexpr double most_sums = 8e6;                              ///< numbers that are kept for resamples (64 MB)
constexpr std::size_t least_prompts = 10;                      ///< for an interval

/// The rewards of a dump as a judge's scores and known parts.
struct Heard {
  std::vector<RolloutGroup> groups;   ///< with two scores or more
  std::vector<int> level;             ///< [rows] -1 = no score
  std::vector<double> known;          ///< [rows] sum of the other columns, with their weights
  std::size_t largest = 2, scores = 0;
};

/// The reward of a level, also between levels and below the first one.
double value_at(std::span<const double> values, double level) {
  const auto below = static_cast<std::size_t>(std::clamp(math::floor(level) - 1, 0.0, static_cast<double>(values.size() - 2)));
  return values[below] + (values[below + 1] - values[below]) * (level - 1 - static_cast<double>(below));
}

Heard hear(const Rollouts& rollouts, const JudgedOptions& o, int lowest) {
  Heard heard;
  const std::size_t columns = rollouts.columns();
  std::size_t off = 0, first_off = 0;
  for (std::size_t row = 0; row < rollouts.rows(); ++row) {
    const double reward = rollouts.rewards[row * columns + o.column];
    int level = -1;
    if (reward == reward) {
      level = level_on(o.judge.values, reward);
      if (level == 0 && !(lowest == 0 && reward == value_at(o.judge.values, 0))) level = -1, first_off = off++ == 0 ? row : first_off;
    }
    heard.level.push_back(level);
    double known = 0;
    for (std::size_t c = 0; c < columns; ++c)
      if (const double r = rollouts.rewards[row * columns + c]; c != o.column && r == r) known += o.weight[c] * r;
    heard.known.push_back(known);
  }
  if (off > 0) {
    const RowPlace place = rollouts.place[first_off];
    fail(Exit::bad_input, "{}:{}:1: error: {} of column \"{}\" is not on the scale {} of the judge {}{}; --judge-scale states another scale",
         rollouts.files[place.file], place.line, exact_text(rollouts.rewards[first_off * columns + o.column]), rollouts.reward_names[o.column],
         scale_text(o.judge.values), o.judge.name, off > 1 ? fmt::format(", nor are {} other scores", off - 1) : "");
  }
  for (const RolloutGroup& g : rollouts.groups) {
    const auto scored = static_cast<std::size_t>(std::count_if(&heard.level[g.first], &heard.level[g.first] + g.count, [](int l) { return l >= 0; }));
    if (scored < 2) continue;
    heard.groups.push_back(g);
    heard.largest = std::max<std::size_t>(heard.largest, g.count);
    heard.scores += scored;
  }
  if (heard.groups.empty()) fail(Exit::limits, "--judge: no group of this dump has two scores of column \"{}\"", rollouts.reward_names[o.column]);
  return heard;
}

/// The window of each group: neighbouring steps, the groups of which share a prior.
std::vector<std::size_t> windows_of(const std::vector<RolloutGroup>& groups) {
  const std::size_t least = std::max(window_groups, (groups.size() + most_windows - 1) / most_windows);
  std::vector<std::size_t> first{0};  // of each window
  for (std::size_t g = 1; g < groups.size(); ++g)
    if (groups[g].step != groups[g - 1].step && g - first.back() >= least && groups.size() - g >= least) first.push_back(g);
  std::vector<std::size_t> window(groups.size());
  for (std::size_t g = 0, w = 0; g < groups.size(); ++g) {
    if (w + 1 < first.size() && g == first[w + 1]) ++w;
    window[g] = w;
  }
  return window;
}

/// Seven sums over groups, of which the three numbers of JudgedAdvantages are made.
struct Sums {
  double turned = 0, signs = 0, wrong = 0, pairs = 0, product = 0, advantage = 0, truth = 0;
  void add(const Sums& o) {
    turned += o.turned, signs += o.signs, wrong += o.wrong, pairs += o.pairs, product += o.product, advantage += o.advantage, truth += o.truth;
  }
  static constexpr std::size_t numbers = 3;
  std::array<double, numbers> ratios() const {
    return {turned / signs, wrong / pairs, product / std::sqrt(advantage * truth)};
  }
};

/// What a group adds: advantages a[n] and true rewards q[n] of its responses with a score.
Sums compared(std::span<const double> a, std::span<const double> q) {
  constexpr double rounding = 1e-9;  // of the largest: differences below it are none
  const std::size_t n = a.size();
  Sums s;
  double mean = 0, large_a = 0, large_t = 0;
  for (const double x : q) mean += x / static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) large_a = std::max(large_a, math::abs(a[i])), large_t = std::max(large_t, math::abs(q[i] - mean));
  const auto sign = [](double x, double large) { return x > rounding * large ? 1 : x < -rounding * large ? -1 : 0; };
  for (std::size_t i = 0; i < n; ++i) {
    const double t = q[i] - mean;
    const int both = sign(a[i], large_a) * sign(t, large_t);
    s.signs += both != 0;
    s.turned += both < 0;
    s.product += a[i] * t;
    s.advantage += a[i] * a[i];
    s.truth += t * t;
    for (std::size_t j = 0; j < i; ++j) {
      const int order = sign(q[i] - q[j], large_t), of_a = sign(a[i] - a[j], large_a);
      s.pairs += order != 0;
      s.wrong += order == 0 ? 0 : of_a == 0 ? 0.5 : of_a != order;
    }
  }
  return s;
}

/// Scores of so many votes: how they are drawn, and what they say.
struct Voted {
  ScoreRows rows;
  std::unique_ptr<PosteriorModel> model;  ///< only where an estimator is a posterior one
};

class Judged {
 public:
  Judged(const Rollouts& rollouts, const JudgedOptions& o)
      : rollouts_(rollouts),
        o_(o),
        heard_(hear(rollouts, o, lowest_score(o.judge.rater))),
        levels_(static_cast<int>(o.judge.values.size())),
        posterior_(o.judge.rater, levels_, o.judge.votes, static_cast<int>(heard_.largest), *std::max_element(o.votes.begin(), o.votes.end())),
        window_(windows_of(heard_.groups)) {
    make_votes();
    make_estimators();
    choose_draws();
    fit_priors();
  }

  JudgedRollouts compute() {
    draw_truths();
    const std::size_t rows = rollouts_.rows();
    std::vector<double> reward(rows, nan_reward), advantage(rows);
    std::vector<int> number(rows, -1);
    for (std::size_t row = 0; row < rows; ++row)
      if (heard_.level[row] >= 0) number[row] = posterior_.model().number_of(heard_.level[row]);
    set_rewards(number, posterior_.model(), reward);
    for (std::size_t e = 0; e < out_.estimators.size(); ++e) {
      if (!estimate(e, 0, number, reward, advantage)) continue;
      for (int d = 0; d < out_.draws; ++d) compare(e, 0, d, reward, advantage);
    }
    for (std::size_t v = 1; v < out_.votes.size(); ++v)
      for (int d = 0; d < out_.draws; ++d) {
        draw_scores(voted_[v - 1].rows, v, d, number);
        set_rewards(number, voted_[v - 1].rows.numbers, reward);
        for (std::size_t e = 0; e < out_.estimators.size(); ++e)
          if (estimate(e, v, number, reward, advantage)) compare(e, v, d, reward, advantage);
      }
    summarise();
    return std::move(out_);
  }

 private:
  /// Fits a prior to each window, and for each draw another one to a resample of its groups, so that draws differ as far as the groups leave it open.
  void fit_priors() {
    double distance = 0;
    std::vector<double> expected(static_cast<std::size_t>(posterior_.model().scores)), found(expected.size()), times;
    drawn_prior_.resize(static_cast<std::size_t>(out_.draws));
    for (std::size_t begin = 0, end; begin < window_.size(); begin = end) {
      for (end = begin; end < window_.size() && window_[end] == window_[begin];) ++end;
      std::vector<std::vector<int>> scores(std::min(end - begin, fitted_groups));
      for (std::size_t i = 0; i < scores.size(); ++i)
        for (const int level : levels_of(heard_.groups[begin + i * (end - begin) / scores.size()]))
          if (level >= 0) scores[i].push_back(posterior_.model().number_of(level));
      const PriorFit fit(posterior_, scores);
      const std::vector<double> fitted = fit.fit(fit.start(), {}, prior_rounds);
      prior_.emplace_back(fitted);
      for (std::size_t d = 0; d < drawn_prior_.size(); ++d) {
        UniformStream random(o_.seed, dump_prior, static_cast<std::uint32_t>(d), static_cast<std::uint32_t>(window_[begin]));
        times.assign(fit.groups(), 0);
        for (std::size_t i = 0; i < times.size(); ++i) times[static_cast<std::size_t>(random.next() * static_cast<double>(times.size()))] += 1;
        drawn_prior_[d].emplace_back(fit.fit(fitted, times, again_rounds));
      }
      add_frequencies(begin, end, expected, found);
    }
    for (std::size_t k = 0; k < found.size(); ++k) distance += math::abs(found[k] - expected[k]) / (2 * static_cast<double>(heard_.scores));
    out_.misfit = distance;
  }

  /// Adds how often each score is found in the groups of the last window, and how often its prior expects it.
  void add_frequencies(std::size_t begin, std::size_t end, std::span<double> expected, std::span<double> found) const {
    const ScoreModel& model = posterior_.model();
    double scores = 0;
    for (std::size_t g = begin; g < end; ++g)
      for (const int level : levels_of(heard_.groups[g]))
        if (level >= 0) scores += 1, found[static_cast<std::size_t>(model.number_of(level))] += 1;
    for (std::size_t k = 0; k < found.size(); ++k)
      for (std::size_t c = 0; c < model.states(); ++c) expected[k] += scores * prior_.back().probability()[c] * model.likelihood[c * found.size() + k];
  }

  std::span<const int> levels_of(const RolloutGroup& g) const { return std::span(heard_.level).subspan(g.first, g.count); }

  void make_votes() {
    const bool model = std::any_of(o_.estimators.begin(), o_.estimators.end(), [](const EstimatorConfig& e) { return e.posterior; });
    out_.votes = {o_.judge.votes};
    for (const int votes : o_.votes) {
      Voted made{make_score_rows(o_.judge.rater, posterior_.believed(), levels_, votes), nullptr};
      if (model) made.model = std::make_unique<PosteriorModel>(make_score_model(posterior_.believed(), made.rows), best_isa());
      voted_.push_back(std::move(made));
      out_.votes.push_back(votes);
    }
  }

  void make_estimators() {
    const double weight = o_.weight[o_.column];
    for (std::size_t c = 0; c < rollouts_.columns(); ++c)
      if (c != o_.column && o_.weight[c] != 0) out_.known.push_back(rollouts_.reward_names[c]);
    std::vector<double> scale;
    if (out_.known.empty() && weight > 0)
      for (int level = lowest_score(o_.judge.rater); level <= levels_; ++level) scale.push_back(weight * value_at(o_.judge.values, level));
    for (const EstimatorConfig& config : o_.estimators) {
      JudgedEstimator made{config};
      std::optional<GroupAdvantages> plain;
      if (!config.posterior) try {
          if (reads_levels(config) && !out_.known.empty()) made.refusal = "it reads levels, which a sum of several rewards does not have";
          else plain.emplace(config, scale, static_cast<int>(heard_.largest));
        } catch (const Failure& failure) {
          made.refusal = failure.what();
        }
      made.scores.resize(out_.votes.size());
      plain_.push_back(std::move(plain));
      out_.estimators.push_back(std::move(made));
    }
  }

  void choose_draws() {
    unit_.assign(rollouts_.prompts.size(), 0);
    for (const RolloutGroup& g : heard_.groups) unit_[g.prompt] = 1;
    std::uint32_t prompts = 0;
    for (std::uint32_t& u : unit_)
      if (u != 0) u = prompts++;
    units_ = std::min<std::size_t>(prompts, most_units);
    for (std::uint32_t& u : unit_) u %= static_cast<std::uint32_t>(units_);
    const double cells = static_cast<double>(out_.votes.size() * std::max<std::size_t>(out_.estimators.size(), 1)) * 7;
    const double fit = std::min(2e6 / static_cast<double>(heard_.scores), most_sums / (cells * static_cast<double>(units_)));
    out_.draws = o_.draws > 0 ? o_.draws : static_cast<int>(std::clamp(fit, 4.0, 32.0));
    out_.judge = o_.judge.name;
    out_.values = o_.judge.values;
    out_.column = rollouts_.reward_names[o_.column];
    out_.groups = heard_.groups.size();
    out_.scores = heard_.scores;
    out_.prompts = prompts;
    out_.resamples = o_.resamples;
    sums_.resize(out_.estimators.size() * out_.votes.size() * units_ * static_cast<std::size_t>(out_.draws));
  }

  /// Draws the true qualities of all groups, quality_[draws][rows].
  void draw_truths() {
    const std::size_t rows = rollouts_.rows();
    quality_.assign(rows * static_cast<std::size_t>(out_.draws), 0);
    std::vector<int> seen;
    std::vector<std::uint32_t> drawn;
    for (std::size_t g = 0; g < heard_.groups.size(); ++g) {
      seen.clear();
      for (const int level : levels_of(heard_.groups[g]))
        if (level >= 0) seen.push_back(posterior_.model().number_of(level));
      drawn.resize(seen.size());
      for (int d = 0; d < out_.draws; ++d) {
        posterior_.see(drawn_prior_[static_cast<std::size_t>(d)][window_[g]], seen);
        UniformStream random(o_.seed, dump_quality, static_cast<std::uint32_t>(d), static_cast<std::uint32_t>(g));
        posterior_.draw(random, drawn);
        std::uint32_t* to = &quality_[static_cast<std::size_t>(d) * rows + heard_.groups[g].first];
        std::size_t i = 0;
        for (const int level : levels_of(heard_.groups[g])) {
          if (level >= 0) *to = drawn[i++];
          ++to;
        }
      }
    }
  }

  /// Draws new scores of the qualities of draw d; number -1 = no score.
  void draw_scores(const ScoreRows& rows, std::size_t v, int d, std::vector<int>& number) const {
    for (std::size_t g = 0; g < heard_.groups.size(); ++g) {
      UniformStream random(derive_key(o_.seed, static_cast<std::uint32_t>(v)), dump_vote, static_cast<std::uint32_t>(d), static_cast<std::uint32_t>(g));
      for (std::size_t row = heard_.groups[g].first; row < heard_.groups[g].first + heard_.groups[g].count; ++row) {
        if (heard_.level[row] < 0) continue;
        const auto p = rows.of(quality_[static_cast<std::size_t>(d) * rollouts_.rows() + row]);
        double u = random.next();
        std::size_t k = 0;
        while (k < p.size() && u >= p[k]) u -= p[k++];
        // rounding leaves up to 1e-12 behind the last score; only a judge whose answers may be lost has more there
        number[row] = k < p.size() ? static_cast<int>(k) : has_gaps(o_.judge.rater) ? -1 : last_score(p);
      }
    }
  }
  static int last_score(std::span<const double> p) {
    std::size_t k = p.size() - 1;
    while (k > 0 && p[k] == 0) --k;
    return static_cast<int>(k);
  }

  /// The rewards of scores: the level's value times the column's weight, and what is known.
  void set_rewards(const std::vector<int>& number, const ScoreModel& numbers, std::vector<double>& reward) const {
    for (std::size_t row = 0; row < reward.size(); ++row)
      reward[row] = number[row] < 0 ? nan_reward : reward_of(row, numbers.lowest + static_cast<double>(number[row]) / numbers.per_level);
  }
  double reward_of(std::size_t row, double level) const { return o_.weight[o_.column] * value_at(o_.judge.values, level) + heard_.known[row]; }

  /// Sets the advantages of all groups. Returns false where the estimator is refused.
  bool estimate(std::size_t e, std::size_t v, const std::vector<int>& number, const std::vector<double>& reward, std::vector<double>& advantage) {
    JudgedEstimator& made = out_.estimators[e];
    if (!made.refusal.empty()) return false;
    if (made.config.posterior) {
      estimate_posterior(made.config, v, number, advantage);
      return true;
    }
    try {
      for (std::size_t begin = 0, end; begin < heard_.groups.size(); begin = end) {
        for (end = begin; end < heard_.groups.size() && heard_.groups[end].step == heard_.groups[begin].step;) ++end;
        plain_[e]->step(std::span(heard_.groups).subspan(begin, end - begin), reward, rollouts_.length, advantage);
      }
    } catch (const Failure& failure) {
      made.refusal = failure.what();
      return false;
    }
    return true;
  }

  void estimate_posterior(const EstimatorConfig& config, std::size_t v, const std::vector<int>& number, std::vector<double>& advantage) {
    const PosteriorScores& scores = v == 0 ? posterior_.scores() : voted_[v - 1].model->scores;
    const EstimatorConfig form = form_of(config);
    const double step = o_.weight[o_.column] * (o_.judge.values.back() - o_.judge.values.front()) / (levels_ - 1);
    PosteriorGroup group(scores);
    std::vector<int> seen;
    std::vector<double> value, known, made;
    for (std::size_t g = 0; g < heard_.groups.size(); ++g) {
      const RolloutGroup& at = heard_.groups[g];
      seen.clear(), known.clear();
      for (std::size_t row = at.first; row < at.first + at.count; ++row)
        if (number[row] >= 0) seen.push_back(number[row]), known.push_back(heard_.known[row]);
      value.resize(seen.size()), made.resize(seen.size());
      const double variance = group.values_and_variance(scores, prior_[window_[g]], seen, value);
      for (std::size_t i = 0; i < value.size(); ++i) value[i] = o_.weight[o_.column] * value_at(o_.judge.values, value[i]) + known[i];
      if (!value.empty()) advantages(form, levels_, value, no_median, made, floor_squared(config, variance) * step * step);
      std::size_t i = 0;
      for (std::size_t row = at.first; row < at.first + at.count; ++row) advantage[row] = number[row] >= 0 ? made[i++] : 0;
    }
  }

  /// Adds the comparison of all groups with the truths of draw d.
  void compare(std::size_t e, std::size_t v, int d, const std::vector<double>& reward, const std::vector<double>& advantage) {
    std::vector<double> a, q;
    for (const RolloutGroup& g : heard_.groups) {
      a.clear(), q.clear();
      for (std::size_t row = g.first; row < g.first + g.count; ++row) {
        if (reward[row] != reward[row]) continue;
        a.push_back(advantage[row]);
        q.push_back(reward_of(row, posterior_.believed().quality[quality_[static_cast<std::size_t>(d) * rollouts_.rows() + row]]));
      }
      sums_of(e, v, unit_[g.prompt], static_cast<std::size_t>(d)).add(compared(a, q));
    }
  }
  Sums& sums_of(std::size_t e, std::size_t v, std::size_t unit, std::size_t d) {
    return sums_[((e * out_.votes.size() + v) * units_ + unit) * static_cast<std::size_t>(out_.draws) + d];
  }

  /// Makes the numbers and their intervals: a resample draws prompts with replacement, and one of the draws of their truths.
  void summarise() {
    const auto draws = static_cast<std::size_t>(out_.draws);
    const std::size_t cells = out_.estimators.size() * out_.votes.size();
    std::vector<std::vector<double>> resampled(cells * Sums::numbers);
    const bool intervals = out_.prompts >= least_prompts;
    const std::uint32_t sizes[] = {static_cast<std::uint32_t>(units_)};
    Picks picks;
    for (int r = 0; intervals && r < o_.resamples; ++r) {
      draw_picks(sizes, o_.seed, static_cast<std::uint32_t>(r), picks);
      const std::size_t truth = static_cast<std::size_t>(r) % draws;
      for (std::size_t cell = 0; cell < cells; ++cell) {
        Sums all;
        for (const std::uint32_t unit : picks[0]) all.add(sums_[(cell * units_ + unit) * draws + truth]);
        const auto ratios = all.ratios();
        for (std::size_t i = 0; i < ratios.size(); ++i) resampled[cell * Sums::numbers + i].push_back(ratios[i]);
      }
    }
    for (std::size_t cell = 0; cell < cells; ++cell) {
      Sums all;
      for (std::size_t at = 0; at < units_ * draws; ++at) all.add(sums_[cell * units_ * draws + at]);
      const auto ratios = all.ratios();
      JudgedAdvantages& made = out_.estimators[cell / out_.votes.size()].scores[cell % out_.votes.size()];
      JudgedNumber* const numbers[] = {&made.sign, &made.pairs, &made.cosine};
      for (std::size_t i = 0; i < Sums::numbers; ++i) *numbers[i] = with_interval(ratios[i], std::move(resampled[cell * Sums::numbers + i]));
    }
  }
  static JudgedNumber with_interval(double value, std::vector<double> resampled) {
    if (std::any_of(resampled.begin(), resampled.end(), [](double x) { return x != x; })) resampled.clear();
    std::sort(resampled.begin(), resampled.end());
    const Interval interval = percentile_interval({value, std::move(resampled), nan_reward});
    return {value, interval.lo, interval.hi};
  }

  const Rollouts& rollouts_;
  const JudgedOptions& o_;
  Heard heard_;
  int levels_;
  QualityPosterior posterior_;
  std::vector<std::size_t> window_;  ///< [groups]
  std::vector<StatePrior> prior_;    ///< [windows]
  std::vector<std::vector<StatePrior>> drawn_prior_;  ///< [draws][windows]
  std::vector<Voted> voted_;         ///< [o_.votes]
  std::vector<std::optional<GroupAdvantages>> plain_;  ///< [estimators]
  std::vector<std::uint32_t> unit_;     ///< [prompts of the dump] what resamples draw
  std::size_t units_ = 1;
  std::vector<std::uint32_t> quality_;  ///< [draws][rows]
  std::vector<Sums> sums_;              ///< [estimators][votes][units][draws]
  JudgedRollouts out_;
};

}  // namespace

JudgedRollouts judge_rollouts(const Rollouts& rollouts, const JudgedOptions& options) {
  JudgedOptions o = options;
  if (o.weight.empty()) o.weight.assign(rollouts.columns(), 1.0);
  const RaterConfig& rater = o.judge.rater;
  if (rater.text != TextJudge{}) fail(Exit::limits, "--judge: {} looks at the text of responses, and no model of it has texts", o.judge.name);
  if (keeps_votes(rater.aggregate) || real_valued(rater, o.judge.votes))
    fail(Exit::limits, "--judge: {} makes no integer scores of {} votes, and the model needs them: aggregate = \"mode\" or \"median\"", o.judge.name, o.judge.votes);
  if (o.weight[o.column] == 0) fail(Exit::limits, "--judge: the judge's column \"{}\" has the weight 0", rollouts.reward_names[o.column]);
  return Judged(rollouts, o).compute();
}

}  // namespace odrpo
