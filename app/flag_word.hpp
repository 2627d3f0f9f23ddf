// A flag whose value is a word of a table.
#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "kernels/failure.hpp"
#include "kernels/words.hpp"
#include "results/suggest.hpp"
#include "spec/text.hpp"

namespace odrpo::app {

/// The value of that word. Failure usage, with the words that there are and a suggestion, for another one.
template <class E, std::size_t n>
E read_flag_word(std::string_view flag, const Word<E> (&table)[n], const std::string& text) {
  if (const auto value = find_word<E>(table, text)) return *value;
  std::vector<std::string_view> words;
  for (const auto& w : table) words.push_back(w.word);
  throw Failure(Exit::usage,
                fmt::format("{}: there is no \"{}\" (it is one of {}){}", flag, shown(text), one_of(words), did_you_mean(text, words)));
}

}  // namespace odrpo::app
