// What a run costs, estimated from its spec alone: for preflight.
#pragma once
#include "spec/spec.hpp"

namespace odrpo {

/// Rough seconds of one core, bytes of memory while running, bytes on disk until the work folder is gone, expected calls of the judge.
struct Cost {
  double cpu_seconds = 0, memory_bytes = 0, disk_bytes = 0, judge_calls = 0;
};

/// Records of a run.
double record_count(const RunSpec& spec);
/// Bytes of the curves and seconds of a run.
double recorded_bytes(const RunSpec& spec);
/// Bytes on disk of a run with so many recorded bytes while its output is made: in a shard and in the output, both compressed, and in the
/// row file of the work folder, which is not.
double stored_bytes(double recorded);

}  // namespace odrpo
