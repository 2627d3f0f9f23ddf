// Reads what a dump's objects hold at their keys in one pass: numbers, hashes of texts, counts of lists. Texts that nobody wants are not kept.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "results/scores/rows.hpp"

namespace odrpo {

/// What is kept of a value beside its kind and its number. Sums of these bits.
enum CellUse : unsigned {
  kept_text = 1,   ///< the text, where it is one
  kept_digits = 2, ///< the text that a number is, as `text`
  kept_hash = 4,   ///< of a text, or of a list or an object with all that it holds
  kept_words = 8,  ///< words of the text; of a list or an object: of its texts under the key "content"
  kept_inside = 16, ///< the texts inside a list or an object one behind the other, as `text`
};

/// The value at one key of an object.
struct DumpCell {
  enum class Kind : std::uint8_t { absent, null, number, boolean, text, list, object };
  Kind kind = Kind::absent;
  bool whole = false;          ///< of a number: it is written without point and exponent
  bool differ = false;         ///< of a list: it has two different numbers other than 0
  double number = 0;           ///< of a number and of a boolean; of a list: the first number other than 0, else 0
  std::uint32_t count = 0;     ///< of a list: its elements
  std::uint32_t numbers = 0, other_than_0 = 0;  ///< of a list: numbers in it, at any depth
  std::uint32_t words = 0;     ///< with kept_words
  std::uint64_t hash = 0;      ///< with kept_hash
  std::string text;            ///< with kept_text
  CellPlace place{};           ///< of text with columns; of JSON it is found when it is needed
};

/// Words between blanks; a character from U+3000 on counts as a word, since such scripts have no blanks.
std::uint32_t words_of(std::string_view text);

/// Reads objects one after the other. Slots belong to keys; a key with points is a path where the objects have no such key themselves. (The interface of
/// json::sax_parse.)
class ObjectReader {
 public:
  using json = nlohmann::json;
  /// The slot of a key, from now on with `use`.
  std::size_t slot(std::string_view key, unsigned use);
  /// Reads the object; values are valid until the next call. A bare NaN is null, a bare Infinity a text. False where it is none: `error_at` says at which byte.
  bool read(std::string_view item);
  const DumpCell& cell(std::size_t slot) const { return slots_[slot].cell; }
  DumpCell::Kind kind(std::size_t slot) const { return slots_[slot].object == object_ ? slots_[slot].cell.kind : DumpCell::Kind::absent; }
  const std::string& name(std::size_t slot) const { return slots_[slot].name; }
  /// The keys of the present object itself, in its order.
  std::vector<std::string> keys() const;
  std::size_t error_at = 0;
  std::string twice;  ///< a key that stands twice in the present object

  bool null() { return scalar(DumpCell::Kind::null, 0, "null"); }
  bool boolean(bool b) { return scalar(DumpCell::Kind::boolean, b, b ? "true" : "false"); }
  bool number_integer(json::number_integer_t n) { return whole(n); }
  bool number_unsigned(json::number_unsigned_t n) { return whole(n); }
  bool number_float(json::number_float_t n, const std::string& digits) { return scalar(DumpCell::Kind::number, n, digits); }
  bool string(std::string& s) { return scalar(DumpCell::Kind::text, 0, s); }
  bool binary(json::binary_t&) { return false; }
  bool start_object(std::size_t) { return open(DumpCell::Kind::object, "{"); }
  bool end_object() { return close("}"); }
  bool start_array(std::size_t) { return open(DumpCell::Kind::list, "["); }
  bool end_array() { return close("]"); }
  bool key(std::string& k);
  bool parse_error(std::size_t place, const std::string&, const json::exception&);

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1), most_slots = 4096;
  struct Slot {
    std::string name;
    unsigned use = 0;
    bool parent = false;     ///< wanted paths lead through it
    std::uint64_t object = 0;  ///< the last object that has it
    DumpCell cell;
  };
  template <class Number>
  bool whole(Number n) {
    const bool text = current_ != none && (slots_[current_].use & (kept_digits | kept_hash)) != 0;
    scalar(DumpCell::Kind::number, static_cast<double>(n), text ? std::to_string(n) : std::string());
    if (current_ != none) slots_[current_].cell.whole = depth_ == value_depth_;
    return true;
  }
  bool scalar(DumpCell::Kind kind, double number, std::string_view text);
  bool open(DumpCell::Kind kind, std::string_view mark);
  bool close(std::string_view mark);
  void reset();
  std::size_t find(std::string_view key);

  std::vector<Slot> slots_;
  std::vector<std::size_t> order_;    ///< slots of the present object's own keys
  std::vector<std::size_t> order_before_;
  std::uint64_t object_ = 0;
  std::size_t current_ = none;        ///< slot of the value that comes or is read
  std::size_t depth_ = 0, value_depth_ = 0;
  std::vector<std::size_t> parents_;  ///< slots of the objects around, where paths lead through them
  bool is_object_ = false, content_ = false, paths_ = false;
};

}  // namespace odrpo
