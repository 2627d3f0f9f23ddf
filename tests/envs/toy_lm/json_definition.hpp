// The definition of a judge's score in JSON, object by object and member by member: tests and a fuzz target hold parse_score() to it.
#pragma once
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace odrpo {

/// The first '{' from which some prefix is an object; the object counts when its score does.
inline std::optional<int> defined_score(std::string_view text, int levels) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '{') continue;
    for (std::size_t end = at + 2; end <= text.size(); ++end) {
      if (text[end - 1] != '}') continue;
      const auto object = nlohmann::json::parse(text.begin() + at, text.begin() + end, nullptr, false);
      if (object.is_discarded()) continue;
      const char* name = object.contains("rating") ? "rating" : "score";
      if (object.contains(name) && object[name].is_number()) {
        const double score = object[name].get<double>();
        if (score >= 1 && score <= levels && score == std::floor(score)) return static_cast<int>(score);
      }
      at = end - 1;
      break;
    }
  }
  return std::nullopt;
}

}  // namespace odrpo
