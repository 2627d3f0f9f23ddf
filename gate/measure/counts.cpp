// Counts instructions and allocations by the processor's counter, a preloaded library, and callgrind.
#include "gate/measure/counts.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>

#include "gate/measure/child.hpp"
#include "kernels/system/fail.hpp"
#include "results/stats/statistics.hpp"

namespace odrpo {
namespace {

namespace fs = std::filesystem;
constexpr const char* library_name = "libodrpo-count-allocations.so";

/// The library beside the program, as it is built, or where it is installed.
std::string find_library() {
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& folder : {here, here.parent_path() / "lib" / "odrpo-bench"})
    if (fs::is_regular_file(folder / library_name, error)) return (folder / library_name).string();
  return "";
}

/// True if totals are within 0.1 % of their median or within the noise. One of five may differ: libraries cache or grow now and then.
bool agree(const std::vector<double>& totals, double noise) {
  const double middle = quartiles(totals).median;
  const auto away =
      std::count_if(totals.begin(), totals.end(), [&](double x) { return std::abs(x - middle) > std::max(1e-3 * std::abs(middle), noise); });
  return 5 * away <= static_cast<std::ptrdiff_t>(totals.size());
}

}  // namespace

int open_event(unsigned type, unsigned long long config, pid_t pid) {
  perf_event_attr event{};
  event.size = sizeof event;
  event.type = type;
  event.config = config;
  event.disabled = 1;
  event.enable_on_exec = 1;
  event.inherit = 1;
  event.exclude_kernel = 1;
  event.exclude_hv = 1;
  return static_cast<int>(syscall(SYS_perf_event_open, &event, pid, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

CountTools find_count_tools(CountWish wish) {
  CountTools tools;
  if (wish == CountWish::off) {
    tools.no_instructions = tools.no_allocations = "--counts off";
    return tools;
  }
  tools.allocations_library = find_library();
  if (tools.allocations_library.empty()) tools.no_allocations = fmt::format("{} is not beside the program", library_name);
  std::string why;
  if (wish != CountWish::callgrind) {
    const int event = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0);
    why = fmt::format("perf events: {}", std::strerror(errno));
    tools.perf = event >= 0;
    if (event >= 0) close(event);
    if (tools.perf) return tools;
    if (wish == CountWish::perf) fail(Exit::usage, "--counts perf: this host has no such counter ({})", why);
  }
  tools.valgrind = find_program("valgrind");
  tools.callgrind_seconds = wish == CountWish::automatic ? 60 : 0;
  if (!tools.valgrind.empty()) return tools;
  if (wish == CountWish::callgrind) fail(Exit::usage, "--counts callgrind: there is no program \"valgrind\" in PATH");
  tools.no_instructions = fmt::format("{}; no valgrind in PATH", why);
  return tools;
}

LiveCounters::LiveCounters(const CountTools& tools) : tools_(tools) {
  if (tools.allocations_library.empty()) return;
  page_fd_ = memfd_create("odrpo-count", MFD_CLOEXEC);
  if (page_fd_ < 0 || ftruncate(page_fd_, 4096) != 0) fail(Exit::io, "cannot share a page: {}", std::strerror(errno));
  void* const page = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, page_fd_, 0);
  if (page == MAP_FAILED) fail(Exit::io, "cannot share a page: {}", std::strerror(errno));
  page_ = static_cast<const volatile std::uint64_t*>(page);
}

LiveCounters::~LiveCounters() {
  if (page_ != nullptr) munmap(const_cast<std::uint64_t*>(page_), 4096);
  if (page_fd_ >= 0) close(page_fd_);
  if (event_ >= 0) close(event_);
}

Command LiveCounters::counted(Command command) const {
  if (page_fd_ < 0) return command;
  bool preloads = false;
  for (auto& variable : command.environment)
    if (variable.starts_with("LD_PRELOAD=")) variable += ":" + tools_.allocations_library, preloads = true;
  if (!preloads) command.environment.push_back("LD_PRELOAD=" + tools_.allocations_library);
  command.environment.push_back(fmt::format("ODRPO_COUNT_ALLOCATIONS={}", page_fd_));
  return command;
}

ProcessStart LiveCounters::start(ProcessStart start) {
  if (page_fd_ >= 0) start.inherited.push_back(page_fd_);
  if (tools_.perf) start.before_exec = [this](pid_t pid) { event_ = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, pid); };
  return start;
}

CountTotals LiveCounters::read() const {
  CountTotals out;
  std::uint64_t value = 0;
  if (event_ >= 0 && ::read(event_, &value, sizeof value) == sizeof value) out.instructions = static_cast<double>(value);
  if (page_ != nullptr && page_[0] == 1) out.allocations = static_cast<double>(page_[1]);
  return out;
}

Counts no_counts(const CountTools& tools, std::size_t cases) {
  const auto or_else = [](const std::string& why, const char* other) { return why.empty() ? std::string(other) : why; };
  return {std::vector<std::vector<GateCount>>(cases), or_else(tools.no_instructions, "they could not be counted"),
          or_else(tools.no_allocations, "the program does not load the library that counts them, as one that is linked statically")};
}

GateCount count_of(const char* what, const char* by, const std::vector<double>& base, const std::vector<double>& other) {
  const auto [least, most] = std::minmax_element(base.begin(), base.end());
  const auto [other_least, other_most] = std::minmax_element(other.begin(), other.end());
  const double noise = count_noise(what);
  return {what,
          by,
          std::max(quartiles(base).median, 0.0),  // a difference of totals that vary a little may be below 0
          std::max(quartiles(other).median, 0.0),
          agree(base, noise) && agree(other, noise),
          {*least, *other_least},
          {*most, *other_most}};
}

void add_count(std::vector<GateCount>& to, const char* what, const char* by, const std::vector<double>& base,
               const std::vector<double>& other) {
  if (!base.empty() && !other.empty()) to.push_back(count_of(what, by, base, other));
}

// Instructions counted by Valgrind's tool callgrind.

namespace {

namespace fs = std::filesystem;
constexpr double slower_under_valgrind = 100;  // deadlines are this many times longer there
constexpr double most_waiting = 10;            // wall over CPU time; wall time beyond it is charged too: a process may hang
constexpr const char* no_time = "not within a minute of CPU time, which is what --counts auto gives to callgrind";

/// Adds to `spent` the CPU time of the processes that end while it lives, or a part of the wall time where they mostly wait.
class Meter {
 public:
  explicit Meter(double& spent) : spent_(spent) {}
  ~Meter() {
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    spent_ += std::max(ended_seconds() - cpu_, wall / most_waiting);
  }
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

 private:
  /// User and system time of all children that have been waited for.
  static double ended_seconds() {
    rusage used{};
    getrusage(RUSAGE_CHILDREN, &used);
    return cpu_seconds(used);
  }
  double& spent_;
  const double cpu_ = ended_seconds();
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// "==12== Collected : 228581" of a log of callgrind; nothing where it has none.
std::optional<double> collected(const fs::path& log) {
  std::ifstream file(log);
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t at = line.find("Collected : ");
    if (at == std::string::npos) continue;
    const double value = std::strtod(line.c_str() + at + std::strlen("Collected : "), nullptr);
    if (value > 0) return value;
  }
  return std::nullopt;
}

}  // namespace

double Callgrind::seconds_left() const {
  return tools_.callgrind_seconds == 0 ? std::numeric_limits<double>::infinity() : tools_.callgrind_seconds - spent_;
}

bool Callgrind::wanted() {
  if (tools_.valgrind.empty()) return false;
  if (seconds_left() > 0) return true;
  if (why_not_.empty()) why_not_ = no_time;
  return false;
}

void Callgrind::count(std::vector<GateCount>& to, const std::function<double(Side)>& of_side) {
  std::vector<double> of[2];
  try {
    for (const Side side : commands_.programs())
      for (int i = 0; i < 2; ++i) of[side].push_back(of_side(side));
  } catch (const Failure& failure) {
    if (failure.code != Exit::runs_failed && failure.code != Exit::io) throw;
    const std::string what = fmt::format("under callgrind, {}", failure.what());
    if (tools_.callgrind_seconds == 0 && dynamic_cast<const RefusedUnderTool*>(&failure) == nullptr)
      throw Failure(failure.code, what + "; --counts off measures without it");
    if (why_not_.empty()) why_not_ = seconds_left() > 0 ? what : no_time;
    return;
  }
  for_one_alone(commands_, of);
  add_count(to, "instructions", by_callgrind, of[baseline], of[candidate]);
}

double Callgrind::total(const Command& command, const std::function<void(const Command&, const ChildRules&)>& use) {
  const TemporaryFolder folder;
  Command under = command;
  under.file = tools_.valgrind;
  under.arguments = {"valgrind",
                     "--tool=callgrind",
                     "--trace-children=yes",
                     "--callgrind-out-file=/dev/null",
                     "--log-file=" + (folder.path / "%p.log").string(),
                     command.file};
  under.arguments.insert(under.arguments.end(), command.arguments.begin() + 1, command.arguments.end());
  ChildRules rules = commands_.rules;
  rules.cpu_seconds = seconds_left();
  rules.deadline = std::min(slower_under_valgrind * rules.deadline, most_waiting * std::max(rules.cpu_seconds, 0.001));
  {
    const Meter meter(spent_);
    use(under, rules);
  }
  double total = 0;
  for (const auto& entry : fs::directory_iterator(folder.path)) total += collected(entry.path()).value_or(0);
  if (total == 0) fail(Exit::runs_failed, "it has counted nothing");
  return total;
}

void Callgrind::say_why_not(std::string& why_not) const {
  if (!why_not_.empty()) why_not = why_not_;
}

}  // namespace odrpo
