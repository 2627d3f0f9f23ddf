// Ids of a file of scores as numbers 0, 1, …, and the order of ids.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace odrpo {

/// An id as it is compared: a whole number without leading zeros ("007" is "7"), any other text as it is. `buffer` keeps what is new.
std::string_view plain_id(std::string_view text, std::string& buffer);

/// Numbers texts in the order in which they are met. Texts of different groups are different.
class IdTable {
 public:
  std::uint32_t number_of(std::uint32_t group, std::string_view text);
  std::uint32_t size() const { return static_cast<std::uint32_t>(keys_.size()); }
  std::string_view text(std::uint32_t i) const { return std::string_view(pool_).substr(keys_[i].at, keys_[i].size); }
  std::uint32_t group(std::uint32_t i) const { return keys_[i].group; }

  /// The numbers in order: by rank of their group (`group_rank` empty = by the group itself), then whole numbers by value, then texts by
  /// their bytes.
  std::vector<std::uint32_t> sorted(const std::vector<std::uint32_t>& group_rank) const;
  /// Two texts of one group that differ by the case of ASCII letters alone; empty when there are none.
  std::vector<std::string> same_but_case() const;

 private:
  struct Key {
    std::uint32_t at, size, group;
  };
  bool holds(std::uint32_t i, std::uint32_t group, std::string_view t) const { return keys_[i].group == group && text(i) == t; }
  void grow();
  std::string pool_;
  std::vector<Key> keys_;
  std::vector<std::uint32_t> slots_;  ///< number + 1, or 0; as many as a power of two
  std::uint32_t last_ = 0;
};

/// The rank of each number of a sorted() list.
std::vector<std::uint32_t> ranks_of(const std::vector<std::uint32_t>& sorted);

/// An id for a message: whole numbers as they are, texts in quotes.
std::string shown_id(std::string_view text);

}  // namespace odrpo
