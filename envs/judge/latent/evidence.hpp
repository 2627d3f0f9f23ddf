// What a table of scores can tell about a judge on a latent scale; parts of tables.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/shared/score_table.hpp"

namespace odrpo {

struct Evidence {
  bool pairs = false;                       ///< a response with two scores
  bool triples = false;                     ///< a response with three
  bool varying_pairs = false;               ///< a response with two scores from judges that give more than one level
  bool differ = false;                      ///< a prompt with two different scores
  bool groups = false;                      ///< a prompt with two responses that have scores
  bool shared = false;                      ///< a response with scores of two judges
  bool repeats = false;                     ///< such a response, which one of them scored twice
  std::uint32_t judges = 0;                 ///< with a score
  std::uint32_t responses = 0, scores = 0;  ///< with a score; that could be read
};
Evidence evidence_of(const ScoreTable& table);

/// Throws Failure(Exit::bad_input) where no judge can be fitted, in the words of fit_latent_scale.
void refuse_what_says_nothing(const ScoreTable& table, const Evidence& evidence);

/// Did a judge score a response twice or more?
bool scored_twice(const ScoreTable& table);

/// 0, 1, .., n - 1.
std::vector<std::uint32_t> numbers_to(std::size_t n);

/// What a choice of prompts is limited by.
enum class PromptSize { ratings, responses };

/// These prompts, or a random choice of them, always the same, that together have at most `most` ratings or responses, or is the smallest
/// prompt. Increasing.
std::vector<std::uint32_t> thinned(const ScoreTable& table, const std::vector<std::uint32_t>& prompts, PromptSize size, std::uint64_t most);

/// Of each judge's scores in these prompts (any may be given several times), the share of each level: [J][K]. Of a judge without scores
/// there: equal shares.
std::vector<double> level_shares(const ScoreTable& table, std::span<const std::uint32_t> prompts);

/// The table of these prompts alone; columns and judges stay, without their counts of blank cells.
ScoreTable take_prompts(const ScoreTable& table, std::span<const std::uint32_t> prompts);

// Leaves judges out of a table of scores.

/// The table with the ratings and columns of these judges ([judges of the table] true) alone. All responses stay, also without ratings.
ScoreTable keep_judges(ScoreTable table, const std::vector<bool>& kept);

/// The table without judges none of whose answers could be read, with a note for each; the table itself where there are none such.
ScoreTable heard_judges(ScoreTable table);

}  // namespace odrpo
