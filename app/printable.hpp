// Messages quote what users and files say; a terminal must not obey it.
#pragma once
#include <string>
#include <string_view>

#include "suites/text.hpp"

namespace odrpo::app {

/// The text with controls and bytes that are no UTF-8 escaped (\x1b, \u009b, \u202e, \xff), but for tabs and, in many lines, line ends.
inline std::string printable(std::string_view text, bool one_line = false) {
  std::string out;
  while (!text.empty()) {
    const Character c = first_character(text);
    const bool fine = c.bytes > 0 && (c.point == '\t' || (c.point == '\n' && !one_line) || !is_control(c.point));
    out += fine ? std::string(text.substr(0, c.bytes)) : escaped(c, text[0]);
    text.remove_prefix(c.bytes == 0 ? 1 : c.bytes);
  }
  return out;
}
/// The same for what is one line, whatever it quotes.
inline std::string printable_line(std::string_view text) { return printable(text, true); }

}  // namespace odrpo::app
