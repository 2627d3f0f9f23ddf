// Trains a list of runs on several threads, and saves and loads their outcomes as lines of text.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <mutex>
#include <new>
#include <sstream>
#include <thread>

#include "config/spec.hpp"
#include "config/write/canonical.hpp"
#include "kernels/system/fail.hpp"
#include "results/stats/statistics.hpp"
#include "results/store/digest.hpp"
#include "train/advice/race.hpp"
#include "train/final_values.hpp"
#include "train/train.hpp"

namespace odrpo {
namespace {

double final_of(const RunRecord& record, std::string_view name) {
  for (const Final& value : record.finals)
    if (value.name == name) return value.value;
  return std::nan("");
}

Outcome outcome_of(const RunRecord& record) {
  Outcome outcome;
  outcome.failed = record.status == RunStatus::failed;
  if (outcome.failed) return outcome;
  const double start = final_of(record, "uniform_quality"), headroom = final_of(record, "best_quality") - start;
  outcome.gain = headroom > 0 ? final_of(record, "final_gain") : 0;
  outcome.calls = final_of(record, "judge_calls");
  for (const double quality : curve_of(record, "quality")) outcome.gains.push_back(headroom > 0 ? (quality - start) / headroom : 0);
  outcome.steps.assign(record.step.begin(), record.step.end());
  return outcome;
}

}  // namespace

std::optional<std::vector<Outcome>> Trials::train(std::span<const RunSpec> runs, const std::function<void(std::size_t)>& on_progress) {
  std::vector<std::string> key(runs.size());
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    key[i] = spec_key(runs[i]);
    if (!known_.contains(key[i])) missing.push_back(i);
  }
  std::atomic<std::size_t> next{0}, done{0};
  std::vector<std::optional<Outcome>> made(missing.size());
  std::mutex mutex;
  std::exception_ptr failure;  // under mutex
  const auto work = [&] {
    try {
      RunCache cache = cache_;
      for (std::size_t i = 0; !stop_ && (i = next++) < missing.size();) {
        const RunRecord record = odrpo::train(runs[missing[i]], cache, stop_);
        if (stop_ && record.status == RunStatus::failed) break;
        made[i] = outcome_of(record);
        ++done;
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      next = missing.size();
    }
  };
  {
    std::vector<std::jthread> threads;
    std::atomic<std::size_t> left{jobs_};
    for (std::size_t j = 0; j < jobs_; ++j) threads.emplace_back([&] { work(), --left; });
    const std::size_t before = runs.size() - missing.size();
    while (left > 0) {
      on_progress(before + done);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  for (std::size_t i = 0; i < missing.size(); ++i)
    if (made[i]) known_.emplace(key[missing[i]], std::move(*made[i]));
  trained_ += done;
  if (failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const std::bad_alloc&) {
      fail(Exit::limits, "out of memory; fewer --jobs or a smaller --batch need less");
    }
  }
  if (done < missing.size()) return std::nullopt;
  std::vector<Outcome> outcomes;
  for (const std::string& k : key) outcomes.push_back(known_.at(k));
  return outcomes;
}

std::string Trials::saved(std::string_view build) const {
  std::string text = fmt::format("odrpo-bench {} advice\n", build);
  for (const auto& [key, outcome] : known_) {
    text += fmt::format("{} {:a} {:a} {:d} {}", key, outcome.gain, outcome.calls, outcome.failed, outcome.gains.size());
    for (std::size_t i = 0; i < outcome.gains.size(); ++i) text += fmt::format(" {} {:a}", outcome.steps[i], outcome.gains[i]);
    text += '\n';
  }
  return text + "end " + sha256_hex(text) + '\n';
}

bool Trials::load(std::string_view text, std::string_view build) {
  const std::size_t end = text.rfind("end ");
  if (end == std::string_view::npos || text.substr(end) != "end " + sha256_hex(text.substr(0, end)) + '\n') return false;
  std::istringstream lines{std::string(text.substr(0, end))};
  std::string line;
  if (!std::getline(lines, line) || line != fmt::format("odrpo-bench {} advice", build)) return false;
  std::map<std::string, Outcome> found;
  const auto real = [](std::istringstream& fields) {  // streams cannot read the hexadecimal numbers that {:a} writes
    std::string word;
    fields >> word;
    return std::strtod(word.c_str(), nullptr);
  };
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::string key;
    Outcome outcome;
    std::size_t points = 0;
    fields >> key;
    outcome.gain = real(fields), outcome.calls = real(fields);
    fields >> outcome.failed >> points;
    for (std::size_t i = 0; fields && i < points; ++i) {
      int step = 0;
      fields >> step;
      outcome.steps.push_back(step), outcome.gains.push_back(real(fields));
    }
    if (!fields) return false;
    found.emplace(key, std::move(outcome));
  }
  known_.merge(found);
  return true;
}

}  // namespace odrpo
