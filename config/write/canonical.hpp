// Canonical text of a run: equal text = same run.
#pragma once
#include <string>
#include <string_view>

#include "config/write/field_writer.hpp"

namespace odrpo {

struct RunSpec;

/// The canonical text of a RunSpec: every field of every config, one `section.key = value` a line, fixed order, shortest
/// round-trip numbers. Equal text = same run.
std::string canonical_text(const RunSpec& spec);
/// Its first lines, run.key and run.seed; and the others, which are the same for all runs of one combination.
std::string canonical_seed(const RunSpec& spec);
std::string canonical_settings(const RunSpec& spec);
/// What the bandit's worlds of a run are drawn from: equal text = equal worlds for one seed and one env.
std::string source_text(const RunSpec& spec);
/// First 16 hex digits of the SHA-256 of canonical_text.
std::string spec_key(const RunSpec& spec);

// Canonical text of any described config: what canonical_text and every cache key are made of.

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
