// Instructions counted by Valgrind's tool callgrind.
#include "gate/measure/callgrind.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>

#include "gate/measure/temporary_folder.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo {
namespace {

namespace fs = std::filesystem;
constexpr double slower_under_valgrind = 100;  // by which deadlines are longer there
constexpr double most_waiting = 10;            // wall over CPU time: more is charged too, else a process that hangs costs nothing
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
    const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
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
    if (tools_.callgrind_seconds == 0) throw Failure(failure.code, what + "; --counts off measures without it");
    if (why_not_.empty()) why_not_ = seconds_left() > 0 ? what : no_time;
    return;
  }
  for_one_alone(commands_, of);
  add_count(to, "instructions", by_callgrind, of[baseline], of[candidate]);
}

double Callgrind::total(const ChildCommand& command, const std::function<void(const ChildCommand&, const ChildRules&)>& use) {
  const TemporaryFolder folder;
  ChildCommand under = command;
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
  if (total == 0) throw Failure(Exit::runs_failed, "it has counted nothing");
  return total;
}

void Callgrind::say_why_not(std::string& why_not) const {
  if (!why_not_.empty()) why_not = why_not_;
}

}  // namespace odrpo
