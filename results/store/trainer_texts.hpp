// Texts of the provenance that say who trained: a line for each place where runs were trained.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace odrpo {

/// Names of texts that differ from place to place.
inline constexpr std::string_view trainer_texts[] = {"revision", "compiler", "cpu", "isa", "gpu", "device", "host"};

/// The lines of all texts in their order, each once.
inline std::string join_lines(const std::vector<std::string>& texts) {
  std::vector<std::string_view> lines;
  for (const std::string_view text : texts)
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      if (const std::string_view line = text.substr(at, end - at); std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
      at = end + 1;
    }
  std::string joined;
  for (const std::string_view line : lines) joined.append(joined.empty() ? "" : "\n").append(line);
  return joined;
}

}  // namespace odrpo
