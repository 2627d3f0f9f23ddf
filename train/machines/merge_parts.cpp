// Parts are not believed: what a run is called must be what the suite says.
#include "train/machines/merge_parts.hpp"

#include <tuple>
#include <fmt/format.h>

#include "config/spec.hpp"
#include "config/suite.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"
#include "train/run_record.hpp"

namespace odrpo {
namespace {

// Why a record cannot be the suite's run of this place; empty when it can.
std::string contradiction(const RunRecord& run, const RunSpec& spec) {
  const RunRecord expected = failed_record(spec, "");
  if (run.key != expected.key) return fmt::format("its key is {}, that of another configuration; the suite's is {}", printable_text(run.key), expected.key);
  const auto words = [](const RunRecord& r) { return std::tie(r.env, r.rater, r.policy, r.estimator, r.votes, r.seed, r.axes); };
  if (run.status == RunStatus::ok) {
    std::vector<std::int32_t> steps;
    for (int t = 0; t < spec.learn.steps; t += spec.record.every) steps.push_back(t);
    steps.push_back(spec.learn.steps);
    if (run.step != steps) return "its recorded steps are not those of the suite";
  }
  if (words(run) != words(expected)) return "its world, rater, policy, estimator, votes, axes or seed are not those of its id";
  return "";
}

}  // namespace

MergedParts merge_parts(const Suite& suite, const SuiteFacts& facts, std::span<const Part> parts, const MergeSettings& settings) {
  MergedParts out;
  WorkFolder folder(settings.output, facts, settings.force, settings.system, settings.limits.stop);
  if (folder.complete()) {
    out.complete = true;
    out.notes = folder.notes();
    return out;
  }
  std::vector<RunSource> sources;
  for (const Part& part : parts)
    sources.push_back({part.path, [&](const std::function<void(std::vector<RunRecord>&)>& slab) {
                         for (std::string& note : read_part(part, slab, settings.limits)) out.notes.push_back(std::move(note));
                       }});
  const auto check = [&](const RunRecord& run, std::optional<std::size_t> place, std::size_t source) {
    const std::string why = place ? contradiction(run, suite.runs[*place]) : "the suite has no such run";
    if (!why.empty())
      throw Failure(Exit::bad_input, fmt::format("'{}' cannot be merged: run {}: {}", printable_text(parts[source].path), printable_text(run.id), why));
  };
  out.report = folder.merge(sources, check);
  out.notes.insert(out.notes.begin(), folder.notes().begin(), folder.notes().end());
  return out;
}

}  // namespace odrpo
