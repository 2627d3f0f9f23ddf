// Starts the programs and loads the libraries of a suite's estimators once before it is trained: says what is started, and keeps what programs say of themselves.
#include <fmt/format.h>

#include "app/run/provenance.hpp"
#include "config/spec.hpp"
#include "config/suite.hpp"
#include "estimators/outside/library.hpp"
#include "estimators/outside/program.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/terminal.hpp"
#include "train/apart.hpp"
#include "train/run_record.hpp"

namespace odrpo::app {

namespace {

/// Loads a library in a process of its own. Failure `suite` at its line where that cannot be done.
void check_library(const RunSpec& run) {
  const std::atomic<bool> never{false};
  const RunRecord loaded = train_apart(run, never, run.estimator.deadline, nullptr, [&](RunSteps&) {
    const OutsideLibrary library(run.estimator);
    RunRecord good = failed_record(run, "");
    good.status = RunStatus::ok;
    return good;
  });
  if (loaded.status != RunStatus::ok) throw Failure(Exit::suite, run.estimator.place + ": error: " + loaded.error);
}

}  // namespace

std::string start_programs(const Suite& suite, bool quiet) {
  std::string text;
  for (const std::size_t i : suite.runs.first_of_each({GridPart::estimator})) {
    const RunSpec run = suite.runs[i];
    const EstimatorConfig& config = run.estimator;
    if (config.outside == Outside::none) continue;
    const bool is_library = config.outside == Outside::library;
    const std::string what = printable_line(is_library ? config.library : config.command);
    if (!quiet)
      print_note(fmt::format("{} {} for estimator {}{}", is_library ? "loads" : "starts", what, run.estimator_name,
                             config.folder.empty() ? "" : ", in the folder " + printable_line(config.folder)));
    std::string answer;
    if (is_library) check_library(run);
    else try {
        answer = OutsideProgram(config).introduction();
      } catch (const Failure& failure) {
        answer = failure.what();
        if (!quiet) print_note(fmt::format("warning: its runs will fail: {}", answer));
      }
    text += fmt::format("{}\t{}\t{}\t{}\n", run.estimator_name, what, printable_line(config.files), printable_line(answer));
  }
  return text;
}

}  // namespace odrpo::app
