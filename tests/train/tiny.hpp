// Eight runs of a moment each, a folder to run them in, and run_suite with as little said as possible: for the tests of whole suites.
#pragma once
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "config/read/parse.hpp"
#include "tests/catch.hpp"
#include "train/schedule/run_suite.hpp"

namespace odrpo {

inline const char* const tiny_text = R"toml(# eight runs of a moment each
[suite]
name = "tiny"
seed = 7
seeds = 2
[grid]
env = ["bandit"]
rater = ["mixed"]
policy = ["linear"]
estimator = ["grpo", "odrpo-gini(maxrl)"]
votes = [1, 8]
[env.bandit]
prompts = 16
actions = 8
[learn]
steps = 20
batch = 8
)toml";

inline Suite tiny(const std::vector<std::string>& set = {}) { return load_suite_text("tiny.toml", tiny_text, set, {}); }

// a folder of its own for each test case
struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "odrpo-run-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const char* name) const { return (path / name).string(); }
};

inline RunReport run(const Suite& suite, const std::string& output, int jobs) {
  RunSettings settings;
  settings.output = output;
  settings.jobs = jobs;
  return run_suite(suite, suite_facts(suite, "test"), settings);
}

}  // namespace odrpo
