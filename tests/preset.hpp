// A rater of the catalogue by its word.
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>

#include "envs/rater/rater.hpp"

namespace odrpo {

inline const RaterConfig& preset(std::string_view word) {
  for (const RaterPreset& p : rater_presets())
    if (p.word == word) return p.config;
  throw std::runtime_error("no rater " + std::string(word));
}

}  // namespace odrpo
