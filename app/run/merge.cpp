// Joins the parts of a suite that several machines trained into one result file: `odrpo-bench merge PART… -o FILE.h5`.
#include "app/run/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <optional>

#include "app/command.hpp"
#include "app/run/provenance.hpp"
#include "app/run/output_name.hpp"
#include "app/run/shard.hpp"
#include "config/catalogue/env_config.hpp"
#include "config/plan/run_grid.hpp"
#include "config/read/parse.hpp"
#include "config/spec.hpp"
#include "config/suite.hpp"
#include "kernels/shared/json.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/output_file.hpp"
#include "kernels/system/signals.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"
#include "results/store/store.hpp"
#include "train/machines/suite_part.hpp"

namespace odrpo::app {
namespace {

constexpr std::size_t ids_shown = 3;

// Failure `bad_input` unless all parts belong to one suite and were trained by this version of the program.
void check_alike(const std::vector<Part>& parts) {
  const std::string version = build_facts().version;
  const Part& first = parts.front();
  for (const Part& part : parts) {
    const std::string path = printable_line(part.path), theirs = part.text("version");
    if (theirs != version)
      throw Failure(Exit::bad_input, theirs.empty() ? fmt::format("'{}' does not say which version of odrpo-bench trained it: no part of a suite", path)
                                            : fmt::format("'{}' was trained by version {} of odrpo-bench, and this is version {}: merge with that one",
                                                          path, printable_line(theirs), version));
    if (const std::string which = part.text(part_text); !which.empty() && !PartOfSuite::read(which))
      fail(Exit::bad_input, "'{}' says that it is part \"{}\", which no suite has", path, which);
    const std::string before = fmt::format("'{}' cannot be merged with '{}': ", path, printable_line(first.path));
    if (part.suite != first.suite) fail(Exit::bad_input, "{}it is of the suite {}, the other of {}", before, part.suite, first.suite);
    if (part.whole() == first.whole()) continue;
    for (const auto& [name, what] : {std::pair("overrides", "--set"), std::pair("only", "--only"), std::pair("suite", "suite file")})
      if (part.text(name) != first.text(name)) fail(Exit::bad_input, "{}they were trained with another {}", before, what);
    throw Failure(Exit::bad_input, before + "files that their suite names (scores, judges) differed");
  }
}

// The provenance texts about what trained the runs. Each text joins the different lines that the parts have for it.
TrainedBy trained_by(const std::vector<Part>& parts) {
  TrainedBy by = this_machine(1, {});  // only its names are used
  for (auto& [name, joined] : by) {
    std::vector<std::string> texts;
    for (const Part& part : parts) texts.push_back(part.text(name));
    joined = join_lines(texts);
  }
  std::vector<std::string> programs;
  for (const Part& part : parts)
    if (const std::string text = part.text(programs_text); !text.empty()) programs.push_back(text);
  if (!programs.empty()) by.emplace_back(programs_text, join_lines(programs));
  return by;
}

// Reads the suite again: from --suite (`given`), else from the text in the first part. Files that the suite names are looked for in its
// original folder, then beside the first part; files named by --set from the current folder. Parts may come from a stranger: without
// --suite, only files below the parts' folders and the current folder are opened.
struct FoundSuite {
  SuiteOptions options;
  Suite suite;
  SuiteFacts facts;
};
FoundSuite suite_of(const std::vector<Part>& parts, const std::string& given, const std::vector<std::string>& argv) {
  const Part& first = parts.front();
  FoundSuite found;
  found.options.set = lines_of(first.text("overrides"));
  found.options.only = lines_of(first.text("only"));
  const std::string recorded = first.text("file").empty() ? first.suite + ".toml" : first.text("file");
  const std::filesystem::path beside = std::filesystem::path(first.path).parent_path() / std::filesystem::path(recorded).filename();
  const std::vector<std::string> places = given.empty() ? std::vector{recorded, beside.string()} : std::vector{given};
  std::vector<std::string> folders = {"."};
  for (const Part& part : parts) folders.push_back(std::filesystem::path(part.path).parent_path().string());
  std::optional<Failure> why;
  for (const std::string& path : places) try {
      found.options.path = path;
      found.suite = given.empty() ? load_suite_text(path, first.text("suite"), found.options.set, found.options.only, folders)
                                  : load_suite(path, found.options.set, found.options.only);
      found.facts = facts_of(found.suite, found.options, trained_by(parts), argv);
      if (found.facts.fingerprint != first.whole())
        fail(Exit::bad_input, "'{}' is not the suite of '{}': it, or a file that it names there, is another one", path, first.path);
      if (given.empty() && !exists(path) && exists(beside.string())) found.options.path = beside.string();
      return found;
    } catch (const Failure& failure) {
      if (!why || why->code == Exit::io) why = failure;
    }
  throw Failure(why->code, fmt::format("{}\nthe suite of '{}' could not be read again{}", why->what(), printable_line(first.path),
                                       given.empty() ? ": --suite FILE says where it is; files that --set named are looked for from this folder" : ""));
}

std::string summary_json(const MergeOptions& o, const Suite& suite, const std::vector<Part>& parts, const MergedParts& merged,
                         const std::string& digest, const std::vector<MissingPart>& missing) {
  Json out = {{"suite", suite.name},
                                {"output", o.output},
                                {"digest", digest},
                                {"runs", suite.runs.size()},
                                {"parts", parts.size()},
                                {"already_complete", merged.complete},
                                {"equal", merged.report.equal},
                                {"failed", merged.report.failed},
                                {"missing", Json::array()}};
  for (const MissingPart& part : missing) out["missing"].push_back({{"part", part.part}, {"runs", part.runs}, {"command", part.command}});
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

// Failure `io` if the output or its work folder is one of the parts.
void refuse_own_part(const std::string& output, const std::vector<Part>& parts) {
  for (const Part& part : parts)
    for (const std::string& path : {output, output + ".work"})
      if (std::error_code ignored; std::filesystem::equivalent(path, part.path, ignored))
        fail(Exit::io, "'{}' is made of the part '{}'; choose another -o", output, part.path);
}

// Prints the missing runs on stderr, and the commands that train them on stdout (not with --json, whose output has them).
void tell_missing(const MergeOptions& o, const Suite& suite, const std::vector<MissingPart>& missing, std::size_t runs) {
  print_error(fmt::format("{} of {} {} missing; '{}' was not written", count_text(static_cast<double>(runs)), runs_text(suite.runs.size()), runs == 1 ? "is" : "are",
                          printable_line(o.output)));
  if (o.json) return;
  for (const MissingPart& part : missing) put(part.command + '\n');
  if (o.quiet) return;
  for (const MissingPart& part : missing) {
    const auto ids = std::span(part.runs).first(std::min(ids_shown, part.runs.size()));
    print_note(fmt::format("missing: {}{} ({}{})", runs_text(part.runs.size()), part.part.empty() ? "" : " of part " + part.part,
                           joined(ids), part.runs.size() > ids_shown ? ", …" : ""));
  }
  print_note("the commands on standard output train them");
}

}  // namespace

int merge(const MergeOptions& o, const std::vector<std::string>& argv) {
  std::atomic<bool> stop{false};
  const StopOnSignal signals(stop, o.quiet);
  MergeSettings settings;
  settings.limits = read_limits(o.max_seconds, o.max_memory);
  settings.limits.stop = &stop;
  settings.force = o.force;
  settings.output = output_target(o.output);
  try {
    std::vector<Part> parts;
    for (const std::string& path : o.parts) parts.push_back(open_part(path, settings.limits));
    check_alike(parts);
    refuse_own_part(settings.output, parts);
    FoundSuite found = suite_of(parts, o.suite, argv);
    const Suite& suite = found.suite;
    SuiteFacts& facts = found.facts;
    facts.provenance.emplace_back("parts", part_lines(parts));
    const MergedParts merged = merge_parts(suite, facts, parts, settings);
    const MergeReport& report = merged.report;
    if (!o.quiet)
      for (const std::string& note : merged.notes) print_note("note: " + note);
    if (report.differing > 0) throw Failure(Exit::bad_input, conflict_text(suite, parts, report, settings.output));
    std::vector<MissingPart> missing;
    if (!report.missing.empty()) missing = missing_parts(suite, found.options, parts, report.missing, o.output);
    const std::string digest = merged.complete ? read_results(settings.output, {}, settings.limits).digest : report.digest;
    if (o.json) put(summary_json(o, suite, parts, merged, digest, missing));
    if (!missing.empty()) {
      tell_missing(o, suite, missing, report.missing.size());
      return static_cast<int>(Exit::runs_failed);
    }
    if (!o.quiet && merged.complete)
      print_note(fmt::format("already complete: {} holds all {}, nothing was merged; digest {}", o.output, runs_text(suite.runs.size()), digest));
    if (!o.quiet && !merged.complete)
      print_note(fmt::format("wrote {}: {} of {}{}; digest {}", o.output, runs_text(suite.runs.size()), counted(parts.size(), "part"),
                             report.equal > 0 ? fmt::format(", {} of them in more than one", count_text(static_cast<double>(report.equal))) : "", digest));
    if (report.failed > 0) print_note(fmt::format("failed: {} of {}", count_text(static_cast<double>(report.failed)), runs_text(suite.runs.size())));
    return static_cast<int>(report.failed > 0 ? Exit::runs_failed : Exit::ok);
  } catch (const Failure& failure) {
    if (failure.code != Exit::stopped) throw;
    print_note("stopped: the parts are as they were, and the same command begins again");
    return static_cast<int>(Exit::stopped);
  }
}

// Writes the messages of `merge`, and the commands that train missing runs.

namespace {

namespace fs = std::filesystem;
constexpr std::size_t digest_digits = 12;

// The result file that `run` writes for a part: the part itself, or x.h5 for the work folder "x.h5.work"; nothing for a folder of another
// name.
std::optional<std::string> output_of(const Part& part) {
  const fs::path path = part.path;
  if (!part.folder) return path.string();
  if (path.extension() != ".work" || path.stem().extension() != ".h5") return std::nullopt;
  return fs::path(path).replace_extension().string();
}

// The number of parts into which the suite was divided (8 for "3/8"): the largest that a part states; 1 where none states it.
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

std::string source_name(const std::vector<Part>& parts, std::size_t source, const std::string& output) {
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
    if (!where) where = count > 1 ? (fs::path(parts.front().path).parent_path() / default_output(suite.name, options.set, "", part)).string() : output;
    told.push_back({text, std::move(runs), command(options, text, *where)});
  }
  return told;
}

std::string conflict_text(const Suite& suite, const std::vector<Part>& parts, const MergeReport& report, const std::string& output) {
  std::string text = fmt::format("{} differ{} between parts; nothing was written", runs_text(report.differing), report.differing == 1 ? "s" : "");
  bool toy = false, exact = false, other_cpu = false;
  for (const RunConflict& conflict : report.conflicts) {
    text += fmt::format("\n  run {}: digest {} in {}, {} in {}: {}", conflict.id, conflict.first_digest.substr(0, digest_digits),
                        source_name(parts, conflict.first, output), conflict.second_digest.substr(0, digest_digits),
                        source_name(parts, conflict.second, output), joined(conflict.values, {}, "; "));
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
