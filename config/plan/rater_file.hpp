// A rater in a file of its own: [rater.NAME] file = "judge.toml"; and whether that file was edited since it was made.
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

/// Is this the path of a judge's file, and no rater's word? It ends with .toml or holds a slash.
inline bool is_rater_file(std::string_view name) { return name.ends_with(".toml") || name.find('/') != std::string_view::npos; }

/// The rater of a judge's file. Failure `io`: missing or unreadable; `suite`: anything wrong in it, at its lines. `notes`: gets a line where the
/// file was edited since `judge fit` wrote it.
RaterConfig load_rater_file(const std::string& path, std::vector<std::string>& notes);

/// The same of a file that the suite names at `node`, relative to the suite's folder; nothing when something is wrong, which `reading` then
/// tells: of the file's text at its own lines. `label`: the key, "rater.NAME.file".
std::optional<RaterConfig> read_named_rater(const Node& node, const std::string& label, Reading& reading);

/// The rater of the file that `file` in the section names, to be changed by the section's other keys; nothing where there is no such key or
/// something is wrong, which `reading` then tells: of the file's text at its own lines. The file has one section [rater.NAME] and no other;
/// its noise is given whole. `label`: "rater.NAME" of the suite.
std::optional<RaterConfig> read_rater_file(const Node& section, const std::string& label, FieldReader& fields, Reading& reading);

// `base = "WORD"` of a section: the catalogue's config that it starts from.

/// The entry that `base` names; an error at its place, and nothing, where it names none.
template <class C>
std::optional<Entry<C>> read_base(const Node& base, const std::string& label, Diagnostics& errors) {
  using Catalogue = CatalogueOf<C>;
  if (base.kind != Node::Kind::text) {
    errors.add(base.place, fmt::format("`{}.base` must be a word in quotes, not {}", label, kind_text(base.kind)), one_of(Catalogue::words()));
    return std::nullopt;
  }
  auto entry = Catalogue::find(base.text);
  if (!entry)
    errors.add(base.place,
               fmt::format("`{}.base` must be a word of the catalogue, and there is no {} \"{}\"", label, section_of<C>(), shown(base.text)),
               one_of(Catalogue::words()), errors.wants_detail() ? nearest_word(base.text, Catalogue::words()) : "");
  return entry;
}

// Has a judge's file been edited since `judge fit` wrote it? The file's last line, a comment, holds a checksum of its numbers.

/// The text of a judge's file with the line at its end. The text is right TOML with one section [rater.NAME].
std::string with_fit_mark(std::string text);

/// True where the text has such a line and the noise of `rater`, the section [rater.NAME], has other numbers than those it was made of. Other
/// keys of the section, comments, blanks and the order of keys do not count.
bool edited_since_fit(std::string_view text, const Node& rater);

}  // namespace odrpo
