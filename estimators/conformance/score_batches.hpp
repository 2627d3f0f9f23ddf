// Makes the batches of scores by which an outside estimator is compared with a definition: usual groups, and those that programs get wrong.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "estimators/estimator.hpp"
#include "estimators/outside/batch.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {

/// What a batch of scores looks for.
enum class Check { usual, ties, extremes, failed, large, prompts, reals, close, huge, negative, equal, equal_reals, single, missing, mixed, histograms, members, groups, alone, again, laws };
struct CheckRow {
  Check check;
  std::string_view name, about;
};
/// The checks in the order in which they are reported. Those from `members` on compare a program's answers with its own.
inline constexpr CheckRow check_rows[] = {
    {Check::usual, "usual groups", "random scores 1..K, groups of 2, 3, 4, 5, 8, 16 and 32"},
    {Check::ties, "ties", "two or three different scores, each of several members"},
    {Check::extremes, "extreme scores", "one member at the other end of the scale"},
    {Check::failed, "failed answers", "scores of 0 among 1..K"},
    {Check::large, "large groups", "groups of 64"},
    {Check::prompts, "repeated prompts", "two groups of one prompt in a batch"},
    {Check::reals, "real scores", "quarters of a level"},
    {Check::close, "close scores", "scores that differ by thousandths"},
    {Check::huge, "huge scores", "scores of thousands"},
    {Check::negative, "negative scores", "scores below 0"},
    {Check::equal, "equal scores", "groups of one score, at every level"},
    {Check::equal_reals, "equal reals", "the same, of numbers like 0.1 whose mean is rounded"},
    {Check::single, "groups of one", "every score"},
    {Check::missing, "missing scores", "the others are a group; equal others, one, or none may be left"},
    {Check::mixed, "mixed batch", "a batch of 160 groups of all kinds"},
    {Check::histograms, "every histogram", "all small groups of scores 1..5; the expected gradient comes from these"},
    {Check::members, "order of members", "the same members in another order"},
    {Check::groups, "order of groups", "the same groups in another order"},
    {Check::alone, "groups alone", "a group without the rest of its batch"},
    {Check::again, "asked again", "the first batch, after all others"},
    {Check::laws, "shift and scale", "scores shifted or doubled, where the form has such a law"},
};
constexpr const CheckRow& row_of(Check check) {
  const CheckRow* row = check_rows;
  while (row->check != check) ++row;
  return *row;
}

/// The scores that a program takes.
enum class AskedScores { any, in_range, integer };
inline constexpr Word<AskedScores> asked_score_words[] = {
    {AskedScores::any, "any", "integers and reals, also below 0 and far above K"},
    {AskedScores::in_range, "in-range", "integers and reals 0..K"},
    {AskedScores::integer, "integer", "integers 0..K"},
};

/// A batch of groups of one size.
struct Question {
  Check check;
  int members = 0;
  std::vector<std::uint32_t> prompts{};  ///< [groups]
  std::vector<double> scores{};          ///< [groups][members], NaN = missing
  std::vector<int> lengths{};            ///< [groups][members] tokens of each response
  int step = 0;

  std::size_t groups() const { return prompts.size(); }
  std::span<const double> group(std::span<const double> of, std::size_t g) const { return of.subspan(g * static_cast<std::size_t>(members), static_cast<std::size_t>(members)); }
  OutsideBatch batch() const { return {step, prompts, members, scores, lengths}; }
  /// The question with its groups in this order, which may leave some out.
  Question with_groups(Check as, std::span<const std::size_t> order) const;
};

/// The levels whose histograms Check::histograms has all.
constexpr int histogram_levels(int levels) { return levels < 5 ? levels : 5; }

/// Batches for an estimator of scores 1..levels, fixed ones. Scores below 0 only for forms of rewards and ranks; with `values` of the levels none above K.
std::vector<Question> conformance_questions(const EstimatorConfig& config, int levels, AskedScores scores);

/// `question` with the members of each group in reverse.
Question members_reversed(const Question& question);

}  // namespace odrpo
