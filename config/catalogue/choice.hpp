// Choice: a word that a described key may have, kept as text.
#pragma once
#include <string_view>

namespace odrpo {

/// A word of a choice that is kept as text.
struct Choice {
  std::string_view word, help;
  std::string_view begins{};  ///< any word that begins so is meant, and is checked elsewhere; empty = this word alone
};
}  // namespace odrpo
