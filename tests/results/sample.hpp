// Made-up records for the tests of results/: small, deterministic, with every kind of column; and a scratch folder.
#pragma once
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "kernels/shared/failure.hpp"
#include "results/store/file/isolate.hpp"
#include "results/store/store.hpp"

namespace odrpo::sample {

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A folder that goes away with the test; in memory where it can be, since thousands of files are synced there.
struct Scratch {
  std::filesystem::path path;
  Scratch() {
    const std::filesystem::path fast = "/dev/shm";
    std::string name = ((::access(fast.c_str(), W_OK) == 0 ? fast : std::filesystem::temp_directory_path()) / "odrpo-results-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Scratch() { std::filesystem::remove_all(path); }
  std::string file(const std::string& name = "out.h5") const { return (path / name).string(); }
};

/// The exit code and message of a failing call; ok when it does not fail.
template <class Call>
std::pair<Exit, std::string> failure_of(Call call) {
  try {
    call();
  } catch (const Failure& failure) {
    return {failure.code, failure.what()};
  }
  return {Exit::ok, ""};
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
inline void write_bytes(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

inline RunRecord run(const std::string& env, const std::string& estimator, int votes, double lr, int seed, int steps) {
  RunRecord r;
  r.env = env;
  r.rater = "mixed";
  r.policy = "linear";
  r.estimator = estimator;
  r.votes = votes;
  r.seed = seed;
  r.axes = {{"learn.lr", lr}, {"learn.steps", std::int64_t{steps}}, {"learn.schedule", std::string("cosine")}};
  r.id = env + "/mixed/linear/" + estimator + "/n" + std::to_string(votes) + "/learn.lr=" + (lr < 0.5 ? "0.1" : "1") + "/s" +
         std::to_string(seed);
  r.key = "00112233445566" + std::to_string(10 + seed);
  const double level = 0.5 + 0.01 * votes + 0.1 * seed + (estimator == "maxrl" ? 0.25 : 0) + lr / 8;
  r.finals = {{"final_quality", 5 + level},   {"uniform_quality", 5},          {"best_quality", 9},
              {"final_gain", level / 4},      {"regret", 4 - level},           {"final_reward", 5.5 + level},
              {"auc_quality", 5 + level / 2}, {"judge_calls", 1000.0 * votes}, {"undefined", seed == 0 ? nan : 1.0}};
  Curve quality{"quality", {}}, kl{"kl", {}}, odd{"dead_share", {}};
  for (int s = 0; s <= steps; s += 10) {
    r.step.push_back(s);
    quality.values.push_back(5 + level * s / steps);
    kl.values.push_back(1e-3 * s);
    odd.values.push_back(s == 0 ? nan : 0.125);
    for (int k = 0; k < stage_count; ++k) r.seconds.push_back(1e-6f * static_cast<float>(k + 1));
  }
  r.curves = {quality, kl, odd};
  r.step_time_median = 1e-5 * (1 + seed);
  return r;
}

/// 2 worlds x 2 estimators x votes {1, 8} x lr {0.1, 1} x seeds; the second world records fewer steps.
inline std::vector<RunRecord> runs(int seeds = 3) {
  std::vector<RunRecord> all;
  for (const char* env : {"bandit", "bandit-small"})
    for (const char* estimator : {"maxrl", "odrpo-gini(maxrl)"})
      for (int votes : {1, 8})
        for (double lr : {0.1, 1.0})
          for (int seed = 0; seed < seeds; ++seed)
            all.push_back(run(env, estimator, votes, lr, seed, std::string(env) == "bandit" ? (seed == 1 ? 30 : 50) : 20));
  return all;
}

/// Evaluations per prompt for the runs of the first world, five of each, but three at votes 8.
inline std::vector<RunRecord> with_evaluated(std::vector<RunRecord> all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].env != "bandit") continue;
    all[i].evaluated = {{"quality", {}}, {"length", {}}};
    for (int p = 0; p < (all[i].votes == 8 ? 3 : 5); ++p) {
      all[i].evaluated[0].values.push_back(static_cast<double>((i * 7 + static_cast<std::size_t>(p) * 5) % 17) / 2);
      all[i].evaluated[1].values.push_back(static_cast<double>((i * 3 + static_cast<std::size_t>(p) * 11) % 13));
    }
  }
  return all;
}

/// Kept rollouts for the runs of the first world: two groups of three, or four where votes are 8; a reward is missing; no lengths at votes 8.
inline std::vector<RunRecord> with_rollouts(std::vector<RunRecord> all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].env != "bandit") continue;
    const bool many = all[i].votes == 8;
    for (const char* name : rollout_columns)
      if (!many || name != std::string("length")) all[i].rollouts.push_back({name, {}});
    for (int row = 0; row < (many ? 8 : 6); ++row) {
      const int group = row / (many ? 4 : 3);
      const double values[] = {10.0 * group, group == 0 ? 7.0 : 3.0, static_cast<double>((i + row) % 5), row == 1 ? nan : 1.0 + static_cast<double>((i * 3 + row) % 10),
                               row == 1 ? 0 : (row - 2.5) / 4, 5.0 + row, 5.5 + 0.0625 * static_cast<double>((i + row * 7) % 16)};
      for (Curve& c : all[i].rollouts)
        for (int v = 0; v < rollout_column_count; ++v)
          if (c.name == rollout_columns[v]) c.values.push_back(values[v]);
    }
  }
  return all;
}

inline SuiteFacts facts(const std::vector<RunRecord>& all) {
  SuiteFacts f;
  f.name = "sample";
  f.fingerprint = std::string(64, 'a');
  std::vector<std::string> ids;
  for (const RunRecord& r : all) ids.push_back(r.id);
  f.runs = ids.size();
  f.run_id = [ids](std::size_t i) { return ids[i]; };
  f.axis_names = {"learn.lr", "learn.steps", "learn.schedule"};
  f.provenance = {{"suite", "[suite]\nname = \"sample\"  # ± UTF-8\n"},
                  {"version", "0.0"},
                  {"table", "rows = estimator\ncolumns = votes\nvalue = gain\nbaseline = maxrl\nbest = \ntune_seeds = 0\n"},
                  {"formulas", "maxrl\tadvantage (r - mean) / mean\nodrpo-gini(maxrl)\tsum over levels\n"},
                  {"raters", "mixed\tgaussian; levels 1 to 10\n"}};
  return f;
}

/// A whole result file in memory: all columns, and all runs as records.
struct WholeFile : ResultFile {
  std::vector<RunRecord> records;
};
inline WholeFile read_all(const std::string& path) {
  const System system = posix_system();
  WholeFile file;
  static_cast<ResultFile&>(file) = read_results(path, [](const ResultFile& head) {
    std::vector<std::string> names;
    for (const ColumnInfo& column : head.all) names.push_back(column.name);
    return names;
  });
  store::read_checked_runs(store::open_untrusted(system, path), {}, true, [](const ResultFile&) {},
                           [&](std::vector<RunRecord>& some) { std::move(some.begin(), some.end(), std::back_inserter(file.records)); });
  return file;
}

/// Paths of the files in a folder whose names begin so, sorted.
inline std::vector<std::string> files_in(const std::string& folder, const std::string& prefix) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().filename().string().starts_with(prefix)) found.push_back(entry.path().string());
  std::sort(found.begin(), found.end());
  return found;
}

/// Commits all runs in shards of `shard` and assembles; returns the digest.
inline std::string write_file(const std::string& path, const std::vector<RunRecord>& all, std::size_t shard = 5) {
  WorkFolder work(path, facts(all), false);
  for (std::size_t i = 0; i < all.size(); i += shard) work.commit(std::span(all).subspan(i, std::min(shard, all.size() - i)));
  return work.assemble();
}

}  // namespace odrpo::sample
