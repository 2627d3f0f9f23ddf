// What keeps calls from being one whole score.
#include "envs/rater/whole_scores.hpp"

#include "kernels/words.hpp"

namespace odrpo {

std::optional<std::string> whole_score_refusal(const RaterConfig& rater, int votes) {
  const std::string aggregate = "aggregate = \"" + std::string(word_of<Aggregate>(aggregate_words, rater.aggregate)) + "\" ";
  if (rater.text != TextJudge{}) return "it looks at the text of responses, and there is none here";
  if (real_valued(rater, votes)) return aggregate + "makes real-valued scores, and whole ones are needed here";
  if (scores_of_response(rater, votes) > 1) return aggregate + "keeps the votes of a response apart, and one score of each is needed here";
  if (has_gaps(rater)) return "it may leave responses without a score, and groups would differ in size";
  if (lowest_score(rater) < 1) return "it scores unreadable answers 0, below level 1";
  if (votes > 1 && panel_size(rater.noise) > 1)
    return "several calls to a panel go to different judges, and their vote has no law here; ask once";
  return std::nullopt;
}

}  // namespace odrpo
