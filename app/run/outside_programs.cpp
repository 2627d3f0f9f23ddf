// Starts the programs of a suite's estimators once before it is trained: says what is started, and keeps what they say of themselves.
#include <fmt/format.h>

#include "app/run/provenance.hpp"
#include "config/spec.hpp"
#include "config/suite.hpp"
#include "estimators/outside/program.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/terminal.hpp"

namespace odrpo::app {

std::string start_programs(const Suite& suite, bool quiet) {
  std::string text;
  for (const std::size_t i : suite.runs.first_of_each({GridPart::estimator})) {
    const RunSpec run = suite.runs[i];
    const EstimatorConfig& config = run.estimator;
    if (config.outside == Outside::none) continue;
    if (!quiet)
      print_note(fmt::format("starts {} for estimator {}{}", printable_line(config.command), run.estimator_name,
                             config.folder.empty() ? "" : ", in the folder " + printable_line(config.folder)));
    std::string answer;
    try {
      answer = OutsideProgram(config).introduction();
    } catch (const Failure& failure) {
      answer = failure.what();
      if (!quiet) print_note(fmt::format("warning: its runs will fail: {}", answer));
    }
    text += fmt::format("{}\t{}\t{}\t{}\n", run.estimator_name, printable_line(config.command), printable_line(config.files), printable_line(answer));
  }
  return text;
}

}  // namespace odrpo::app
