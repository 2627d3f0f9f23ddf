// Messages quote what users and files say; a terminal must not obey it.
#pragma once
#include <string>
#include <string_view>

#include "kernels/shared/utf8.hpp"

namespace odrpo {

/// printable_text (kernels/shared/utf8.hpp), but for tabs and, in many lines, line ends.
inline std::string printable(std::string_view text, bool one_line = false) { return printable_text(text, one_line ? "\t" : "\t\n"); }
/// The same for what is one line, whatever it quotes.
inline std::string printable_line(std::string_view text) { return printable(text, true); }

}  // namespace odrpo
