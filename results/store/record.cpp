// Looks up columns and texts in the root table of a result file.
#include "results/store/record.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace odrpo {
namespace {

constexpr std::string_view reserved_columns[] = {
    "run",    "id",    "env", "rater",  "policy",    "estimator", "votes",     "seed", "step_time_median",
    "status", "error", "key", "curves", "evaluated", "rollouts", "seconds", "provenance"};

}  // namespace

bool is_reserved_column(const std::string& name) {
  return std::find(std::begin(reserved_columns), std::end(reserved_columns), name) != std::end(reserved_columns);
}

const ColumnInfo* ResultFile::info(const std::string& name) const {
  const auto found = std::find_if(all.begin(), all.end(), [&](const ColumnInfo& c) { return c.name == name; });
  return found == all.end() ? nullptr : &*found;
}

const Column* ResultFile::column(const std::string& name) const {
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return c.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

const std::string* ResultFile::provenance_text(const std::string& name) const {
  for (const auto& [key, text] : provenance)
    if (key == name) return &text;
  return nullptr;
}

bool ResultFile::ok(std::size_t run) const {
  const Column* status = column("status");
  return status && status->text(run) == "ok";
}

}  // namespace odrpo
