// Declares the subcommands as plain functions with their options. main.cpp binds the command line to these and calls one. stdout = data,
// stderr = messages. Every function returns an exit code or throws Failure, which main prints as "error: …".
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gate/options.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo::app {

/// A suite file and what the command line changes in it; shared by run and check.
struct SuiteOptions {
  std::string path;
  std::vector<std::string> set;   ///< --set key=value, in order
  std::vector<std::string> only;  ///< --only GLOB, a run is kept when any matches; '*' crosses '/'
  std::string shard;              ///< --shard I/N or auto/N: one part of what is left; empty = all of it
};

/// Where runs train; shared by run and check.
struct DeviceOptions {
  std::string device;   ///< cpu, cuda, auto; empty = cpu
  std::string devices;  ///< numbers of CUDA devices with commas between; empty = the first that can be used
  std::string precision = {};  ///< fp32, tf32; empty = fp32
};

struct RunOptions {
  SuiteOptions suite;
  DeviceOptions device;
  std::string output, name;       ///< -o, --name; default: default_output() in the current folder
  int jobs = 0;                   ///< 0 = number of cores
  std::optional<int> checkpoint;  ///< seconds after which a long run is kept; default: RunSettings'
  bool dry_run = false, force = false, json = false, quiet = false;
};
int run(const RunOptions&, const std::vector<std::string>& argv);

struct MergeOptions {
  std::vector<std::string> parts;  ///< result files and work folders
  std::string output;              ///< -o
  std::string suite;               ///< the suite file; empty = where the parts say it is
  bool force = false, json = false, quiet = false;
  double max_seconds = 0, max_memory = 0;  ///< of reading one part: as in TableQuery
};
int merge(const MergeOptions&, const std::vector<std::string>& argv);

struct CheckOptions {
  SuiteOptions suite;
  DeviceOptions device;  ///< empty = nothing about devices is shown
  int jobs = 0;          ///< 0 = number of cores
  bool json = false;
  bool quiet = false;  ///< of `run --dry-run`
};
int check(const CheckOptions&);

struct ListOptions {
  std::string what;  ///< empty = everything; envs, raters, noise, estimators, weights, policies, learn, …
  bool json = false;
  bool schema = false;   ///< the JSON Schema of suite files instead
  std::string markdown;  ///< a page of docs/reference instead: a word of reference_pages() (app/reference/schema.hpp)
};
struct CommandText;  // app/completion/command_text.hpp
/// `program`: the command line, for its page.
int list(const ListOptions&, const CommandText& program);

inline constexpr int most_joined_files = 20;

/// Which table of a result file; shared by table, plot and report.
struct TableQuery {
  std::vector<std::string> paths;                  ///< result files; several are one table with the dimension `file`
  const std::string& path() const { return paths.front(); }
  std::string rows, columns, compare, correction;  ///< empty = what the suite's [table] says
  std::vector<std::string> baseline;               ///< "ROW" alone, or each "ROW=ROW,ROW"; empty = what the suite says
  std::vector<std::string> value;                  ///< each one word, or several with commas; empty = what the suite says
  std::vector<std::string> best;
  std::vector<std::string> where;          ///< each "AXIS=VALUE": only runs that have it; of one axis any of the values
  std::vector<std::string> labels;         ///< each "NAME=LABEL", split at the last "=", besides those of the suite
  int tune_seeds = -1;                     ///< -1 = what the suite says
  double max_seconds = 0, max_memory = 0;  ///< CPU seconds and MB that reading may take; 0 = the default
};

struct TableOptions : TableQuery {
  std::string format;    ///< a word of table_format_words(); empty: the first
  std::string legend;    ///< word of legend_words; empty = the format's own
  bool siunitx = false;  ///< latex: numbers for the package siunitx
  std::string curve;     ///< instead of values: this curve at recorded steps; empty = none
  std::string power;     ///< "2%" or a number: the difference to find; empty = show the differences
};
int table(const TableOptions&);
/// The words of --format, the default first.
std::vector<std::string_view> table_format_words();

struct PlotOptions : TableQuery {
  std::string kind;                               ///< word of `plot --help`: curves, votes, forest, …
  std::string output;                             ///< empty = KIND.svg; with `data`: stdout
  std::string curve;                              ///< of curves; empty = quality
  std::string width, height;                      ///< inches; empty = 3.25 or 5.5 by the number of panels, and as the panels need
  bool data = false;                              ///< the numbers as CSV, and no figure
  bool json = false;                              ///< numbers, labels and looks as JSON, and no figure
  std::vector<std::string> rewards, estimators;   ///< of weights: groups "3,7,7,9", and whose weights; empty = the paper's
  int levels = 0;                                 ///< of weights: K; 0 = 10, or the largest reward
};
int plot(const PlotOptions&);
std::vector<std::string_view> plot_kinds();  ///< the words of the kinds

struct ReportOptions : TableQuery {
  std::string output;  ///< the page; empty = NAME.html beside NAME.h5
};
int report(const ReportOptions&);

struct ExportOptions {
  std::string path;                ///< a result file
  std::string format, what;        ///< words of export_format_words, export_what_words; empty = csv (rollouts: jsonl), runs (jsonl: all)
  std::vector<std::string> curve;  ///< names of curves, `seconds` too; empty = all
  std::vector<std::string> only;   ///< --only GLOB of run ids, as in SuiteOptions
  std::string output;              ///< empty = stdout
  double max_seconds = 0, max_memory = 0;  ///< as in TableQuery
};
int export_runs(const ExportOptions&);

/// What was given to flags of reading_options(), by their keys.
using ReadingFlags = std::map<std::string, std::vector<std::string>>;

struct StatsOptions {
  std::string path;               ///< a CSV file with one row per run, or a result file
  std::string unit, cell, value;  ///< columns; of cell several with commas; of a result file empty = those of the suite's table
  std::string task;               ///< columns of the strata; empty = one task
  ReadingFlags reading;           ///< of a CSV file
  std::string baseline, contrast;
  std::string interval, format;  ///< empty = expanded, text
  std::string level, gamma, thresholds;
  int resamples = 2000;
  long long seed = 1;
  std::vector<std::string> where;          ///< of a result file: as in TableQuery
  double max_seconds = 0, max_memory = 0;  ///< of a result file: as in TableQuery
  std::string output;                      ///< empty = stdout
};
int stats(const StatsOptions&);

/// How a file of scores is read (app/flags/flag_values.hpp). Columns: empty = as ScoreColumns has it; "none" = not there.
struct ScoreOptions {
  std::string prompt, response, sample, score, rater, gold;
  std::string scale;  ///< "0..5 by 0.5"; empty = of the scores
  int levels = 0;     ///< 1..K; 0 = of the scores
  ReadingFlags reading;
};

struct JudgeAnalyzeOptions {
  std::string path;  ///< a file of scores
  ScoreOptions scores;
  std::vector<std::string> compare;  ///< other files, read the same way
  std::vector<std::string> figures;  ///< "kendall=FILE.svg"
  int samples = 0;  ///< calls of a simulated rater about each response; 0 = a suite's most votes, else 16
  int resamples = 2000;
  long long seed = 1;
  bool json = false;
  std::string output;  ///< empty = stdout
};
int judge_analyze(const JudgeAnalyzeOptions&);
std::vector<std::string_view> judge_figures();  ///< the kinds of --figure

struct JudgeFitOptions {
  std::string path;  ///< a file of scores
  ScoreOptions scores;
  std::string name = "judge";  ///< of the section [rater.NAME] that is written
  long long seed = 1;          ///< of simulated scores
  bool json = false;
  std::string output;  ///< the judge's file; empty = none
};
int judge_fit(const JudgeFitOptions&);

struct JudgeSimulateOptions {
  std::string rater;  ///< a word of `list raters`, or a judge's file
  int prompts = 1000, responses = 8, samples = 16;
  int levels = 0;  ///< 0 = the judge's own, or 10
  long long seed = 1;
  bool truth = false;  ///< a column of true quality
  std::string output;  ///< empty = stdout
};
int judge_simulate(const JudgeSimulateOptions&);

struct JudgeAdviseOptions {
  std::string path;  ///< a file of scores, a judge's file (.toml), or a word of `list raters`
  ScoreOptions scores;
  double calls = 0;                                     ///< of the whole training
  std::optional<double> price_call, price_rollout;      ///< together, and without the next two
  std::optional<double> seconds_call;
  std::optional<int> parallel;
  int batch = 64;
  std::vector<std::string> rollouts, votes, rules, estimators, policies;  ///< each one word, or several with commas; empty = AdviceQuestion's
  int seeds = 40, tuning_seeds = 16, drawn = 4;         ///< drawn: judges from the fit's uncertainty
  long long seed = 1;
  int jobs = 0;  ///< 0 = number of cores
  bool thorough = false, json = false, quiet = false;
  std::string figure;  ///< gain against cost; empty = none
  std::string output;  ///< empty = stdout
};
int judge_advise(const JudgeAdviseOptions&);

/// How dumps of rollouts are read, and by what they are estimated; shared by `rollouts analyze` and `rollouts estimate`. Empty texts = those of the format.
struct RolloutOptions {
  std::vector<std::string> paths;  ///< dumps, or folders of them
  std::string format, step, prompt, group, advantage, length;
  std::vector<std::string> rewards, weights;  ///< columns or globs, and their weights; each one word, or several with commas
  int group_size = 0;
  ReadingFlags reading;
  std::string scale;  ///< "0..5 by 0.5"; empty = of the scores
  int levels = 0;     ///< 1..K; 0 = of the scores
  std::vector<std::string> estimators;
  std::string compat;  ///< empty = paper
  std::string judge;   ///< word of `list raters`, judge's file, or file of repeated scores; empty = none
  std::string judge_reward, judge_scale;  ///< which reward is the judge's, where there are several; the rewards that its levels stand for
  int judge_votes = 1;                    ///< calls behind each of its scores
  std::string output;  ///< empty = stdout
};

struct RolloutsAnalyzeOptions : RolloutOptions {
  std::vector<std::string> figures;  ///< "dead=FILE.svg"
  int resamples = 1000;
  long long seed = 1;
  bool json = false, markdown = false;
};
int rollouts_analyze(const RolloutsAnalyzeOptions&);

struct RolloutsEstimateOptions : RolloutOptions {
  std::string whiten;  ///< word of whiten_words; empty = none
};
int rollouts_estimate(const RolloutsEstimateOptions&);

/// Keys of [estimator.NAME] as flags; unset and empty = EstimatorConfig's.
struct FormKeyFlags {
  std::optional<int> ddof, origin, k;
  std::optional<double> eps, kappa, r_min;
  std::string median;
  std::vector<std::string> values;  ///< R_1..R_K
};

struct ExportEstimatorOptions {
  std::string output;                         ///< .py, of posterior estimators also .json
  std::string estimator = "posterior(grpo)";  ///< a word of whole_catalogue()
  bool force = false;                         ///< replace a file that this command did not write
  // of posterior estimators
  std::string rater;              ///< a word of `list raters`, or a judge's file
  std::optional<int> group_size;  ///< none = 8
  int levels = 0;                 ///< 0 = the judge's own, or 10
  std::optional<int> votes;       ///< calls about a response, which the rater's aggregate makes one score; none = 1
  std::string prior;              ///< a word of prior_words; empty = EstimatorConfig's
  std::optional<double> keep;     ///< none = EstimatorConfig's
  std::string floor;              ///< "posterior" or levels; empty = EstimatorConfig's
  // of the others
  std::string compat;  ///< empty = paper
  FormKeyFlags keys;
};
int export_estimator(const ExportEstimatorOptions&);

int compute();  ///< JSON lines on stdin to JSON lines on stdout

struct DiffOptions {
  std::string a, b;  ///< result files
  bool json = false;
  double max_seconds = 0, max_memory = 0;  ///< as in TableOptions, for each file
};
int diff(const DiffOptions&);

struct VerifyOptions {
  std::vector<std::string> paths;
  bool json = false;
  double max_seconds = 0, max_memory = 0;  ///< CPU seconds and MB that reading a file may take; 0 = the default
};
int verify(const VerifyOptions&);

/// Starts the microbenchmark program beside this one, with the arguments as given.
int bench(const std::vector<std::string>& arguments);

inline constexpr int most_explained_level = 50'000;  ///< answered in half a second, whatever the group and the estimators

struct ExplainOptions {
  std::vector<std::string> rewards;             ///< numbers, also several in one word: "3,7,7,9"
  int levels = 0;                               ///< 0 = 10, or the largest reward rounded up; as many as there are values
  std::vector<std::string> values;              ///< R_1..R_K; empty = 1..K
  std::vector<std::string> estimators, compat;  ///< empty = a usual choice; every system
  std::string median;                           ///< lower, mid, upper or a number; empty = lower
  int origin = 1;
  int k = 0;          ///< size of the subsets that max-at-k compares; 0 = 2
  std::optional<double> kappa, r_min;  ///< of qae and corpo; unset = EstimatorConfig's
  std::string model;  ///< the judge of posterior estimators: a rater's word or a judge's file
  std::string floor;  ///< "posterior" or levels; empty = EstimatorConfig's
  std::string command;  ///< a program that is asked for the advantages too; empty = none
  bool json = false, verbose = false;
};
int explain(const ExplainOptions&);

struct ConformOptions {
  std::string command;                ///< the program that is compared
  std::string as;                     ///< "grpo:verl", "grpo" (of the paper), "any"
  bool whitened = false;              ///< its answers are whitened as the system does it
  std::string scores;                 ///< word of asked_score_words; empty = any
  std::optional<int> levels;          ///< unset = 10, or as many as there are values
  FormKeyFlags keys;
  double deadline = 60;               ///< seconds for each answer
  bool json = false;
  std::string junit;                  ///< file; empty = none
  bool any() const { return as == "any"; }
};
int conform(const ConformOptions&);

int gate(const GateOptions&);

struct WorkerOptions {
  SuiteOptions suite;     ///< empty path = the microbenchmarks
  std::string self_test;  ///< "baseline" or "candidate" of `gate --self-test`; empty = none
};
/// Answers a gate's requests on stdin until it ends.
int worker(const WorkerOptions&);

/// Reports what this machine is and how steady its clock is.
int doctor(bool json);

int version(bool json);

// What this binary is: for --version and for the provenance of result files.

/// Known when the program was built.
struct BuildFacts {
  std::string version, revision;  ///< of the program; git revision, "-dirty" when the tree had changes, "unknown" without git
  std::string compiler, flags, build_type;
  std::string hdf5;  ///< version of the headers compiled against
  std::string mpi;   ///< version of the standard, "3.1"; empty = built without MPI
  bool cuda = false;
  std::string suites_of_sources, suites_installed;  ///< folders of shipped suites, from the program's own: built, installed
};
BuildFacts build_facts();
/// A name for this build, for state that only the same build takes over. Builds that git does not tell apart differ by their bytes.
std::string build_name();

}  // namespace odrpo::app
