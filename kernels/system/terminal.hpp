// Prints failures on stderr and text on stdout, in colour on a terminal, and breaks text into lines and columns for the terminal's width.
#pragma once
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/shared/words.hpp"

namespace odrpo {

/// Prints a failure's message on stderr, after "error: " unless it begins with a place ("file:line:column: error: …"). Breaks lines for the
/// width of a terminal, except quoted lines of a file, which begin with blanks. A log keeps each message in one line, so that it can be searched.
void print_error(std::string_view message);

/// Prints one line on stderr; line ends and control characters in `text` are escaped. Ignores write errors.
void print_note(std::string_view text);

/// How many columns the terminal of a descriptor has; 0 if it is no terminal.
std::size_t terminal_columns(int descriptor);
/// How many columns the terminal of stdout has, at least 40; 80 if stdout is no terminal.
std::size_t stdout_width();

/// Writes text to stdout; flush_stdout() reports errors.
void put(std::string_view text);

/// Flushes stdout. Throws Failure `io` if something could not be written (full disk, closed descriptor), but not if the reader of a pipe has
/// ended.
void flush_stdout();

// Colour: of verdicts, stars and errors.

/// When text has colours. `automatic`: on a terminal, unless NO_COLOR is set (no-color.org) or TERM is "dumb".
enum class ColourUse { automatic, always, never };
inline constexpr Word<ColourUse> colour_words[] = {
    {ColourUse::automatic, "auto", "on a terminal, unless NO_COLOR is set"},
    {ColourUse::always, "always", "always"},
    {ColourUse::never, "never", "never"},
};
/// Sets the use for the whole process, whose streams it belongs to (--color).
void use_colour(ColourUse use);
/// True if text on this stream, stdout or stderr, has colours.
bool coloured(std::FILE* stream);

enum class Paint { good, bad, doubtful };
/// Returns `text` in a colour if stdout has colours, else `text`. columns_of() does not count the codes.
std::string painted(std::string_view text, Paint paint);
/// The colour of a verdict that fails a check, of one that needs a look, and of any other.
constexpr Paint verdict_paint(bool fails, bool notable = false) { return fails ? Paint::bad : notable ? Paint::doubtful : Paint::good; }

// Text in columns and lines.

/// Columns of a line of prose: those of the terminal, at most 80.
std::size_t page_width();

/// Breaks text at blanks and at '\n' into lines of at most `width` columns; a word longer than `width` has a line for itself.
std::vector<std::string> broken(std::string_view text, std::size_t width);

/// Aligns rows of cells in columns; every row has as many cells as the first. The last cell of a row is broken into lines. No line ends
/// with blanks. Where too little width is left, the last cell begins on a line of its own.
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
