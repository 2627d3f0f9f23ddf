// The catalogue of estimators: words to configs and back, and the one line of convention that tables print.
#include "estimators/estimator.hpp"

#include <charconv>
#include <vector>

#include "estimators/compat.hpp"
#include "kernels/failure.hpp"

namespace odrpo {
namespace {

/// Every combination of the three choices once, in listing order: the cardinal forms, then odrpo by weight and norm.
std::vector<EstimatorConfig> all_choices() {
  std::vector<EstimatorConfig> all;
  for (const auto& form : form_words) {
    EstimatorConfig c;
    c.form = form.value;
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

std::string number(double x) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, x).ptr;
  return std::string(text, end);
}

/// How the median of gini-median is taken, with the numbers that decide it.
std::string median_text(const EstimatorConfig& c) {
  std::string text(word_of<MedianRule>(median_words, c.median));
  if (c.median != MedianRule::running) return text;
  if (c.running == RunningKind::ema) return text + " ema rho " + number(c.rho);
  return text + " window " + std::to_string(c.window);
}

}  // namespace

std::string estimator_word(const EstimatorConfig& config) {
  std::string word(word_of<Form>(form_words, config.form));
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

std::string whitening_text(const Whitening& w) {
  if (!w.on) return "nothing";
  const auto scale = [&]() -> std::string {
    switch (w.scale) {
      case WhitenScale::floor: return "sqrt(max(var, " + number(w.eps) + "))";
      case WhitenScale::inside: return "sqrt(var + " + number(w.eps) + ")";
      case WhitenScale::added: break;
    }
    return w.eps == 0 ? "std" : "(std + " + number(w.eps) + ")";
  };
  const char* unit = w.unit == WhitenUnit::token ? ", over tokens" : ", over responses";
  return "(A - mean) / " + scale() + ", ddof " + std::to_string(w.ddof) + unit;
}

std::string single_text(const EstimatorConfig& c) {
  const Convention row = convention_of(c);
  if (row.single == Single::zero) return "0";
  const bool weighted = c.form == Form::odrpo && c.weight != Weight::uniform, over = row.single == Single::over_eps;
  const std::string text = weighted ? "sum of w_k over k <= r" : c.origin == 0 ? "r - 1" : "r";
  if (!over) return text;
  return (text == "r" ? text : "(" + text + ")") + " / " + number(row.eps);
}

std::string estimator_formula(const EstimatorConfig& c) {
  const Convention row = convention_of(c);
  const std::string eps = row.eps != 0 ? " + " + number(row.eps) : "";
  const auto over = [&](const std::string& denominator) { return eps.empty() ? denominator : "(" + denominator + eps + ")"; };
  const bool others = row.divisor == Divisor::others_deviation;
  const std::string over_others =
      "mean of others) / " + over("sd of others") + ", sd with ddof " + std::to_string(row.ddof) + ", undivided where it is 0";
  const std::string system = c.compat == Compat::paper ? "" : " [" + std::string(word_of<Compat>(compat_words, c.compat)) + "]";
  const std::string guard = row.guard ? ", zeros when mu <= 0" : "", origin = c.origin == 0 ? ", r - 1 in place of r" : "";
  switch (c.form) {
    case Form::reinforce: return "A = r - mu" + system;
    case Form::rloo: return "A = G/(G-1) (r - mu)" + system;
    case Form::grpo:
      if (others) return "A = (r - " + over_others + system;
      return "A = (r - mu) / " + over("sigma") + ", sigma with ddof " + std::to_string(row.ddof) + system;
    case Form::rank_grpo: return "A = (rank - mean rank) / " + over("sd of ranks") + ", average ranks, ddof 0";
    case Form::maxrl: return "A = (r - mu) / " + over("mu") + origin + guard + system;
    case Form::convex_reinforce: return "A = U(r) - mean U, U(r) = sum over k <= r of sqrt(k)";
    case Form::odrpo: break;
  }
  std::string text = others ? "A = sum_k w_k (1[r>=k] - " + over_others : "A = sum_k w_k (1[r>=k] - mu_k) / " + over("N_k") + ", ";
  if (!others) text += c.norm == Norm::grpo && row.ddof == 1 ? "N_k = sqrt(mu_k (1 - mu_k) G/(G-1))" : help_of<Norm>(norm_words, c.norm);
  text += ", ";
  text += help_of<Weight>(weight_words, c.weight);
  if (c.weight == Weight::gini_median) text += ", Med " + median_text(c);
  return text + system;
}

}  // namespace odrpo
