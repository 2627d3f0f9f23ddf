// Fuzz target: the --set arguments of a command line, one per line of the input; a line that begins with '@' is a glob of --only.
#include <cstdint>

#include "tests/fuzz/suite_folder.hpp"

using namespace odrpo;

namespace {

const std::string suite_text = R"toml([suite]
name = "fuzz"
[grid]
env = ["bandit", "small"]
rater = ["mixed", "r"]
estimator = ["grpo", "odrpo-gini(maxrl)", "e"]
votes = [1, 4]
[env.small]
base = "bandit"
prompts = 16
[rater.r]
noise = [{ model = "gaussian", sigma = 0.5 }, { model = "low", p = 0.1 }]
[estimator.e]
base = "odrpo-gini-median(maxrl)"
median = "upper"
[learn]
steps = 20
lr = [0.1, 0.2]
)toml";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::SuiteFolder folder;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  if (!fuzz::stays_in_folder(rest)) return -1;
  std::vector<std::string> set, only;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    if (rest[0] == '@') only.emplace_back(rest.substr(1, end - 1));
    else set.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  set.emplace_back(fuzz::few_runs);
  // the resolved text is that of the whole grid: without --only
  fuzz::check_suite(folder.suite(), [&] { return load_suite_text(folder.suite(), suite_text, set, {}); });
  if (!only.empty())
    fuzz::accepted({Exit::suite, Exit::limits, Exit::io, Exit::usage, Exit::bad_input},
                   [&] { load_suite_text(folder.suite(), suite_text, set, only); });
  return 0;
}
