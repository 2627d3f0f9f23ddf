// Binds the flags that several commands share, and those of `plot`, `export`, `export-estimator` and `stats`.
#include "app/options/flag_binding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "kernels/system/text.hpp"
#include "results/scores/reading.hpp"
#include "results/scores/score_file.hpp"
#include "results/stats/run_statistics.hpp"

namespace odrpo::app {

CLI::App* add_command(CLI::App& group, std::function<int()>& chosen, const std::string& name, const std::string& help, const std::string& example,
                      std::function<int()> call) {
  CLI::App* command = group.add_subcommand(name, help);
  command->footer("Example:\n  " + example);
  command->callback([&chosen, call = std::move(call)] { chosen = call; });
  return command;
}

void repeated(CLI::App& app, const std::string& name, std::vector<std::string>& values, const std::string& help, const std::string& value) {
  app.add_option(name, values, help)->expected(1)->allow_extra_args(false)->take_all()->type_name(value);
}

CLI::Validator whole(long long least, long long most) {
  return {[=](std::string& text) -> std::string {
            long long value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            const bool digits = end != text.data() && end == text.data() + text.size();
            if (!digits) return "\"" + text + "\" is not a whole number";
            if (error != std::errc() || value < least || value > most)
              return text + " is not in " + std::to_string(least) + ".." + std::to_string(most);
            text = std::to_string(value);
            return "";
          },
          ""};
}

namespace {

/// Accepts a number for which `good` is true; else the message says that it is not `bad`.
CLI::Validator plain_number(bool (*good)(double), const std::string& bad) {
  return {[=](std::string& text) -> std::string {
            const auto value = number_from<double>(text);
            if (!value) return "\"" + text + "\" is not a number";
            return good(*value) ? "" : text + " is not " + bad;
          },
          ""};
}

}  // namespace

CLI::Validator positive() {
  return plain_number([](double x) { return x > 0 && x <= 1e9; }, "above 0 and at most 1e9");
}

CLI::Validator seed() { return whole(0, 9'000'000'000'000'000'000); }

CLI::Validator share() {
  return plain_number([](double x) { return x >= 0 && x <= 1; }, "in 0..1");
}

void suite_options(CLI::App& app, SuiteOptions& o, bool file_required) {
  app.add_option("suite", o.path, "the suite file, or the name of a shipped suite, such as quickstart")
      ->required(file_required)
      ->type_name("SUITE.toml");
  repeated(app, "--set", o.set, "change one value of the suite, e.g. --set suite.seeds=3, or add to a list: --set 'grid.votes+=[16]'; may be repeated", "KEY=VALUE");
  repeated(app, "--only", o.only, "keep the runs whose id matches, e.g. --only '*/grpo/n8/*'; may be repeated", "GLOB");
}

void part_option(CLI::App& app, SuiteOptions& o) {
  app.add_option("--shard", o.shard,
                 "train part I (from 0) of N alone, for one of several machines; auto/N takes I from Slurm, Kubernetes or MPI")
      ->type_name("I/N");
}

void jobs_option(CLI::App& app, int& jobs) {
  app.add_option("-j,--jobs", jobs, "worker threads (default: all cores)")->check(whole(1, 4096))->type_name("N");
}

void device_options(CLI::App& app, DeviceOptions& o) {
  app.add_option("--device", o.device, "cpu (default), cuda or auto")->check(CLI::IsMember({"cpu", "cuda", "auto"}))->type_name("DEVICE");
  app.add_option("--devices", o.devices, "numbers of the CUDA devices to use, e.g. 0,1 (default: the first that can be used)")
      ->type_name("LIST");
  app.add_option("--precision", o.precision, "how a device multiplies for transformers: fp32 (default) or tf32, which is faster and rounds factors to 10 bits")
      ->check(CLI::IsMember({"fp32", "tf32"}))
      ->type_name("FORM");
}

void limit_options(CLI::App& app, double& seconds, double& memory) {
  app.add_option("--max-seconds", seconds, "CPU seconds that reading a file may take (default: 2, and 10 per 100 MB of file)")
      ->check(positive())
      ->type_name("SECONDS");
  app.add_option("--max-memory", memory, "memory that it may take, in MB (default 300)")->check(positive())->type_name("MB");
}

void table_query_options(CLI::App& app, TableQuery& o, int least_files, int most_files) {
  app.add_option("file", o.paths, most_files > 1 ? "a result file; several are put beside each other as rows, paired by seed" : "a result file")
      ->required(least_files > 0)
      ->expected(least_files, most_files)
      ->type_name("FILE.h5");
  app.add_option("--rows", o.rows, "axis of the rows, or `value`")->type_name("AXIS");
  app.add_option("--columns", o.columns, "axis of the columns, or `value`")->type_name("AXIS");
  repeated(app, "--value", o.value, "what the cells show: gain, quality, regret, …; several, with commas, need --columns value",
           "VALUE");
  repeated(app, "--baseline", o.baseline,
           "row to compare with, paired by seed; or several, each for its own rows: 'grpo=odrpo(grpo),odrpo-gini(grpo)'", "ROW");
  app.add_option("--compare", o.compare, "how: difference or percent")
      ->check(CLI::IsMember({"difference", "percent"}))
      ->type_name("HOW");
  app.add_option("--correction", o.correction, "what a star means beside several differences: holm or none")
      ->check(CLI::IsMember({"holm", "none"}))
      ->type_name("HOW");
  repeated(app, "--where", o.where, "only runs that have this value, e.g. --where rater=mixed; may be repeated", "AXIS=VALUE");
  repeated(app, "--label", o.labels, "text for a name in tables and figures, e.g. 'odrpo(grpo)=ODRPO' or 'votes=8=8 votes'; may be repeated", "NAME=LABEL");
  repeated(app, "--best", o.best, "axis of which each cell takes its best value; may be repeated", "AXIS");
  app.add_option("--tune-seeds", o.tune_seeds, "choose --best on the first N seeds, report the others")
      ->check(whole(0, 100'000))
      ->type_name("N");
  limit_options(app, o.max_seconds, o.max_memory);
}

void merge_options(CLI::App& app, MergeOptions& o) {
  app.add_option("parts", o.parts, "result files of parts, and work folders of parts that are not finished")->required()->type_name("PART");
  app.add_option("-o,--output", o.output, "result file to make")->required()->type_name("FILE.h5");
  app.add_option("--suite", o.suite, "the suite file, where the parts do not say where it is (it names files beside it)")->type_name("SUITE.toml");
  app.add_flag("--force", o.force, "discard an output file or work folder that is in the way");
  app.add_flag("--json", o.json, "print a summary as JSON");
  app.add_flag("-q,--quiet", o.quiet, "no notes on stderr, errors only");
  limit_options(app, o.max_seconds, o.max_memory);
}

void plot_options(CLI::App& app, PlotOptions& o) {
  app.add_option("kind", o.kind, one_of(plot_kinds()))->required()->type_name("KIND");
  table_query_options(app, o, 0, most_joined_files);
  app.add_option("--curve", o.curve,
                 "of curves: gain, quality, reward, kl, … (docs/reference/curves.md; default: that of the table's value)")
      ->type_name("CURVE");
  repeated(app, "--rewards", o.rewards, "of weights: a group, e.g. 3,7,7,9; may be repeated (default: four shapes)", "LIST");
  repeated(app, "--estimator", o.estimators, "of weights: word of `list estimators`; may be repeated", "WORD");
  app.add_option("--levels", o.levels, "of weights: K (default: 10, or the largest reward)")->check(whole(1, 1000))->type_name("K");
  app.add_option("--width", o.width, "inches (default: 3.25, a column; 5.5, a page, where there are several panels)")->type_name("INCHES");
  app.add_option("--height", o.height, "inches (default: as the panels need)")->type_name("INCHES");
  CLI::Option* data = app.add_flag("--data", o.data, "write the figure's numbers as CSV, and draw nothing");
  app.add_flag("--json", o.json, "write numbers, labels, colours and symbols as JSON, and draw nothing")->excludes(data);
  app.add_option("-o,--output", o.output, "file: .svg, .pdf or .png (default: KIND.svg; of --data and --json standard output)")->type_name("FILE");
}

void export_options(CLI::App& app, ExportOptions& o) {
  app.add_option("file", o.path, "a result file")->required()->type_name("FILE.h5");
  app.add_option("--format", o.format, "csv (default) or jsonl, one JSON object per line")->type_name("FORMAT");
  app.add_option("--what", o.what, "runs (default of csv), curves, all (default of jsonl: runs with their curves), rollouts (jsonl, or csv by -o) or suite")->type_name("WHAT");
  repeated(app, "--curve", o.curve, "only this curve, `seconds` for the times of the stages; may be repeated", "NAME");
  repeated(app, "--only", o.only, "only the runs whose id matches, e.g. --only '*/grpo/n8/*'; may be repeated", "GLOB");
  app.add_option("-o,--output", o.output, "file to write (default: standard output)")->type_name("FILE");
  limit_options(app, o.max_seconds, o.max_memory);
}

void floor_option(CLI::App& app, std::string& floor) {
  app.add_option("--floor", floor, "of posterior forms that divide by a deviation: posterior (default), or levels; 0 = none")->type_name("FLOOR");
}

void centre_options(CLI::App& app, std::optional<double>& kappa, std::optional<double>& r_min) {
  app.add_option("--kappa", kappa, "of qae: the quantile that it subtracts, as a share of the group (default 0.4)")->check(share())->type_name("SHARE");
  app.add_option("--r-min", r_min, "of corpo: the lowest acceptable score (default 1)")->type_name("R");
}

namespace {

void form_key_options(CLI::App& app, FormKeyFlags& keys) {
  app.add_option("--ddof", keys.ddof, "of forms with a standard deviation: variances divide by G - ddof (default: the form's)")->check(whole(0, 1))->type_name("0|1");
  app.add_option("--eps", keys.eps, "added to the divisor, of odrpo to every level's (default: the form's, mostly 0)")->check(share())->type_name("EPS");
  app.add_option("--origin", keys.origin, "of maxrl: scores as given (1, default) or less one (0)")->check(whole(0, 1))->type_name("0|1");
  app.add_option("--median", keys.median, "what gini-median reads: lower (default), mid or upper")->type_name("RULE");
  app.add_option("--k", keys.k, "of forms that compare subsets of the group, as max-at-k: their size (default 2)")
      ->check(whole(2, 254))
      ->type_name("N");
  centre_options(app, keys.kappa, keys.r_min);
  repeated(app, "--values", keys.values, "what the levels are worth, ascending, e.g. 1,2,12 (default: 1..K)", "R,R");
}

}  // namespace

void conform_options(CLI::App& c, ConformOptions& o) {
  c.add_option("--command", o.command, "the program, with its arguments, as `command` of a suite names it (docs/own-estimator.md)")->required()->type_name("CMD");
  c.add_option("--as", o.as, "word of `list estimators` and, after a colon, of `list compat`: grpo:verl (default convention: paper); any = whatever fits")
      ->required()
      ->type_name("WORD:SYSTEM");
  c.add_flag("--whitened", o.whitened, "its answers are whitened as the system does it after this estimator");
  c.add_option("--scores", o.scores, "those that it takes: any (default), in-range (integers and reals 0..K) or integer (0..K)")->type_name("WORD");
  c.add_option("--levels", o.levels, "K (default 10)")->check(whole(2, 100))->type_name("K");
  form_key_options(c, o.keys);
  c.add_option("--deadline", o.deadline, "seconds that an answer may take (default 60)")->check(positive())->type_name("S");
  c.add_flag("--json", o.json, "as JSON");
  c.add_option("--junit", o.junit, "write JUnit's XML, a test case for each check")->type_name("FILE.xml");
}

void export_estimator_options(CLI::App& app, ExportEstimatorOptions& o) {
  app.add_option("rater", o.rater,
                 "of posterior estimators the judge: a word of `list raters`, or a judge's file (.toml), such as `judge fit` writes")
      ->type_name("RATER");
  app.add_option("-o,--output", o.output, "file to write: .py, a module; of posterior estimators also .json, their tables")
      ->required()
      ->type_name("FILE");
  app.add_option("--estimator", o.estimator, "word of `list estimators` (default: posterior(grpo))")->type_name("WORD");
  app.add_option("--compat", o.compat, "word of `list compat`: whose conventions (default: paper)")->type_name("WORD");
  form_key_options(app, o.keys);
  app.add_option("--group-size", o.group_size, "of posterior estimators: responses to a prompt, of the map of a fixed prior (default 8)")
      ->check(whole(2, 255))
      ->type_name("G");
  app.add_option("--levels", o.levels, "K of a rater that takes any scale (default 10)")->check(whole(2, most_levels))->type_name("K");
  app.add_option("--votes", o.votes, "calls about a response, whose aggregate is its score (default 1)")->check(whole(1, 1024))->type_name("N");
  app.add_option("--prior", o.prior, "how the prior moves while a trainer trains: following (default), moments or fixed")->type_name("RULE");
  app.add_option("--keep", o.keep, "share of a moving prior that a batch leaves (default 0.95)")->check(share())->type_name("SHARE");
  floor_option(app, o.floor);
  app.add_flag("--force", o.force, "replace a file that this command did not write");
}

void reading_flags(CLI::App& app, ReadingFlags& flags, std::initializer_list<std::string_view> only) {
  for (const ReadingOption& option : reading_options()) {
    if (only.size() > 0 && std::find(only.begin(), only.end(), option.key) == only.end()) continue;
    repeated(app, "--" + std::string(option.key), flags[std::string(option.key)], std::string(option.help), std::string(option.value));
  }
}

void stats_options(CLI::App& app, StatsOptions& o) {
  app.add_option("file", o.path, "a CSV or JSON file with one row per run, or a result file")->required()->type_name("FILE");
  app.add_option("--unit", o.unit, "column of what is independent, e.g. seed; differences are paired by it")->type_name("COLUMN");
  app.add_option("--cell", o.cell, "columns of what is compared, e.g. estimator,votes; a result file's: its axes")->type_name("COLUMNS");
  app.add_option("--value", o.value, "column of the numbers; a result file's: gain, quality, …")->type_name("COLUMN");
  app.add_option("--task", o.task, "columns of the tasks (default: one task); a unit may have a run in each")->type_name("COLUMNS");
  reading_flags(app, o.reading, {"missing", "ids", "map", "separator"});
  app.add_option("--baseline", o.baseline, "cell to compare with: texts of its columns, e.g. grpo or grpo,1; others are the row's own")
      ->type_name("CELL");
  app.add_option("--contrast", o.contrast, "difference of differences: (row - baseline) at WITH minus the same at WITHOUT")
      ->type_name("COLUMN=WITH:WITHOUT");
  std::vector<std::string> intervals;
  for (const auto& word : interval_words) intervals.emplace_back(word.word);
  app.add_option("--interval", o.interval, "expanded (BCa, wider for few units; default), bca, percentile or t")
      ->check(CLI::IsMember(intervals))
      ->type_name("KIND");
  app.add_option("--resamples", o.resamples, "resamples of the bootstrap (default 2000)")->check(whole(1000, 1'000'000))->type_name("N");
  app.add_option("--seed", o.seed, "seed of the resamples (default 1)")->check(seed())->type_name("N");
  app.add_option("--level", o.level, "of the intervals (default 0.95)")->type_name("LEVEL");
  app.add_option("--gamma", o.gamma, "score that is good enough: shows the optimality gap")->type_name("NUMBER");
  app.add_option("--thresholds", o.thresholds, "shows the performance profile at these scores, e.g. 60,70,80")->type_name("LIST");
  app.add_option("--format", o.format, "text (default), csv or json")->check(CLI::IsMember({"text", "csv", "json"}))->type_name("FORMAT");
  repeated(app, "--where", o.where, "a result file's runs that have this value, e.g. --where votes=1; may be repeated", "AXIS=VALUE");
  limit_options(app, o.max_seconds, o.max_memory);
  app.add_option("-o,--output", o.output, "file to write (default: standard output)")->type_name("FILE");
}

}  // namespace odrpo::app
