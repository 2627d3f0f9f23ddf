// Declares the parts of a page: escaped, cut and hashed text, tables, lists.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/table/model.hpp"

namespace odrpo::page {

/// The text, cut after `characters` characters, with "…" where it was cut.
std::string cut_text(std::string_view text, std::size_t characters);

/// "sha256-…=": a text's hash as a Content-Security-Policy names it.
std::string policy_hash(std::string_view text);

/// The page's style sheet and script; a page contains each verbatim, once.
extern const std::string_view style_text, script_text;

/// Appends the tables of a model, block by block, and the sentences below them. Rows beyond `limit` bytes of `out` are left out; a sentence
/// gives their number.
void append_tables(std::string& out, const TableModel& table, std::size_t limit);

/// Appends <ul> with as many items (HTML) as fit in `bytes`, and the number of those left out.
void append_list(std::string& out, const std::vector<std::string>& items, std::size_t bytes);

}  // namespace odrpo::page

// Any text inside HTML, SVG or XML.
namespace odrpo {

/// Between tags or in a quoted attribute: printable_text (controls in `keep` stay), without characters that XML forbids, then & < > " ' as
/// entities.
std::string markup_text(std::string_view text, std::string_view keep = {});

}  // namespace odrpo
