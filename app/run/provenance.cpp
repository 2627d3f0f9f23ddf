// Provenance texts. Which there are: docs/results.md.
#include "app/run/provenance.hpp"

#include <fmt/format.h>

#include "app/build_facts.hpp"
#include "kernels/system/host.hpp"
#include "config/catalogue/formulas.hpp"
#include "config/suite.hpp"
#include "gate/limits.hpp"
#include "kernels/system/text.hpp"
#include "results/store/part.hpp"
#include "results/table/table.hpp"
#include "train/schedule/run_suite.hpp"

namespace odrpo::app {
namespace {

std::string lines(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += word + '\n';
  return text;
}

}  // namespace

TrainedBy this_machine(int jobs, const ChosenDevices& where) {
  const BuildFacts build = build_facts();
  const HostFacts host = host_facts();
  return {{"revision", build.revision},
          {"compiler", fmt::format("{} ({}) {}", build.compiler, build.build_type, build.flags)},
          {"cpu", host.cpu},
          {"isa", host.isa},
          {"gpu", where.gpu},
          {"device", where.device()},
          {"host", fmt::format("{}, {} cores", host.system, host.cores)},
          {"jobs", std::to_string(jobs)}};
}

SuiteFacts facts_of(const Suite& suite, const SuiteOptions& options, const TrainedBy& by, const std::vector<std::string>& argv) {
  const std::string version = build_facts().version;
  SuiteFacts facts = suite_facts(suite, version);
  facts.provenance = {
      {"suite", suite.text},
      {"file", options.path},
      {"overrides", lines(suite.overrides)},
      {"only", lines(options.only)},
      {"resolved", suite.resolved},
      {"table", table_spec_lines(suite.table)},
      {"formulas", formula_lines(suite)},
      {"raters", rater_lines(suite)},
      {"argv", lines(argv)},
      {"version", version},
  };
  facts.provenance.insert(facts.provenance.end(), by.begin(), by.end());
  if (const std::string limits = gate_limit_lines(suite.gate.all()); !limits.empty()) facts.provenance.emplace_back("gate", limits);
  return facts;
}

void add_part(SuiteFacts& facts, PartOfSuite part, const std::string& whole) {
  facts.provenance.emplace_back(part_text, part.text());
  facts.provenance.emplace_back(whole_text, whole);
  facts.provenance.emplace_back("node", host_facts().node);
}

}  // namespace odrpo::app
