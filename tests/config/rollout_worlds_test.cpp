// Worlds of a real training: what [env.NAME] rollouts and judge become, that such suites train, and how bad ones are refused.
#include <fmt/format.h>

#include "config/write/canonical.hpp"
#include "tests/catch.hpp"
#include "tests/config/refusals.hpp"
#include "tests/config/test_folder.hpp"
#include "train/curves.hpp"
#include "train/run_cache.hpp"
#include "train/train.hpp"

using namespace odrpo;

namespace {

constexpr const char* judge_text = R"([rater.mine]
base = "veto"
veto.share = 0.1
)";

std::string row(int step, const char* prompt, const std::string& reward) {
  return fmt::format("{{\"step\": {}, \"prompt\": \"{}\", \"reward\": {}}}\n", step, prompt, reward);
}

/// Six prompts with groups of 2 to 4 completions; prompt a has two groups, and one completion of b has no score.
std::string dump_text() {
  std::string text;
  for (const int score : {1, 2, 1, 2}) text += row(1, "a", std::to_string(score));
  for (const char* score : {"7", "8", "null", "3"}) text += row(1, "b", score);
  for (const char* prompt : {"c", "d", "e", "f"})
    for (const int score : {9, 8, 8, 6}) text += row(2, prompt, std::to_string(score));
  for (const int score : {5, 6, 7, 7}) text += row(3, "a", std::to_string(score));
  return text;
}

std::string suite_of(const std::string& env) {
  return "[suite]\nname = \"a\"\nseeds = 2\n[grid]\nestimator = [\"grpo\", \"posterior(grpo)\"]\nenv = [\"mine\"]\nrater = [\"veto\"]\npolicy = [\"tabular\", \"linear\"]\n"
         "[learn]\nsteps = 20\nbatch = 4\nrollouts = 4\n[env.mine]\nbase = \"bandit\"\n" +
         env;
}

struct Files : TestFolder {
  Files() {
    file("dump.jsonl", dump_text());
    file("judge.toml", judge_text);
  }
  std::string refused(const std::string& env) const {
    const Refusal refusal = file_refusal(file("suite.toml", suite_of(env)));
    return refusal_text(refusal, path.string() + "/");
  }
  Suite accepted(const std::string& text) const {
    Suite suite;
    const Refusal refusal = file_refusal(file("suite.toml", text), {}, &suite);
    INFO(refusal.message);
    REQUIRE(refusal.code == Exit::ok);
    return suite;
  }
};

constexpr const char* good = "rollouts = \"dump.jsonl\"\njudge = \"judge.toml\"\n";

}  // namespace

TEST_CASE("rollouts: the world has the last group of each prompt, and trains") {
  const Files files;
  const Suite suite = files.accepted(suite_of(good));
  REQUIRE(suite.runs.size() == 8);
  const RunSpec spec = suite.runs[0];
  CHECK(spec.env.bandit.prompts == 6);
  CHECK(spec.env.bandit.actions == 4);
  CHECK(spec.env.bandit.levels == 10);
  CHECK(*spec.env.bandit.groups.rows == NumberRows{{5, 6, 7, 7}, {7, 8, 3}, {9, 8, 8, 6}, {9, 8, 8, 6}, {9, 8, 8, 6}, {9, 8, 8, 6}});
  REQUIRE(spec.judge);
  REQUIRE(spec.judge->noise.size() == 3);
  CHECK(std::get<Veto>(spec.judge->noise[1]).share == 0.1);
  const Suite again = loaded(suite.resolved);
  REQUIRE(again.runs.size() == suite.runs.size());
  RunCache shared;
  const std::atomic<bool> stop{false};
  for (std::size_t i = 0; i < suite.runs.size(); ++i) {
    CHECK(canonical_text(again.runs[i]) == canonical_text(suite.runs[i]));
    CHECK(train(suite.runs[i], shared, stop).status == RunStatus::ok);
  }
  CHECK(canonical_text(spec).find("env.groups = [[5, 6, 7, 7], [7, 8, 3], ") != std::string::npos);
  CHECK(canonical_text(spec).find("judge.noise.1.share = 0.1") != std::string::npos);
}

TEST_CASE("rollouts: another score or judge is another run, another path is not") {
  const Files files;
  const std::string before = canonical_text(files.accepted(suite_of(good)).runs[0]);
  files.file("copy.jsonl", dump_text());
  files.file("other.toml", "[rater.x]\nbase = \"veto\"\nveto.share = 0.1\n");
  CHECK(canonical_text(files.accepted(suite_of("rollouts = \"copy.jsonl\"\njudge = \"other.toml\"\n")).runs[0]) == before);
  CHECK(canonical_text(files.accepted(suite_of("rollouts = \"dump.jsonl\"\njudge = \"veto\"\n")).runs[0]) != before);
  std::string changed = dump_text();
  changed.replace(changed.rfind("7}"), 1, "8");
  files.file("dump.jsonl", changed);
  CHECK(canonical_text(files.accepted(suite_of(good)).runs[0]) != before);
  // a judge of the suite itself, and another scale
  std::string tenths = dump_text();
  for (std::size_t at = 0; (at = tenths.find("reward\": ", at)) != std::string::npos; at += 9)
    if (tenths[at + 9] != 'n') tenths.insert(at + 9, "0.");
  files.file("tenths.jsonl", tenths);
  const std::string scaled = "rollouts = \"tenths.jsonl\"\nscale = \"0.1..1 by 0.1\"\njudge = \"mine\"\n[rater.mine]\nbase = \"veto\"\nveto.share = 0.1\n";
  CHECK(canonical_text(files.accepted(suite_of(scaled)).runs[0]) == before);
}

TEST_CASE("rollouts: worlds that cannot be made are refused at their place", "[pages]") {
  const Files files;
  files.file("two.jsonl", "{\"step\": 1, \"prompt\": \"a\", \"reward_a\": 1, \"reward_b\": 2}\n{\"step\": 1, \"prompt\": \"a\", \"reward_a\": 3, \"reward_b\": 2}\n");
  files.file("off.jsonl", row(1, "a", "3") + row(1, "a", "0.5") + row(1, "b", "11") + row(1, "b", "2"));
  files.file("one.jsonl", row(1, "a", "3") + row(1, "a", "4") + row(1, "b", "2"));
  files.file("broken.jsonl", row(1, "a", "3") + "{\"step\": 1,\n");
  check_cases("config/pages/rollout-worlds.txt", [&](const std::string& env) { return files.refused(env); });
}
