// Draws the traits of prompts and responses, and finds for them the row of thresholds of the rater's distribution.
#include "envs/bandit/channel.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "kernels/math.hpp"
#include "kernels/random.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo {

DistributionCache::DistributionCache(const RaterConfig& rater, int levels, int votes)
    : rater_(rater),
      channel_(rater.noise, levels),
      levels_(levels),
      votes_(votes),
      outcomes_(make_outcomes(rater, levels, votes)),
      stride_((outcomes_.count - 1 + 7) / 8 * 8) {}

void DistributionCache::append_row(std::uint64_t code, std::vector<std::int32_t>& out) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = rows_.find(code); known != rows_.end()) {
      out.insert(out.end(), known->second.begin(), known->second.end());
      return;
    }
  }
  std::vector<double> call(static_cast<std::size_t>(count_outcomes(rater_, levels_, 1))), distribution(outcomes_.count);
  call_distribution(rater_, channel_, row_traits(code), levels_, call);
  aggregate_distribution(rater_, outcomes_, call, votes_, distribution);
  std::vector<std::int32_t> thresholds(stride_);
  make_thresholds(distribution, thresholds);
  out.insert(out.end(), thresholds.begin(), thresholds.end());
  const std::lock_guard lock(mutex_);
  rows_.try_emplace(code, std::move(thresholds));
}

double DistributionCache::calls(std::uint64_t code, int votes) {
  const std::pair key(code, votes);
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = calls_.find(key); known != calls_.end()) return known->second;
  }
  std::vector<double> call(static_cast<std::size_t>(count_outcomes(rater_, levels_, 1)));
  call_distribution(rater_, channel_, row_traits(code), levels_, call);
  const double expected = aggregate_calls(rater_, call, votes);
  const std::lock_guard lock(mutex_);
  return calls_.try_emplace(key, expected).first->second;
}

double DistributionCache::expected_score(std::uint64_t code) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = expected_.find(code); known != expected_.end()) return known->second;
  }
  std::vector<double> row(static_cast<std::size_t>(levels_));
  channel_.row(row_traits(code), row);
  double mean = 0;
  for (std::size_t k = 0; k < row.size(); ++k) mean += static_cast<double>(k + 1) * row[k];
  const std::lock_guard lock(mutex_);
  return expected_.try_emplace(code, mean).first->second;
}

std::size_t DistributionCache::bytes() const {
  BanditConfig env;
  env.levels = levels_;
  const double world = std::min(most_rows(env, rater_), static_cast<double>(env.prompts) * env.actions);
  return std::max(std::size_t{4} << 20, static_cast<std::size_t>(world * stride_ * 4));
}

std::size_t DistributionCache::rows_made() const {
  const std::lock_guard lock(mutex_);
  return rows_.size();
}

double most_rows(const BanditConfig& env, const RaterConfig& rater) {
  double rows = env.quality == QualityKind::integer ? env.levels : 16.0 * (env.levels - 1) + 1;
  if (has_prompt_spread(rater.noise)) rows *= trait_classes;
  if (veto_share(rater.noise) > 0) rows *= trait_classes + 1;
  if (offset_sd(rater.noise) > 0) rows *= trait_classes;
  if (bias_sd(rater.noise) > 0) rows *= trait_classes;
  if (const ScoredResponses* responses = scored_responses(rater.noise))
    rows = static_cast<double>(responses->rows()) * (veto_share(rater.noise) > 0 ? trait_classes + 1 : 1);
  rows *= latent_rows(rater.noise);
  for (const Noise& noise : rater.noise) {
    const auto* high = std::get_if<HighOutliers>(&noise);
    const auto* low = std::get_if<LowOutliers>(&noise);
    if ((high && high->target == OutlierTarget::hack) || (low && low->target == OutlierTarget::hack)) return 2 * rows;
  }
  return rows;
}

int judge_turns(const RaterConfig& rater, int votes) {
  const int judges = panel_size(rater.noise);
  return rater.sampling != Sampling::draws ? 1 : draws_judges(rater) ? judges : std::min(judges, votes);
}

double expected_rows(const BanditConfig& env, const RaterConfig& rater, int votes, int worlds) {
  // expected number of different rows in n uniform draws from m rows: m (1 - (1 - 1/m)^n)
  const auto met = [](double n, double m) { return m * (1 - math::exp(-n / m)); };
  const double asked = static_cast<double>(judge_turns(rater, votes)) * worlds * env.prompts * env.actions;
  const double veto = veto_share(rater.noise), all = most_rows(env, rater), plain = veto > 0 ? all / (trait_classes + 1) : all;
  return met(asked * (1 - veto), plain) + (veto > 0 ? met(asked * veto, all - plain) : 0);
}

double row_seconds(const BanditConfig& env, const RaterConfig& rater, int votes) {
  // time of one call's distribution, measured at K = 10; a latent scale takes longer
  return (latent_scale(rater.noise) != nullptr ? 8e-6 : 2.5e-6) + (rater.sampling == Sampling::draws || votes == 1 ? 0 : aggregate_seconds(rater, env.levels, votes));
}

double row_bytes(const BanditConfig& env, const RaterConfig& rater, int votes) {
  const double outcomes = count_outcomes(rater, env.levels, rater.sampling == Sampling::draws ? 1 : votes);
  return 32 * math::floor((outcomes - 1 + 7) / 8);
}

double rated_bytes(const BanditConfig& env, const RaterConfig& rater, int votes) {
  const double cells = static_cast<double>(env.prompts) * ((env.actions + 31) / 32 * 32);
  if (rater.aggregate == Aggregate::expected) return 4 * cells;
  return 4 * judge_turns(rater, votes) * cells + 1.5 * expected_rows(env, rater, votes, 1) * row_bytes(env, rater, votes);  // the table grows by doubling
}

double distribution_bytes(const BanditConfig& env, const RaterConfig& rater, int votes, double rows) {
  constexpr double node = 112;  // bytes of one element of std::map, with its vector
  return rows * (row_bytes(env, rater, votes) + node);
}

namespace {

// 3 bits of a random word choose one of the 8 equally likely classes of a trait
int trait_class(std::uint32_t word) { return static_cast<int>(word >> 29); }

// Draws those traits of a world's prompts and responses that a rater's noise needs.
class WorldTraits {
 public:
  WorldTraits(const BanditWorld& world, const RaterConfig& rater, std::uint64_t key)
      : world_(world),
        scale_(latent_scale(rater.noise)),
        judges_(panel_size(rater.noise)),
        key_(key),
        spreads_(has_prompt_spread(rater.noise)),
        offsets_(offset_sd(rater.noise) > 0),
        biases_(bias_sd(rater.noise) > 0),
        ambiguous_(veto_share(rater.noise)) {}

  // traits of a prompt, with the judge that answers call `turn` about its responses
  Traits of(std::uint32_t prompt, int turn) const {
    Traits t;
    if (spreads_) t.spread_class = trait_class(draw(key_, Purpose::trait_spread, 0, prompt, 0).x[0]);
    if (offsets_) t.offset_class = trait_class(draw(key_, Purpose::trait_offset, 0, prompt, 0).x[0]);
    if (judges_ > 1) t.judge = judge_in_turn(key_, prompt, turn, judges_);
    return t;
  }

  // adds the traits of a response to those of its prompt, `t`
  Traits of(Traits t, std::uint32_t prompt, std::uint32_t response) const {
    const std::size_t cell = static_cast<std::size_t>(prompt) * static_cast<std::size_t>(world_.width) + response;
    if (ambiguous_ > 0) {
      const Words4 w = draw(key_, Purpose::trait_veto, 0, prompt, response);
      if (static_cast<double>(w.x[0]) * 0x1p-32 < ambiguous_) t.veto_class = trait_class(w.x[1]);
    }
    t.hack = world_.hack[cell] != 0;
    if (!world_.distribution.empty()) t.distribution = static_cast<int>(world_.distribution[cell]) * judges_ + t.judge;
    t.quality = world_.quality16[cell] / 16.0;
    if (biases_) t.bias_class = trait_class(draw(key_, Purpose::trait_bias, 0, prompt, response).x[0]);
    if (scale_ == nullptr) return t;
    if (scale_->spread > 0) t.spread_class = trait_class(draw(key_, Purpose::trait_response, 0, prompt, response).x[0]);
    if (scale_->judge_sigma > 0)
      t.judge_class = trait_class(draw(key_, Purpose::trait_error, static_cast<std::uint32_t>(t.judge), prompt, response).x[0]);
    return t;
  }

 private:
  const BanditWorld& world_;
  const LatentScale* scale_;
  int judges_;
  std::uint64_t key_;
  bool spreads_, offsets_, biases_;
  double ambiguous_;
};

// Sets each reward to the mean over `votes` calls of the call's expected score; the judges of a panel answer in turn.
void rate_by_expectation(const BanditWorld& world, const WorldTraits& traits, int panel, DistributionCache& distributions, RatedWorld& rated) {
  rated.expected.assign(world.quality16.size(), 0.0f);
  const int turns = std::min(panel, rated.votes);
  for (int p = 0; p < world.prompts; ++p) {
    const auto prompt = static_cast<std::uint32_t>(p);
    for (int a = 0; a < world.actions; ++a) {
      double sum = 0;
      for (int turn = 0; turn < turns; ++turn) {
        const int calls = calls_of_turn(rated.votes, turn, turns);
        sum += calls * distributions.expected_score(row_code(traits.of(traits.of(prompt, turn), prompt, static_cast<std::uint32_t>(a))));
      }
      rated.expected[static_cast<std::size_t>(p) * world.width + a] = static_cast<float>(sum / rated.votes);
    }
  }
}

}  // namespace

std::optional<RatedWorld> rate_world(const BanditWorld& world, const RaterConfig& rater, int votes, std::uint64_t key, DistributionCache& distributions,
                                     const std::atomic<bool>& stop) {
  RatedWorld rated;
  rated.levels = world.levels;
  rated.votes = votes;
  rated.stride = distributions.stride();
  rated.sampling = rater.sampling;
  rated.tie = rater.tie;
  rated.aggregate = rater.aggregate;
  rated.lowest = distributions.outcomes().lowest;
  rated.gaps = has_gaps(rater);
  rated.real = real_valued(rater, votes);
  rated.missing = distributions.outcomes().missing;
  rated.value = distributions.outcomes().value;
  const WorldTraits traits(world, rater, key);
  if (rater.aggregate == Aggregate::expected) {
    rate_by_expectation(world, traits, panel_size(rater.noise), distributions, rated);
    return rated;
  }
  rated.any_judge = draws_judges(rater);
  rated.turns = judge_turns(rater, votes);
  if (stops_early(rater, votes)) rated.stop = rater.stop;
  const std::size_t cells = world.quality16.size();
  rated.row.assign(static_cast<std::size_t>(rated.turns) * cells, 0);
  std::unordered_map<std::uint64_t, std::uint32_t> index;
  for (int turn = 0; turn < rated.turns; ++turn)
    for (int p = 0; p < world.prompts; ++p) {
      const auto prompt = static_cast<std::uint32_t>(p);
      const Traits of_prompt = traits.of(prompt, turn);
      for (int a = 0; a < world.actions; ++a) {
        const std::size_t cell = static_cast<std::size_t>(p) * world.width + a;
        const std::uint64_t code = row_code(traits.of(of_prompt, prompt, static_cast<std::uint32_t>(a)));
        auto [at, fresh] = index.try_emplace(code, static_cast<std::uint32_t>(rated.threshold.size()));
        if (fresh) {
          if (stop.load(std::memory_order_relaxed)) return std::nullopt;
          if (rated.threshold.size() + static_cast<std::size_t>(rated.stride) > 0xffffffffu)
            throw Failure(Exit::limits,
                          "the law's table has more than 2^32 entries; use sampling = \"draws\" for this rater, or fewer votes");
          distributions.append_row(code, rated.threshold);
          if (rated.stop > 0 && rated.turns == 1) rated.calls.push_back(distributions.calls(code, votes));
        }
        rated.row[static_cast<std::size_t>(turn) * cells + cell] = at->second;
      }
    }
  return rated;
}

void distribution_of_row(const RatedWorld& rated, std::uint32_t row, std::span<double> distribution) {
  const std::int32_t* t = rated.threshold.data() + row;
  double before = 0;
  for (std::size_t k = 0; k < distribution.size(); ++k) {
    const double below = k + 1 < distribution.size() ? (static_cast<double>(t[k]) + 1) * 0x1p-31 : 1.0;
    distribution[k] = below - before;
    before = below;
  }
}

}  // namespace odrpo
