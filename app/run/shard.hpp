// Chooses the part of a suite that this call trains: by --shard, or by variables of Slurm, Kubernetes or an MPI launcher.
#pragma once
#include <functional>
#include <string>

#include "train/machines/suite_part.hpp"

namespace odrpo::app {

struct ChosenPart {
  PartOfSuite part;
  std::string note;  ///< for the user: the environment variable that chose the part, and its value; empty if --shard names the part
};

/// Parses --shard: "3/8" is part 3 of the parts 0..7. "auto/8" takes the number from the first variable that is set: SLURM_ARRAY_TASK_ID
/// less SLURM_ARRAY_TASK_MIN, JOB_COMPLETION_INDEX, PMIX_RANK, OMPI_COMM_WORLD_RANK. Failure `usage` for other texts and numbers; with "auto"
/// also for an array with a step other than 1 or too few tasks, and if no variable is set to a number. Tests replace getenv() by `variable`.
ChosenPart choose_part(const std::string& text, const std::function<const char*(const char*)>& variable);
ChosenPart choose_part(const std::string& text);

/// How many ranks an MPI launcher (mpirun, srun) has started, from its environment variables; 1 without a launcher.
int launched_ranks(const std::function<const char*(const char*)>& variable);
int launched_ranks();
/// True for rank 0 of an MPI job, and for a process that runs alone.
bool is_first_rank();

}  // namespace odrpo::app
