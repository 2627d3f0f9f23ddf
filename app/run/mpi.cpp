// Exchanges messages between ranks by MPI, without blocking. Only one thread may use it.
#include "app/run/mpi.hpp"

#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <deque>
#include <optional>
#include <utility>

#include "kernels/shared/clock.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/host.hpp"

namespace odrpo::app {
namespace {

constexpr int tag = 7;
constexpr double patience = 10;  // seconds that rank 0 waits at the end for the other ranks to leave

struct Sent {
  std::string bytes;
  MPI_Request request = MPI_REQUEST_NULL;
};

}  // namespace

struct MpiJob::State {
  RankLink link;
  int local_rank = 0;
  std::deque<Sent> sent;  // messages whose bytes MPI may still read
  bool open = false, left_behind = false;

  void forget_sent() {
    std::erase_if(sent, [](Sent& message) {
      int done = 0;
      MPI_Test(&message.request, &done, MPI_STATUS_IGNORE);
      return done != 0;
    });
  }
  void send(int to, const std::string& bytes) {
    if (!open) return;  // the job is left, and nobody receives
    forget_sent();
    Sent& message = sent.emplace_back();
    message.bytes = bytes;
    MPI_Isend(message.bytes.data(), static_cast<int>(message.bytes.size()), MPI_BYTE, to, tag, MPI_COMM_WORLD, &message.request);
  }
  std::optional<std::pair<int, std::string>> receive() {
    forget_sent();
    int there = 0, size = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &there, &status);
    if (there == 0) return std::nullopt;
    MPI_Get_count(&status, MPI_BYTE, &size);
    std::string bytes(static_cast<std::size_t>(size), '\0');
    MPI_Recv(bytes.data(), size, MPI_BYTE, status.MPI_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return std::pair(status.MPI_SOURCE, std::move(bytes));
  }
  /// Receives messages and drops them: MPI may block a rank until its long messages are received.
  void discard_received() {
    while (receive()) {
    }
  }
  /// Leaves the job when all ranks do. Sleeps while it waits, so that it takes no CPU time. After `patience` seconds, rank 0 gives up and
  /// sets `left_behind`.
  void close() {
    if (!open) return;
    const double began = now_seconds();
    const auto waits = [&] {
      discard_received();
      ::usleep(1000);
      return link.rank > 0 || now_seconds() - began < patience;
    };
    MPI_Request all = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &all);
    int done = 0;
    for (bool waiting = true; waiting && !(done != 0 && sent.empty()); waiting = waits()) {
      if (done == 0) MPI_Test(&all, &done, MPI_STATUS_IGNORE);
      forget_sent();
    }
    open = false;
    left_behind = !(done != 0 && sent.empty());
    if (!left_behind) MPI_Finalize();
  }
};

MpiJob::MpiJob() : state_(std::make_unique<State>()) {
  int got = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &got) != MPI_SUCCESS || got < MPI_THREAD_FUNNELED)
    fail(Exit::internal, "MPI does not start, or allows no threads beside the one that uses it");
  State& s = *state_;
  s.open = true;
  MPI_Comm_rank(MPI_COMM_WORLD, &s.link.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &s.link.size);
  MPI_Comm machine;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, s.link.rank, MPI_INFO_NULL, &machine);
  MPI_Comm_rank(machine, &s.local_rank);
  MPI_Comm_free(&machine);
  s.link.host = host_facts().node;
  s.link.send = [&s](int to, const std::string& bytes) { s.send(to, bytes); };
  s.link.receive = [&s] { return s.receive(); };
  s.link.close = [&s] { s.close(); };
}

MpiJob::~MpiJob() { state_->close(); }

void MpiJob::leave(int code) {
  state_->close();
  if (!state_->left_behind) return;
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, code);
}

const RankLink& MpiJob::link() const { return state_->link; }
int MpiJob::local_rank() const { return state_->local_rank; }

}  // namespace odrpo::app
