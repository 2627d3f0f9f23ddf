// The layout of a result file: what read and write must agree on. Private to results/store*. In words: docs/results.md.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/store.hpp"
#include "results/store_hdf5.hpp"

namespace odrpo::store {

/// Root columns with a fixed meaning. Further float64 columns are finals; columns with attribute `axis` are extra grid axes.
inline constexpr const char* text_columns[] = {"id", "env", "rater", "policy", "estimator"};
inline constexpr const char* reserved_columns[] = {
    "run",    "id",    "env", "rater",  "policy",    "estimator", "votes", "seed", "step_time_median",
    "status", "error", "key", "curves", "provenance"};
bool is_reserved(const std::string& name);

/// What a reader refuses to read, stated in docs/results.md.
inline constexpr unsigned long long max_runs = 2'000'000;
inline constexpr unsigned long long max_steps = 10'000'001;
inline constexpr unsigned long long max_objects = 4096;  ///< links in one group
inline constexpr unsigned long long max_chunk_bytes = 64ULL << 20;
inline constexpr unsigned long long max_bytes = 8ULL << 30;  ///< of one file, uncompressed
inline constexpr unsigned long long max_ratio = 1100;        ///< uncompressed / stored; deflate cannot exceed 1032

/// Name of an axis's column: its key with every character outside [A-Za-z0-9_] replaced by '_', made unique.
std::vector<std::string> axis_columns(std::span<const std::string> axis_names);

/// Writes runs (in this order), curves, provenance and root attributes into an empty file. Throws Hdf5Error, or Failure internal
/// when a record contradicts itself. Failed runs become rows of NaN without curves.
void write_layout(hid_t file, std::span<const RunRecord> runs, const SuiteFacts& facts);

/// Reads our layout from the root group of an open file; `fingerprint` (may be null) receives the root attribute. Throws Hdf5Error.
ResultFile read_layout(hid_t root, bool with_curves, std::string* fingerprint);

/// The same in a child process, for files that may crash or hang the HDF5 library. Throws Failure.
ResultFile read_isolated(const std::string& path, bool with_curves, std::string* fingerprint);

/// Opens and reads a file in this process: for shards and outputs that this process has just written or verified. Throws Failure.
ResultFile read_file(const std::string& path, bool with_curves, std::string* fingerprint);

/// Is this an HDF5 file of somebody else's, which nothing may replace? HDF5 can open it (in a child process), and it lacks the root
/// attributes of ours. Throws Failure io.
bool is_foreign(const std::string& path);
inline constexpr std::string_view foreign = "foreign";
/// The same in this process: `whose` becomes `foreign` or empty. The result means nothing.
ResultFile read_owner(const std::string& path, bool, std::string* whose);

}  // namespace odrpo::store
