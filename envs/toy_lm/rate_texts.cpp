// Computes rewards of texts: text features, the effect of biases, distributions of the reward, and calls drawn one by one.
#include "envs/toy_lm/rate_texts.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "envs/rater/vote_counts.hpp"
#include "kernels/math.hpp"
#include "kernels/random.hpp"

namespace odrpo {
namespace {

constexpr std::size_t most_bytes_kept = std::size_t{64} << 20;  // memory limit of cached distributions

bool writes_json(const TextJudge& j) { return j.json_odd > 0 || j.json_broken > 0; }

// Returns the number of votes that a cached distribution is about: all of them, or 1 where calls are drawn one by one.
int distribution_votes(const RaterConfig& rater, int votes) { return rater.sampling == Sampling::law ? votes : 1; }

// Returns K, the number of levels of the rater's scores.
int levels_of(const RaterConfig& rater) { return rater_levels(rater) > 0 ? rater_levels(rater) : toy_levels; }

// Sets `call` to the distribution of one call's outcomes. `read` has P(read score) of the levels, then P(unreadable), to which parse_policy
// applies.
void settle_failures(ParsePolicy policy, std::span<const double> read, std::span<double> call) {
  const std::size_t levels = read.size() - 1;
  const double failed = read[levels];
  std::fill(call.begin(), call.end(), 0.0);
  const std::size_t shift = policy == ParsePolicy::zero && call.size() > levels ? 1 : 0;
  for (std::size_t k = 0; k < levels; ++k) call[k + shift] = read[k];
  if (failed == 0) return;
  switch (policy) {
    case ParsePolicy::resample:  // asked a second time; score 1 when that fails too
      for (std::size_t k = 0; k < levels; ++k) call[k] *= 1 + failed;
      call[0] += failed * failed;
      return;
    case ParsePolicy::zero: call[0] += failed; return;
    case ParsePolicy::drop: call[levels] += failed; return;
  }
}

}  // namespace

std::vector<TextBias> biases_of(const TextJudge& j) {
  std::vector<TextBias> biases;
  if (j.length_bias != 0) biases.push_back(LengthBias{j.length_bias, j.length_mid});
  if (j.flattery != 0) biases.push_back(RepetitionFlattery{j.flattery, j.flattery_most});
  if (j.misfire > 0 || j.overlook > 0) biases.push_back(VetoMisfire{j.misfire_trigger, j.misfire, j.overlook});
  return biases;
}

RaterConfig with_json_failures(RaterConfig rater) {
  if (rater.text.json_broken > rater.parse_failure) rater.parse_failure = rater.text.json_broken;
  return rater;
}

TextDistributionCost text_distribution_cost(const RaterConfig& rater, int votes) {
  const RaterConfig failing = with_json_failures(rater);
  TextDistributionCost c;
  c.rows = 16.0 * (toy_levels - 1) + 1;
  if (has_prompt_spread(rater.noise)) c.rows *= trait_classes;
  if (offset_sd(rater.noise) > 0) c.rows *= trait_classes;
  if (bias_sd(rater.noise) > 0) c.rows *= trait_classes;
  if (veto_share(rater.noise) > 0) c.rows *= trait_classes + 1;
  c.rows *= latent_rows(rater.noise);
  const double row = count_outcomes(failing, levels_of(rater), distribution_votes(rater, votes)) * sizeof(double) + 200;
  c.bytes = c.rows * row < static_cast<double>(most_bytes_kept) ? c.rows * row : static_cast<double>(most_bytes_kept) + row;
  c.seconds = 10e-6;
  if (rater.sampling == Sampling::law) c.seconds += aggregate_seconds(failing, levels_of(rater), votes);
  else c.calls_seconds = 0.2e-6 + votes * (writes_json(rater.text) ? 45e-9 : 30e-9);
  return c;
}

TextRater::TextRater(const RaterConfig& rater, int votes, std::uint64_t key)
    : rater_(rater),
      votes_(votes),
      key_(key),
      levels_(levels_of(rater)),
      channel_(rater.noise, levels_),
      biases_(biases_of(rater.text)),
      outcomes_(make_outcomes(with_json_failures(rater), levels_, distribution_votes(rater, votes))),
      call_outcomes_(static_cast<std::size_t>(make_outcomes(with_json_failures(rater), levels_, 1).count)),
      stop_(stops_early(rater, votes) ? rater.stop : 0) {
  if (!writes_json(rater.text)) return;
  reading_ = reading_matrix({rater.text.json_odd, rater.text.json_broken}, levels_);
  for (const auto& answer : answer_words)
    for (int score = 1; score <= levels_; ++score)
      read_as_.push_back(parse_score(write_answer(answer.value, score, levels_), levels_).value_or(0));
}

TextRater::Row TextRater::make_row(const SeenText& seen, const Traits& traits) const {
  std::vector<double> meant(levels_), read(levels_ + 1, 0.0);
  text_row(channel_, seen, traits, meant);
  if (rater_.aggregate == Aggregate::expected) return {std::move(meant), static_cast<double>(votes_)};
  if (reading_.empty()) std::copy(meant.begin(), meant.end(), read.begin());
  else read_row(reading_, meant, read);
  // a call fails with parse_failure; if it does not, its JSON may still be unreadable
  for (int k = 0; k < levels_; ++k) read[k] *= 1 - rater_.parse_failure;
  read[levels_] = rater_.parse_failure + (1 - rater_.parse_failure) * read[levels_];
  RaterConfig seen_so = rater_;
  seen_so.parse_failure = read[levels_];
  std::vector<double> call(call_outcomes_);
  settle_failures(rater_.parse_policy, read, call);
  Row row{{}, aggregate_calls(seen_so, call, votes_)};
  if (rater_.parse_policy == ParsePolicy::resample) row.calls *= 1 + read[levels_];
  if (rater_.sampling == Sampling::draws) {
    row.distribution = std::move(meant);
    return row;
  }
  row.distribution.resize(static_cast<std::size_t>(outcomes_.count));
  aggregate_distribution(seen_so, outcomes_, call, votes_, row.distribution);
  return row;
}

const TextRater::Row& TextRater::row(const Text& text, const Verdict& verdict, int turn) {
  const SeenText seen = see_text(biases_, text_features(text), verdict);
  const Traits traits = text_traits(rater_.noise, key_, text, seen, turn);
  Traits besides = traits;  // without the quality, which is part of `seen`
  besides.quality = 0;
  const std::uint64_t code = row_code(besides);
  auto at = rows_.find({seen, code});
  if (at == rows_.end()) {
    const std::size_t bytes = static_cast<std::size_t>(outcomes_.count) * sizeof(double) + sizeof(Row) + 128;
    if ((rows_.size() + 1) * bytes > most_bytes_kept) rows_.clear();
    at = rows_.emplace(std::pair{seen, code}, make_row(seen, traits)).first;
  }
  expected_calls_ = at->second.calls;
  return at->second;
}

std::span<const double> TextRater::distribution(const Text& text, const Verdict& verdict) { return row(text, verdict, 0).distribution; }

int TextRater::pick(std::span<const double> distribution, std::uint32_t word) {
  const double u = (static_cast<double>(word) + 0.5) * 0x1p-32;
  double below = 0;
  for (std::size_t k = 0; k + 1 < distribution.size(); ++k) {
    below += distribution[k];
    if (u < below) return static_cast<int>(k);
  }
  int last = static_cast<int>(distribution.size()) - 1;  // rounding made the sum less than u: take the last possible outcome
  while (last > 0 && distribution[static_cast<std::size_t>(last)] == 0) --last;
  return last;
}

// Draws one attempt at a call: returns the score that is read, or 0 if none can be read.
int TextRater::call(std::span<const double> meant, std::uint32_t step, std::uint32_t prompt, std::uint32_t block) const {
  const Words4 word = draw(key_, Purpose::vote, step, prompt, block);
  if ((static_cast<double>(word.x[0]) + 0.5) * 0x1p-32 < rater_.parse_failure) return 0;
  const int score = 1 + pick(meant, word.x[1]);
  if (read_as_.empty()) return score;
  const Answer written = choose_answer({rater_.text.json_odd, rater_.text.json_broken}, key_, step, prompt, block);
  return read_as_[static_cast<std::size_t>(written) * levels_ + static_cast<std::size_t>(score - 1)];
}

// Aggregates answers_, which are in the order of the calls.
float TextRater::aggregate() {
  if (answers_.empty()) return std::numeric_limits<float>::quiet_NaN();
  const auto n = static_cast<int>(answers_.size());
  if (rater_.aggregate != Aggregate::mean) {
    std::array<int, 101> count{};  // large enough for 100 levels
    for (const ReadAnswer& a : answers_) ++count[static_cast<std::size_t>(a.score)];
    const auto first = [&](int most) {
      return std::find_if(answers_.begin(), answers_.end(),
                          [&](const ReadAnswer& a) { return count[static_cast<std::size_t>(a.score)] == most; })
          ->score;
    };
    return static_cast<float>(vote_counts::whole_score(count, n, 0, levels_, rater_.aggregate, rater_.tie, first));
  }
  int sum = 0;
  for (const ReadAnswer& a : answers_) sum += a.score;
  return static_cast<float>(static_cast<double>(sum) / n);
}

// Returns the mean over all calls of a call's expected score; the judges of a panel answer in turn.
float TextRater::expected_score(const Text& text, const Verdict& verdict, int panel) {
  double sum = 0;
  for (int turn = 0; turn < std::min(panel, votes_); ++turn) {
    const std::vector<double>& meant = row(text, verdict, turn).distribution;
    double mean = 0;
    for (std::size_t k = 0; k < meant.size(); ++k) mean += static_cast<double>(k + 1) * meant[k];
    sum += mean * ((votes_ - turn + panel - 1) / panel);
  }
  return static_cast<float>(sum / votes_);
}

float TextRater::reward(const Text& text, const Verdict& verdict, std::uint32_t word, std::uint32_t step, std::uint32_t rollout) {
  if (rater_.aggregate == Aggregate::expected) return expected_score(text, verdict, panel_size(rater_.noise));
  if (rater_.sampling == Sampling::draws) {
    votes(text, verdict, step, rollout);
    return aggregate();
  }
  const int outcome = pick(row(text, verdict, 0).distribution, word);
  if (outcome == outcomes_.missing) return std::numeric_limits<float>::quiet_NaN();
  return outcomes_.value.empty() ? static_cast<float>(outcomes_.lowest + outcome) : outcomes_.value[static_cast<std::size_t>(outcome)];
}

std::span<const ReadAnswer> TextRater::votes(const Text& text, const Verdict& verdict, std::uint32_t step, std::uint32_t rollout) {
  const auto panel = static_cast<std::uint32_t>(panel_size(rater_.noise));
  const Row* now = &row(text, verdict, 0);
  answers_.clear();
  std::array<int, 101> given{};  // large enough for 100 levels
  int made = 0;
  const std::uint32_t votes = static_cast<std::uint32_t>(votes_), prompt = text.prompt->index;
  for (std::uint32_t v = 0; v < votes; ++v) {
    const std::uint32_t block = 2 * (rollout * votes + v);
    if (draws_judges(rater_)) {
      const std::uint32_t judge = uniform_below(draw(key_, Purpose::vote_judge, step, prompt, block).x[0], panel);
      now = &row(text, verdict, static_cast<int>(judge));
    } else if (panel > 1 && v > 0) {
      now = &row(text, verdict, static_cast<int>(v % panel));
    }
    int answer = call(now->distribution, step, prompt, block);
    asked_ = static_cast<int>(v) + 1;
    ++made;
    if (answer == 0 && rater_.parse_policy == ParsePolicy::resample) {
      ++made;
      answer = call(now->distribution, step, prompt, block + 1);
      if (answer == 0) answer = 1;
    }
    if (answer == 0 && rater_.parse_policy != ParsePolicy::zero) continue;
    answers_.push_back({static_cast<int>(v), answer});
    if (++given[static_cast<std::size_t>(answer)] == stop_) break;
  }
  if (stop_ > 0 && panel > 1) expected_calls_ = made;
  return answers_;
}

// Text features, the effect of biases, and mixtures of the channel's distributions.

namespace {

// Combined effect of a list of biases: shift of quality in levels, P(violations not overlooked), P(no misfire).
struct Sums {
  double shift = 0, not_passed = 1, not_vetoed = 1;
};
void add(Sums& s, const LengthBias& b, const TextFeatures& f, const Verdict&) { s.shift += b.slope * (f.length - b.mid); }
void add(Sums& s, const RepetitionFlattery& b, const TextFeatures& f, const Verdict&) {
  s.shift += b.gain * (f.repeats < b.most ? f.repeats : b.most);
}
void add(Sums& s, const VetoMisfire& b, const TextFeatures& f, const Verdict& v) {
  const bool triggered = (f.classes >> static_cast<int>(b.trigger) & 1) != 0;
  if (!v.clean()) s.not_passed *= 1 - b.pass;
  else if (triggered) s.not_vetoed *= 1 - b.p;
}

int shifted16(int quality16, double shift) {
  const double seen = math::floor(quality16 + 16 * shift + 0.5);
  return seen < 16 ? 16 : seen > 16 * toy_levels ? 16 * toy_levels : static_cast<int>(seen);
}

// Hash of the words of the body: for each word, a draw whose arguments are the hash so far and the word.
std::uint32_t text_hash(std::uint64_t key, const Text& t) {
  std::uint32_t hash = 0;
  for (int i = 0; i < t.length(); ++i)
    hash = draw(key, Purpose::trait_veto, hash, t.prompt->index, 0x80000000u | static_cast<std::uint32_t>(t.body[i])).x[0];
  return hash;
}

// Mixes: row = (1 - p) row + p other.
void mix(std::span<double> row, double p, std::span<const double> other) {
  for (std::size_t k = 0; k < row.size(); ++k) row[k] = (1 - p) * row[k] + p * other[k];
}

}  // namespace

TextFeatures text_features(const Text& t) {
  TextFeatures f;
  f.length = t.length();
  unsigned classes = 0;
  for (int i = 0; i < t.length(); ++i) {
    classes |= 1u << static_cast<int>(t.class_of[i]);
    if (t.class_of[i] == WordClass::separator) continue;
    int j = 0;
    while (t.body[j] != t.body[i]) ++j;
    f.repeats += j < i;
  }
  f.classes = static_cast<std::uint16_t>(classes);
  return f;
}

SeenText see_text(std::span<const TextBias> biases, const TextFeatures& features, const Verdict& verdict) {
  Sums sums;
  for (const TextBias& bias : biases) std::visit([&](const auto& b) { add(sums, b, features, verdict); }, bias);
  SeenText seen;
  seen.quality16 = shifted16(verdict.quality16(), sums.shift);
  seen.passed16 = shifted16(verdict.graded16, sums.shift);
  seen.passed = 1 - sums.not_passed;
  seen.vetoed = 1 - sums.not_vetoed;
  if (seen.passed == 0) seen.passed16 = seen.quality16;  // not used; equal distributions must have equal keys in the table
  const unsigned hacks = static_cast<unsigned>(Requirement::repetition) | static_cast<unsigned>(Requirement::padding);
  seen.hack = (verdict.violations & hacks) != 0;
  return seen;
}

Traits text_traits(std::span<const Noise> noise, std::uint64_t key, const Text& t, const SeenText& seen, int turn) {
  Traits traits;
  traits.quality = seen.quality16 / 16.0;
  traits.hack = seen.hack;
  const std::uint32_t prompt = t.prompt->index;
  if (has_prompt_spread(noise)) traits.spread_class = static_cast<int>(draw(key, Purpose::trait_spread, 0, prompt, 0).x[0] >> 29);
  if (offset_sd(noise) > 0) traits.offset_class = static_cast<int>(draw(key, Purpose::trait_offset, 0, prompt, 0).x[0] >> 29);
  if (bias_sd(noise) > 0) traits.bias_class = static_cast<int>(draw(key, Purpose::trait_bias, text_hash(key, t), prompt, 0).x[0] >> 29);
  if (const double share = veto_share(noise); share > 0) {
    const Words4 w = draw(key, Purpose::trait_veto, text_hash(key, t), prompt, 0);
    if (static_cast<double>(w.x[0]) * 0x1p-32 < share) traits.veto_class = static_cast<int>(w.x[1] >> 29);
  }
  const LatentScale* scale = latent_scale(noise);
  if (scale == nullptr) return traits;
  if (scale->judges() > 1) traits.judge = judge_in_turn(key, prompt, turn, scale->judges());
  if (scale->spread > 0)
    traits.spread_class = static_cast<int>(draw(key, Purpose::trait_response, text_hash(key, t), prompt, 0).x[0] >> 29);
  if (scale->judge_sigma > 0) {
    const auto judge = static_cast<std::uint32_t>(traits.judge);
    traits.judge_class = static_cast<int>(draw(key, Purpose::trait_error, text_hash(key, t), prompt, judge).x[0] >> 29);
  }
  return traits;
}

void text_row(const Channel& channel, const SeenText& seen, const Traits& traits, std::span<double> row) {
  const auto in_levels = [levels = static_cast<int>(row.size())](int quality16) {
    const double quality = quality16 / 16.0;
    return levels == toy_levels ? quality : 1 + (quality - 1) * (levels - 1) / (toy_levels - 1.0);
  };
  Traits sees = traits;
  sees.hack = seen.hack;
  sees.quality = in_levels(seen.quality16);
  channel.row(sees, row);
  std::vector<double> other(row.size());
  if (seen.passed > 0) {
    sees.quality = in_levels(seen.passed16);
    channel.row(sees, other);
    mix(row, seen.passed, other);
  }
  if (seen.vetoed > 0) {
    std::fill(other.begin(), other.end(), 0.0);
    other.front() = 1;
    mix(row, seen.vetoed, other);
  }
}

}  // namespace odrpo
