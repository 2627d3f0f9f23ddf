// Answers the functions of `compute`: passes arguments to the modules' definitions and writes results as JSON. Its only formula is k3's.
#include "app/compute/functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/compute/arguments.hpp"
#include "envs/judge/agreement/agreement.hpp"
#include "envs/rater/noise.hpp"
#include "envs/rater/vote.hpp"
#include "estimators/batch_forms.hpp"
#include "estimators/definition.hpp"
#include "estimators/running_median.hpp"
#include "estimators/weights.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo::app {
namespace {

/// Refuses work that would take more than a few seconds.
void check_work(double operations, double limit, const char* what) {
  if (operations > limit)
    throw Refusal{"too_large", fmt::format("{} would need {:.1e} operations; the limit is {:.0e}", what, operations, limit)};
}

/// Refuses a group whose advantages by the definition take too long: some forms compare all pairs, or sort for every member.
void check_advantage_work(const EstimatorConfig& c, std::span<const double> rewards) {
  const double size = static_cast<double>(rewards.size());
  if (row_of(c.form).basis != Basis::reward && c.form != Form::convex_reinforce) check_work(size * size, 4e8, "advantage");
  if (convention_of(c).divisor == Divisor::others_deviation) check_work(16 * size * size, 4e8, "advantage");
  if (c.form == Form::convex_reinforce)
    check_work(std::accumulate(rewards.begin(), rewards.end(), size, [](double sum, double r) { return sum + std::max(0.0, r); }), 4e8,
               "advantage");
}

double median_argument(const Arguments& a, const EstimatorConfig& c) {
  const double median = a.number_or_null("median_value").value_or(no_median);
  if (reads_median(c.weight) && c.median == MedianRule::running && std::isnan(median))
    throw Refusal{"out_of_range", "median_value: a number is needed when median_rule is running"};
  return median;
}

EstimatorConfig odrpo_config(const Arguments& a) {
  EstimatorConfig c;
  c.form = Form::odrpo;
  c.norm = a.word<Norm>("norm", norm_words);
  c.weight = a.word<Weight>("weights", weight_words);
  return c;
}

/// Advantages of a group in which rewards may be missing (NaN): of the others as a group of their own, and 0 for the missing ones, as in training
/// (docs/estimators.md). `estimate` gets the rewards that are there and where their advantages go.
template <class Estimate>
std::string of_those_there(const std::vector<double>& rewards, Estimate estimate) {
  std::vector<double> there, some, all(rewards.size(), 0.0);
  std::copy_if(rewards.begin(), rewards.end(), std::back_inserter(there), [](double r) { return !std::isnan(r); });
  some.resize(there.size());
  if (!there.empty()) estimate(there, some);
  for (std::size_t i = 0, at = 0; i < rewards.size(); ++i)
    if (!std::isnan(rewards[i])) all[i] = some[at++];
  return json_list(all);
}

std::string advantage(const Arguments& a) {
  auto rewards = a.numbers_or_null("rewards", -any_number, any_number, false);
  EstimatorConfig c = named_estimator(a);
  if (const std::string_view more = beside_group(c.form); !more.empty())
    throw Refusal{"out_of_range", fmt::format("est: {} reads {}; `batch_advantage` takes a batch", estimator_word(c), more)};
  read_level_values(a, rewards, c);
  const int levels = read_formulas(a, c);
  read_conventions(a, c);
  return of_those_there(rewards, [&](std::vector<double>& there, std::span<double> out) { group_advantages(c, levels, there, out); });
}

std::string odrpo(const Arguments& a) {
  const int levels = a.integer("K", 1, 1'000'000);
  const auto rewards = a.numbers_or_null("rewards", 0, levels, true);
  EstimatorConfig c = odrpo_config(a);
  c.median = a.word<MedianRule>("median_rule", median_words);
  read_conventions(a, c);
  read_level_values(a, rewards, c);
  if (!c.values.empty() && std::ssize(c.values) != levels)
    throw Refusal{"wrong_shape", fmt::format("values: {} numbers are needed, one for each level", levels)};
  const double median = median_argument(a, c);
  check_work(static_cast<double>(rewards.size()) * levels, 4e8, "odrpo");
  return of_those_there(rewards, [&](const std::vector<double>& there, std::span<double> out) { advantages(c, levels, there, median, out); });
}

std::string continuous(const Arguments& a) {
  const auto rewards = a.numbers("rewards");
  EstimatorConfig c = odrpo_config(a);
  c.median = a.word<MedianRule>("median_rule", median_words);
  read_conventions(a, c);
  read_level_values(a, rewards, c);
  const double median = median_argument(a, c), size = static_cast<double>(rewards.size());
  check_work(size * size, 4e8, "odrpo_continuous");
  std::vector<double> out(rewards.size());
  odrpo_continuous(c, rewards, median, out);
  return json_list(out);
}

std::string loo(const Arguments& a) {
  EstimatorConfig c = odrpo_config(a);
  read_conventions(a, c);
  const int members = a.integer("M", 1, 1'000'000), level = a.integer("level", 0, 1'000'000);
  const auto median = a.number_or_null("med");
  if (reads_median(c.weight) && !median) throw Refusal{"out_of_range", "med: a number is needed for the weight gini-median"};
  std::vector<double> t(members), u(members);
  leave_one_out(c, members, level, median.value_or(0), t, u);
  return "{\"t\":" + json_list(t) + ",\"u\":" + json_list(u) + '}';
}

using Groups = std::vector<std::vector<double>>;

std::vector<double> joined_groups(const Groups& groups) {
  std::vector<double> batch;
  for (const auto& group : groups) batch.insert(batch.end(), group.begin(), group.end());
  return batch;
}

/// The batch as JSON, in groups of the sizes of `shape`.
std::string json_groups(const Groups& shape, std::span<const double> batch) {
  std::string text = "[";
  std::size_t at = 0;
  for (const auto& group : shape) {
    if (text.size() > 1) text += ',';
    text += json_list(batch.subspan(at, group.size()));
    at += group.size();
  }
  return text + ']';
}

std::string normalize(const Arguments& a) {
  const Groups groups = a.rows("groups", false);
  std::vector<double> batch = joined_groups(groups);
  batch_normalize(batch, a.integer("ddof", 0, 1), a.number("eps", 0, 1e6));
  return json_groups(groups, batch);
}

/// A whole number from 0 to `high` for every advantage of the batch; none without the argument.
template <class Int>
std::vector<Int> beside(const Arguments& a, const char* name, const Groups& groups, double high) {
  std::vector<Int> all;
  if (!a.given(name)) return all;
  const Groups rows = a.rows(name, false);
  const auto same_size = [](const auto& x, const auto& y) { return x.size() == y.size(); };
  if (!std::equal(rows.begin(), rows.end(), groups.begin(), groups.end(), same_size))
    throw Refusal{"wrong_shape", fmt::format("{}: one number for every advantage of `groups` is needed", name)};
  for (const double x : joined_groups(rows)) {
    if (!(x >= 0 && x <= high && x == std::floor(x)))
      throw Refusal{"out_of_range", fmt::format("{}: whole numbers from 0 to {} are needed", name, high)};
    all.push_back(static_cast<Int>(x));
  }
  return all;
}

/// Groups may differ in length: the shorter ones are filled up with missing rewards.
std::string batch_advantage(const Arguments& a) {
  const Groups groups = a.rows("groups", false, true);
  EstimatorConfig c = named_estimator(a);
  if (beside_group(c.form).empty())
    throw Refusal{"out_of_range", fmt::format("est: {} reads one group at a time: `advantage` takes it", estimator_word(c))};
  read_conventions(a, c);
  read_level_values(a, joined_groups(groups), c);
  const int levels = a.given("K") ? a.integer("K", 2, 1'000'000) : 10;
  const auto lengths = beside<int>(a, "lengths", groups, 1e9);
  const bool reads_lengths = row_of(c.form).reads == Reads::lengths;
  if (reads_lengths != a.given("lengths"))
    throw Refusal{reads_lengths ? "missing_argument" : "out_of_range", "lengths: opo needs the length of every response, and only opo reads it"};
  if (std::find(lengths.begin(), lengths.end(), 0) != lengths.end()) throw Refusal{"out_of_range", "lengths: a response has one token or more"};
  if (a.given("K") && (c.form != Form::bnpo || !c.values.empty())) throw Refusal{"out_of_range", "K: only bnpo without `values` reads it"};
  std::size_t most = 0;
  for (const auto& group : groups) most = std::max(most, group.size());
  check_work(static_cast<double>(groups.size()) * static_cast<double>(most), 1e8, "batch_advantage");
  std::vector<double> rewards(groups.size() * most, std::nan("")), out(rewards.size());
  std::vector<int> filled(reads_lengths ? rewards.size() : 0, 1);
  for (std::size_t g = 0, at = 0; g < groups.size(); at += groups[g++].size()) {
    std::copy(groups[g].begin(), groups[g].end(), rewards.begin() + static_cast<std::ptrdiff_t>(g * most));
    if (reads_lengths) std::copy_n(lengths.begin() + static_cast<std::ptrdiff_t>(at), groups[g].size(), filled.begin() + static_cast<std::ptrdiff_t>(g * most));
  }
  batch_advantages(c, levels, static_cast<int>(most), rewards, filled, out);
  std::vector<double> batch;
  for (std::size_t g = 0; g < groups.size(); ++g)
    batch.insert(batch.end(), out.begin() + static_cast<std::ptrdiff_t>(g * most), out.begin() + static_cast<std::ptrdiff_t>(g * most + groups[g].size()));
  return json_groups(groups, batch);
}

std::string whiten(const Arguments& a) {
  const Groups groups = a.rows("groups", false);
  EstimatorConfig c = named_estimator(a);
  read_conventions(a, c);
  const auto tokens = beside<int>(a, "tokens", groups, 1e6);
  const auto kept = beside<std::uint8_t>(a, "kept", groups, 1);
  check_work(std::accumulate(tokens.begin(), tokens.end(), 0.0), 5e7, "whiten");  // the definition lists every token
  std::vector<double> batch = joined_groups(groups);
  whiten_definition(whitening_after(c), batch, kept, tokens);
  return json_groups(groups, batch);
}

std::string medians(const Arguments& a) {
  RunningRule rule;
  rule.kind = a.word<RunningKind>("kind", running_words);
  rule.rule = a.word<MedianRule>("rule", median_words);
  if (rule.rule == MedianRule::running) throw Refusal{"out_of_range", "rule: is one of lower, mid, upper"};
  if (rule.kind == RunningKind::window || !a.is_null("window")) rule.window = a.integer("window", 1, 1 << 24);
  if (rule.kind == RunningKind::ema || !a.is_null("rho")) rule.rho = a.number("rho", 0, 1);
  std::vector<std::vector<double>> pooled;
  std::size_t scores = 0;
  for (const auto& batch : a.blocks("batches")) {
    pooled.emplace_back();
    for (const auto& group : batch) pooled.back().insert(pooled.back().end(), group.begin(), group.end());
    scores += pooled.back().size();
  }
  const double reach = static_cast<double>(std::min<std::size_t>(scores, rule.kind == RunningKind::window ? rule.window : 1));
  check_work(static_cast<double>(pooled.size()) * reach, 1e8, "running_median");
  std::vector<double> out(pooled.size());
  running_medians(rule, a.number("init"), pooled, out);
  return json_list(out);
}

std::string vote_of(const Arguments& a) {
  const auto scores = a.integers("scores", -1e9, 1e9);
  const TieRule tie = a.word<TieRule>("tie", tie_words);
  if (scores.empty()) throw Refusal{"wrong_shape", "scores: at least one is needed"};
  return std::to_string(vote(std::vector<int>(scores.begin(), scores.end()), tie));
}

/// The rows of judges, of which nothing but ranks is read.
std::vector<std::vector<double>> ranked_rows(const Arguments& a) {
  auto judges = a.rows("judges", true);
  for (auto& row : judges) join_rounded(row);
  return judges;
}

std::string concordance(const Arguments& a) {
  const KendallW k = kendall_w(ranked_rows(a));
  return fmt::format(R"({{"W":{},"chi2":{},"p":{},"df":{}}})", json_or_null(k.w), json_or_null(k.chi2), json_or_null(k.p), k.df);
}

std::string statistics(const Arguments& a) {
  const RowStats s = row_stats(a.numbers("row"), a.integer("ddof", 0, 1));
  return fmt::format(R"({{"mean":{},"std":{},"skew":{},"exkurt":{}}})", json_or_null(s.mean), json_or_null(s.std), json_or_null(s.skew),
                     json_or_null(s.exkurt));
}

std::string flips(const Arguments& a) {
  const auto judges = ranked_rows(a);
  const double items = static_cast<double>(judges[0].size());
  check_work(items * items * static_cast<double>(judges.size()), 4e9, "rank_flip");
  const RankFlip f = rank_flip(judges);
  return fmt::format(R"({{"flip":{},"flip_decided":{},"tie":{}}})", json_or_null(f.flip), json_or_null(f.flip_decided),
                     json_or_null(f.tie));
}

/// k3 = expm1(d) - d; near 0 by its series, since the difference would cancel.
double k3(double d) {
  if (std::abs(d) > 0.1) return std::expm1(d) - d;
  double sum = 0, term = d;
  for (int n = 2; n < 14; ++n) sum += term = term * d / n;
  return sum;
}

std::string kl(const Arguments& a) {
  const auto logp = a.numbers("logp"), logref = a.numbers("logref");
  const auto clamp = a.number_or_null("clamp", 0);
  if (logp.size() != logref.size()) throw Refusal{"wrong_shape", "logp and logref: lists of one length are needed"};
  std::vector<double> out;
  for (std::size_t i = 0; i < logp.size(); ++i) {
    const double x = k3(logref[i] - logp[i]);
    out.push_back(clamp ? std::min(std::max(x, -*clamp), *clamp) : x);
  }
  return json_list(out);
}

std::string rater(const Arguments& a) {
  std::vector<double> row(a.integer("K", 1, 100'000));
  GaussianNoise gauss;
  gauss.sigma = a.number("sigma", 0, 1e6);
  HighOutliers high;
  high.p = a.number("p_high", 0, 1);
  LowOutliers low;
  low.p = a.number("p_low", 0, 1);
  const Noise noise[] = {gauss, high, low};
  Traits traits;
  traits.quality = a.number("center", -1e6, 1e6);
  channel_row(noise, traits, row);
  return json_list(row);
}

/// Probabilities whose sum is 1 within 1e-6, divided by their sum.
std::vector<double> pmf_argument(const Arguments& a) {
  auto pmf = a.numbers("pmf", 0, 1);
  double total = 0;
  for (const double p : pmf) total += p;
  if (!(std::abs(total - 1) <= 1e-6)) throw Refusal{"out_of_range", fmt::format("pmf: sums to {}, not to 1", total)};
  for (double& p : pmf) p /= total;
  return pmf;
}

std::string distribution(const Arguments& a) {
  const auto pmf = pmf_argument(a);
  const int votes = a.integer("N", 1, max_distribution_votes);
  const TieRule tie = a.word<TieRule>("tie", tie_words);
  check_work(static_cast<double>(pmf.size()) * votes * votes * votes, 2e10, "vote_pmf");
  std::vector<double> out(pmf.size());
  vote_distribution(pmf, votes, tie, out);
  return json_list(out);
}

std::string median_of_votes(const Arguments& a) {
  const auto pmf = pmf_argument(a);
  const int votes = a.integer("N", 1, max_distribution_votes);
  const double size = static_cast<double>(pmf.size());
  check_work(size * votes * votes + size * size, 4e9, "median_pmf");
  std::vector<double> out(pmf.size());
  median_distribution(pmf, votes, out);
  return json_list(out);
}

std::string sum_of_votes(const Arguments& a) {
  const auto pmf = pmf_argument(a);
  const int votes = a.integer("N", 1, max_distribution_votes);
  const double sums = static_cast<double>(pmf.size() - 1) * votes + 1;
  check_work(sums * sums, 4e9, "sum_pmf");
  std::vector<double> out(static_cast<std::size_t>(sums));
  sum_distribution(pmf, votes, out);
  return json_list(out);
}

constexpr ComputeFunction functions[] = {
    {"advantage", texts::advantage, advantage},
    {"batch_advantage", texts::batch_advantage, batch_advantage},
    {"odrpo", texts::odrpo, odrpo},
    {"odrpo_continuous", texts::odrpo_continuous, continuous},
    {"loo", texts::loo, loo},
    {"batch_normalize", texts::batch_normalize, normalize},
    {"whiten", texts::whiten, whiten},
    {"running_median", texts::running_median, medians},
    {"vote", texts::vote, vote_of},
    {"vote_pmf", texts::vote_pmf, distribution},
    {"median_pmf", texts::median_pmf, median_of_votes},
    {"sum_pmf", texts::sum_pmf, sum_of_votes},
    {"rater_pmf", texts::rater_pmf, rater},
    {"kendall_w", texts::kendall_w, concordance},
    {"rank_flip", texts::rank_flip, flips},
    {"row_stats", texts::row_stats, statistics},
    {"kl_k3", texts::kl_k3, kl},
    {"corrected_scores", texts::corrected_scores, corrected_scores_of},
    {"posterior_scores", texts::posterior_scores, posterior_scores},
    {"posterior_votes", texts::posterior_votes, posterior_votes},
    {"field", texts::field, field_of},
    {"channel_field", texts::channel_field, channel_field_of},
    {"curl_at", texts::curl_at, curl_of},
    {"mac", texts::mac, mean_curl_of},
    {"level_potential", texts::level_potential, potential_of},
    {"objective", texts::objective, objective_of},
};

}  // namespace

std::span<const ComputeFunction> compute_functions() { return functions; }

std::string call_function(std::string_view name, const nlohmann::json& args) {
  for (const ComputeFunction& f : functions)
    if (f.name == name) return f.answer(Arguments(args, f.text.arguments));
  throw Refusal{"unknown_function", fmt::format("\"{}\" is not one of {}", name.substr(0, 40), joined(compute_functions(), &ComputeFunction::name))};
}

EstimatorConfig named_estimator(const Arguments& a) {
  const auto parsed = parse_estimator(a.text("est"));
  if (!parsed) throw Refusal{"out_of_range", fmt::format("est: is one of {}", fmt::join(estimator_catalogue(), ", "))};
  if (parsed->posterior) throw Refusal{"out_of_range", "est: posterior estimators are the form of the answer of `posterior_scores`"};
  if (parsed->corrected) throw Refusal{"out_of_range", "est: corrected estimators are the form, with the scores that `corrected_scores` answers as values"};
  return *parsed;
}

void group_advantages(const EstimatorConfig& c, int levels, std::span<double> rewards, std::span<double> out) {
  check_advantage_work(c, rewards);
  if (row_of(c.form).basis == Basis::rank) join_rounded(rewards);
  try {
    advantages(c, levels, rewards, no_median, out);
  } catch (const Failure& f) {
    throw Refusal{by_formula(c) ? "out_of_range" : "too_large", f.what()};
  }
}

}  // namespace odrpo::app
