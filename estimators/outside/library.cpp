// Implements library.hpp.
#include "estimators/outside/library.hpp"

#include <dlfcn.h>

#include <cmath>
#include <exception>
#include <limits>

#include "estimators/outside/odrpo_estimator.h"
#include "kernels/shared/utf8.hpp"
#include "kernels/subnormals.hpp"
#include "kernels/system/fail.hpp"

namespace odrpo {
namespace {

/// A function of a loaded library. Failure `io` where it has none of this name.
template <class Function>
Function function_of(void* handle, const char* name, const std::string& who) {
  void* found = dlsym(handle, name);
  if (found == nullptr) fail(Exit::io, "{} has no function {} (odrpo_estimator.h)", who, name);
  return reinterpret_cast<Function>(found);
}

}  // namespace

OutsideLibrary::OutsideLibrary(const EstimatorConfig& config)
    : kind_(config.kind), state_(config.state), who_("library `" + printable_line(config.library) + "`") {
  const KeepFloatMode keep;  // one built with -ffast-math sets subnormals to zero when it is loaded
  const bool inside = config.library[0] != '/' && !config.folder.empty();
  std::string path = inside ? config.folder + "/" + config.library : config.library;
  if (path.find('/') == std::string::npos) path = "./" + path;  // the loader would look elsewhere
  handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) fail(Exit::io, "{} cannot be loaded: {}", who_, std::string(dlerror()));
  const int version = function_of<decltype(&odrpo_estimator_version)>(handle_, "odrpo_estimator_version", who_)();
  if (version != ODRPO_ESTIMATOR_VERSION)
    fail(Exit::io, "{} is of version {} of odrpo_estimator.h, and this program of version {}: build it anew", who_, version, ODRPO_ESTIMATOR_VERSION);
  estimate_ = reinterpret_cast<int (*)(const void*, double*)>(function_of<decltype(&odrpo_estimate)>(handle_, "odrpo_estimate", who_));
}

OutsideLibrary::~OutsideLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

void OutsideLibrary::ask(const OutsideBatch& batch, std::span<double> out) {
  const odrpo_batch given{static_cast<int>(batch.prompts.size()), batch.members,       run_.levels,
                          batch.step,                             batch.scores.data(), batch.prompts.data(),
                          batch.lengths.empty() ? nullptr : batch.lengths.data(),      run_.id.c_str()};
  int code = 0;
  try {
    const KeepFloatMode keep;
    code = estimate_(&given, out.data());
  } catch (const std::exception& error) {  // of a library in C++
    fail(Exit::runs_failed, "{}: step {}: an exception left odrpo_estimate: {}", who_, batch.step, printable_line(error.what()));
  }
  if (code != 0) fail(Exit::runs_failed, "{}: step {}: odrpo_estimate returned {}", who_, batch.step, code);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (kind_ == OutsideKind::scores && batch.scores[i] != batch.scores[i]) out[i] = std::numeric_limits<double>::quiet_NaN();
    else if (std::isinf(static_cast<float>(out[i])) || (out[i] != out[i] && kind_ == OutsideKind::scores))
      fail(Exit::runs_failed, "{}: step {}: advantage [{}][{}] is {}", who_, batch.step, i / static_cast<std::size_t>(batch.members),
           i % static_cast<std::size_t>(batch.members), out[i]);
  }
}

void OutsideLibrary::advantages(const OutsideBatch& batch, std::span<double> out) {
  ask(batch, out);
  if (state_ != OutsideState::none || !is_sampled(batch.step)) return;
  if (const std::string why = disagreement(batch, out, [&](const OutsideBatch& b, std::span<double> again) { ask(b, again); }); !why.empty())
    fail(Exit::runs_failed, "{}: step {}: {}", who_, batch.step, why);
}

}  // namespace odrpo
