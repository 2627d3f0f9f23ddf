// --shard: which part of a suite this call trains, also told by the environment of Slurm, Kubernetes or an MPI launcher.
#pragma once
#include <functional>
#include <string>

#include "train/machines/suite_part.hpp"

namespace odrpo::app {

struct ChosenPart {
  PartOfSuite part;
  std::string note;  ///< for people, where the environment chose: which variable said what; empty otherwise
};

/// "3/8", or "auto/8": the part's number from the first of these that is set: SLURM_ARRAY_TASK_ID less SLURM_ARRAY_TASK_MIN,
/// JOB_COMPLETION_INDEX, PMIX_RANK, OMPI_COMM_WORLD_RANK. Failure usage for a text that is neither, a number past the last part, an array
/// whose step is not 1 or that has fewer tasks than there are parts, a variable that is no number, or none set. `variable` = getenv; the tests have their own.
ChosenPart choose_part(const std::string& text, const std::function<const char*(const char*)>& variable);
ChosenPart choose_part(const std::string& text);

/// How many ranks an MPI launcher (mpirun, srun) has started, as its variables say; 1 where none has.
int launched_ranks(const std::function<const char*(const char*)>& variable);
int launched_ranks();
/// Is this the only process, or the first rank of such a job?
bool is_first_rank();

/// "NAME.h5"; of a part "NAME.part-03-of-16.h5".
std::string default_output(const std::string& name, PartOfSuite part);

}  // namespace odrpo::app
