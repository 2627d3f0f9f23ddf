// Has a judge's file been edited since `judge fit` wrote it? The file's last line, a comment, holds a checksum of its numbers.
#pragma once
#include <string>
#include <string_view>

#include "config/read/tree.hpp"

namespace odrpo {

/// The text of a judge's file with the line at its end. The text is right TOML with one section [rater.NAME].
std::string with_fit_mark(std::string text);

/// True where the text has such a line and the noise of `rater`, the section [rater.NAME], has other numbers than those it was made of. Other
/// keys of the section, comments, blanks and the order of keys do not count.
bool edited_since_fit(std::string_view text, const Node& rater);

}  // namespace odrpo
