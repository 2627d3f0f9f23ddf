// Any text inside HTML, SVG or XML: escaping, cutting, hashes.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/table/model.hpp"

namespace odrpo::page {

/// A text cut after so many characters, with "…" where it was cut.
std::string cut_text(std::string_view text, std::size_t characters);

/// "sha256-…=": a text's hash as a Content-Security-Policy names it.
std::string policy_hash(std::string_view text);

/// The page's style sheet and script: they stand in it verbatim, once.
extern const std::string_view style_text, script_text;

/// Appends the tables of a model, block by block, and what is said below them. Rows that do not fit below `limit` bytes of `out` are left
/// out, and a sentence says how many.
void append_tables(std::string& out, const TableModel& table, std::size_t limit);

/// Appends <ul>: as many items (HTML) as fit in `bytes`, and how many more there are.
void append_list(std::string& out, const std::vector<std::string>& items, std::size_t bytes);

}  // namespace odrpo::page

// Any text inside HTML, SVG or XML.
namespace odrpo {

/// Between tags or in a quoted attribute: printable_text (controls in `keep` stay), without characters that XML forbids, then & < > " ' as
/// entities.
std::string markup_text(std::string_view text, std::string_view keep = {});

}  // namespace odrpo
