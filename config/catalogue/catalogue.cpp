// Lookups in the catalogues of the other modules.
#include "config/catalogue/catalogue.hpp"

#include "kernels/shared/words.hpp"

namespace odrpo {

std::vector<std::string_view> CatalogueOf<EnvConfig>::words() {
  std::vector<std::string_view> words;
  for (const auto& w : world_words) words.push_back(w.word);
  return words;
}
std::optional<Entry<EnvConfig>> CatalogueOf<EnvConfig>::find(std::string_view word) {
  const std::span<const Word<WorldKind>> table(world_words);
  const auto kind = find_word(table, word);
  if (!kind) return std::nullopt;
  EnvConfig config;
  config.kind = *kind;
  return Entry<EnvConfig>{std::string(word_of(table, *kind)), config};
}

std::vector<std::string_view> CatalogueOf<RaterConfig>::words() {
  std::vector<std::string_view> words;
  for (const auto& preset : rater_presets()) words.push_back(preset.word);
  return words;
}
std::optional<Entry<RaterConfig>> CatalogueOf<RaterConfig>::find(std::string_view word) {
  for (const auto& preset : rater_presets())
    if (same_word(preset.word, word)) return Entry<RaterConfig>{std::string(preset.word), preset.config};
  return std::nullopt;
}

std::vector<std::string_view> CatalogueOf<PolicyConfig>::words() {
  std::vector<std::string_view> words;
  for (const auto& w : policy_words) words.push_back(w.word);
  return words;
}
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
  const auto config = parse_estimator(word);
  if (!config) return std::nullopt;
  return Entry<EstimatorConfig>{estimator_word(*config), *config};
}

}  // namespace odrpo
