// Measures grounding, instruction following and win rate of a batch of responses; controls the win rate for length by a regression.
#include "envs/toy_lm/held_out.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "envs/toy_lm/instructions.hpp"
#include "kernels/math.hpp"
#include "kernels/random.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo {
namespace {

ResponseMean estimate(std::span<const double> values) {
  ResponseMean e;
  e.count = static_cast<int>(values.size());
  if (values.empty()) return e;
  double squares = 0;
  for (const double x : values) e.mean += x;
  e.mean /= e.count;
  for (const double x : values) squares += (x - e.mean) * (x - e.mean);
  e.sd = e.count > 1 ? math::sqrt(squares / (e.count - 1)) : 0;
  return e;
}

// Calls visit(i, rollout) for each row i. Consecutive rows of one prompt are its rollouts 0, 1, ….
template <class Visit>
void each_row(const ResponseBatch& batch, Visit visit) {
  std::uint32_t rollout = 0;
  for (int i = 0; i < batch.count(); ++i) {
    const std::size_t at = static_cast<std::size_t>(i);
    rollout = i > 0 && batch.prompts[at].index == batch.prompts[at - 1].index ? rollout + 1 : 0;
    visit(i, rollout);
  }
}

double probability_of_yes(const GroundingConfig& c, int judge, bool supported) {
  return supported ? c.sensitivity[judge] : 1 - c.specificity[judge];
}

// Differences of row i, model - baseline: quality (levels) and length (words).
struct Difference {
  double quality, length;
};
Difference difference(const ResponseBatch& model, const ResponseBatch& baseline, int i) {
  const std::size_t at = static_cast<std::size_t>(i);
  if (model.prompts[at].words != baseline.prompts[at].words || model.prompts[at].index != baseline.prompts[at].index)
    throw Failure(Exit::internal, "a win rate compares responses to different prompts");
  const Text a = model.text(i), b = baseline.text(i);
  return {static_cast<double>(judge_text(a).quality() - judge_text(b).quality()), static_cast<double>(a.length() - b.length())};
}

// Returns d of PairwiseConfig (how much better the model's response looks) without the judge's error sigma z.
double expected_seen(const Difference& d, const PairwiseConfig& config) { return d.quality + config.length_slope * d.length; }

void check_counts(const ResponseBatch& model, const ResponseBatch& baseline) {
  if (model.count() != baseline.count()) throw Failure(Exit::internal, "a win rate compares batches of different size");
}

int asked(const Text& t) { return is_paper(t) ? t.prompt->instructions : static_cast<int>(std::size(toy_instructions)); }

unsigned followed(const Text& t) {
  unsigned mask = 0, bit = 1;
  if (is_paper(t)) {
    for (int i = 0; i < t.prompt->instructions; ++i) mask |= follows(t.prompt->instruction[static_cast<std::size_t>(i)], t) ? bit << i : 0;
    return mask;
  }
  for (const Requirement r : toy_instructions) {
    if (holds(r, t)) mask |= bit;
    bit <<= 1;
  }
  return mask;
}

// Returns a variant of the text: without the first word (`first`) or the last (`last`), with fillers or not. `room` stores the remaining words.
Text variant(const Text& t, bool first, bool last, bool fillers, std::array<Token, most_response_tokens>& room) {
  Text v = t;
  std::size_t n = 0;
  for (int i = first; i < t.length() - last; ++i) {
    if (!fillers && t.class_of[i] == WordClass::filler) continue;
    v.class_of[n] = t.class_of[i];
    room[n++] = t.body[i];
  }
  v.body = std::span<const Token>(room).first(n);
  return v;
}

}  // namespace

bool is_supported(const Text& t) { return holds_factuality(t) && helpfulness_points(t) >= 16 * support_facts(t.world->config.difficulty); }

bool passes_filter(const Text& t) { return holds(Requirement::keywords, t) && holds(Requirement::length, t) && holds_end(t); }

StatedFacts stated_facts(const Text& t) {
  StatedFacts facts;
  for (const Token fact : t.prompt->facts) facts.stated += std::find(t.body.begin(), t.body.end(), fact) != t.body.end();
  for (int i = 0; i < t.length(); ++i) {
    const bool again = std::find(t.body.begin(), t.body.begin() + i, t.body[i]) != t.body.begin() + i;
    const bool known = std::find(t.prompt->facts.begin(), t.prompt->facts.end(), t.body[i]) != t.prompt->facts.end();
    facts.foreign += t.class_of[i] == WordClass::fact && !again && !known;
  }
  return facts;
}

ResponseMean grounding(const ResponseBatch& batch, const GroundingConfig& config, std::uint64_t key, std::uint32_t step) {
  std::vector<double> scores;
  each_row(batch, [&](int i, std::uint32_t rollout) {
    const Text t = batch.text(i);
    double score = 0;
    if (passes_filter(t) && is_paper(t)) {
      const StatedFacts facts = stated_facts(t);
      for (int f = 0; f < facts.all(); ++f) {
        const Words4 w = draw(key, Purpose::toy_grounding, step, t.prompt->index, rollout * most_response_tokens + static_cast<std::uint32_t>(f));
        for (int j = 0; j < 2; ++j) score += static_cast<double>(w.x[j]) * 0x1p-32 < probability_of_yes(config, j, f < facts.stated) ? 0.5 : 0.0;
      }
      score /= facts.all();
    } else if (passes_filter(t)) {
      const Words4 w = draw(key, Purpose::toy_grounding, step, t.prompt->index, rollout);
      for (int j = 0; j < 2; ++j) score += static_cast<double>(w.x[j]) * 0x1p-32 < probability_of_yes(config, j, is_supported(t)) ? 0.5 : 0.0;
    }
    scores.push_back(score);
  });
  return estimate(scores);
}

Outcome3 compare_distribution(double d, const PairwiseConfig& c) {
  if (c.sigma == 0) return {d > c.tie ? 1.0 : 0.0, math::abs(d) <= c.tie ? 1.0 : 0.0, d < -c.tie ? 1.0 : 0.0};
  const double win = math::normal_cdf((d - c.tie) / c.sigma), lose = math::normal_cdf((-d - c.tie) / c.sigma);
  return {win, math::normal_interval((-c.tie - d) / c.sigma, (c.tie - d) / c.sigma), lose};
}

WinRate win_rate(const ResponseBatch& model, const ResponseBatch& baseline, const PairwiseConfig& config, std::uint64_t key,
                 std::uint32_t step) {
  check_counts(model, baseline);
  WinRate rate;
  std::vector<double> preference, length;
  each_row(model, [&](int i, std::uint32_t rollout) {
    const Difference d = difference(model, baseline, i);
    const double z =
        math::normal_pair(draw(key, Purpose::toy_pairwise, step, model.prompts[static_cast<std::size_t>(i)].index, rollout).x).a;
    const double seen = expected_seen(d, config) + config.sigma * z;
    rate.wins += seen > config.tie;
    rate.losses += seen < -config.tie;
    preference.push_back(seen > config.tie ? 1.0 : seen < -config.tie ? 0.0 : 0.5);
    length.push_back(d.length);
  });
  rate.ties = model.count() - rate.wins - rate.losses;
  rate.raw = estimate(preference);
  rate.control = control_length(preference, length);
  return rate;
}

LengthControl expected_win_rate(const ResponseBatch& model, const ResponseBatch& baseline, const PairwiseConfig& config) {
  check_counts(model, baseline);
  std::vector<double> quality, length;
  for (int i = 0; i < model.count(); ++i) {
    const Difference d = difference(model, baseline, i);
    quality.push_back(d.quality);
    length.push_back(d.length);
  }
  return expected_win_rate(quality, length, config);
}

LengthControl expected_win_rate(std::span<const double> quality_difference, std::span<const double> length_difference,
                                const PairwiseConfig& config) {
  if (quality_difference.size() != length_difference.size())
    throw Failure(Exit::internal, "a win rate has as many differences of length as of quality");
  std::vector<double> preference;
  for (std::size_t i = 0; i < quality_difference.size(); ++i) {
    const Outcome3 distribution = compare_distribution(expected_seen({quality_difference[i], length_difference[i]}, config), config);
    preference.push_back(distribution.win + 0.5 * distribution.tie);
  }
  return control_length(preference, length_difference);
}

unsigned followed_strictly(const Text& t) { return followed(t); }

unsigned followed_loosely(const Text& t) {
  std::array<Token, most_response_tokens> room;
  unsigned mask = 0;
  for (int v = 0; v < 8; ++v) mask |= followed(variant(t, (v & 1) != 0, (v & 2) != 0, (v & 4) == 0, room));
  return mask;
}

std::array<double, toy_instruction_kinds> followed_by_kind(const ResponseBatch& batch) {
  std::array<double, toy_instruction_kinds> followed{}, asked{};
  for (int i = 0; i < batch.count(); ++i) {
    const Text t = batch.text(i);
    for (int k = 0; k < t.prompt->instructions; ++k) {
      const Instruction kind = t.prompt->instruction[static_cast<std::size_t>(k)];
      asked[static_cast<std::size_t>(kind)] += 1;
      followed[static_cast<std::size_t>(kind)] += follows(kind, t);
    }
  }
  for (std::size_t k = 0; k < followed.size(); ++k) followed[k] /= asked[k];  // 0 / 0: NaN
  return followed;
}

InstructionScores instruction_following(const ResponseBatch& batch) {
  std::vector<double> prompt[2], instruction[2];
  for (int i = 0; i < batch.count(); ++i) {
    const Text t = batch.text(i);
    const int instructions = asked(t);
    const unsigned all = (1u << instructions) - 1;
    const unsigned masks[2] = {followed_strictly(t), followed_loosely(t)};
    for (int m = 0; m < 2; ++m) {
      prompt[m].push_back(masks[m] == all ? 1.0 : 0.0);
      instruction[m].push_back(static_cast<double>(__builtin_popcount(masks[m])) / instructions);
    }
  }
  return {estimate(prompt[0]), estimate(instruction[0]), estimate(prompt[1]), estimate(instruction[1])};
}

// Fits the length-controlled win rate: a logistic regression of two coefficients, by damped Newton steps. Uses exp and log of kernels/math.hpp.

namespace {

double tanh_of(double x) {
  const double e = math::exp(-2 * math::abs(x)), t = (1 - e) / (1 + e);
  return x < 0 ? -t : t;
}

// ln(1 + e^x) without overflow
double softplus(double x) { return (x > 0 ? x : 0) + math::log(1 + math::exp(-math::abs(x))); }

double sigmoid(double x) {
  const double e = math::exp(-math::abs(x)), small = e / (1 + e);
  return x < 0 ? small : 1 - small;
}

// Returns the loss: the sum of the cross-entropies of the preferences y, plus the ridge penalty.
double loss(std::span<const double> y, std::span<const double> x, double model, double length) {
  double sum = 0.5 * control_ridge * (model * model + length * length);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double s = model + length * x[i];
    sum += softplus(s) - y[i] * s;
  }
  return sum;
}

// Returns x of the regression: tanh(difference / sd of the differences); all zeros if the differences are equal.
std::vector<double> length_terms(std::span<const double> difference) {
  const double n = static_cast<double>(difference.size());
  double mean = 0, squares = 0;
  bool equal = true;
  for (const double d : difference) {
    mean += d / n;
    equal = equal && d == difference[0];
  }
  for (const double d : difference) squares += (d - mean) * (d - mean);
  const double sd = math::sqrt(squares / n);
  std::vector<double> x(difference.size(), 0.0);
  if (equal) return x;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = tanh_of(difference[i] / sd);
  return x;
}

}  // namespace

LengthControl control_length(std::span<const double> preference, std::span<const double> length_difference) {
  LengthControl fit;
  if (preference.empty()) return fit;
  const std::vector<double> x = length_terms(length_difference);
  double total = 0;
  for (const double y : preference) total += y;
  fit.raw = total / static_cast<double>(preference.size());
  for (const double shift : x) total += shift;
  if (!(total - total == 0)) {  // some input is not finite: there is nothing to fit
    fit.rate = total - total;
    return fit;
  }

  double now = loss(preference, x, 0, 0);
  while (fit.iterations < control_steps && !fit.converged) {
    // gradient (a, b) and Hessian (aa, ab, bb), which the ridge keeps positive
    double a = control_ridge * fit.model, b = control_ridge * fit.length, aa = control_ridge, ab = 0, bb = control_ridge;
    for (std::size_t i = 0; i < preference.size(); ++i) {
      const double p = sigmoid(fit.model + fit.length * x[i]), w = p * (1 - p);
      a += p - preference[i];
      b += (p - preference[i]) * x[i];
      aa += w;
      ab += w * x[i];
      bb += w * x[i] * x[i];
    }
    const double determinant = aa * bb - ab * ab;
    const double da = (bb * a - ab * b) / determinant, db = (aa * b - ab * a) / determinant;
    fit.converged = math::abs(da) <= control_tolerance && math::abs(db) <= control_tolerance;
    double scale = 1;
    for (int halved = 0; halved < 60; ++halved, scale /= 2) {
      const double next = loss(preference, x, fit.model - scale * da, fit.length - scale * db);
      if (next <= now * (1 + 1e-12)) {  // near the minimum, losses differ only by rounding
        now = next;
        break;
      }
    }
    fit.model -= scale * da;
    fit.length -= scale * db;
    ++fit.iterations;
  }
  fit.rate = sigmoid(fit.model);
  return fit;
}

}  // namespace odrpo
