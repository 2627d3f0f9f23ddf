// Chooses devices by --device, --devices and --precision, and decides which runs of the suite train on them and which on the CPU.
#include "app/run/device_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/spec.hpp"
#include "config/suite.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/text.hpp"
#include "train/schedule/run_order.hpp"

namespace odrpo::app {
namespace {

constexpr std::size_t most_words = 5;  // at most this many lines about runs that train on the CPU

// Parses --devices, such as "0,1": numbers of at most four digits, each once.
std::vector<int> device_numbers(const std::string& list) {
  std::vector<int> numbers;
  for (const std::string& word : split(list, ',')) {
    if (word.empty() || word.size() > 4 || word.find_first_not_of("0123456789") != std::string::npos)
      throw Failure(Exit::usage, "--devices takes numbers of CUDA devices with commas between, such as 0,1; not \"" + list + "\"");
    numbers.push_back(std::stoi(word));
    if (std::count(numbers.begin(), numbers.end(), numbers.back()) > 1)
      fail(Exit::usage, "--devices names device {} twice", numbers.back());
  }
  return numbers;
}

std::string known_devices(const Devices& found) {
  return joined(found.all, [i = 0](const auto& device) mutable { return fmt::format("{} ({})", i++, device.name); });
}

// Opens one device as an engine. Failure `device` if that is impossible; the message names the device.
BatchEngine opened(std::size_t index, const Devices& found, const DeviceWish& wish, const DeviceSource& source) {
  const DeviceFacts& d = found.all[index];
  const auto refuse = [&](const std::string& why) { return Failure(Exit::device, fmt::format("device {} ({}): {}", index, d.name, why)); };
  if (!d.trouble.empty()) throw refuse(d.trouble);
  try {
    return source.open(static_cast<int>(index), wish.precision);
  } catch (const Failure& failure) {
    if (failure.code != Exit::device) throw;
    throw refuse(failure.what());
  }
}

// Opens all devices of --devices as engines of `p`. Failure `device`, before any is opened, if one of them does not exist.
void open_all(const DeviceWish& wish, const Devices& found, const DeviceSource& source, ChosenDevices& p) {
  for (const int n : wish.numbers)
    if (static_cast<std::size_t>(n) >= found.all.size())
      throw Failure(Exit::device,
                    fmt::format("there is no CUDA device {}; there {} {}", n, found.all.size() == 1 ? "is" : "are", known_devices(found)));
  for (const int n : wish.numbers) {
    p.engines.push_back(opened(static_cast<std::size_t>(n), found, wish, source));
    p.gpu = (p.engines.size() == 1 ? "" : p.gpu + ", ") + found.all[static_cast<std::size_t>(n)].name;
  }
}

// Opens the first device that can be used, and returns an empty text. If none can be used, returns the reason for device 0.
std::string open_first(const DeviceWish& wish, const Devices& found, const DeviceSource& source, ChosenDevices& p) {
  std::string why;
  for (std::size_t i = 0; i < found.all.size(); ++i) try {
      p.engines.push_back(opened(i, found, wish, source));
      p.gpu = found.all[i].name;
      return "";
    } catch (const Failure& failure) {
      if (failure.code != Exit::device) throw;
      if (why.empty()) why = failure.what();
    }
  return why;
}

std::vector<std::string> cpu_words(const std::vector<Unbatched>& reasons, std::size_t total, const char* verb = "train") {
  std::vector<std::string> words;
  const std::size_t shown = reasons.size() > most_words ? most_words - 1 : reasons.size();
  for (std::size_t i = 0; i < shown; ++i)
    words.push_back(fmt::format("{} of {} runs {} on the CPU: {}", reasons[i].runs, total, verb, reasons[i].why));
  std::size_t rest = 0;
  for (std::size_t i = shown; i < reasons.size(); ++i) rest += reasons[i].runs;
  if (rest > 0) words.push_back(fmt::format("{} of {} runs {} on the CPU for {} other reasons", rest, total, verb, reasons.size() - shown));
  return words;
}

bool any_batched(const RunGrid& runs, const BatchRules& rules) {
  for (std::size_t c = 0; c < runs.combinations(); ++c)
    if (rules.why_not_batched(runs[runs.combination(c).first]).empty()) return true;
  return false;
}

std::string lines(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += '\n' + word;
  return text;
}

}  // namespace

DeviceWish device_wish(const DeviceOptions& o) {
  DeviceWish wish;
  wish.must = o.device == "cuda" || !o.devices.empty();
  wish.look = wish.must || o.device == "auto";
  if (o.precision == "tf32") wish.precision = ProductPrecision::tf32;
  if (!o.precision.empty() && !wish.look) fail(Exit::usage, "--precision is of devices: it needs --device cuda or auto, or --devices");
  if (o.devices.empty()) return wish;
  if (!o.device.empty() && o.device != "cuda")
    throw Failure(Exit::usage, "--devices chooses among CUDA devices: leave --device " + o.device + " out");
  wish.numbers = device_numbers(o.devices);
  return wish;
}

std::string ChosenDevices::device() const {
  return engines.empty() ? "cpu" : joined(engines, &BatchEngine::name);
}

ChosenDevices choose_devices(const Suite& suite, const DeviceWish& wish, const DeviceSource& source) {
  ChosenDevices p;
  if (!wish.look) return p;
  const std::size_t total = suite.runs.size();
  const auto takes_the_cpu = [&](const std::string& why) {
    p.on_cpu = {{why, total}};
    p.words = {"--device auto takes the CPU: " + why};
  };

  // opens devices only if the suite has runs for them, or if a device is required
  if (wish.must || any_batched(suite.runs, source.batch_rules)) {
    const Devices found = source.find();
    std::string why = found.all.empty() ? found.why_none : "";
    if (why.empty()) {
      if (wish.numbers.empty()) why = open_first(wish, found, source, p);
      else open_all(wish, found, source, p);
    }
    if (p.engines.empty()) {
      why = "no CUDA device: " + why;
      if (wish.must) throw Failure(Exit::device, why + "; use --device cpu");
      takes_the_cpu(why);
      return p;
    }
  }

  // engines divide the suite's limit on host memory among them, since the data of bandit runs pass through that memory
  const double of_host = suite.limits.memory_gib * 1024 * 1024 * 1024 / static_cast<double>(std::max<std::size_t>(p.engines.size(), 1));
  for (BatchEngine& e : p.engines) e.host_bytes = of_host;

  // without an engine, makes the schedule for an imaginary one of unlimited memory: it says why runs train on the CPU
  const Schedule schedule = make_schedule(
      suite.runs, run_order(suite), p.engines.empty() ? std::vector<BatchEngine>{{"any", 1e300, {}}} : p.engines, source.batch_rules);
  p.on_engines = schedule.in_batches();
  p.on_cpu = schedule.why;
  p.words = cpu_words(p.on_cpu, total);
  if (p.on_engines > 0) {
    p.schedule = schedule;
    p.words.insert(p.words.begin(), fmt::format("{} of {} runs train on {}", p.on_engines, total, p.device()));
    return p;
  }
  if (wish.must) {
    for (const BatchEngine& e : p.engines)
      for (const Unbatched& u : p.on_cpu)
        if (e.no_transformers && u.why == e.no_transformers()) throw Failure(Exit::device, e.name + ": " + u.why + "; use --device cpu");
    throw Failure(Exit::limits, "nothing in this suite has a form on the device; use --device cpu or auto" +
                                    lines(cpu_words(p.on_cpu, total, "would train")));
  }
  p.engines.clear();
  p.gpu = "none";
  return p;
}

}  // namespace odrpo::app
