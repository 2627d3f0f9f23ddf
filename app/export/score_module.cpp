// Puts the module together from the parts of examples/trainers/score_estimator.py, whose first lines explain how parts are marked.
#include "app/export/score_module.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/command.hpp"
#include "estimators/compat.hpp"
#include "estimators/formula_text.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"
#include "trainer_module.hpp"

namespace odrpo::app {
namespace {

/// The words of the parts that this estimator needs.
std::set<std::string> words_of(const EstimatorConfig& c) {
  const Convention row = convention_of(c);
  const Whitening after = whitening_after(c);
  std::set<std::string> words{std::string(row_of(followed_form(c)).word), c.values.empty() ? "plain" : "values",
                              fmt::format("origin-{}", c.origin), row.guard ? "guard" : "no-guard"};
  if (row.divisor == Divisor::deviation || row.divisor == Divisor::place_deviation) words.insert("deviation");
  if (row.divisor == Divisor::others_deviation) words.insert("others");
  if (row.divisor == Divisor::mean) words.insert("mean");
  if (row.single != Single::zero) words.insert("single");
  if (row_of(c.form).basis == Basis::level && c.form != Form::convex_reinforce) {
    words.emplace(word_of<Weight>(weight_words, level_weighting(c)));
    words.insert(level_weighting(c) == Weight::uniform && c.values.empty() ? "unweighted" : "weighted");
    if (reads_median(level_weighting(c))) words.emplace(word_of<MedianRule>(median_words, c.median));
  }
  if (!after.on) return words;
  words.insert(after.unit == WhitenUnit::token ? "whiten-token" : "whiten-response");
  words.insert(after.scale == WhitenScale::added ? "whiten-added" : after.scale == WhitenScale::inside ? "whiten-inside" : "whiten-floor");
  return words;
}

/// The values of the constants at the module's top.
std::vector<std::pair<std::string, std::string>> constants_of(const EstimatorConfig& c, std::string_view word) {
  const Convention row = convention_of(c);
  const Whitening after = whitening_after(c);
  std::string name = fmt::format("{}_{}", word, word_of<Compat>(compat_words, c.compat));  // a word of Hydra's, as verl needs
  std::erase(name, ')');
  for (char& letter : name)
    if (letter == '-' || letter == '(') letter = '_';
  return {{"NAME", '"' + name + '"'},
          {"DDOF", std::to_string(row.ddof)},
          {"EPS", number_text(row.eps)},
          {"SINGLE", number_text(single_factor(row))},
          {"K", std::to_string(c.k)},
          {"KAPPA", number_text(c.kappa)},
          {"R_MIN", number_text(c.r_min)},
          {"VALUES", fmt::format("[{}]", joined(c.values, number_text))},
          {"MAD_EPS", number_text(mad_eps)},
          {"WHITEN_DDOF", std::to_string(after.ddof)},
          {"WHITEN_EPS", number_text(after.eps)}};
}

/// What the module is, as comments.
std::string header(const EstimatorConfig& c, std::string_view word) {
  const BuildFacts built = build_facts();
  const Whitening after = whitening_after(c);
  return fmt::format("# {}: {}, convention {}. Written by `odrpo-bench export-estimator` of odrpo-bench {} ({}).\n", score_module_name,
                     word, word_of<Compat>(compat_words, c.compat), built.version, built.revision) +
         fmt::format("# {}\n# A group of equal scores gets {}; a group of one gets {}. {}.\n", estimator_formula(c),
                     row_of(c.form).centre == Centre::floored ? single_text(c) : "0", single_text(c),
                     after.on ? "verl() and trl() then whiten the batch: " + whitening_text(after) : "The batch is not whitened");
}

}  // namespace

std::string score_module(const EstimatorConfig& config, std::string_view word) {
  const auto words = words_of(config);
  const auto constants = constants_of(config, word);
  // one of the marks, each a word or several that must all be there
  const auto any = [&](std::string_view marks) {
    const auto all = [&](const std::string& mark) {
      const auto parts = split(mark, '+');
      return std::all_of(parts.begin(), parts.end(), [&](const std::string& word) { return words.contains(word); });
    };
    const auto list = split(marks, ' ');
    return std::any_of(list.begin(), list.end(), all);
  };
  constexpr std::string_view block = "#:", mark = "  #: ";
  std::string text = header(config, word);
  bool wanted = false;
  for (const std::string& line : lines_of(score_parts, '\n')) {
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size()), at = line.rfind(mark);
    if (line.compare(begin, block.size(), block) == 0) {
      wanted = line.size() == begin + block.size() || any(std::string_view(line).substr(begin + block.size() + 1));
      continue;
    }
    if (!wanted || (at != std::string::npos && !any(std::string_view(line).substr(at + mark.size())))) continue;
    std::string kept = line.substr(0, at);
    for (const auto& [name, value] : constants)
      if (kept.starts_with(name + " = "))
        kept = fmt::format("{} = {}{}", name, value, kept.substr(std::min(kept.find("  #"), kept.size())));
    text += kept + '\n';
  }
  if (text.find("\ndef formula(") == std::string::npos)
    throw Failure(Exit::limits, "examples/trainers/score_estimator.py has no part for " + estimator_word(config));
  return text;
}

}  // namespace odrpo::app
