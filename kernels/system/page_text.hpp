// Text in columns and lines that a terminal of 80 columns shows unbroken.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace odrpo {

inline constexpr std::size_t page = 80;  ///< columns

/// Text broken at blanks into lines of at most `width` columns (a longer word has a line for itself); '\n' breaks too.
std::vector<std::string> broken(std::string_view text, std::size_t width);

/// Cells in columns, each row of the same length; the last cell is broken into lines. Without trailing blanks.
std::string rows_text(const std::vector<std::vector<std::string>>& rows, std::size_t indent);

/// `text` broken into lines that begin with `indent` blanks, those after the first with `hanging` more.
std::string paragraph(std::string_view text, std::size_t indent, std::size_t hanging = 0);

}  // namespace odrpo
