// Canonical text of any described config: what canonical_text and every cache key are made of.
#pragma once
#include <string>
#include <string_view>

#include "config/write/field_writer.hpp"

namespace odrpo {

/// Every field of a described config, one "key = value" a line, in the order of its description. Equal text = equal config.
/// (Of a RaterConfig this is the channel and the vote; its world is a config of its own.)
template <class C>
std::string canonical_fields(const C& config) {
  C copy = config;
  std::string text;
  FieldWriter writer(
      [&](std::string_view key, const std::string& value, bool) { text.append(key).append(" = ").append(value).append("\n"); });
  describe(writer, copy);
  return text;
}

}  // namespace odrpo
