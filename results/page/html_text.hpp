// Declares helpers for a page: escaped, cut and hashed text, tables, lists.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/table/model.hpp"

namespace odrpo {
struct HtmlPage;
}

namespace odrpo::page {

/// The first `characters` characters of a text, followed by "…" if something was cut.
std::string cut_text(std::string_view text, std::size_t characters);

/// A text's hash in the form of a Content-Security-Policy: "sha256-…=".
std::string policy_hash(std::string_view text);

/// The style sheet and the script of a page, which contains each verbatim, once.
extern const std::string_view style_text, script_text;

/// The sentence with which a page opens: the best row of the first value, whether it differs from its baseline, and what is left out.
std::string opening_sentence(const HtmlPage& page);

/// Appends the tables of a model block by block, then their sentences. Leaves out rows once `out` has `limit` bytes; a sentence gives the
/// number of rows left out.
void append_tables(std::string& out, const TableModel& table, std::size_t limit);

/// Appends a <ul> of as many items (HTML) as fit in `bytes`, and the number of items left out.
void append_list(std::string& out, const std::vector<std::string>& items, std::size_t bytes);

}  // namespace odrpo::page

// Escapes any text for HTML, SVG or XML.
namespace odrpo {

/// Escapes text for use between tags or in a quoted attribute. Applies printable_text (control characters in `keep` stay), replaces
/// characters that XML forbids, then writes & < > " ' as entities.
std::string markup_text(std::string_view text, std::string_view keep = {});

}  // namespace odrpo
