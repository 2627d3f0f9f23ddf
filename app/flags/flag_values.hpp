// Reads values of flags that several commands have: words of a table, lists of numbers, raters, how files of scores are read.
#pragma once
#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/command.hpp"
#include "envs/rater/rater.hpp"
#include "estimators/estimator.hpp"
#include "kernels/shared/score_table.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/score_file.hpp"

namespace odrpo::app {

/// How a refusal shows what a flag was given: its beginning, or with printable_line() all of it.
using Quoting = std::string (*)(std::string_view);
inline std::string beginning(std::string_view text) { return shown(text); }

/// Failure usage: `refusal` with a suggestion, and the known words in a line of their own.
[[noreturn]] void refuse_word(const std::string& refusal, std::string_view word, std::span<const std::string_view> words);

/// The value of that word. Failure usage for an unknown word, with the known words and a suggestion.
template <class E, std::size_t n>
E word_or_refuse(std::string_view flag, const Word<E> (&table)[n], const std::string& text, Quoting quoted = beginning) {
  if (const auto value = find_word<E>(table, text)) return *value;
  refuse_word(fmt::format("{}: there is no \"{}\"", flag, quoted(text)), text, words_in(table));
}


/// The floor of posterior scores that --floor names: nothing = "posterior". Failure usage.
inline std::optional<double> read_floor(const std::string& text) {
  constexpr double most = 100;
  if (same_word(text, own_floor)) return std::nullopt;
  const auto floor = number_from<double>(text, 0, most);
  if (!floor) fail(Exit::usage, "--floor is \"{}\": {} or a number 0..{} is wanted", shown(text), own_floor, most);
  return *floor == 0 ? 0.0 : *floor;
}

// Lists of numbers on a command line: "1,2,12", also in several words. Every refusal is a Failure usage that names the flag.

/// The items between the commas of all words; none of them empty, at most 1000.
std::vector<std::string> list_items(std::string_view flag, const std::vector<std::string>& words);

/// One item as a finite number.
double flag_number(std::string_view flag, const std::string& item, Quoting quoted = beginning);

/// All items as finite numbers.
std::vector<double> read_numbers(std::string_view flag, const std::vector<std::string>& words);

// The rater that a command line names: a word of the catalogue, or a judge's file.

/// `name`: a word of `list raters`, or the path of a judge's file, which ends with .toml or holds a slash. Failure usage for an unknown
/// word, with a suggestion; those of load_rater_file() for a file, whose notes go to stderr unless `quiet`.
RaterConfig rater_named(const std::string& name, bool quiet = false);

/// K of the scores that such a rater gives: its own, else `asked`, else 10. Failure usage if `asked` > 0 differs from the rater's own.
int simulated_levels(const RaterConfig& rater, int asked);

// The flags that say how files of scores are read, as the reader takes them; `judge analyze` and `judge fit` share them.

/// Takes what the flags say over into `how`. Failure usage that names the flag.
void set_reading(const ReadingFlags& flags, ScoreReading& how);

/// Failure usage for an invalid scale, for --scale beside --levels, and for a column that is named for two things.
ScoreReading score_reading(const ScoreOptions& o);

/// Flags of `o` that only files of scores have, such as "--prompt"; empty where none is given. --levels is not among them.
std::string file_flag(const ScoreOptions& o);

/// The file's table. Failures of read_scores_file() and parse_scores(): io, or bad_input with file:line:column.
ScoreTable read_score_table(const std::string& path, const ScoreReading& how);

}  // namespace odrpo::app
