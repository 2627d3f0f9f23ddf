// Answers commands' requests to a result file, in a child process: its root table, curves, evaluations, runs, or a check of the whole file.
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>

#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "results/store/file/isolate.hpp"
#include "results/store/file/pack.hpp"

namespace odrpo {

namespace store {
namespace {

constexpr const char* always_read[] = {"env", "rater", "policy", "estimator", "votes", "seed", "status"};

bool is_wanted(const ColumnInfo& info, const std::vector<std::string>& chosen) {
  const auto names = [&](const auto& list) { return std::find(std::begin(list), std::end(list), info.name) != std::end(list); };
  return !info.axis.empty() || names(always_read) || names(chosen);
}

}  // namespace

void send_table(Reader& reader, const ChooseColumns& choose, const Send& send) {
  ResultFile head = reader.head();
  const auto chosen = choose ? choose(head) : std::vector<std::string>();
  send(packed(head));
  for (std::uint32_t c = 0; c < head.all.size(); ++c) {
    if (!is_wanted(head.all[c], chosen)) continue;
    const auto sent = [&](auto values) {
      Pack pack;
      exchange(pack, c);
      exchange(pack, values);
      send(pack.bytes);
    };
    reader.column(head.all[c].name, [&](const std::vector<double>& numbers) { sent(numbers); },
                  [&](const std::vector<std::string>& texts) { sent(texts); });
  }
}

void TableReceiver::take(std::string_view frame) {
  Unpack unpack{frame};
  if (!std::exchange(has_head_, true)) {
    charge(frame.size());
    return exchange(unpack, result);
  }
  std::uint32_t number = 0;
  exchange(unpack, number);
  Column& to = column(number);
  if (to.numeric) {
    std::vector<double> numbers;
    exchange(unpack, numbers);
    add(to, numbers);
  } else {
    std::vector<std::string> texts;
    exchange(unpack, texts);
    add(to, texts);
  }
}

Column& TableReceiver::column(std::uint32_t number) {
  if (number >= result.all.size()) throw Hdf5Error("the reader broke off");
  const ColumnInfo& info = result.all[number];
  if (!result.columns.empty() && result.columns.back().name == info.name) return result.columns.back();
  codes_.clear();
  Column& fresh = result.columns.emplace_back();
  static_cast<ColumnInfo&>(fresh) = info;
  if (info.numeric) fresh.number.reserve(result.runs);
  else fresh.code.reserve(result.runs);
  return fresh;
}

void TableReceiver::add(Column& column, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    const auto [at, fresh] = codes_.emplace(text, static_cast<std::uint32_t>(column.words.size()));
    if (fresh) {
      charge(8 * text.size() + 256);  // copies of the text: here, in the column, and escaped in a table
      column.words.push_back(text);
    }
    column.code.push_back(at->second);
  }
  charge(texts.size() * sizeof(std::uint32_t));
}

void TableReceiver::add(Column& column, const std::vector<double>& numbers) {
  charge(numbers.size() * sizeof(double));
  column.number.insert(column.number.end(), numbers.begin(), numbers.end());
}

void TableReceiver::charge(std::size_t bytes) {
  if (bytes > room_) throw TooLarge("its table needs more memory than is allowed");
  room_ -= bytes;
}

}  // namespace store

namespace {

constexpr std::uint64_t quickly_checked = std::uint64_t{64} << 20;  // bytes; of a larger file without checksums the digest is trusted

}  // namespace

ResultFile read_results(const std::string& path, const ChooseColumns& choose, const ReadLimits& limits) {
  const System system = posix_system();
  const auto file = store::open_untrusted(system, path);
  store::TableReceiver receiver(limits.memory_bytes / 3);
  const auto read = [&](store::Reader& reader, const store::Send& send) {
    store::send_table(reader, choose, send);
    if (!reader.has_checksums() && file.size() <= quickly_checked && reader.digest() != reader.head().digest)
      throw store::Hdf5Error("its numbers do not have its digest");
    reader.check_runs();
  };
  store::with_limit_hint([&] { store::in_child(file, limits, limits.memory_bytes / 2, read, [&](std::string_view frame) { receiver.take(frame); }); });
  return std::move(receiver.result);
}

Verification verify_results(const std::string& path, const ReadLimits& limits) {
  const System system = posix_system();
  const auto file = store::open_untrusted(system, path);
  return store::with_limit_hint([&] { return store::verify(file, limits); });
}

ReadLimits read_limits(double seconds, double megabytes) {
  constexpr double least_megabytes = 32;  // HDF5 itself needs this much; with less, it calls good files damaged
  ReadLimits limits;
  limits.seconds = seconds;
  if (megabytes > 0 && megabytes < least_megabytes) fail(Exit::usage, "--max-memory: less than 32 MB is not enough for any file");
  if (megabytes > 0) limits.memory_bytes = static_cast<std::size_t>(megabytes * 1e6);
  return limits;
}

// Requests for curves and evaluations: some values of some runs, or all runs as records. A child process reads them.

namespace store {
namespace {

/// Sends a frame for each of these runs with the steps (or prompts) at which its curve `name` is defined, and the values there.
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

/// Reads curves (or evaluations) of some runs. choose(reader) returns `count` names; element n of the result belongs to name n.
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
  std::vector<std::string> shown;
  for (const std::string& name : names) shown.push_back(printable_text(name));
  throw Failure(Exit::usage, "the results have no curve \"" + printable_text(wanted) + "\"" + did_you_mean(wanted, shown) + "\nThere are: " + joined(shown));
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
