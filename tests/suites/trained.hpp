// One run trained by itself, and what its record says: for the tests of training.
#pragma once
#include <atomic>
#include <stdexcept>
#include <string>

#include "suites/train.hpp"

namespace odrpo {

inline const std::atomic<bool> never{false};

inline RunRecord run(const RunSpec& spec) {
  Shared shared;
  return train(spec, shared, never);
}

inline double final_of(const RunRecord& r, const std::string& name) {
  for (const Final& f : r.finals)
    if (f.name == name) return f.value;
  throw std::runtime_error("no final " + name);
}

}  // namespace odrpo
