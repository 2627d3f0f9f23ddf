// Defines Plan: a suite that was read and checked but not yet expanded into runs. Declares the functions that read and check its sections.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalogue/axis.hpp"
#include "config/catalogue/describe.hpp"
#include "config/read/field_reader.hpp"
#include "config/read/tree.hpp"

namespace odrpo {

// The text of [grid] zip: a list of entries, each of which sets several keys at once, such as votes and learn.steps.

/// The keys of `zip`, the different values of each key, and which of these values each entry of `zip` sets.
struct ZipText {
  struct Key {
    std::vector<std::string> path;      ///< {"votes"}, {"learn", "steps"}, {"rater", "NAME", "low", "p"}
    std::string label;                  ///< the path as it is written
    Place place;                        ///< place of the key in the first entry
    std::vector<std::size_t> of_entry;  ///< for each entry an index of `values`
    std::vector<Node> values;           ///< the different values, in the order of the entries
  };
  Place key_place;
  std::vector<Key> keys;
  std::size_t entries = 0;  ///< 0 = nothing is zipped
};

/// Largest number of entries of `zip`.
inline constexpr std::size_t most_entries = 1000;

/// Reads `grid.zip` and puts the values of each key into the tree as a list. The sections then read and check each value at its own place,
/// as values of an axis. Reports errors of the entries themselves.
ZipText unfold_zip(Node& root, Diagnostics& errors);

/// What was read from a file of scores: its name in messages, its content in words, CPU time of learning a judge from it. Empty without a file.
struct FoundScores {
  std::string file, found;
  double seconds = 0;
};

/// A word of a catalogue, or a named variant of one, with its config and axes.
template <class C>
struct Variant {
  std::string name;
  Place place;
  C config;
  std::vector<GridAxis> axes;
  bool levels_given = false;  ///< env: its section has `levels`; if not, a rater with its own levels decides
  FoundScores scores{};       ///< rater: what was found in its file of scores
};

/// State that all functions reading a suite share: the inputs besides its tree, and the errors and notes that they add.
struct Reading {
  Diagnostics& errors;  ///< every error of the suite goes here
  Diagnostics& files;   ///< errors of the files that the suite names; reported if the suite itself has none
  bool sound = true;    ///< false if parts of the text could not be read: then missing keys are no errors
  std::string folder;   ///< folder of the suite, to which paths in it are relative; those of --set are relative to the current one
  /// For a suite from a result file, whose text may be a stranger's: named files are opened only below these folders. Messages then show
  /// nothing of their content. Empty: files anywhere are opened.
  std::vector<std::string> only_below{};
  std::vector<std::string> notes{};  ///< notes about the files, for Suite::notes
};

/// Returns the path of the file that a value of the suite names.
std::string path_of(const Node& named, const Reading& reading);
/// Returns the text of the file that a value names, by read_suite_file() or read_scores_file(). If the file cannot or may not be read, returns
/// nothing and reports an error at the value.
std::optional<std::string> named_text(const Node& named, const std::string& label, std::string (*read)(const std::string& path), Reading& reading);
/// May a file that the suite names be opened (Reading::only_below)?
bool may_be_opened(const std::string& path, const Reading& reading);
/// Reports the errors inside the named file: as one message (`block`), or as one message per line.
void add_inside(const Node& named, const std::string& label, const Failure& failure, bool block, Reading& reading);

class RunGrid;

struct Plan {
  SuiteHead head;
  std::vector<Variant<EnvConfig>> env;  ///< the envs of the grid, in its order; likewise the next three lists
  std::vector<Variant<RaterConfig>> rater;
  std::vector<Variant<PolicyConfig>> policy;
  std::vector<Variant<EstimatorConfig>> estimator;
  std::vector<Variant<RaterConfig>> models;  ///< judges that posterior and corrected estimators believe in, besides the runs' own
  std::vector<int> votes;
  bool grid_known = true;  ///< every word of the grid's env, rater, policy and estimator is known; else the lists lack the others
  Zip zip;
  LearnConfig learn;
  std::vector<GridAxis> learn_axes;
  RecordConfig record;
  TableConfig table;
  GateConfig gate;
  LimitsConfig limits;
};

/// Reads and checks the whole tree. Reading goes on after errors, to report all of them.
Plan read_plan(const Node& root, Reading& reading);

/// Reads [label]. A label that the grid has no name for is no error, as --set may have changed the grid: check_labels() adds a note. (plan/labels.cpp)
Labels read_labels(const Node& root, Reading& reading);
void check_labels(const Node& root, const Plan& plan, const std::vector<const GridAxis*>& axes, Reading& reading);

/// Gives the axes their names and returns them in suite order: in the order of their keys in the file, then those that --set added.
std::vector<const GridAxis*> name_axes(Plan& plan);

/// The plan as TOML with every value written out: loading it gives the same plan. (plan_write.cpp)
std::string write_plan(const Plan& plan);

/// Reads all variants of one section ("rater": all of [rater.NAME]), also those that the grid does not use. (plan/variants.cpp)
template <class C>
std::vector<Variant<C>> read_variants(const Node& root, Reading& reading);

/// Stores in a plan, which was read without errors, which words and values of axes each entry of `zip` sets. Reports zipped keys that are not
/// an axis of every run. (plan/zip_axes.cpp)
void tie_zip(const ZipText& text, Plan& plan, Diagnostics& errors);
/// Returns the plan of the runs of one entry of `zip`: its words, and one value on each zipped axis. (plan/zip_axes.cpp)
Plan entry_plan(const Plan& plan, std::size_t entry);

// Worlds of a real training: [env.NAME] rollouts = "dump.jsonl", judge = "judge.toml". (plan/rollout_worlds.cpp)

/// Returns the section of an env that has `rollouts` or `groups`, if its keys fit together; null otherwise, after reporting what does not.
const Node* rollouts_section(const Node& root, const Variant<EnvConfig>& env, Diagnostics& errors);
/// Reads the scores of `rollouts` on the levels of the judge, or checks those of `groups`, and sets prompts, actions and levels of the world.
void read_groups(const Node& section, const RaterConfig& judge, Variant<EnvConfig>& env, Reading& reading);

/// Finds the judges that the grid's estimators name as `model` and its worlds as `judge`, among `raters`, in the catalogue or in files. Adds them to plan.models and
/// replaces each name by the one there. (plan/models.cpp)
void read_models(const Node& root, const std::vector<Variant<RaterConfig>>& raters, Plan& plan, Reading& reading);
/// Reads what the command of an estimator of another program needs besides the command: its folder, and the files that it names. Reports commands that cannot be
/// split into words, and programs that are not there. Starts nothing. (plan/outside.cpp)
void read_outside(const Node& section, const std::string& label, EstimatorConfig& config, Reading& reading);
/// Reports estimators of other programs without a command, and runs that would ask one with memory too much. (plan/outside.cpp)
void check_outside(const Plan& plan, Diagnostics& errors);
/// Reports models whose levels or responses do not fit the runs. `plan` is that of one entry of `zip`. (plan/models.cpp)
void check_models(const Node& root, const Plan& plan, Diagnostics& errors);
/// Reports corrected estimators of the runs whose judge cannot be corrected: correct_judge() (config/catalogue/believed_judge.hpp). (plan/models.cpp)
void check_corrected(const Plan& plan, const RunGrid& runs, Diagnostics& errors);
/// Returns the numbers of levels that scores have in the runs of an env and a rater: several if `levels` is an axis. (plan/models.cpp)
std::vector<std::int64_t> levels_of(const Variant<EnvConfig>& env, const Variant<RaterConfig>& rater);
/// Reports `values` of an estimator that do not ascend or are not one for each level of the runs. Where failed answers score 0, all must
/// be above 0. `plan` is that of one entry of `zip`. (check/votes.cpp)
void check_level_values(const Node& section, const Variant<EstimatorConfig>& variant, Diagnostics& errors);
void check_level_values(const Node& root, const Plan& plan, Diagnostics& errors);

/// Reports formulas of levels that are not finite at a level of some run's groups, and lists of another length than the runs' levels.
/// For a plan without other errors. (check/level_formulas.cpp)
void check_formulas(const Node& root, const Plan& plan, Diagnostics& errors);

/// Report values that are valid each but do not fit together: a batch larger than the world, a key without effect. (check/checks.cpp)
void check_variant(const Node& section, const Variant<EstimatorConfig>& variant, Diagnostics& errors);
void check_variant(const Node& section, const Variant<RaterConfig>& variant, Diagnostics& errors);
void check_variant(const Node& section, const Variant<PolicyConfig>& variant, Diagnostics& errors);
void check_learning(const Node* learn, const Plan& plan, Diagnostics& errors);
/// Reports lists `seconds` and `prices` without one number for each judge, or set together with the key for all judges. (check/votes.cpp)
void check_judge_numbers(const Node& section, const Variant<RaterConfig>& variant, Diagnostics& errors);
/// Reports keys of [learn] without effect in any run.
void check_learning_keys(const Node* learn, const Plan& plan, Diagnostics& errors);
/// Reports worlds whose `levels` differ from those of a rater that has levels of its own.
void check_levels(const Plan& plan, Diagnostics& errors);
/// Reports policies that cannot act in a world, and judges that cannot rate its responses. (check/worlds.cpp)
void check_worlds(const Plan& plan, Diagnostics& errors);
/// Reports keys of the sections [rater.NAME] that need a world which no run has.
void check_world_keys(const Node* raters, const Plan& plan, Diagnostics& errors);
/// Reports raters of the grid whose `stop` cannot end the calls of any run early. (check/votes.cpp)
void check_stops(const Node* raters, const Plan& plan, Diagnostics& errors);
/// Reports votes that stay separate (aggregate = "fraction" or "all") with estimators that cannot read them, or in groups that get too
/// large. `plan` is that of one entry of `zip`. (check/votes.cpp)
void check_kept_votes(const Node* raters, const Plan& plan, Diagnostics& errors);
/// Reports real-valued scores for estimators that write integer scores in bits. (check/votes.cpp)
void check_whole_scores(const Node* raters, const Plan& plan, Diagnostics& errors);
/// Reports bandits whose responses are all equally good, and keys of hacking where no response hacks. (check/worlds.cpp)
void check_bandits(const Node& root, const Plan& plan, Diagnostics& errors);
/// True if all worlds are toy language models; a bandit world that a rater brings then has no effect.
bool only_texts(const Plan& plan);
/// Reports rows, columns, baseline and best of [table] that the grid does not have. Rewrites the others to their names in the grid.
void check_table(const Node* section, Plan& plan, const std::vector<const GridAxis*>& axes, Diagnostics& errors);
/// Called by check_table(). Reports values of [table] that no run has, and completes win rates over an estimator with its name in the
/// grid. (check/table_and_gate.cpp)
void check_values(const Node* section, Plan& plan, Diagnostics& errors);
/// Reports axes and rows of [gate] that the grid does not have. Rewrites the others to their names in the grid. A limit without an axis gets
/// the table's rows. (check/table_and_gate.cpp)
void check_gate(const Node* section, Plan& plan, const std::vector<const GridAxis*>& axes, Diagnostics& errors);
/// Returns the grid's values of a table dimension (env, …, votes, an extra axis) as texts; none if the grid has no such dimension. (check/checks.cpp)
std::vector<std::string> dimension_values(const Plan& plan, const std::vector<const GridAxis*>& axes, std::string_view name);
/// Returns the name of the axis whose name or section.key is `word`; `word` itself if there is none. (check/checks.cpp)
std::string axis_word(const std::vector<const GridAxis*>& axes, const std::string& word);

// Reads the keys of [rater.NAME] that make a judge from a file of scores: scores, levels, scale, columns.

/// Learns a channel and a world from the file `scores = "FILE"`; the section's other keys then change them. `label`: "rater.NAME";
/// `catalogue_word`: NAME is a word of the catalogue. Returns what the file holds. Returns nothing without `scores`, or after an error,
/// which it reports to `reading`.
FoundScores read_judge(const Node& section, const std::string& label, bool catalogue_word, FieldReader& fields, RaterConfig& config,
                       Reading& reading);

}  // namespace odrpo
