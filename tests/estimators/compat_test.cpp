// The conventions by hand: every form of every system on groups small enough for paper and pencil, and what systems do not have.
#include "estimators/compat.hpp"

#include <cmath>
#include <set>
#include <vector>

#include "estimators/definition.hpp"
#include "estimators/formula_text.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"
#include "tests/estimators/configs.hpp"

using namespace odrpo;

namespace {

EstimatorConfig config_of(Compat compat, const char* word, int origin = 1) {
  EstimatorConfig c = parse_estimator(word).value();
  c.compat = compat;
  c.origin = origin;
  return c;
}

void check_close(const Values& got, const Values& want) {
  REQUIRE(got.size() == want.size());
  CAPTURE(got, want);
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::abs(got[i] - want[i]) <= 2e-14 * (1 + std::abs(want[i])));
}

/// Advantages of the rewards 3 and 7, 7 and 9 of the group 3 7 7 9; of 1 (seven of them) and 10; of 7 alone; on levels 1..10.
struct ByHand {
  Compat system;
  const char* word;
  int origin;
  double three, seven, nine;
  double one, ten;
  double alone;
};

// Group 3 7 7 9: mean 6.5, deviations -3.5 .5 .5 2.5, squares 19, sd ddof 1 = sqrt(19/3) = 2.516611478423583.
//   others of 3: 7 7 9, mean 23/3, sd sqrt(4/3); of 7: 3 7 9, mean 19/3, sd sqrt(28/3); of 9: 3 7 7, mean 17/3, sd sqrt(16/3).
//   levels: 4..7 (four) are reached by 3 of 4, mu 3/4; 8 and 9 (two) by 1 of 4, mu 1/4; the others are dead.
//   N_k ddof 1 = sqrt(3/16 4/3) = 1/2 for both kinds, so 3: 4(-3/4) + 2(-1/4) = -7/2, 7: 4/4 - 2/4 = 1/2, 9: 4/4 + 2(3/4) = 5/2, all over
//   1/2 + eps.
// Group 1 x 7, 10: mean 2.125, deviations -1.125 and 7.875, squares 70.875, sd ddof 1 = sqrt(70.875/7) = 3.181980515339464.
//   others of 10: 1 x 7, sd 0; of 1: mean 16/7, sd sqrt(81/7) = 3.401680257083045.
//   levels 2..10 (nine) are reached by 1 of 8, mu 1/8, N_k ddof 1 = sqrt(7/64 8/7) = sqrt(1/8).
constexpr ByHand by_hand[] = {
    // r - mu; alone r - 0
    {Compat::verl, "reinforce", 1, -3.5, 0.5, 2.5, -1.125, 7.875, 7},
    // 4/3 (r - mu) and 8/7 (r - mu)
    {Compat::verl, "rloo", 1, -14 / 3.0, 2 / 3.0, 10 / 3.0, -9 / 7.0, 9, 7},
    // (r - mu) / (2.516611478423583 + 1e-6), (r - mu) / (3.181980515339464 + 1e-6)
    {Compat::verl, "grpo", 1, -1.390758422286937, 0.1986797746124195, 0.9933988730620976, -0.3535532794821976, 2.474872956375383, 7},
    // (9 - 7) / (2.516611478423583 + 1e-6), (10 - 1) / (3.181980515339464 + 1e-6)
    {Compat::verl, "grpo-passk", 1, 0, 0, 0.794719098449678, 0, 2.8284262358575805, 0},
    // -3.5 .5 2.5 over .5 + 1e-6; 9 (-1/8) and 9 (7/8) over .3535533905932738 + 1e-6; alone the seven levels that 7 reaches
    {Compat::verl, "odrpo(grpo)", 1, -6.999986000028, 0.999998000004, 4.99999000002, -3.18197151536492, 22.27380060755444, 7},
    // the same with sqrt(k) (.1 + 4 3/16), .85 sqrt(k), at every live level, .1 + 4 7/64 = .5375 in the second group; alone .1 sqrt(k)
    {Compat::verl, "odrpo-gini(grpo)", 1, -14.37447179404168, 1.488721832861916, 11.39702812831785, -4.079711577659104, 28.55798104361373,
     1.347757340128953},

    {Compat::trl, "reinforce", 1, -3.5, 0.5, 2.5, -1.125, 7.875, 0},
    {Compat::trl, "rloo", 1, -14 / 3.0, 2 / 3.0, 10 / 3.0, -9 / 7.0, 9, 0},
    // over 2.516611478423583 + 1e-4, over 3.181980515339464 + 1e-4
    {Compat::trl, "grpo", 1, -1.390703713956249, 0.198671959136607, 0.9933597956830352, -0.3535422798313402, 2.474795958819381, 0},
    // over .5 + 1e-4, over .3535533905932738 + 1e-4
    {Compat::trl, "odrpo(grpo)", 1, -6.998600279944011, 0.9998000399920016, 4.999000199960008, -3.181080769825925, 22.26756538878148, 0},
    // lower medians 7 and 1: level 4 counts .1 + .75 e^(-3/2), 5 .1 + .75 e^-1, 6 .1 + .75 e^(-1/2), 7 8 9 .85, times sqrt(k)
    {Compat::trl, "odrpo-gini-median(grpo)", 1, -9.950131767735137, 0.01459564154507808, 9.920940484644981, -4.078569523159045,
     28.54998666211331, 0},

    {Compat::nemo, "reinforce", 1, -3.5, 0.5, 2.5, -1.125, 7.875, 0},
    // (3 - 23/3) / (sqrt(4/3) + 1e-6), (7 - 19/3) / (sqrt(28/3) + 1e-6), (9 - 17/3) / (sqrt(16/3) + 1e-6);
    // (1 - 16/7) / (3.401680257083045 + 1e-6), and 10 - 1 undivided
    {Compat::nemo, "grpo", 1, -4.041448384330411, 0.2182178188074443, 1.443375047974335, -0.3779643618981488, 9, 0},
    // levels 4..7: the 3 sees 1 1 1 and gets -1 undivided, the others see 1 1 0 (mean 2/3, sd sqrt(1/3)) and get a = 1/3 /
    // (.577350269189626 + 1e-6);
    // levels 8 9: the 9 sees 0 0 0 and gets 1 undivided, the others see 1 0 0 and get -a. 3: -4 - 2a, 7: 4a - 2a, 9: 4a + 2.
    // Second group: the 10 gets 9 times 1; a 1 sees one of seven (mean 1/7, sd sqrt(1/7)) and gets -9/7 / (.377964473009227 + 1e-6)
    {Compat::nemo, "odrpo(grpo)", 1, -5.154698538382716, 1.154698538382716, 4.309397076765431, -3.401671257106857, 9, 0},
    {Compat::nemo, "odrpo-gini(grpo)", 1, -10.79189509650163, 1.719028362513941, 9.533473838404407, -4.36139592827797, 11.5391995250847, 0},
    {Compat::nemo, "odrpo-gini-median(grpo)", 1, -7.843642597237241, 0.01685693667205147, 7.831302412562518, -4.36139592827797,
     11.5391995250847, 0},

    {Compat::openrlhf, "reinforce", 1, -3.5, 0.5, 2.5, -1.125, 7.875, 0},
    {Compat::openrlhf, "rloo", 1, -14 / 3.0, 2 / 3.0, 10 / 3.0, -9 / 7.0, 9, 0},
    // over 2.516611478423583 + 1e-9, over 3.181980515339464 + 1e-9
    {Compat::openrlhf, "grpo", 1, -1.390758974365664, 0.1986798534808092, 0.993399267404046, -0.3535533904821627, 2.474873733375139, 0},
    // over .5 + 1e-9, over .3535533905932738 + 1e-9
    {Compat::openrlhf, "odrpo(grpo)", 1, -6.999999986, 0.999999998, 4.99999999, -3.181980506339464, 22.27386354437625, 0},
    // sums of levels 4..7 = 22 and 8, 9 = 17: -22 3/4 - 17/4 = -20.75, 22/4 - 17/4 = 1.25, 22/4 + 17 3/4 = 18.25 over .5 + 1e-9; 2..10 = 54
    {Compat::openrlhf, "odrpo-linear(grpo)", 1, -41.499999917, 2.499999995, 36.499999927, -19.09188303803678, 133.6431812662575, 0},

    // (r - mu) / (6.5 + 1e-6), (r - mu) / (2.125 + 1e-6); alone mean 0: 7 / 1e-6
    {Compat::maxrl_reference, "maxrl", 1, -0.5384614556213145, 0.07692306508875922, 0.3846153254437961, -0.5294115155710515,
     3.70588060899736, 7e6},
    // 2 6 6 8, mean 5.5, over 5.5 + 1e-6; 0 x 7, 9, mean 1.125, over 1.125 + 1e-6; alone 6 / 1e-6
    {Compat::maxrl_reference, "maxrl", 0, -0.6363635206611781, 0.09090907438016829, 0.4545453719008415, -0.9999991111119012,
     6.999993777783309, 6e6},
    // 3: 4(-3/4)/(3/4 + 1e-6) + 2(-1/4)/(1/4 + 1e-6), 7: 4(1/4)/(3/4 + 1e-6) + 2(-1/4)/(1/4 + 1e-6), 9: 4(1/4)/(3/4 + 1e-6) + 2(3/4)/(1/4 +
    // 1e-6);
    // 9(-1/8)/(1/8 + 1e-6) and 9(7/8)/(1/8 + 1e-6); alone seven levels of 1 / 1e-6
    {Compat::maxrl_reference, "odrpo(maxrl)", 1, -5.999986666705778, -0.6666604444740739, 7.333307555653926, -8.999928000575995,
     62.99949600403197, 7e6},

    {Compat::skyrl, "rloo", 1, -14 / 3.0, 2 / 3.0, 10 / 3.0, -9 / 7.0, 9, 0},
    // as verl; its odrpo is grpo at every level, without whitening
    {Compat::skyrl, "grpo", 1, -1.390758422286937, 0.1986797746124195, 0.9933988730620976, -0.3535532794821976, 2.474872956375383, 7},
    {Compat::skyrl, "odrpo(grpo)", 1, -6.999986000028, 0.999998000004, 4.99999000002, -3.18197151536492, 22.27380060755444, 7},
    {Compat::skyrl, "maxrl", 1, -0.5384614556213145, 0.07692306508875922, 0.3846153254437961, -0.5294115155710515, 3.70588060899736, 7},
    {Compat::skyrl, "maxrl", 0, -0.6363635206611781, 0.09090907438016829, 0.4545453719008415, -0.9999991111119012, 6.999993777783309, 6},
    {Compat::skyrl, "odrpo(maxrl)", 1, -5.999986666705778, -0.6666604444740739, 7.333307555653926, -8.999928000575995, 62.99949600403197,
     7},
    {Compat::skyrl, "odrpo-gini(maxrl)", 1, -12.88574534063726, -2.310275872402652, 17.50629708544256, -11.53910721222701,
     80.77375048558904, 1.347757340128953},

    // its grpo is r - mu
    {Compat::prime, "grpo", 1, -3.5, 0.5, 2.5, -1.125, 7.875, 0},
    // -7/13 1/13 5/13; -9/17 and 63/17
    {Compat::prime, "maxrl", 1, -7 / 13.0, 1 / 13.0, 5 / 13.0, -9 / 17.0, 63 / 17.0, 0},
    // -7/11 1/11 5/11; -1 and 7
    {Compat::prime, "maxrl", 0, -7 / 11.0, 1 / 11.0, 5 / 11.0, -1, 7, 0},
    // 3: -4 - 2, 7: 4/3 - 2, 9: 4/3 + 2 3; -9 and 63
    {Compat::prime, "odrpo(maxrl)", 1, -6, -2 / 3.0, 22 / 3.0, -9, 63, 0},

    // as trl, whose fork it is
    {Compat::gdpo, "grpo", 1, -1.390703713956249, 0.198671959136607, 0.9933597956830352, -0.3535422798313402, 2.474795958819381, 0},
    {Compat::gdpo, "odrpo(grpo)", 1, -6.998600279944011, 0.9998000399920016, 4.999000199960008, -3.181080769825925, 22.26756538878148, 0},

    {Compat::tinker, "grpo", 1, -3.5, 0.5, 2.5, -1.125, 7.875, 0},

    {Compat::relax, "reinforce", 1, -3.5, 0.5, 2.5, -1.125, 7.875, 0},
    {Compat::relax, "rloo", 1, -14 / 3.0, 2 / 3.0, 10 / 3.0, -9 / 7.0, 9, 0},
    // eps 1e-6 for rewards, as verl, and 1e-4 at the levels, as trl
    {Compat::relax, "grpo", 1, -1.390758422286937, 0.1986797746124195, 0.9933988730620976, -0.3535532794821976, 2.474872956375383, 0},
    {Compat::relax, "odrpo(grpo)", 1, -6.998600279944011, 0.9998000399920016, 4.999000199960008, -3.181080769825925, 22.26756538878148, 0},
    {Compat::relax, "odrpo-gini-median(grpo)", 1, -9.950131767735137, 0.01459564154507808, 9.920940484644981, -4.078569523159045,
     28.54998666211331, 0},

    // the paper: origin 0, and population sigma at every level: sqrt(3/16) and sqrt(7/64)
    {Compat::paper, "maxrl", 0, -7 / 11.0, 1 / 11.0, 5 / 11.0, -1, 7, 0},
    {Compat::paper, "odrpo-gini(grpo)", 1, -16.59824351591793, 1.719031339958404, 13.16018083600112, -4.361407467446965, 30.52985227212876,
     0},
};

}  // namespace

TEST_CASE("every form of every system by hand: 3 7 7 9, one 10 among ones, a group of one, a constant group") {
  std::set<std::pair<Compat, Form>> seen;
  for (const ByHand& row : by_hand) {
    const EstimatorConfig c = config_of(row.system, row.word, row.origin);
    CAPTURE(text_of(c));
    check_close(run(c, {3, 7, 7, 9}), {row.three, row.seven, row.seven, row.nine});
    check_close(run(c, {9, 7, 3, 7}), {row.nine, row.seven, row.three, row.seven});
    check_close(run(c, {1, 1, 1, 1, 1, 1, 1, 10}), {row.one, row.one, row.one, row.one, row.one, row.one, row.one, row.ten});
    check_close(run(c, {7}), {row.alone});
    CHECK(run(c, {4, 4, 4}) == Values(3, 0.0));
    CHECK(run(c, {0.1, 0.1, 0.1}) == Values(3, 0.0));
    CHECK(run(c, {0, 0}) == Values(2, 0.0));
    seen.insert({row.system, c.form});
  }
  for (const Convention& row : conventions()) {  // no row of the table without a row by hand
    if (row.system == Compat::paper || !beside_group(row.form).empty()) continue;  // batch_forms_test.cpp has those of batches
    CAPTURE(static_cast<int>(row.system), static_cast<int>(row.form));
    CHECK(seen.contains({row.system, row.form}));
    if (!row.levels_source.empty()) CHECK(seen.contains({row.system, Form::odrpo}));
    CHECK(!row.source.empty());
  }
}

TEST_CASE("two members of nemo see one other each: nothing to divide by") {
  check_close(run(config_of(Compat::nemo, "grpo"), {2, 7}), {-5, 5});
  check_close(run(config_of(Compat::nemo, "odrpo(grpo)"), {2, 7}), {-5, 5});
  check_close(run(config_of(Compat::nemo, "odrpo(grpo)"), {2, 4.5}), {-2.5, 2.5});
  check_close(run(config_of(Compat::nemo, "grpo"), {0.25, 0.25, 1}),
              {-1 / (2 * std::sqrt(0.28125) + 2e-6) * 0.75, -0.75 / (2 * std::sqrt(0.28125) + 2e-6), 0.75});
}

// NVIDIA-NeMo/RL #4158: 0 beside seven .95. In single precision E[x^2] - E[x]^2 of the others is not 0, and the 0 got -2075; it is not
// divided. A .95 has others of mean 6/7 .95 and variance .95^2 6/49 7/6 = .95^2 / 7.
TEST_CASE("nemo divides nothing by the deviation of equal others, also where the reward is no sum of powers of two") {
  const double one = 0.95 / 7 / (0.95 / std::sqrt(7.0) + 1e-6);
  check_close(run(config_of(Compat::nemo, "grpo"), {0, 0.95, 0.95, 0.95, 0.95, 0.95, 0.95, 0.95}),
              {-0.95, one, one, one, one, one, one, one});
  // the seven others of .35 in #4161
  CHECK(run(config_of(Compat::nemo, "grpo"), {0, 0.35, 0.35, 0.35, 0.35, 0.35, 0.35, 0.35})[0] == -0.35);
}

TEST_CASE("groups of one: of reals, of 0 and of weighted levels") {
  check_close(run(config_of(Compat::verl, "odrpo(grpo)"), {2.5}), {2.5});
  check_close(run(config_of(Compat::verl, "odrpo-gini(grpo)"), {2.5}), {0.3280238966157534});  // .1 (1 + sqrt 2 + sqrt(3) / 2)
  check_close(run(config_of(Compat::verl, "grpo"), {-1.5}), {-1.5});
  for (const char* word : {"odrpo(grpo)", "odrpo-linear(grpo)", "odrpo-gini-median(grpo)"}) {  // no level is at or below 0
    CHECK(run(config_of(Compat::verl, word), {-2.5}) == Values{0});
    CHECK(run(config_of(Compat::verl, word), {0}) == Values{0});
  }
  CHECK(run(config_of(Compat::maxrl_reference, "odrpo(maxrl)"), {-2.5}) == Values{0});
  check_close(run(config_of(Compat::skyrl, "maxrl", 0), {0.5}), {-0.5});
  check_close(run(config_of(Compat::skyrl, "odrpo-linear(maxrl)"), {4}), {10});
  CHECK(run(config_of(Compat::verl, "odrpo(grpo)"), {0}) == Values{0});
  CHECK(run(config_of(Compat::paper, "odrpo(grpo)"), {2.5}) == Values{0});
  EstimatorConfig running = config_of(Compat::verl, "odrpo-gini-median(grpo)");
  running.median = MedianRule::running;
  Values out(1);
  advantages(running, 10, Values{7}, 3, out);
  check_close(out, {1.347757340128953});  // nothing is mixed about a level that everybody reaches
}

TEST_CASE("maxrl where the mean is not positive: a guard under paper and prime, the bare formula elsewhere") {
  const Values rewards = {0, 1, 1, 0};  // under origin 0: -1 0 0 -1, mean -1/2, deviations -1/2 and 1/2
  for (const Compat guarded : {Compat::paper, Compat::prime}) CHECK(run(config_of(guarded, "maxrl", 0), rewards) == Values(4, 0.0));
  for (const Compat bare : {Compat::skyrl, Compat::maxrl_reference}) {
    const double a = 0.5 / (0.5 - 1e-6);
    check_close(run(config_of(bare, "maxrl", 0), rewards), {a, -a, -a, a});
    check_close(run(config_of(bare, "maxrl", 0), {0, 2}), {-1e6, 1e6});  // mean 0
  }
}

TEST_CASE("what a system does not have is refused, with what it does have") {
  const auto why = [](const EstimatorConfig& c) { return compat_refusal(c).value_or(""); };
  CHECK(why(config_of(Compat::verl, "maxrl")) ==
        "compat \"verl\" has no maxrl; it has reinforce, rloo, grpo, grpo-passk, opo, odrpo(grpo) with any weight or by bits");
  CHECK(why(config_of(Compat::prime, "odrpo-gini(grpo)")) ==
        "compat \"prime\" has no odrpo-gini(grpo); it has grpo, maxrl, odrpo(maxrl) with any weight or by bits");
  CHECK(why(config_of(Compat::tinker, "odrpo(grpo)")) == "compat \"tinker\" has no odrpo(grpo); it has grpo");
  CHECK(why(config_of(Compat::maxrl_reference, "grpo")).find("compat \"maxrl-reference\" has no grpo; it has maxrl") == 0);
  EstimatorConfig c = config_of(Compat::trl, "grpo");
  c.eps = 1e-6;
  CHECK(why(c) == "eps cannot be given beside compat \"trl\", which sets it itself");
  c.ddof = 1;
  CHECK(why(c) == "ddof cannot be given beside compat \"trl\", which sets it itself");
  c.compat = Compat::paper;
  CHECK(why(c).empty());
  CHECK(why(config_of(Compat::paper, "grpo", 0)) == "origin = 0 is for maxrl: only maxrl depends on the origin, not grpo");
  CHECK(why(config_of(Compat::skyrl, "odrpo(maxrl)", 0)).find("only maxrl depends on the origin") != std::string::npos);
  CHECK(why(config_of(Compat::skyrl, "maxrl", 0)).empty());

  EstimatorConfig floored = config_of(Compat::prime, "posterior(grpo)");  // nothing is divided, so nothing has a floor
  CHECK(estimator_formula(floored).find("in place of") == std::string::npos);
  CHECK(why(floored).empty());
  floored.floor = 0.3;
  CHECK(why(floored) == "floor has no effect under compat \"prime\", whose grpo divides by nothing");
  floored.compat = Compat::skyrl;
  CHECK(why(floored).empty());

  const EstimatorConfig refused = config_of(Compat::nemo, "rloo");
  Values out(2);
  CHECK_THROWS_AS(advantages(refused, 10, Values{1, 2}, no_median, out), Failure);
  CHECK_THROWS_AS(estimator_formula(refused), Failure);
  CHECK_THROWS_AS(whitening_after(refused), Failure);

  // form by form: rows are systems, columns reinforce rloo grpo rank-grpo maxrl convex-reinforce odrpo(grpo) odrpo(maxrl)
  const char* words[] = {"reinforce", "rloo", "grpo", "rank-grpo", "maxrl", "convex-reinforce", "odrpo(grpo)", "odrpo-gini-median(maxrl)"};
  const std::pair<Compat, std::string> has[] = {
      {Compat::paper, "11111111"},  {Compat::verl, "11100010"},     {Compat::trl, "11100010"},
      {Compat::nemo, "10100010"},   {Compat::openrlhf, "11100010"}, {Compat::maxrl_reference, "00001001"},
      {Compat::skyrl, "01101011"},  {Compat::prime, "00101001"},    {Compat::gdpo, "00100010"},
      {Compat::tinker, "00100000"}, {Compat::relax, "11100010"}};
  for (const auto& [system, row] : has)
    for (int i = 0; i < 8; ++i) {
      CAPTURE(static_cast<int>(system), words[i]);
      CHECK(compat_refusal(config_of(system, words[i])).has_value() == (row[i] == '0'));
    }
}

TEST_CASE("what each system does to the batch afterwards") {
  const auto after = [](Compat system, const char* word) { return whitening_after(config_of(system, word)); };
  const Whitening none{}, population{true}, inside{true, WhitenScale::inside, 1, 1e-8, WhitenUnit::token},
      added{true, WhitenScale::added, 1, 1e-4}, sample{true, WhitenScale::added, 1, 0},
      clamped{true, WhitenScale::floor, 0, 1e-8, WhitenUnit::token};
  for (const std::string_view word : estimator_catalogue())
    CHECK(after(Compat::paper, std::string(word).c_str()) == (word == "mc-grpo" || word == "corpo" ? none : population));
  CHECK(after(Compat::verl, "reinforce") == inside);
  CHECK(after(Compat::verl, "odrpo-gini(grpo)") == inside);
  CHECK(after(Compat::verl, "rloo") == none);
  CHECK(after(Compat::verl, "grpo") == none);
  for (const char* word : {"reinforce", "rloo", "grpo"}) CHECK(after(Compat::trl, word) == none);
  CHECK(after(Compat::trl, "odrpo(grpo)") == added);
  CHECK(after(Compat::nemo, "reinforce") == clamped);
  CHECK(after(Compat::nemo, "grpo") == none);
  CHECK(after(Compat::nemo, "odrpo(grpo)") == sample);
  for (const char* word : {"reinforce", "rloo", "grpo", "odrpo(grpo)"}) CHECK(after(Compat::openrlhf, word) == none);
  for (const Compat system : {Compat::maxrl_reference, Compat::skyrl, Compat::prime})
    for (const char* word : {"maxrl", "odrpo(maxrl)"}) CHECK(after(system, word) == none);
  for (const char* word : {"rloo", "grpo", "odrpo(grpo)"}) CHECK(after(Compat::skyrl, word) == none);
  for (const Compat system : {Compat::prime, Compat::tinker, Compat::relax}) CHECK(after(system, "grpo") == none);
  CHECK(after(Compat::relax, "odrpo(grpo)") == added);
  CHECK(after(Compat::relax, "reinforce") == clamped);
  CHECK(after(Compat::relax, "rloo") == none);
  for (const char* word : {"grpo", "odrpo(grpo)"}) CHECK(after(Compat::gdpo, word) == added);
}

TEST_CASE("what each system does to a batch of texts, by hand: the group 3 7 7 9 of 4 1 2 3 tokens") {
  struct Row {
    Compat system;
    const char* word;
    Values want;
  };
  // ten tokens: of r - mu the mean -14 + .5 + 1 + 7.5 = -5 over 10, deviations -3 1 1 3, squares 4 9 + 1 + 2 + 3 9 = 66
  const Row rows[] = {
      // over sqrt(66/9 + 1e-8)
      {Compat::verl, "reinforce", {-1.10782341805866, 0.3692744726862202, 0.3692744726862202, 1.10782341805866}},
      // -3.5 .5 .5 2.5 over .5 + 1e-6: the same deviations over that, over sqrt(66/9 / (.5 + 1e-6)^2 + 1e-8)
      {Compat::verl, "odrpo(grpo)", {-1.10782341862516, 0.3692744728750534, 0.3692744728750534, 1.10782341862516}},
      // over sqrt(6.6)
      {Compat::nemo, "reinforce", {-1.167748416242284, 0.3892494720807615, 0.3892494720807615, 1.167748416242284}},
      {Compat::relax, "reinforce", {-1.167748416242284, 0.3892494720807615, 0.3892494720807615, 1.167748416242284}},
      // over responses, whatever their lengths: mean 0, squares 19, over sqrt(19/4), and at every level over sqrt(19/3) + 1e-4 (.5 + 1e-4)
      {Compat::paper, "reinforce", {-1.605910137093932, 0.2294157338705618, 0.2294157338705618, 1.147078669352809}},
      {Compat::trl, "odrpo(grpo)", {-1.390731338362225, 0.1986759054803179, 0.1986759054803179, 0.9933795274015895}},
      {Compat::gdpo, "odrpo(grpo)", {-1.390731338362225, 0.1986759054803179, 0.1986759054803179, 0.9933795274015895}},
      {Compat::relax, "odrpo(grpo)", {-1.390731338362225, 0.1986759054803179, 0.1986759054803179, 0.9933795274015895}},
      // nothing afterwards
      {Compat::openrlhf, "reinforce", {-3.5, 0.5, 0.5, 2.5}},
      {Compat::prime, "grpo", {-3.5, 0.5, 0.5, 2.5}},
  };
  const std::vector<int> tokens = {4, 1, 2, 3};
  for (const Row& row : rows) {
    const EstimatorConfig c = config_of(row.system, row.word);
    CAPTURE(text_of(c));
    Values a = run(c, {3, 7, 7, 9});
    whiten_definition(whitening_after(c), a, {}, tokens);
    check_close(a, row.want);
  }
}

TEST_CASE("whitening in words") {
  const auto text = [&](Compat system, const char* word) { return whitening_text(whitening_after(config_of(system, word))); };
  CHECK(text(Compat::trl, "grpo") == "nothing");
  CHECK(text(Compat::paper, "grpo") == "(A - mean) / std, ddof 0, over responses");
  CHECK(text(Compat::gdpo, "grpo") == "(A - mean) / (std + 1e-04), ddof 1, over responses");
  CHECK(text(Compat::verl, "reinforce") == "(A - mean) / sqrt(var + 1e-08), ddof 1, over tokens");
  CHECK(text(Compat::nemo, "reinforce") == "(A - mean) / sqrt(max(var, 1e-08)), ddof 0, over tokens");
}

TEST_CASE("the printed formula names the system and tells its convention") {
  const auto line = [](Compat system, const char* word, int origin = 1) { return estimator_formula(config_of(system, word, origin)); };
  CHECK(line(Compat::verl, "grpo") == "A = (r - mu) / (sigma + 1e-06), sigma with ddof 1 [verl]");
  CHECK(line(Compat::trl, "reinforce") == "A = r - mu [trl]");
  CHECK(line(Compat::openrlhf, "rloo") == "A = G/(G-1) (r - mu) [openrlhf]");
  CHECK(line(Compat::nemo, "grpo") == "A = (r - mean of others) / (sd of others + 1e-06), sd with ddof 1, undivided where it is 0 [nemo]");
  CHECK(line(Compat::skyrl, "maxrl") == "A = (r - mu) / (mu + 1e-06) [skyrl]");
  CHECK(line(Compat::prime, "grpo") == "A = r - mu [prime]");
  CHECK(line(Compat::tinker, "grpo") == "A = r - mu [tinker]");
  CHECK(line(Compat::relax, "grpo") == "A = (r - mu) / (sigma + 1e-06), sigma with ddof 1 [relax]");
  CHECK(line(Compat::relax, "odrpo(grpo)") ==
        "A = sum_k w_k (1[r>=k] - mu_k) / (N_k + 1e-04), N_k = sqrt(mu_k (1 - mu_k) G/(G-1)), w_k = 1 [relax]");
  CHECK(line(Compat::prime, "maxrl", 0) == "A = (r - mu) / mu, r - 1 in place of r, zeros when mu <= 0 [prime]");
  CHECK(line(Compat::paper, "maxrl", 0) == "A = (r - mu) / mu, r - 1 in place of r, zeros when mu <= 0");
  CHECK(line(Compat::paper, "maxrl") == "A = (r - mu) / mu, zeros when mu <= 0");
  CHECK(line(Compat::gdpo, "odrpo(grpo)") ==
        "A = sum_k w_k (1[r>=k] - mu_k) / (N_k + 1e-04), N_k = sqrt(mu_k (1 - mu_k) G/(G-1)), w_k = 1 [gdpo]");
  CHECK(line(Compat::nemo, "odrpo-linear(grpo)") ==
        "A = sum_k w_k (1[r>=k] - mean of others) / (sd of others + 1e-06), sd with ddof 1, undivided where it is 0, w_k = k [nemo]");
  CHECK(line(Compat::maxrl_reference, "odrpo(maxrl)") ==
        "A = sum_k w_k (1[r>=k] - mu_k) / (N_k + 1e-06), N_k = mu_k, w_k = 1 [maxrl-reference]");
  CHECK(line(Compat::paper, "odrpo(grpo)") == "A = sum_k w_k (1[r>=k] - mu_k) / N_k, N_k = sqrt(mu_k (1 - mu_k)), w_k = 1");
}
