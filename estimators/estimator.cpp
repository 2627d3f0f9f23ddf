// Translates catalogue words of estimators to configs and back.
#include "estimators/estimator.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

#include "kernels/shared/failure.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {
namespace {

static_assert(std::all_of(std::begin(form_rows), std::end(form_rows), [](const FormRow& row) {
  constexpr std::string_view before = "posterior(", after = ")";
  const std::string_view word = row.of_posterior;
  return word.empty() || (word.starts_with(before) && word.ends_with(after) &&
                          word.substr(before.size(), word.size() - before.size() - after.size()) == row.word);
}));

/// Every combination of form, weight and norm once, in the order of `list`: forms without a norm, odrpo by weight and norm, odrpo-bitwise.
/// Only forms that read one group, or only the others.
std::vector<EstimatorConfig> choices(bool of_group) {
  std::vector<EstimatorConfig> all;
  for (const FormRow& row : form_rows) {
    if ((row.reads == Reads::group) != of_group) continue;
    EstimatorConfig c;
    c.form = row.form;
    c.ddof = row.ddof;
    c.eps = row.eps;
    if (!has_norm(c.form)) {
      all.push_back(c);
      continue;
    }
    for (const auto& weight : std::span(weight_words).first(c.form == Form::odrpo ? std::size(weight_words) : 1))
      for (const auto& norm : norm_words) {
        c.weight = weight.value;
        c.norm = norm.value;
        all.push_back(c);
      }
  }
  return all;
}

/// Every form that can be applied to posterior scores.
std::vector<EstimatorConfig> posterior_choices() {
  std::vector<EstimatorConfig> all;
  for (const FormRow& row : form_rows) {
    if (row.of_posterior.empty()) continue;
    EstimatorConfig c;
    c.form = row.form;
    c.ddof = row.ddof;
    c.eps = row.eps;
    c.posterior = true;
    all.push_back(c);
  }
  return all;
}

/// Every estimator that can be applied to corrected scores.
std::vector<EstimatorConfig> corrected_choices() {
  std::vector<EstimatorConfig> all = choices(true);
  std::erase_if(all, [](const EstimatorConfig& c) { return row_of(c.form).basis == Basis::bit; });
  for (EstimatorConfig& c : all) c.corrected = true;
  return all;
}

/// The words of a catalogue as strings, and as views of these strings.
struct Words {
  std::vector<std::string> words;
  std::vector<std::string_view> views;
  explicit Words(const std::vector<EstimatorConfig>& configs) {
    for (const auto& config : configs) words.push_back(estimator_word(config));
    views.assign(words.begin(), words.end());
  }
};

}  // namespace

std::string estimator_word(const EstimatorConfig& config) {
  if (config.outside != Outside::none) return std::string(config.outside == Outside::command ? command_word : library_word);
  if (config.corrected) return std::string(before_corrected) + estimator_word(form_of(config)) + ')';
  std::string word(config.posterior ? row_of(config.form).of_posterior : row_of(config.form).word);
  if (!has_norm(config.form)) return word;
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
  for (const auto& all : {choices(true), choices(false), posterior_choices(), corrected_choices()})
    for (const auto& config : all)
      if (same_word(word, estimator_word(config))) return config;
  return std::nullopt;
}

EstimatorConfig estimator_named(std::string_view word) {
  if (const auto config = parse_estimator(word)) return *config;
  throw Failure(Exit::usage, "there is no estimator \"" + std::string(word) + "\" (there are " + joined(whole_catalogue()) + ")");
}

std::span<const std::string_view> estimator_catalogue() {
  static const Words words(choices(true));
  return words.views;
}

std::span<const std::string_view> batch_catalogue() {
  static const Words words(choices(false));
  return words.views;
}

std::span<const std::string_view> posterior_catalogue() {
  static const Words words(posterior_choices());
  return words.views;
}

std::span<const std::string_view> corrected_catalogue() {
  static const Words words(corrected_choices());
  return words.views;
}

std::span<const std::string_view> whole_catalogue() {
  static const std::vector<std::string_view> all = [] {
    std::vector<std::string_view> made;
    for (const auto& some : {estimator_catalogue(), batch_catalogue(), posterior_catalogue(), corrected_catalogue()}) made.insert(made.end(), some.begin(), some.end());
    return made;
  }();
  return all;
}

void refuse_judged(const EstimatorConfig& config) {
  if (needs_judge(config)) throw Failure(Exit::limits, estimator_word(config) + " needs a model of the judge, and there are scores alone");
}

double floor_squared(const EstimatorConfig& config, double variance) {
  if (!config.posterior || !divides_by_deviation(config.form)) return 0;
  return config.floor ? *config.floor * *config.floor : variance;
}

EstimatorConfig form_of(EstimatorConfig config) {
  config.posterior = config.corrected = false;
  return config;
}

}  // namespace odrpo
