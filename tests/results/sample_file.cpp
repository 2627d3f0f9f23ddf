// Writes the sample result file (argument 1), for the Python checks of the layout and of what shows it. Argument 2: `plain` without its failed
// run, `hostile` with names that a shell, gnuplot, LaTeX or a page might obey.
#include <iostream>
#include <string>

#include "tests/results/sample.hpp"

namespace {

/// Names without control characters, as a file may have them.
const char* const hostile_names[] = {"$(touch pwned) `touch pwned` \"x\" 'y'", "</script><img src=x onerror=alert(1)> & \\n {/Symbol a}_2^3 @m"};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) return 2;
  const std::string kind = argc == 3 ? argv[2] : "";
  auto runs = odrpo::sample::runs();
  if (kind.empty()) {
    runs[4].status = odrpo::RunStatus::failed;
    runs[4].error = "made to fail";
  }
  for (odrpo::RunRecord& run : runs) {
    if (kind != "hostile") break;
    const bool baseline = run.estimator == "maxrl";
    run.estimator = baseline ? "maxrl" : hostile_names[0];
    run.rater = hostile_names[1];
    run.policy = std::string(64, 'W');
    run.id = run.env + "/" + run.rater + "/" + run.estimator + run.id.substr(run.id.find("/n"));
  }
  std::cout << odrpo::sample::write_file(argv[1], runs) << "\n";
}
