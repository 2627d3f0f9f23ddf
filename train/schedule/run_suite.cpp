// run_suite in one process: what is left to train, then the output of all.
#include "train/schedule/run_suite.hpp"

#include "config/plan/run_grid.hpp"
#include "config/spec.hpp"
#include "config/suite.hpp"
#include "config/write/canonical.hpp"
#include "results/store/digest.hpp"
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

namespace {

// SHA-256 of the version and, for each run, its id and its canonical text.
std::string fingerprint(const RunGrid& runs, const std::string& program_version) {
  Sha256 hash;
  hash.add("odrpo-bench " + program_version + '\n');
  for (std::size_t c = 0; c < runs.combinations(); ++c) {
    const Combination all = runs.combination(c);
    RunSpec run = runs[all.first];
    const std::string settings = canonical_settings(run) + '\n';
    for (std::size_t i = all.first; i < all.first + all.runs; ++i) {
      if (i > all.first) run = runs[i];
      hash.add(run.id + '\n' + canonical_seed(run) + settings);
    }
  }
  return hash.hex();
}

}  // namespace

SuiteFacts suite_facts(const Suite& suite, const std::string& program_version) {
  SuiteFacts facts;
  facts.name = suite.name;
  facts.axis_names = suite.axis_names;
  facts.runs = suite.runs.size();
  facts.run_id = [runs = suite.runs](std::size_t i) { return runs.id(i); };
  facts.fingerprint = fingerprint(suite.runs, program_version);
  return facts;
}

}  // namespace odrpo
