// Canonical text of a run: equal text = same run.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "config/catalogue/fields.hpp"
#include "kernels/shared/words.hpp"

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

// Canonical text of any config: what canonical_text and every cache key are made of.

/// `out(key, text, is_word)`: is_word = the text is a word or string, which TOML wants in quotes; all other text is TOML as it is, but for
/// "unset". Models are numbered from 0: noise.0.model, noise.0.sigma, …
using FieldOut = std::function<void(std::string_view key, const std::string& text, bool is_word)>;
/// A list as TOML writes it: ["lr", "kl"].
template <class T, class Text>
std::string list_text(const std::vector<T>& values, Text text) {
  return "[" + joined(values, text) + "]";
}
std::string words_text(const std::vector<std::string>& words);
/// Writes the field's value as text, with shortest round-trip numbers.
void write_field(const Field& field, const FieldOut& out);
template <class C>
void write_fields(const C& config, const FieldOut& out) {
  each_field_of(config, [&](const Field& field) { write_field(field, out); });
}

/// Every field of a described config, one "key = value" a line, in the order of its description. Equal text = equal config.
/// (Of a RaterConfig this is the channel and the vote; its world is a config of its own.)
template <class C>
std::string canonical_fields(const C& config) {
  std::string text;
  write_fields(config,
               [&](std::string_view key, const std::string& value, bool) { text.append(key).append(" = ").append(value).append("\n"); });
  return text;
}

}  // namespace odrpo
