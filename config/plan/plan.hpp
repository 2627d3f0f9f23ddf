// A suite that has been read and checked, but not yet expanded into runs; and what reads and checks its sections.
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

// [grid] zip as it is written: one axis whose entries set several things at once, such as votes and learn.steps.

/// What `zip` says: its keys, and which of the different values of each key an entry has.
struct ZipText {
  struct Key {
    std::vector<std::string> path;      ///< {"votes"}, {"learn", "steps"}, {"rater", "NAME", "low", "p"}
    std::string label;                  ///< the path as it is written
    Place place;                        ///< in the first entry
    std::vector<std::size_t> of_entry;  ///< of each entry: an index of `values`
    std::vector<Node> values;           ///< all different, in the order of the entries
  };
  Place key_place;
  std::vector<Key> keys;
  std::size_t entries = 0;  ///< 0 = nothing is zipped
};

/// Most entries of `zip`.
inline constexpr std::size_t most_entries = 1000;

/// Reads `grid.zip`, and puts the values of each key into the tree as a list: the sections then read and check them as those of an axis,
/// each at its own place. What is wrong with the entries themselves is an error.
ZipText unfold_zip(Node& root, Diagnostics& errors);

/// A file of scores, as messages show it, what it holds, and the CPU time of learning a judge from it; empty when there is none.
struct FoundScores {
  std::string file, found;
  double seconds = 0;
};

/// A word of a catalogue, or a named variant of one, with its axes.
template <class C>
struct Variant {
  std::string name;
  Place place;
  C config;
  std::vector<GridAxis> axes;
  bool levels_given = false;  ///< env: `levels` stands in its section; otherwise a rater with levels of its own decides
  FoundScores scores{};       ///< rater: what was found in its file of scores
};

/// What reading a suite needs besides its tree, and what it leaves besides its plan.
struct Reading {
  Diagnostics& errors;  ///< every error of the suite goes here
  Diagnostics& files;   ///< and of the files that it names here; told when the suite itself is right
  bool sound = true;    ///< false: parts of the text could not be read, so nothing is said about what is missing
  std::string folder;   ///< the suite's, for paths in it; those of --set are relative to the current one
  /// Of a suite out of a result file, whose text may be a stranger's: the folders below which files that it names are opened, and nothing that
  /// stands in them is told. Empty: anywhere.
  std::vector<std::string> only_below{};
  std::vector<std::string> notes{};  ///< of the files, for Suite::notes
};

/// The file that a value of the suite names.
std::string path_of(const Node& named, const Reading& reading);
/// Its text, read by read_suite_file() or read_scores_file(); nothing, and an error at the value, where it cannot or may not be read.
std::optional<std::string> named_text(const Node& named, const std::string& label, std::string (*read)(const std::string& path), Reading& reading);
/// Adds what is wrong inside it, as one text or as lines.
void add_inside(const Node& named, const std::string& label, const Failure& failure, bool block, Reading& reading);

struct Plan {
  SuiteHead head;
  std::vector<Variant<EnvConfig>> env;  ///< those of the grid, in the grid's order; so the next three
  std::vector<Variant<RaterConfig>> rater;
  std::vector<Variant<PolicyConfig>> policy;
  std::vector<Variant<EstimatorConfig>> estimator;
  std::vector<Variant<RaterConfig>> models;  ///< judges that posterior estimators believe in, besides the runs' own
  std::vector<int> votes;
  Zip zip;
  LearnConfig learn;
  std::vector<GridAxis> learn_axes;
  RecordConfig record;
  TableConfig table;
  GateConfig gate;
  LimitsConfig limits;
};

/// Reads the whole tree; no error stops the reading.
Plan read_plan(const Node& root, Reading& reading);

/// Gives the axes their names and returns them in suite order: file order of their keys, then those that --set brought.
std::vector<const GridAxis*> name_axes(Plan& plan);

/// The plan as TOML with every value written out: loading it gives the same plan. (plan_write.cpp)
std::string write_plan(const Plan& plan);

/// Reads the variants of one section ("rater": all of [rater.NAME]), used or not. (plan/variants.cpp)
template <class C>
std::vector<Variant<C>> read_variants(const Node& root, Reading& reading);

/// Ties the words and axes of a plan, which was read without errors, to the entries of `zip`. A key that is no axis of every run is an
/// error. (plan/zip_axes.cpp)
void tie_zip(const ZipText& text, Plan& plan, Diagnostics& errors);
/// The plan with the runs of one entry alone: its words, and its value on each zipped axis. (plan/zip_axes.cpp)
Plan entry_plan(const Plan& plan, std::size_t entry);

/// Finds the judges that the grid's estimators name as their `model`: of `raters`, of the catalogue, or in files; the names become those of
/// plan.models. (plan/models.cpp)
void read_models(const Node& root, const std::vector<Variant<RaterConfig>>& raters, Plan& plan, Reading& reading);
/// Models fit the grid's worlds, and posterior estimators the grid's raters. `plan`: of one entry of `zip`. (plan/models.cpp)
void check_models(const Node& root, const Plan& plan, Diagnostics& errors);
/// The levels of the scores in the runs of an env and a rater. (plan/models.cpp)
std::vector<std::int64_t> levels_of(const Variant<EnvConfig>& env, const Variant<RaterConfig>& rater);
/// `values` of an estimator ascend; there is one for each level of the runs, and where failed answers score 0, that is below them. `plan`: of
/// one entry of `zip`. (check/votes.cpp)
void check_level_values(const Node& section, const Variant<EstimatorConfig>& variant, Diagnostics& errors);
void check_level_values(const Node& root, const Plan& plan, Diagnostics& errors);

/// What no single key can tell: a batch larger than the world, a key that has no effect where it stands. (check/checks.cpp)
void check_variant(const Node& section, const Variant<EstimatorConfig>& variant, Diagnostics& errors);
void check_variant(const Node& section, const Variant<RaterConfig>& variant, Diagnostics& errors);
void check_variant(const Node& section, const Variant<PolicyConfig>& variant, Diagnostics& errors);
void check_learning(const Node* learn, const Plan& plan, Diagnostics& errors);
/// What the calls of each judge of a panel take and cost: a number for each, and none for all beside them. (check/votes.cpp)
void check_judge_numbers(const Node& section, const Variant<RaterConfig>& variant, Diagnostics& errors);
/// Keys of [learn] that no run feels.
void check_learning_keys(const Node* learn, const Plan& plan, Diagnostics& errors);
/// Worlds have the levels of the raters' matrices.
void check_levels(const Plan& plan, Diagnostics& errors);
/// Policies act in the worlds they are for, judges see what there is. (check/worlds.cpp)
void check_worlds(const Plan& plan, Diagnostics& errors);
/// Keys of the sections [rater.NAME] that need a world which no run has.
void check_world_keys(const Node* raters, const Plan& plan, Diagnostics& errors);
/// `stop` of the grid's raters can end the calls of some run. (check/votes.cpp)
void check_stops(const Node* raters, const Plan& plan, Diagnostics& errors);
/// Votes that stay apart (aggregate = "fraction" or "all") meet estimators that read them, and groups that fit. `plan`: of one entry of
/// `zip`. (check/votes.cpp)
void check_kept_votes(const Node* raters, const Plan& plan, Diagnostics& errors);
/// Estimators by bits meet integer scores alone. (check/votes.cpp)
void check_whole_scores(const Node* raters, const Plan& plan, Diagnostics& errors);
/// The bandit's worlds have something to learn, and something that hacks where hacking is named. (check/worlds.cpp)
void check_bandits(const Node& root, const Plan& plan, Diagnostics& errors);
/// Are all worlds toy language models? Then the bandit's world that a rater brings means nothing.
bool only_texts(const Plan& plan);
/// [table]: rows, columns, baseline and best name what the grid has; `best` is brought to the axes' names.
void check_table(const Node* section, Plan& plan, const std::vector<const GridAxis*>& axes, Diagnostics& errors);
/// Of [table] alone, which check_table() asks for: some run has each of its values; those over an estimator are brought to its name.
/// (check/table_and_gate.cpp)
void check_values(const Node* section, Plan& plan, Diagnostics& errors);
/// [gate]: axes and rows are those of the grid, and are brought to their names; the axis that is meant is written out. (check/table_and_gate.cpp)
void check_gate(const Node* section, Plan& plan, const std::vector<const GridAxis*>& axes, Diagnostics& errors);
/// The values of a dimension of tables as texts; none where the grid has no such dimension. (check/checks.cpp)
std::vector<std::string> dimension_values(const Plan& plan, const std::vector<const GridAxis*>& axes, std::string_view name);
/// The axis that a word means: its name, or its qualified name; else the word. (check/checks.cpp)
std::string axis_word(const std::vector<const GridAxis*>& axes, const std::string& word);

// Reads the keys of [rater.NAME] that make a judge from a file of scores: scores, levels, scale, columns.

/// `scores = "FILE"` and what says how to read it: a channel and a world learned from the file, over which the rest of the section is put.
/// `label`: "rater.NAME"; `catalogue_word`: NAME is a word of the catalogue. Returns what was found in the file, or nothing where the
/// section has no `scores` or something is wrong, which `reading` then tells.
FoundScores read_judge(const Node& section, const std::string& label, bool catalogue_word, FieldReader& fields, RaterConfig& config,
                       Reading& reading);

}  // namespace odrpo
