// Prints failures on stderr and text on stdout, and breaks text into lines and columns for the width of a terminal.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace odrpo {

/// Prints a failure's message on stderr, after "error: " unless it begins with a place ("file:line:column: error: …").
void print_error(std::string_view message);

/// Prints one line on stderr; line ends and control characters in `text` are escaped. Ignores write errors.
void print_note(std::string_view text);

/// How many columns the terminal of stdout has; 100 if stdout is no terminal.
std::size_t stdout_width();

/// Writes text to stdout; flush_stdout() reports errors.
void put(std::string_view text);

/// Flushes stdout. Throws Failure `io` if something could not be written (full disk, closed descriptor), but not if the reader of a pipe has
/// ended.
void flush_stdout();

// Text in columns and lines for a terminal of 80 columns.

inline constexpr std::size_t page_width = 80;  ///< terminal columns of a line

/// Breaks text at blanks and at '\n' into lines of at most `width` columns; a word longer than `width` has a line for itself.
std::vector<std::string> broken(std::string_view text, std::size_t width);

/// Aligns rows of cells in columns; every row has as many cells as the first. The last cell of a row is broken into lines. No line ends
/// with blanks.
std::string rows_text(const std::vector<std::vector<std::string>>& rows, std::size_t indent);

/// A column of a table: its heading, a cell for each row, and whether they are aligned to the right.
struct TextColumn {
  std::string heading;
  std::vector<std::string> rows;
  bool right = false;
};
/// How many terminal columns the widest text of a table column takes.
std::size_t widest(const TextColumn& column);
/// Returns the text of a table with as many columns side by side as fit into `width`. The other columns follow below, each time with the
/// first column again. Columns after the first stay together in groups of `together`. No line ends with blanks.
std::string side_by_side(const std::vector<TextColumn>& columns, std::size_t width, std::size_t together = 1);

/// Breaks `text` into lines that begin with `indent` blanks; lines after the first begin with `hanging` more.
std::string paragraph(std::string_view text, std::size_t indent, std::size_t hanging = 0);

}  // namespace odrpo
