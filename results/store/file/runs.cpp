// What commands ask of the curves and evaluations of a result file: some of some runs, or all runs as records. Read in a child process.
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "kernels/shared/failure.hpp"
#include "kernels/shared/suggest.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"
#include "results/store/file/isolate.hpp"
#include "results/store/file/pack.hpp"

namespace odrpo {
namespace store {
namespace {

/// Sends a frame for each run that has any of these values defined.
void send_values(Reader& reader, Sheets sheet, const std::string& name, const std::vector<std::uint32_t>& runs, std::uint32_t number,
                 const Send& send) {
  std::vector<std::int32_t> place;
  std::vector<double> value;
  reader.values(sheet, name, runs, [&](std::uint32_t run, const std::vector<std::int32_t>& places, const double* values) {
    place.clear();
    value.clear();
    for (std::size_t s = 0; s < places.size(); ++s)
      if (!std::isnan(values[s])) {
        place.push_back(places[s]);
        value.push_back(values[s]);
      }
    if (place.empty()) return;
    Pack pack;
    exchange(pack, number);
    exchange(pack, run);
    exchange(pack, place);
    exchange(pack, value);
    send(pack.bytes);
  });
}

/// Some values of some runs: place n has those of `count` names that choose(reader) gives.
std::vector<std::vector<RunCurve>> read_values(const std::string& path, Sheets sheet, std::size_t count,
                                               const std::function<std::vector<std::string>(Reader&)>& choose,
                                               std::span<const std::uint32_t> runs, const std::string& digest, const ReadLimits& limits) {
  const System system = posix_system();
  const auto file = open_untrusted(system, path);
  const std::vector<std::uint32_t> rows(runs.begin(), runs.end());
  std::vector<std::vector<RunCurve>> read(count);
  std::size_t room = limits.memory_bytes / 3;
  with_limit_hint([&] {
    in_child(
        file, limits, limits.memory_bytes / 2,
        [&](Reader& reader, const Send& send) {
          if (reader.head().digest != digest) throw Hdf5Error("it was replaced while it was read");
          std::uint32_t number = 0;
          for (const std::string& name : choose(reader)) send_values(reader, sheet, name, rows, number++, send);
        },
        [&](std::string_view frame) {
          Unpack unpack{frame};
          if (frame.size() > room)
            throw Failure(Exit::limits,
                          "reading " + quoted(path) + ": its " + sheet_kinds[sheet].group + " need more memory than is allowed");
          room -= frame.size();
          std::uint32_t number = 0;
          exchange(unpack, number);
          if (number >= count) throw Hdf5Error("the reader broke off");
          RunCurve& run = read[number].emplace_back();
          exchange(unpack, run.run);
          exchange(unpack, run.step);
          exchange(unpack, run.value);
          if (run.step.size() != run.value.size()) throw Hdf5Error("the reader broke off");
        });
  });
  return read;
}

}  // namespace
}  // namespace store

std::string curve_named(const std::vector<std::string>& names, const std::string& wanted) {
  for (const std::string& name : names)
    if (name == wanted) return name;
  for (const std::string& name : names)
    if (same_word(name, wanted)) return name;
  std::string known;
  for (const std::string& name : names) known += (known.empty() ? "" : ", ") + printable_text(name);
  throw Failure(Exit::usage,
                "the results have no curve \"" + printable_text(wanted) + "\" (they have " + known + ")" + did_you_mean(wanted, names));
}

std::vector<RunCurve> read_curve(const std::string& path, const std::string& curve, std::span<const std::uint32_t> runs,
                                 const std::string& digest, const ReadLimits& limits) {
  const auto choose = [&](store::Reader& reader) { return std::vector{curve_named(reader.value_names(store::sheet_curves), curve)}; };
  return std::move(store::read_values(path, store::sheet_curves, 1, choose, runs, digest, limits)[0]);
}

std::vector<std::vector<RunCurve>> read_evaluated(const std::string& path, const std::vector<std::string>& names,
                                                  std::span<const std::uint32_t> runs, const std::string& digest,
                                                  const ReadLimits& limits) {
  const auto choose = [&](store::Reader& reader) {
    const auto known = reader.value_names(store::sheet_evaluated);
    for (const std::string& name : names)
      if (std::find(known.begin(), known.end(), name) == known.end())
        throw Failure(Exit::usage, known.empty()
                                       ? "the results have no evaluations per prompt: those of toy-lm runs have, from result schema 3 on"
                                       : "the results have no \"" + printable_text(name) + "\" per evaluated prompt");
    return names;
  };
  return store::read_values(path, store::sheet_evaluated, names.size(), choose, runs, digest, limits);
}

void read_runs(const std::string& path, const std::function<void(const ResultFile& head)>& head,
               const std::function<void(std::vector<RunRecord>& slab)>& slab, const ReadLimits& limits) {
  const System system = posix_system();
  const auto file = store::open_untrusted(system, path);
  store::with_limit_hint([&] { store::read_checked_runs(file, limits, true, head, slab); });
}

}  // namespace odrpo
