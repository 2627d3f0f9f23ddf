// Searches the conventions for the one whose advantages a trainer logged: first on some steps for all, then on all steps for the best.
#include "train/rollouts/logged.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "kernels/shared/failure.hpp"
#include "train/rollouts/advantages.hpp"
#include "train/rollouts/rollout_analysis.hpp"

namespace odrpo {
namespace {

constexpr std::int64_t searched_groups = 1000;  // that all conventions are compared on
constexpr double whole_tolerance = 1e-6, of_float = 4.8e-7;  // relative: of a group's largest advantage; 4 roundings of a float

/// What a trainer's rewards lose as floats; 0 for whole numbers.
double float_error(std::span<const double> rewards) {
  double most = 0;
  bool whole = true;
  for (const double r : rewards)
    if (r == r) most = std::max(most, std::fabs(r)), whole = whole && r == std::floor(r) && std::fabs(r) < 1 << 24;
  return whole ? 0 : of_float * most;
}

/// How far logged advantages of a group may be from the computed ones. `largest`: the largest advantage of the group; of the step where it was whitened.
double tolerance_of(std::span<const double> rewards, double largest, const Convention& rule) {
  double mean = 0, count = 0, away = 0;
  for (const double r : rewards)
    if (r == r) mean += r, ++count;
  mean /= count;
  for (const double r : rewards)
    if (r == r) away = std::max(away, std::fabs(r - mean));
  const double error = float_error(rewards), usual = whole_tolerance * std::max(1.0, largest);
  if (error == 0) return usual;
  const bool divides = rule.divisor != Divisor::none && rule.eps > 0;
  return usual + error * (away > 10 * error ? largest / away : divides ? 1 / rule.eps : 1.0);
}

struct Fitted {
  LoggedFit fit;
  std::int64_t informative = 0;  // groups that fit and have a logged advantage other than 0
  double distance = 0, size = 0;
  double relative() const { return size > 0 ? distance / size : 0; }
};

/// One estimator under one convention, with several kinds of whitening after it.
class Candidate {
 public:
  Candidate(const Rollouts& rollouts, const RolloutRewards& rewards, const EstimatorConfig& config, std::vector<LoggedConvention> ways)
      : rollouts_(rollouts), rewards_(rewards), make_(config, rewards.scale, largest_group(rollouts)), rule_(convention_of(config)) {
    for (LoggedConvention& way : ways) fitted.push_back({{std::move(way)}});
  }
  void add_step(std::pair<std::size_t, std::size_t> step) {
    const auto groups = std::span(rollouts_.groups).subspan(step.first, step.second - step.first);
    const auto [begin, rows] = rows_of(groups);
    local_.assign(groups.begin(), groups.end());
    for (RolloutGroup& g : local_) g.first -= static_cast<std::uint32_t>(begin);
    raw_.resize(rows);
    const auto reward = rewards_.read_by(make_.config()).subspan(begin, rows);
    const auto length = rollouts_.length.empty() ? std::span<const double>() : std::span(rollouts_.length).subspan(begin, rows);
    make_.step(local_, reward, length, raw_);
    for (Fitted& f : fitted) {
      made_ = raw_;
      if (f.fit.convention.whitening.on) whiten_step(f.fit.convention.whitening, reward, length, made_);
      double of_step = 0;
      for (const double x : made_) of_step = std::max(of_step, std::fabs(x));
      for (std::size_t g = 0; g < groups.size(); ++g) add_group(f, step.first + g, local_[g], begin, of_step);
    }
  }
  std::vector<Fitted> fitted;

 private:
  void add_group(Fitted& f, std::size_t index, const RolloutGroup& g, std::size_t begin, double of_step) {
    const double* logged = &rollouts_.advantage[begin + g.first];
    const auto rewards = std::span(rewards_.reward).subspan(begin + g.first, g.count);
    double largest = 0, away = 0, known = 0, sum = 0, size = 0;
    for (std::size_t i = 0; i < g.count; ++i) {
      if (rewards[i] != rewards[i]) continue;
      if (logged[i] != logged[i]) return;
      const double made = made_[g.first + i];
      largest = std::max(largest, std::fabs(made)), known = std::max(known, std::fabs(logged[i]));
      away = std::max(away, std::fabs(made - logged[i]));
      sum += std::fabs(made - logged[i]), size += std::fabs(logged[i]);
    }
    if (std::all_of(rewards.begin(), rewards.end(), [](double r) { return r != r; })) return;
    ++f.fit.groups;
    f.distance += sum, f.size += size;
    const double tolerance = tolerance_of(rewards, f.fit.convention.whitening.on ? of_step : largest, rule_);
    if (away <= tolerance) {
      f.fit.largest = f.fit.fitting == 0 ? away : std::max(f.fit.largest, away);
      ++f.fit.fitting, f.informative += known > tolerance;
    } else {
      if (f.fit.fitting == 0) f.fit.largest = std::max(f.fit.largest, away);
      if (f.fit.others.size() < LoggedFit::most_listed) f.fit.others.push_back(index);
    }
  }
  const Rollouts& rollouts_;
  const RolloutRewards& rewards_;
  GroupAdvantages make_;
  Convention rule_;
  std::vector<RolloutGroup> local_;
  std::vector<double> raw_, made_;
};

/// Kinds of whitening that a convention may be followed by: none, the system's own, and those of suites.
std::vector<LoggedConvention> ways_of(const Rollouts& rollouts, const EstimatorConfig& config) {
  std::vector<LoggedConvention> ways = {{config}};
  const Whitening own = whitening_after(config);
  if (own.on && (own.unit == WhitenUnit::response || !rollouts.length.empty())) ways.push_back({config, own, true});
  const Whitening plain{true, WhitenScale::added, 0, 0};
  if (!(own == plain)) ways.push_back({config, plain});
  return ways;
}

std::vector<Candidate> all_candidates(const Rollouts& rollouts, const RolloutRewards& rewards) {
  std::vector<Candidate> all;
  std::vector<std::string_view> words(estimator_catalogue().begin(), estimator_catalogue().end());
  words.insert(words.end(), batch_catalogue().begin(), batch_catalogue().end());
  for (const std::string_view word : words)
    for (const auto& compat : compat_words) {
      EstimatorConfig config = estimator_named(word);
      config.compat = compat.value;
      if (compat_refusal(config) || (reads_levels(config) && rewards.scale.size() < 2)) continue;
      if (row_of(config.form).reads == Reads::lengths && rollouts.length.empty()) continue;
      all.emplace_back(rollouts, rewards, config, ways_of(rollouts, config));
    }
  return all;
}

/// Some steps spread over the training, of about searched_groups groups that have advantages.
std::vector<std::pair<std::size_t, std::size_t>> some_steps(const Rollouts& rollouts) {
  std::vector<std::pair<std::size_t, std::size_t>> with, some;
  for (const auto& step : steps_of(rollouts)) {
    const auto [begin, rows] = rows_of(std::span(rollouts.groups).subspan(step.first, step.second - step.first));
    const auto of_step = std::span(rollouts.advantage).subspan(begin, rows);
    if (std::any_of(of_step.begin(), of_step.end(), [](double a) { return a == a; })) with.push_back(step);
  }
  const std::size_t per_step = std::max<std::size_t>(1, rollouts.groups.size() / std::max<std::size_t>(1, with.size()));
  const std::size_t wanted = std::max<std::size_t>(1, searched_groups / per_step), every = std::max<std::size_t>(1, with.size() / wanted);
  for (std::size_t s = 0; s < with.size(); s += every) some.push_back(with[s]);
  return some;
}

/// The system whose dumps have this format.
std::string_view system_of(const std::string& format) {
  for (const std::string_view system : {"verl", "trl", "nemo", "prime"})
    if (format.starts_with(system)) return system;
  return "";
}

}  // namespace

std::vector<LoggedFit> fitting_conventions(const Rollouts& rollouts, const RolloutRewards& rewards) {
  const auto some = some_steps(rollouts);
  if (some.empty()) return {};
  std::vector<Fitted> ranked;
  const auto add = [&](Candidate& candidate, std::span<const std::pair<std::size_t, std::size_t>> steps) {
    try {
      for (const auto& step : steps) candidate.add_step(step);
    } catch (const Failure&) {
      return;  // a length is missing
    }
    for (const Fitted& f : candidate.fitted) ranked.push_back(f);
  };
  for (Candidate& candidate : all_candidates(rollouts, rewards)) add(candidate, some);
  const auto better = [system = system_of(rollouts.format)](const Fitted& a, const Fitted& b) {
    const auto key = [&](const Fitted& f) {
      const std::string_view own = word_of<Compat>(compat_words, f.fit.convention.config.compat);
      return std::tuple(-f.fit.fitting, f.informative > 0 ? 0.0 : f.relative(), f.fit.convention.whitening.on, own != system, own == "paper");
    };
    return key(a) < key(b);
  };
  std::stable_sort(ranked.begin(), ranked.end(), better);
  const auto keep = [&] {
    const std::int64_t most = ranked.front().informative > 0 ? ranked.front().fit.fitting : -1;
    const auto end = std::find_if(ranked.begin() + 1, ranked.end(), [&](const Fitted& f) { return f.fit.fitting != most; });
    ranked.erase(end, ranked.end());
  };
  keep();
  std::vector<Fitted> best = std::move(ranked);
  ranked.clear();
  for (const Fitted& f : best) {
    Candidate candidate(rollouts, rewards, f.fit.convention.config, {f.fit.convention});
    add(candidate, steps_of(rollouts));
  }
  std::vector<LoggedFit> fits;
  if (ranked.empty()) return fits;
  std::stable_sort(ranked.begin(), ranked.end(), better);
  keep();
  for (Fitted& f : ranked) fits.push_back(std::move(f.fit));
  return fits;
}

LoggedComparison explain_logged(const Rollouts& rollouts, const ScaleChoice& scale) {
  LoggedComparison out;
  if (rollouts.advantage.empty()) return out;
  const std::size_t columns = rollouts.columns();
  if (columns == 1 || !rollouts.weights.empty()) {
    out.weights = rollouts.weights.empty() ? std::vector<double>(columns, 1.0) : rollouts.weights;
    out.fits = fitting_conventions(rollouts, rewards_of(rollouts, out.weights, scale));
    return out;
  }
  std::vector<double> solved = solve_weights(rollouts);
  std::vector<std::vector<double>> tried;
  if (!solved.empty()) {
    for (std::size_t c = 0; c < columns; ++c)
      if (solved[c] != solved[c]) {
        out.notes.push_back(fmt::format("reward {} never varies within a group: its weight cannot be found and counts as 1", rollouts.reward_names[c]));
        solved[c] = 1;
      }
    tried = {rounded_weights(solved), solved};
    const std::vector<double> total = rollouts.total(solved);  // for a trainer that divides by nothing, the factor can be found too
    double both = 0, own = 0;
    for (const RolloutGroup& g : rollouts.groups) {
      double mean = 0, of_logged = 0;
      for (std::size_t i = g.first; i < g.first + g.count; ++i) mean += total[i] / g.count, of_logged += rollouts.advantage[i] / g.count;
      if (mean != mean || of_logged != of_logged) continue;
      for (std::size_t i = g.first; i < g.first + g.count; ++i) both += (total[i] - mean) * (rollouts.advantage[i] - of_logged), own += (total[i] - mean) * (total[i] - mean);
    }
    if (own > 0 && both > 0) {
      std::vector<double> scaled = solved;
      for (double& w : scaled) w *= both / own;
      tried.push_back(rounded_weights(scaled));
      tried.push_back(scaled);
    }
  }
  tried.emplace_back(columns, 1.0);
  std::int64_t most = -1;
  for (const std::vector<double>& weights : tried) {
    std::vector<LoggedFit> fits = fitting_conventions(rollouts, rewards_of(rollouts, weights, {}));
    if (fits.empty() || fits[0].fitting <= most) continue;
    most = fits[0].fitting;
    out.weights = weights, out.fits = std::move(fits);
    if (most == out.fits[0].groups) break;
  }
  const std::vector<double> ones(columns, 1.0);
  out.found = !out.fits.empty() && out.fits[0].fitting * 2 > out.fits[0].groups && !solved.empty() && (out.weights != ones || tried[0] == ones);
  if (out.found) out.exact = solved;
  else {
    out.weights = ones;
    if (out.fits.empty() || !solved.empty()) out.fits = fitting_conventions(rollouts, rewards_of(rollouts, ones, {}));
    out.notes.push_back("no weights of the rewards explain most of the logged advantages: they count 1 each");
  }
  return out;
}

}  // namespace odrpo
