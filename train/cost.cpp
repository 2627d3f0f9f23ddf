// Records in bytes.
#include "train/cost.hpp"

#include "results/record.hpp"
#include "train/curves.hpp"

namespace odrpo {

double record_count(const RunSpec& spec) { return spec.learn.steps / static_cast<double>(spec.record.every) + 2; }

double recorded_bytes(const RunSpec& spec) { return record_count(spec) * (8.0 * curve_count(spec) + 4.0 * stage_count); }

double stored_bytes(double recorded) {
  const double shard_and_output = 1500 + 0.8 * recorded, row = 2000 + recorded;
  return shard_and_output + row;
}

}  // namespace odrpo
