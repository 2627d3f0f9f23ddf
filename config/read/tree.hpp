// A suite file as a neutral tree in file order, every value with its place, and what is wrong at which place; nothing here knows the TOML
// library.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/shared/failure.hpp"

namespace odrpo {

// Everything that is wrong with a suite, gathered in one pass and told at once.

/// Where something stands: a line and column of the suite file (from 1, columns in code points), or the n-th --set argument.
struct Place {
  int set = 0;  ///< 0 = the file, n = `--set n`
  int line = 0, column = 0;
};
/// File first, from top to bottom; then the --set arguments.
bool operator<(const Place& a, const Place& b);

/// Collects errors; finish() throws them as one Failure.
class Diagnostics {
 public:
  Diagnostics(std::string path, std::string_view text, std::vector<std::string> set);

  /// One error. `allowed` ("1..1024", "adam, adamw or sgd") and `suggestion` (a word) may be empty.
  void add(Place place, std::string message, std::string allowed = {}, std::string suggestion = {});
  /// One error of a file that the suite names at `place`, with that file's code.
  void add_file(Place place, Exit code, std::string message);
  /// What is wrong inside that file: lines that say themselves where. Those that were added before are not told twice.
  void add_lines(Place place, Exit code, std::string_view lines);
  /// The same for a text of several lines, which belong together.
  void add_block(Place place, Exit code, std::string text);
  bool any() const { return count_ > 0; }
  /// False once there are more errors than anybody reads: looking for suggestions is wasted from then on.
  bool wants_detail() const { return count_ < detailed_; }
  /// Throws when there was any error: the first 20 in reading order, each with its line, a caret and the hints; then "and N more". The
  /// code is the first one's.
  void finish() const;

 private:
  struct Entry {
    Place place;
    std::string message, allowed, suggestion;
    Exit code = Exit::suite;
    bool placed = false;  ///< the message says where
  };
  std::string told(const Entry& entry) const;

  static constexpr std::size_t shown_ = 20, detailed_ = 100, kept_ = 1000;
  std::string path_;
  std::string_view text_;
  std::vector<std::string> set_;
  std::vector<Entry> entries_;
  std::size_t count_ = 0;
  bool cut_ = false;  ///< lines of a file were left out before they came here
};

struct Node {
  enum class Kind { integer, number, boolean, text, date, list, table };
  Kind kind = Kind::table;
  std::string key;         ///< how its table calls it; empty in lists and for the root
  Place key_place, place;  ///< of the key and of the value
  std::int64_t integer = 0;
  double number = 0;
  bool boolean = false;
  std::string text;
  std::vector<Node> children;  ///< entries of a list or table, in file order
  bool header = false;         ///< a table that is not written inline
};

/// "a whole number", "a list", …: for messages.
std::string_view kind_text(Node::Kind kind);

/// A word with '_' as '-': equal for words that are the same.
std::string folded(std::string_view word);

/// The entry of a table whose key is the same word ('-' = '_'), or nullptr.
const Node* find_child(const Node& table, std::string_view key);
Node* find_child(Node& table, std::string_view key);

/// A key path as it would be written: parts that are not bare keys are quoted.
std::string written_key(std::string_view part);

}  // namespace odrpo
