// Finds and prints the differences between two result files: settings, runs, values.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "results/store/record.hpp"

namespace odrpo {

/// A setting that differs ("learn.lr"), as each file's resolved suite text writes it; empty if a file lacks it.
struct SettingDiff {
  std::string key, a, b;
};

/// How a numeric column differs (b - a) between the runs of files a and b with the same id. Texts are printable.
struct ValueDiff {
  std::string column;
  std::size_t runs = 0;       ///< runs whose numbers differ, or that have a number in only one file
  std::size_t undefined = 0;  ///< of those, runs that have a number in only one file
  double mean = 0;            ///< mean of b - a over all common runs with a number in both files; NaN if there is none
  double largest = 0;         ///< the difference b - a with the largest absolute value; NaN if there is none
  std::string run;            ///< id of the run with the largest difference
};

struct FileDiff {
  std::vector<SettingDiff> settings;          ///< in the order of file a, then settings that only b has
  std::vector<SettingDiff> programs;          ///< version, revision, compiler, cpu, isa, device that differ
  std::vector<std::string> only_a, only_b;    ///< ids of runs that only one file has, the first `ids_kept` of each
  std::size_t count_a = 0, count_b = 0;       ///< number of runs that only a has, and that only b has
  std::size_t common = 0;                     ///< number of runs in both files
  std::size_t other_key = 0, other_status = 0;  ///< common runs whose configurations (RunRecord::key) differ; that failed in only one file
  std::vector<ValueDiff> values;              ///< columns that differ, those with most differing runs first; without timings
  std::size_t columns = 0;                    ///< number of numeric columns, without timings, that both files have
  bool same_digest = false;                   ///< the result digests are equal, and so ids, values and curves
  static constexpr std::size_t ids_kept = 10;
};

/// The columns that diff_files needs: `id`, `key`, and every final value.
std::vector<std::string> diff_columns(const ResultFile& head);
/// Compares two files, which must both have read diff_columns().
FileDiff diff_files(const ResultFile& a, const ResultFile& b);

// Prints the differences between two result files, as parts of a page.

/// Prints each setting that differs: its key, then the values in A and B, each on its own line. Empty if no setting differs.
std::string settings_page(const char* title, const std::vector<SettingDiff>& list);
/// Prints the runs that only one file has: the first ids, and how many more. Empty if there are none.
std::string ids_page(const char* which, const std::vector<std::string>& ids, std::size_t count);
/// Prints the columns of numbers that differ, B - A. Empty if the files have no run in common.
std::string values_page(const FileDiff& diff);

}  // namespace odrpo
