// Estimates what a suite costs, and refuses suites that exceed their limits.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>
#include <vector>

#include "config/catalogue/believed_judge.hpp"
#include "config/catalogue/catalogue.hpp"
#include "config/catalogue/env_config.hpp"
#include "config/spec.hpp"
#include "config/suite.hpp"
#include "config/suite_config.hpp"
#include "config/write/canonical.hpp"
#include "envs/bandit/believed.hpp"
#include "envs/bandit/channel.hpp"
#include "envs/rater/distribution_table.hpp"
#include "envs/rater/vote.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/system/text.hpp"
#include "train/kept_rollouts.hpp"
#include "train/prompt_batch.hpp"
#include "train/run_cache.hpp"
#include "train/schedule/cost.hpp"
#include "train/schedule/run_order.hpp"
#include "train/train.hpp"
#include "train/worlds/bandit.hpp"
#include "train/worlds/posterior_model.hpp"
#include "train/worlds/toy_lm.hpp"

namespace odrpo {

namespace {

// Returns a text that is equal for runs that share vote distributions.
std::string distribution_text(const RunSpec& run) {
  RaterConfig rater = without_cost(run.rater);
  rater.world = {};
  rater.text = {};
  return fmt::format("{} {} {} {}\n", static_cast<int>(run.env.kind), run.votes, run.env.levels(),
                     static_cast<int>(run.env.bandit.quality)) +
         canonical_fields(rater);
}

// Returns a text that is equal for runs that share a rated world: a world and what a rater makes of its responses.
std::string rated_text(const RunSpec& run) { return world_text(run) + distribution_text(run); }

// Returns a text that is equal for runs that share an estimator.
std::string estimator_text(const RunSpec& run) {
  const EstimatorConfig& e = run.estimator;
  return fmt::format("{} {} {} {} {}\n", static_cast<int>(e.form), static_cast<int>(e.norm), static_cast<int>(e.weight), run.env.levels(),
                     group_size(run)) +
         canonical_fields(e);
}

// Returns a text that is equal for runs that share a model of the judge; empty for runs without one.
std::string model_text(const RunSpec& run) {
  if (run.estimator.corrected) return "corrected " + correction_key(run);
  return run.estimator.posterior ? belief_of(run).key : "";
}

// Counts different texts by hashes of 64 bits. Two of 10^6 texts collide with a probability of 3e-8; then an estimate lacks one
// distribution, world or estimator.
class Different {
 public:
  using Text = std::string (*)(const RunSpec&);
  // Reads one run for each choice of the grid's `parts`, since all runs with one choice have one text.
  Different(const RunGrid& runs, std::initializer_list<GridPart> parts, Text text) : firsts_(runs.first_of_each(parts)), text_(text) {}
  // True if no earlier run has the text of run i. Call it for the first run of each combination, in canonical order.
  bool is_new(std::size_t i, const RunSpec& run) {
    if (next_ == firsts_.size() || firsts_[next_] != i) return false;
    ++next_;
    return hashes_.insert(std::hash<std::string>{}(text_(run))).second;
  }
  std::size_t count() const { return hashes_.size(); }

 private:
  std::vector<std::size_t> firsts_;
  std::size_t next_ = 0;
  std::unordered_set<std::size_t> hashes_;
  Text text_;
};

void add(JudgeBill& total, const JudgeBill& run) {
  total.calls += run.calls;
  if (run.seconds) total.seconds = total.seconds.value_or(0) + *run.seconds;
  if (run.cost) total.cost = total.cost.value_or(0) + *run.cost;
}

// Adds up the bytes of one kind of values that runs share through a RunCache.
class SharedBytes {
 public:
  void add(double bytes, double times = 1) {
    largest_ = std::max(largest_, bytes);
    all_ += times * bytes;
  }
  // Returns the bytes in memory while `in_use` of the values are in use. Others stay there up to RunCache::unused_bytes.
  double held(double in_use) const {
    if (largest_ == 0) return 0;
    return std::min(all_, largest_ * std::max(in_use, std::floor(static_cast<double>(RunCache::unused_bytes) / largest_)));
  }
  double largest() const { return largest_; }
  double all() const { return all_; }

 private:
  double largest_ = 0, all_ = 0;
};

constexpr double mib = 1 << 20;
constexpr double program_bytes = 24.5 * mib;  // code, libraries and their buffers, before anything is trained
constexpr double program_seconds = 0.12;    // to start and to end the program

// Returns the bytes that the committing thread needs: HDF5's buffers, and records of about one second, waiting and being written to a shard.
double commit_memory(const Cost& total, double largest_record, int jobs) {
  constexpr double hdf5 = 6.5 * mib, most = 64 * mib, copies = 1.2;
  const double a_second = total.cpu_seconds > 0 ? total.recorded_bytes * jobs / total.cpu_seconds : total.recorded_bytes;
  return hdf5 + copies * std::min({most, total.recorded_bytes, std::max(largest_record, a_second)});
}

// Bytes that each run takes while the suite trains: its entries in the schedule and in the store's index of ids. The schedule takes 8 bytes
// where runs differ in seed alone. It takes 23 where each is a combination of its own, of which RunWorlds takes 8. Measured at 10^6 runs,
// RunWorlds apart.
constexpr double training_bytes_per_run = 23 + 17;
double bookkeeping_bytes(const Suite& suite) { return training_bytes_per_run * static_cast<double>(suite.runs.size()); }

// Bytes that the result store takes while it makes the output, after training. Buffers and HDF5 take less for small files. Each run takes
// its id, its indices in the order of ids and in the row file, and its shape. Measured at 10^6 runs.
constexpr double assembly_buffers = 70 * mib, assembly_bytes_per_run = 60;
double assembly_memory(const Suite& suite, double disk_bytes) {
  const double id = static_cast<double>(suite.runs.empty() ? 0 : suite.runs.id(suite.runs.size() - 1).size());
  return std::min(assembly_buffers, disk_bytes) + (assembly_bytes_per_run + id) * static_cast<double>(suite.runs.size());
}

}  // namespace

Cost total_cost(const Suite& suite, int jobs) {
  Cost total;
  double largest = 0, largest_making = 0, largest_record = 0, largest_checkpoint = 0;
  SharedBytes world, rated, distribution, score_model, vote_model, estimator_tables;
  // distributions are made once, a world once for each seed
  using enum GridPart;
  Different distributions(suite.runs, {env, rater, votes}, distribution_text), worlds(suite.runs, {env, rater, policy}, world_text),
      rated_worlds(suite.runs, {env, rater, policy, votes}, rated_text), different(suite.runs, {env, rater, estimator, learn, votes}, estimator_text),
      models(suite.runs, {env, rater, estimator, votes}, model_text);
  std::map<std::size_t, double> asked;                          // responses to be scored, by choice of the parts that decide on the model
  std::vector<std::pair<std::size_t, std::size_t>> believed;  // choice and first run of each model
  for (std::size_t c = 0; c < suite.runs.combinations(); ++c) {
    const Combination all = suite.runs.combination(c);
    const RunSpec run = suite.runs[all.first];
    const Cost cost = estimate_cost(run);
    const JudgeBill bill = judge_bill(run, cost.judge_calls);
    const bool tables = run.env.kind == WorldKind::bandit;  // the toy language model makes its distributions text by text
    if (distributions.is_new(all.first, run) && tables) {
      const double rows = expected_rows(run.env.bandit, run.rater, run.votes, suite.seeds);
      total.cpu_seconds += rows * row_seconds(run.env.bandit, run.rater, run.votes);
      distribution.add(distribution_bytes(run.env.bandit, run.rater, run.votes, rows));
    }
    if (worlds.is_new(all.first, run)) {
      total.cpu_seconds += world_seconds(run) * suite.seeds;
      world.add(world_bytes(run), suite.seeds);
      if (!tables) total.disk_bytes += warm_start_bytes(run) * suite.seeds;  // kept in the work folder until all is done
    }
    if (rated_worlds.is_new(all.first, run) && tables) {
      total.cpu_seconds += rating_seconds(run) * suite.seeds;
      rated.add(rated_bytes(run.env.bandit, run.rater, run.votes), suite.seeds);
    }
    const bool new_model = models.is_new(all.first, run);
    if (new_model && run.estimator.corrected) total.cpu_seconds += correction_seconds(run);
    if (run.estimator.posterior) {
      const std::size_t choice = suite.runs.choice(all.first, {env, rater, estimator, votes});
      asked[choice] += cost.judge_calls / run.votes * static_cast<double>(all.runs);
      if (new_model) believed.emplace_back(choice, all.first);
    }
    if (different.is_new(all.first, run)) 
      estimator_tables.add(estimator_bytes(run, static_cast<double>(run.learn.steps) * run.learn.batch * static_cast<double>(suite.runs.size())));
    for (std::size_t i = 0; i < all.runs; ++i) {  // added one by one, so that sums are rounded as they always were
      total.cpu_seconds += cost.cpu_seconds;
      total.disk_bytes += cost.disk_bytes;
      total.judge_calls += cost.judge_calls;
      add(total.judge, bill);
    }
    total.recorded_bytes += cost.recorded_bytes * static_cast<double>(all.runs);
    largest = std::max(largest, cost.memory_bytes);
    largest_making = std::max(largest_making, cost.making_bytes);
    largest_record = std::max(largest_record, cost.recorded_bytes);
    if (!tables) largest_checkpoint = std::max(largest_checkpoint, 3 * warm_start_bytes(run));  // weights and Adam's two moments
  }
  for (const auto& [choice, first] : believed) {
    const RunSpec run = suite.runs[first];
    total.cpu_seconds += posterior_model_seconds(run, asked[choice]);
    (belief_of(run).all_votes ? vote_model : score_model).add(posterior_bytes(run, asked[choice]));
  }
  total.cpu_seconds += program_seconds + suite.learning_seconds;
  const double runs = static_cast<double>(suite.runs.size()), at_a_time = std::min(static_cast<double>(std::max(jobs, 1)), runs);
  total.disk_bytes += largest_checkpoint * at_a_time;
  // A worker holds one world at a time (WorkQueue). If all runs train at once, nothing trains while they are committed.
  const double in_use = std::min(at_a_time, static_cast<double>(worlds.count()) * suite.seeds);
  // while a model is made, the model before it is still in memory
  const double others = std::max(in_use - 1, 0.0), of_models = std::min(score_model.all() + vote_model.all(),
                                                                     score_model.held(others) + vote_model.held(others) +
                                                                         std::max(score_model.largest(), vote_model.largest()));
  const double shared = world.held(in_use) + rated.held(in_use) + distribution.held(in_use) + of_models + estimator_tables.held(in_use);
  const double training = std::max(largest * at_a_time, largest_making * in_use), committing = commit_memory(total, largest_record, jobs);
  total.memory_bytes =
      program_bytes + std::max(shared + bookkeeping_bytes(suite) + (runs > at_a_time ? training + committing : std::max(training, committing)),
                               assembly_memory(suite, total.disk_bytes));
  return total;
}

Cost check_limits(const Suite& suite, int jobs) {
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
    return distribution_cases(run.env.kind == WorldKind::toy_lm ? with_json_failures(run.rater) : run.rater, run.env.levels(), run.votes);
  };
  const auto too_large = [&](const RunSpec& run) { return cases(run) > max_distribution_cases; };
  using enum GridPart;
  const std::vector<std::size_t> votings = suite.runs.first_of_each({env, rater, votes});
  if (std::none_of(votings.begin(), votings.end(), [&](std::size_t i) { return too_large(suite.runs[i]); }))  // else the time is not known
    check(cost.cpu_seconds / 3600, limits.cpu_hours, "would take about " + seconds_text(cost.cpu_seconds) + " of CPU time",
          number_text(limits.cpu_hours) + " h", "cpu_hours");
  std::set<std::string> told;
  for (const std::size_t i : votings) {
    const RunSpec run = suite.runs[i];
    const bool text = run.env.kind == WorldKind::toy_lm, large = too_large(run);
    const double seconds = text ? text_distribution_cost(run.rater, run.votes).seconds : row_seconds(run.env.bandit, run.rater, run.votes);
    if ((!large && seconds <= 3) || !told.insert(run.rater_name).second) continue;
    refuse(fmt::format("rater {}: the law of {} votes on {} levels {}; use sampling = \"draws\" for it", shown(run.rater_name), run.votes,
                       run.env.levels(),
                       large ? fmt::format("with tie = \"nearest-mean\" is a sum over {} cases, more than {}", count_text(cases(run)),
                                           count_text(max_distribution_cases))
                             : fmt::format("takes about {} a row", seconds_text(seconds))));
  }
  for (const std::size_t i : suite.runs.first_of_each({env, rater, votes, estimator})) {
    const RunSpec run = suite.runs[i];
    if (posterior_too_large(run) && told.insert(run.rater_name).second)
      refuse(fmt::format("rater {}, as estimator {} believes it to be: {}", shown(run.rater_name), shown(run.estimator_name),
                         too_large_for_all_votes));
  }
  double kept = 0;
  for (const std::size_t i : suite.runs.first_of_each({env, learn})) kept = std::max(kept, static_cast<double>(kept_rollouts(suite.runs[i], suite.runs[i].learn.steps)));
  if (kept > most_kept_rollouts)
    refuse(fmt::format("a run would keep {} rollouts, more than {}; a larger `rollouts` in [record] keeps fewer", count_text(kept), count_text(most_kept_rollouts)));
  if (!over.empty()) throw Failure(Exit::limits, over);
  return cost;
}

}  // namespace odrpo
