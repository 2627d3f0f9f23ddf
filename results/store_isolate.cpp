// Reads a file in a child process: HDF5 1.10 crashes or hangs on some damaged files, and that must not take this program along.
// The child reads, packs the result into bytes and sends them through a pipe; the parent never opens the file.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <new>
#include <type_traits>

#include "kernels/failure.hpp"
#include "results/store_files.hpp"
#include "results/store_layout.hpp"

namespace odrpo::store {
namespace {

/// Appends values to bytes. Pack and Unpack share one description of the fields (exchange, below).
struct Pack {
  std::string bytes;
  void raw(const void* data, std::size_t size) { bytes.append(static_cast<const char*>(data), size); }
  std::size_t length(std::size_t n) {
    raw(&n, sizeof n);
    return n;
  }
};

/// Takes values from bytes that may be garbage (the child's memory may have been overwritten); throws Hdf5Error at the end of them.
struct Unpack {
  std::string_view bytes;
  void raw(void* data, std::size_t size) {
    if (size > bytes.size()) throw Hdf5Error("the reader broke off");
    if (size > 0) std::memcpy(data, bytes.data(), size);
    bytes.remove_prefix(size);
  }
  std::size_t length(std::size_t) {
    std::size_t n = 0;
    raw(&n, sizeof n);
    if (n > bytes.size()) throw Hdf5Error("the reader broke off");
    return n;
  }
};

template <class A, class T>
requires std::is_arithmetic_v<T>
void exchange(A& a, T& value) { a.raw(&value, sizeof value); }
template <class A>
void exchange(A& a, bool& flag) {
  unsigned char byte = flag;
  a.raw(&byte, 1);
  flag = byte != 0;
}
template <class A>
void exchange(A& a, std::string& text) {
  text.resize(a.length(text.size()));
  a.raw(text.data(), text.size());
}
template <class A, class T>
void exchange(A& a, std::vector<T>& items);
template <class A, class T, class U>
void exchange(A& a, std::pair<T, U>& pair) {
  exchange(a, pair.first);
  exchange(a, pair.second);
}
template <class A>
void exchange(A& a, AxisValue& value) {
  std::uint8_t kind = static_cast<std::uint8_t>(value.index());
  exchange(a, kind);
  if (value.index() != kind) {
    if (kind == 1) value = 0.0;
    if (kind == 2) value = std::string();
  }
  std::visit([&](auto& held) { exchange(a, held); }, value);
}
template <class A>
void exchange(A& a, Final& final_value) {
  exchange(a, final_value.name);
  exchange(a, final_value.value);
}
template <class A>
void exchange(A& a, Curve& curve) {
  exchange(a, curve.name);
  exchange(a, curve.values);
}
template <class A>
void exchange(A& a, Column& column) {
  exchange(a, column.name);
  exchange(a, column.numeric);
  exchange(a, column.number);
  exchange(a, column.text);
}
template <class A>
void exchange(A& a, RunRecord& run) {
  for (std::string* text : {&run.id, &run.key, &run.env, &run.rater, &run.policy, &run.estimator, &run.error}) exchange(a, *text);
  exchange(a, run.votes);
  exchange(a, run.seed);
  exchange(a, run.axes);
  bool failed = run.status == RunStatus::failed;
  exchange(a, failed);
  run.status = failed ? RunStatus::failed : RunStatus::ok;
  exchange(a, run.finals);
  exchange(a, run.step);
  exchange(a, run.curves);
  exchange(a, run.seconds);
  exchange(a, run.step_time_median);
}
template <class A>
void exchange(A& a, ResultFile& file) {
  for (std::string* text : {&file.suite, &file.version, &file.status, &file.digest}) exchange(a, *text);
  exchange(a, file.columns);
  exchange(a, file.runs);
  exchange(a, file.provenance);
}
template <class A, class T>
void exchange(A& a, std::vector<T>& items) {
  items.resize(a.length(items.size()));
  if constexpr (std::is_arithmetic_v<T>) {
    a.raw(items.data(), items.size() * sizeof(T));
  } else {
    for (T& item : items) exchange(a, item);
  }
}

/// What the child sends: 0 and the file, or an exit code and a message.
template <class A>
void exchange_answer(A& a, int& code, std::string& text, ResultFile& file) {
  exchange(a, code);
  exchange(a, text);
  if (code == 0) exchange(a, file);
}

void limit(int what, unsigned long long value) {
  rlimit bound{};
  ::getrlimit(static_cast<__rlimit_resource_t>(what), &bound);
  if (value < bound.rlim_cur) bound.rlim_cur = value;
  ::setrlimit(static_cast<__rlimit_resource_t>(what), &bound);
}

/// A terminal sends these to the whole process group. What they mean is the parent's to decide: it asks its suite to stop, or dies.
constexpr int for_the_parent[] = {SIGINT, SIGTERM, SIGHUP};

/// Starts a process as fork() does; in the child those signals are ignored, and no handler of the parent ever runs there.
pid_t start_reader() {
  sigset_t held, before;
  ::sigemptyset(&held);
  for (int s : for_the_parent) ::sigaddset(&held, s);
  ::pthread_sigmask(SIG_BLOCK, &held, &before);
  const pid_t parent = ::getpid(), reader = ::fork();
  const int error = errno;
  if (reader == 0) {
    for (int s : for_the_parent) ::signal(s, SIG_IGN);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody waits for the answer then
    if (::getppid() != parent) ::_exit(1);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return reader;
}

using Read = ResultFile(const std::string& path, bool with_curves, std::string* text);

/// The child's life: no messages, no core file, bounded memory and CPU time; never returns.
[[noreturn]] void child(int out, Read* read, const std::string& path, bool with_curves) {
  out = ::dup2(out, 3) == 3 ? 3 : out;
  ::close_range(static_cast<unsigned>(out) + 1, ~0u, 0);  // a lock must not outlive the process that took it
  const int nowhere = ::open("/dev/null", O_RDWR);
  if (nowhere >= 0) {
    ::dup2(nowhere, 1);
    ::dup2(nowhere, 2);
    ::close(nowhere);  // few descriptors may be left
  }
  ::setenv("LIBC_FATAL_STDERR_", "1", 1);  // the C library's last words go there too, not to the terminal
  for (int s : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE}) ::signal(s, SIG_DFL);
  struct stat info {};
  ::stat(path.c_str(), &info);
  unsigned long long pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, 3 + static_cast<unsigned long long>(info.st_size) / (256 * 1024));
  limit(RLIMIT_AS, pages * static_cast<unsigned long long>(::sysconf(_SC_PAGESIZE)) + 3 * max_bytes);
  int code = 0;
  std::string text;
  ResultFile file;
  try {
    file = read(path, with_curves, &text);
  } catch (const Failure& failure) {
    code = static_cast<int>(failure.code);
    text = failure.what();
  } catch (const std::bad_alloc&) {
    code = static_cast<int>(Exit::limits);
    text = "out of memory while reading " + quoted(path);
  } catch (const std::exception& error) {
    code = static_cast<int>(Exit::bad_input);
    text = quoted(path) + " is not a result file of odrpo-bench, or is damaged: " + one_line(error.what());
  }
  Pack pack;
  exchange_answer(pack, code, text, file);
  for (std::string_view left = pack.bytes; !left.empty();) {
    const ssize_t count = ::write(out, left.data(), left.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) ::_exit(1);
    left.remove_prefix(static_cast<std::size_t>(count));
  }
  ::_exit(0);
}

/// What `read` returns, run in a child process; `answer` (may be null) receives its text.
ResultFile in_child(Read* read, const std::string& path, bool with_curves, std::string* answer) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail_io("make a pipe to read", path, errno);
  const pid_t reader = start_reader();
  if (reader < 0) {
    const int error = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    fail_io("start a process to read", path, error);
  }
  if (reader == 0) child(ends[1], read, path, with_curves);
  ::close(ends[1]);
  std::string bytes;
  for (std::string block(1 << 20, '\0');;) {
    const ssize_t count = ::read(ends[0], block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    bytes.append(block, 0, static_cast<std::size_t>(count));
  }
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(reader, &status, 0) < 0 && errno == EINTR) {
  }
  const std::string refused = quoted(path) + " is not a result file of odrpo-bench, or is damaged: ";
  const int death = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (death == SIGKILL || std::find(std::begin(for_the_parent), std::end(for_the_parent), death) != std::end(for_the_parent))
    throw Failure(Exit::io, "cannot read " + quoted(path) + ": the process that read it was ended from outside (signal " +
                                std::to_string(death) + ")");  // somebody's command or a lack of memory: nothing about the file
  if (death != 0)
    throw Failure(Exit::bad_input, refused + (death == SIGXCPU ? "the HDF5 library hung on it" : "the HDF5 library crashed on it"));
  int code = 0;
  std::string text;
  ResultFile file;
  try {
    Unpack unpack{bytes};
    exchange_answer(unpack, code, text, file);
  } catch (const std::exception& error) {
    throw Failure(Exit::bad_input, refused + error.what());
  }
  if (code != 0) throw Failure(static_cast<Exit>(code), text);
  if (answer) *answer = text;
  return file;
}

}  // namespace

ResultFile read_isolated(const std::string& path, bool with_curves, std::string* fingerprint) {
  return in_child(read_file, path, with_curves, fingerprint);
}

bool is_foreign(const std::string& path) {
  std::string whose;
  try {
    in_child(read_owner, path, false, &whose);
  } catch (const Failure& failure) {
    if (failure.code != Exit::bad_input) throw;
    return false;  // HDF5 crashed on it
  }
  return whose == foreign;
}

}  // namespace odrpo::store

namespace odrpo {

ResultFile read_results(const std::string& path, bool with_curves) { return store::read_isolated(path, with_curves, nullptr); }

}  // namespace odrpo
