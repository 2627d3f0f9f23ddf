// [grid] zip as it is written: one axis whose entries set several things at once, such as votes and learn.steps.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "config/read/tree.hpp"

namespace odrpo {

/// What `zip` says: its keys, and which of the different values of each key an entry has.
struct ZipText {
  struct Key {
    std::vector<std::string> path;      ///< {"votes"}, {"learn", "steps"}, {"rater", "NAME", "low", "p"}
    std::string label;                  ///< the path as it is written
    Place place;                        ///< in the first entry
    std::vector<std::size_t> of_entry;  ///< of each entry: an index of `values`
    std::vector<Node> values;           ///< all different, in the order of the entries
  };
  Place key_place;
  std::vector<Key> keys;
  std::size_t entries = 0;  ///< 0 = nothing is zipped
};

/// Most entries of `zip`.
inline constexpr std::size_t most_entries = 1000;

/// Reads `grid.zip`, and puts the values of each key into the tree as a list: the sections then read and check them as those of an axis,
/// each at its own place. What is wrong with the entries themselves is an error.
ZipText unfold_zip(Node& root, Diagnostics& errors);

}  // namespace odrpo
