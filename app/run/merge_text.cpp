// Sentences and commands of `merge`.
#include "app/run/merge_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "app/report/shell_commands.hpp"
#include "app/run/shard.hpp"
#include "config/catalogue/env_config.hpp"
#include "config/plan/run_grid.hpp"
#include "config/spec.hpp"
#include "config/suite.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/text.hpp"
#include "train/machines/suite_part.hpp"

namespace odrpo::app {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t digest_digits = 12;

// The output whose part this is: of a work folder "x.h5.work" x.h5; of one with another name nothing.
std::optional<std::string> output_of(const Part& part) {
  const fs::path path = part.path;
  if (!part.folder) return path.string();
  if (path.extension() != ".work" || path.stem().extension() != ".h5") return std::nullopt;
  return fs::path(path).replace_extension().string();
}

// The parts that the suite was cut into: of the finest cut; 1 where no part says of how many it is.
std::size_t parts_in(const std::vector<Part>& parts, std::size_t runs) {
  std::size_t count = 1;
  for (const Part& part : parts)
    if (const auto which = PartOfSuite::read(part.text(part_text)); which && which->count <= runs) count = std::max(count, which->count);
  return count;
}

std::string command(const SuiteOptions& options, const std::string& part, const std::string& output) {
  std::string text = "odrpo-bench run " + file_word(options.path);
  for (const std::string& set : options.set) text += " --set " + shell_word(set);
  for (const std::string& only : options.only) text += " --only " + shell_word(only);
  if (!part.empty()) text += " --shard " + part;
  return text + " -o " + file_word(output);
}

std::string name_of(const std::vector<Part>& parts, std::size_t source, const std::string& output) {
  return printable_line(source == RunConflict::own_source ? output : parts[source].path);
}

}  // namespace

std::vector<MissingPart> missing_parts(const Suite& suite, const SuiteOptions& options, const std::vector<Part>& parts,
                                       const std::vector<std::uint32_t>& missing, const std::string& output) {
  const std::size_t count = parts_in(parts, suite.runs.size());
  std::vector<std::uint32_t> part_of(suite.runs.size(), 0);
  if (count > 1) {
    const auto all = parts_of(suite.runs, count);
    for (std::size_t p = 0; p < all.size(); ++p)
      for (const std::uint32_t run : all[p]) part_of[run] = static_cast<std::uint32_t>(p);
  }
  std::map<std::uint32_t, std::vector<std::string>> ids;
  for (const std::uint32_t run : missing) ids[part_of[run]].push_back(suite.runs.id(run));
  std::vector<MissingPart> told;
  for (auto& [index, runs] : ids) {
    const PartOfSuite part{index, count};
    const std::string text = count > 1 ? part.text() : "";
    std::optional<std::string> where;
    for (const Part& given : parts)
      if (given.text(part_text) == text && !where) where = output_of(given);
    if (!where) where = count > 1 ? (fs::path(parts.front().path).parent_path() / default_output(suite.name, part)).string() : output;
    told.push_back({text, std::move(runs), command(options, text, *where)});
  }
  return told;
}

std::string conflict_text(const Suite& suite, const std::vector<Part>& parts, const MergeReport& report, const std::string& output) {
  std::string text = fmt::format("{} differ{} between parts; nothing was written", runs_text(report.differing), report.differing == 1 ? "s" : "");
  bool toy = false, exact = false, other_cpu = false;
  for (const RunConflict& conflict : report.conflicts) {
    std::string values;
    for (const std::string& value : conflict.values) values += (values.empty() ? "" : "; ") + value;
    text += fmt::format("\n  run {}: digest {} in {}, {} in {}: {}", conflict.id, conflict.first_digest.substr(0, digest_digits),
                        name_of(parts, conflict.first, output), conflict.second_digest.substr(0, digest_digits),
                        name_of(parts, conflict.second, output), values);
    for (const std::size_t i : suite.runs.first_of_each({GridPart::env}))
      if (const RunSpec run = suite.runs[i]; run.env_name == conflict.env) (run.env.kind == WorldKind::toy_lm ? toy : exact) = true;
    if (conflict.first == RunConflict::own_source) continue;
    const Part &a = parts[conflict.first], &b = parts[conflict.second];
    const auto machine = [](const Part& part) {
      const std::string device = part.text("device");
      return printable_line(part.text("cpu")) + " (" + printable_line(part.text("isa")) + ")" +
             (device.empty() || device == "cpu" ? "" : " with " + printable_line(device));
    };
    if (machine(a) == machine(b)) continue;
    other_cpu = true;
    text += fmt::format("\n    the first trained on {}, the second on {}", machine(a), machine(b));
  }
  if (report.differing > report.conflicts.size())
    text += fmt::format("\n  and {} more", count_text(static_cast<double>(report.differing - report.conflicts.size())));
  if (toy)
    text += other_cpu ? "\n  the toy language model has equal bits on one kind of CPU or device alone: keep one of the two parts"
                      : "\n  the toy language model has equal bits where program, kind of CPU, ODRPO_ISA and device are equal: were they?";
  if (exact) text += "\n  runs of the bandit have equal bits on every machine: one of the two parts is damaged, forged, or of a faulty machine";
  return text;
}

std::string part_lines(const std::vector<Part>& parts) {
  const auto field = [](std::string text) {
    std::replace_if(text.begin(), text.end(), [](char c) { return c == '\t' || c == '\n'; }, ' ');
    return text;
  };
  std::string lines;
  for (const Part& part : parts) {
    const std::string name = fs::path(part.path).filename().string(), which = part.text(part_text), node = part.text("node");
    lines += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", field(name), which.empty() ? "0/1" : field(which),
                         part.folder ? "unfinished" : std::to_string(part.runs), field(node), field(part.text("cpu")), field(part.text("isa")), field(part.text("device")),
                         field(part.text("revision")), part.digest);
  }
  return lines;
}

}  // namespace odrpo::app
