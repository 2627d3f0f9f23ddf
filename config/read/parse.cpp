// Loads a suite: reads the text, applies --set, checks the plan, and expands it into runs.
#include "config/read/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "config/catalogue/formulas.hpp"
#include "config/plan/plan.hpp"
#include "config/read/overrides.hpp"
#include "config/read/parse_toml.hpp"
#include "config/read/read_file.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {

Suite load_suite_text(const std::string& path, std::string text, const std::vector<std::string>& set,
                      const std::vector<std::string>& only, std::vector<std::string> only_below) {
  Diagnostics errors(shown(path, 4096), text, set);
  std::vector<Override> overrides;
  for (std::size_t i = 0; i < set.size(); ++i) overrides.push_back(split_override(set[i], static_cast<int>(i) + 1, errors));
  Node root;
  const bool whole = parse_toml(text, root, errors);
  bool sound = !errors.any();  // after a syntax error, what seems missing may stand in the text that was skipped
  if (!whole) errors.finish();
  for (std::size_t i = 0; i < set.size(); ++i) {
    const int ordinal = static_cast<int>(i) + 1;
    if (overrides[i].path.empty()) continue;
    if (auto value = override_value(overrides[i], ordinal, errors))
      apply_override(root, overrides[i], std::move(*value), ordinal, errors);
    else sound = false;
  }
  const auto slash = path.rfind('/');
  Diagnostics files(shown(path, 4096), text, set);
  Reading reading{errors, files, sound, slash == std::string::npos ? "" : path.substr(0, slash + 1), std::move(only_below)};
  const Plan plan = read_plan(root, reading);
  errors.finish();
  files.finish();
  Suite suite = expand(plan, only);
  check_corrected(plan, suite.runs, errors);
  errors.finish();
  suite.resolved = write_plan(plan);
  suite.text = std::move(text);
  suite.overrides = set;
  for (const auto& rater : plan.rater) {
    const auto& [file, found, seconds] = rater.scores;
    suite.learning_seconds += seconds;
    if (found.empty()) continue;
    suite.notes.push_back(fmt::format("judge: {}: {}", file, found));
    suite.judges.emplace_back(rater.name, fmt::format("{}: {}", file.substr(file.rfind('/') + 1), found));
  }
  for (const auto& estimator : plan.estimator)
    if (estimator.config.outside != Outside::none)
      suite.notes.push_back(fmt::format("estimator {}: {}: the estimates leave its time out", estimator.name,
                                        estimator.config.outside == Outside::command ? "another program computes its advantages, `" + shown(estimator.config.command, 200) + "`"
                                                                                     : "a library computes its advantages, `" + shown(estimator.config.library, 200) + "`"));
  for (auto& note : reading.notes)
    if (std::find(suite.notes.begin(), suite.notes.end(), note) == suite.notes.end()) suite.notes.push_back(std::move(note));
  for (auto& note : exploding_groups(suite)) suite.notes.push_back(std::move(note));
  return suite;
}

Suite load_suite(const std::string& path, const std::vector<std::string>& set, const std::vector<std::string>& only) {
  for (std::size_t i = 0; i < set.size(); ++i) {  // refuses a malformed --set before it reads the file
    Diagnostics unused(path, {}, {});
    split_override(set[i], static_cast<int>(i) + 1, unused);
  }
  return load_suite_text(path, read_suite_file(path), set, only);
}

namespace {

double combinations(const std::vector<GridAxis>& axes) {
  double n = 1;
  for (const auto& axis : axes) n *= static_cast<double>(axis.choices());
  return n;
}
// returns the number of combinations of the variants in one entry of `zip`, which may select a single variant
template <class C>
double combinations(const std::vector<Variant<C>>& variants, const std::vector<std::size_t>& of_entry, std::size_t entry) {
  if (!of_entry.empty()) return combinations(variants[of_entry[entry]].axes);
  double n = 0;
  for (const auto& v : variants) n += combinations(v.axes);
  return n;
}

// returns the number of runs of the whole grid; a double, so that nothing overflows (exact below 2^53)
double count_runs(const Plan& plan) {
  const Zip& zip = plan.zip;
  double n = 0;
  for (std::size_t e = 0; e < zip.entries; ++e)
    n += combinations(plan.env, zip.env, e) * combinations(plan.rater, zip.rater, e) * combinations(plan.policy, zip.policy, e) *
         combinations(plan.estimator, zip.estimator, e) * (zip.votes.empty() ? static_cast<double>(plan.votes.size()) : 1) *
         combinations(plan.learn_axes) * static_cast<double>(plan.head.seeds);
  return n;
}

// Bytes per run that checking a suite needs, measured at 10^6 runs. They are 4 where runs differ in seed, 17 where each run is its own
// combination, 65 where each has its own world or distribution. The second 17: one run in the index of the result store.
constexpr double bytes_per_run = 17 + 17;

void refuse_too_many(const Plan& plan) {
  const double runs = count_runs(plan);
  if (runs > plan.limits.runs)
    fail(Exit::limits, "the grid has {} runs, more than the limit of {}; `runs` in [limits] raises it", count_text(runs),
         count_text(plan.limits.runs));
  const double gib = runs * bytes_per_run / (1024.0 * 1024.0 * 1024.0);
  if (gib > plan.limits.memory_gib)
    fail(Exit::limits,
         "the plan of {} runs alone needs {:.2g} GiB of memory, more than the limit of {}; `memory_gib` in "
         "[limits] raises it",
         count_text(runs), gib, number_text(plan.limits.memory_gib));
}

// tests the ids of runs against the globs of --only, and records which globs have matched
struct Selection {
  const std::vector<std::string>& only;
  std::vector<bool> met;
  bool wants(const std::string& id) {
    bool any = false;
    for (std::size_t i = 0; i < only.size(); ++i) {
      if (!glob_match(only[i], id)) continue;
      any = true;
      met[i] = true;
    }
    return any;
  }
};

RunGrid chosen_by(Selection& selection, const RunGrid& all) {
  std::vector<std::uint32_t> chosen;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (selection.wants(all.id(i))) chosen.push_back(static_cast<std::uint32_t>(i));
  return all.only(std::move(chosen));
}

}  // namespace

Suite expand(const Plan& plan, const std::vector<std::string>& only) {
  refuse_too_many(plan);
  Plan named = plan;
  Suite suite;
  suite.name = plan.head.name;
  suite.seed = static_cast<std::uint64_t>(plan.head.seed);
  suite.seeds = plan.head.seeds;
  suite.table = plan.table;
  suite.gate = plan.gate;
  suite.limits = plan.limits;
  for (const auto* axis : name_axes(named)) suite.axis_names.push_back(axis->name);
  suite.runs = RunGrid(plan);
  if (only.empty()) return suite;
  const std::string example = suite.runs.id(0);
  Selection selection{only, std::vector<bool>(only.size(), false)};
  suite.runs = chosen_by(selection, suite.runs);
  std::string unmet;
  for (std::size_t i = 0; i < only.size(); ++i)
    if (!selection.met[i])
      unmet += fmt::format("{}--only {}: error: no run matches `{}`{}\n      = a run id looks like {}", unmet.empty() ? "" : "\n", i + 1,
                           shown(only[i], 200), has_open_bracket(only[i]) ? ": its bracket is not closed" : "", example);
  if (!unmet.empty()) throw Failure(Exit::suite, unmet);
  return suite;
}

}  // namespace odrpo
