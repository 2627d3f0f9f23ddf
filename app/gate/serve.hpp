// A worker of the gate: answers JSON lines about cases of work (docs/gate.md).
#pragma once
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace odrpo::app {

/// A case that is set up: what is timed, and what it computed.
struct TimedWork {
  std::function<void()> reset = [] {};                                   ///< before every repetition, outside the clock
  std::function<void(long long n)> run;                                  ///< the unit of work, n times
  std::function<std::string()> checksum = [] { return std::string(); };  ///< of the last repetition; empty: none
};

struct WorkCase {
  std::string name;
  std::function<TimedWork()> make;  ///< sets the case up, once, when it is asked for first
};

/// 64 bits of FNV-1a over bytes, as 16 hex digits: a checksum of what a case has written.
std::string byte_checksum(const void* bytes, std::size_t count);

/// Answers every line of `in` with one line on `out` until `in` ends: {"list": true} with the cases, {"case": …, "repeat": n} with CPU time
/// and checksum, all else with {"error": …}.
void serve(std::span<const WorkCase> cases, std::istream& in, std::ostream& out);

}  // namespace odrpo::app
