// run_suite in one process: what is left to train, then the output of all.
#include "train/schedule/run_suite.hpp"

#include "config/suite.hpp"
#include "train/schedule/suite_call.hpp"

namespace odrpo {

RunReport run_suite(const Suite& suite, const SuiteFacts& facts, const RunSettings& settings) {
  WorkFolder folder(settings.output, facts, settings.force, settings.system, settings.stop);
  SuiteCall call(suite, settings, folder);
  RunReport& report = call.report;
  if (folder.complete()) {
    report.complete = true;
    report.resumed = report.total;
    report.notes = folder.notes();
    return report;
  }
  if (train_missing(call, suite, settings)) assemble_or_train_again(call, suite, settings, folder);
  report.notes.insert(report.notes.begin(), folder.notes().begin(), folder.notes().end());
  return report;
}

}  // namespace odrpo
