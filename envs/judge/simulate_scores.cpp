// Simulates scores of a rater in its own world, call by call as in training, and computes how many independent calls N calls are worth.
#include "envs/judge/simulate_scores.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "envs/bandit/channel.hpp"
#include "envs/bandit/sampled_judge.hpp"
#include "envs/bandit/rate.hpp"
#include "envs/bandit/world.hpp"
#include "envs/judge/latent/draw.hpp"
#include "kernels/math.hpp"
#include "kernels/random.hpp"

namespace odrpo {

BanditConfig rated_world(int levels, int prompts, int responses) {
  BanditConfig config;
  config.levels = levels, config.prompts = prompts, config.actions = responses;
  return config;
}

SimulatedScores simulate_scores(RaterConfig rater, BanditConfig config, int samples, std::uint64_t key) {
  config.feature_share = 0;
  const int levels = config.levels, prompts = config.prompts, responses = config.actions;
  const BanditWorld world = make_bandit(config, resolve_source(config, rater), key, false);
  rater.sampling = Sampling::draws;
  rater.aggregate = Aggregate::mode;  // the aggregate has no effect: the calls themselves are kept
  rater.stop = 0;
  DistributionCache distributions(rater, levels, 1);
  const std::atomic<bool> never{false};
  const RatedWorld rated = *rate_world(world, rater, samples, key, distributions, never);

  const int judges = panel_size(rater.noise), rounds = rated.any_judge ? samples : (samples + judges - 1) / judges;
  const std::size_t cells = world.quality16.size();
  SimulatedScores out{panel_columns(levels, judges, rounds), {}};
  std::vector<std::pair<std::uint32_t, std::uint8_t>> calls(static_cast<std::size_t>(samples));  // column, level
  for (int p = 0; p < prompts; ++p) {
    const auto prompt = static_cast<std::uint32_t>(p);
    out.table.prompts.push_back(
        {std::to_string(p + 1), static_cast<std::uint32_t>(out.table.responses.size()), static_cast<std::uint32_t>(responses)});
    for (int r = 0; r < responses; ++r) {
      const std::size_t cell = static_cast<std::size_t>(p) * static_cast<std::size_t>(world.width) + static_cast<std::size_t>(r);
      const auto block = static_cast<std::uint32_t>(r) * static_cast<std::uint32_t>((samples + 3) / 4);
      Words4 word{};
      const CallWords drawn{key, Purpose::vote, 0, prompt, block};
      for (int n = 0; n < samples; ++n) {
        const int turn = rated.any_judge ? sampled_judge(drawn, n, judges) : n % rated.turns;
        if (n % 4 == 0) word = draw(key, Purpose::vote, 0, prompt, block + static_cast<std::uint32_t>(n / 4));
        const std::int32_t* threshold = rated.threshold.data() + rated.row[static_cast<std::size_t>(turn) * cells + cell];
        const auto x = static_cast<std::int32_t>(word.x[n % 4] >> 1);
        const int outcome = static_cast<int>(std::count_if(threshold, threshold + rated.stride, [x](std::int32_t t) { return x > t; }));
        const int score = outcome == rated.missing ? 0 : rated.lowest + outcome;
        const int judge = judges > 1 ? judge_in_turn(key, prompt, turn, judges) : 0;
        calls[static_cast<std::size_t>(n)] = {static_cast<std::uint32_t>(judge * rounds + (rated.any_judge ? n : n / judges)),
                                              static_cast<std::uint8_t>(score)};
        ScoreTable::Judge& of = out.table.judges[static_cast<std::size_t>(judge)];
        ++of.ratings;
        of.unreadable += score == 0;
      }
      std::sort(calls.begin(), calls.end());
      out.table.responses.push_back({static_cast<std::uint32_t>(out.table.level.size()), static_cast<std::uint32_t>(samples), no_gold});
      for (const auto& [column, level] : calls) {
        out.table.column.push_back(column);
        out.table.level.push_back(level);
      }
      out.quality.push_back(world.quality16[cell] / 16.0);
    }
  }
  return out;
}

// Computes error variances from the exact distribution of single calls. If a judge's mean scores of two responses of equal quality differ, the
// difference is an error that all its calls share.

namespace {

constexpr int most_votes = 32;

struct Moments2 {
  double mean = 0, variance = 0;
};

/// Returns mean and variance of a call's score, given that it can be read. `row` is the index of the call's row of thresholds.
Moments2 moments_of_row(const RatedWorld& rated, std::uint32_t row, int outcomes) {
  std::vector<double> distribution(static_cast<std::size_t>(outcomes));
  distribution_of_row(rated, row, distribution);
  double all = 0, sum = 0, squares = 0;
  for (int k = 0; k < outcomes; ++k) {
    if (k == rated.missing) continue;
    const double p = distribution[static_cast<std::size_t>(k)], score = rated.lowest + k;
    all += p, sum += p * score, squares += p * score * score;
  }
  if (!(all > 0)) return {};
  const double mean = sum / all;
  return {mean, squares / all - mean * mean};
}

/// For one judge and one quality: number of responses, and sum of the judge's mean scores of them.
struct Bin {
  double n = 0, sum = 0;
};

/// Returns the lasting error of a judge about a response, which all its calls share. It is the judge's mean score of the response - its mean over all
/// responses of equal quality. The root corrects for the response's own part in that mean.
double lasting_error(const Bin& bin, const Moments2& call) {
  return bin.n > 1 ? (call.mean - bin.sum / bin.n) * math::sqrt(bin.n / (bin.n - 1)) : 0;
}

using Calls = std::vector<std::pair<const Bin*, Moments2>>;  // of one response: for each judge its Bin and the moments of a call

/// Returns the error variance of the mean of N calls to random judges. All calls share the judges' mean error. All else, severity included, is
/// independent noise of a call.
double of_any_judge(const Calls& of, int votes) {
  double quality = 0;  // mean score over judges of responses of this quality
  for (const auto& [bin, call] : of) quality += bin->sum / bin->n / static_cast<double>(of.size());
  double shared = 0, squares = 0, noise = 0;
  for (const auto& [bin, call] : of) {
    const double severity = bin->sum / bin->n - quality, error = severity + lasting_error(*bin, call);
    shared += error / static_cast<double>(of.size());
    squares += error * error / static_cast<double>(of.size());
    noise += call.variance / static_cast<double>(of.size());
  }
  return shared * shared + (noise + squares - shared * shared) / votes;
}

}  // namespace

std::vector<EffectiveVotes> effective_votes(RaterConfig rater, BanditConfig config, std::uint64_t key) {
  config.feature_share = 0;
  for (Noise& noise : rater.noise)
    if (auto* offset = std::get_if<SeverityOffset>(&noise)) offset->sd = 0;
  rater.sampling = Sampling::draws;
  rater.aggregate = Aggregate::mode;
  rater.stop = 0;
  const BanditWorld world = make_bandit(config, resolve_source(config, rater), key, false);
  DistributionCache distributions(rater, config.levels, 1);
  const std::atomic<bool> never{false};
  const RatedWorld rated = *rate_world(world, rater, most_votes, key, distributions, never);
  const int judges = panel_size(rater.noise), turns = rated.turns, outcomes = distributions.outcomes().count;
  const std::size_t cells = world.quality16.size();

  std::map<std::uint32_t, Moments2> known;  // by index of the row of thresholds
  std::map<std::pair<int, int>, Bin> bins;  // by (quality, judge)
  std::vector<Calls> calls;                 // [responses][turns]
  for (int p = 0; p < world.prompts; ++p)
    for (int a = 0; a < world.actions; ++a) {
      const std::size_t cell = static_cast<std::size_t>(p) * static_cast<std::size_t>(world.width) + static_cast<std::size_t>(a);
      auto& of = calls.emplace_back();
      for (int turn = 0; turn < turns; ++turn) {
        const std::uint32_t row = rated.row[static_cast<std::size_t>(turn) * cells + cell];
        const auto [at, fresh] = known.try_emplace(row);
        if (fresh) at->second = moments_of_row(rated, row, outcomes);
        const int judge = judges > 1 ? judge_in_turn(key, static_cast<std::uint32_t>(p), turn, judges) : 0;
        Bin& bin = bins[{world.quality16[cell], judge}];
        bin.n += 1, bin.sum += at->second.mean;
        of.emplace_back(&bin, at->second);
      }
    }
  // error variance of the mean of N calls, summed over responses. Calls to one judge share its lasting error, but not their noise
  const auto error_variance = [&](int votes) {
    double sum = 0;
    for (const auto& of : calls) {
      if (rated.any_judge) {
        sum += of_any_judge(of, votes);
        continue;
      }
      double shared = 0, noise = 0;
      for (int turn = 0; turn < std::min(turns, votes); ++turn) {
        const double n = calls_of_turn(votes, turn, turns);
        const auto& [bin, call] = of[static_cast<std::size_t>(turn)];
        shared += n * lasting_error(*bin, call);
        noise += n * call.variance;
      }
      sum += (shared * shared + noise) / (static_cast<double>(votes) * votes);
    }
    return sum;
  };
  double one = 0;  // error variance of a single call, summed over responses; a mean over judges if these answer in turn
  if (rated.any_judge) one = error_variance(1);
  else
    for (const auto& of : calls)
      for (const auto& [bin, call] : of) {
        const double shared = lasting_error(*bin, call);
        one += (shared * shared + call.variance) / turns;
      }
  std::vector<EffectiveVotes> out;
  for (int votes = 1; votes <= most_votes; votes *= 2)
    out.push_back({votes, one > 1e-9 ? one / error_variance(votes) : std::numeric_limits<double>::quiet_NaN()});
  return out;
}

}  // namespace odrpo
