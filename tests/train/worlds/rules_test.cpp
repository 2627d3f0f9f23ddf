// Training under every rule of a run: aggregates, unreadable answers, dropped groups, epochs, conventions.
#include <algorithm>
#include <cmath>

#include "config/spec.hpp"
#include "config/write/canonical.hpp"
#include "kernels/random.hpp"
#include "tests/catch.hpp"
#include "tests/config/loading.hpp"
#include "tests/train/trained.hpp"
#include "train/batched/engine.hpp"
#include "train/batched/run_layout.hpp"
#include "train/train.hpp"
#include "train/worlds/bandit.hpp"

using namespace odrpo;

namespace {

const std::string tiny = R"([suite]
name = "tiny"
[env.bandit]
prompts = 24
actions = 10
[learn]
steps = 60
batch = 8
lr = 0.1
)";

const std::vector<double>* find_curve(const RunRecord& r, const std::string& name) {
  for (const Curve& c : r.curves)
    if (c.name == name) return &c.values;
  return nullptr;
}

bool same(const RunRecord& a, const RunRecord& b) {
  const auto equal = [](const std::vector<double>& x, const std::vector<double>& y) {
    return x.size() == y.size() &&
           std::equal(x.begin(), x.end(), y.begin(), [](double u, double v) { return u == v || (u != u && v != v); });
  };
  if (a.curves.size() != b.curves.size()) return false;
  for (std::size_t i = 0; i < a.curves.size(); ++i)
    if (!equal(a.curves[i].values, b.curves[i].values)) return false;
  return true;
}

}  // namespace

TEST_CASE("rules: every aggregate, policy of unreadable answers and sampling trains, and its record is complete") {
  const Suite suite = loaded(tiny + R"toml([grid]
policy = ["tabular", "linear"]
estimator = ["grpo", "maxrl", "rank-grpo", "convex-reinforce", "odrpo-gini-median(grpo)", "running"]
rater = ["r"]
votes = [1, 4]
[estimator.running]
base = "odrpo-gini-median(maxrl)"
median = "running"
[rater.r]
base = "mixed"
aggregate = ["mode", "median", "mean"]
parse_failure = [0, 0.3]
parse_policy = ["resample", "drop", "zero"]
sampling = ["law", "draws"]
)toml");
  REQUIRE(suite.runs.size() == 2u * 6 * 2 * 36);
  for (const RunSpec& spec : suite.runs) {
    INFO(spec.id);
    const RunRecord r = run(spec);
    REQUIRE(r.status == RunStatus::ok);
    for (const Curve& c : r.curves) {
      CHECK(c.values.size() == r.step.size());
      for (const double x : c.values) REQUIRE(std::isfinite(x));
    }
    const bool drops = spec.rater.parse_failure > 0 && spec.rater.parse_policy == ParsePolicy::drop;
    CHECK((find_curve(r, "missing") != nullptr) == drops);
    CHECK(find_curve(r, "clipped") == nullptr);
    const double calls = 60.0 * 8 * 8 * spec.votes;
    const bool asks_again = spec.rater.parse_policy == ParsePolicy::resample;
    CHECK(final_of(r, "judge_calls") == Approx(asks_again ? calls * (1 + spec.rater.parse_failure) : calls));
    if (drops && spec.votes == 1) {
      double share = 0;
      for (const double x : *find_curve(r, "missing")) share += x / static_cast<double>(r.step.size());
      CHECK(share == Approx(0.3).margin(0.12));
    }
  }
}

TEST_CASE("rules: expected scores train every estimator, cost a call a vote, and one judge's second call adds nothing") {
  const Suite suite = loaded(tiny + R"toml([grid]
policy = ["tabular", "linear"]
estimator = ["grpo", "maxrl", "rank-grpo", "odrpo-gini-median(grpo)"]
rater = ["mixed"]
votes = [1, 4]
[rater.mixed]
aggregate = "expected"
)toml");
  REQUIRE(suite.runs.size() == 2u * 4 * 2);
  double gain[2] = {};
  for (const RunSpec& spec : suite.runs) {
    INFO(spec.id);
    const RunRecord r = run(spec);
    REQUIRE(r.status == RunStatus::ok);
    CHECK(final_of(r, "judge_calls") == 60.0 * 8 * 8 * spec.votes);
    gain[spec.votes == 4] += final_of(r, "final_gain");
  }
  CHECK(gain[0] == gain[1]);
}

TEST_CASE("rules: a judge that stops early is paid for the calls that its rows expect, by law and by draws alike") {
  const std::string grid = "[grid]\npolicy = \"tabular\"\nestimator = \"grpo\"\nrater = \"r\"\nvotes = 8\n[rater.r]\n";
  // without noise all calls are equal: k of them are made
  for (const char* sampling : {"law", "draws"}) {
    const Suite exact = loaded(tiny + grid + "base = \"clean\"\nstop = [0, 2, 7]\n", {"rater.r.sampling=" + std::string(sampling)});
    for (const RunSpec& spec : exact.runs) {
      INFO(spec.id);
      CHECK(final_of(run(spec), "judge_calls") == Approx(60.0 * 8 * 8 * (spec.rater.stop > 0 ? spec.rater.stop : 8)).epsilon(1e-12));
    }
  }
  // the first batch is the same by distribution and by draws, and so is what it expects; repeated answers come on top
  const auto calls = [&](const char* sampling, int steps, const char* failure, int stop) {
    const Suite suite = loaded(tiny + grid + "base = \"wide\"\n",
                               {"rater.r.sampling=" + std::string(sampling), "learn.steps=" + std::to_string(steps),
                                "rater.r.parse_failure=" + std::string(failure), "rater.r.stop=" + std::to_string(stop)});
    const RunRecord r = run(suite.runs[0]);
    REQUIRE(r.status == RunStatus::ok);
    return final_of(r, "judge_calls");
  };
  CHECK(calls("law", 1, "0", 3) == calls("draws", 1, "0", 3));
  CHECK(calls("law", 1, "0.3", 3) == calls("draws", 1, "0.3", 3));
  for (const char* sampling : {"law", "draws"}) {
    const double two = calls(sampling, 60, "0", 2), three = calls(sampling, 60, "0", 3), again = calls(sampling, 60, "0.3", 3);
    CHECK(two > 60 * 64 * 2);
    CHECK(three > 1.2 * two);
    CHECK(three < 60 * 64 * 8 * 0.8);
    CHECK(again > 1.2 * three);
    CHECK(calls(sampling, 60, "0", 0) == 60 * 64 * 8);
  }
}

TEST_CASE("rules: a panel that stops early counts the calls that it made") {
  const Suite suite = loaded(tiny + R"toml([grid]
policy = "tabular"
estimator = "grpo"
rater = "panel-essays"
votes = 8
[rater.panel-essays]
stop = [0, 2]
)toml");
  const RunRecord all = run(suite.runs[0]), some = run(suite.runs[1]);
  const double calls = final_of(some, "judge_calls");
  CHECK(final_of(all, "judge_calls") == 60 * 64 * 8);
  CHECK(calls == std::floor(calls));
  CHECK(calls > 60 * 64 * 2);
  CHECK(calls < 60 * 64 * 5);
  RunSpec measured = suite.runs[1];  // what is redrawn to measure gradients is not paid for
  measured.record.gradient = 3;
  CHECK(calls == final_of(run(measured), "judge_calls"));
}

TEST_CASE("rules: a run that no score can end early is the run without `stop`, to its name") {
  const Suite suite = loaded(tiny + R"toml([grid]
policy = "tabular"
estimator = "grpo"
rater = "mixed"
votes = [1, 3, 4]
[rater.mixed]
stop = [0, 3, 9]
)toml");
  REQUIRE(suite.runs.size() == 9);
  int different = 0;
  for (const RunSpec& spec : suite.runs) {
    const RunSpec plain = *std::find_if(suite.runs.begin(), suite.runs.end(), [&](const RunSpec& r) { return r.votes == spec.votes; });
    INFO(spec.id);
    const bool stops = spec.votes == 4 && spec.id.find("stop=3") != std::string::npos;
    CHECK((canonical_text(spec) == canonical_text(plain)) == !stops);
    CHECK((canonical_text(spec).find("rater.stop = 3\n") != std::string::npos) == stops);
    CHECK((spec_key(spec) == spec_key(plain)) == !stops);
    CHECK(why_not_batched(spec).empty() == !stops);
    if (stops) CHECK(why_not_batched(spec) == "a judge that stops early is asked one call after the other");
    different += stops;
  }
  CHECK(different == 1);
}

TEST_CASE("rules: law and draws of every aggregate train to the same quality within noise") {
  for (const std::string rules : {"aggregate = \"median\"", "aggregate = \"mean\"", "tie = \"nearest-mean\"", "tie = \"median-low\"",
                                  "aggregate = \"mean\"\nparse_failure = 0.2\nparse_policy = \"drop\"",
                                  "parse_failure = 0.2\nparse_policy = \"zero\"", "offset.sd = 1"}) {
    INFO(rules);
    const Suite suite =
        loaded(tiny + "[grid]\npolicy = \"tabular\"\nestimator = \"grpo\"\nrater = \"r\"\nvotes = 4\n[rater.r]\nbase = \"wide\"\n" + rules +
                   "\nsampling = [\"law\", \"draws\"]\n",
               {"suite.seeds=12", "learn.steps=150"});
    REQUIRE(suite.runs.size() == 24);
    double gain[2] = {};
    for (const RunSpec& spec : suite.runs) gain[spec.rater.sampling == Sampling::draws] += final_of(run(spec), "final_gain") / 12;
    CHECK(gain[0] > 0.2);
    CHECK(gain[0] == Approx(gain[1]).margin(0.04));
  }
}

TEST_CASE("rules: the mean of many votes tells more than their mode") {
  const Suite suite =
      loaded(tiny +
                 "[grid]\npolicy = \"tabular\"\nestimator = \"grpo\"\nrater = \"r\"\nvotes = 32\n[rater.r]\nbase = \"gauss\"\n"
                 "aggregate = [\"mode\", \"mean\"]\n",
             {"suite.seeds=12", "learn.steps=300"});
  double gain[2] = {};
  for (const RunSpec& spec : suite.runs) gain[spec.rater.aggregate == Aggregate::mean] += final_of(run(spec), "final_gain") / 12;
  CHECK(gain[1] > gain[0]);
}

TEST_CASE("rules: dropping dead groups changes a run exactly when there are any") {
  const auto of = [&](const std::string& noise, int rollouts, const char* groups) {
    return run(
        loaded(tiny + "[grid]\npolicy = \"tabular\"\nestimator = \"odrpo(grpo)\"\nrater = \"r\"\n[rater.r]\nnoise = [" + noise + "]\n",
               {std::string("learn.dead_groups=") + groups, "learn.rollouts=" + std::to_string(rollouts), "learn.steps=12"})
            .runs[0]);
  };
  // exact scores: pairs are often equal. Scores uniform on 1..10: 64 of them hardly ever are
  const std::string exact = "{ model = \"gaussian\", sigma = 0 }", uniform = exact + ", { model = \"uniform\", p = 1 }";
  const RunRecord kept = of(exact, 2, "keep"), dropped = of(exact, 2, "drop");
  CHECK(find_curve(kept, "dead_groups")->front() > 0);
  CHECK_FALSE(same(kept, dropped));
  const RunRecord all = of(uniform, 64, "keep"), none = of(uniform, 64, "drop");
  for (const double x : *find_curve(all, "dead_groups")) REQUIRE(x == 0);
  for (std::size_t i = 0; i < all.curves[0].values.size(); ++i)
    CHECK(none.curves[0].values[i] == Approx(all.curves[0].values[i]).epsilon(1e-5));
}

TEST_CASE("rules: epochs and the ratio clip") {
  const Suite suite =
      loaded(tiny + "[grid]\npolicy = [\"tabular\", \"linear\"]\nestimator = \"grpo\"\n", {"learn.epochs=[1, 3]", "learn.lr=1"});
  REQUIRE(suite.runs.size() == 4);
  for (std::size_t i = 0; i < 4; i += 2) {
    const RunRecord one = run(suite.runs[i]), three = run(suite.runs[i + 1]);
    REQUIRE(three.status == RunStatus::ok);
    CHECK_FALSE(same(one, three));
    RunSpec loose = suite.runs[i + 1], tight = loose;
    loose.learn.ratio_clip = 10;
    tight.learn.ratio_clip = 0.05;
    const RunRecord a = run(loose), b = run(tight);
    CHECK(*find_curve(a, "quality") != *find_curve(b, "quality"));
    REQUIRE(find_curve(b, "clipped") != nullptr);
    double most = 0;
    for (const double x : *find_curve(b, "clipped")) {
      CHECK((x >= 0 && x <= 1));
      most = x > most ? x : most;
    }
    CHECK(most > 0.05);
    // with one epoch the ratio is 1 whatever the clip
    RunSpec first = suite.runs[i];
    first.learn.ratio_clip = 0.05;
    CHECK(*find_curve(run(first), "quality") == *find_curve(one, "quality"));
  }
}

TEST_CASE("rules: an unkept batch moves nothing but Adam's memory, and a kept one keeps its numbers") {
  const Suite suite = loaded(
      tiny +
          "[grid]\npolicy = \"tabular\"\nestimator = \"grpo\"\nrater = \"r\"\n[rater.r]\nbase = \"mixed\"\nparse_failure = 0.999999999\n"
          "parse_policy = \"drop\"\n",
      {"learn.optimizer=sgd", "learn.kl=0.5"});
  const RunRecord r = run(suite.runs[0]);
  REQUIRE(r.status == RunStatus::ok);
  CHECK(find_curve(r, "quality")->front() == find_curve(r, "quality")->back());
  CHECK(find_curve(r, "missing")->back() == 1);
  CHECK(find_curve(r, "dead_groups")->back() == 1);
  CHECK(std::isnan(find_curve(r, "reward")->back()));
}

TEST_CASE("rules: a system's whitening is the one of its table") {
  const auto std_of = [&](const std::string& estimator, const std::string& whiten) {
    const Suite suite = loaded(tiny + "[grid]\nestimator = \"e\"\n[estimator.e]\n" + estimator, {"learn.whiten=" + whiten});
    RunCache shared;
    const RunSpec spec = suite.runs[0];
    const BanditProblem problem = *make_bandit_problem(spec, shared, best_isa(), never);
    BanditRun s(problem);
    train_step(s, 0, {}, never);
    double mean = 0, squares = 0;
    for (const float a : s.step.batch.advantage) mean += static_cast<double>(a) / static_cast<double>(s.step.batch.advantage.size());
    for (const float a : s.step.batch.advantage) squares += (static_cast<double>(a) - mean) * (static_cast<double>(a) - mean);
    return std::sqrt(squares / static_cast<double>(s.step.batch.advantage.size()));
  };
  const double n = 64;  // 8 prompts x 8 rollouts: ddof 1 makes the population std sqrt(63/64)
  CHECK(std_of("base = \"odrpo(grpo)\"\n", "compat") == Approx(1).epsilon(1e-5));
  CHECK(std_of("base = \"odrpo(grpo)\"\ncompat = \"nemo\"\n", "compat") == Approx(std::sqrt((n - 1) / n)).epsilon(1e-5));
  CHECK(std_of("base = \"grpo\"\ncompat = \"verl\"\n", "compat") ==
        Approx(std_of("base = \"grpo\"\ncompat = \"verl\"\n", "none")).epsilon(1e-6));
}
