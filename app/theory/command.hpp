// Declares the commands of `theory`, and the options that each takes from the command line.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace odrpo::app {

/// Options that all commands of `theory` have: estimators, conventions, levels, and the format of the table.
struct TheoryOptions {
  std::vector<std::string> estimators;      ///< words of the catalogue; empty = the command's default
  std::string compat, median;               ///< conventions, and the median of gini-median; empty = paper, lower
  std::optional<double> kappa, r_min;       ///< of qae and corpo; unset = EstimatorConfig's
  int k = 0, origin = 1;                    ///< keys of estimator forms: size k of subsets, 0 = default; origin of maxrl
  std::vector<std::string> group_sizes;     ///< M: "8", "2,4,8" or "2..16"; empty = the command's default
  std::vector<std::string> values;          ///< R_1..R_K, values of levels; empty = 1..K
  std::string format;                       ///< text (also when empty), csv, json
  bool json = false;                        ///< the same as format json
};

std::vector<std::string_view> theory_format_words();

struct TheoryCurlOptions : TheoryOptions {
  std::string suite;                ///< take estimators, K (levels) and M (group size) from its runs; empty = from the flags
  std::vector<std::string> levels;  ///< numbers K of levels, written as group_sizes
  std::string figure;               ///< file for curves of mean absolute curl over K and M; empty = none
};
int theory_curl(const TheoryCurlOptions&);

struct TheoryFieldOptions : TheoryOptions {
  std::vector<std::string> p;      ///< probabilities of the levels 1..K; of the true levels if a rater scores
  std::string rater;               ///< `theory field`: who scores; empty = scores are the true levels
  std::vector<std::string> votes;  ///< numbers N of the rater's calls about a response, written as group_sizes; empty = 1
  std::optional<double> triangle;  ///< `theory field`: e; go around the triangle with corners (1-2e, e, e), (e, 1-2e, e), (e, e, 1-2e)
};
int theory_field(const TheoryFieldOptions&);
int theory_objective(const TheoryFieldOptions&);

struct TheoryLeverageOptions : TheoryOptions {
  std::vector<std::string> group, outliers;  ///< scores of a group, empty = an example; what one of them becomes, empty = 1 and K
  std::string rater;                         ///< a word of `list raters`: draw groups from its world instead of `group`
  int groups = 20'000;                       ///< number of groups that are drawn by `rater`
  long long seed = 1;
  std::string figure;  ///< file for a bar chart; empty = none
};
int theory_leverage(const TheoryLeverageOptions&);

struct TheoryBoundOptions : TheoryOptions {
  std::vector<std::string> raters;           ///< words of `list raters` or judges' files; empty = mixed
  std::vector<std::string> votes;            ///< numbers N of calls about a response, written as group_sizes; empty = 1
  std::vector<std::string> policies, tilts;  ///< policy words, empty = tabular and linear; tilts of policies towards quality, empty = 0
  std::string prior;                         ///< a word of prior_words (estimators/estimator.hpp); empty = following
  std::string quality;                       ///< a word of quality_words (envs/bandit/config.hpp); empty = real
  int levels = 0;                            ///< K; 0 = the rater's own, or 10
  int prompts = 1024, batch = 64, worlds = 4;
  int batches = 1000;  ///< batches drawn in each world to estimate expected cosines; 0 = no cosines
  int ascent = 4000;   ///< batches by which the best map from scores to advantages is trained for a higher cosine; 0 = no training
  long long seed = 1;
};
int theory_bound(const TheoryBoundOptions&);

}  // namespace odrpo::app
