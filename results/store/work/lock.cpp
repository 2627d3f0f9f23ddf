// Takes a lock by link(2), marks it with its owner's name and a heartbeat, and holds it by flock(2) where that exists.
#include "results/store/work/lock.hpp"

#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <system_error>

#include "kernels/shared/failure.hpp"
#include "kernels/system/host.hpp"

namespace odrpo::store {
namespace {

constexpr std::string_view head = "odrpo-bench lock 1\n", given_back = "odrpo-bench lock 1\nfree\n";
constexpr std::size_t longest = 4096;
constexpr const char* turn_end = "-turn.tmp";  ///< end of the name of a file that a process makes while it removes another's lock

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// Start time of a process in clock ticks; 0 if there is no such process.
std::uint64_t start_of(long long process) {
  const std::string line = first_line(("/proc/" + std::to_string(process) + "/stat").c_str());
  std::istringstream fields(line.substr(std::min(line.size(), line.rfind(')') + 1)));  // a program's name may contain anything, even ')'
  std::string field;
  for (int i = 0; i < 20; ++i) fields >> field;
  std::uint64_t ticks = 0;
  std::from_chars(field.data(), field.data() + field.size(), ticks);
  return ticks;
}

std::string user_name() {
  std::vector<char> room(4096);
  passwd entry{}, *found = nullptr;
  const uid_t id = ::geteuid();
  if (::getpwuid_r(id, &entry, room.data(), room.size(), &found) == 0 && found != nullptr) return entry.pw_name;
  return "uid " + std::to_string(id);
}

double seconds_of(const timespec& t) { return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec); }

std::string duration(double seconds) {
  const long long s = std::llround(std::max(seconds, 0.0));
  if (s < 120) return std::to_string(s) + " s";
  if (s < 7200) return std::to_string(s / 60) + " min";
  return std::to_string(s / 3600) + " h";
}

/// True if the file of this name is this open file.
bool is_at(const Folder& folder, const std::string& name, const File& file) {
  struct stat ours {
  }, now{};
  return file && ::fstat(file.number(), &ours) == 0 && ::fstatat(folder.number(), name.c_str(), &now, AT_SYMLINK_NOFOLLOW) == 0 &&
         same_file(ours, now);
}

std::string text_in(const File& file, const std::string& path) {
  std::string text(longest, '\0');
  const ssize_t count = read_some(file, text.data(), text.size(), 0);
  if (count < 0) fail_io("read", path, static_cast<int>(-count));
  text.resize(static_cast<std::size_t>(count));
  return text;
}

/// Decides whether a lock is held, by the text of its file, which its owner touched `age` seconds ago. `flocked` is the result of flock: 0
/// = no process of this machine holds it, -EWOULDBLOCK = one does, another error = flock does not work here.
LockState judge(const std::string& text, double age, int flocked, const LockRules& rules) {
  const LockOwner owner = LockOwner::read(text);
  LockState state;
  if (owner.process != 0)
    state.owner = "process " + std::to_string(owner.process) + " of " + one_line(owner.user) + " on " + one_line(owner.host) + ", since " +
                  one_line(owner.since) + " UTC, last sign of life " + duration(age) + " ago";
  const bool silent = age > rules.silence;
  if (flocked == -EWOULDBLOCK) return state.held = true, state;
  if (text == given_back) return state;
  if (owner.process == 0) {  // of an older program, cut by a power cut, or just being made without flock
    state.held = flocked != 0 && !silent, state.ahead = state.held && age < -rules.beat;
  } else if (!owner.boot.empty() && owner.boot == rules.self.boot) {
    if (flocked == 0) return state;  // its owner was killed
    if (owner.space == rules.self.space) return state.held = start_of(owner.process) == owner.started, state;
    state.held = true, state.silent = silent, state.ahead = age < -rules.beat;
  } else {
    const bool restarted = owner.host == rules.self.host && silent;  // this machine, or one that replaced it
    state.held = !restarted, state.silent = silent && !restarted, state.ahead = age < -rules.beat;
  }
  return state;
}

/// A name for a temporary file that no other process uses.
std::string name_beside(const std::string& name, const LockOwner& self) { return name + own_mark(self) + ".tmp"; }

}  // namespace

LockOwner LockOwner::self() {
  LockOwner me;
  utsname system{};
  if (::uname(&system) == 0) me.host = system.nodename;
  me.user = user_name();
  me.boot = first_line("/proc/sys/kernel/random/boot_id");
  me.space = process_space();
  me.process = ::getpid();
  me.started = start_of(me.process);
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &utc);
  me.since = text;
  return me;
}

std::string LockOwner::text() const {
  std::ostringstream out;
  out << head << "host " << one_line(host) << "\nuser " << one_line(user) << "\nprocess " << process << "\nstarted " << started << "\nboot "
      << boot << "\nspace " << space << "\nsince " << since << '\n';
  return out.str();
}

LockOwner LockOwner::read(std::string_view text) {
  LockOwner owner;
  if (!text.starts_with(head)) return owner;
  std::istringstream lines{std::string(text.substr(head.size()))};
  for (std::string line; std::getline(lines, line);) {
    const auto space = line.find(' ');
    if (space == std::string::npos) continue;
    const std::string key = line.substr(0, space), value = line.substr(space + 1);
    const auto number = [&](auto& to) { std::from_chars(value.data(), value.data() + value.size(), to); };
    if (key == "host") owner.host = value;
    else if (key == "user") owner.user = value;
    else if (key == "boot") owner.boot = value;
    else if (key == "space") owner.space = value;
    else if (key == "since") owner.since = value;
    else if (key == "process") number(owner.process);
    else if (key == "started") number(owner.started);
  }
  if (owner.since.empty() || !text.ends_with('\n')) owner.process = 0;  // the last line is missing
  return owner;
}

std::string own_mark(const LockOwner& self) {
  static std::atomic<unsigned> count{0};
  std::ostringstream all;
  all << self.host << self.boot << self.space << self.process << ' ' << self.started << ' ' << ++count;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016zx", std::hash<std::string>{}(all.str()));
  return std::string(mark_begin) + digits;
}

/// Measures for how long a lock's file has not changed, by this machine's clock.
class Lock::Watch {
 public:
  double seconds(const struct stat& now) {
    const auto time = std::chrono::steady_clock::now();
    if (!unchanged(seen_, now)) seen_ = now, since_ = time;
    return std::chrono::duration<double>(time - since_).count();
  }

 private:
  struct stat seen_ {};
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

Lock::Result Lock::take(const Folder& folder, const std::string& name, const LockRules& rules) {
  const auto began = std::chrono::steady_clock::now();
  Watch watch;
  for (int tries = 0;; ++tries) {
    bool again = false;
    const Result result = try_once(folder, name, rules, watch, again);
    const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    const bool watched = !rules.watches || !other_.ahead || spent > rules.silence + rules.patience;
    const bool enough = spent > rules.patience && watched && (!again || tries > 100);
    if (result != Result::taken || enough) return result;
    const bool watching = spent > rules.patience && !watched;
    if (watching && rules.stop != nullptr && *rules.stop)
      throw Failure(Exit::stopped, "stopped while it watched the lock " + quoted(folder.path_of(name)));
    ::usleep(watching ? static_cast<unsigned>(1e6 * std::min(1.0, rules.silence / 10)) : again ? 1000 : 20'000);
  }
}

/// One try of Lock::take() to get the lock, with the temporary files that it needs.
class Lock::Try {
 public:
  Try(const Folder& folder, const std::string& name, const LockRules& rules, Watch& watch)
      : folder_(folder), name_(name), candidate_(name_beside(name, rules.self)), rules_(rules), watch_(watch) {}
  ~Try() { remove(candidate_); }

  /// Takes the lock. Returns its file; nothing if another process holds it (`other` describes it) or if another try is needed (`again`).
  std::optional<File> take(LockState& other, bool& again) {
    make_candidate();
    int error = place();
    if (error == -EEXIST && is_at(folder_, name_, mine_)) error = 0;  // the link was made, but the answer was lost (network file system)
    if (error == -EEXIST) {
      if (!remove_dead(other, again)) return std::nullopt;
      error = place();
    }
    if (error == -EEXIST || error == -ENOENT) {  // another process was faster, or removed our file
      again = true;
      return std::nullopt;
    }
    if (error < 0) fail_io("lock", folder_.path_of(name_), -error);
    return std::move(mine_);
  }

 private:
  void remove(const std::string& file) const { folder_.system().unlink(folder_.number(), file.c_str(), 0); }
  int link(const std::string& from) const {
    return store::again([&] { return folder_.system().link(folder_.number(), from.c_str(), folder_.number(), name_.c_str()); });
  }
  int fill(const File& file) const { return write_all(file, rules_.self.text(), 0); }
  void make_candidate() {
    mine_ = make_file(folder_, candidate_);
    if (const int error = fill(mine_); error < 0) fail_io("write", folder_.path_of(candidate_), -error);
    folder_.system().flock(mine_.number());  // no other process knows this file yet
  }
  /// Gives our file the lock's name if no file has it. Returns 0, -EEXIST, or another error.
  int place() {
    const int error = link(candidate_);
    if (error != -EPERM && error != -EOPNOTSUPP && error != -ENOSYS && error != -EMLINK) return error;
    File made = open_file(folder_.system(), folder_.number(), name_, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);  // no hard links here
    if (!made) return made.number();
    folder_.system().flock(made.number());
    mine_ = std::move(made);
    const int filled = fill(mine_);
    return filled < 0 || is_at(folder_, name_, mine_) ? filled : -EEXIST;  // another process took the empty file for a released lock
  }
  /// Removes the lock of an owner that is dead or has released it. Returns false if there is no such lock. Only one process does so at a
  /// time (the one that made the -turn.tmp file), and it removes only the very file that it judged.
  bool remove_dead(LockState& other, bool& again) const {
    const std::string path = folder_.path_of(name_), turn = name_ + turn_end;
    const File mark = open_file(folder_.system(), folder_.number(), turn, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
    if (mark.number() == -EEXIST) {
      if (const auto its = file_at(folder_, turn); its && age_of(*its) > rules_.silence)  // left by a process that was killed here
        remove_if_unchanged(folder_, turn, *its, name_beside(name_, rules_.self));
      return again = true, false;
    }
    if (!mark) fail_io("write", folder_.path_of(turn), -mark.number());
    struct stat my_turn {};
    if (::fstat(mark.number(), &my_turn) != 0) fail_io("read", folder_.path_of(turn), errno);
    const Last last{[&] {
      try {
        remove_if_unchanged(folder_, turn, my_turn, name_beside(name_, rules_.self));
      } catch (const Failure&) {
        // the next process removes the file when it is old
      }
    }};
    const File theirs = open_file(folder_.system(), folder_.number(), name_, O_RDWR | O_NOFOLLOW);
    if (theirs.number() == -ENOENT) return again = true, false;
    if (!theirs) fail_io("write", path, -theirs.number());
    struct stat its {};
    if (::fstat(theirs.number(), &its) != 0) fail_io("read", path, errno);
    const double age = age_of(its), unmoved = watch_.seconds(its);
    other = judge(text_in(theirs, path), age < 0 && unmoved > rules_.silence ? unmoved : age, folder_.system().flock(theirs.number()), rules_);
    if (other.held) return false;
    remove_if_unchanged(folder_, name_, its, name_beside(name_, rules_.self));
    return true;
  }
  /// By how many seconds the file `its` was changed before our file. Both times come from the file system's clock, so machines need not agree.
  double age_of(const struct stat& its) const {
    struct stat my {};
    return ::fstat(mine_.number(), &my) == 0 ? seconds_of(my.st_mtim) - seconds_of(its.st_mtim) : 0;
  }
  struct Last {
    std::function<void()> call;
    ~Last() { call(); }
  };

  const Folder& folder_;
  const std::string &name_;
  const std::string candidate_;
  const LockRules& rules_;
  Watch& watch_;
  File mine_;
};

Lock::Result Lock::try_once(const Folder& folder, const std::string& name, const LockRules& rules, Watch& watch, bool& again) {
  const auto gone = [&] {
    struct stat info {};
    return ::fstat(folder.number(), &info) == 0 && info.st_nlink == 0;
  };
  try {
    if (gone()) return Result::gone;
    std::optional<File> mine = Try(folder, name, rules, watch).take(other_, again);
    if (!mine) return gone() ? Result::gone : Result::taken;
    hold(std::move(*mine), rules.beat);
    return Result::held;
  } catch (const Failure&) {
    if (gone()) return Result::gone;
    throw;
  }
}

void Lock::hold(File file, double beat) {
  file_ = std::move(file);
  done_ = false;
  try {
    heart_ = std::thread([this, number = file_.number(), beat] {
      std::unique_lock lock(mutex_);
      while (!released_.wait_for(lock, std::chrono::duration<double>(beat), [this] { return done_; })) ::futimens(number, nullptr);
    });
  } catch (const std::system_error&) {
    release();
    throw Failure(Exit::internal, "the system allows no thread to keep the lock");
  }
}

void Lock::release() {
  if (heart_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    released_.notify_all();
    heart_.join();
  }
  if (!file_) return;
  file_.system().resize(file_.number(), 0);
  write_all(file_, given_back, 0);
  file_.close();
}

void Lock::sync() const {
  if (!file_) return;
  if (const int error = again([&] { return file_.system().sync(file_.number()); }); error < 0) fail_io("sync", "the lock of the work folder", -error);
}

bool Lock::stands(const Folder& folder, const std::string& name) const { return is_at(folder, name, file_); }

LockState Lock::look(const Folder& folder, const std::string& name, const LockRules& rules) {
  const std::string path = folder.path_of(name);
  const File file = open_file(folder.system(), folder.number(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (file.number() == -ENOENT) return {};
  if (!file) fail_io("read", path, -file.number());
  struct stat info {};
  if (::fstat(file.number(), &info) != 0) fail_io("read", path, errno);
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return judge(text_in(file, path), seconds_of(now) - seconds_of(info.st_mtim), folder.system().flock(file.number()), rules);
}

}  // namespace odrpo::store
