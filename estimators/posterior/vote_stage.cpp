// Products of powers over tiles of responses, and their sums over states. Every element has its own sum, so that all widths give the same
// bits.
#include "estimators/posterior/lanes_of_16.hpp"
#include "estimators/posterior/vote_stages.hpp"
#include "kernels/portable.hpp"

namespace odrpo::ODRPO_ISA {

static void likelihood(const CallModel& m, std::span<const VoteCount> votes, double* out) {
  const std::size_t of_score = static_cast<std::size_t>(m.classes) * static_cast<std::size_t>(m.traits) * m.width;
  for (std::size_t r = 0; r < m.width; r += CallModel::lanes) {
    Tile total = filled(0);
    for (int t = 0; t < m.traits; ++t) {
      Tile of_trait = filled(m.trait[static_cast<std::size_t>(t)]);
      for (std::size_t v = 0, end = 0; v < votes.size(); v = end) {
        Tile of_judge = filled(0);
        for (int u = 0; u < m.classes; ++u) {
          Tile of_class = filled(1.0 / m.classes);
          for (end = v; end < votes.size() && votes[end].judge == votes[v].judge; ++end) {
            const std::size_t score = static_cast<std::size_t>(votes[end].judge * m.scores + votes[end].score);
            const double* call = &m.call[score * of_score + static_cast<std::size_t>(u * m.traits + t) * m.width + r];
            multiply_power(of_class, loaded(call), votes[end].count);
          }
          add(of_judge, of_class);
        }
        multiply(of_trait, of_judge);
      }
      add(total, of_trait);
    }
    store(out + r, total);
  }
}

static void spread_tiles(const CallModel& m, std::span<const std::uint32_t> responses, std::span<const double* const> of,
                         std::span<double* const> to) {
  for (std::size_t at = 0; at < m.states(); at += CallModel::lanes) {
    const double* share = &m.share[at * m.responses()];
    for (std::size_t n = 0; n < of.size(); ++n) {
      Tile sum = filled(0);
      for (const std::uint32_t r : responses) add_product(sum, of[n][r], share + r * CallModel::lanes);
      double out[CallModel::lanes];
      store(out, sum);
      for (std::size_t i = 0; i < CallModel::lanes && at + i < m.states(); ++i) to[n][at + i] = out[i];
    }
  }
}

static void spread(const CallModel& m, std::span<const std::uint32_t> responses, std::span<const double* const> of,
                   std::span<double* const> to) {
  if (m.of_world()) return spread_tiles(m, responses, of, to);
  for (double* out : to)
    for (std::size_t c = 0; c < m.states(); ++c) out[c] = 0;
  for (const CallModel::Run& run : m.runs)
    for (std::size_t n = 0; n < of.size(); ++n) {
      const double x = of[n][run.response];
      if (x == 0) continue;
      const double* share = &m.share[run.offset];
      for (std::size_t i = 0; i < run.count; ++i) to[n][run.first + i] += share[i] * x;
    }
}

extern const VoteStages vote_table;
const VoteStages vote_table = {likelihood, spread};

}  // namespace odrpo::ODRPO_ISA
