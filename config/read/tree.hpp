// Represents a suite file as a tree in file order, with the place of every value, and collects errors by place. Needs nothing of the TOML
// library.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/shared/failure.hpp"

namespace odrpo {

// All errors of a suite, gathered in one pass and reported together.

/// Where something stands: a line and column of the suite file (from 1, columns in code points), or the n-th --set argument.
struct Place {
  int set = 0;  ///< 0 = the file, n = `--set n`
  int line = 0, column = 0;
};
/// Orders places: the file from top to bottom, then the --set arguments.
bool operator<(const Place& a, const Place& b);

/// Collects errors; finish() throws them as one Failure.
class Diagnostics {
 public:
  Diagnostics(std::string path, std::string_view text, std::vector<std::string> set);

  /// Adds one error. `allowed` ("1..1024", "adam, adamw or sgd") and `suggestion` (a word) may be empty.
  void add(Place place, std::string message, std::string allowed = {}, std::string suggestion = {});
  /// Adds one error about a file that the suite names at `place`, with the exit code for that file.
  void add_file(Place place, Exit code, std::string message);
  /// Adds the errors inside a file that the suite names, one per line of `lines`. Each states its own place. A line is not added twice.
  void add_lines(Place place, Exit code, std::string_view lines);
  /// Adds one error inside a file that the suite names. Its text states its own place and may have several lines.
  void add_block(Place place, Exit code, std::string text);
  /// The place of character `at` (from 0, of ASCII characters) of the string `text` that stands at `place`; `place` itself if the string is
  /// not written plainly on one line, or comes from --set.
  Place inside(Place place, std::string_view text, std::size_t at) const;
  /// "suite.toml:7:11", or "--set 2".
  std::string text_of(Place place) const;
  bool any() const { return count_ > 0; }
  /// False once there are more errors than a user reads: callers then skip the search for suggestions.
  bool wants_detail() const { return count_ < detailed_; }
  /// Throws a Failure if there was any error. It shows the first 20 in the order of their places, each with its line, a caret and hints, then
  /// "and N more". It has the exit code of the first error.
  void finish() const;

 private:
  struct Entry {
    Place place;
    std::string message, allowed, suggestion;
    Exit code = Exit::suite;
    bool placed = false;  ///< the message states its own place, in another file
  };
  std::string told(const Entry& entry) const;

  static constexpr std::size_t shown_ = 20, detailed_ = 100, kept_ = 1000;
  std::string path_;
  std::string_view text_;
  std::vector<std::string> set_;
  std::vector<Entry> entries_;
  std::size_t count_ = 0;
  bool cut_ = false;  ///< add_lines() was given the line that says that more errors exist
};

struct Node {
  enum class Kind { integer, number, boolean, text, date, list, table };
  Kind kind = Kind::table;
  std::string key;         ///< its key in the table that holds it; empty in lists and for the root
  Place key_place, place;  ///< places of the key and of the value
  std::int64_t integer = 0;
  double number = 0;
  bool boolean = false;
  std::string text;
  std::vector<Node> children;  ///< children of a list or table, in file order
  bool header = false;         ///< a table with a header [key], not an inline table
};

/// The kind of a value in words, for messages: "a whole number", "a list", ….
std::string_view kind_text(Node::Kind kind);

/// Returns the word with '_' replaced by '-': equal for spellings that count as one word.
std::string folded(std::string_view word);

/// Returns the child of a table that has the key ('-' = '_'), or nullptr.
const Node* find_child(const Node& table, std::string_view key);
Node* find_child(Node& table, std::string_view key);

/// Returns one part of a dotted key as TOML writes it: in quotes unless it is a bare key.
std::string written_key(std::string_view part);

}  // namespace odrpo
