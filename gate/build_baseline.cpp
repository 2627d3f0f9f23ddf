// Builds the baseline of `gate --build-baseline REF`: git finds and checks out the commit, CMake builds it.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "gate/conditions.hpp"
#include "gate/measure/child.hpp"
#include "gate/prepare.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/fail.hpp"

namespace odrpo {
namespace {

namespace fs = std::filesystem;
constexpr double git_seconds = 300, build_seconds = 2 * 3600;

/// Starts commands of one work tree, one after the other.
class Commands {
 public:
  Commands(const std::atomic<bool>& stop, ChildKeeper& keeper) : stop_(stop), keeper_(keeper) {}

  RunOutput run(const std::vector<std::string>& words, double seconds) {
    return run_output("--build-baseline", words, {seconds, &stop_}, keeper_);
  }

  /// The only line that git prints; empty where it fails.
  std::string git_line(std::vector<std::string> words) {
    words.insert(words.begin(), "git");
    const RunOutput done = run(words, git_seconds);
    return done.good ? done.output.substr(0, std::min(done.output.find('\n'), done.output.size())) : "";
  }

  void must(const std::vector<std::string>& words, double seconds) {
    const RunOutput done = run(words, seconds);
    if (done.good) return;
    std::string end = done.output.substr(done.output.size() - std::min<std::size_t>(done.output.size(), 600));
    for (char& c : end)
      if (c == '\n') c = ' ';
    fail(Exit::runs_failed, "--build-baseline: \"{}\" ended with {}{}", joined(words, {}, " "), done.said,
         end.empty() ? "" : "; its stdout ends: " + end);
  }

 private:
  const std::atomic<bool>& stop_;
  ChildKeeper& keeper_;
};

/// Locks a folder: one gate at a time builds there. The system releases the lock when this process ends.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    const std::string path = (folder / "lock").string();
    file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file_ < 0) fail(Exit::io, "--build-baseline: cannot write '{}': {}", path, std::strerror(errno));
    if (flock(file_, LOCK_EX | LOCK_NB) == 0) return;
    close(file_);
    fail(Exit::io, "--build-baseline: another gate builds in '{}'", folder.string());
  }
  ~FolderLock() { close(file_); }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int file_;
};

/// Makes `source` a work tree of that commit, without anything else.
void check_out(Commands& commands, const std::string& root, const std::string& source, const std::string& commit) {
  std::error_code error;
  // in a folder that is no work tree, git would answer for the work tree around it
  const bool there = fs::exists(source + "/.git", error) &&
                     fs::equivalent(commands.git_line({"-C", source, "rev-parse", "--show-toplevel"}), source, error);
  if (!there) {
    fs::remove_all(source, error);
    commands.must({"git", "-C", root, "worktree", "add", "--force", "--force", "--detach", source, commit}, git_seconds);
  }
  const std::string git_folder = commands.git_line({"-C", source, "rev-parse", "--absolute-git-dir"});
  if (!git_folder.empty()) fs::remove(git_folder + "/index.lock", error);  // left by a git that was killed: no other git works here
  const RunOutput changes = commands.run({"git", "-C", source, "status", "--porcelain", "--untracked-files=all"}, git_seconds);
  const bool whole = changes.good && changes.output.empty();
  if (whole && commands.git_line({"-C", source, "rev-parse", "--verify", "HEAD^{commit}"}) == commit) return;
  commands.must({"git", "-C", source, "reset", "--quiet", "--hard", commit}, git_seconds);
  commands.must({"git", "-C", source, "clean", "--quiet", "-ffd"}, git_seconds);
}

}  // namespace

BuiltBaseline build_baseline(const std::string& reference, const std::atomic<bool>& stop, ChildKeeper& keeper,
                             const std::function<void(const std::string&)>& tell) {
  Commands commands(stop, keeper);
  const auto refuse = [](const std::string& text) { throw Failure(Exit::usage, "--build-baseline: " + text); };
  const std::string root = commands.git_line({"rev-parse", "--show-toplevel"});
  if (root.empty()) refuse("the current folder is in no git work tree");
  const std::string head = commands.git_line({"-C", root, "rev-parse", "--verify", "HEAD^{commit}"});
  if (head.empty()) refuse("nothing is checked out yet");
  const std::string asked =
      commands.git_line({"-C", root, "rev-parse", "--verify", "--quiet", "--end-of-options", reference + "^{commit}"});
  if (asked.empty() || asked[0] == '^') refuse(fmt::format("there is no commit \"{}\"", printable_line(reference)));
  const std::string base = commands.git_line({"-C", root, "merge-base", asked, head});
  if (base.empty())
    refuse(fmt::format("\"{}\" and the checked out commit have no common ancestor here (a shallow clone has none)",
                       printable_line(reference)));

  const fs::path folder = fs::path(root) / "build" / "baseline" / base.substr(0, 12), source = folder / "source", build = folder / "build";
  const BuiltBaseline built{(build / "odrpo-bench").string(), base, base == head};
  const FolderLock lock(folder);
  tell(fmt::format("checking out {}", base.substr(0, 12)));
  check_out(commands, root, source.string(), base);
  tell(fmt::format("building {}", base.substr(0, 12)));
  commands.must({"cmake", "-S", source.string(), "-B", build.string(), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DODRPO_TESTS=OFF",
                 "-DODRPO_BENCH=ON"},
                build_seconds);
  commands.must({"cmake", "--build", build.string()}, build_seconds);
  if (!fs::exists(built.program)) fail(Exit::runs_failed, "--build-baseline: the build has made no odrpo-bench");
  return built;
}

void check_equal_builds(const std::string& one, const std::string& other, const std::atomic<bool>& stop, ChildKeeper& keeper) {
  const auto facts_of = [&](const std::string& program) { return conditions_of_build(program, {git_seconds, &stop}, keeper); };
  const std::vector<Condition> a = facts_of(one), b = facts_of(other);
  if (a.empty() || b.empty()) return;
  const std::string differ = differing_conditions(a, b, {"of the baseline", "of the candidate"}, false);
  if (!differ.empty()) throw Failure(Exit::no_baseline, "--build-baseline: the two builds cannot be compared" + differ);
}

}  // namespace odrpo
