// Defines a stored baseline: times, counts and checksums of a program, for later comparisons (`gate --save`, `gate --against`).
#pragma once
#include <string>
#include <vector>

#include "gate/conditions.hpp"
#include "gate/measure/measure.hpp"
#include "gate/report/report.hpp"

namespace odrpo {

struct StoredBaseline {
  std::string kind;                   ///< as GateReport::kind
  std::string command;                ///< as it was given; not printable
  std::string clock;                  ///< as GateMeasurement::clock
  std::vector<std::string> sessions;  ///< "2026-11-24T03:00:00Z": when each began; none: only counts and checksums are stored
  std::vector<Condition> conditions;
  std::vector<StoredCase> cases;               ///< at least one, each with as many sessions as there are
  std::vector<std::vector<GateCount>> counts;  ///< [cases], GateCount::baseline; candidate is the same
  std::string counted_by, allocations_by;      ///< as in GateReport

  bool timed() const { return !sessions.empty(); }
};

/// As JSON.
std::string stored_json(const StoredBaseline& stored);
/// Reads it back. Failure io. Failure bad_input for invalid JSON, with path:line:column; for a value that no stored baseline has, with its
/// place in the JSON; for a file that was changed after it was saved.
StoredBaseline read_stored(const std::string& path);
/// The same of the file's text.
StoredBaseline parse_stored(const std::string& text, const std::string& path);

}  // namespace odrpo
