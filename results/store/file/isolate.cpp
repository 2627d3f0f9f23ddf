// Runs a reader in a child process under limits, and receives the frames that it sends.
#include "results/store/file/isolate.hpp"

#include <fcntl.h>
#include <poll.h>
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
#include <optional>

#include "kernels/system/fail.hpp"
#include "kernels/system/output_file.hpp"
#include "kernels/system/process.hpp"
#include "kernels/system/signals.hpp"
#include "results/store/file/pack.hpp"

namespace odrpo::store {
namespace {

// Hint for messages that memory may be lacking, if this shell limits it: HDF5 then crashes, or the dynamic loader ends the process.
std::string memory_hint() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "";
  return " (or lacks memory: this shell allows " + std::to_string(limit.rlim_cur >> 20) + " MiB)";
}

/// What begins each frame in the pipe: its kind, and the number of bytes that follow.
enum class Kind : unsigned char { data, done, failure };
struct FrameHead {
  std::uint64_t size = 0;
  Kind kind = Kind::data;
};
constexpr std::uint64_t largest_frame = std::uint64_t{64} << 20;

void limit(int what, unsigned long long value) {
  rlimit bound{};
  ::getrlimit(static_cast<__rlimit_resource_t>(what), &bound);
  if (value < bound.rlim_cur) bound.rlim_cur = value;
  ::setrlimit(static_cast<__rlimit_resource_t>(what), &bound);
}

/// Seconds of CPU time that reading a file of `size` bytes may take.
double seconds_allowed(const ReadLimits& limits, std::uint64_t size) {
  return limits.seconds > 0 ? limits.seconds : 2 + 10 * static_cast<double>(size) / 1e8;
}

/// Reads `size` bytes. Returns false at the end of the pipe. Failure `io`; Failure `stopped` once `stop` is set.
bool read_from(int pipe, void* data, std::size_t size, const std::atomic<bool>* stop) {
  constexpr int look_ms = 100;
  for (char* to = static_cast<char*>(data); size > 0;) {
    pollfd there{pipe, POLLIN, 0};
    while (stop != nullptr) {
      if (*stop) fail(Exit::stopped, "stopped");
      if (::poll(&there, 1, look_ms) > 0) break;
    }
    const ssize_t count = ::read(pipe, to, size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_io("read from", "the process that reads a file", errno);
    if (count == 0) return false;
    to += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

void send(int pipe, Kind kind, const std::string& bytes) {
  const FrameHead head{bytes.size(), kind};
  const std::string_view head_bytes(reinterpret_cast<const char*>(&head), sizeof head);
  if (!write_fully(pipe, head_bytes) || !write_fully(pipe, bytes)) ::_exit(1);  // the parent no longer listens
}

/// Rounds seconds to the integer number of CPU seconds after which the kernel shall end the child process.
unsigned long long kernel_seconds(double seconds) { return static_cast<unsigned long long>(std::max(1.0, seconds + 0.5)); }

/// Memory limit of the child process, if this process keeps no frames; the rest of limits.memory_bytes is for this process.
std::size_t most_of(const ReadLimits& limits) { return limits.memory_bytes - limits.memory_bytes / 6; }

/// Exit status of a child that lacked the memory to report its failure.
constexpr int exit_without_memory = 3;

/// Calls `work`, then sends a frame that says that it is done or how it failed. Throws if memory for that frame is lacking.
void work_and_report(int out, const std::function<void(const Send&)>& work) {
  int code = 0;
  std::string text;
  try {
    work([&](const std::string& frame) { send(out, Kind::data, frame); });
  } catch (const Failure& failure) {
    code = static_cast<int>(failure.code);
    text = failure.what();
  } catch (const std::bad_alloc&) {
    code = static_cast<int>(Exit::limits);
    text = "out of memory";
  } catch (const std::exception& error) {
    code = static_cast<int>(Exit::internal);
    text = error.what();
  }
  Pack pack;
  exchange(pack, code);
  exchange(pack, text);
  send(out, code == 0 ? Kind::done : Kind::failure, pack.bytes);
}

/// Does `work` in the child process and ends it: without messages, without a core file, with bounded memory and CPU time.
[[noreturn]] void child(int out, const std::function<void(const Send&)>& work, double seconds, std::size_t memory) {
  ::setenv("LIBC_FATAL_STDERR_", "1", 1);  // the C library then writes its last message to stderr, which is closed, not to the terminal
  const int nowhere = ::open("/dev/null", O_RDWR);
  if (nowhere >= 0) {
    ::dup2(nowhere, 1);
    ::dup2(nowhere, 2);
    if (nowhere > 2) ::close(nowhere);
  }
  for (int s : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE}) ::signal(s, SIG_DFL);
  limit(RLIMIT_CORE, 0);
  limit_cpu_seconds(kernel_seconds(seconds));  // by SIGKILL; SIGXCPU is left to the parent
  try {
    unsigned long long pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    limit(RLIMIT_AS, pages * static_cast<unsigned long long>(::sysconf(_SC_PAGESIZE)) + memory);
    work_and_report(out, work);
  } catch (...) {  // only a lack of memory gets here
    ::_exit(exit_without_memory);
  }
  ::_exit(0);
}

/// Receives frames until the child is done. Sets `failure` if the child reported one. Returns false if the child ended without a report.
bool take_frames(int pipe, const std::function<void(std::string_view)>& receive, const std::atomic<bool>* stop,
                 std::optional<Failure>& failure) {
  std::string bytes;
  for (FrameHead head; read_from(pipe, &head, sizeof head, stop);) {
    if (head.size > largest_frame) return false;
    bytes.resize(head.size);
    if (!read_from(pipe, bytes.data(), bytes.size(), stop)) return false;
    if (head.kind == Kind::done) return true;
    if (head.kind == Kind::failure) {
      Unpack unpack{bytes};
      int code = 0;
      std::string text;
      exchange(unpack, code);
      exchange(unpack, text);
      failure.emplace(static_cast<Exit>(code), text);
      return true;
    }
    receive(bytes);
  }
  return false;
}

/// A child process that the destructor kills and waits for, unless wait() was called.
struct Child {
  pid_t process;
  Pipe& pipe;
  bool waited = false;
  ProcessEnd wait() {
    waited = true;
    Pipe::shut(pipe.read);
    return wait_for(process).value_or(ProcessEnd{});
  }
  ~Child() {
    if (waited) return;
    ::kill(process, SIGKILL);  // this process needs no more frames
    wait();
  }
};

/// Starts `work` in a child process and passes the frames that it sends to `receive`.
void run_child(const UntrustedFile& file, const ReadLimits& limits, std::size_t memory, const std::function<void(const Send&)>& work,
               const std::function<void(std::string_view)>& receive) {
  const std::string& path = file.path;
  const double seconds = seconds_allowed(limits, file.size());
  Pipe pipe;
  if (pipe.read < 0) fail_io("make a pipe to read", path, errno);
  // A terminal sends stop signals to the whole process group. The child ignores them, since the parent decides whether to stop. Its
  // inherited files are closed first: when a process is killed, freeing its memory takes long, and its files are closed only after that.
  const pid_t reader = fork_child(SIG_IGN, [&] { close_others(pipe.write, file.file.number()); });
  if (reader < 0) fail_io("start a process to read", path, errno);
  if (reader == 0) child(pipe.write, work, seconds, memory);
  Pipe::shut(pipe.write);
  Child process{reader, pipe};
  const std::string refused = quoted(path) + " is not a result file of odrpo-bench, or is damaged: ";
  std::optional<Failure> failure;
  bool whole = false;
  try {
    whole = take_frames(pipe.read, receive, limits.stop, failure);
  } catch (const Hdf5Error& error) {
    throw Failure(Exit::bad_input, refused + error.what());
  }
  const ProcessEnd end = process.wait();
  const int death = WIFSIGNALED(end.status) ? WTERMSIG(end.status) : 0;
  if (death == SIGKILL && end.cpu_seconds > static_cast<double>(kernel_seconds(seconds)) - 0.5)
    throw Failure(Exit::limits, "reading " + quoted(path) + " takes more than " + std::to_string(static_cast<long long>(seconds)) +
                                    " s of CPU time, or the HDF5 library hangs on it");
  if (death == SIGKILL || std::find(std::begin(stop_signals), std::end(stop_signals), death) != std::end(stop_signals))
    throw Failure(Exit::io, "cannot read " + quoted(path) + ": the process that read it was ended from outside (signal " +
                                std::to_string(death) + ")");  // a user's command or a lack of memory; says nothing about the file
  if (death != 0) throw Failure(Exit::bad_input, refused + "the HDF5 library crashed on it" + memory_hint());
  if (WEXITSTATUS(end.status) == exit_without_memory) throw Failure(Exit::limits, "reading " + quoted(path) + ": out of memory");
  if (failure) throw *failure;
  if (!whole) throw Failure(Exit::bad_input, refused + "the reader broke off" + memory_hint());
}

UntrustedFile checked(const std::string& path, File file) {
  UntrustedFile out{path, std::move(file), {}};
  if (!out.file) fail_io("read", path, -out.file.number());
  struct stat& info = out.info;
  if (::fstat(out.file.number(), &info) != 0) fail_io("read", path, errno);
  if (S_ISDIR(info.st_mode)) fail_io("read", path, EISDIR);
  if (!S_ISREG(info.st_mode)) throw Failure(Exit::io, "cannot read " + quoted(path) + ": not a regular file");
  return out;
}

}  // namespace

UntrustedFile open_untrusted(const System& system, const std::string& path) {
  return checked(path, open_file(system, AT_FDCWD, path, O_RDONLY | O_NONBLOCK));
}
UntrustedFile open_untrusted(const Folder& folder, const std::string& name, const std::string& path) {
  return checked(path, open_file(folder.system(), folder.number(), name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW));
}

void in_child(const UntrustedFile& file, const ReadLimits& limits, std::size_t memory,
              const std::function<void(Reader&, const Send&)>& read, const std::function<void(std::string_view frame)>& receive) {
  std::string image;  // HDF5 may crash when a read fails, so in this process it reads memory
  if (limits.here) {
    image.resize(file.size());
    const ssize_t count = read_some(file.file, image.data(), image.size(), 0);
    if (count < 0) fail_io("read", file.path, static_cast<int>(-count));
    image.resize(static_cast<std::size_t>(count));
  }
  const auto work = [&](const Send& to) {
    Bytes bytes;
    bytes.image = image;
    if (!limits.here) bytes.file = &file.file;
    bytes.size = limits.here ? image.size() : file.size();
    with_reader(bytes, file.path, memory, [&](Reader& reader) { read(reader, to); });
  };
  try {
    if (limits.here) work([&](const std::string& frame) { receive(frame); });
    else run_child(file, limits, memory, work, receive);
  } catch (const TooLarge& error) {  // from `receive`
    throw Failure(Exit::limits, "reading " + quoted(file.path) + ": " + error.what());
  }
}

void read_checked_runs(const UntrustedFile& file, const ReadLimits& limits, bool with_records,
                       const std::function<void(const ResultFile& head)>& head, const std::function<void(std::vector<RunRecord>&)>& slab) {
  bool first = true;
  in_child(
      file, limits, most_of(limits),
      [&](Reader& reader, const Send& to) {
        ResultFile about = reader.head();
        if (with_records) about.curves = reader.value_names(sheet_curves);
        to(packed(about));
        reader.check_contents();
        std::string sense;
        if (reader.digest(&sense) != about.digest) throw Hdf5Error("its numbers do not have its digest");
        if (!sense.empty()) throw Hdf5Error(sense);
        reader.each_slab(with_records ? Reader::Parts::all : Reader::Parts::words, [&](std::vector<RunRecord>& some) { to(packed(some)); });
      },
      [&](std::string_view frame) {
        Unpack unpack{frame};
        if (std::exchange(first, false)) {
          ResultFile about;
          exchange(unpack, about);
          return head(about);
        }
        std::vector<RunRecord> some;
        exchange(unpack, some);
        slab(some);
      });
}

Verification verify(const UntrustedFile& file, const ReadLimits& limits, const ChooseColumns& choose) {
  Verification out;
  TableReceiver receiver(limits.memory_bytes / 3);
  in_child(
      file, limits, most_of(limits),
      [&](Reader& reader, const Send& to) {
        reader.check_contents();
        ResultFile head = reader.head();
        std::string sense, digest = reader.digest(&sense);
        if (digest == head.digest && !sense.empty()) throw Hdf5Error(sense);
        if (digest == head.digest) reader.check_rollouts();
        to(digest);
        if (choose) send_table(reader, choose, to);
        else to(packed(head));
      },
      [&](std::string_view frame) {
        if (out.computed.empty()) out.computed = frame;
        else receiver.take(frame);
      });
  out.head = std::move(receiver.result);
  return out;
}

ReadLimits own_limits(const UntrustedFile& file) {
  ReadLimits limits;
  limits.seconds = 20 + 4e-7 * static_cast<double>(file.size());
  limits.memory_bytes = 1'000'000'000;
  return limits;
}

bool is_foreign(const UntrustedFile& file) {
  bool foreign = false;
  const auto work = [&](const Send& to) {
    quiet();
    Bytes bytes;
    bytes.file = &file.file;
    bytes.size = file.size();
    const hid_t opened = open_hdf5(bytes);
    if (bytes.error != 0) fail_io("read", file.path, bytes.error);
    if (opened < 0) return;
    const Hid hdf5(opened, H5Fclose, "file");
    const Hid root(H5Gopen2(hdf5, "/", H5P_DEFAULT), H5Gclose, "root group");
    for (const char* mark : {"schema_version", "result_digest", "fingerprint"})
      if (H5Aexists(root, mark) == 0) return to("foreign");
  };
  try {
    run_child(file, own_limits(file), most_of({}), work, [&](std::string_view) { foreign = true; });
  } catch (const Failure& failure) {
    if (failure.code != Exit::bad_input) throw;
    return false;  // HDF5 crashed on the file
  }
  return foreign;
}

}  // namespace odrpo::store
