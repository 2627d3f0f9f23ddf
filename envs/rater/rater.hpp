// Defines the config of a rater: its noise models, how the scores of N calls become one reward, and the presets (docs/raters.md).
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "envs/rater/noise.hpp"
#include "envs/rater/scored_responses.hpp"
#include "kernels/shared/field_rules.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {

// A judge of texts reacts to more than quality: to length, repetition and trigger words. These are its config (docs/toy-lm.md).

// Classes of words. Judges of texts distinguish them; together they are the vocabulary of the toy language model.

/// What a word is for. The vocabulary lists its words class after class, in this order.
enum class WordClass : std::uint8_t { end, separator, kind, length, persona, connective, filler, tone, forbidden, fact, keyword, plain };
inline constexpr int word_classes = 12;
inline constexpr Word<WordClass> class_words[] = {
    {WordClass::end, "end", "ends a response"},
    {WordClass::separator, "separator", "ends a sentence"},
    {WordClass::kind, "kind", "says where the required keywords go (prompts only)"},
    {WordClass::length, "length", "says how long the answer should be (prompts only)"},
    {WordClass::persona, "persona", "says who asks (prompts only)"},
    {WordClass::connective, "connective", "links two claims"},
    {WordClass::filler, "filler", "says nothing"},
    {WordClass::tone, "tone", "suits one persona: two words each"},
    {WordClass::forbidden, "forbidden", "must never be said"},
    {WordClass::fact, "fact", "a claim; true when the prompt's context holds it"},
    {WordClass::keyword, "keyword", "a claim that a prompt may require"},
    {WordClass::plain, "plain", "neutral content"},
};

/// Keys of [rater.NAME] that have an effect on texts only. The defaults: a judge perceives the true quality, all answers are readable.
struct TextJudge {
  double length_bias = 0, length_mid = 12;      ///< adds length_bias (words - length_mid) levels to the quality that the judge perceives
  double flattery = 0;                          ///< adds `flattery` levels for each repeated word, for at most flattery_most words
  int flattery_most = 8;                        //
  double misfire = 0;                           ///< probability per call that a clean text with a trigger word scores 1
  WordClass misfire_trigger = WordClass::tone;  //
  double overlook = 0;                          ///< probability per call that violations are overlooked
  double json_odd = 0, json_broken = 0;         ///< share of JSON answers that are unusual but readable; share of broken ones
  bool operator==(const TextJudge&) const = default;
};
inline constexpr OnlyIf length_bias_only = not_zero("length_bias"), flattery_only = not_zero("flattery"),
                        misfire_only = above("misfire", 0);
template <class V>
void describe(V& v, TextJudge& c) {
  v.number("length_bias", c.length_bias, -10.0, 10.0, "toy-lm: levels added per word beyond length_mid");
  v.number("length_mid", c.length_mid, 0.0, 64.0, "toy-lm: length at which length_bias adds nothing", length_bias_only);
  v.number("flattery", c.flattery, -10.0, 10.0, "toy-lm: levels added per word that stood in the text already");
  v.integer("flattery_most", c.flattery_most, 0, 64, "toy-lm: repeated words that flattery counts at most", flattery_only);
  v.number("misfire", c.misfire, 0.0, 1.0, "toy-lm: probability per call that a clean text with a trigger word scores 1");
  v.word("misfire_trigger", c.misfire_trigger, std::span<const Word<WordClass>>(class_words),
         "toy-lm: words that misfire takes for a violation", misfire_only);
  v.number("overlook", c.overlook, 0.0, 1.0, "toy-lm: probability per call that violations are overlooked");
  v.number("json_odd", c.json_odd, 0.0, 1.0, "toy-lm: share of JSON answers written oddly, but readable");
  v.number("json_broken", c.json_broken, 0.0, 1.0, "toy-lm: share of JSON answers that break the format");
}

// Time and price of a real judge's calls. Training only simulates the judge, and reports what a real one would take and cost.

inline constexpr std::string_view judge_seconds_key = "seconds", judge_prices_key = "prices";

/// Keys of [rater.NAME] for time and price. A quantity whose numbers are not set is not reported.
struct JudgeCost {
  std::optional<double> seconds_per_call;  ///< s
  int parallel = 1;                        ///< calls that are answered at the same time
  std::optional<double> price_per_call;    ///< in a unit of the user's choice
  std::vector<double> seconds{}, prices{};  ///< seconds and price per call of each judge of a panel; empty = one number for all judges
  bool timed() const { return seconds_per_call || !seconds.empty(); }
  bool priced() const { return price_per_call || !prices.empty(); }
  bool any() const { return timed() || priced(); }
  bool by_judge() const { return !seconds.empty() || !prices.empty(); }
  bool operator==(const JudgeCost&) const = default;
};
inline constexpr OnlyIf timed_calls_only = above("seconds_per_call", 0) || given(judge_seconds_key);
template <class V>
void describe(V& v, JudgeCost& c) {
  v.optional_number("seconds_per_call", c.seconds_per_call, 0.0, 1e6,
                    "seconds that one call of a real judge takes: gives `judge_seconds` and `modelled_seconds`; changes no training");
  v.integer("parallel", c.parallel, 1, 1'000'000, "calls that such a judge answers at a time", timed_calls_only);
  v.optional_number("price_per_call", c.price_per_call, 0.0, 1e9,
                    "price of one call, in any unit: gives `judge_cost`; changes no training");
  v.numbers(judge_seconds_key, c.seconds, 0.0, 1e6, "of a panel, instead of `seconds_per_call`: a list with the seconds of each judge");
  v.numbers(judge_prices_key, c.prices, 0.0, 1e9, "of a panel, instead of `price_per_call`: a list with the price of each judge");
}

/// Rule by which the vote chooses among several equally frequent scores.
enum class TieRule { first, lowest, highest, median_low, nearest_mean };
inline constexpr Word<TieRule> tie_words[] = {
    {TieRule::first, "first", "the first drawn of the tied modes (the same law as a uniform choice among them)"},
    {TieRule::lowest, "lowest", "the lowest tied mode"},
    {TieRule::highest, "highest", "the highest tied mode"},
    {TieRule::median_low, "median-low", "the lower median of the tied modes"},
    {TieRule::nearest_mean, "nearest-mean", "the tied mode nearest the mean of all scores; at equal distance the lower one"},
};

/// How the scores of N calls about a response become its reward.
enum class Aggregate { mode, median, mean, expected, fraction, all };
inline constexpr Word<Aggregate> aggregate_words[] = {
    {Aggregate::mode, "mode", "the most frequent score (majority vote); `tie` decides among several"},
    {Aggregate::median, "median", "the median score; the lower one of an even number"},
    {Aggregate::mean, "mean", "the mean score: a real-valued reward"},
    {Aggregate::expected, "expected",
     "the mean over calls of the expected score, as read from a call's probabilities of all scores: a real-valued reward"},
    {Aggregate::fraction, "fraction",
     "no aggregate: at each level ODRPO takes the share of the votes that reach it, instead of 0 or 1; estimators with levels only"},
    {Aggregate::all, "all", "no aggregate: a posterior estimator takes what all votes of a response say of its quality; no other estimator"},
};

/// True if the exact distribution of the aggregate can be computed (aggregate_distribution.cpp). If false, all N calls are drawn.
/// True for `fraction` and `all` too: each of their separate votes has the distribution of one call.
constexpr bool has_distribution(Aggregate aggregate) {
  switch (aggregate) {
    case Aggregate::mode:
    case Aggregate::median:
    case Aggregate::mean:
    case Aggregate::expected:
    case Aggregate::fraction:
    case Aggregate::all: return true;
  }
  return false;
}

/// What happens with a call whose answer cannot be read.
enum class ParsePolicy { resample, drop, zero };
inline constexpr Word<ParsePolicy> parse_words[] = {
    {ParsePolicy::resample, "resample", "ask once more; score 1 when that fails too"},
    {ParsePolicy::drop, "drop", "leave the call out; a response without any score takes no part in the update"},
    {ParsePolicy::zero, "zero", "score 0, below the scale: level 1 then tells failures from scores"},
};

/// How the aggregated score is drawn: once from its exact distribution, or by drawing the scores of N calls one by one.
enum class Sampling { law, draws };
inline constexpr Word<Sampling> sampling_words[] = {
    {Sampling::law, "law", "one draw from the exact law of the aggregated score"},
    {Sampling::draws, "draws", "N literal draws, then the aggregate (the oracle)"},
};

/// Rule by which a call goes to one judge of a panel.
enum class JudgeOrder { turn, random };
inline constexpr Word<JudgeOrder> order_words[] = {
    {JudgeOrder::turn, "turn", "judges answer in turn, from a first one of the prompt: all its responses are rated by the same judges"},
    {JudgeOrder::random, "random", "each call goes to a judge drawn anew: severity then orders responses"},
};

/// Config of one rater, the section [rater.NAME]. It starts as a copy of the preset that the section names as its base.
struct RaterConfig {
  std::vector<Noise> noise;
  WorldProfile world;  ///< the world in which a preset has its published Kendall W; worlds with profile = "rater" use it
  Aggregate aggregate = Aggregate::mode;
  TieRule tie = TieRule::first;
  JudgeOrder order = JudgeOrder::turn;  ///< has an effect for panels only
  int stop = 0;                         ///< calls about a response end when any score was given `stop` times; 0 = always N calls
  Sampling sampling = Sampling::law;
  double parse_failure = 0;  ///< probability that a call's answer cannot be read, independent of the score
  ParsePolicy parse_policy = ParsePolicy::resample;
  TextJudge text;  ///< has an effect on texts (toy-lm) only
  JudgeCost cost;  ///< has no effect on scores
};
inline constexpr OnlyIf tie_only = word_is("aggregate", aggregate_words, {Aggregate::mode}, "only aggregate = \"mode\" has ties");
inline constexpr OnlyIf mode_only =
    word_is("aggregate", aggregate_words, {Aggregate::mode}, "only aggregate = \"mode\" waits for equal scores");
inline constexpr OnlyIf answers_only =
    word_is("aggregate", aggregate_words, {Aggregate::mode, Aggregate::median, Aggregate::mean, Aggregate::fraction, Aggregate::all},
            "aggregate = \"expected\" reads probabilities, not an answer");
inline constexpr OnlyIf drawn_only =
    word_is("aggregate", aggregate_words, {Aggregate::mode, Aggregate::median, Aggregate::mean, Aggregate::fraction, Aggregate::all},
            "aggregate = \"expected\" draws nothing");
inline constexpr OnlyIf panels_only = drawn_only && noise_is({LatentNoise::word, ResampleNoise::word}, "one judge answers every call");
inline constexpr OnlyIf failures_only = above("parse_failure", 0) || above("json_broken", 0);
inline constexpr OnlyIf bandit_only = env_is("bandit", "it makes the bandit's world, and this suite has only toy-lm's");
inline constexpr OnlyIf world_only =
    bandit_only && noise_is({GaussianNoise::word, Confusion::word}, "a latent scale and a file's responses bring a world of their own");
inline constexpr OnlyIf hacks_only =
    bandit_only && noise_is({GaussianNoise::word, Confusion::word, LatentNoise::word}, "none of a file's responses hacks");
template <class V>
void describe(V& v, RaterConfig& c) {
  v.models("noise", c.noise, "list of noise models; the first makes a distribution, each next one maps it");
  v.word("aggregate", c.aggregate, std::span<const Word<Aggregate>>(aggregate_words), "what the scores of N calls become");
  v.word("tie", c.tie, std::span<const Word<TieRule>>(tie_words), "which of several modes the vote returns", tie_only);
  v.integer("stop", c.stop, 0, 1024,
            "calls are made one after the other until some score was given so often, at most N; 0 = always N calls", mode_only);
  v.word("order", c.order, std::span<const Word<JudgeOrder>>(order_words), "which judge of a panel answers a call", panels_only);
  v.word("sampling", c.sampling, std::span<const Word<Sampling>>(sampling_words), "how the aggregated score is drawn", drawn_only);
  v.number("parse_failure", c.parse_failure, 0.0, 1.0, "probability that a call's answer cannot be read", answers_only);
  v.word("parse_policy", c.parse_policy, std::span<const Word<ParsePolicy>>(parse_words), "what happens then", failures_only);
  describe(v, c.world, rater_world_keys, world_only, hacks_only);
  describe(v, c.text);
  describe(v, c.cost);
}

/// Probability that a call's answer cannot be read; 0 for aggregate = "expected", which reads the probabilities of all scores.
inline double failure_of(const RaterConfig& c) { return c.aggregate == Aggregate::expected ? 0 : c.parse_failure; }
/// Lowest score a rater gives: 0 when unreadable answers score 0, else 1.
inline int lowest_score(const RaterConfig& c) { return failure_of(c) > 0 && c.parse_policy == ParsePolicy::zero ? 0 : 1; }
/// True if a response may end without any score, because unreadable answers are dropped.
inline bool has_gaps(const RaterConfig& c) { return failure_of(c) > 0 && c.parse_policy == ParsePolicy::drop; }
/// True if rewards are means of several integer scores, so that their distribution is over fractions.
inline bool takes_mean(const RaterConfig& c, int votes) { return c.aggregate == Aggregate::mean && votes > 1; }
/// True if an aggregate keeps each vote of a response as a separate score.
inline bool keeps_votes(Aggregate a) { return a == Aggregate::fraction || a == Aggregate::all; }
/// Returns the number of scores that are kept for a response: `votes` if they stay separate (keeps_votes()), else 1.
inline int scores_of_response(const RaterConfig& c, int votes) { return keeps_votes(c.aggregate) ? votes : 1; }
/// Returns the number of values that a response adds to its prompt's group: `votes` for aggregate = "fraction", else 1.
inline int members_of_response(const RaterConfig& c, int votes) { return c.aggregate == Aggregate::fraction ? votes : 1; }
/// True if `votes` calls give a real-valued reward; false for an integer score.
inline bool real_valued(const RaterConfig& c, int votes) { return c.aggregate == Aggregate::expected || takes_mean(c, votes); }
/// Returns a copy without time and price of calls. Raters whose copies are equal give scores of the same distribution.
inline RaterConfig without_cost(RaterConfig c) {
  c.cost = {};
  return c;
}
/// True if `votes` calls about a response may end early, by the key `stop`.
inline bool stops_early(const RaterConfig& c, int votes) { return c.aggregate == Aggregate::mode && c.stop > 0 && c.stop < votes; }
/// Returns the most calls about one response; repeated requests do not count. With `stop` and n different scores, n (stop - 1) + 1 calls suffice.
inline int most_calls(const RaterConfig& c, int levels, int votes) {
  if (!stops_early(c, votes) || has_gaps(c)) return votes;
  const long enough = static_cast<long>(levels + 1 - lowest_score(c)) * (c.stop - 1) + 1;
  return enough < votes ? static_cast<int>(enough) : votes;
}
/// Returns the expected judge calls for one vote: 1, or 1 + P(unreadable) where unreadable answers are requested again.
inline double calls_per_vote(const RaterConfig& c) { return c.parse_policy == ParsePolicy::resample ? 1 + failure_of(c) : 1; }
/// Number of levels K for which the rater's matrix, thresholds or distributions are made; 0 = any number.
inline int rater_levels(const RaterConfig& c) { return noise_levels(c.noise); }
/// True if each call goes to a random judge of the panel; false if judges answer in turn.
inline bool draws_judges(const RaterConfig& c) { return c.order == JudgeOrder::random && panel_size(c.noise) > 1; }
/// Returns how the reward of `votes` calls is drawn. Calls are drawn one by one for: several calls to a panel, whose judges differ;
/// random judges; separate votes; aggregates without a known distribution. Else the config decides. Expected scores need no draw.
inline Sampling sampling_of(const RaterConfig& c, int votes) {
  if (c.aggregate == Aggregate::expected) return Sampling::law;
  if (scores_of_response(c, votes) > 1 || (votes > 1 && !has_distribution(c.aggregate))) return Sampling::draws;
  const bool panel = panel_size(c.noise) > 1;
  return panel && (votes > 1 || c.order == JudgeOrder::random) ? Sampling::draws : c.sampling;
}

/// A preset of the catalogue of raters: its name in suites, its description and its config.
struct RaterPreset {
  std::string_view word;
  std::string_view help;
  RaterConfig config;
};

/// All presets. `mixed` is the default.
std::span<const RaterPreset> rater_presets();

// The condition that all calls about a response become one integer score 1..K.

/// Returns the reason (a clause) why `votes` calls do not give every response one integer score 1..K of known distribution; nullopt if they do.
std::optional<std::string> whole_score_refusal(const RaterConfig& rater, int votes);

}  // namespace odrpo
