// Names the owner of a checkpoint: the run, and the build, processor and device on which the run's bits depend.
#include "train/checkpoint/checkpoint.hpp"

#include <fmt/format.h>

#include "config/write/canonical.hpp"
#include "kernels/matmul.hpp"

namespace odrpo {
namespace {

constexpr int checkpoint_format = 2;

}  // namespace

std::string made_by(const CheckpointStore& store, const MadeBy& by) {
  return fmt::format("{}, {}, {}{}{}", store.build(), isa_name(by.isa), engine_name(best_engine(by.isa)), by.device.empty() ? "" : ", ",
                     by.device);
}

std::string checkpoint_owner(const CheckpointStore& store, const RunSpec& spec, const MadeBy& by) {
  return fmt::format("checkpoint {}: run {}, by {}", checkpoint_format, spec_key(spec), made_by(store, by));
}

}  // namespace odrpo
