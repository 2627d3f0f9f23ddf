// A world is made and rated as in training; the calls are kept instead of their aggregate.
#include "envs/judge/simulate_scores.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include "envs/bandit/channel.hpp"
#include "envs/bandit/drawn_judge.hpp"
#include "envs/bandit/world.hpp"
#include "envs/judge/latent/draw.hpp"
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
  rater.aggregate = Aggregate::mode;  // calls are kept, not aggregated
  rater.stop = 0;
  LawCache laws(rater, levels, 1);
  const std::atomic<bool> never{false};
  const RatedWorld rated = *rate_world(world, rater, samples, key, laws, never);

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
        const int turn = rated.any_judge ? drawn_judge(drawn, n, judges) : n % rated.turns;
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

}  // namespace odrpo
