// Counts that need no clock: what this host has for them, the processor's counter, and a library that counts allocations.
#include "gate/measure/counts.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "kernels/shared/failure.hpp"
#include "results/stats/statistics.hpp"

namespace odrpo {
namespace {

namespace fs = std::filesystem;
constexpr const char* library_name = "libodrpo-count-allocations.so";

/// Beside the program, as it is built; or where it is installed.
std::string find_library() {
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& folder : {here, here.parent_path() / "lib" / "odrpo-bench"})
    if (fs::is_regular_file(folder / library_name, error)) return (folder / library_name).string();
  return "";
}

std::string find_valgrind() {
  try {
    return find_command("valgrind", {"valgrind"}).file;
  } catch (const Failure&) {
    return "";
  }
}

/// Within 0.1 % of their middle, or within the noise; of five one may be away: what a library caches or grows now and then.
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
    if (wish == CountWish::perf) throw Failure(Exit::usage, fmt::format("--counts perf: this host has no such counter ({})", why));
  }
  tools.valgrind = find_valgrind();
  tools.callgrind_seconds = wish == CountWish::automatic ? 60 : 0;
  if (!tools.valgrind.empty()) return tools;
  if (wish == CountWish::callgrind) throw Failure(Exit::usage, "--counts callgrind: there is no program \"valgrind\" in PATH");
  tools.no_instructions = fmt::format("{}; no valgrind in PATH", why);
  return tools;
}

LiveCounters::LiveCounters(const CountTools& tools) : tools_(tools) {
  if (tools.allocations_library.empty()) return;
  page_fd_ = memfd_create("odrpo-count", MFD_CLOEXEC);
  if (page_fd_ < 0 || ftruncate(page_fd_, 4096) != 0) throw Failure(Exit::io, fmt::format("cannot share a page: {}", std::strerror(errno)));
  void* const page = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, page_fd_, 0);
  if (page == MAP_FAILED) throw Failure(Exit::io, fmt::format("cannot share a page: {}", std::strerror(errno)));
  page_ = static_cast<const volatile std::uint64_t*>(page);
}

LiveCounters::~LiveCounters() {
  if (page_ != nullptr) munmap(const_cast<std::uint64_t*>(page_), 4096);
  if (page_fd_ >= 0) close(page_fd_);
  if (event_ >= 0) close(event_);
}

ChildCommand LiveCounters::counted(ChildCommand command) const {
  if (page_fd_ < 0) return command;
  bool preloads = false;
  for (auto& variable : command.environment)
    if (variable.starts_with("LD_PRELOAD=")) variable += ":" + tools_.allocations_library, preloads = true;
  if (!preloads) command.environment.push_back("LD_PRELOAD=" + tools_.allocations_library);
  command.environment.push_back(fmt::format("ODRPO_COUNT_ALLOCATIONS={}", page_fd_));
  return command;
}

ChildStart LiveCounters::start(ChildStart start) {
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
          std::max(quartiles(base).median, 0.0),  // a difference of totals, which may vary by some
          std::max(quartiles(other).median, 0.0),
          agree(base, noise) && agree(other, noise),
          {*least, *other_least},
          {*most, *other_most}};
}

void add_count(std::vector<GateCount>& to, const char* what, const char* by, const std::vector<double>& base,
               const std::vector<double>& other) {
  if (!base.empty() && !other.empty()) to.push_back(count_of(what, by, base, other));
}

}  // namespace odrpo
