// The advantage kernels of a GPU against a device-to-device copy of the same bytes, by device events over buffers larger than its cache.
#include "tests/perf/gpu_bench.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "estimators/device_batch.hpp"
#include "kernels/device/devices.hpp"
#include "kernels/failure.hpp"

namespace odrpo::perf {
namespace {

struct Shape {
  int levels, rollouts;
  std::size_t groups;
  std::size_t scores() const { return groups * static_cast<std::size_t>(rollouts); }
  std::size_t bytes() const { return scores() * (1 + sizeof(float)); }
};

// Sets of buffers used in turn, together several times the cache: what one launch wrote is gone when its turn comes again.
std::size_t sets_for(std::size_t bytes) {
  static const double cache = find_devices(false).all[0].cache_bytes;
  return std::max<std::size_t>(2, static_cast<std::size_t>(4 * cache / static_cast<double>(bytes)) + 1);
}
constexpr int launches = 20;  // between two events

// Seconds of one call of `queue(i)`, from `launches` of them.
template <class Queue>
double timed(const Stream& stream, Event& begin, Event& end, int& next, Queue queue) {
  begin.record(stream);
  for (int i = 0; i < launches; ++i) queue(next++);
  end.record(stream);
  return end.seconds_since(begin) / launches;
}

// Seconds of a copy that reads and writes `bytes` together: median of 31 timings, once per size.
double copy_seconds(std::size_t bytes) {
  static std::map<std::size_t, double> known;
  auto [entry, fresh] = known.try_emplace(bytes, 0.0);
  if (!fresh) return entry->second;
  const Stream stream;
  Event begin, end;
  const std::size_t half = bytes / 2, sets = sets_for(bytes);
  DeviceBuffer<char> from(half * sets), to(half * sets);
  from.fill(1, stream);
  to.fill(2, stream);
  int next = 0;
  std::vector<double> seconds;
  for (int t = 0; t < 34; ++t)
    seconds.push_back(timed(stream, begin, end, next, [&](int i) {
      const std::size_t at = half * (static_cast<std::size_t>(i) % sets);
      device_memory::copy(to.data() + at, from.data() + at, half, device_memory::Way::within, stream, Asked::current());
    }));
  seconds.erase(seconds.begin(), seconds.begin() + 3);  // warm-up
  std::nth_element(seconds.begin(), seconds.begin() + 15, seconds.end());
  return entry->second = seconds[15];
}

std::vector<std::uint8_t> scores_for(const Shape& shape, std::size_t n) {
  std::mt19937 random(1);
  std::binomial_distribution<int> near_the_top(shape.levels - 1, 0.7);
  std::vector<std::uint8_t> score(n);
  constexpr std::size_t period = 1'048'573;  // a prime: drawing them all would take longer than the rest
  for (std::size_t i = 0; i < n; ++i) score[i] = i < period ? static_cast<std::uint8_t>(1 + near_the_top(random)) : score[i - period];
  return score;
}

BatchEstimator estimator_of(const EstimatorConfig& config, const Shape& shape) {
  BatchEstimator estimator(config, shape.levels, shape.rollouts);
  if (estimator.needs_median()) estimator.set_median(0.5 * (shape.levels + 1));
  return estimator;
}

void report(benchmark::State& state, const Shape& shape, double total, double share_of) {
  const double each = total / static_cast<double>(state.iterations());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(shape.bytes()));
  state.counters["ns_per_group"] = each * 1e9 / static_cast<double>(shape.groups);
  if (share_of > 0) state.counters["share"] = share_of / each;
}

void advantages(benchmark::State& state, const EstimatorConfig& config, const Shape& shape) try {
  const double ceiling = copy_seconds(shape.bytes());
  const Stream stream;
  Event begin, end;
  const BatchEstimator estimator = estimator_of(config, shape);
  const DeviceEstimator on_device(estimator, stream);
  const std::size_t sets = sets_for(shape.bytes());
  // sets of scores begin at multiples of 16 bytes: groups of 8 and 16 are loaded whole
  const std::size_t step = (shape.scores() + 15) / 16 * 16;
  const auto score = scores_for(shape, shape.scores());
  DeviceBuffer<std::uint8_t> in(step * sets);
  DeviceBuffer<float> out(step * sets);
  for (std::size_t s = 0; s < sets; ++s)
    device_memory::copy(in.data() + s * step, score.data(), score.size(), device_memory::Way::to_device, stream, Asked::current());
  out.fill(0xff, stream);
  int next = 0;
  const auto queue = [&](int i) {
    const std::size_t at = step * (static_cast<std::size_t>(i) % sets);
    on_device(in.data() + at, shape.groups, out.data() + at, stream);
  };
  timed(stream, begin, end, next, queue);
  double total = 0;
  for (auto _ : state) {
    const double seconds = timed(stream, begin, end, next, queue);
    state.SetIterationTime(seconds);
    total += seconds;
  }
  report(state, shape, total, ceiling);
} catch (const Failure& failure) {
  state.SkipWithError(failure.what());
}

// Scores there and advantages back, from and to locked memory of the host.
void round_trip(benchmark::State& state, const EstimatorConfig& config, const Shape& shape) try {
  const Stream stream;
  Event begin, end;
  const BatchEstimator estimator = estimator_of(config, shape);
  const DeviceEstimator on_device(estimator, stream);
  PinnedBuffer<std::uint8_t> score(shape.scores());
  PinnedBuffer<float> advantage(shape.scores());
  const auto made = scores_for(shape, score.size());
  std::copy(made.begin(), made.end(), score.data());
  DeviceBuffer<std::uint8_t> in(score.size());
  DeviceBuffer<float> out(score.size());
  double total = 0;
  for (auto _ : state) {
    begin.record(stream);
    in.send(score.span(), stream);
    on_device(in.data(), shape.groups, out.data(), stream);
    out.fetch(advantage.span(), stream);
    end.record(stream);
    const double seconds = end.seconds_since(begin);
    state.SetIterationTime(seconds);
    total += seconds;
  }
  report(state, shape, total, 0);
} catch (const Failure& failure) {
  state.SkipWithError(failure.what());
}

void copy(benchmark::State& state, std::size_t bytes) try {
  const double seconds = copy_seconds(bytes);
  for (auto _ : state) state.SetIterationTime(seconds);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
} catch (const Failure& failure) {
  state.SkipWithError(failure.what());
}

template <class F>
void add(const std::string& name, F f) {
  benchmark::RegisterBenchmark(name.c_str(), f)->UseManualTime()->Unit(benchmark::kMicrosecond);
}
std::string text_of(const Shape& s) {
  return "G" + std::to_string(s.rollouts) + "/K" + std::to_string(s.levels) + "/groups" + std::to_string(s.groups);
}

}  // namespace

void register_gpu() {
  const Devices devices = find_devices(true);
  if (const std::string why = why_no_device(devices); !why.empty()) {
    benchmark::RegisterBenchmark("gpu/none", [why](benchmark::State& s) { s.SkipWithError(("no GPU: skipped (" + why + ")").c_str()); });
    return;
  }
  benchmark::AddCustomContext("gpu", devices.all[0].name);
  benchmark::AddCustomContext("gpu share", "time of a device copy of the same bytes / time of the benchmark (1 = copy speed)");
  const Shape usual{10, 8, 1'000'000}, more{10, 8, 16'000'000};
  for (const Shape& s : {usual, more})
    add("gpu/copy/bytes" + std::to_string(s.bytes()), [s](benchmark::State& state) { copy(state, s.bytes()); });
  for (std::string_view word : estimator_catalogue()) {
    const EstimatorConfig config = *parse_estimator(word);
    std::vector<Shape> shapes{usual};
    if (word == "odrpo(grpo)" || word == "grpo" || word == "odrpo-gini-median(grpo)")
      shapes.insert(shapes.end(), {more, {16, 8, 1'000'000}, {5, 16, 1'000'000}, {10, 12, 1'000'000}, {100, 255, 50'000}});
    for (const Shape& shape : shapes)
      add("gpu/advantage/" + std::string(word) + "/" + text_of(shape),
          [config, shape](benchmark::State& state) { advantages(state, config, shape); });
  }
  EstimatorConfig nemo = *parse_estimator("grpo");
  nemo.compat = Compat::nemo;
  add("gpu/advantage/grpo,nemo/" + text_of(usual), [=](benchmark::State& state) { advantages(state, nemo, usual); });
  const EstimatorConfig ordinal = *parse_estimator("odrpo(grpo)");
  add("gpu/round_trip/odrpo(grpo)/" + text_of(usual), [=](benchmark::State& state) { round_trip(state, ordinal, usual); });
  register_gpu_transformer();
}

}  // namespace odrpo::perf
