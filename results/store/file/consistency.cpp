// Checks that a run makes sense: its names, its ranges, and the values that follow from other values.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "kernels/system/text.hpp"
#include "results/store/file/read.hpp"

namespace odrpo::store {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The allowed range of the values of one name, if it is narrower than +-largest_value.
struct Range {
  std::string_view name;
  double lo, hi;
};
constexpr Range final_ranges[] = {
    {"step_time_median", 0, infinity}, {"judge_calls", 0, infinity},   {"judge_seconds", 0, infinity}, {"judge_cost", 0, infinity},   {"drawn_rollouts", 0, infinity}, {modelled_seconds, 0, infinity},
    {"collapse_step", 0, infinity}, {"collapsed", 0, 1},            {"recovered", 0, 1},           {"grounding", 0, 1},
    {"start_grounding", 0, 1},      {"instructions", 0, 1},         {"start_instructions", 0, 1},  {"held_out", 0, 1},
    {"win_rate", 0, 1},             {"win_rate_length_controlled", 0, 1}, {"gradient_cosine", -1.000001, 1.000001},
    {"final_gradient_cosine", -1.000001, 1.000001}, {"logit_spread", 0, infinity}, {"entropy_collapse", 0, 1},
};
constexpr Range curve_ranges[] = {{"dead_groups", 0, 1}, {"dead_levels", 0, 1},   {"clean", 0, 1},         {"missing", 0, 1},
                                  {"clipped", 0, 1},     {"advantage_rms", 0, infinity}, {"gradient_norm", 0, infinity}, {"length", 0, infinity},
                                  {"repeats", 0, infinity}, {"drawn_rollouts", 0, infinity}, {"gradient_cosine", -1.000001, 1.000001}};

std::string out_of_range(std::span<const Range> ranges, std::string_view name, double value) {
  if (!(std::abs(value) <= largest_value)) return fmt::format("its {} is {:g}", name, value);
  for (const Range& range : ranges)
    if (range.name == name && !(value >= range.lo && value <= range.hi))
      return range.hi == infinity ? fmt::format("its {} is {:g}, below 0", name, value)
                                  : fmt::format("its {} is {:g}, not in {:g}..{:g}", name, value, std::round(range.lo), std::round(range.hi));
  return "";
}

std::optional<double> final_of(const RunRecord& run, std::string_view name) {
  for (const Final& value : run.finals)
    if (value.name == name && !std::isnan(value.value)) return value.value;
  return std::nullopt;
}

/// Columns of rollouts that hold whole numbers.
constexpr std::string_view rollout_numbers[] = {rollout_columns[rollout_step], rollout_columns[rollout_prompt], rollout_columns[rollout_response],
                                                rollout_columns[rollout_length]};

/// Returns a message if a final value of this name differs from `made`, which was computed from other values; otherwise "". `scale` is the
/// largest of those others: rounding errors are relative to it.
std::string mismatch(std::string_view name, std::optional<double> value, double made, double scale) {
  const double close = 4 * std::numeric_limits<double>::epsilon() * (std::abs(scale) + std::abs(made));
  return !value || std::abs(*value - made) <= close ? "" : fmt::format("its {} is {:g}, its qualities make {:g}", name, *value, made);
}

std::string contradiction_of_qualities(const RunRecord& run) {
  const auto start = final_of(run, "uniform_quality"), best = final_of(run, "best_quality"), last = final_of(run, "final_quality"),
             mean = final_of(run, "auc_quality");
  const bool no_gain = !start || !best || !(*best > *start);
  for (const std::string_view name : {"final_gain", "auc_gain"})
    if (no_gain && final_of(run, name)) return fmt::format("it has a {} without qualities between which it could lie", name);
  if (!start || !best) return final_of(run, "regret") && !best ? "it has a regret without a best quality" : "";
  const double largest = std::max({std::abs(*start), std::abs(*best), std::abs(last.value_or(0)), std::abs(mean.value_or(0))}), headroom = *best - *start;
  std::string why;
  if (last) why = mismatch("regret", final_of(run, "regret"), *best - *last, largest);
  if (headroom > 0) {
    if (why.empty() && last) why = mismatch("final_gain", final_of(run, "final_gain"), (*last - *start) / headroom, largest / headroom);
    if (why.empty() && mean) why = mismatch("auc_gain", final_of(run, "auc_gain"), (*mean - *start) / headroom, largest / headroom);
  }
  return why;
}

bool is_value(std::string_view text, const AxisValue& value) {
  if (const auto* word = std::get_if<std::string>(&value)) return text == *word;
  const auto* whole = std::get_if<std::int64_t>(&value);
  return number_from<double>(text) == (whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value));
}

/// Checks an id of the form "env/rater/policy/estimator/n1/lr=0.1/s0".
std::string contradiction_of_id(const RunRecord& run) {
  const std::string begin = fmt::format("{}/{}/{}/{}/n{}/", run.env, run.rater, run.policy, run.estimator, run.votes), end = fmt::format("s{}", run.seed);
  std::string_view rest = run.id;
  if (!rest.starts_with(begin) || !rest.ends_with(end)) return "its id is not made of its world, judge, policy, estimator, votes and seed";
  rest.remove_prefix(begin.size());
  while (rest != end) {
    // one axis, "NAME=VALUE"; VALUE may contain a slash
    const auto axis = std::find_if(run.axes.begin(), run.axes.end(), [&](const Axis& a) {
      return rest.starts_with(a.first) && rest.substr(a.first.size()).starts_with('=');
    });
    if (axis == run.axes.end()) return "its id names an axis that it does not have";
    rest.remove_prefix(axis->first.size() + 1);
    std::size_t length = rest.find('/');
    while (length != std::string_view::npos && !is_value(rest.substr(0, length), axis->second)) length = rest.find('/', length + 1);
    if (length == std::string_view::npos) return fmt::format("its {} is not that of its id", axis->first);
    rest.remove_prefix(length + 1);
  }
  return "";
}

std::string fault_in(const RunRecord& run) {
  for (const auto& [what, word] : {std::pair("world", &run.env), {"judge", &run.rater}, {"policy", &run.policy}})
    if (word->empty()) return fmt::format("its {} has no name", what);
  if (run.votes < 1) return fmt::format("it has {} votes", run.votes);
  if (run.seed < 0) return fmt::format("its seed is {}", run.seed);
  if (std::string why = contradiction_of_id(run); !why.empty()) return why;
  if (run.status == RunStatus::failed) return "";
  if (!run.error.empty()) return "it ended well and has an error";
  if (!std::isnan(run.step_time_median))
    if (std::string why = out_of_range(final_ranges, "step_time_median", run.step_time_median); !why.empty()) return why;
  for (const Final& value : run.finals)
    if (!std::isnan(value.value) && is_final_name(value.name))
      if (std::string why = out_of_range(final_ranges, value.name, value.value); !why.empty()) return why;
  return contradiction_of_qualities(run);
}

}  // namespace

bool is_final_name(std::string_view name) {
  constexpr std::string_view without_range[] = {"uniform_quality", "best_quality", "final_quality", "final_gain", "regret", "auc_quality", "auc_gain", "final_reward",
                                                "auc_reward", "final_kl", "final_entropy", "largest_fall", "quality_fall", "gradient_snr", "final_gradient_snr"};
  return std::find(std::begin(without_range), std::end(without_range), name) != std::end(without_range) ||
         std::any_of(std::begin(final_ranges), std::end(final_ranges), [&](const Range& range) { return range.name == name; });
}

std::string contradiction_in(const RunRecord& run) {
  const std::string why = fault_in(run);
  return why.empty() ? "" : "run '" + run.id + "' contradicts itself: " + why;
}

std::string contradiction_in(Sheets sheet, const std::string& curve, std::span<const double> values) {
  if (sheet == sheet_rollouts && std::find(std::begin(rollout_numbers), std::end(rollout_numbers), curve) != std::end(rollout_numbers)) {
    const auto bad = std::find_if(values.begin(), values.end(), [](double x) { return !std::isnan(x) && !(x >= 0 && x < 1ULL << 53 && x == std::floor(x)); });
    return bad == values.end() ? "" : fmt::format("the {} of a rollout is {:g}", curve, *bad);
  }
  const auto range = std::find_if(std::begin(curve_ranges), std::end(curve_ranges), [&](const Range& r) { return r.name == curve; });
  const std::span<const Range> ranges = range == std::end(curve_ranges) ? std::span<const Range>() : std::span(&*range, 1);
  const double lo = ranges.empty() ? -largest_value : std::max(range->lo, -largest_value), hi = ranges.empty() ? largest_value : std::min(range->hi, largest_value);
  const auto bad = std::find_if(values.begin(), values.end(), [&](double x) { return x < lo || x > hi; });
  return bad == values.end() ? "" : out_of_range(ranges, curve, *bad);
}

}  // namespace odrpo::store
