// What is made of a file of scores (`world`), and raters in files of their own (`file`): what they become, and how bad ones are refused.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "config/plan/rater_file.hpp"
#include "config/write/canonical.hpp"
#include "envs/judge/simulate_scores.hpp"
#include "results/scores/score_file.hpp"
#include "tests/catch.hpp"
#include "tests/config/refusals.hpp"
#include "tests/config/test_folder.hpp"
#include "train/curves.hpp"
#include "train/run_cache.hpp"
#include "train/train.hpp"

using namespace odrpo;

namespace {

/// Scores of a preset or of a panel on 1..5, as a file.
std::string scores_of(const RaterConfig& rater, int levels, int samples, std::uint64_t seed) {
  std::string text;
  write_scores(simulate_scores(rater, rated_world(levels, 80, 6), samples, seed).table, ScoreFormat::csv,
               [&](std::string_view piece) { text += piece; });
  return text;
}

constexpr const char* panel_text = R"([rater.judge]
aggregate = "mean"

[rater.judge.latent]
prompt_share = 0.3
sigma = 0.3
spread = 0.4
judge_sigma = 0.3
thresholds = [
  [-1, 0, 0.5, 1],  # the first
  [-1.5, -0.2, 0.1, 2],
]
)";

std::string suite_with(const std::string& rater) {
  return "[suite]\nname = \"a\"\n[grid]\nestimator = [\"grpo\"]\nrater = [\"r\"]\nvotes = [1, 3]\n[learn]\nsteps = 20\nbatch = "
         "8\n[rater.r]\n" +
         rater + "\n";
}

void check_runs(const Suite& suite) {
  const Suite again = loaded(suite.resolved);
  REQUIRE(again.runs.size() == suite.runs.size());
  RunCache shared;
  const std::atomic<bool> stop{false};
  for (std::size_t i = 0; i < again.runs.size(); ++i) {
    CHECK(canonical_text(again.runs[i]) == canonical_text(suite.runs[i]));
    CHECK(train(suite.runs[i], shared, stop).status == RunStatus::ok);
  }
}

}  // namespace

TEST_CASE("scores: the default is a judge on a latent scale, in the world of that scale") {
  const TestFolder folder;
  folder.file("panel.toml", panel_text);
  std::vector<std::string> notes;
  const RaterConfig panel = load_rater_file((folder.path / "panel.toml").string(), notes);
  CHECK(notes.empty());
  folder.file("judge.csv", scores_of(panel, 5, 4, 20261123));
  Suite suite;
  const Refusal refused =
      file_refusal(folder.file("suite.toml", suite_with("scores = \"judge.csv\"\naggregate = \"mean\"\nlow.p = 0.01")), {}, &suite);
  INFO(refused.message);
  REQUIRE(refused.code == Exit::ok);
  const RunSpec one = suite.runs[0], three = suite.runs[1];
  CHECK(one.env.bandit.levels == 5);
  REQUIRE(one.rater.noise.size() == 2);
  const LatentScale& scale = std::get<LatentNoise>(one.rater.noise[0]).scale;
  CHECK(scale.judges() == 2);
  CHECK(scale.levels == 5);
  CHECK(std::abs(scale.prompt_share - 0.3) < 0.15);
  CHECK(one.rater.sampling == Sampling::law);
  CHECK(three.rater.sampling == Sampling::draws);  // judges answer in turn
  CHECK(brings_world(one.env.bandit, one.rater));
  REQUIRE(suite.notes.size() == 1);
  CHECK(suite.notes[0].find("80 prompts x 6 responses x 4 samples, 5 levels; 2 judges; latent scale: sigma ") != std::string::npos);
  check_runs(suite);
  Suite own;
  REQUIRE(file_refusal(folder.file("suite.toml", suite_with("scores = \"judge.csv\"\n[env.bandit]\nprofile = \"own\"\nmean = 3")), {}, &own)
              .code == Exit::ok);
  CHECK_FALSE(brings_world(own.runs[0].env.bandit, own.runs[0].rater));
  check_runs(own);
}

TEST_CASE("scores: resampled responses keep their own scores, drawn to their level's row") {
  const TestFolder folder;
  std::string text = "prompt_id,response_id,sample_id,score\n";
  // 20 prompts with a response of 1, 1, one of 1, 3, one of 3, 3
  for (int p = 0; p < 20; ++p)
    for (int r = 0; r < 3; ++r)
      for (int s = 0; s < 2; ++s) text += fmt::format("{},{},{},{}\n", p, r, s, r == 0 || (r == 1 && s == 0) ? 1 : 3);
  folder.file("judge.csv", text);
  Suite suite;
  const Refusal refused = file_refusal(folder.file("suite.toml", suite_with("scores = \"judge.csv\"\nworld = \"resample\"")), {}, &suite);
  INFO(refused.message);
  REQUIRE(refused.code == Exit::ok);
  const auto& responses = *std::get<ResampleNoise>(suite.runs[0].rater.noise[0]).responses;
  REQUIRE(responses.prompts() == 20);
  REQUIRE(responses.distributions.size() == 9);
  // counts and rows differ in nothing: whatever the concentration, distributions are (1, 0, 0), (1/2, 0, 1/2), (0, 0, 1) but for smoothing
  CHECK(responses.quality(responses.distribution[0]) == Approx(1).margin(0.05));
  CHECK(responses.quality(responses.distribution[1]) == Approx(2).margin(0.05));
  CHECK(responses.quality(responses.distribution[2]) == Approx(3).margin(0.05));
  CHECK(suite.notes[0].find("; resampled: 60 responses of 20 prompts, ") != std::string::npos);
  check_runs(suite);
}

TEST_CASE("a rater in a file of its own is the one that its section would be, and keys over it change it") {
  const TestFolder folder;
  folder.file("panel.toml", panel_text);
  Suite from_file, written;
  const Refusal a = file_refusal(folder.file("a.toml", suite_with("file = \"panel.toml\"\ntie = \"first\"")), {}, &from_file);
  INFO(a.message);
  REQUIRE(a.code == Exit::ok);
  std::string section(panel_text);
  while (section.find("judge]") != std::string::npos) section.replace(section.find("judge]"), 6, "r]");
  while (section.find("judge.latent") != std::string::npos) section.replace(section.find("judge.latent"), 12, "r.latent");
  const std::string head = suite_with("");
  const Refusal b = file_refusal(folder.file("b.toml", head.substr(0, head.find("[rater.r]")) + section), {}, &written);
  INFO(b.message);
  REQUIRE(b.code == Exit::ok);
  for (std::size_t i = 0; i < written.runs.size(); ++i) CHECK(canonical_text(written.runs[i]) == canonical_text(from_file.runs[i]));
  check_runs(from_file);
  Suite changed;
  const Refusal c = file_refusal(folder.file("a.toml", suite_with("file = \"panel.toml\"\nlatent.sigma = [0.5, 1]")), {}, &changed);
  INFO(c.message);
  REQUIRE(c.code == Exit::ok);
  CHECK(changed.runs.size() == 2 * from_file.runs.size());
  CHECK(std::get<LatentNoise>(changed.runs.back().rater.noise[0]).scale.sigma == 1);
  Suite set;
  CHECK(file_refusal(folder.file("a.toml", suite_with("")), {"rater.r.file=" + (folder.path / "panel.toml").string()}, &set).code ==
        Exit::ok);
}

TEST_CASE("a judge's file may start from a word of the catalogue") {
  const TestFolder folder;
  folder.file("mean.toml", "[rater.judge]\nbase = \"mixed\"\naggregate = \"mean\"\n");
  Suite from_file, written;
  const Refusal a = file_refusal(folder.file("a.toml", suite_with("file = \"mean.toml\"")), {}, &from_file);
  INFO(a.message);
  REQUIRE(a.code == Exit::ok);
  REQUIRE(file_refusal(folder.file("b.toml", suite_with("base = \"mixed\"\naggregate = \"mean\"")), {}, &written).code == Exit::ok);
  REQUIRE(from_file.runs.size() == written.runs.size());
  for (std::size_t i = 0; i < written.runs.size(); ++i) CHECK(canonical_text(written.runs[i]) == canonical_text(from_file.runs[i]));
  folder.file("mean.toml", "[rater.judge]\nbase = \"mixt\"\n");
  const Refusal b = file_refusal(folder.file("a.toml", suite_with("file = \"mean.toml\"")));
  CHECK(b.code == Exit::suite);
  CHECK_THAT(b.message, Catch::Contains("mean.toml:2:8: error: `rater.judge.base` must be a word of the catalogue, and there is no rater \"mixt\""));
}

TEST_CASE("judges that cannot be are refused at their places", "[pages]") {
  const TestFolder folder;
  folder.file("panel.toml", panel_text);
  folder.file("two.toml", std::string(panel_text) + "[rater.other]\nnoise = [{ model = \"gaussian\" }]\n");
  folder.file("more.toml", std::string(panel_text) + "[learn]\nsteps = 3\n");
  folder.file("none.toml", "[suite]\nname = \"x\"\n");
  folder.file("empty.toml", "[rater.judge]\naggregate = \"mean\"\n");
  folder.file("bad.toml", "[rater.judge]\nnoise = [\n");
  folder.file("typo.toml", "[rater.judge]\n[rater.judge.latent]\nsigma = -1\nthresholds = [[2, 1]]\n");
  folder.file("judge.csv",
              "prompt_id,response_id,sample_id,score\n0,0,0,1\n0,0,1,2\n0,1,0,3\n0,1,1,3\n1,0,0,2\n1,0,1,2\n1,1,0,1\n1,1,1,3\n");
  folder.file("single.csv", "prompt_id,response_id,sample_id,score\n0,0,0,1\n0,1,0,2\n");
  check_cases("config/pages/judges.txt", [&](const std::string& input) {
    return refusal_text(file_refusal(folder.file("a.toml", suite_with(input))), folder.path.string() + "/");
  });
}

TEST_CASE("a judge with fewer levels than ten rates texts, and their quality is carried to its scale") {
  const TestFolder folder;
  folder.file("panel.toml", panel_text);
  const std::string head =
      "[suite]\nname = \"t\"\n[grid]\nenv = [\"toy-lm\"]\npolicy = [\"transformer\"]\nestimator = [\"grpo\"]\nrater = [\"r\"]\nvotes = [1, "
      "3]\n"
      "[learn]\nsteps = 2\nbatch = 4\nrollouts = 4\n[policy.transformer]\nwarm_steps = 5\n[rater.r]\nfile = \"panel.toml\"\n";
  Suite suite;
  const Refusal r = file_refusal(folder.file("t.toml", head), {}, &suite);
  INFO(r.message);
  REQUIRE(r.code == Exit::ok);
  CHECK(suite.runs[0].env.levels() == 5);
  RunCache shared;
  const std::atomic<bool> stop{false};
  for (const RunSpec& run : suite.runs) {
    const RunRecord record = train(run, shared, stop);
    REQUIRE(record.status == RunStatus::ok);
    for (const double reward : record.curves[static_cast<std::size_t>(CurveId::reward)].values) CHECK((reward >= 1 && reward <= 5));
  }
  CHECK(file_refusal(folder.file("t.toml", head + "[rater.s]\nbase = \"mixed\"\n"), {}).code == Exit::ok);
}

TEST_CASE("judges that differ in their world do not share one, whatever the cache has kept") {
  const auto noise = [](const std::string& thresholds, double share) {
    return fmt::format("noise = [{{ model = \"latent\", prompt_share = {}, thresholds = [{}] }}]\n", share, thresholds);
  };
  const auto distributions = [](const char* prompts) {
    return fmt::format("noise = [{{ model = \"resample\", laws = [[0.8, 0.2], [0.5, 0.5], [0.1, 0.9]], prompts = {} }}]\n", prompts);
  };
  const std::string raters[] = {noise("[-0.5, 0.5]", 0.5), noise("[-0.5, 0.75]", 0.5), noise("[-0.5, 0.5]", 0.25), distributions("[[0, 1, 2]]"),
                                distributions("[[0, 1, 1, 2]]")};
  std::string text =
      "[suite]\nname = \"w\"\n[grid]\nestimator = [\"grpo\"]\nrater = [\"a\", \"b\", \"c\", \"d\", \"e\"]\n[learn]\nsteps = 20\nbatch = "
      "8\n";
  for (std::size_t i = 0; i < std::size(raters); ++i) text += fmt::format("[rater.{}]\n{}", "abcde"[i], raters[i]);
  const Suite suite = loaded(text);
  RunCache shared;
  const std::atomic<bool> stop{false};
  std::set<std::string> worlds;
  std::set<std::vector<double>> curves;
  for (const RunSpec& run : suite.runs) {
    RunCache own;
    const auto quality = [&](RunCache& cache) { return train(run, cache, stop).curves[static_cast<std::size_t>(CurveId::quality)].values; };
    const auto alone = quality(own);
    CHECK(quality(shared) == alone);
    curves.insert(alone);
    worlds.insert(source_text(run));
  }
  CHECK(worlds.size() == 5);
  CHECK(curves.size() == 5);
}
