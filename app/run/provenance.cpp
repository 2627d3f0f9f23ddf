// Writes the provenance texts of a result file (docs/results.md lists them), and the shell commands that repeat its runs.
#include "app/run/provenance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "app/command.hpp"
#include "config/catalogue/formulas.hpp"
#include "config/suite.hpp"
#include "gate/limits.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/host.hpp"
#include "kernels/system/text.hpp"
#include "results/store/store.hpp"
#include "results/table/table.hpp"
#include "train/schedule/run_suite.hpp"

namespace odrpo::app {
namespace {

std::string text_lines(const std::vector<std::string>& words) {
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
      {"overrides", text_lines(suite.overrides)},
      {"only", text_lines(options.only)},
      {"resolved", suite.resolved},
      {"table", table_spec_lines(suite.table)},
      {"formulas", formula_lines(suite)},
      {"raters", rater_lines(suite)},
      {"argv", text_lines(argv)},
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

// Writes the commands that repeat the runs of a result file.

std::string file_word(const std::string& name) { return shell_word(name.starts_with('-') ? "./" + name : name); }

std::string shell_word(const std::string& given) {
  const std::string text = printable_line(given);
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_./=:,@%+-").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::vector<std::string> suite_changes(const ResultFile& file) {
  std::vector<std::string> changes;
  const auto text = [&](const char* name) {
    const std::string* found = file.provenance_text(name);
    return found ? *found : std::string();
  };
  if (file.provenance_text("only")) {
    for (const std::string& set : lines_of(text("overrides"))) changes.insert(changes.end(), {"--set", set});
    for (const std::string& glob : lines_of(text("only"))) changes.insert(changes.end(), {"--only", glob});
    return changes;
  }
  const std::vector<std::string> argv = lines_of(text("argv"));
  for (std::size_t i = 0; i < argv.size(); ++i)
    for (const char* flag : {"--set", "--only"}) {
      if (argv[i] == flag && i + 1 < argv.size()) {
        changes.insert(changes.end(), {flag, argv[i + 1]});
        ++i;
        break;
      }
      if (argv[i].starts_with(std::string(flag) + "="))
        changes.insert(changes.end(), {flag, argv[i].substr(std::string_view(flag).size() + 1)});
    }
  if (argv.empty())
    for (const std::string& set : lines_of(text("overrides"))) changes.insert(changes.end(), {"--set", set});
  return changes;
}

std::string reproduction_commands(const ResultFile& file, const std::string& path) {
  const std::string results = std::filesystem::path(path).filename().string();
  const std::string name = is_name(file.suite) ? file.suite : "suite";
  std::string run = fmt::format("odrpo-bench run {}.toml", name);
  for (const std::string& word : suite_changes(file)) run += " " + shell_word(word);
  return fmt::format("odrpo-bench export {0} --what suite -o {1}.toml\n{2} -o {1}-again.h5\nodrpo-bench diff {0} {1}-again.h5\n",
                     file_word(results), name, run);
}

}  // namespace odrpo::app
