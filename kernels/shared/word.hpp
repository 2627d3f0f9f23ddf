// Word: one word of a catalogue. A visible table of them is the vocabulary that suite files use for an enumeration.
#pragma once
#include <string_view>

namespace odrpo {

/// One word of a catalogue: its value, how it is written in TOML, and one line of help.
template <class E>
struct Word {
  E value;
  std::string_view word;
  std::string_view help;
};

}  // namespace odrpo
