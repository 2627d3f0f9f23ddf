// Refuses to join an MPI job; replaces mpi.cpp in a build without MPI.
#include "app/run/mpi.hpp"
#include "kernels/system/fail.hpp"

namespace odrpo::app {

struct MpiJob::State {
  RankLink link;
};

MpiJob::MpiJob() {
  fail(Exit::usage,
       "an MPI launcher started several ranks, and this program was built without MPI: build it by ./bootstrap.sh --mpi COMMAND or "
       "cmake -DODRPO_MPI=ON, or give each rank a part with --shard auto/N");
}
MpiJob::~MpiJob() = default;
void MpiJob::leave(int) {}
const RankLink& MpiJob::link() const { return state_->link; }
int MpiJob::local_rank() const { return 0; }

}  // namespace odrpo::app
