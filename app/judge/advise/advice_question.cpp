// Words and numbers of the flags of `judge advise`.
#include "app/judge/advise/advice_question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <sstream>
#include <string>

#include "app/printable.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/shared/suggest.hpp"
#include "config/catalogue/catalogue.hpp"
#include "config/read/parse.hpp"

namespace odrpo::app {
namespace {

constexpr const char* advised_estimators[] = {
    "grpo", "rank-grpo", "maxrl", "odrpo(grpo)", "odrpo-gini-median(grpo)", "odrpo-gini-median(maxrl)"};

// "a,b" and "c" as a, b, c; no empty word, none twice
std::vector<std::string> words_of(const std::vector<std::string>& given, const char* flag) {
  std::vector<std::string> words;
  for (const std::string& text : given) {
    std::istringstream parts(text + ",");
    for (std::string word; std::getline(parts, word, ',');) {
      if (word.empty()) throw Failure(Exit::usage, fmt::format("{}: \"{}\" has an empty word", flag, printable_line(text)));
      if (std::find(words.begin(), words.end(), word) != words.end())
        throw Failure(Exit::usage, fmt::format("{}: {} is named twice", flag, printable_line(word)));
      words.push_back(word);
    }
  }
  return words;
}

std::vector<int> numbers_of(const std::vector<std::string>& given, const char* flag, int least, int most) {
  std::vector<int> numbers;
  for (const std::string& word : words_of(given, flag)) {
    int n = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
    if (error != std::errc() || end != word.data() + word.size() || n < least || n > most)
      throw Failure(Exit::usage, fmt::format("{}: \"{}\" is no whole number from {} to {}", flag, printable_line(word), least, most));
    numbers.push_back(n);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

template <class T>
T word_in(std::span<const Word<T>> words, const std::string& word, const char* flag) {
  if (const auto found = find_word(words, word)) return *found;
  std::vector<std::string_view> names;
  for (const auto& w : words) names.push_back(w.word);
  throw Failure(Exit::usage, fmt::format("{}: there is no \"{}\" (it is one of {}){}", flag, printable_line(word), one_of(names),
                                         did_you_mean(word, names)));
}

// An estimator that a suite with these groups and votes would take; else its words.
NamedEstimator estimator_named(const std::string& word, const AdviceQuestion& question) {
  using Estimators = CatalogueOf<EstimatorConfig>;
  const auto found = Estimators::find(word);
  if (!found)
    throw Failure(Exit::usage, fmt::format("--estimators: there is no estimator \"{}\"{}", printable_line(word),
                                           did_you_mean(word, Estimators::words())));
  const std::string suite = fmt::format(
      "[suite]\nname = \"advise\"\nseed = 1\nseeds = 1\n[grid]\nrater = [\"a\", \"b\"]\nestimator = [\"{}\"]\nvotes = [{}]\n"
      "[rater.a]\nbase = \"mixed\"\n[rater.b]\nbase = \"mixed\"\naggregate = \"mean\"\n[learn]\nrollouts = [{}]\n",
      found->word, fmt::join(question.votes, ", "), fmt::join(question.rollouts, ", "));
  try {
    load_suite_text("--estimators " + found->word, suite, {}, {});
  } catch (const Failure& failure) {
    throw Failure(Exit::usage, failure.what());
  }
  return {found->word, found->config};
}

}  // namespace

AdviceQuestion advice_question(const JudgeAdviseOptions& o) {
  AdviceQuestion q;
  q.calls = o.calls;
  if (o.price_call) {
    q.prices = {*o.price_call, *o.price_rollout};
    if (*o.price_call + *o.price_rollout == 0) throw Failure(Exit::usage, "--price-call 0 --price-rollout 0: every choice would be free");
  }
  if (o.seconds_call) q.times = {*o.seconds_call, o.parallel.value_or(1)};
  q.batch = o.batch;
  if (!o.rollouts.empty()) q.rollouts = numbers_of(o.rollouts, "--rollouts", 2, 255);
  if (!o.votes.empty()) q.votes = numbers_of(o.votes, "--votes", 1, 1024);
  if (!o.rules.empty()) {
    q.rules.clear();
    for (const std::string& word : words_of(o.rules, "--rules"))
      q.rules.push_back(word_in(std::span<const Word<VoteRule>>(vote_rule_words), word, "--rules"));
  }
  if (!o.policies.empty()) {
    q.policies.clear();
    for (const std::string& word : words_of(o.policies, "--policies")) {
      const PolicyKind kind = word_in(std::span<const Word<PolicyKind>>(policy_words), word, "--policies");
      if (kind == PolicyKind::transformer) throw Failure(Exit::usage, "--policies: a transformer is what --thorough trains");
      q.policies.push_back(kind);
    }
  }
  std::vector<std::string> names = words_of(o.estimators, "--estimators");
  if (names.empty()) names.assign(std::begin(advised_estimators), std::end(advised_estimators));
  for (const std::string& name : names) q.estimators.push_back(estimator_named(name, q));
  q.report_seeds = o.seeds, q.tuning_seeds = o.tuning_seeds;
  q.thorough = o.thorough;
  q.seed = static_cast<std::uint64_t>(o.seed);
  return q;
}

}  // namespace odrpo::app
