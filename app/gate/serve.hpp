// Answers a gate's requests as its worker: times named cases of work, by JSON lines (docs/gate.md).
#pragma once
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace odrpo::app {

/// A case that is ready to be timed: the functions that do its work and check its results.
struct TimedWork {
  std::function<void()> reset = [] {};                                   ///< called before each timed run(), and not timed
  std::function<void(long long n)> run;                                  ///< does the unit of work n times; this is timed
  std::function<std::string()> checksum = [] { return std::string(); };  ///< a checksum of what the last run() computed; empty = no checksum
};

struct WorkCase {
  std::string name;
  std::function<TimedWork()> make;  ///< sets the case up; called once, at the first request to time it
};

/// The 64-bit FNV-1a hash of the bytes, as 16 hex digits: a checksum of a case's results.
std::string byte_checksum(const void* bytes, std::size_t count);

/// Answers every line of `in` with one line on `out` until `in` ends. {"list": true} gets the names of the cases; {"case": …, "repeat": n}
/// gets the CPU time of n repetitions in ns, and the checksum; any other line gets {"error": …}.
void serve(std::span<const WorkCase> cases, std::istream& in, std::ostream& out);

}  // namespace odrpo::app
