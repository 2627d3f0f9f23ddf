// What commands ask of the curves of a result file: one curve of some runs, or all runs as records. Read in a child process.
#include <cmath>

#include "kernels/failure.hpp"
#include "kernels/utf8.hpp"
#include "kernels/words.hpp"
#include "results/store_isolate.hpp"
#include "results/store_pack.hpp"
#include "results/suggest.hpp"

namespace odrpo {
namespace store {
namespace {

/// Sends a frame for each run.
void send_curve(Reader& reader, const std::string& curve, const std::vector<std::uint32_t>& runs, const std::string& digest,
                const Send& send) {
  if (reader.head().digest != digest) throw Hdf5Error("it was replaced while it was read");
  std::vector<std::int32_t> step;
  std::vector<double> value;
  reader.curve(curve, runs, [&](std::uint32_t run, const std::vector<std::int32_t>& steps, const double* values) {
    step.clear();
    value.clear();
    for (std::size_t s = 0; s < steps.size(); ++s)
      if (!std::isnan(values[s])) {
        step.push_back(steps[s]);
        value.push_back(values[s]);
      }
    if (step.empty()) return;
    Pack pack;
    exchange(pack, run);
    exchange(pack, step);
    exchange(pack, value);
    send(pack.bytes);
  });
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
  const System system = posix_system();
  const auto file = store::open_untrusted(system, path);
  const std::vector<std::uint32_t> rows(runs.begin(), runs.end());
  std::vector<RunCurve> curves;
  std::size_t room = limits.memory_bytes / 3;
  store::with_limit_hint([&] {
    store::in_child(
        file, limits, limits.memory_bytes / 2,
        [&](store::Reader& reader, const store::Send& send) {
          store::send_curve(reader, curve_named(reader.curve_names(), curve), rows, digest, send);
        },
        [&](std::string_view frame) {
          store::Unpack unpack{frame};
          if (frame.size() > room)
            throw Failure(Exit::limits, "reading " + store::quoted(path) + ": its curves need more memory than is allowed");
          room -= frame.size();
          RunCurve& run = curves.emplace_back();
          exchange(unpack, run.run);
          exchange(unpack, run.step);
          exchange(unpack, run.value);
          if (run.step.size() != run.value.size()) throw store::Hdf5Error("the reader broke off");
        });
  });
  return curves;
}

void read_runs(const std::string& path, const std::function<void(const ResultFile& head)>& head,
               const std::function<void(std::vector<RunRecord>& slab)>& slab, const ReadLimits& limits) {
  const System system = posix_system();
  const auto file = store::open_untrusted(system, path);
  store::with_limit_hint([&] { store::read_checked_runs(file, limits, true, head, slab); });
}

}  // namespace odrpo
