// The MPI job that this process is a rank of: the only place that knows MPI is app/run/mpi.cpp.
#pragma once
#include <memory>
#include <string>

#include "train/machines/ranks.hpp"

namespace odrpo::app {

/// Joins the job; leaves it when the link is closed, or at the end. One at a time, and once a process. Failure usage when this program was built
/// without MPI.
class MpiJob {
 public:
  MpiJob();
  ~MpiJob();
  const RankLink& link() const;
  /// The last word of rank 0, when all is written and said: where ranks do not answer, it ends the job with this exit code.
  void leave(int code);
  /// Which of the ranks on this machine it is: 0, 1, …
  int local_rank() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace odrpo::app
