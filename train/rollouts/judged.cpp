// Compares advantages of a dump with true qualities that are drawn from their posterior, and with those of new scores.
#include "train/rollouts/judged.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "estimators/definition.hpp"
#include "kernels/random.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/reading.hpp"
#include "results/scores/rollouts/judge_scale.hpp"
#include "train/rollouts/advantages.hpp"
#include "train/rollouts/judged_priors.hpp"
#include "train/rollouts/judged_scores.hpp"
#include "train/rollouts/quality_posterior.hpp"
#include "train/rollouts/truth_sums.hpp"

namespace odrpo {
namespace {

constexpr double nan_reward = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t most_units = 1000;                       ///< prompts, or sets of prompts, that resamples draw
constexpr double most_sums = 8e6;                              ///< numbers that are kept for resamples (64 MB)
constexpr double most_truths = 640e3;                           ///< qualities that are drawn, at least 4 of each answer
constexpr std::size_t least_prompts = 10;                      ///< for an interval

/// Scores of so many votes: how they are drawn, and the model in which posterior estimators read them.
struct Voted {
  ScoreRows rows;
  std::unique_ptr<PosteriorModel> model;  ///< only where an estimator is a posterior one
};

/// Why posterior estimators are refused for a judge: an uneven scale. They read the mean level, and the value of a mean level is no mean of values there.
std::string uneven_text(const JudgeOfDump& judge) {
  if (evenly_spaced(judge.values)) return "";
  return fmt::format("it reads mean levels, and the values of the judge's levels are unevenly spaced: {}", scale_text(judge.values));
}

/// The options with weights. Refuses judges without a model of integer scores.
JudgedOptions checked(const Rollouts& rollouts, const JudgedOptions& options) {
  JudgedOptions o = options;
  if (o.weight.empty()) o.weight.assign(rollouts.columns(), 1.0);
  const RaterConfig& rater = o.judge.rater;
  if (rater.text != TextJudge{}) fail(Exit::limits, "--judge: {} looks at the text of responses, and no model of it has texts", o.judge.name);
  if (keeps_votes(rater.aggregate) || real_valued(rater, o.judge.votes))
    fail(Exit::limits, "--judge: {} makes no integer scores of {}, and the model needs them: aggregate = \"mode\" or \"median\"", o.judge.name, counted(o.judge.votes, "vote"));
  if (o.weight[o.column] == 0) fail(Exit::limits, "--judge: the judge's column \"{}\" has the weight 0", rollouts.reward_names[o.column]);
  return o;
}

class Judged {
 public:
  Judged(const Rollouts& rollouts, const JudgedOptions& o)
      : rollouts_(rollouts),
        o_(o),
        scores_(judged_scores(rollouts, o, lowest_score(o.judge.rater))),
        levels_(static_cast<int>(o.judge.values.size())),
        posterior_(o.judge.rater, levels_, o.judge.votes, static_cast<int>(scores_.largest), o.votes.empty() ? 1 : *std::max_element(o.votes.begin(), o.votes.end())) {
    make_votes();
    make_estimators();
    choose_draws();
    priors_ = fit_judged_priors(posterior_, scores_, out_.draws, o_.seed);
    out_.misfit = priors_.misfit;
  }

  JudgedRollouts compute() {
    draw_truths();
    const std::size_t rows = rollouts_.rows();
    std::vector<double> reward(rows, nan_reward), advantage(rows);
    std::vector<int> number = own_numbers();
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

  /// The advantages of posterior estimators, from the dump's own scores.
  std::vector<std::vector<double>> posterior() {
    std::vector<std::vector<double>> advantages;
    for (const JudgedEstimator& e : out_.estimators) estimate_posterior(e.config, 0, own_numbers(), advantages.emplace_back(rollouts_.rows(), 0.0));
    return advantages;
  }

 private:
  /// The dump's scores as numbers of the model; -1 = no score.
  std::vector<int> own_numbers() const {
    std::vector<int> number(rollouts_.rows(), -1);
    for (std::size_t row = 0; row < number.size(); ++row)
      if (scores_.level[row] >= 0) number[row] = posterior_.model().number_of(scores_.level[row]);
    return number;
  }

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
      if (config.posterior) made.refusal = uneven_text(o_.judge);
      else try {
          if (reads_levels(config) && !out_.known.empty()) made.refusal = "it reads levels, which a sum of several rewards does not have";
          else plain.emplace(config, scale, static_cast<int>(scores_.largest));
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
    for (const RolloutGroup& g : scores_.groups) unit_[g.prompt] = 1;
    std::uint32_t prompts = 0;
    for (std::uint32_t& u : unit_)
      if (u != 0) u = prompts++;
    const std::size_t units = std::min<std::size_t>(prompts, most_units);
    for (std::uint32_t& u : unit_) u %= static_cast<std::uint32_t>(units);
    const double cells = static_cast<double>(out_.votes.size() * std::max<std::size_t>(out_.estimators.size(), 1)) * 7;
    const double fit = std::min(most_truths / static_cast<double>(scores_.count), most_sums / (cells * static_cast<double>(units)));
    out_.draws = o_.draws > 0 ? o_.draws : static_cast<int>(std::clamp(fit, 4.0, 16.0));
    out_.judge = o_.judge.name;
    out_.values = o_.judge.values;
    out_.column = rollouts_.reward_names[o_.column];
    out_.groups = scores_.groups.size();
    out_.scores = scores_.count;
    out_.every_step = scores_.every_step;
    out_.every_group = scores_.every_group;
    out_.prompts = prompts;
    out_.resamples = o_.resamples;
    sums_.assign(out_.estimators.size() * out_.votes.size(), DrawnSums(units, static_cast<std::size_t>(out_.draws)));
  }

  /// Draws the true qualities of all groups, quality_[draws][rows].
  void draw_truths() {
    const std::size_t rows = rollouts_.rows();
    quality_.assign(rows * static_cast<std::size_t>(out_.draws), 0);
    std::vector<std::uint32_t> drawn;
    for (std::size_t g = 0; g < scores_.groups.size(); ++g) {
      const std::vector<int> observed = numbers_of(posterior_.model(), scores_.levels_of(scores_.groups[g]));
      drawn.resize(observed.size());
      for (int d = 0; d < out_.draws; ++d) {
        posterior_.observe(priors_.drawn[static_cast<std::size_t>(d)][scores_.window[g]], observed);
        UniformStream random(o_.seed, Purpose::dump_quality, static_cast<std::uint32_t>(d), static_cast<std::uint32_t>(g));
        posterior_.draw(random, drawn);
        std::uint32_t* to = &quality_[static_cast<std::size_t>(d) * rows + scores_.groups[g].first];
        std::size_t i = 0;
        for (const int level : scores_.levels_of(scores_.groups[g])) {
          if (level >= 0) *to = drawn[i++];
          ++to;
        }
      }
    }
  }

  /// Draws new scores of the qualities of draw d; number -1 = no score.
  void draw_scores(const ScoreRows& rows, std::size_t v, int d, std::vector<int>& number) const {
    for (std::size_t g = 0; g < scores_.groups.size(); ++g) {
      UniformStream random(derive_key(o_.seed, static_cast<std::uint32_t>(v)), Purpose::dump_vote, static_cast<std::uint32_t>(d), static_cast<std::uint32_t>(g));
      for (std::size_t row = scores_.groups[g].first; row < scores_.groups[g].first + scores_.groups[g].count; ++row) {
        if (scores_.level[row] < 0) continue;
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
  double reward_of(std::size_t row, double level) const { return o_.weight[o_.column] * value_at(o_.judge.values, level) + scores_.known[row]; }

  /// Sets the advantages of all groups. Returns false where the estimator is refused.
  bool estimate(std::size_t e, std::size_t v, const std::vector<int>& number, const std::vector<double>& reward, std::vector<double>& advantage) {
    JudgedEstimator& made = out_.estimators[e];
    if (!made.refusal.empty()) return false;
    if (made.config.posterior) {
      estimate_posterior(made.config, v, number, advantage);
      return true;
    }
    try {
      for (std::size_t begin = 0, end; begin < scores_.groups.size(); begin = end) {
        for (end = begin; end < scores_.groups.size() && scores_.groups[end].step == scores_.groups[begin].step;) ++end;
        plain_[e]->step(std::span(scores_.groups).subspan(begin, end - begin), reward, rollouts_.length, advantage);
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
    std::vector<int> observed;
    std::vector<double> value, known, made;
    for (std::size_t g = 0; g < scores_.groups.size(); ++g) {
      const RolloutGroup& at = scores_.groups[g];
      observed.clear(), known.clear();
      for (std::size_t row = at.first; row < at.first + at.count; ++row)
        if (number[row] >= 0) observed.push_back(number[row]), known.push_back(scores_.known[row]);
      value.resize(observed.size()), made.resize(observed.size());
      const double variance = group.values_and_variance(scores, priors_.fitted[scores_.window[g]], observed, value);
      for (std::size_t i = 0; i < value.size(); ++i) value[i] = o_.weight[o_.column] * value_at(o_.judge.values, value[i]) + known[i];
      if (!value.empty()) advantages(form, levels_, value, no_median, made, floor_squared(config, variance) * step * step);
      std::size_t i = 0;
      for (std::size_t row = at.first; row < at.first + at.count; ++row) advantage[row] = number[row] >= 0 ? made[i++] : 0;
    }
  }

  /// Adds the comparison of all groups with the truths of draw d.
  void compare(std::size_t e, std::size_t v, int d, const std::vector<double>& reward, const std::vector<double>& advantage) {
    std::vector<double> a, q;
    for (const RolloutGroup& g : scores_.groups) {
      a.clear(), q.clear();
      for (std::size_t row = g.first; row < g.first + g.count; ++row) {
        if (reward[row] != reward[row]) continue;
        a.push_back(advantage[row]);
        q.push_back(reward_of(row, posterior_.believed().quality[quality_[static_cast<std::size_t>(d) * rollouts_.rows() + row]]));
      }
      sums_[e * out_.votes.size() + v].at(unit_[g.prompt], static_cast<std::size_t>(d)).add(compared(a, q));
    }
  }

  void summarise() {
    const int resamples = out_.prompts >= least_prompts ? o_.resamples : 0;
    for (std::size_t e = 0; e < out_.estimators.size(); ++e)
      for (std::size_t v = 0; v < out_.votes.size(); ++v) out_.estimators[e].scores[v] = sums_[e * out_.votes.size() + v].numbers(resamples, o_.seed);
  }

  const Rollouts& rollouts_;
  const JudgedOptions& o_;
  JudgedScores scores_;
  int levels_;
  QualityPosterior posterior_;
  JudgedPriors priors_;
  std::vector<Voted> voted_;         ///< [o_.votes]
  std::vector<std::optional<GroupAdvantages>> plain_;  ///< [estimators]
  std::vector<std::uint32_t> unit_;     ///< [prompts of the dump] what resamples draw
  std::vector<std::uint32_t> quality_;  ///< [draws][rows]
  std::vector<DrawnSums> sums_;         ///< [estimators][votes]
  JudgedRollouts out_;
};

}  // namespace

JudgedRollouts judge_rollouts(const Rollouts& rollouts, const JudgedOptions& options) {
  const JudgedOptions o = checked(rollouts, options);
  return Judged(rollouts, o).compute();
}

std::vector<std::vector<double>> posterior_advantages(const Rollouts& rollouts, const JudgedOptions& options) {
  JudgedOptions o = checked(rollouts, options);
  for (const EstimatorConfig& config : o.estimators)
    if (const std::string text = uneven_text(o.judge); !text.empty()) fail(Exit::limits, "{} is refused: {}", estimator_word(config), text);
  o.votes.clear(), o.draws = 1, o.all = true;
  return Judged(rollouts, o).posterior();
}

}  // namespace odrpo
