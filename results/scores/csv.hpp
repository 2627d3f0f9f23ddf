// Reads comma-separated text record by record (RFC 4180), with the place of each field for messages at file:line:column.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace odrpo {

inline constexpr std::string_view and_more = "… and more";  ///< last line of a list of mistakes that is cut

/// One field of a record: its text without spaces around it, and without quotes where `quoted` (a doubled quote inside stays doubled).
struct CsvField {
  std::string_view text;
  long line = 1;    ///< 1-based
  long column = 1;  ///< byte in the line, 1-based: the first of the text, or of the quote
  bool quoted = false;
};

/// Mistakes, in the order in which they are found; text() puts them in order of place.
class CsvErrors {
 public:
  explicit CsvErrors(std::string file) : file_(std::move(file)) {}
  /// From now on a repeated message is counted with the first of its text, wherever it stands.
  void count_same() { counts_same_ = true; }
  /// Of counted messages only the first keeps its `more`.
  void add(long line, long column, std::string message, std::string more = "");
  std::size_t size() const { return size_; }
  bool any() const { return !list_.empty(); }
  bool enough() const { return list_.size() > most; }
  /// `FILE:LINE:COLUMN: error: message` of the first 20, a line each, with ` (5 times)` behind one that is counted. A last line `… and
  /// more` when there are more.
  std::string text() const;

 private:
  static constexpr std::size_t most = 20;
  struct Mistake {
    long line, column;
    std::string message, more;
    long times = 1;
  };
  std::string file_;
  std::vector<Mistake> list_;
  std::size_t size_ = 0;
  bool counts_same_ = false;
};

/// Reads records. A BOM and blank lines are skipped; lines end with LF or CRLF; a quoted field may span lines. Lines that start with `#` are
/// comments above the header. Below it they are records where they have its number of fields, and are skipped and counted otherwise.
class CsvReader {
 public:
  /// `separator`: a comma or a tab. Spaces around fields are skipped, and tabs where they separate nothing.
  explicit CsvReader(std::string_view text, char separator = ',');
  /// The next record into `fields`; false at the end. A quote that is not closed, or closed amid a field, is added to `errors`.
  bool next(std::vector<CsvField>& fields, CsvErrors& errors);
  /// The record before was the header; the next ones have as many fields.
  void header_has(std::size_t fields) { fields_ = fields; }
  /// A note on the lines that were skipped below the header; empty where none was.
  std::string skipped_note() const;

 private:
  bool is_space(char c) const { return c == ' ' || (c == '\t' && separator_ != '\t'); }
  void skip_spaces();
  void new_line() { ++line_, start_ = at_; }
  std::string_view text_;
  char separator_;
  std::size_t at_ = 0, start_ = 0;  ///< next byte; first byte of its line
  std::size_t fields_ = 0;  ///< of the header; 0 above it
  long line_ = 1, skipped_ = 0;
};

/// The text of a field, with doubled quotes made single.
std::string csv_text(const CsvField& field);

/// The number that the whole text spells; nothing where it spells none, or "nan".
std::optional<double> number_of(const std::string& text);

/// The shortest text that reads back as the same number; empty where it is NaN.
std::string exact_text(double value);

/// A field of a CSV file (RFC 4180). A spreadsheet takes text that begins with = + - @, tab or CR for a formula: an apostrophe before it
/// keeps it text. Numbers stay as they are, and "-" alone, which is no formula.
std::string csv_field(const std::string& text);

/// "UTF-16" or "UTF-32" for text of this encoding, with or without a byte order mark; else empty.
std::string_view wide_encoding(std::string_view text);

/// The first line that is neither blank nor a comment.
std::string_view first_line(std::string_view text);
/// The mark of , ; | and tab that divides the first line into the most columns; what a first line "sep=;" says.
char separator_of(std::string_view text);

/// Checks that a row has as many fields as the header, else adds an error at the first field too many, or the last one.
bool check_field_count(const std::vector<CsvField>& fields, std::size_t wanted, CsvErrors& errors);

/// Says what separates columns: "columns are separated by semicolons".
std::string separator_note(char separator);

/// Adds one mistake where a text is no CSV at all: UTF-16, gzip, a spreadsheet, a NUL byte, lines that end in CR alone.
void check_csv_format(std::string_view text, CsvErrors& errors);

/// Adds one mistake where the first record of a file is no header: whole numbers alone, a line for Excel, or another separator. `wanted`
/// says what a header must be.
void check_csv_header(const std::vector<CsvField>& fields, const std::string& wanted, CsvErrors& errors, char separator = ',');

/// Text of a file for a terminal: in quotes, control and invisible characters and invalid UTF-8 as \xNN, cut after 40 characters.
std::string shown_cell(std::string_view text);
/// The same without quotes, cut after 400 characters: for names that the user gave.
std::string shown_list(std::string_view text);

}  // namespace odrpo
