// Posterior scores by a rater of the catalogue.
#include "app/compute/posterior_functions.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string_view>
#include <vector>

#include "app/compute/number_json.hpp"
#include "app/compute/first_posterior.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo::app {
namespace {

constexpr int posterior_levels = 10;  // of the worlds of the catalogue's raters

/// A rater of those worlds, by its word.
const RaterConfig& believed_rater(const Arguments& a) {
  const std::string word = a.text("rater");
  std::vector<std::string_view> words;
  for (const RaterPreset& rater : rater_presets()) {
    if (same_word(rater.word, word) && rater_levels(rater.config) == 0) return rater.config;
    if (rater_levels(rater.config) == 0) words.push_back(rater.word);
  }
  throw Refusal{"out_of_range", fmt::format("rater: is one of {}", fmt::join(words, ", "))};
}

}  // namespace

std::string posterior_scores(const Arguments& a) {
  const std::vector<double> given = a.integers("scores", 1, posterior_levels);
  return json_list(first_posterior_scores(believed_rater(a), posterior_levels, a.word<PriorRule>("prior", prior_words),
                                          std::vector<int>(given.begin(), given.end()))
                       .values);
}

std::string posterior_votes(const Arguments& a) {
  constexpr std::size_t most = 255;  // responses, and votes of one
  std::vector<std::vector<int>> votes;
  for (const std::vector<double>& of_response : a.rows("votes", false)) {
    for (const double vote : of_response)
      if (!(vote >= 1 && vote <= posterior_levels && vote == std::floor(vote)))
        throw Refusal{"out_of_range", fmt::format("votes: are whole numbers 1..{}", posterior_levels)};
    votes.emplace_back(of_response.begin(), of_response.end());
    if (of_response.size() > most) throw Refusal{"out_of_range", fmt::format("votes: at most {} of a response", most)};
  }
  if (votes.size() > most) throw Refusal{"out_of_range", fmt::format("votes: at most {} responses", most)};
  const PriorRule prior = a.word<PriorRule>("prior", prior_words);
  return json_list(first_posterior_of_votes(believed_rater(a), posterior_levels, prior, votes), json_or_null);
}

}  // namespace odrpo::app
