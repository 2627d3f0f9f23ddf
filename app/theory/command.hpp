// The commands of `theory` and the options that each takes from the command line.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace odrpo::app {

/// What the commands of `theory` share: estimators, conventions, levels, and how the table is written.
struct TheoryOptions {
  std::vector<std::string> estimators;      ///< words of the catalogue; empty = those of the command
  std::string compat, median;               ///< words of compat_words, median_words; empty = paper, lower
  int k = 0, origin = 1;                    ///< 0 = EstimatorConfig's
  std::vector<std::string> group_sizes;     ///< M: each a number, several with commas, or a range "2..16"; empty = those of the command
  std::vector<std::string> values;          ///< R_1..R_K; empty = 1..K
  std::string format;                       ///< text (also when empty), csv, json
  bool json = false;                        ///< the same as format json
};

struct TheoryCurlOptions : TheoryOptions {
  std::string suite;                ///< a suite whose runs say estimators, K and M; empty = the flags do
  std::vector<std::string> levels;  ///< K, as group_sizes
  std::string figure;               ///< MAC over K and over M; empty = none
};
int theory_curl(const TheoryCurlOptions&);

struct TheoryFieldOptions : TheoryOptions {
  std::vector<std::string> p;      ///< probabilities of the levels; with a rater of the true ones
  std::string rater;               ///< theory field: whose scores; empty = exact ones
  std::vector<std::string> votes;  ///< N of the rater, as group_sizes; empty = 1
  std::optional<double> triangle;  ///< theory field: a loop around this corner share instead
};
int theory_field(const TheoryFieldOptions&);
int theory_objective(const TheoryFieldOptions&);

struct TheoryLeverageOptions : TheoryOptions {
  std::vector<std::string> group, outliers;  ///< scores; what one of them becomes; empty = a usual group, 1 and K
  std::string rater;                         ///< a word of `list raters`: groups drawn from its world in place of `group`
  int groups = 20'000;                       ///< of `rater`
  long long seed = 1;
  std::string figure;  ///< bars; empty = none
};
int theory_leverage(const TheoryLeverageOptions&);

struct TheoryBoundOptions : TheoryOptions {
  std::vector<std::string> raters;           ///< words of `list raters` or judges' files; empty = mixed
  std::vector<std::string> votes;            ///< N, as group_sizes; empty = 1
  std::vector<std::string> policies, tilts;  ///< words of policies, and numbers; empty = tabular and linear, uniform
  std::string prior;                         ///< a word of prior_words; empty = following
  int levels = 0;                            ///< 0 = the rater's, or 10
  int prompts = 1024, batch = 64, worlds = 4;
  int batches = 1000;  ///< for expected cosines; 0 = none
  int ascent = 4000;   ///< batches that improve the best map for the cosine; 0 = none
  long long seed = 1;
};
int theory_bound(const TheoryBoundOptions&);

}  // namespace odrpo::app
