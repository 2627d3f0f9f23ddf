// Computes the best map from a group's scores to advantages, and how far estimators stay below it: `odrpo-bench theory bound`.
#include "estimators/theory/bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/compute/first_posterior.hpp"
#include "app/flags/flag_values.hpp"
#include "app/theory/command.hpp"
#include "app/theory/request.hpp"
#include "app/theory/result_table.hpp"
#include "config/catalogue/believed_judge.hpp"
#include "envs/bandit/channel.hpp"
#include "envs/rater/rater.hpp"
#include "kernels/math.hpp"
#include "kernels/random.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"
#include "train/worlds/bound_world.hpp"

namespace odrpo::app {
namespace {

constexpr int most_votes = 1024;
constexpr int following_rounds = 15;  ///< EM steps to a `following` prior. Each stands for 1 / (1 - .95) = 20 batches; a run has about 300 batches
constexpr double most_tilt = 20;
constexpr double most_seconds = 3600, seconds_per_histogram = 2e-7, seconds_per_draw = 5e-8;  // the last two were measured on one core
constexpr const char* best_word = "best map";
constexpr const char* other_world_word = "best map of another world";
constexpr const char* ascent_word = "ascent from the best map";

/// A rater, a number of votes and a policy; the table has several rows for each such case.
struct Case {
  std::string rater;
  RaterConfig config;
  int votes = 1, levels = 10;
  PolicyConfig policy;
};

/// Results of one map from scores to advantages, in each world. efficiency: R (table notes below); share: R / the best map's R; R is aligned
/// times signal; cosine: its mean cosine with the gradient; less: that cosine - the best map's.
struct EstimatorRow {
  std::string name;
  std::vector<double> efficiency{}, share{}, aligned{}, signal{}, cosine{}, less{};
};

struct Summary {
  double mean, error;
};
/// The mean over worlds, and its standard error; the error is NaN for fewer than two worlds.
Summary summary_of(const std::vector<double>& x) {
  if (x.empty()) return {undefined, undefined};
  const double n = static_cast<double>(x.size());
  double sum = 0, squares = 0;
  for (const double v : x) sum += v;
  for (const double v : x) squares += (v - sum / n) * (v - sum / n);
  return {sum / n, n > 1 ? std::sqrt(squares / (n - 1) / n) : undefined};
}

std::vector<PolicyConfig> read_policies(const TheoryBoundOptions& o) {
  std::vector<PolicyConfig> all;
  std::vector<std::string> words = o.policies;
  if (words.empty()) words = {"tabular", "linear"};
  for (const std::string& word : words) {
    const PolicyKind kind = word_or_refuse("--policy", policy_words, word);
    if (kind == PolicyKind::transformer) fail(Exit::usage, "--policy: the bandit's policies are tabular and linear");
    for (const double tilt : o.tilts.empty() ? std::vector<double>{0} : read_numbers("--tilt", o.tilts)) {
      if (!(tilt >= 0 && tilt <= most_tilt)) fail(Exit::usage, "--tilt: {} is not in 0..{}", number_text(tilt), most_tilt);
      PolicyConfig policy;
      policy.kind = kind;
      policy.tilt = tilt;
      all.push_back(policy);
    }
  }
  return all;
}

std::vector<Case> read_cases(const TheoryBoundOptions& o) {
  std::vector<Case> all;
  for (const std::string& name : o.raters.empty() ? std::vector<std::string>{"mixed"} : o.raters) {
    Case c{name, rater_named(name), 1, 10, {}};
    c.levels = simulated_levels(c.config, o.levels);
    read_values(o, c.levels);
    for (const int votes : read_wholes("--votes", o.votes, 1, most_votes, {1})) {
      c.votes = votes;
      if (const auto why = whole_score_refusal(c.config, votes)) fail(Exit::usage, "rater {}: {}", shown(name), *why);
      for (const PolicyConfig& policy : read_policies(o)) {
        c.policy = policy;
        const auto same = [&](const Case& other) {
          return other.rater == c.rater && other.votes == c.votes && other.policy.kind == policy.kind && other.policy.tilt == policy.tilt;
        };
        if (std::none_of(all.begin(), all.end(), same)) all.push_back(c);
      }
    }
  }
  return all;
}

/// Failure `limits` if the estimated time is over an hour. It is spent on the rater's distributions, histograms of prompts, and batches.
void check_seconds(const TheoryBoundOptions& o, const std::vector<Case>& cases, const std::vector<int>& sizes) {
  double seconds = 0;
  for (const Case& c : cases) {
    BanditConfig env;
    env.levels = c.levels, env.prompts = o.prompts;
    seconds += o.worlds * most_rows(env, c.config) * row_seconds(env, c.config, c.votes);
    for (const int m : sizes) {
      UpdateMoments::check_size(c.levels, m);
      seconds += o.worlds * o.prompts * std::min(histogram_count(c.levels, m), 1e5) * seconds_per_histogram;
      seconds += o.worlds * seconds_per_draw * m * o.batch * (o.batches * 16.0 + o.ascent * 4.0);
    }
  }
  if (seconds > most_seconds)
    fail(Exit::limits, "this would take about {}; the limit is {}: fewer --prompts, --worlds, --batches, --votes or cases",
         seconds_text(seconds), seconds_text(most_seconds));
}

/// An estimator as a map from scores of a group to advantages. A posterior or corrected estimator believes in the true model of the rater.
std::vector<double> map_of(const EstimatorConfig& config, const TheoryBoundOptions& o, const Case& c, const UpdateMoments& moments) {
  if (config.corrected) {
    const EstimatorConfig form = corrected_form(config, correct_judge(config, c.config, c.levels, c.votes).scores);
    return estimator_map(form, form.values.empty() ? plain_values(c.levels) : form.values, moments.index());
  }
  if (!config.posterior) return estimator_map(config, read_values(o, c.levels), moments.index());
  const ScoreModel model = first_score_model(c.config, c.levels, c.votes, config.prior, moments.index().members());
  const int rounds = config.prior == PriorRule::fixed ? 0 : following_rounds;
  return posterior_map(config, model, followed_prior(model, moments, rounds), moments.index());
}

/// The estimators that can be had under the judge of a case. Leaves out corrected ones that it refuses, with a note; failure `usage` if they
/// were asked for.
std::vector<EstimatorConfig> with_a_judge(const TheoryBoundOptions& o, const std::vector<EstimatorConfig>& estimators, const Case& c,
                                          std::vector<std::string>& notes) {
  std::vector<EstimatorConfig> all;
  for (const EstimatorConfig& config : estimators) {
    const auto why = config.corrected ? correct_judge(config, c.config, c.levels, c.votes).refusal : std::nullopt;
    if (!why) {
      all.push_back(config);
      continue;
    }
    if (!o.estimators.empty()) fail(Exit::usage, "--estimator {}: rater {} with {}: {}", name_of(config), shown(c.rater), counted(c.votes, "vote"), *why);
    const std::string note = fmt::format("left out: {} under {} with {}: {}", name_of(config), c.rater, counted(c.votes, "vote"), *why);
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  }
  return all;
}

void add_world(const TheoryBoundOptions& o, const Case& c, const std::vector<EstimatorConfig>& estimators, int members, std::uint64_t key,
               std::vector<double>& other_world, std::vector<EstimatorRow>& rows) {
  BanditConfig env;
  env.levels = c.levels, env.prompts = o.prompts;
  if (!o.quality.empty()) env.quality = word_or_refuse("--quality", quality_words, o.quality);
  const BoundProblem problem = bound_problem({env, c.config, c.votes, c.policy, members, o.batch, key});
  const UpdateMoments moments(problem);
  std::vector<std::vector<double>> maps = {moments.best_map(), other_world};
  for (const EstimatorConfig& config : estimators) maps.push_back(map_of(config, o, c, moments));
  if (o.batches > 0) maps.push_back(o.ascent > 0 ? improve_cosine(problem, moments, maps[0], o.ascent, key + 1) : std::vector<double>());
  const double best = moments.efficiency(maps[0]);
  other_world = maps[0];
  std::vector<std::size_t> which;
  std::vector<std::vector<double>> drawn;
  for (std::size_t m = 0; m < maps.size(); ++m)
    if (!maps[m].empty()) which.push_back(m), drawn.push_back(std::move(maps[m]));
  const std::vector<double> mean_squares = moments.mean_squares(problem, drawn);
  for (std::size_t i = 0; i < which.size(); ++i) {
    EstimatorRow& row = rows[which[i]];
    const double r = moments.efficiency(drawn[i]), aligned = moments.aligned(drawn[i], mean_squares[i]);
    row.efficiency.push_back(std::isnan(r) ? 0 : r);  // efficiency() is NaN for a map of zeros, which gains nothing
    row.share.push_back(row.efficiency.back() / best);
    row.aligned.push_back(std::isnan(aligned) ? 0 : aligned);
    row.signal.push_back(aligned > 0 ? r / aligned : 0);
  }
  if (o.batches == 0) return;
  const std::vector<MeanCosine> cosines = mean_cosines(problem, moments.index(), drawn, o.batches, key + 2);
  for (std::size_t i = 0; i < which.size(); ++i) {
    rows[which[i]].cosine.push_back(cosines[i].mean);
    rows[which[i]].less.push_back(cosines[i].less);
  }
}

}  // namespace

int theory_bound(const TheoryBoundOptions& o) {
  const TheoryFormat format = theory_format(o);
  TheoryTable table;
  std::vector<std::string> usual = paper_estimators();
  usual.insert(usual.begin(), "reinforce");
  usual.insert(usual.end(), {"rank-grpo", "convex-reinforce", "posterior(reinforce)", "posterior(grpo)", "corrected(reinforce)", "corrected(grpo)"});
  std::vector<EstimatorConfig> estimators = read_estimators(o, usual, table.notes, JudgeKnown::model);
  bool posterior = false;
  if (!o.values.empty())
    std::erase_if(estimators, [&](const EstimatorConfig& config) {
      if (!config.posterior) return false;
      const std::string why = "posterior scores are qualities, which have no values of levels";
      if (!o.estimators.empty()) fail(Exit::usage, "--estimator {}: {}", name_of(config), why);
      table.notes.push_back(fmt::format("left out: {}: {}", name_of(config), why));
      return true;
    });
  for (EstimatorConfig& config : estimators) {
    if (config.corrected && !o.values.empty()) config.values = read_values(o, 0);
    if (!config.posterior) continue;
    posterior = true;
    config.prior = o.prior.empty() ? PriorRule::following : word_or_refuse("--prior", prior_words, o.prior);
    if (config.prior == PriorRule::moments) fail(Exit::usage, "--prior: a map has a prior that is fixed, or that followed the policy");
  }
  if (!o.prior.empty() && !posterior) fail(Exit::usage, "--prior: only posterior estimators have one, and none is asked for");
  const std::vector<int> sizes = read_wholes("--group-size", o.group_sizes, 2, 255, {8});
  const std::vector<Case> cases = read_cases(o);
  check_seconds(o, cases, sizes);
  table.title = fmt::format("the best advantages from the scores of a group; {} worlds of {} prompts, batches of {}, seed {}", o.worlds,
                            o.prompts, o.batch, o.seed);
  table.columns = {"rater", "N", "policy", "tilt", "M", "advantages", "R", "R_se", "share", "share_se", "aligned", "aligned_se", "signal", "signal_se"};
  if (o.batches > 0) table.columns.insert(table.columns.end(), {"cosine", "less", "less_se"});
  for (const Case& c : cases)
    for (const int members : sizes) {
      const std::vector<EstimatorConfig> possible = with_a_judge(o, estimators, c, table.notes);
      std::vector<EstimatorRow> rows = {{best_word}, {other_world_word}};
      for (const EstimatorConfig& config : possible) rows.push_back({name_of(config)});
      if (o.batches > 0) rows.push_back({ascent_word});
      std::vector<double> other_world;
      for (int w = 0; w < o.worlds; ++w)
        add_world(o, c, possible, members, derive_key(static_cast<std::uint64_t>(o.seed), static_cast<std::uint32_t>(w)), other_world, rows);
      for (const EstimatorRow& row : rows) {
        if (row.efficiency.empty()) continue;
        const Summary r = summary_of(row.efficiency), share = summary_of(row.share), aligned = summary_of(row.aligned),
                      signal = summary_of(row.signal), cosine = summary_of(row.cosine), less = summary_of(row.less);
        table.rows.push_back({c.rater, static_cast<long long>(c.votes), std::string(word_of<PolicyKind>(policy_words, c.policy.kind)),
                              c.policy.tilt, static_cast<long long>(members), row.name, r.mean, r.error, share.mean, share.error, aligned.mean, aligned.error,
                              signal.mean, signal.error});
        if (o.batches > 0) table.rows.back().insert(table.rows.back().end(), {cosine.mean, less.mean, less.error});
      }
    }
  for (const EstimatorConfig& config : estimators) table.formulas.push_back(formula_line(config, o));
  table.notes.push_back(
      "R: (E<u, g>)^2 / (E|u|^2 |g|^2), u the update of a batch, g the gradient of true quality: the share of what a step along g gains that "
      "a step along u gains, each of its best length. share: of the R of the best map, the square of the cosine of the two maps under E|u|^2.");
  table.notes.push_back(
      "aligned: (E<u, g>)^2 / (|E u|^2 |g|^2), 1 without bias; signal: |E u|^2 / E|u|^2, less than 1 by noise. R is their product.");
  table.notes.push_back(
      "best map: of all maps from the counts of a group's scores to advantages, the one with the highest R in this world; its R is above that "
      "of endless prompts, and the R that the best map of another world has here is below.");
  if (o.batches > 0)
    table.notes.push_back(fmt::format("cosine: E cos(u, g) over {} batches of each world; less: paired difference from the best map. ascent from "
                                      "the best map: towards a higher cosine, over {} batches of each world; the best map again where no step is sure.",
                                      o.batches, o.ascent));
  table.notes.push_back("R_se, share_se, less_se: standard errors over worlds. tabular: each prompt has its own parameters and is in the batch once.");
  table.notes.push_back("Whitening divides a whole batch by one number, nearly the same for each large batch: R leaves it out.");
  if (std::any_of(estimators.begin(), estimators.end(), [](const EstimatorConfig& config) { return config.corrected; }))
    table.notes.push_back("Corrected estimators know the rater's channel, the mean over its kinds of prompts.");
  if (posterior)
    table.notes.push_back(fmt::format("Posterior estimators know the rater. A prior that follows is taken after {} steps of EM on this policy's groups.",
                                      following_rounds));
  put(theory_text(table, format));
  return static_cast<int>(Exit::ok);
}

}  // namespace odrpo::app
