// Writes the canonical text of a run: equal text = same run.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "config/catalogue/fields.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {

struct RunSpec;

/// Returns the canonical text of a run: the fields of every config, one `section.key = value` a line, fixed order, shortest round-trip
/// numbers. Leaves out keys added later, at their defaults (newer_keys in canonical.cpp), and keys that change no number (idle_keys). Equal text = same run.
std::string canonical_text(const RunSpec& spec);
/// Return the two parts of canonical_text(): its first lines, run.key and run.seed; the other lines, equal for all runs of a combination.
std::string canonical_seed(const RunSpec& spec);
std::string canonical_settings(const RunSpec& spec);
/// Returns the settings that generate a run's bandit world, as text: equal text = equal worlds for one seed and one env.
std::string source_text(const RunSpec& spec);
/// Returns the first 16 hex digits of the SHA-256 of canonical_text().
std::string spec_key(const RunSpec& spec);

// The canonical text of any config. canonical_text() and all cache keys consist of it.

/// Receives one field. is_word = the text is a word or string, which TOML wants in quotes. All other text is valid TOML, except "unset".
/// Noise models are numbered from 0: noise.0.model, noise.0.sigma, …
using FieldOut = std::function<void(std::string_view key, const std::string& text, bool is_word)>;
/// Returns a list as TOML writes it: ["lr", "kl"].
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

/// Returns every field of a described config, one "key = value" a line, in the order of its description. Equal text = equal config.
/// (Of a RaterConfig this is the channel and the vote; its world is a config of its own.)
template <class C>
std::string canonical_fields(const C& config) {
  std::string text;
  write_fields(config,
               [&](std::string_view key, const std::string& value, bool) { text.append(key).append(" = ").append(value).append("\n"); });
  return text;
}

}  // namespace odrpo
