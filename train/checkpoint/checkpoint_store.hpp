// CheckpointStore: where a long run puts the state from which a later call goes on.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "kernels/isa.hpp"
#include "results/store/checkpoint_kind.hpp"

namespace odrpo {

/// Who trains a run, in as far as its bits depend on it.
struct MadeBy {
  Isa isa;
  std::string device = {};  ///< empty = the CPU alone
};

/// Called from any worker's thread; none throws anything but std::bad_alloc. A default one stores nothing.
struct CheckpointStore {
  std::function<std::string()> build = [] { return std::string(); };  ///< names the program's build: another build's are not taken up
  double seconds = 30;  ///< a run is stored when it has trained for so long since it began or was stored last; 0 = after every step
  std::function<std::string(CheckpointKind, const std::string& name)> load = {};                   ///< empty when there is none
  std::function<bool(CheckpointKind, const std::string& name, std::string_view bytes)> save = {};  ///< false when it is not stored
  std::function<void(const std::string&)> report = {};                                             ///< a sentence for the user

  explicit operator bool() const { return load && save && report; }
};

}  // namespace odrpo
