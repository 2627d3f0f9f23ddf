// Merges runs that several machines trained into one output: each run once, none missing, repeated runs equal. Reads parts without trusting
// them.
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/shared/failure.hpp"
#include "results/store/digest.hpp"
#include "results/store/file/isolate.hpp"
#include "results/store/file/pack.hpp"
#include "results/store/store.hpp"
#include "results/store/work/work_folder.hpp"

namespace odrpo {
namespace {

constexpr std::size_t values_told = 4;

std::string digest_of(const RunRecord& run) { return result_digest({&run, 1}); }

bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (std::isnan(a) && std::isnan(b)); }

template <class Items>
const typename Items::value_type* named(const Items& items, const std::string& name) {
  const auto at = std::find_if(items.begin(), items.end(), [&](const auto& item) { return item.name == name; });
  return at == items.end() ? nullptr : &*at;
}

/// Lists what differs between two records of one run: settings and final values, then for each curve or evaluation its first different
/// value.
std::vector<std::string> differences(const RunRecord& a, const RunRecord& b) {
  std::vector<std::string> told;
  const auto tell = [&](std::string text) {
    if (told.size() < values_told) told.push_back(std::move(text));
  };
  const auto number = [](double x) { return std::isnan(x) ? std::string("n/a") : fmt::format("{:.17g}", x); };
  if (a.key != b.key) tell(fmt::format("key {} and {}", a.key, b.key));
  if (a.step != b.step) tell("other recorded steps");
  const auto only_there = [&](const auto& mine, const auto& theirs, const char* kind) {
    for (const auto& item : theirs)
      if (named(mine, item.name) == nullptr) tell(fmt::format("{}{} in the second alone", kind, item.name));
  };
  for (const Final& value : a.finals) {
    const Final* other = named(b.finals, value.name);
    if (value.name == modelled_seconds) continue;
    if (other == nullptr) tell(fmt::format("{} in the first alone", value.name));
    else if (!same(value.value, other->value)) tell(fmt::format("{} {} and {}", value.name, number(value.value), number(other->value)));
  }
  only_there(a.finals, b.finals, "");
  only_there(a.curves, b.curves, "curve ");
  only_there(a.evaluated, b.evaluated, "evaluation ");
  const auto compare = [&](const std::vector<Curve>& mine, const std::vector<Curve>& theirs, const char* kind, const auto& place) {
    for (const Curve& curve : mine) {
      const Curve* other = named(theirs, curve.name);
      if (other == nullptr || other->values.size() != curve.values.size()) {
        tell(fmt::format("{} {} of another length", kind, curve.name));
        continue;
      }
      const auto [x, y] = std::mismatch(curve.values.begin(), curve.values.end(), other->values.begin(), same);
      if (x != curve.values.end())
        tell(fmt::format("{} {} from {} on ({} and {})", kind, curve.name, place(static_cast<std::size_t>(x - curve.values.begin())),
                         number(*x), number(*y)));
    }
  };
  compare(a.curves, b.curves, "curve", [&](std::size_t i) { return i < a.step.size() ? fmt::format("step {}", a.step[i]) : "its end"; });
  compare(a.evaluated, b.evaluated, "evaluation", [](std::size_t i) { return fmt::format("prompt {}", i); });
  if (told.empty()) told.push_back("its words or axes");
  return told;
}

/// Adds the runs of all sources to the row file; compares a run that comes again with its first record.
class Taker {
 public:
  Taker(store::Merged& merged, MergeReport& report, std::size_t runs) : merged_(merged), report_(report), from_(runs, own) {}
  void take(const RunRecord& run, std::size_t place, std::size_t source) {
    const bool again = merged_.has(place), ok = run.status == RunStatus::ok;
    if (again && merged_.ok[place] && ok) return compare(run, place, source);
    if (!again || ok) from_[place] = static_cast<std::uint32_t>(source);
    else ++report_.equal;
    merged_.add(run, place);
  }

 private:
  void compare(const RunRecord& run, std::size_t place, std::size_t source) {
    merged_.rows.get(merged_.at[place], before_);
    const std::string first = digest_of(before_), second = digest_of(run);
    if (first == second) {
      ++report_.equal;
      return;
    }
    ++report_.differing;
    const std::uint32_t from = from_[place];
    if (report_.conflicts.size() < MergeReport::conflicts_kept)
      report_.conflicts.push_back(
          {run.id, run.env, from == own ? RunConflict::own_source : from, source, first, second, differences(before_, run)});
  }

  static constexpr std::uint32_t own = ~std::uint32_t{0};
  store::Merged& merged_;
  MergeReport& report_;
  std::vector<std::uint32_t> from_;  // index of the source of each run
  RunRecord before_;
};

}  // namespace

MergeReport WorkFolder::merge(std::span<const RunSource> sources, const CheckRun& check) {
  State& s = *state_;
  s.merging = true;
  MergeReport report;
  report.digest = s.finish([&](store::Merged& merged) {
    s.collect_own(merged);  // runs already here; a damaged shard is noted, and its runs count as missing
    Taker taker(merged, report, s.facts.runs);
    for (std::size_t i = 0; i < sources.size(); ++i)
      sources[i].read([&](std::vector<RunRecord>& slab) {
        s.look_at_stop();
        for (const RunRecord& run : slab) {
          const auto place = s.index.find(run.id);
          check(run, place, i);
          if (!place) continue;
          try {
            taker.take(run, *place, i);
          } catch (const Failure& failure) {
            if (failure.code != Exit::internal) throw;
            throw Failure(Exit::bad_input, store::quoted(sources[i].name) + ": " + failure.what());  // the record contradicts itself
          }
        }
      });
    for (std::size_t i = 0; i < s.facts.runs; ++i) {
      if (!merged.has(i)) report.missing.push_back(static_cast<std::uint32_t>(i));
      else if (!merged.ok[i]) ++report.failed;
    }
    return report.missing.empty() && report.differing == 0;
  }).digest;
  return report;
}

// Opens and reads parts of a suite with the same checks as any result file, whoever wrote them.

namespace {

constexpr const char* folder_end = ".work";

store::Folder open_work(const System& system, const std::string& path) {
  return store::open_folder(system, path, "read the work folder");
}

/// Reads the attributes of a result file that anybody may have written.
ResultFile head_of(const store::UntrustedFile& file, const ReadLimits& limits) {
  ResultFile head;
  store::in_child(
      file, limits, limits.memory_bytes / 2, [](store::Reader& reader, const store::Send& send) {
        ResultFile its = reader.head();
        send(store::packed(its));
      },
      [&](std::string_view frame) {
        store::Unpack unpack{frame};
        exchange(unpack, head);
      });
  return head;
}

/// Reads the marker of a work folder (FolderMarker). If it is missing or damaged, takes fingerprint and suite from the first good shard.
store::FolderMarker marker_of(const store::Folder& folder, const std::vector<std::string>& shards, const ReadLimits& limits) {
  store::FolderMarker marker = store::read_marker(folder);
  for (const std::string& name : shards) {
    if (!marker.fingerprint.empty()) break;
    if (const auto image = store::read_shard(folder, name, limits.memory_bytes / 2)) marker = store::read_image(*image, folder.path_of(name), {});
  }
  return marker;
}

Part open_work_folder(const System& system, const std::string& path, const ReadLimits& limits) {
  const store::Folder folder = open_work(system, path);
  const auto refuse = [&](const std::string& why) -> Failure {
    return {Exit::bad_input, store::quoted(path) + " is no work folder of a part: " + why};
  };
  Part part;
  for (const std::string& name : store::names_in(folder))
    if (store::is_shard(name)) part.shards.push_back(name);
  std::stable_sort(part.shards.begin(), part.shards.end(),
                   [](const std::string& a, const std::string& b) { return store::shard_number(a) < store::shard_number(b); });
  const store::FolderMarker marker = marker_of(folder, part.shards, limits);
  if (marker.fingerprint.empty()) throw refuse("it holds no 'suite' that this program wrote");
  store::LockRules rules;
  rules.silence = 600;  // longer than usual, since the clocks of two machines are compared
  const store::LockState lock = store::Lock::look(folder, store::lock_name, rules);
  if (lock.held && !lock.silent)
    throw Failure(Exit::io, store::quoted(path) + " is still being written" + (lock.owner.empty() ? "" : " (" + lock.owner + ")") +
                                "; merge when it is done, or leave it out" +
                                (lock.ahead ? ". Its sign of life is dated in the future: when that process is dead, remove " + store::quoted(folder.path_of(store::lock_name)) : ""));
  part.path = path;
  part.folder = true;
  part.suite = marker.suite;
  part.fingerprint = marker.fingerprint;
  const auto facts = store::read_provenance(folder);
  if (!facts) throw refuse(store::quoted(folder.path_of(store::provenance_name)) + " is missing or damaged");
  part.provenance = *facts;
  return part;
}

Part open_result(const System& system, const std::string& path, const ReadLimits& limits) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 && ::stat((path + folder_end).c_str(), &info) == 0)
    throw Failure(Exit::io, store::quoted(path) + " is not there yet, but " + store::quoted(path + folder_end) +
                                " is: finish that part, or merge the folder");
  ResultFile head = head_of(store::open_untrusted(system, path), limits);
  Part part;
  part.path = path;
  part.suite = head.suite;
  part.fingerprint = head.fingerprint;
  part.digest = head.digest;
  part.runs = head.runs;
  part.provenance = std::move(head.provenance);
  return part;
}

}  // namespace

std::string Part::text(const std::string& name) const {
  const auto at = std::find_if(provenance.begin(), provenance.end(), [&](const auto& entry) { return entry.first == name; });
  return at == provenance.end() ? "" : at->second;
}

Part open_part(const std::string& given, const ReadLimits& limits) {
  std::string path = given;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  ensure_memory(store::hdf5_room);
  store::quiet();
  const System system = posix_system();
  struct stat info {};
  const bool folder = ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
  return store::with_limit_hint([&] { return folder ? open_work_folder(system, path, limits) : open_result(system, path, limits); });
}

std::vector<std::string> read_part(const Part& part, const std::function<void(std::vector<RunRecord>& slab)>& slab, const ReadLimits& limits) {
  const System system = posix_system();
  std::vector<std::string> notes;
  if (!part.folder) {
    const auto same = [&](const ResultFile& head) {
      if (head.digest != part.digest || head.fingerprint != part.fingerprint)
        throw Failure(Exit::io, store::quoted(part.path) + " was replaced while it was read");
    };
    const auto file = store::open_untrusted(system, part.path);
    store::with_limit_hint([&] { store::read_checked_runs(file, limits, true, same, slab); });
    return notes;
  }
  const store::Folder folder = open_work(system, part.path);
  for (const std::string& name : part.shards) {
    const std::string path = folder.path_of(name);
    const auto image = store::read_shard(folder, name, limits.memory_bytes / 2);
    if (!image) {
      notes.push_back("left out a damaged shard: " + store::quoted(path) + " does not have the checksum in its name");
      continue;
    }
    store::read_image(*image, path, [&](const RunRecord& run) {
      if (const std::string fault = store::fault_of(run); !fault.empty())
        throw Failure(Exit::bad_input, store::quoted(path) + " is no shard of odrpo-bench, or is damaged: " + store::one_line(fault));
      std::vector<RunRecord> one{run};
      slab(one);
    });
  }
  return notes;
}

}  // namespace odrpo
