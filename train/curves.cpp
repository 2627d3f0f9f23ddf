// Defines the table of curves: name, unit, meaning, and the runs that have each curve.
#include "train/curves.hpp"

#include <iterator>

#include "config/catalogue/catalogue.hpp"
#include "config/catalogue/env_config.hpp"
#include "config/spec.hpp"

namespace odrpo {
namespace {

/// Which runs have a curve, as a test and in words.
struct Runs {
  bool (*has)(const RunSpec& spec);
  const char* text;
};
constexpr Runs all{[](const RunSpec&) { return true; }, "all"};
constexpr Runs of_texts{[](const RunSpec& spec) { return spec.env.kind == WorldKind::toy_lm; }, "env toy-lm"};
constexpr Runs of_gaps{[](const RunSpec& spec) { return reward_kind(spec).gaps; }, "those in which responses may end without a score"};
constexpr Runs of_clips{[](const RunSpec& spec) { return spec.learn.ratio_clip > 0; }, "`ratio_clip` above 0"};
constexpr Runs of_gradients{[](const RunSpec& spec) { return spec.env.kind == WorldKind::bandit && spec.record.gradient > 0; },
                            "env bandit with `[record] gradient` above 0"};

constexpr Runs of_resampling{[](const RunSpec& spec) { return spec.learn.dead_groups == DeadGroups::resample; }, "`dead_groups = \"resample\"`"};

struct CurveRow {
  CurveText text;
  Runs runs;
};
constexpr CurveRow row(const char* name, const char* unit, const char* meaning, const Runs& runs = all) {
  return {{name, unit, meaning, runs.text}, runs};
}
constexpr CurveRow rows[] = {  // in the order of CurveId
    row("quality", "levels", "true quality of the policy. bandit: exact mean over all prompts; toy-lm: mean over 256 held-out prompts"),
    row("reward", "levels", "mean seen reward of the batch: what the judge says"),
    row("batch_quality", "levels", "mean true quality of the same responses"),
    row("kl", "nats", "KL divergence to the reference. bandit: exact mean over all prompts; toy-lm: k3, mean over the batch's tokens"),
    row("entropy", "nats", "entropy of the policy. bandit: exact mean over all prompts; toy-lm: mean over the batch's tokens"),
    row("advantage_rms", "", "root mean square of the estimator's advantages in the batch, before whitening"),
    row("advantage_min", "", "smallest of them"),
    row("advantage_max", "", "largest of them"),
    row("dead_groups", "share", "share of groups whose scores are all equal; of a step that draws several batches, of all groups drawn"),
    row("dead_levels", "share", "share of levels 2..K (1..K where failures score 0) that all or none of a group reach, mean over groups"),
    row("clean", "share", "share of the held-out responses that violate no requirement", of_texts),
    row("length", "words", "mean length of the held-out responses", of_texts),
    row("repeats", "words", "mean number of words per held-out response that stood earlier in it", of_texts),
    row("gradient_norm", "", "norm of the gradient before clipping", of_texts),
    row("missing", "share", "share of responses without a score", of_gaps),
    row("clipped", "share", "share of rollouts (toy-lm: of tokens) that the ratio clip left out since the record before", of_clips),
    row("gradient_cosine", "", "cosine of the batch's mean redrawn gradient with the exact gradient of its expected true quality",
        of_gradients),
    row("gradient_snr", "", "squared norm of the mean gradient over the variance of one redraw", of_gradients),
    row("drawn_rollouts", "rollouts", "rollouts of all steps so far, those of dropped groups too", of_resampling),
};
static_assert(std::size(rows) == all_curves);

const CurveRow& row_of(CurveId id) { return rows[static_cast<int>(id)]; }

}  // namespace

const char* curve_name(CurveId id) { return row_of(id).text.name; }

CurveText curve_text(CurveId id) { return row_of(id).text; }

bool has_curve(const RunSpec& spec, CurveId id) { return row_of(id).runs.has(spec); }

int curve_count(const RunSpec& spec) {
  int count = 0;
  for (const CurveRow& r : rows) count += r.runs.has(spec);
  return count;
}

}  // namespace odrpo
