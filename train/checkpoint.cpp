// Whose a checkpoint is.
#include "train/checkpoint.hpp"

#include <fmt/format.h>

#include "kernels/matmul.hpp"
#include "spec/canonical.hpp"

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

CheckpointStore telling(const CheckpointStore& store, std::function<void()> start_was_loaded) {
  CheckpointStore to = store;
  if (store)
    to.load = [load = store.load, tell = std::move(start_was_loaded)](CheckpointKind kind, const std::string& name) {
      std::string bytes = load(kind, name);
      if (kind == CheckpointKind::start && !bytes.empty()) tell();
      return bytes;
    };
  return to;
}

}  // namespace odrpo
