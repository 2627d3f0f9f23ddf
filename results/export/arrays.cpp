// Named arrays as JSON, one line for each.
#include <cmath>
#include <nlohmann/json.hpp>

#include "results/export/arrays.hpp"

namespace odrpo {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
Json number(std::int64_t value) { return value; }
Json number(std::uint8_t value) { return static_cast<int>(value); }

/// The values from `place` on as lists in lists; no dimension left: one value.
template <class T>
Json nested(const std::vector<T>& values, std::span<const std::size_t> shape, std::size_t& place) {
  if (shape.empty()) return number(values[place++]);
  Json list = Json::array();
  for (std::size_t i = 0; i < shape[0]; ++i) list.push_back(nested(values, shape.subspan(1), place));
  return list;
}

struct ToJson {
  std::span<const std::size_t> shape;
  Json operator()(const std::string& text) const { return text; }
  template <class T>
  Json operator()(const std::vector<T>& values) const {
    std::size_t place = 0;
    return nested(values, shape, place);
  }
};

}  // namespace

std::string arrays_json(std::span<const NamedArray> arrays) {
  std::string text = "{";
  for (const NamedArray& array : arrays) {
    text += text.size() > 1 ? ",\n" : "\n";
    text += Json(array.name).dump() + ": " + std::visit(ToJson{array.shape}, array.values).dump();
  }
  return text + "\n}\n";
}

}  // namespace odrpo
