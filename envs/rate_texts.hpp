// Rating a batch of texts: the law of the seen reward of each, kept while its key comes back, and one draw from it or N literal calls.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "envs/judge_json.hpp"
#include "envs/law_table.hpp"
#include "envs/text_rater.hpp"

namespace odrpo {

/// The biases of a judge's config; none at its defaults.
std::vector<TextBias> biases_of(const TextJudge& judge);

/// The rater as what follows sees it: with broken JSON answers calls can fail even where parse_failure is 0.
RaterConfig with_json_failures(RaterConfig rater);

/// Chance that a call's answer cannot be read: parse_failure, then broken JSON (an upper bound: some broken answers can be read).
inline double failure_chance(const RaterConfig& rater) { return rater.parse_failure + (1 - rater.parse_failure) * rater.text.json_broken; }

/// Most laws that texts can ask of a rater, and about what one weighs (bytes) and takes (seconds).
struct TextLawCost {
  double rows = 0, bytes = 0, seconds = 0;
};
TextLawCost text_law_cost(const RaterConfig& rater, int votes);

/// A judge at work in one world; keeps the laws it has made, 64 MiB of them at most.
class TextRater {
 public:
  /// `key` = the run's, which gives prompts and texts their traits.
  TextRater(const RaterConfig& rater, int votes, std::uint64_t key);

  /// Law of the outcomes of `votes` calls (envs/law_table.hpp) about one text; valid until the next call.
  std::span<const double> law(const Text& text, const Verdict& verdict);
  /// Index of the outcome that a word draws from a law: the first whose cumulative probability exceeds word / 2^32.
  static int pick(std::span<const double> law, std::uint32_t word);
  const Outcomes& outcomes() const { return outcomes_; }
  /// Calls expected for the law asked for last: votes, and more where unreadable answers are asked for again.
  double expected_calls() const { return expected_calls_; }

 private:
  struct Row {
    std::vector<double> law;
    double calls;
  };
  Row make_row(const SeenText& seen, const Traits& traits) const;

  RaterConfig rater_;
  int votes_;
  std::uint64_t key_;
  std::vector<TextBias> biases_;
  std::vector<double> reading_;  // of JSON answers; empty when all are read as meant
  Outcomes outcomes_;
  std::size_t call_outcomes_;  // of one call
  std::map<std::pair<SeenText, std::uint32_t>, Row> rows_;
  double expected_calls_ = 0;
};

}  // namespace odrpo
