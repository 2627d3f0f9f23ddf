// RunGrid against its definition: nested loops over the lists of a suite, and each run the only one of a suite without lists.
#include "config/plan/run_grid.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "config/catalogue/axis.hpp"
#include "config/spec.hpp"
#include "config/write/canonical.hpp"
#include "kernels/system/text.hpp"
#include "tests/catch.hpp"
#include "tests/config/loading.hpp"
#include "train/schedule/run_order.hpp"

using namespace odrpo;

namespace {

// A key that has a list of values, and the variant it belongs to; that of [learn] belongs to all.
struct Axis {
  std::string section, variant, key;
  std::vector<std::string> values;
  std::string full_key() const { return section == "learn" ? "learn." + key : section + "." + variant + "." + key; }
};

// A plan as lists of words, and its axes in the order of the file.
struct Lists {
  std::vector<std::string> env, rater, policy, estimator, votes;
  std::vector<Axis> axes;
  int seeds = 1;
};

// what a suite says whichever axes it has: e2 has levels of its own, those of the matrix of r2
const std::string variants = R"toml(
[env.e1]
base = "bandit"
[env.e2]
base = "bandit"
levels = 3
[rater.r1]
base = "veto"
[rater.r2]
noise = [{ model = "confusion", matrix = [[0.8, 0.2, 0], [0.1, 0.8, 0.1], [0, 0.2, 0.8]] }]
[rater.r3]
base = "mixed"
[estimator.s1]
base = "grpo"
[estimator.s2]
base = "odrpo-gini-median(maxrl)"
)toml";

const std::vector<Axis> possible = {
    {"env", "e1", "prompts", {"64", "128", "96"}},
    {"learn", "", "lr", {"0.1", "0.3"}},
    {"rater", "r1", "veto.share", {"0.1", "0.2"}},
    {"rater", "r1", "tie", {"lowest", "first"}},
    {"learn", "", "whiten", {"none", "response"}},
    {"env", "e2", "mean", {"5", "6.5"}},
    {"estimator", "s2", "median", {"upper", "lower", "mid"}},
    {"learn", "", "optimizer", {"adamw", "adam"}},
    {"rater", "r3", "aggregate", {"median", "mode"}},
    {"estimator", "s1", "eps", {"0", "1e-06"}},
    {"learn", "", "beta1", {"0.5", "0.9"}},
};

std::string list_of(const std::vector<std::string>& words, bool quoted) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + (quoted ? "\"" + word + "\"" : word);
  return "[" + text + "]";
}

std::string text_of(const Lists& lists) {
  return "[suite]\nname = \"grid\"\nseed = 11\nseeds = " + std::to_string(lists.seeds) + "\n[grid]\nenv = " + list_of(lists.env, true) +
         "\nrater = " + list_of(lists.rater, true) + "\npolicy = " + list_of(lists.policy, true) +
         "\nestimator = " + list_of(lists.estimator, true) + "\nvotes = " + list_of(lists.votes, false) + "\n" + variants;
}

std::vector<std::string> settings_of(const std::vector<Axis>& axes) {
  std::vector<std::string> set;
  for (const Axis& axis : axes) set.push_back(axis.full_key() + "=" + list_of(axis.values, false));
  return set;
}

// A run by definition: its id, and the settings that make a suite of this run and its seeds alone.
struct Eager {
  std::string id;
  std::size_t seed;
  std::vector<std::string> set;
};

// every combination of these axes, the last one changing fastest
void add_axes(const std::vector<Axis>& axes, std::size_t next, const Eager& made, const Lists& lists, std::vector<Eager>& runs) {
  if (next < axes.size()) {
    for (const std::string& value : axes[next].values) {
      Eager more = made;
      more.id += "/" + axes[next].key + "=" + value;
      more.set.push_back(axes[next].full_key() + "=" + value);
      add_axes(axes, next + 1, more, lists, runs);
    }
    return;
  }
  for (int s = 0; s < lists.seeds; ++s) runs.push_back({made.id + "/s" + std::to_string(s), static_cast<std::size_t>(s), made.set});
}

std::vector<Eager> eager_runs(const Lists& lists) {
  std::vector<Eager> runs;
  for (const auto& env : lists.env)
    for (const auto& rater : lists.rater)
      for (const auto& policy : lists.policy)
        for (const auto& estimator : lists.estimator)
          for (const auto& votes : lists.votes) {
            std::vector<Axis> axes;
            for (const Axis& axis : lists.axes)
              if (axis.section == "learn" || axis.variant == env || axis.variant == rater || axis.variant == estimator)
                axes.push_back(axis);
            const std::string stem = env + "/" + rater + "/" + policy + "/" + estimator + "/n" + votes;
            add_axes(
                axes, 0,
                {stem,
                 0,
                 {"grid.env=" + env, "grid.rater=" + rater, "grid.policy=" + policy, "grid.estimator=" + estimator, "grid.votes=" + votes}},
                lists, runs);
          }
  return runs;
}

// Some of the list, at least one, in their order.
template <class T>
std::vector<T> some(std::mt19937& random, std::vector<T> from) {
  std::vector<T> chosen;
  for (const T& one : from)
    if (random() % 2 == 0) chosen.push_back(one);
  return chosen.empty() ? std::vector<T>{from[random() % from.size()]} : chosen;
}

Lists random_lists(std::mt19937& random) {
  Lists lists;
  lists.env = some<std::string>(random, {"e1", "e2", "bandit"});
  lists.rater = some<std::string>(random, {"r1", "mixed", "r2", "r3"});
  lists.policy = some<std::string>(random, {"tabular", "linear"});
  lists.estimator = some<std::string>(random, {"s1", "s2", "maxrl"});
  lists.votes = some<std::string>(random, {"8", "1", "32"});
  lists.seeds = 1 + static_cast<int>(random() % 3);
  const auto in = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const Axis& axis : possible)
    if (lists.axes.size() < 4 && random() % 2 == 0 &&
        (axis.section == "learn" || in(lists.env, axis.variant) || in(lists.rater, axis.variant) || in(lists.estimator, axis.variant)))
      lists.axes.push_back(axis);
  std::shuffle(lists.axes.begin(), lists.axes.end(), random);
  return lists;
}

using Parts = std::initializer_list<GridPart>;

// What a part of a run looks like in its id and in its spec; equal for equal choices.
std::string part_text(const RunSpec& run, GridPart part, const Lists& lists) {
  const std::string names[] = {run.env_name, run.rater_name, run.policy_name, run.estimator_name, std::to_string(run.votes), ""};
  const char* sections[] = {"env", "rater", "policy", "estimator", "votes", "learn"};
  std::string text = names[static_cast<std::size_t>(part)];
  for (const auto& [name, value] : run.axes)
    for (const Axis& axis : lists.axes)
      if (axis.key == name && axis.section == sections[static_cast<std::size_t>(part)]) text += "/" + name + "=" + value_text(value);
  return text;
}

// The functions that spare making runs, against the runs.
void check_shortcuts(const RunGrid& grid, const Lists& lists) {
  const std::vector<RunSpec> runs(grid.begin(), grid.end());
  REQUIRE(runs.size() == grid.size());
  std::size_t next = 0;
  for (std::size_t c = 0; c < grid.combinations(); ++c) {
    const Combination all = grid.combination(c);
    REQUIRE(all.first == next);
    REQUIRE(all.runs > 0);
    for (std::size_t i = all.first; i < all.first + all.runs; ++i) {
      REQUIRE(grid.combination_of(i) == c);
      REQUIRE(canonical_settings(runs[i]) == canonical_settings(runs[all.first]));
      REQUIRE(runs[i].id == grid.id(i));
      REQUIRE(runs[i].seed == grid.seed(i));
    }
    next += all.runs;
    if (next < runs.size())
      REQUIRE(runs[next].id.substr(0, runs[next].id.rfind('/')) != runs[all.first].id.substr(0, runs[all.first].id.rfind('/')));
  }
  REQUIRE(next == runs.size());
  using enum GridPart;
  for (const Parts parts : {Parts{}, Parts{env}, Parts{learn}, Parts{rater, env}, Parts{policy, votes}, Parts{estimator, learn},
                            Parts{env, rater, policy, estimator, votes, learn}}) {
    std::set<std::string> met;
    std::set<std::size_t> numbers;
    std::vector<std::size_t> firsts;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      std::string text;
      for (const GridPart part : parts) text += part_text(runs[i], part, lists) + "\n";
      const bool fresh = met.insert(text).second;
      if (fresh) firsts.push_back(i);
      const std::size_t number = grid.choice(i, parts);
      REQUIRE(number < grid.choices(parts));
      REQUIRE(numbers.insert(number).second == fresh);
    }
    REQUIRE(grid.first_of_each(parts) == firsts);
  }
}

}  // namespace

TEST_CASE("a grid has the runs of nested loops over its lists, and --only those of them that match", "[unsanitized]") {
  std::mt19937 random(20260);
  for (int round = 0; round < 40; ++round) {
    const Lists lists = random_lists(random);
    const std::string text = text_of(lists);
    const std::vector<std::string> set = settings_of(lists.axes);
    INFO(text);
    const std::vector<Eager> wanted = eager_runs(lists);
    const Suite suite = loaded(text, set);
    REQUIRE(suite.runs.size() == wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) REQUIRE(suite.runs.id(i) == wanted[i].id);
    for (std::size_t n = 0; n < 12; ++n) {  // loading a suite for each run takes long
      const std::size_t i = n < 2 ? n * (wanted.size() - 1) : random() % wanted.size();
      const RunSpec run = suite.runs[i], alone = loaded(text, wanted[i].set).runs[wanted[i].seed];
      INFO(wanted[i].id);
      REQUIRE(run.id == wanted[i].id);
      REQUIRE(canonical_text(run) == canonical_text(alone));
    }
    check_shortcuts(suite.runs, lists);

    const std::string part = wanted[random() % wanted.size()].id;
    for (const std::vector<std::string>& only : {std::vector<std::string>{"*/s0"}, {part}, {"*=0.1*", "*n8*"}, {"*/s[12]", "e1*", part}}) {
      std::vector<std::string> left;
      for (const Eager& run : wanted)
        if (std::any_of(only.begin(), only.end(), [&](const std::string& glob) { return glob_match(glob, run.id); }))
          left.push_back(run.id);
      const auto met = [&](const std::string& glob) {
        return std::any_of(wanted.begin(), wanted.end(), [&](const Eager& run) { return glob_match(glob, run.id); });
      };
      if (!std::all_of(only.begin(), only.end(), met)) {
        CHECK(refusal(text, set, only).code == Exit::suite);
        continue;
      }
      const Suite chosen = loaded(text, set, only);
      REQUIRE(chosen.runs.size() == left.size());
      for (std::size_t i = 0; i < left.size(); ++i) REQUIRE(chosen.runs.id(i) == left[i]);
      check_shortcuts(chosen.runs, lists);
    }
  }
}

TEST_CASE("an empty grid, copies, and runs that outlive their suite") {
  const RunGrid none;
  CHECK(none.empty());
  CHECK(none.begin() == none.end());
  CHECK(none.combinations() == 0);
  CHECK(none.first_of_each({GridPart::env}).empty());
  static_assert(std::forward_iterator<RunGrid::Iterator>);
  RunGrid copy;
  {
    const Suite suite = loaded(small_suite, {"suite.seeds=3"}, {"*s[02]"});
    copy = suite.runs;
  }
  REQUIRE(copy.size() == 4);
  CHECK(copy.back().id == "bandit/mixed/linear/maxrl/n1/s2");
  CHECK(copy.only({1, 2}).front().id == "bandit/mixed/linear/grpo/n1/s2");
  CHECK(copy.only({1, 2}).back().id == "bandit/mixed/linear/maxrl/n1/s0");
}

TEST_CASE("a grid of a million runs takes the memory of its plan, and gives any run at once", "[unsanitized]") {
  const std::vector<std::string> set{"suite.seeds=100000", "limits.runs=1e9", "learn.lr=[1, 2, 3, 4, 5]"};
  const Suite suite = loaded(small_suite, set);
  CHECK(sizeof(suite.runs) <= 4 * sizeof(void*));
  REQUIRE(suite.runs.size() == 1'000'000);
  CHECK(suite.runs.combinations() == 10);
  CHECK(suite.runs[999'999].id == "bandit/mixed/linear/maxrl/n1/lr=5/s99999");
  CHECK(suite.runs[123'456].id == "bandit/mixed/linear/grpo/n1/lr=2/s23456");
  CHECK(loaded(small_suite, set, {"*/s99999"}).runs.size() == 10);
  const std::vector<std::size_t> order = run_order(suite);
  REQUIRE(order.size() == 1'000'000);
  CHECK(order[0] == 0);
  CHECK(order[9] == 900'000);  // all combinations share the world of a seed
  CHECK(order[10] == 100'001);  // the next seed, whose world another combination opens
}
