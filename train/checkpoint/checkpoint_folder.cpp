// Checkpoints by way of the work folder.
#include "train/checkpoint/checkpoint_folder.hpp"

#include "kernels/shared/failure.hpp"

namespace odrpo {
namespace {
constexpr std::size_t notes_kept = 100;
}

CheckpointFolder::CheckpointFolder(const WorkFolder& folder, const RunSettings& settings) : folder_(folder) {
  store_.build = [this, make = settings.build] {
    std::call_once(named_, [&] { build_ = make(); });
    return build_;
  };
  store_.seconds = settings.checkpoint_seconds;
  store_.load = [this](CheckpointKind kind, const std::string& name) { return load(kind, name); };
  store_.save = [this](CheckpointKind kind, const std::string& name, std::string_view bytes) { return save(kind, name, bytes); };
  store_.report = [this](const std::string& text) { report(text); };
}

std::string CheckpointFolder::load(CheckpointKind kind, const std::string& name) {
  CheckpointBytes found = folder_.load_checkpoint(kind, name);
  if (found.damaged)
    report(kind == CheckpointKind::run ? "ignored the damaged checkpoint of " + name : "ignored damaged weights of supervised steps");
  return std::move(found.bytes);
}

// a run whose checkpoint cannot be stored is trained all the same
bool CheckpointFolder::save(CheckpointKind kind, const std::string& name, std::string_view bytes) try {
  folder_.save_checkpoint(kind, name, bytes);
  return true;
} catch (const Failure& failure) {
  if (!failed_.exchange(true)) report(std::string("long runs are not kept: ") + failure.what());
  return false;
}

void CheckpointFolder::report(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (notes_.size() < notes_kept) notes_.push_back(text);
}

}  // namespace odrpo
