// The words of the noise models, and the model of a word. (field_reader_noise.cpp)
#pragma once
#include <optional>
#include <span>
#include <string_view>

#include "envs/rater/noise.hpp"

namespace odrpo {

/// Words of all noise models, in catalogue order.
std::span<const std::string_view> noise_words();
/// The word of a model.
std::string_view noise_word(const Noise& noise);
/// The model of a word with its defaults, or nothing.
std::optional<Noise> make_noise(std::string_view word);

}  // namespace odrpo
