// The judges that a file of scores allows: the fitted one, others that its scores do not rule out, and its responses themselves.
#pragma once
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/shared/score_table.hpp"
#include "train/advice/question.hpp"

namespace odrpo {

/// AdviceQuestion::fit_error of a judge fitted to a file: what makes intervals hold under known judges that wrote files (docs/lab/advice_truth.py).
inline constexpr FitError usual_fit_error{0.05, 0.15};

struct FileJudges {
  JudgeWorld fitted;               ///< on a latent scale (fit_latent_scale)
  std::vector<JudgeWorld> others;  ///< sampled from the fit's uncertainty: each fitted to a random half of the prompts; with, or without,
                                   ///< outliers, where that fits too; the resampled one, whose truth is the middle half of scores
  std::vector<std::string> notes;  ///< why some are missing
  std::vector<std::string> doubts;  ///< sentences: statistics of the file that the fitted judge does not have (goodness_of_fit)
};

/// A judge fitted to a random half of the prompts lies about as far from the one of all prompts as that one from the truth: the variance of
/// a half less the whole is 2 v - v = v. `drawn` of them. Failure(Exit::bad_input) where not even one judge can be fitted to the whole.
/// Nothing when `stop` was set.
std::optional<FileJudges> judges_of(const ScoreTable& table, const std::string& file, int drawn, std::uint64_t seed, int jobs,
                                    const std::atomic<bool>& stop);

}  // namespace odrpo
