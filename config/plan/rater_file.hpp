// Reads a rater from a file of its own, [rater.NAME] file = "judge.toml", and finds out whether the file was edited since it was made.
#pragma once
#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalogue/catalogue.hpp"
#include "config/catalogue/describe.hpp"
#include "config/plan/plan.hpp"
#include "config/read/field_reader.hpp"
#include "config/read/tree.hpp"
#include "envs/rater/rater.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {

/// True if the name is the path of a judge's file and no rater's word: it ends with .toml or holds a slash.
inline bool is_rater_file(std::string_view name) { return name.ends_with(".toml") || name.find('/') != std::string_view::npos; }

/// Reads the rater of a judge's file. Failure `io` if the file is missing or unreadable; `suite` if anything in it is wrong, with its lines.
/// Adds a line to `notes` if the file was edited since `judge fit` wrote it.
RaterConfig load_rater_file(const std::string& path, std::vector<std::string>& notes);

/// Reads the rater of a file that the suite names at `node`, relative to the suite's folder. After an error returns nothing, and reports it
/// to `reading` at the lines of that file. `label`: the key, "rater.NAME.file".
std::optional<RaterConfig> read_named_rater(const Node& node, const std::string& label, Reading& reading);

/// Reads the rater of the section's `file`; the section's other keys may change it. Returns nothing without such a key or after an error,
/// which it reports to `reading` at the lines of that file. The file has one section [rater.NAME] and no other; it gives all of the noise.
/// `label`: "rater.NAME" of the suite.
std::optional<RaterConfig> read_rater_file(const Node& section, const std::string& label, FieldReader& fields, Reading& reading);

// `base = "WORD"` of a section: the catalogue's config that it starts from.

/// The catalogue entry that `base` names. If it names none, reports an error at `base` and returns nothing.
template <class C>
std::optional<Entry<C>> read_base(const Node& base, const std::string& label, Diagnostics& errors) {
  using Catalogue = CatalogueOf<C>;
  if (base.kind != Node::Kind::text) {
    errors.add(base.place, fmt::format("`{}.base` must be a word in quotes, not {}", label, kind_text(base.kind)), allowed_words<C>(Catalogue::words()));
    return std::nullopt;
  }
  auto entry = Catalogue::find(base.text);
  if (!entry)
    errors.add(base.place,
               fmt::format("`{}.base` must be a word of the catalogue, and there is no {} \"{}\"", label, section_of<C>(), shown(base.text)),
               allowed_words<C>(Catalogue::words()), errors.wants_detail() ? nearest_word(base.text, Catalogue::words()) : "");
  return entry;
}

// Was a judge's file edited since `judge fit` wrote it? The file's last line, a comment, holds a checksum of its numbers.

/// Returns the text of a judge's file with the checksum line at its end. The text must be valid TOML with one section [rater.NAME].
std::string with_fit_mark(std::string text);

/// True if the text has a checksum that does not match the noise of `rater`, its section [rater.NAME]. Other keys of the section, comments,
/// blanks and the order of keys do not count.
bool edited_since_fit(std::string_view text, const Node& rater);

}  // namespace odrpo
