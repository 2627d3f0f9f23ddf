// --shard: texts that name a part, the variables that number tasks, and what is refused.
#include "app/run/shard.hpp"

#include <map>

#include "app/run/merge.hpp"
#include "app/run/output_name.hpp"
#include "config/read/parse.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"

using namespace odrpo;
using namespace odrpo::app;

namespace {

using Variables = std::map<std::string, std::string>;

ChosenPart choose(const std::string& text, const Variables& set = {}) {
  return choose_part(text, [&](const char* name) -> const char* {
    const auto at = set.find(name);
    return at == set.end() ? nullptr : at->second.c_str();
  });
}

std::string refused(const std::string& text, const Variables& set = {}) {
  try {
    choose(text, set);
  } catch (const Failure& failure) {
    CHECK(failure.code == Exit::usage);
    return failure.what();
  }
  return "";
}

bool says(const std::string& message, const std::string& words) { return message.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("parts by --shard: a part by its number") {
  CHECK(choose("3/8").part.index == 3);
  CHECK(choose("3/8").part.count == 8);
  CHECK(choose("3/8").note.empty());
  CHECK(choose("0/1").part.count == 1);
  for (const std::string bad : {"", "3", "/", "3/", "/8", "3/0", "3/-8", "3/8/1", "a/8", "3/b", " 3/8", "3/8 ", "3.0/8", "+3/8", "auto", "auto/", "AUTO/8", "3/9999999", "99999999999999999999/8"})
    CHECK(says(refused(bad), "a part is I/N or auto/N"));
  CHECK(says(refused("8/8"), "part 8 is not in 0..7"));
  CHECK(says(refused("-1/8"), "part -1 is not in 0..7"));
}

TEST_CASE("parts by --shard: a part by the environment, the first variable that is set") {
  CHECK(choose("auto/8", {{"SLURM_ARRAY_TASK_ID", "5"}}).part.index == 5);
  CHECK(choose("auto/8", {{"SLURM_ARRAY_TASK_ID", "5"}, {"SLURM_ARRAY_TASK_MIN", "1"}, {"SLURM_ARRAY_TASK_MAX", "8"}, {"SLURM_ARRAY_TASK_STEP", "1"}}).part.index == 4);
  CHECK(choose("auto/8", {{"JOB_COMPLETION_INDEX", "7"}}).part.index == 7);
  CHECK(choose("auto/8", {{"PMIX_RANK", "6"}}).part.index == 6);
  CHECK(choose("auto/8", {{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "8"}}).part.index == 2);
  const Variables all = {{"SLURM_ARRAY_TASK_ID", "1"}, {"JOB_COMPLETION_INDEX", "2"}, {"PMIX_RANK", "3"}, {"OMPI_COMM_WORLD_RANK", "4"}};
  CHECK(choose("auto/8", all).part.index == 1);
  CHECK(choose("auto/8", {{"SLURM_ARRAY_TASK_ID", ""}, {"PMIX_RANK", "3"}}).part.index == 3);  // empty = not set
  CHECK(choose("3/8", all).part.index == 3);                                                      // a number is not asked for
  CHECK(says(choose("auto/8", {{"SLURM_ARRAY_TASK_ID", "5"}, {"SLURM_ARRAY_TASK_MIN", "1"}}).note, "part 4/8 (SLURM_ARRAY_TASK_ID=5 less SLURM_ARRAY_TASK_MIN=1)"));
}

TEST_CASE("parts by --shard: environments that number no part are refused, and other numbers of tasks told") {
  CHECK(says(refused("auto/8"), "no variable tells which part this is"));
  CHECK(says(refused("auto/8", {{"SLURM_ARRAY_TASK_ID", "8"}}), "part 8 (SLURM_ARRAY_TASK_ID=8) is not in 0..7"));
  CHECK(says(refused("auto/8", {{"SLURM_ARRAY_TASK_ID", "2"}, {"SLURM_ARRAY_TASK_MIN", "3"}}), "part -1"));
  CHECK(says(refused("auto/8", {{"SLURM_ARRAY_TASK_ID", "2"}, {"SLURM_ARRAY_TASK_STEP", "2"}}), "step 2"));
  CHECK(says(refused("auto/8", {{"PMIX_RANK", "two"}}), "PMIX_RANK is \"two\", not a whole number that tasks have"));
  const Variables one = {{"SLURM_ARRAY_TASK_ID", "3"}, {"SLURM_ARRAY_TASK_MIN", "3"}, {"SLURM_ARRAY_TASK_MAX", "3"}};  // would be part 0
  CHECK(says(refused("auto/8", one), "the Slurm array has 1 task (3-3), which leaves parts out; submit 0-7 again, or write --shard I/8"));
  CHECK(choose("3/8", one).part.index == 3);
  const Variables wide = {{"SLURM_ARRAY_TASK_ID", "3"}, {"SLURM_ARRAY_TASK_MIN", "0"}, {"SLURM_ARRAY_TASK_MAX", "8"}};
  CHECK(says(choose("auto/8", wide).note, "the job has 9 tasks, and the suite 8 parts"));
  CHECK(choose("auto/8", {{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}}).part.index == 2);
  CHECK(launched_ranks([](const char*) -> const char* { return nullptr; }) == 1);
  const auto ranks = [](const Variables& set) {
    return launched_ranks([&](const char* name) -> const char* {
      const auto at = set.find(name);
      return at == set.end() ? nullptr : at->second.c_str();
    });
  };
  CHECK(ranks({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "4"}}) == 4);
  CHECK(ranks({{"PMIX_RANK", "0"}, {"SLURM_STEP_NUM_TASKS", "3"}}) == 3);
  CHECK(ranks({{"PMIX_RANK", "0"}}) == 1);
  CHECK(ranks({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}) == 2);
}

TEST_CASE("parts by --shard: parts have files of their own, which sort in their order") {
  CHECK(default_output("votes", {}, "", {0, 1}) == "votes.h5");
  CHECK(default_output("votes", {}, "", {3, 8}) == "votes.part-3-of-8.h5");
  CHECK(default_output("votes", {}, "", {3, 100}) == "votes.part-03-of-100.h5");
  CHECK(default_output("votes", {}, "", {3, 101}) == "votes.part-003-of-101.h5");
  CHECK(default_output("votes", {"suite.seeds=3"}, "", {3, 8}) == "votes-seeds=3.part-3-of-8.h5");
}

TEST_CASE("outputs of changed suites are named by the keys that --set changed, or by --name") {
  const auto name = [](const std::vector<std::string>& set, const std::string& given = "") { return default_output("votes", set, given, {0, 1}); };
  CHECK(name({"suite.seeds=3", "learn.lr=[0.1, 0.2]"}) == "votes-seeds=3-lr=0.1,0.2.h5");
  CHECK(name({"grid.votes+=[16]"}) == "votes-votes+=16.h5");
  CHECK(name({"rater.judge.scores=data/my judge.csv"}) == "votes-scores=myjudge.csv.h5");
  CHECK(name({R"toml(grid.estimator=["odrpo-gini(maxrl)"])toml"}) == "votes-estimator=odrpo-gini_maxrl_.h5");
  CHECK(name({"suite.name=votes", "table.value=regret", "gate.gain=[]", "limits.runs=5", "label.grpo=GRPO"}) == "votes.h5");  // change no run
  CHECK(name({"suite.seeds=3"}, "try") == "votes-try.h5");
  const std::string long_value(200, '7');
  const std::string a = name({"learn.lr=" + long_value + "1"}), b = name({"learn.lr=" + long_value + "2"});
  CHECK(a.size() == std::string("votes").size() + 80 + 3);
  CHECK(a != b);
}

TEST_CASE("runs that differ between parts are printed with both files, digests and machines") {
  const Suite suite = load_suite_text("s.toml", "[suite]\nname = \"s\"\n[grid]\nestimator = \"grpo\"\n", {}, {});
  std::vector<Part> parts(3);
  for (std::size_t i = 0; i < 3; ++i) {
    parts[i].path = std::string(1, static_cast<char>('a' + i)) + ".h5";
    parts[i].provenance = {{"cpu", i == 2 ? "Zen" : "Xeon"}, {"isa", "avx2"}};
  }
  const auto digest = [](char c) { return std::string(64, c); };
  MergeReport report;
  report.differing = 1234;
  report.conflicts = {{"run-1", "bandit", 0, 2, digest('1'), digest('2'), {"final_quality 1 and 2", "auc_quality 3 and 4"}},
                      {"run-2", "bandit", 1, 0, digest('3'), digest('4'), {"key a and b"}},
                      {"run-3", "bandit", RunConflict::own_source, 1, digest('5'), digest('6'), {"its words or axes"}}};
  CHECK(conflict_text(suite, parts, report, "out.h5") ==
        "1234 runs differ between parts; nothing was written\n"
        "  run run-1: digest 111111111111 in a.h5, 222222222222 in c.h5: final_quality 1 and 2; auc_quality 3 and 4\n"
        "    the first trained on Xeon (avx2), the second on Zen (avx2)\n"
        "  run run-2: digest 333333333333 in b.h5, 444444444444 in a.h5: key a and b\n"
        "  run run-3: digest 555555555555 in out.h5, 666666666666 in b.h5: its words or axes\n"
        "  and 1,231 more\n"
        "  runs of the bandit have equal bits on every machine: one of the two parts is damaged, forged, or of a faulty machine");
}
