// Ends processes that outlive a gate's children: adopts, kills and reaps them. Also runs commands for what they print.
#include "gate/measure/child.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <thread>

#include "kernels/shared/utf8.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {
namespace {

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;  // a process may end while it is read: << then stops, an iterator would throw
  text << file.rdbuf();
  return text.str();
}

/// The parent of a process: in /proc/PID/stat the second word behind the name in brackets. 0 if the process has ended.
pid_t parent_of(pid_t pid) {
  const std::string stat = file_text(fmt::format("/proc/{}/stat", pid));
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos || stat.size() < name_end + 5) return 0;
  pid_t parent = 0;
  std::from_chars(stat.data() + name_end + 4, stat.data() + stat.size(), parent);
  return parent;
}

std::vector<pid_t> own_children() {
  std::vector<pid_t> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc"), closedir);
  if (folder == nullptr) return out;
  const pid_t self = getpid();
  while (const dirent* entry = readdir(folder.get())) {
    const auto pid = number_from<pid_t>(entry->d_name);
    if (pid && parent_of(*pid) == self) out.push_back(*pid);
  }
  return out;
}

/// "sleep 100 (process 4711)"
std::string process_text(pid_t pid) {
  std::string words = file_text(fmt::format("/proc/{}/cmdline", pid));
  while (!words.empty() && words.back() == '\0') words.pop_back();
  std::replace(words.begin(), words.end(), '\0', ' ');
  return fmt::format("\"{}\" (process {})", printable_line(std::string_view(words).substr(0, std::min<std::size_t>(words.size(), 80))),
                     pid);
}

/// Children but those that this process had before it became a gate (`bash -c 'server & exec odrpo-bench gate …'`).
std::vector<pid_t> children_but(const std::vector<pid_t>& inherited) {
  std::vector<pid_t> out = own_children();
  std::erase_if(out, [&](pid_t pid) { return std::find(inherited.begin(), inherited.end(), pid) != inherited.end(); });
  return out;
}

/// Reaps ended children. True if a child is left that was not inherited.
bool reap(const std::vector<pid_t>& inherited) {
  while (true) {
    const pid_t got = waitpid(-1, nullptr, WNOHANG);
    if (got > 0 || (got < 0 && errno == EINTR)) continue;
    if (got < 0 || inherited.empty()) return got == 0;
    return !children_but(inherited).empty();
  }
}

/// Kills children until none is left, for a few seconds at most. Returns at most three of them as text.
std::vector<std::string> end_children(const std::vector<pid_t>& inherited) {
  std::vector<std::string> out;
  std::vector<pid_t> seen;
  for (int tries = 0; tries < 2000 && reap(inherited); ++tries) {
    for (const pid_t pid : children_but(inherited)) {
      if (std::find(seen.begin(), seen.end(), pid) == seen.end()) {
        seen.push_back(pid);
        if (out.size() < 3) out.push_back(process_text(pid));
      }
      kill(pid, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return out;
}

}  // namespace

ChildKeeper::ChildKeeper() : inherited_(own_children()) {
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) fail(Exit::io, "cannot adopt orphaned processes: {}", std::strerror(errno));
}

ChildKeeper::~ChildKeeper() {
  end_children(inherited_);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

void ChildKeeper::no_orphans(const std::string& who) {
  bool left_over = reap(inherited_);
  for (int i = 0; i < 100 && left_over; ++i) {  // helpers of a process may end a moment after it
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    left_over = reap(inherited_);
  }
  if (!left_over) return;
  const std::vector<std::string> left = end_children(inherited_);
  if (left.empty()) return;
  std::string names;
  for (const auto& name : left) names += (names.empty() ? "" : ", ") + name;
  fail(Exit::runs_failed, "{}: left running when it ended: {}; that would disturb what is measured next", who, names);
}

RunOutput run_output(const std::string& flag, const std::vector<std::string>& words, const ChildRules& rules, ChildKeeper& keeper) {
  constexpr std::size_t most_output = std::size_t{1} << 16;
  const Command command = gate_command(flag, words);
  RunOutput out;
  {
    Process process(words[0], command, rules);
    const ProcessEnd end = process.finish(
        [&](std::string_view bytes) {
          out.output += bytes;
          if (out.output.size() > 2 * most_output) out.output.erase(0, out.output.size() - most_output);
        },
        words[0]);
    out.good = end.good();
    out.said = end.text() + process.last_words();
  }
  keeper.no_orphans(words[0]);
  return out;
}

}  // namespace odrpo
