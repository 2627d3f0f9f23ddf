// Keeper: where a long run leaves what it would not like to do again.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "results/store.hpp"

namespace odrpo {

/// Called from any worker's thread; none throws anything but std::bad_alloc. A default one keeps nothing.
struct Keeper {
  std::string build;    ///< names the program's build: what another one kept is not taken over
  double seconds = 30;  ///< a run is kept when it has gone on for so long since it began or was kept last; 0 = after every step
  std::function<std::string(Kept, const std::string& name)> load = {};                   ///< empty when there is none
  std::function<bool(Kept, const std::string& name, std::string_view bytes)> save = {};  ///< false when it is not kept
  std::function<void(const std::string&)> tell = {};                                     ///< a sentence for the user

  explicit operator bool() const { return load && save && tell; }
};

}  // namespace odrpo
