// Rows of a rater's law, and the traits that choose among them.
#include "envs/bandit/channel.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "kernels/failure.hpp"
#include "kernels/math.hpp"
#include "kernels/random.hpp"

namespace odrpo {

LawCache::LawCache(const RaterConfig& rater, int levels, int votes)
    : rater_(rater),
      levels_(levels),
      votes_(votes),
      outcomes_(make_outcomes(rater, levels, votes)),
      stride_((outcomes_.count - 1 + 7) / 8 * 8) {}

void LawCache::append_row(std::uint32_t code, std::vector<std::int32_t>& out) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = rows_.find(code); known != rows_.end()) {
      out.insert(out.end(), known->second.begin(), known->second.end());
      return;
    }
  }
  std::vector<double> call(static_cast<std::size_t>(count_outcomes(rater_, levels_, 1))), law(outcomes_.count);
  call_law(rater_, row_traits(code), levels_, call);
  aggregate_law(rater_, outcomes_, call, votes_, law);
  std::vector<std::int32_t> thresholds(stride_);
  make_thresholds(law, thresholds);
  out.insert(out.end(), thresholds.begin(), thresholds.end());
  const std::lock_guard lock(mutex_);
  rows_.try_emplace(code, std::move(thresholds));
}

std::size_t LawCache::bytes() const {
  BanditConfig env;
  env.levels = levels_;
  const double world = std::min(most_rows(env, rater_), static_cast<double>(env.prompts) * env.actions);
  return std::max(std::size_t{4} << 20, static_cast<std::size_t>(world * stride_ * 4));
}

std::size_t LawCache::rows_made() const {
  const std::lock_guard lock(mutex_);
  return rows_.size();
}

double most_rows(const BanditConfig& env, const RaterConfig& rater) {
  double rows = env.quality == QualityKind::integer ? env.levels : 16.0 * (env.levels - 1) + 1;
  if (has_prompt_spread(rater.noise)) rows *= trait_classes;
  if (veto_share(rater.noise) > 0) rows *= trait_classes + 1;
  if (offset_sd(rater.noise) > 0) rows *= trait_classes;
  for (const Noise& noise : rater.noise) {
    const auto* high = std::get_if<HighOutliers>(&noise);
    const auto* low = std::get_if<LowOutliers>(&noise);
    if ((high && high->target == OutlierTarget::hack) || (low && low->target == OutlierTarget::hack)) return 2 * rows;
  }
  return rows;
}

double row_seconds(const BanditConfig& env, const RaterConfig& rater, int votes) {
  // measured at K = 10: 8 us for the call
  return 8e-6 + (rater.sampling == Sampling::draws || votes == 1 ? 0 : aggregate_seconds(rater, env.levels, votes));
}

double row_bytes(const BanditConfig& env, const RaterConfig& rater, int votes) {
  const double outcomes = count_outcomes(rater, env.levels, rater.sampling == Sampling::draws ? 1 : votes);
  return 32 * math::floor((outcomes - 1 + 7) / 8);
}

std::optional<RatedWorld> rate_world(const BanditWorld& world, const RaterConfig& rater, int votes, std::uint64_t key, LawCache& laws,
                                     const std::atomic<bool>& stop) {
  RatedWorld rated;
  rated.levels = world.levels;
  rated.votes = votes;
  rated.stride = laws.stride();
  rated.sampling = rater.sampling;
  rated.tie = rater.tie;
  rated.aggregate = rater.aggregate;
  rated.lowest = laws.outcomes().lowest;
  rated.gaps = has_gaps(rater);
  rated.real = real_valued(rater, votes);
  rated.missing = laws.outcomes().missing;
  rated.value = laws.outcomes().value;
  rated.row.assign(world.quality16.size(), 0);
  const bool spreads = has_prompt_spread(rater.noise);
  const bool offsets = offset_sd(rater.noise) > 0;
  const double ambiguous = veto_share(rater.noise);
  std::unordered_map<std::uint32_t, std::uint32_t> index;
  for (int p = 0; p < world.prompts; ++p) {
    const std::uint32_t prompt = static_cast<std::uint32_t>(p);
    // 3 bits choose one of 8 equal-probability classes
    const int spread_class = spreads ? static_cast<int>(draw(key, Purpose::trait_spread, 0, prompt, 0).x[0] >> 29) : 0;
    const int offset_class = offsets ? static_cast<int>(draw(key, Purpose::trait_offset, 0, prompt, 0).x[0] >> 29) : 0;
    for (int a = 0; a < world.actions; ++a) {
      const std::size_t cell = static_cast<std::size_t>(p) * world.width + a;
      int veto_class = -1;
      if (ambiguous > 0) {
        const Words4 w = draw(key, Purpose::trait_veto, 0, prompt, static_cast<std::uint32_t>(a));
        if (static_cast<double>(w.x[0]) * 0x1p-32 < ambiguous) veto_class = static_cast<int>(w.x[1] >> 29);
      }
      const std::uint32_t code = row_code(world.quality16[cell], spread_class, veto_class, world.hack[cell] != 0, offset_class);
      auto [at, fresh] = index.try_emplace(code, static_cast<std::uint32_t>(rated.threshold.size()));
      if (fresh) {
        if (stop.load(std::memory_order_relaxed)) return std::nullopt;
        if (rated.threshold.size() + static_cast<std::size_t>(rated.stride) > 0xffffffffu)
          throw Failure(Exit::limits,
                        "the law's table has more than 2^32 entries; use sampling = \"draws\" for this rater, or fewer votes");
        laws.append_row(code, rated.threshold);
      }
      rated.row[cell] = at->second;
    }
  }
  return rated;
}

}  // namespace odrpo
