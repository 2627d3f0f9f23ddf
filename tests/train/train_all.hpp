// Trains whole suites in a test, and reads what their records say.
#pragma once
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "config/spec.hpp"
#include "config/suite.hpp"
#include "tests/catch.hpp"
#include "train/run_cache.hpp"
#include "train/schedule/run_order.hpp"
#include "train/schedule/run_suite.hpp"
#include "train/train.hpp"

namespace odrpo {

/// Trains every run of the suite on two threads; records in the order of suite.runs.
inline std::vector<RunRecord> train_all(const Suite& suite) {
  std::vector<RunRecord> records(suite.runs.size());
  const std::vector<std::size_t> order = run_order(suite);
  RunCache shared;
  const std::atomic<bool> never{false};
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i; (i = next++) < order.size();) records[order[i]] = train(suite.runs[order[i]], shared, never);
  };
  std::thread other(work);
  work();
  other.join();
  return records;
}

inline double final_value(const RunRecord& r, const std::string& name) {
  INFO(r.id << " " << r.error);
  REQUIRE(r.status == RunStatus::ok);
  for (const Final& f : r.finals)
    if (f.name == name) return f.value;
  FAIL("no final " << name);
  return 0;
}

}  // namespace odrpo
