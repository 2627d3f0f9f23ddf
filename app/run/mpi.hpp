// Declares the membership of this process in an MPI job. Only app/run/mpi.cpp calls MPI.
#pragma once
#include <memory>
#include <string>

#include "train/machines/ranks.hpp"

namespace odrpo::app {

/// The constructor joins the MPI job. Closing link() or the destructor leaves it. A process can join only once. Failure `usage` when this
/// program was built without MPI.
class MpiJob {
 public:
  MpiJob();
  ~MpiJob();
  const RankLink& link() const;
  /// Leaves the job; rank 0 calls it last. If other ranks do not leave within 10 s, aborts the whole job with exit code `code`.
  void leave(int code);
  /// The number of this rank among the ranks on the same machine: 0, 1, …
  int local_rank() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace odrpo::app
