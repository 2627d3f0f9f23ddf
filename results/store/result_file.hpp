// The root table of a result file in memory: one entry per run in every column, texts as codes: a million runs fit in little memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace odrpo {

/// A column as the file declares it.
struct ColumnInfo {
  std::string name;
  std::string axis;      ///< the grid axis that it holds ("learn.lr"); empty for any other column
  bool numeric = true;   ///< otherwise text
  bool integer = false;  ///< numeric, and stored as whole numbers: 10000000000000000 is not shown as 1e+16
};

/// Does a column of this name have a fixed meaning, so that no final value may have it?
bool is_reserved_column(const std::string& name);

/// A column that was read. A run without this axis has NaN, or the empty text.
struct Column : ColumnInfo {
  std::vector<double> number;       ///< when numeric: one value per run (int64 columns are exact below 2^53)
  std::vector<std::uint32_t> code;  ///< when text: one index into `words` per run
  std::vector<std::string> words;   ///< when text: the different texts, in the order in which the runs bring them
  std::size_t size() const { return numeric ? number.size() : code.size(); }
  const std::string& text(std::size_t run) const { return words[code[run]]; }
};

/// What a result file says about its suite, and the columns of its root table that were asked for.
struct ResultFile {
  std::string suite, version, status, digest, fingerprint;  ///< as stored
  std::size_t runs = 0;
  std::vector<ColumnInfo> all;  ///< every column of the root table in file order, read or not
  std::vector<Column> columns;  ///< env, rater, policy, estimator, votes, seed, status, all axes, and the columns asked for; in file order
  std::vector<std::uint32_t> rows;  ///< of the file's root table, of runs that were chosen (chosen_runs); empty = all of them
  std::size_t failed = 0;       ///< runs with status "failed"
  std::vector<std::string> failed_ids;  ///< ids of the first of them, at most `failed_ids_kept`
  std::vector<std::pair<std::string, std::string>> provenance;
  std::vector<std::string> curves;  ///< names of the curves of all worlds, each once; read by read_runs() alone
  static constexpr std::size_t failed_ids_kept = 10;

  const ColumnInfo* info(const std::string& name) const;  ///< nullptr when the file has no such column
  const Column* column(const std::string& name) const;    ///< nullptr when absent or not read
  const std::string* provenance_text(const std::string& name) const;
  std::uint32_t row(std::size_t run) const { return rows.empty() ? static_cast<std::uint32_t>(run) : rows[run]; }
  /// Did this run end well? Needs the column `status`.
  bool ok(std::size_t run) const;
};

}  // namespace odrpo
