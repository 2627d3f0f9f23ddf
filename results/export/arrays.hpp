// Named arrays as a file for other programs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace odrpo {

/// One array, or one value where the shape is empty. A text (UTF-8) has no shape.
struct NamedArray {
  std::string name;
  std::variant<std::string, std::vector<std::int64_t>, std::vector<std::uint8_t>, std::vector<double>> values;
  std::vector<std::size_t> shape{};
};

/// An object by name; numbers that are not finite are null.
std::string arrays_json(std::span<const NamedArray> arrays);

}  // namespace odrpo
