// A fitted judge as a report, as JSON, and as a judge's file.
#pragma once
#include <string>

#include "app/judge/column_finding.hpp"
#include "envs/judge/effective_votes.hpp"
#include "envs/judge/latent/check.hpp"
#include "envs/judge/latent/fit.hpp"

namespace odrpo::app {

/// A fit and what it was made from.
struct JudgeFit {
  std::string file;                 ///< as messages show it
  std::string found;                ///< "540 prompts x 8 responses x 8 samples, 6 levels; 4 judges"
  std::string name;                 ///< of the section [rater.NAME]
  std::vector<std::string> judges;  ///< names, for messages; empty ones where the file names none
  std::vector<double> values;       ///< [K] the scores that the levels stand for
  LatentFit fit;
  GoodnessOfFit check;
  std::vector<EffectiveVotes> worth;  ///< of the fitted judge's calls
  /// Of a file that names no judges.
  std::optional<ColumnFinding> columns{};
};

/// One page: the fitted numbers with intervals, goodness of fit, and what the file cannot tell.
std::string fit_report(const JudgeFit& fit);
/// The same with every digit, and the thresholds.
std::string fit_json(const JudgeFit& fit);
/// A judge's file: [rater.NAME] with its numbers in full, and where they come from in comments.
std::string judge_file(const JudgeFit& fit);

}  // namespace odrpo::app
