// Known numbers for the tests of tables, and what a table is refused with.
#pragma once
#include "kernels/failure.hpp"
#include "results/table.hpp"
#include "tests/results/sample.hpp"

namespace odrpo::sample {

/// A file of 2 estimators x votes {1, 8} x lr x 3 seeds. gain of maxrl is .70 .72 .74, of odrpo .73 .74 .78; + .05 at 8 votes; lr 1 costs
/// .10 for maxrl and adds .01 for odrpo.
inline std::vector<RunRecord> some_runs(const std::vector<double>& rates) {
  std::vector<RunRecord> all;
  const double gains[2][3] = {{0.70, 0.72, 0.74}, {0.73, 0.74, 0.78}};
  for (int e = 0; e < 2; ++e)
    for (int votes : {1, 8})
      for (double lr : rates)
        for (int seed = 0; seed < 3; ++seed) {
          RunRecord r = run("bandit", e ? "odrpo-gini(maxrl)" : "maxrl", votes, lr, seed, 20);
          const double gain = gains[e][seed] + (votes == 8 ? 0.05 : 0) + (lr == 1 ? (e ? 0.01 : -0.10) : 0);
          r.finals = {{"final_gain", gain}, {"regret", 4 * (1 - gain)}, {"judge_calls", 1000.0 * votes}};
          r.step_time_median = 1e-5 * (1 + seed);
          all.push_back(r);
        }
  return all;
}

inline ResultFile file_of(const std::vector<RunRecord>& all) {
  const Scratch scratch;
  write_file(scratch.file(), all);
  return read_results(scratch.file(), false);
}

inline std::string refusal(const ResultFile& file, const TableSpec& spec) {
  try {
    make_table(file, spec);
  } catch (const Failure& failure) {
    return failure.code == Exit::usage ? failure.what() : "wrong exit code";
  }
  return "";
}

}  // namespace odrpo::sample
