// Says in words when the program ends with each exit code, for man pages and docs/reference/commands.md.
#pragma once
#include <string_view>

#include "kernels/shared/failure.hpp"

namespace odrpo {

struct ExitText {
  Exit code;
  std::string_view meaning;
};
inline constexpr ExitText exit_texts[] = {
    {Exit::ok, "done"},
    {Exit::internal, "internal error: a bug in this program"},
    {Exit::usage, "command line: unknown command or flag, flag without value, a part that there is not"},
    {Exit::suite, "a mistake in the suite, or in the content of `--set` or `--only`"},
    {Exit::limits, "refused by a limit: `[limits]`, memory that cannot be had; `run` says what is saved, and the same command continues"},
    {Exit::io,
     "input or output: missing, unreadable, unwritable, full, too few file descriptors, another suite's output without `--force`, an output that is "
     "no result file, a file that `export-estimator` did not write"},
    {Exit::device, "no such device, or the device failed"},
    {Exit::runs_failed, "some runs failed, and are recorded with their reason; `merge`: runs are missing; `gate`: a program misbehaves"},
    {Exit::bad_input,
     "an input file was rejected: not a result file, damaged, digest differs, mistakes in a file of scores or runs; `merge`: parts that do not go "
     "together"},
    {Exit::different,
     "`diff`: the files differ; `conform`: the answers do; `gate`: slower or different, a case that the candidate fails, moved, beyond a limit, or "
     "what else `--fail-on` names"},
    {Exit::inconclusive, "`gate`: inconclusive, void or skipped, where `--fail-on` names it"},
    {Exit::no_baseline,
     "`gate`: nothing can be compared: no case in common, a stored baseline of other conditions, settings that differ, no limits"},
    {Exit::stopped, "stopped by a signal; finished runs are saved, the same command continues"},
    {Exit::interrupted, "second Ctrl-C"},
};

}  // namespace odrpo
