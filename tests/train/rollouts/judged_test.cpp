// Tests qualities that are drawn from their posterior, and the numbers made of them, against the enumeration of every case.
#include "train/rollouts/judged.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "envs/rater/noise.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"
#include "train/rollouts/judged_priors.hpp"
#include "train/rollouts/quality_posterior.hpp"

using namespace odrpo;

namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();
constexpr int levels = 3;
const std::vector<double> matrix = {0.7, 0.2, 0.1, 0.15, 0.7, 0.15, 0.2, 0.1, 0.7};  // P(score | true level)

RaterConfig confused_judge() {
  RaterConfig rater;
  rater.noise = {Confusion{{levels, std::make_shared<const std::vector<double>>(matrix)}}};
  return rater;
}
double channel(double quality, int score) { return matrix[static_cast<std::size_t>((std::floor(quality + 0.5) - 1) * levels + score - 1)]; }

/// P(the mode of three calls is `score`), the first drawn of three different ones, by enumeration of all calls.
double mode_of_three(double quality, int score) {
  double p = 0;
  for (int a = 1; a <= levels; ++a)
    for (int b = 1; b <= levels; ++b)
      for (int c = 1; c <= levels; ++c)
        if ((b == c ? b : a) == score) p += channel(quality, a) * channel(quality, b) * channel(quality, c);
  return p;
}

/// All qualities of two responses with these scores, and their probability, by definition: sum over states of P(c) prod P(q_i | c) P(score_i | q_i).
std::map<std::pair<double, double>, double> enumerate(const QualityPosterior& model, std::span<const double> prior, int one, int two) {
  std::map<std::pair<double, double>, double> joint;
  double total = 0;
  for (std::size_t c = 0; c < prior.size(); ++c)
    for (const auto& a : model.believed().members(c))
      for (const auto& b : model.believed().members(c)) {
        const double qa = model.believed().quality[a.response], qb = model.believed().quality[b.response];
        const double p = prior[c] * a.probability * channel(qa, one) * b.probability * channel(qb, two);
        joint[{qa, qb}] += p, total += p;
      }
  for (auto& [q, p] : joint) p /= total;
  return joint;
}

Rollouts dump(const std::vector<std::vector<double>>& groups) {
  Rollouts r;
  r.files = {"dump.jsonl"};
  r.reward_names = {"reward"};
  for (const auto& group : groups) {
    r.groups.push_back({1, static_cast<std::uint32_t>(r.prompts.size()), static_cast<std::uint32_t>(r.rewards.size()), static_cast<std::uint32_t>(group.size())});
    r.prompts.push_back("p" + std::to_string(r.prompts.size()));
    for (const double reward : group) r.rewards.push_back(reward), r.place.push_back({0, static_cast<std::uint32_t>(r.rewards.size())});
  }
  return r;
}

JudgedOptions asked(std::vector<const char*> words = {"grpo"}) {
  JudgedOptions o;
  o.judge = {"judge.toml", confused_judge(), {1, 2, 3}, 1};
  for (const char* word : words) o.estimators.push_back(*parse_estimator(word));
  return o;
}

}  // namespace

TEST_CASE("drawn qualities have the enumerated posterior") {
  QualityPosterior model(confused_judge(), levels, 1, 2);
  const PriorFit fit(model, {{0, 2}, {1, 1}});
  const std::vector<double> prior = fit.start();
  const auto joint = enumerate(model, prior, 3, 1);
  model.observe(StatePrior(prior), std::vector<int>{2, 0});
  constexpr int draws = 40'000;
  std::map<std::pair<double, double>, int> count;
  double first = 0, order = 0;
  for (std::uint32_t d = 0; d < draws; ++d) {
    UniformStream random(7, Purpose::dump_quality, d, 0);
    std::uint32_t drawn[2];
    model.draw(random, drawn);
    const double a = model.believed().quality[drawn[0]], b = model.believed().quality[drawn[1]];
    ++count[{a, b}];
    first += a / draws, order += (a > b) / double{draws};
  }
  double mean = 0, square = 0, above = 0, distance = 0;
  for (const auto& [q, p] : joint) {
    mean += p * q.first, square += p * q.first * q.first, above += p * (q.first > q.second);
    CHECK(std::fabs(count[q] - draws * p) <= 5 * std::sqrt(draws * p) + 5);
    distance += std::fabs(count[q] / double{draws} - p);
  }
  CHECK(count.size() <= joint.size());
  CHECK(std::fabs(first - mean) <= 4 * std::sqrt((square - mean * mean) / draws));
  CHECK(std::fabs(order - above) <= 4 * std::sqrt(above * (1 - above) / draws));
  CHECK(distance < 0.2);
}

TEST_CASE("one step of the fit is Bayes' rule, made normal") {
  QualityPosterior model(confused_judge(), levels, 1, 3);
  const std::vector<std::vector<int>> groups = {{0, 1, 1}, {2, 2, 2}, {2, 0, 2}};
  const PriorFit fit(model, groups);
  const std::vector<double> start = fit.start(), times = {1, 2, 0}, after = fit.fit(start, times, 1);
  const PromptStates& states = model.model().prompts;
  std::vector<double> expected(start.size(), 0.0);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::vector<double> weight(start.size());
    double total = 0;
    for (std::size_t c = 0; c < start.size(); ++c) {
      weight[c] = start[c];
      for (const int k : groups[g]) {
        double p = 0;
        for (const auto& m : model.believed().members(c)) p += m.probability * channel(model.believed().quality[m.response], k + 1);
        weight[c] *= p;
      }
      total += weight[c];
    }
    for (std::size_t c = 0; c < start.size(); ++c) expected[c] += times[g] / 3 * weight[c] / total;
  }
  double total = 0, mean[2] = {}, covariance[2][2] = {};
  const std::vector<double>* x[] = {&states.centre, &states.log_spread};
  for (std::size_t c = 0; c < start.size(); ++c)
    for (int i = 0; i < 2; ++i) mean[i] += expected[c] * (*x[i])[c];
  for (std::size_t c = 0; c < start.size(); ++c)
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) covariance[i][j] += expected[c] * ((*x[i])[c] - mean[i]) * ((*x[j])[c] - mean[j]);
  const double determinant = covariance[0][0] * covariance[1][1] - covariance[0][1] * covariance[1][0];
  std::vector<double> normal(start.size());
  for (std::size_t c = 0; c < start.size(); ++c) {
    const double b = states.centre[c] - mean[0], s = states.log_spread[c] - mean[1];
    const double distance = (b * b * covariance[1][1] - 2 * b * s * covariance[0][1] + s * s * covariance[0][0]) / determinant;
    total += normal[c] = std::exp(-distance / 2);
  }
  double worst = 0, all = 0;
  for (std::size_t c = 0; c < start.size(); ++c) worst = std::max(worst, std::fabs(after[c] - normal[c] / total)), all += after[c];
  CHECK(worst < 1e-12);
  CHECK(all == Approx(1));
}

TEST_CASE("judged numbers of one group are those of the enumerated qualities and votes") {
  JudgedOptions o = asked({"grpo", "odrpo(grpo)"});
  o.draws = 5'000;
  o.votes = {3};
  const JudgedRollouts judged = judge_rollouts(dump({{3, 1}}), o);
  REQUIRE(judged.votes == std::vector<int>{1, 3});
  // the same prior: one group, so that every resample of the groups is the group itself
  QualityPosterior model(confused_judge(), levels, 1, 2, 3);
  const PriorFit fit(model, {{2, 0}});
  const std::vector<double> prior = fit.fit(fit.fit(fit.start(), {}, prior_rounds), {}, again_rounds);
  double turned = 0, signs = 0, wrong = 0, product = 0, truth = 0, turned3 = 0, signs3 = 0, wrong3 = 0, product3 = 0, advantage3 = 0;
  for (const auto& [q, p] : enumerate(model, prior, 3, 1)) {
    const double t = (q.first - q.second) / 2;  // T of the first response; that of the second is -t
    truth += p * 2 * t * t;
    if (t != 0) signs += p, turned += p * (t < 0), wrong += p * (t < 0);
    product += p * 2 * t;  // grpo gives the scores 3, 1 the advantages 1, -1
    for (int a = 1; a <= levels; ++a)
      for (int b = 1; b <= levels; ++b) {
        const double both = p * mode_of_three(q.first, a) * mode_of_three(q.second, b), sign = a > b ? 1 : a < b ? -1 : 0;
        if (t != 0) wrong3 += both * (sign == 0 ? 0.5 : sign * t < 0);
        if (t != 0 && sign != 0) signs3 += both, turned3 += both * (sign * t < 0);
        product3 += both * 2 * sign * t, advantage3 += both * 2 * sign * sign;
      }
  }
  for (const JudgedEstimator& e : judged.estimators) {  // two scores: the level form has the same signs, but other sizes
    CHECK(e.scores[0].sign.value == Approx(turned / signs).margin(0.03));
    CHECK(e.scores[0].pairs.value == Approx(wrong / signs).margin(0.03));
    CHECK(e.scores[0].cosine.value == Approx(product / std::sqrt(2 * truth)).margin(0.03));
    CHECK(e.scores[1].sign.value == Approx(turned3 / signs3).margin(0.03));
    CHECK(e.scores[1].pairs.value == Approx(wrong3 / signs).margin(0.03));
    CHECK(std::isnan(e.scores[0].sign.low));  // one prompt has no interval
  }
  CHECK(judged.estimators[0].scores[1].cosine.value == Approx(product3 / std::sqrt(advantage3 * truth)).margin(0.03));
}

TEST_CASE("missing scores and groups of one score take no part") {
  std::vector<std::vector<double>> groups, with_gaps;
  for (int g = 0; g < 12; ++g) {
    groups.push_back({double(1 + g % 3), double(1 + (g / 2) % 3), double(1 + (g / 3) % 3)});
    with_gaps.push_back({groups.back()[0], groups.back()[1], missing, groups.back()[2]});
  }
  JudgedOptions o = asked({"grpo", "maxrl", "posterior(grpo)"});
  o.draws = 4;
  with_gaps.push_back({missing, 2, missing});
  const JudgedRollouts judged = judge_rollouts(dump(groups), o);
  const Rollouts gaps = dump(with_gaps);
  const JudgedRollouts same = judge_rollouts(gaps, o);
  CHECK(judged.groups == 12);
  CHECK(same.groups == 12);
  CHECK(same.scores == 36);
  CHECK(same.prompts == 12);
  for (std::size_t e = 0; e < 3; ++e) {
    // a group of four rows has other nodes of quality than one of three only below eight members: the numbers are the same
    CHECK(same.estimators[e].scores[0].sign.value == judged.estimators[e].scores[0].sign.value);
    CHECK(same.estimators[e].scores[3].cosine.value == judged.estimators[e].scores[3].cosine.value);
    CHECK(judged.estimators[e].scores[0].sign.low <= judged.estimators[e].scores[0].sign.high);
  }
}

TEST_CASE("of a large dump every so many-th step is judged") {
  Rollouts r = dump({});
  const std::size_t steps = 9, groups = 2500, members = 8;  // 180,000 scores: every second step
  for (std::size_t g = 0; g < steps * groups; ++g) {
    r.groups.push_back({static_cast<std::int64_t>(g / groups), static_cast<std::uint32_t>(g % groups), static_cast<std::uint32_t>(g * members), members});
    if (g < groups) r.prompts.push_back("p" + std::to_string(g));
    for (std::size_t i = 0; i < members; ++i) r.rewards.push_back(double(1 + (g + i * i) % 3)), r.place.push_back({0, 1});
  }
  JudgedOptions o = asked();
  o.draws = 1;
  o.resamples = 1;
  o.votes = {2};
  const JudgedRollouts judged = judge_rollouts(r, o);
  CHECK(judged.every_step == 2);
  CHECK(judged.every_group == 1);
  CHECK(judged.groups == 5 * groups);
  CHECK(judged.scores == 5 * groups * members);
  CHECK(judged.prompts == groups);
}

TEST_CASE("of a large dump of few steps every so many-th group is judged") {
  for (const std::size_t steps : {1u, 3u}) {
    Rollouts r = dump({});
    const std::size_t groups = 24'000, members = 8;  // 192,000 scores: every second group
    for (std::size_t g = 0; g < groups; ++g) {
      r.groups.push_back({static_cast<std::int64_t>(g * steps / groups), static_cast<std::uint32_t>(g), static_cast<std::uint32_t>(g * members), members});
      r.prompts.push_back("p" + std::to_string(g));
      for (std::size_t i = 0; i < members; ++i) r.rewards.push_back(double(1 + (g + i * i) % 3)), r.place.push_back({0, 1});
    }
    JudgedOptions o = asked();
    o.draws = 1;
    o.resamples = 1;
    o.votes = {2};
    const JudgedRollouts judged = judge_rollouts(r, o);
    CHECK(judged.every_step == 1);
    CHECK(judged.every_group == 2);
    CHECK(judged.groups == groups / 2);
    CHECK(judged.scores == groups / 2 * members);
  }
}

TEST_CASE("a resample of prompts has all groups of a prompt as often as each other") {
  UniformStream random(5, Purpose::dump_prior, 0, 0), again(5, Purpose::dump_prior, 0, 0);
  const std::vector<std::uint32_t> prompt = {9, 4, 9, 7, 4, 9};
  const std::vector<double> times = times_of_groups(prompt, random);
  CHECK(times[0] == times[2]);
  CHECK(times[0] == times[5]);
  CHECK(times[1] == times[4]);
  CHECK(times[0] + times[1] + times[3] == 3);  // as many prompts as there are
  double sum[3] = {};
  for (int r = 0; r < 3000; ++r) {
    const std::vector<double> t = times_of_groups(prompt, random);
    sum[0] += t[0], sum[1] += t[1], sum[2] += t[3];
  }
  for (const double s : sum) CHECK(std::fabs(s - 3000) < 5 * std::sqrt(3000 * 2 / 3.0));  // binomial of 3 draws, probability 1/3
  const std::vector<double> alone = times_of_groups({3, 1, 2}, again);
  CHECK(alone == std::vector<double>{times[0], times[1], times[3]});
}

TEST_CASE("posterior estimators are refused for a judge of unevenly spaced values") {
  std::vector<std::vector<double>> groups;
  for (int g = 0; g < 12; ++g) groups.push_back({double(g % 3 == 2 ? 10 : g % 3), double(g % 2), 10});
  JudgedOptions o = asked({"grpo", "posterior(grpo)"});
  o.judge.values = {0, 1, 10};
  o.draws = 4;
  const JudgedRollouts judged = judge_rollouts(dump(groups), o);
  CHECK(judged.estimators[0].refusal.empty());
  CHECK(judged.estimators[0].scores[0].cosine.value > 0);
  CHECK(judged.estimators[1].refusal == "it reads mean levels, and the values of the judge's levels are unevenly spaced: 0, 1, 10");
  o.estimators.erase(o.estimators.begin());
  CHECK_THROWS_WITH(posterior_advantages(dump(groups), o), "posterior(grpo) is refused: it reads mean levels, and the values of the judge's levels are unevenly spaced: 0, 1, 10");
}

TEST_CASE("scores of three calls each are judged by the law of three calls") {
  JudgedOptions o = asked({"grpo"});
  o.draws = 4;
  o.votes = {3};
  const Rollouts r = dump({{3, 1}, {3, 3}, {2, 1}, {1, 1}, {3, 2}, {2, 2}, {1, 3}, {3, 1}, {1, 2}, {2, 3}, {3, 1}, {1, 3}});
  const JudgedRollouts one = judge_rollouts(r, o);
  o.judge.votes = 3;
  const JudgedRollouts three = judge_rollouts(r, o);
  CHECK(three.votes == std::vector<int>{3, 3});
  // three calls are wrong less often: their scores say more about the order
  CHECK(three.estimators[0].scores[0].pairs.value < one.estimators[0].scores[0].pairs.value);
}

TEST_CASE("another reward is a known part of the truth") {
  std::vector<std::vector<double>> groups;
  for (int g = 0; g < 12; ++g) groups.push_back({double(1 + g % 3), double(1 + (g / 2) % 3), double(1 + (g / 3) % 3)});
  Rollouts r = dump(groups);
  r.reward_names.push_back("length");
  std::vector<double> both;
  for (std::size_t row = 0; row < r.rewards.size(); ++row) both.push_back(r.rewards[row]), both.push_back(double(100 * (row % 3)));
  r.rewards = both;
  JudgedOptions o = asked({"grpo", "odrpo(grpo)"});
  o.draws = 4;
  const JudgedRollouts alone = [&] { o.weight = {1, 0}; return judge_rollouts(r, o); }();
  CHECK(alone.known.empty());
  CHECK(alone.estimators[0].scores[0].pairs.value > 0.1);
  o.weight = {1, 1};  // the known part decides every order
  const JudgedRollouts known = judge_rollouts(r, o);
  CHECK(known.known == std::vector<std::string>{"length"});
  CHECK(known.estimators[0].scores[0].pairs.value == 0);
  CHECK(known.estimators[0].scores[0].cosine.value > 0.999);
  CHECK(known.estimators[1].refusal == "it reads levels, which a sum of several rewards does not have");
}

TEST_CASE("judges and scores that cannot be used are refused") {
  const auto refusal = [](const Rollouts& r, const JudgedOptions& o) -> std::string {
    try {
      judge_rollouts(r, o);
    } catch (const Failure& failure) {
      return failure.what();
    }
    return "";
  };
  CHECK(refusal(dump({{1, 2}, {0.5, 3, 9}}), asked()) ==
        "dump.jsonl:3:1: error: 0.5 of column \"reward\" is not on the scale 1..3 of the judge judge.toml (2 scores off it in all); --judge-scale states another scale");
  CHECK(refusal(dump({{1, missing}}), asked()) == "--judge: no group of this dump has two scores of column \"reward\"");
  JudgedOptions o = asked();
  o.judge.rater.aggregate = Aggregate::expected;
  CHECK(refusal(dump({{1, 2}}), o) ==
        "--judge: judge.toml makes no integer scores of 1 vote, and the model needs them: aggregate = \"mode\" or \"median\"");
  o = asked();
  o.weight = {0};
  CHECK(refusal(dump({{1, 2}}), o) == "--judge: the judge's column \"reward\" has the weight 0");
}
