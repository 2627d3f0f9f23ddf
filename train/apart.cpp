// Implements apart.hpp.
#include "train/apart.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <new>

#include "config/spec.hpp"
#include "kernels/shared/clock.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/process.hpp"
#include "train/checkpoint/checkpoint.hpp"
#include "train/run_record.hpp"

namespace odrpo {
namespace {

constexpr std::size_t longest_print = 2000;  // bytes that are kept of what the child prints
constexpr int look_ms = 100;                 // between two looks at `stop` and at the steps

/// Counters in memory that the child shares.
class SharedSteps {
 public:
  SharedSteps() : memory_(mmap(nullptr, sizeof(RunSteps), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    steps_ = new (memory_) RunSteps;
  }
  ~SharedSteps() { munmap(memory_, sizeof(RunSteps)); }
  SharedSteps(const SharedSteps&) = delete;
  SharedSteps& operator=(const SharedSteps&) = delete;
  RunSteps& operator*() { return *steps_; }

 private:
  void* memory_;
  RunSteps* steps_;
};

/// The values of a record that training makes. Names are made anew from the spec, but for those of final values and evaluations.
template <class A>
void keep_record(A& archive, RunRecord& r) {
  int status = static_cast<int>(r.status);
  std::uint64_t finals = r.finals.size(), curves = r.curves.size(), evaluated = r.evaluated.size(), rollouts = r.rollouts.size();
  archive(status, finals, curves, evaluated, rollouts);
  if constexpr (A::loading) {
    archive.require(finals < 1000 && curves < 1000 && evaluated < 1000 && rollouts < 1000);
    if (!archive.good()) return;
    r.status = static_cast<RunStatus>(status);
    r.finals.resize(finals), r.curves.resize(curves), r.evaluated.resize(evaluated), r.rollouts.resize(rollouts);
  }
  archive(r.error, r.step, r.seconds, r.step_time_median);
  for (Final& f : r.finals) archive(f.name, f.value);
  for (auto* list : {&r.curves, &r.evaluated, &r.rollouts})
    for (Curve& c : *list) archive(c.name, c.values);
}

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = write(fd, bytes.data(), bytes.size());
    if (sent < 0 && errno != EINTR) return;
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

/// Reads what is there, and keeps the last `most` bytes; false at the end of the pipe.
bool read_some(int fd, std::string& to, std::size_t most) {
  char bytes[65536];
  const ssize_t got = read(fd, bytes, sizeof bytes);
  if (got == 0) return false;
  if (got > 0) to.append(bytes, static_cast<std::size_t>(got));
  if (to.size() > most) to.erase(0, to.size() - most);
  return true;
}

std::string last_words(const std::string& errors) {
  return errors.empty() ? "" : "; its stderr ends: " + printable_line(errors.substr(errors.size() > 300 ? errors.size() - 300 : 0));
}

}  // namespace

RunRecord train_apart(const RunSpec& spec, const std::atomic<bool>& stop, double deadline, RunSteps* counted, const std::function<RunRecord(RunSteps&)>& train) {
  SharedSteps steps;
  Pipe record, out, error;
  for (const Pipe* pipe : {&record, &out, &error})
    if (pipe->read < 0) throw StartFailure("cannot make a pipe", errno);
  std::fflush(stdout);  // or the child would print it once more
  const pid_t child = fork_child(SIG_DFL, [&] {
    setpgid(0, 0);
    dup2(out.write, 1), dup2(error.write, 2);
    close_others(record.write, record.write);
  });
  if (child < 0) throw StartFailure("cannot start a process for " + spec.id, errno);
  if (child == 0) {
    RunRecord made = trained_or_failed(spec, [&] { return train(*steps); });
    std::fflush(stdout);
    Saving to;
    keep_record(to, made);
    write_all(record.write, to.bytes);
    _exit(0);  // no destructors: they belong to the parent
  }
  setpgid(child, child);
  for (Pipe* pipe : {&record, &out, &error}) Pipe::shut(pipe->write);
  std::string bytes, printed, errors;
  std::optional<ProcessEnd> ended;
  int done = -1;
  double moved = now_seconds();
  bool late = false;
  for (int open = 3; open > 0;) {
    pollfd ready[3] = {{record.read, POLLIN, 0}, {out.read, POLLIN, 0}, {error.read, POLLIN, 0}};
    poll(ready, 3, look_ms);
    const std::pair<Pipe*, std::string*> pipes[] = {{&record, &bytes}, {&out, &printed}, {&error, &errors}};
    for (int i = 0; i < 3; ++i)
      if (ready[i].revents != 0 && !read_some(pipes[i].first->read, *pipes[i].second, i == 0 ? std::string::npos : longest_print)) Pipe::shut(pipes[i].first->read), --open;
    if ((*steps).done != done) {
      done = (*steps).done, moved = now_seconds();
      if (counted && (*steps).restored != RunSteps::not_begun) {
        if (counted->restored == RunSteps::not_begun) counted->begin((*steps).restored);
        counted->reached(done);
      }
    }
    late = now_seconds() - moved > deadline && bytes.empty();
    if (stop || late) break;
    if (!ended) ended = wait_for(child, WNOHANG);
    if (ended) {  // what it left behind may hold the pipes, so the end of the pipes is not waited for
      for (const auto& [pipe, text] : pipes)
        for (pollfd one{pipe->read, POLLIN, 0}; pipe->read >= 0 && poll(&one, 1, 0) > 0 && read_some(pipe->read, *text, pipe == &record ? std::string::npos : longest_print);) {
        }
      break;
    }
  }
  kill(-child, SIGKILL);
  if (!ended) ended = wait_for(child);
  if (stop) return failed_record(spec, "stopped");
  if (late) return failed_record(spec, fmt::format("no end of step {} after {:g} s (`deadline`){}", std::max(done, 0), deadline, last_words(errors)));
  RunRecord made = failed_record(spec, "");
  Loading from(bytes);
  keep_record(from, made);
  if (!from.finished()) return failed_record(spec, fmt::format("the process of the run ended with {} at step {}{}", ended ? ended->text() : "an error", std::max(done, 0), last_words(errors)));
  if (!printed.empty()) return failed_record(spec, "its library printed: " + printable_line(printed.substr(0, 300)));
  return made;
}

}  // namespace odrpo
