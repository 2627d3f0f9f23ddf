// Any text inside HTML, SVG or XML.
#pragma once
#include <string>
#include <string_view>

namespace odrpo {

/// Between tags or in a quoted attribute: printable_text (controls in `keep` stay), without characters that XML forbids, then & < > " ' as
/// entities.
std::string markup_text(std::string_view text, std::string_view keep = {});

}  // namespace odrpo
