// The catalogue of estimators: words to configs and back.
#include "estimators/estimator.hpp"

#include <vector>

#include "kernels/failure.hpp"

namespace odrpo {
namespace {

/// Every combination of the three choices once, in listing order: the cardinal forms, then odrpo by weight and norm.
std::vector<EstimatorConfig> all_choices() {
  std::vector<EstimatorConfig> all;
  for (const FormRow& row : form_rows) {
    EstimatorConfig c;
    c.form = row.form;
    if (c.form != Form::odrpo) {
      all.push_back(c);
      continue;
    }
    for (const auto& weight : weight_words)
      for (const auto& norm : norm_words) {
        c.weight = weight.value;
        c.norm = norm.value;
        all.push_back(c);
      }
  }
  return all;
}

}  // namespace

std::string estimator_word(const EstimatorConfig& config) {
  std::string word(row_of(config.form).word);
  if (config.form != Form::odrpo) return word;
  if (config.weight != Weight::uniform) {
    word += '-';
    word += word_of<Weight>(weight_words, config.weight);
  }
  word += '(';
  word += word_of<Norm>(norm_words, config.norm);
  return word + ')';
}

std::optional<EstimatorConfig> parse_estimator(std::string_view word) {
  constexpr std::string_view uniform = "odrpo-uniform(";
  if (same_word(word, "dr-grpo")) word = "reinforce";
  std::string plain;
  if (word.size() > uniform.size() && same_word(word.substr(0, uniform.size()), uniform)) {
    plain = "odrpo(";
    plain += word.substr(uniform.size());
    word = plain;
  }
  for (const auto& config : all_choices())
    if (same_word(word, estimator_word(config))) return config;
  return std::nullopt;
}

EstimatorConfig estimator_named(std::string_view word) {
  if (const auto config = parse_estimator(word)) return *config;
  std::string all;
  for (const std::string_view known : estimator_catalogue()) all.append(all.empty() ? "" : ", ").append(known);
  throw Failure(Exit::usage, "there is no estimator \"" + std::string(word) + "\" (there are " + all + ")");
}

std::span<const std::string_view> estimator_catalogue() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> made;
    for (const auto& config : all_choices()) made.push_back(estimator_word(config));
    return made;
  }();
  static const std::vector<std::string_view> views(words.begin(), words.end());
  return views;
}

}  // namespace odrpo
