// Finds and prints what differs between two result files: settings, runs, values.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "results/store/record.hpp"

namespace odrpo {

/// A setting of the suites' resolved text ("learn.lr"), as each file writes it; empty where a file has none.
struct SettingDiff {
  std::string key, a, b;
};

/// A column of numbers that differs between runs of the same id, b - a. Printable.
struct ValueDiff {
  std::string column;
  std::size_t runs = 0;       ///< whose numbers differ, or that only one file defines
  std::size_t undefined = 0;  ///< of those, the ones that only one file defines
  double mean = 0;            ///< of b - a over all common runs that both define; NaN when there is none
  double largest = 0;         ///< the b - a of the largest absolute value; NaN likewise
  std::string run;            ///< id of the run that has it
};

struct FileDiff {
  std::vector<SettingDiff> settings;          ///< in the order of a, then those that only b has
  std::vector<SettingDiff> programs;          ///< version, revision, compiler, cpu, isa, device: what computed the numbers
  std::vector<std::string> only_a, only_b;    ///< ids of runs, the first `ids_kept` of each
  std::size_t count_a = 0, count_b = 0;       ///< how many these are
  std::size_t common = 0;                     ///< runs of both files
  std::size_t other_key = 0, other_status = 0;  ///< of these: with another configuration; failed in one file alone
  std::vector<ValueDiff> values;              ///< most differing runs first; without timings
  std::size_t columns = 0;                    ///< numeric columns without timings that both files have
  bool same_digest = false;                   ///< equal ids, values and curves: the same science
  static constexpr std::size_t ids_kept = 10;
};

/// The columns that diff_files needs: `id`, `key`, and every final value.
std::vector<std::string> diff_columns(const ResultFile& head);
/// Both files have read diff_columns().
FileDiff diff_files(const ResultFile& a, const ResultFile& b);

// What differs between two result files, as parts of a page.

/// "key", then what A and B have, each in lines of its own; empty without settings.
std::string settings_page(const char* title, const std::vector<SettingDiff>& list);
/// Runs that only one file has: the first ids, and how many more; empty without runs.
std::string ids_page(const char* which, const std::vector<std::string>& ids, std::size_t count);
/// The columns of numbers that differ, B - A; empty where the files have no run in common.
std::string values_page(const FileDiff& diff);

}  // namespace odrpo
