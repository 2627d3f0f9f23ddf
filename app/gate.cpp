// `odrpo-bench gate`: is a candidate slower than its baseline, or does it compute something else?
#include "app/command.hpp"
#include "app/gate/flags.hpp"
#include "app/gate/limits.hpp"
#include "app/gate/programs.hpp"
#include "app/gate/report_words.hpp"
#include "app/gate/save.hpp"
#include "app/gate/science.hpp"
#include "app/gate/self_test.hpp"
#include "app/usage.hpp"

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
  if (!o.files.empty()) return limits_gate(o);
  if (o.self_test) return self_test_gate(o);
  if (!o.save.empty()) return save_gate(o);
  return programs_gate(o);
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
