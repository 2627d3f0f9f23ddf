// The checkpoints of a work folder, for any worker; and the first notes for the user.
#pragma once
#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "results/store/store.hpp"
#include "train/checkpoint/checkpoint.hpp"
#include "train/run_settings.hpp"

namespace odrpo {

class CheckpointFolder {
 public:
  CheckpointFolder(const WorkFolder& folder, const RunSettings& settings);
  CheckpointFolder(const CheckpointFolder&) = delete;
  CheckpointFolder& operator=(const CheckpointFolder&) = delete;
  const CheckpointStore& store() const { return store_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::string load(CheckpointKind kind, const std::string& name);
  bool save(CheckpointKind kind, const std::string& name, std::string_view bytes);
  void report(const std::string& text);

  const WorkFolder& folder_;
  CheckpointStore store_;
  std::once_flag named_;
  std::string build_;
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::vector<std::string> notes_;
};

}  // namespace odrpo
