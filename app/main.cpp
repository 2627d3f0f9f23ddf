// Parses the command line with CLI11, calls the command (command.hpp), and turns exceptions into messages and exit codes.
#include <algorithm>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "app/command.hpp"
#include "app/flags/flag_values.hpp"
#include "app/options/flag_binding.hpp"
#include "app/options/help_page.hpp"
#include "app/run/shard.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/signals.hpp"
#include "kernels/system/terminal.hpp"

namespace odrpo::app {
namespace {

using Arguments = std::vector<std::string>;

// CLI11 would split a file name "[a,b]" at the comma. This character in front prevents that; `unmarked` removes it again.
constexpr char literal = '\n';
std::string marked(std::string argument) {
  return argument.starts_with('[') || argument.starts_with(literal) ? literal + argument : argument;
}
const CLI::Validator unmarked(
    [](std::string& text) {
      if (text.starts_with(literal)) text.erase(0, 1);
      return std::string();
    },
    "");

bool is_flag(const CLI::Option& option) { return option.get_expected_max() == 0 || option.get_type_size_max() == 0; }

// All commands: their options, and `chosen`, the function to call once the command line is parsed.
struct Commands {
  CLI::App app{"Which advantage estimator should train on noisy ordinal scores, and how many votes are worth buying?", "odrpo-bench"};
  RunOptions run;
  MergeOptions merge;
  CheckOptions check;
  ListOptions list;
  CompletionOptions completion;
  TableOptions table;
  PlotOptions plot;
  ReportOptions report;
  ExportOptions exported;
  ExportEstimatorOptions exported_estimator;
  StatsOptions stats;
  DiffOptions diff;
  VerifyOptions verify;
  GateOptions gate;
  WorkerOptions worker;
  ExplainOptions explain;
  ConformOptions conform;
  JudgeCommands judge;
  TheoryCommands theory;
  RolloutsCommands rollouts;
  bool version = false, json = false, table_json = false, doctor_json = false, version_json = false;
  std::string colour;
  Arguments argv;
  std::function<int()> chosen;

  CLI::App* add(const std::string& name, const std::string& help, const std::string& example, std::function<int()> call) {
    return add_command(app, chosen, name, help, example, std::move(call));
  }

  Commands() {
    app.require_subcommand(0, 1);
    app.formatter(std::make_shared<HelpPage>());  // before commands are added, which inherit it
    app.add_flag("-v,--version", version, "print version, revision, compiler, HDF5, CUDA, MPI and instruction set (with --json: as JSON)");
    app.add_flag("--json", json, "with --version: as JSON");
    // only for the help: take_colour() removes it
    app.add_option("--color", colour, "of any command: colour of verdicts, stars and errors: auto (default: on a terminal without NO_COLOR), always or never")->type_name("WHEN");
    app.footer(
        "Start here:\n  odrpo-bench run quickstart    # a shipped suite, by its name; or a file\n\n"
        "`odrpo-bench help COMMAND` explains a command; docs/reference/commands.md lists flags and exit codes.");

    CLI::App* c = add("run", "train everything in the suite, write one result file, print the table",
                      "odrpo-bench run suites/quickstart.toml --set suite.seeds=3 -o mine.h5", [this] { return app::run(run, argv); });
    suite_options(*c, run.suite);
    part_option(*c, run.suite);
    CLI::Option* output = c->add_option("-o,--output", run.output, "result file (default: SUITE.h5 in the current folder, with --set SUITE-KEY=VALUE.h5; of a part SUITE.part-I-of-N.h5)")
                              ->type_name("FILE.h5");
    c->add_option("--name", run.name, "name the result file SUITE-NAME.h5")
        ->check([](const std::string& name) { return name.find('/') == std::string::npos ? "" : "a name has no '/'; -o takes a path"; }, "")
        ->excludes(output)
        ->type_name("NAME");
    jobs_option(*c, run.jobs);
    device_options(*c, run.device);
    c->add_option("--checkpoint", run.checkpoint,
                  "checkpoint a run when it has trained for SECONDS since it began or was saved last (default: 30; 0 = "
                  "after every step)")
        ->check(whole(0, 1'000'000))
        ->type_name("SECONDS");
    c->add_flag("--dry-run", run.dry_run, "show the grid and its cost; train nothing, write nothing");
    c->add_flag("--force", run.force, "begin from nothing; discard an output file or work folder that is in the way");
    c->add_flag("--json", run.json, "print a summary and the table as JSON");
    c->add_flag("-q,--quiet", run.quiet, "no progress and no notes on stderr, errors only");

    c = add("merge", "join the parts of a suite that several machines trained into one result file",
            "odrpo-bench run suite.toml --shard 3/8        # on each machine its number\n  odrpo-bench merge suite.part-*-of-8.h5 -o suite.h5",
            [this] { return app::merge(merge, argv); });
    merge_options(*c, merge);

    c = add("check", "validate a suite and show its grid and cost", "odrpo-bench check suites/quickstart.toml",
            [this] { return app::check(check); });
    suite_options(*c, check.suite);
    part_option(*c, check.suite);
    jobs_option(*c, check.jobs);
    device_options(*c, check.device);
    c->add_flag("--json", check.json, "as JSON");

    c = add("list", "list worlds, raters, noise models, estimators, … with their keys and formulas",
            "odrpo-bench list estimators\n  odrpo-bench list compat\n  odrpo-bench list --schema > odrpo-bench.schema.json",
            [this] { return app::list(list, command_text(app)); });
    c->add_option("what", list.what, "one kind only, e.g. estimators, compat, learn")->type_name("KIND");
    c->add_flag("--json", list.json, "as JSON");
    c->add_flag("--schema", list.schema, "the JSON Schema of suite files, for editors");
    c->add_option("--markdown", list.markdown, "a page of docs/reference as Markdown, e.g. keys, estimators, curves")->type_name("PAGE");

    c = add("table", "print a table of a result file", "odrpo-bench table quickstart.h5 --format md --value regret",
            [this] { return app::table(table); });
    const auto formats = app::table_format_words();
    c->add_option("--format", table.format, one_of(formats).insert(formats[0].size(), " (default)"))->type_name("FORMAT");
    c->add_option("--legend", table.legend, "what is said below the numbers: none, short (default of text and latex) or full")->type_name("HOW");
    c->add_flag("--siunitx", table.siunitx, "latex: write numbers for the package siunitx");
    c->add_flag("--json", table_json, "the same as --format json");
    table_query_options(*c, table, 1, most_joined_files);
    c->add_option("--curve", table.curve, "show this recorded curve instead: quality, gain, reward, kl, … at recorded steps")->type_name("CURVE");
    c->add_option("--power", table.power, "show how many seeds find this difference, 2% or a number in the value's unit")
        ->type_name("DIFFERENCE");

    c = add("plot", "draw a figure of a result file as SVG, PDF or PNG",
            "odrpo-bench plot curves quickstart.h5 --where votes=1 -o curves.pdf\n  odrpo-bench plot forest quickstart.h5 --data",
            [this] { return app::plot(plot); });
    plot_options(*c, plot);

    c = add("report", "write one HTML page about a result file: the result in a sentence, tables, figures, formulas, the suite, how to repeat it",
            "odrpo-bench report quickstart.h5 -o quickstart.html\n  odrpo-bench report quickstart.h5 --value gain,regret",
            [this] { return app::report(report); });
    table_query_options(*c, report, 1, 1);
    c->add_option("-o,--output", report.output, "the page (default: NAME.html beside NAME.h5)")->type_name("FILE.html");

    c = add("export", "write runs, curves or the suite of a result file as CSV or JSON lines",
            "odrpo-bench export quickstart.h5 -o quickstart.csv\n  odrpo-bench export quickstart.h5 --what curves --curve quality",
            [this] { return export_runs(exported); });
    export_options(*c, exported);

    c = add("stats", "statistics of a result file or any CSV file of runs: intervals, paired differences, Holm's correction",
            "odrpo-bench stats runs.csv --unit seed --cell estimator,votes --value gain --baseline grpo\n"
            "  odrpo-bench stats quickstart.h5 --contrast votes=8:1",
            [this] { return app::stats(stats); });
    stats_options(*c, stats);

    judge_commands(*app.add_subcommand("judge", "measure a real judge from a file of its scores, fit a simulated one to them, simulate scores"), judge, chosen);

    rollouts_commands(*app.add_subcommand("rollouts", "what the scores of a real training show, and what other estimators would have made of them"), rollouts, chosen);

    theory_commands(*app.add_subcommand("theory", "exact update fields of estimators: curl, objectives, and the leverage of one score"), theory, chosen);
    add("compute", "answer JSON lines on stdin: every formula, callable from any language",
        R"(echo '{"id":1,"fn":"vote","args":{"scores":[7,7,9],"tie":"first"}}' | odrpo-bench compute)", [] { return app::compute(); });

    c = add("diff", "what differs between two result files: settings, runs, values; exit 10 when something does", "odrpo-bench diff old.h5 new.h5",
            [this] { return app::diff(diff); });
    c->add_option("a", diff.a, "a result file")->required()->type_name("A.h5");
    c->add_option("b", diff.b, "another one")->required()->type_name("B.h5");
    c->add_flag("--json", diff.json, "as JSON");
    limit_options(*c, diff.max_seconds, diff.max_memory);

    c = add("verify", "check the digests of result files", "odrpo-bench verify quickstart.h5", [this] { return app::verify(verify); });
    c->add_option("files", verify.paths, "result files")->required()->type_name("FILE.h5");
    c->add_flag("--json", verify.json, "as JSON");
    limit_options(*c, verify.max_seconds, verify.max_memory);

    c = add("gate", "is a change slower? compare two builds, benchmark programs, workers or commands; exit 10 when it is",
            "odrpo-bench gate --kind self --baseline old/odrpo-bench --candidate new/odrpo-bench --junit gate.xml\n"
            "  odrpo-bench gate --kind worker --baseline 'python3 worker.py old' --candidate 'python3 worker.py new'\n"
            "  odrpo-bench gate --science old.h5 new.h5",
            [this] { return app::gate(gate); });
    gate_options(*c, gate);
    c->add_option("files", gate.files, "a result file, judged by the limits of its suite; or with --science OLD.h5 NEW.h5")->type_name("FILE.h5");

    c = add("worker", "answer a gate's requests: training steps of a suite's runs, or the microbenchmarks",
            R"(echo '{"list": true}' | odrpo-bench worker suites/quickstart.toml)", [this] { return app::worker(worker); });
    worker_options(*c, worker);

    c = add(
        "explain", "advantages of one group, level by level, under every convention",
        "odrpo-bench explain --rewards 3,7,7,9\n  odrpo-bench explain --rewards 7.25,8,8.5 --estimator 'odrpo-gini(maxrl)' --compat paper",
        [this] { return app::explain(explain); });
    c->add_option("--rewards", explain.rewards, "the rewards of the group: 1 to 255 numbers, e.g. 3,7,7,9")
        ->required()
        ->expected(1, 1'000'000)
        ->type_name("LIST");
    c->add_option("--levels", explain.levels, "K (default: 10, or the largest reward rounded up)")
        ->check(whole(1, app::most_explained_level))
        ->type_name("K");
    repeated(*c, "--values", explain.values, "what the levels are worth, ascending, e.g. 1,2,12 (default: 1..K)", "R,R");
    repeated(*c, "--estimator", explain.estimators, "word of `list estimators`; may be repeated", "WORD");
    c->add_option("--command", explain.command, "a program that computes advantages, as `command` of a suite names it: it is started and asked too")->type_name("CMD");
    repeated(*c, "--compat", explain.compat, "word of `list compat`; may be repeated (default: all)", "WORD");
    c->add_option("--median", explain.median, "what gini-median reads: lower (default), mid, upper or a number")->type_name("RULE");
    c->add_option("--origin", explain.origin, "maxrl: scores as given (1, default) or less one (0)")->check(whole(0, 1))->type_name("0|1");
    c->add_option("--model", explain.model, "the judge that posterior and corrected estimators believe in: word of `list raters` or a judge's file")
        ->type_name("RATER");
    floor_option(*c, explain.floor);
    c->add_option("--k", explain.k, "forms that compare subsets of the group, as max-at-k: their size (default 2)")
        ->check(whole(2, 254))
        ->type_name("N");
    centre_options(*c, explain.kappa, explain.r_min);
    c->add_flag("--verbose", explain.verbose, "many levels under every system, why one is left out, what it does to the batch afterwards");
    c->add_flag("--json", explain.json, "as JSON, with full precision");

    c = add("conform", "is a program's estimator the one that it says it is?",
            "odrpo-bench conform --command 'python3 adv.py' --as grpo:verl\n  odrpo-bench conform --command 'python3 adv.py' --as any",
            [this] { return app::conform(conform); });
    conform_options(*c, conform);

    c = add("export-estimator", "an estimator for verl, TRL and other trainers, as a Python module",
            "odrpo-bench export-estimator --estimator 'odrpo-gini(grpo)' --compat verl -o odrpo_gini.py\n"
            "  odrpo-bench export-estimator judge.toml --estimator 'posterior(grpo)' -o judge_posterior.py",
            [this] { return app::export_estimator(exported_estimator); });
    export_estimator_options(*c, exported_estimator);

    c = add("completion", "words that a shell completes commands with, and man pages",
            "source <(odrpo-bench completion bash)    # in ~/.bashrc; zsh and fish likewise\n  odrpo-bench completion man -o ~/.local/share/man/man1",
            [this] { return app::completion(completion, command_text(app)); });
    c->add_option("what", completion.what, one_of(completion_words()))->required()->type_name("SHELL");
    c->add_option("-o,--output", completion.output, "of man: the folder of the pages")->type_name("FOLDER");

    c = add("doctor", "how steady this machine's clock is, and what the program finds here", "odrpo-bench doctor",
            [this] { return app::doctor(doctor_json); });
    c->add_flag("--json", doctor_json, "as JSON");

    // only for the help: dispatch() passes the arguments of `bench` to another program
    add("bench", "microbenchmarks; takes every --benchmark_* flag of Google Benchmark", "odrpo-bench bench --benchmark_filter=grpo",
        [] { return 0; });
    c = add("version", "print version, revision, compiler, HDF5, CUDA, MPI and instruction set", "odrpo-bench version --json",
            [this] { return app::version(version_json); });
    c->add_flag("--json", version_json, "as JSON");
    // only for the help: dispatch() turns `help COMMAND` into `COMMAND --help`
    add("help", "explain the program or a command", "odrpo-bench help judge fit", [] { return 0; });
    check_values();
  }

  // Refuses "--json=3", a value for a flag; "--set --jobs 2", where CLI11 would take "--jobs" as the value; and an empty value, as an unset
  // shell variable leaves it.
  void check_values() {
    const CLI::Validator no_flag(
        [](std::string& value) { return value.starts_with("--") ? "a value is missing before " + value : std::string(); }, "");
    const CLI::Validator no_blank([](std::string& value) { return value.empty() ? "the value is empty" : ""; }, "");
    std::vector<CLI::App*> apps = {&app};
    for (std::size_t i = 0; i < apps.size(); ++i)
      for (CLI::App* sub : apps[i]->get_subcommands(nullptr)) apps.push_back(sub);
    for (CLI::App* sub : apps)
      for (CLI::Option* option : sub->get_options()) {
        if (is_flag(*option)) {
          option->disable_flag_override();
          continue;
        }
        option->transform(unmarked);
        option->check(no_blank);
        if (option->nonpositional()) option->check(no_flag);
      }
  }
};

// Returns the command that the first words name. If a subcommand is missing (`odrpo-bench judge`), prints help on stderr and returns
// nullptr. Failure `usage` for a word that is no command.
CLI::App* command_of(CLI::App& app, const Arguments& words) {
  CLI::App* at = &app;
  for (std::size_t i = 0;; ++i) {
    const std::vector<CLI::App*> commands = at->get_subcommands(nullptr);
    if (commands.empty()) return at;
    if (i == words.size()) {
      std::fputs(at->help(at->get_parent() != nullptr ? full_name(*at->get_parent()) : "").c_str(), stderr);
      return nullptr;
    }
    if (words[i].starts_with('-')) return at;
    Arguments names;
    for (const CLI::App* command : commands) names.push_back(command->get_name());
    const auto found = std::find(names.begin(), names.end(), words[i]);
    if (found == names.end())
      throw Failure(Exit::usage,
                    "unknown command \"" + words[i] + "\"" + did_you_mean(words[i], names) + "\nSee: " + full_name(*at) + " --help");
    at = commands[static_cast<std::size_t>(found - names.begin())];
  }
}

// Checks `help WORDS`: Failure `usage` unless all WORDS are the name of the command. `words` are the WORDS and then --help.
void check_help(const CLI::App& command, const Arguments& words) {
  std::string name = "odrpo-bench";
  for (std::size_t i = 0; i + 1 < words.size(); ++i) name += ' ' + words[i];
  if (name != full_name(command))
    throw Failure(Exit::usage, "there is no command \"" + name + "\"\nSee: " + full_name(command) + " --help");
}

// Says in plain words what CLI11 found wrong with the options of the command `sub`.
std::string reason(const CLI::App& sub, const CLI::ParseError& error) {
  const std::string given = error.what();
  const bool required = dynamic_cast<const CLI::RequiredError*>(&error), mismatch = dynamic_cast<const CLI::ArgumentMismatch*>(&error);
  for (const CLI::Option* option : sub.get_options()) {
    const std::string name = option->nonpositional() ? option->get_name() : option->get_type_name();
    if (is_flag(*option)) {
      for (const auto& flag : option->get_lnames())
        if (mismatch && given.starts_with(flag + " was given")) return option->get_name() + " takes no value";
    } else if (required && option->get_required() && option->count() == 0) {
      return name + " is required: " + option->get_description();
    } else if (mismatch && static_cast<int>(option->count()) > option->get_items_expected_max()) {
      return name + " is given " + (option->count() == 2 ? "twice" : std::to_string(option->count()) + " times");
    }
  }
  return given;
}

// The error message for a command line that CLI11 refused.
std::string usage_message(const CLI::App& sub, const CLI::ParseError& error) {
  Arguments flags;
  for (const CLI::Option* option : sub.get_options())
    for (const auto& name : option->get_lnames()) flags.push_back("--" + name);
  std::string message = reason(sub, error);
  for (const auto& word : sub.remaining()) {
    if (word.size() < 2 || word[0] != '-') continue;
    message = "unknown flag \"" + word + "\"" + did_you_mean(word.substr(0, word.find('=')), flags);
    break;
  }
  return message + "\nSee: " + full_name(sub) + " --help";
}

// Reads --color WHEN and removes it from the words, so that errors of the command line have colours too. No other flag's value may begin with
// "--", so the word is this flag wherever it stands.
void take_colour(Arguments& words) {
  const std::string flag = "--color";
  for (std::size_t i = 0; i < words.size() && words[i] != "--";) {
    const bool joined = words[i].starts_with(flag + '=');
    if (words[i] != flag && !joined) {
      ++i;
      continue;
    }
    if (!joined && i + 1 == words.size()) throw Failure(Exit::usage, flag + ": 1 required WHEN missing");
    use_colour(word_or_refuse(flag, colour_words, joined ? words[i].substr(flag.size() + 1) : words[i + 1]));
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i), words.begin() + static_cast<std::ptrdiff_t>(i + (joined ? 1 : 2)));
  }
}

int dispatch(int argc, char** argv) {
  Commands c;
  c.argv.assign(argv, argv + argc);
  Arguments words(argv + 1, argv + argc);
  if (words.empty() || words[0] != "bench") take_colour(words);
  const std::string first = words.empty() ? "" : words[0];
  if (first == "bench") return bench(Arguments(argv + 2, argv + argc));
  if (first == "completion" && words.size() > 2 && words[1] == "words" && words[2] == "--")  // asked by shells; the words may be anything
    return print_candidates(command_text(c.app), Arguments(words.begin() + 3, words.end()));
  const bool help = first == "help" && (words.size() == 1 || !words[1].starts_with('-'));
  if (help) std::rotate(words.begin(), words.begin() + 1, words.end()), words.back() = "--help";
  const CLI::App* command = command_of(c.app, words);
  if (help) check_help(*command, words);
  if (command == nullptr) return static_cast<int>(Exit::usage);
  try {
    if (first == "verify" || first == "merge" || first == "table" || first == "plot") std::transform(words.begin(), words.end(), words.begin(), marked);
    std::reverse(words.begin(), words.end());  // CLI11 takes words in reverse order
    c.app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return c.app.exit(error);  // --help
    throw Failure(Exit::usage, usage_message(*command, error));
  }
  if (c.version) return version(c.json);
  if (c.table_json && !c.table.format.empty() && c.table.format != "json")
    throw Failure(Exit::usage, "--json is --format json, and cannot stand beside --format " + c.table.format);
  if (c.table_json) c.table.format = "json";
  if (c.chosen) return c.chosen();
  fail(Exit::usage, "which command?\nSee: odrpo-bench --help");
}

// True for the exception of fmt::print when stdout does not take the data (disk full). The caller has handled a closed pipe before.
bool write_failed(const std::system_error& error) { return std::string_view(error.what()).starts_with("cannot write to file"); }

int guarded(int argc, char** argv) {
  int code = static_cast<int>(Exit::ok);
  try {
    code = dispatch(argc, argv);
    flush_stdout();
    return code;
  } catch (const Failure& failure) {
    if (failure.code != Exit::usage || is_first_rank()) print_error(failure.what());  // else all ranks of an MPI job would print it
    return std::max(code, static_cast<int>(failure.code));  // exit code 8 (rejected file) outranks 5 (stdout is full)
  } catch (const std::bad_alloc&) {
    print_error("out of memory");
    return static_cast<int>(Exit::limits);
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::broken_pipe) return static_cast<int>(Exit::ok);
    if (write_failed(error)) {
      print_error("cannot write to standard output: " + error.code().message());
      return static_cast<int>(Exit::io);
    }
    print_error(std::string("internal error: ") + error.what());
  } catch (const std::exception& error) {
    print_error(std::string("internal error: ") + error.what());
  }
  return static_cast<int>(Exit::internal);
}

}  // namespace
}  // namespace odrpo::app

namespace {

// Makes free() return large arrays to the system at once. By default, glibc keeps them after a few were freed, and a run of the toy
// language model would take a third more memory. Arrays below 2 MiB, as a usual bandit has, are kept. Mapping them anew for every run would
// cost a run of 3,000 steps a tenth of its time in page faults.
void give_large_arrays_back() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 2 << 20);
  mallopt(M_TRIM_THRESHOLD, 4 << 20);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  give_large_arrays_back();
  odrpo::guard_streams();
  const int code = odrpo::app::guarded(argc, argv);
  std::fflush(stdout);
  return code;
}
