// Preflight of a suite.
#include "suites/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "envs/channel.hpp"
#include "envs/law_table.hpp"
#include "envs/vote.hpp"
#include "kernels/failure.hpp"
#include "suites/batch.hpp"
#include "suites/lm_train.hpp"
#include "suites/text.hpp"

namespace odrpo {

namespace {

bool same_law(const RunSpec& a, const RunSpec& b) {
  return a.votes == b.votes && a.env.bandit.levels == b.env.bandit.levels && a.env.bandit.quality == b.env.bandit.quality &&
         a.rater.sampling == b.rater.sampling && a.rater.aggregate == b.rater.aggregate && a.rater.tie == b.rater.tie &&
         a.rater.parse_failure == b.rater.parse_failure && a.rater.parse_policy == b.rater.parse_policy && a.rater.noise == b.rater.noise;
}

// The same world for the same seed?
bool same_world(const RunSpec& a, const RunSpec& b) {
  if (a.env.kind == WorldKind::toy_lm) return a.env == b.env && warm_policy(a.policy) == warm_policy(b.policy);
  return a.env == b.env && a.policy == b.policy &&
         resolve_profile(a.env.bandit, a.rater.world) == resolve_profile(b.env.bandit, b.rater.world);
}

bool same_estimator(const RunSpec& a, const RunSpec& b) {
  return a.estimator == b.estimator && a.env.levels() == b.env.levels() && a.learn.rollouts == b.learn.rollouts;
}

constexpr double program_bytes = 16 << 20;  // code, libraries and their buffers, before anything is trained

}  // namespace

Cost total_cost(const Suite& suite, int jobs) {
  Cost total;
  double largest = 0, largest_kept = 0, largest_checkpoint = 0, estimators = 0;
  std::vector<const RunSpec*> different;     // one run for each estimator
  std::vector<const RunSpec*> laws, worlds;  // one run for each that is different: rows of law are made once, a world once a seed
  for (const auto& run : suite.runs) {
    const Cost cost = estimate_cost(run);
    const bool tables = run.env.kind == WorldKind::bandit;  // the toy world's laws are made text by text
    if (tables && std::none_of(laws.rbegin(), laws.rend(), [&](const RunSpec* other) { return same_law(run, *other); })) {
      laws.push_back(&run);
      total.cpu_seconds += most_rows(run.env.bandit, run.rater) * row_seconds(run.env.bandit, run.rater, run.votes);
    }
    if (std::none_of(worlds.rbegin(), worlds.rend(), [&](const RunSpec* other) { return same_world(run, *other); })) {
      worlds.push_back(&run);
      total.cpu_seconds += world_seconds(run) * suite.seeds;
      if (!tables) total.disk_bytes += warm_start_bytes(run) * suite.seeds;  // kept in the work folder until all is done
    }
    if (std::none_of(different.rbegin(), different.rend(), [&](const RunSpec* other) { return same_estimator(run, *other); })) {
      different.push_back(&run);
      estimators += estimator_bytes(run);
    }
    total.cpu_seconds += cost.cpu_seconds;
    total.disk_bytes += cost.disk_bytes;
    total.judge_calls += cost.judge_calls;
    largest = std::max(largest, cost.memory_bytes);
    if (!tables) largest_checkpoint = std::max(largest_checkpoint, 3 * warm_start_bytes(run));  // weights and their two moments
    largest_kept = std::max(largest_kept, tables ? cost.memory_bytes : warm_start_bytes(run));
  }
  const double at_a_time = std::min(static_cast<double>(std::max(jobs, 1)), static_cast<double>(suite.runs.size()));
  total.disk_bytes += largest_checkpoint * at_a_time;
  // worlds and laws that stay after their runs, and estimators, up to what the caches keep
  const double kept = std::min(3.0 * static_cast<double>(Shared::keep), largest_kept * static_cast<double>(worlds.size()) * suite.seeds) +
                      std::min(static_cast<double>(Shared::keep), estimators);
  total.memory_bytes = program_bytes + largest * at_a_time + kept + static_cast<double>(suite.runs.size() * sizeof(RunSpec));
  return total;
}

void check_limits(const Suite& suite, int jobs) {
  constexpr double gib = 1024.0 * 1024.0 * 1024.0;
  const Cost cost = total_cost(suite, jobs);
  const LimitsConfig& limits = suite.limits;
  std::string over;
  const auto refuse = [&](const std::string& line) { over.append(over.empty() ? "" : "\nerror: ").append(line); };
  const auto check = [&](double estimate, double limit, const std::string& told, const std::string& allowed, const char* key) {
    if (estimate > limit) refuse(fmt::format("the suite {}, more than the limit of {}; `{}` in [limits] raises it", told, allowed, key));
  };
  const auto runs = static_cast<double>(suite.runs.size());
  check(runs, limits.runs, "has " + count_text(runs) + " runs", count_text(limits.runs), "runs");
  check(cost.judge_calls, limits.judge_calls, "would make " + count_text(cost.judge_calls) + " judge calls", count_text(limits.judge_calls),
        "judge_calls");
  check(cost.memory_bytes / gib, limits.memory_gib, "needs about " + bytes_text(cost.memory_bytes) + " of memory",
        number_text(limits.memory_gib) + " GiB", "memory_gib");
  check(cost.disk_bytes / gib, limits.disk_gib, "would write about " + bytes_text(cost.disk_bytes), number_text(limits.disk_gib) + " GiB",
        "disk_gib");
  const auto cases = [](const RunSpec& run) {
    return law_cases(run.env.kind == WorldKind::toy_lm ? with_json_failures(run.rater) : run.rater, run.env.levels(), run.votes);
  };
  const auto too_large = [&](const RunSpec& run) { return cases(run) > max_law_cases; };
  if (std::none_of(suite.runs.begin(), suite.runs.end(), too_large))  // what cannot be computed has no time
    check(cost.cpu_seconds / 3600, limits.cpu_hours, "would take about " + seconds_text(cost.cpu_seconds) + " of CPU time",
          number_text(limits.cpu_hours) + " h", "cpu_hours");
  std::set<std::string_view> told;
  for (const auto& run : suite.runs) {
    const bool text = run.env.kind == WorldKind::toy_lm, large = too_large(run);
    const double seconds = text ? text_law_cost(run.rater, run.votes).seconds : row_seconds(run.env.bandit, run.rater, run.votes);
    if ((!large && seconds <= 3) || !told.insert(run.rater_name).second) continue;
    refuse(fmt::format("rater {}: the law of {} votes on {} levels {}; use sampling = \"draws\" for it", shown(run.rater_name), run.votes,
                       run.env.levels(),
                       large ? fmt::format("with tie = \"nearest-mean\" is a sum over {} cases, more than {}", count_text(cases(run)),
                                           count_text(max_law_cases))
                             : fmt::format("takes about {} a row", seconds_text(seconds))));
  }
  if (!over.empty()) throw Failure(Exit::limits, over);
}

}  // namespace odrpo
