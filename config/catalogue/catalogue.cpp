// Looks up words in the catalogues of the other modules; finds the kind of rewards of a run.
#include "config/catalogue/catalogue.hpp"

#include "config/spec.hpp"
#include "envs/toy_lm/rate_texts.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {

std::vector<std::string_view> CatalogueOf<EnvConfig>::words() { return words_in(world_words); }
std::optional<Entry<EnvConfig>> CatalogueOf<EnvConfig>::find(std::string_view word) {
  const std::span<const Word<WorldKind>> table(world_words);
  const auto kind = find_word(table, word);
  if (!kind) return std::nullopt;
  EnvConfig config;
  config.kind = *kind;
  return Entry<EnvConfig>{std::string(word_of(table, *kind)), config};
}

std::vector<std::string_view> CatalogueOf<RaterConfig>::words() { return words_in(rater_presets()); }
std::optional<Entry<RaterConfig>> CatalogueOf<RaterConfig>::find(std::string_view word) {
  for (const auto& preset : rater_presets())
    if (same_word(preset.word, word)) return Entry<RaterConfig>{std::string(preset.word), preset.config};
  return std::nullopt;
}

std::vector<std::string_view> CatalogueOf<PolicyConfig>::words() { return words_in(policy_words); }
std::optional<Entry<PolicyConfig>> CatalogueOf<PolicyConfig>::find(std::string_view word) {
  const std::span<const Word<PolicyKind>> table(policy_words);
  const auto kind = find_word(table, word);
  if (!kind) return std::nullopt;
  PolicyConfig config;
  config.kind = *kind;
  return Entry<PolicyConfig>{std::string(word_of(table, *kind)), config};
}

std::vector<std::string_view> CatalogueOf<EstimatorConfig>::words() {
  const auto all = whole_catalogue();
  return {all.begin(), all.end()};
}
std::optional<Entry<EstimatorConfig>> CatalogueOf<EstimatorConfig>::find(std::string_view word) {
  const auto config = same_word(word, command_word)   ? std::optional(EstimatorConfig{.outside = Outside::command})
                      : same_word(word, library_word) ? std::optional(EstimatorConfig{.outside = Outside::library})
                                                      : parse_estimator(word);
  if (!config) return std::nullopt;
  return Entry<EstimatorConfig>{estimator_word(*config), *config};
}

// The kind of rewards of a run.

RewardKind reward_kind(const RunSpec& spec) {
  const RaterConfig rater = with_json_failures(spec.rater);
  return {.real = real_valued(rater, spec.votes),
          .gaps = has_gaps(rater),
          .lowest = lowest_score(rater),
          .levels = spec.env.levels(),
          .votes = scores_of_response(rater, spec.votes),
          .members = members_of_response(rater, spec.votes)};
}

int group_size(const RunSpec& spec) { return spec.learn.rollouts * members_of_response(spec.rater, spec.votes); }

}  // namespace odrpo
