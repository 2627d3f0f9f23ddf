// Searches the conventions for the one whose advantages a trainer logged: first on some steps for all, then on all steps for the best.
#include "train/rollouts/logged.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "train/rollouts/advantages.hpp"
#include "train/rollouts/rollout_analysis.hpp"

namespace odrpo {
namespace {

constexpr std::int64_t searched_groups = 1000;  // that all conventions are compared on
constexpr double whole_tolerance = 1e-6, of_float = 4.8e-7;  // relative: of a group's largest advantage; 4 roundings of a float

/// How far logged advantages of a group may be from the computed ones.
struct Allowance {
  double tolerance;
  bool equal = false;  // the rewards are equal, or differ by what floats lose
  bool shared = false; // the rounding of a mean moves all advantages by one number
};

/// `largest`: the largest advantage of the group; of the step where it was whitened. `columns`: of the rewards.
Allowance allowance_of(std::span<const double> rewards, double largest, const Convention& rule, std::size_t columns) {
  double mean = 0, count = 0, away = 0, most = 0, low = 0, high = 0;
  bool whole = true;
  for (const double r : rewards) {
    if (r != r) continue;
    low = count == 0 ? r : std::min(low, r), high = count == 0 ? r : std::max(high, r);
    mean += r, ++count;
    most = std::max(most, std::fabs(r)), whole = whole && r == std::floor(r) && std::fabs(r) < 1 << 24;
  }
  mean /= count;
  for (const double r : rewards)
    if (r == r) away = std::max(away, std::fabs(r - mean));
  const double error = whole ? 0 : of_float * most, usual = whole_tolerance * std::max(1.0, largest);
  const bool divides = rule.divisor != Divisor::none && rule.eps > 0, same = low == high;
  const double of_mean = divides ? error / (error + rule.eps) : error;  // an error of the mean over itself and eps
  if (same || away <= 10 * error) return {usual + of_mean, count > 1, same && columns == 1};
  return {usual + error * largest / away};
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
    double largest = 0, away = 0, known = 0, sum = 0, size = 0, least = std::numeric_limits<double>::infinity(), most = -least;
    for (std::size_t i = 0; i < g.count; ++i) {
      if (rewards[i] != rewards[i]) continue;
      if (logged[i] != logged[i]) return;
      const double made = made_[g.first + i];
      largest = std::max(largest, std::fabs(made)), known = std::max(known, std::fabs(logged[i]));
      away = std::max(away, std::fabs(made - logged[i]));
      least = std::min(least, logged[i]), most = std::max(most, logged[i]);
      sum += std::fabs(made - logged[i]), size += std::fabs(logged[i]);
    }
    if (std::all_of(rewards.begin(), rewards.end(), [](double r) { return r != r; })) return;
    const Allowance allowed = allowance_of(rewards, f.fit.convention.whitening.on ? of_step : largest, rule_, rollouts_.columns());
    ++(allowed.equal ? f.fit.equal : f.fit.groups);
    f.distance += sum, f.size += size;
    if (away <= allowed.tolerance && !(allowed.shared && most - least > whole_tolerance)) {
      f.fit.largest = f.fit.all_fitting() == 0 ? away : std::max(f.fit.largest, away);
      ++(allowed.equal ? f.fit.equal_fitting : f.fit.fitting), f.informative += known > allowed.tolerance;
    } else {
      if (f.fit.all_fitting() == 0) f.fit.largest = std::max(f.fit.largest, away);
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

/// True if every row with a reward has a length, `least` or more.
bool knows_lengths(const Rollouts& rollouts, const RolloutRewards& rewards, double least) {
  if (rollouts.length.empty()) return false;
  for (std::size_t i = 0; i < rewards.reward.size(); ++i)
    if (rewards.reward[i] == rewards.reward[i] && !(rollouts.length[i] >= least)) return false;
  return true;
}

/// Kinds of whitening that a convention may be followed by: none, the system's own, and those of suites.
std::vector<LoggedConvention> ways_of(const EstimatorConfig& config, bool lengths) {
  std::vector<LoggedConvention> ways = {{config}};
  const Whitening own = whitening_after(config);
  if (own.on && (own.unit == WhitenUnit::response || lengths)) ways.push_back({config, own, true});
  const Whitening plain{true, WhitenScale::added, 0, 0};
  if (!(own == plain)) ways.push_back({config, plain});
  return ways;
}

/// The system whose dumps have this format.
std::string_view system_of(const std::string& format) {
  for (const std::string_view system : {"verl", "trl", "nemo", "prime"})
    if (format.starts_with(system)) return system;
  return "";
}

}  // namespace

std::vector<EstimatorConfig> comparable_estimators(const Rollouts& rollouts, const RolloutRewards& rewards, bool levels) {
  std::vector<EstimatorConfig> all;
  std::vector<std::string_view> words(estimator_catalogue().begin(), estimator_catalogue().end());
  words.insert(words.end(), batch_catalogue().begin(), batch_catalogue().end());
  const bool lengths = knows_lengths(rollouts, rewards, 1);
  for (const std::string_view word : words)
    for (const auto& compat : compat_words) {
      EstimatorConfig config = estimator_named(word);
      config.compat = compat.value;
      if (compat_refusal(config) || (reads_levels(config) && (!levels || rewards.scale.size() < 2))) continue;
      if (row_of(config.form).reads == Reads::lengths && !lengths) continue;
      all.push_back(config);
    }
  return all;
}

std::vector<std::pair<std::size_t, std::size_t>> some_logged_steps(const Rollouts& rollouts) {
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

std::vector<LoggedFit> fitting_conventions(const Rollouts& rollouts, const RolloutRewards& rewards) {
  const auto some = some_logged_steps(rollouts);
  if (some.empty()) return {};
  std::vector<Fitted> ranked;
  const auto add = [&](Candidate&& candidate, std::span<const std::pair<std::size_t, std::size_t>> steps) {
    for (const auto& step : steps) candidate.add_step(step);
    for (const Fitted& f : candidate.fitted) ranked.push_back(f);
  };
  const bool lengths = knows_lengths(rollouts, rewards, 0);
  for (const EstimatorConfig& config : comparable_estimators(rollouts, rewards, true)) add(Candidate(rollouts, rewards, config, ways_of(config, lengths)), some);
  const auto better = [system = system_of(rollouts.format)](const Fitted& a, const Fitted& b) {
    const auto key = [&](const Fitted& f) {
      const std::string_view own = word_of<Compat>(compat_words, f.fit.convention.config.compat);
      return std::tuple(-f.fit.all_fitting(), f.informative > 0 ? 0.0 : f.relative(), f.fit.convention.whitening.on, own != system, own == "paper");
    };
    return key(a) < key(b);
  };
  std::stable_sort(ranked.begin(), ranked.end(), better);
  const auto keep = [&] {
    const std::int64_t most = ranked.front().informative > 0 ? ranked.front().fit.all_fitting() : -1;
    const auto end = std::find_if(ranked.begin() + 1, ranked.end(), [&](const Fitted& f) { return f.fit.all_fitting() != most; });
    ranked.erase(end, ranked.end());
  };
  keep();
  std::vector<Fitted> best = std::move(ranked);
  ranked.clear();
  for (const Fitted& f : best) add(Candidate(rollouts, rewards, f.fit.convention.config, {f.fit.convention}), steps_of(rollouts));
  std::vector<LoggedFit> fits;
  std::stable_sort(ranked.begin(), ranked.end(), better);
  keep();
  for (Fitted& f : ranked) fits.push_back(std::move(f.fit));
  return fits;
}

}  // namespace odrpo
