// Failures on stderr, the fate of stdout, and text that a terminal shows unbroken.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace odrpo {

/// Prints a failure's message on stderr: with "error: " before it, or as it is when it already names its place ("file:line:column: error:
/// …").
void print_error(std::string_view message);

/// Prints one line on stderr, whatever it quotes. Whether it arrives changes nothing.
void print_note(std::string_view text);

/// Columns of the terminal that stdout is; 100 where it is none.
std::size_t stdout_width();

/// Writes data to stdout. Errors are told by flush_stdout.
void put(std::string_view text);

/// Empties stdout. Failure io when what was written did not arrive (full disk, closed descriptor); a reader that has left is no failure.
void flush_stdout();

// Text in columns and lines that a terminal of 80 columns shows unbroken.

inline constexpr std::size_t page_width = 80;  ///< columns

/// Text broken at blanks into lines of at most `width` columns (a longer word has a line for itself); '\n' breaks too.
std::vector<std::string> broken(std::string_view text, std::size_t width);

/// Cells in columns, each row of the same length; the last cell is broken into lines. Without trailing blanks.
std::string rows_text(const std::vector<std::vector<std::string>>& rows, std::size_t indent);

/// A column of a table: its heading, a cell for each row, and the side to which they lean.
struct TextColumn {
  std::string heading;
  std::vector<std::string> rows;
  bool right = false;
};
/// Columns of its widest text.
std::size_t widest(const TextColumn& column);
/// As many columns side by side as `width` takes; the rest below, with the first column again. Of the others each so many stay `together`.
/// Without trailing blanks.
std::string side_by_side(const std::vector<TextColumn>& columns, std::size_t width, std::size_t together = 1);

/// `text` broken into lines that begin with `indent` blanks, those after the first with `hanging` more.
std::string paragraph(std::string_view text, std::size_t indent, std::size_t hanging = 0);

}  // namespace odrpo
