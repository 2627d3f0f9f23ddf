// Raters: a noise list, how N votes are aggregated and drawn, and the catalogue of presets (docs/raters.md).
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

// What a judge of the toy language model sees in a text besides its quality, as flat numbers of a rater's config (docs/toy-lm.md).

// Classes of words that judges of texts can tell apart; the toy language model's vocabulary is made of them.

/// What a word is for. The vocabulary holds the classes in this order.
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

/// The part of [rater.NAME] that only texts meet. At its defaults a judge sees the true quality and answers in order.
struct TextJudge {
  double length_bias = 0, length_mid = 12;      ///< seen quality + length_bias (length - length_mid)
  double flattery = 0;                          ///< seen quality + flattery x repeated words, at most flattery_most
  int flattery_most = 8;                        //
  double misfire = 0;                           ///< probability per call that a clean text with a trigger word scores 1
  WordClass misfire_trigger = WordClass::tone;  //
  double overlook = 0;                          ///< probability per call that violations are overlooked
  double json_odd = 0, json_broken = 0;         ///< shares of odd and of broken JSON answers
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

// What the calls of a real judge take and cost. Training simulates the judge; these numbers give a modelled time and cost beside it.

inline constexpr std::string_view judge_seconds_key = "seconds", judge_prices_key = "prices";

/// Of [rater.NAME]. What is unset is not modelled.
struct JudgeCost {
  std::optional<double> seconds_per_call;  ///< s
  int parallel = 1;                        ///< calls at a time
  std::optional<double> price_per_call;    ///< in a unit of the user's choice
  std::vector<double> seconds{}, prices{};  ///< the same of each judge of a panel; empty = one number for all
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

/// Which of several equally frequent scores the vote returns.
enum class TieRule { first, lowest, highest, median_low, nearest_mean };
inline constexpr Word<TieRule> tie_words[] = {
    {TieRule::first, "first", "the first drawn of the tied modes (the same law as a uniform choice among them)"},
    {TieRule::lowest, "lowest", "the lowest tied mode"},
    {TieRule::highest, "highest", "the highest tied mode"},
    {TieRule::median_low, "median-low", "the lower median of the tied modes"},
    {TieRule::nearest_mean, "nearest-mean", "the tied mode nearest the mean of all scores; at equal distance the lower one"},
};

/// What the scores of N calls become.
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

/// Is the distribution of the score of several calls known (envs/rater/aggregate_distribution.cpp)? Others are drawn. Where votes stay apart, each has its own.
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

/// What happens when the judge's answer cannot be read.
enum class ParsePolicy { resample, drop, zero };
inline constexpr Word<ParsePolicy> parse_words[] = {
    {ParsePolicy::resample, "resample", "ask once more; score 1 when that fails too"},
    {ParsePolicy::drop, "drop", "leave the call out; a response without any score takes no part in the update"},
    {ParsePolicy::zero, "zero", "score 0, below the scale: level 1 then tells failures from scores"},
};

/// How the aggregated score is drawn: once from its exact distribution, or by N literal calls.
enum class Sampling { law, draws };
inline constexpr Word<Sampling> sampling_words[] = {
    {Sampling::law, "law", "one draw from the exact law of the aggregated score"},
    {Sampling::draws, "draws", "N literal draws, then the aggregate (the oracle)"},
};

/// Which judge of a panel answers a call.
enum class JudgeOrder { turn, random };
inline constexpr Word<JudgeOrder> order_words[] = {
    {JudgeOrder::turn, "turn", "judges answer in turn, from a first one of the prompt: all its responses are rated by the same judges"},
    {JudgeOrder::random, "random", "each call goes to a judge drawn anew: severity then orders responses"},
};

/// Config of [rater.NAME]: starts as a copy of its base preset.
struct RaterConfig {
  std::vector<Noise> noise;
  WorldProfile world;  ///< the world in which this judge has its Kendall W; used by env profile = "rater"
  Aggregate aggregate = Aggregate::mode;
  TieRule tie = TieRule::first;
  JudgeOrder order = JudgeOrder::turn;  ///< panels only
  int stop = 0;                         ///< a response is asked about until some score was given so often; 0 = by all N calls
  Sampling sampling = Sampling::law;
  double parse_failure = 0;  ///< probability that a call's answer cannot be read, whatever it would have said
  ParsePolicy parse_policy = ParsePolicy::resample;
  TextJudge text;  ///< toy-lm only
  JudgeCost cost;  ///< decides nothing of a score
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

/// Probability that a call gives no answer that can be read; 0 where none is read.
inline double failure_of(const RaterConfig& c) { return c.aggregate == Aggregate::expected ? 0 : c.parse_failure; }
/// Lowest score a rater gives: 0 when unreadable answers score 0, else 1.
inline int lowest_score(const RaterConfig& c) { return failure_of(c) > 0 && c.parse_policy == ParsePolicy::zero ? 0 : 1; }
/// Can a response end without a score?
inline bool has_gaps(const RaterConfig& c) { return failure_of(c) > 0 && c.parse_policy == ParsePolicy::drop; }
/// Does the distribution have fractions as outcomes? (One call gives an integer score.)
inline bool takes_mean(const RaterConfig& c, int votes) { return c.aggregate == Aggregate::mean && votes > 1; }
/// Do the votes of a response stay apart, as scores of their own?
inline bool keeps_votes(Aggregate a) { return a == Aggregate::fraction || a == Aggregate::all; }
/// Scores that are kept of a response: all its votes, or their aggregate.
inline int scores_of_response(const RaterConfig& c, int votes) { return keeps_votes(c.aggregate) ? votes : 1; }
/// Scores of a response that are members of the prompt's group: of aggregate = "fraction" all its votes.
inline int members_of_response(const RaterConfig& c, int votes) { return c.aggregate == Aggregate::fraction ? votes : 1; }
/// Are the rewards of `votes` calls real-valued?
inline bool real_valued(const RaterConfig& c, int votes) { return c.aggregate == Aggregate::expected || takes_mean(c, votes); }
/// The rater without what its calls cost: equal for raters whose scores have one distribution.
inline RaterConfig without_cost(RaterConfig c) {
  c.cost = {};
  return c;
}
/// Can `votes` calls end early?
inline bool stops_early(const RaterConfig& c, int votes) { return c.aggregate == Aggregate::mode && c.stop > 0 && c.stop < votes; }
/// Most calls about one response, repeated answers apart: of a rater that stops, some score comes often enough by then.
inline int most_calls(const RaterConfig& c, int levels, int votes) {
  if (!stops_early(c, votes) || has_gaps(c)) return votes;
  const long enough = static_cast<long>(levels + 1 - lowest_score(c)) * (c.stop - 1) + 1;
  return enough < votes ? static_cast<int>(enough) : votes;
}
/// Expected judge calls for one vote: 1, or 1 + p where unreadable answers are asked for again.
inline double calls_per_vote(const RaterConfig& c) { return c.parse_policy == ParsePolicy::resample ? 1 + failure_of(c) : 1; }
/// Levels K that the rater's matrix, thresholds or distributions have; 0 = it takes any.
inline int rater_levels(const RaterConfig& c) { return noise_levels(c.noise); }
/// Does each call draw its judge?
inline bool draws_judges(const RaterConfig& c) { return c.order == JudgeOrder::random && panel_size(c.noise) > 1; }
/// How the aggregate of `votes` calls is drawn: the calls of a panel have different distributions, so several of them are drawn one by one, as are
/// votes that stay apart, and scores without a distribution. Expected scores are not drawn.
inline Sampling sampling_of(const RaterConfig& c, int votes) {
  if (c.aggregate == Aggregate::expected) return Sampling::law;
  if (scores_of_response(c, votes) > 1 || (votes > 1 && !has_distribution(c.aggregate))) return Sampling::draws;
  const bool panel = panel_size(c.noise) > 1;
  return panel && (votes > 1 || c.order == JudgeOrder::random) ? Sampling::draws : c.sampling;
}

/// One row of the catalogue of raters.
struct RaterPreset {
  std::string_view word;
  std::string_view help;
  RaterConfig config;
};

/// All presets: mixed, veto, wide, gauss, and the stress raters. `mixed` is the default.
std::span<const RaterPreset> rater_presets();

// Raters whose calls about a response become one integer score 1..K.

/// Why `votes` calls of a rater do not become one integer score 1..K of every response, with an exact distribution; nothing where they do.
std::optional<std::string> whole_score_refusal(const RaterConfig& rater, int votes);

}  // namespace odrpo
