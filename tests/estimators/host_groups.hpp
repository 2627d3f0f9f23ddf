// The host backend of the device's kernels: the same functors, lanes in turn. And the cases that both are compared over.
#pragma once
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "estimators/batch.hpp"
#include "estimators/group_warp.hpp"
#include "tests/estimators/configs.hpp"

namespace odrpo::host_backend {

/// Advantages of groups as the device's blocks, warps and lanes make them; shared memory begins as garbage.
inline void estimate(const BatchEstimator& estimator, const std::uint8_t* score, std::size_t groups, float* out) {
  EstimatorView view = estimator.view();
  std::vector<float> alone(view.levels + 1);
  if (view.rollouts == 1) {
    for (int s = 0; s <= view.levels; ++s) {
      const std::uint8_t one = static_cast<std::uint8_t>(s);
      estimator(estimator_stages(Isa::portable), &one, 1, &alone[s]);
    }
    view.term = alone.data();
  }
  group_pass::choose(view, [&](const auto& pass, auto size) {
    using namespace group_pass;
    constexpr int G = decltype(size)::value;
    constexpr unsigned threads = threads_of<G>;
    for (unsigned block = 0; block * std::size_t{threads} < groups; ++block) {
      std::vector<std::uint32_t> shared(shared_bytes<G>(pass) / sizeof(std::uint32_t), 0xdeadbeefu);
      for (unsigned warp = 0; warp < threads / lanes; ++warp) {
        const Warp w = warp_of<G>(shared.data(), block, warp, score, groups, out);
        if (w.first >= groups) break;
        if constexpr (G > 0) {
          for (unsigned lane = 0; lane < lanes; ++lane) prepare_packed<G>(pass, w, lane);
          for (unsigned lane = 0; lane < lanes; ++lane) write_packed<G>(pass, w, lane);
        } else {
          for (unsigned lane = 0; lane < lanes; ++lane) prepare_loose(pass, w, lane);
          for (unsigned lane = 0; lane < lanes; ++lane) write_loose(pass, w, lane);
        }
      }
    }
  });
}

/// An estimator and groups for it.
struct Case {
  EstimatorConfig config;
  int levels, rollouts, groups;
  std::vector<std::uint8_t> score;
};

inline std::string text_of(const Case& c) {
  return odrpo::text_of(c.config) + ", G " + std::to_string(c.rollouts) + ", K " + std::to_string(c.levels) + ", groups " +
         std::to_string(c.groups);
}

/// Every config on a scale, with groups of every spread from all equal to uniform; 0 is a score too where `zeros`.
inline std::vector<Case> cases(int levels, int rollouts, int groups, unsigned seed) {
  std::vector<Case> all;
  std::mt19937 random(seed);
  for (const EstimatorConfig& config : every_config()) {
    Case c{config, levels, rollouts, groups, std::vector<std::uint8_t>(static_cast<std::size_t>(groups) * rollouts)};
    for (int g = 0; g < groups; ++g) {
      const int span = 1 + static_cast<int>(random() % (levels + 1)), low = static_cast<int>(random() % (levels + 2 - span));
      for (int i = 0; i < rollouts; ++i)
        c.score[static_cast<std::size_t>(g) * rollouts + i] = static_cast<std::uint8_t>(low + random() % span);
    }
    all.push_back(std::move(c));
  }
  return all;
}

inline BatchEstimator estimator_of(const Case& c) {
  BatchEstimator estimator(c.config, c.levels, c.rollouts);
  if (estimator.needs_median()) estimator.set_median(0.5 + 0.5 * c.levels);
  return estimator;
}

/// Scales and sizes of group: the usual ones, their neighbours, the largest.
struct Shape {
  int levels, rollouts;
};
inline constexpr Shape shapes[] = {{10, 8},  {5, 16}, {5, 8},  {10, 16}, {1, 8},  {2, 16},  {3, 8},  {16, 8},  {16, 16},  {17, 8},
                                   {17, 16}, {10, 1}, {10, 2}, {9, 3},   {10, 7}, {10, 12}, {4, 31}, {100, 8}, {100, 64}, {100, 255}};

}  // namespace odrpo::host_backend
