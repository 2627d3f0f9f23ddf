// `odrpo-bench gate`: is a candidate slower than its baseline, or does it compute something else?
#include "app/command.hpp"
#include "app/run/shipped_suites.hpp"
#include "config/suite.hpp"
#include "gate/flags.hpp"
#include "gate/limits.hpp"
#include "gate/options.hpp"
#include "gate/programs.hpp"
#include "gate/report/report_words.hpp"
#include "gate/science.hpp"
#include "gate/self_test.hpp"
#include "kernels/system/terminal.hpp"

namespace odrpo::app {
namespace {

int self_test_gate(const GateOptions& o) {
  GateProcesses processes(o);
  GateRules rules;
  if (!o.limit.empty()) rules.limit = read_limit(o.limit, rules.same);
  ProgressLine line(o.quiet);
  const std::string host = host_text();
  const SelfTest test = run_self_test({o.trials, processes.seed, processes.rules(), rules}, processes.keeper,
                                      [&](const std::string& text) { line.show(text); });
  put(o.json ? self_test_json(test, host) : self_test_text(test, host));
  return static_cast<int>(Exit::ok);
}

int run_gate(const GateOptions& o) {
  check_gate_flags(o);
  if (o.science) return science_gate(o);
  if (!o.files.empty())
    return limits_gate(o, [](std::string path) { return load_named_suite(path, {}, {}).gate.all(); });
  if (o.self_test) return self_test_gate(o);
  GateOptions programs = o;
  if (!o.suite.empty()) programs.suite = suite_path(o.suite);
  return o.save.empty() ? programs_gate(programs) : save_gate(programs);
}

}  // namespace

int gate(const GateOptions& o) {
  try {
    return run_gate(o);
  } catch (const Failure& failure) {  // which may quote what programs have said
    throw Failure(failure.code, without_ci_commands(failure.what()));
  }
}

}  // namespace odrpo::app
