// The definition of training that policies are held against: every parameter in double, every update dense.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "policies/softmax/policy.hpp"
#include "tests/policies/adam_definition.hpp"

namespace odrpo {

struct Dense {
  PolicyKind kind;
  PolicyShape shape;
  OptimizerConfig config;
  int steps;
  std::vector<double> theta, m, v, g;
  std::vector<double> old;  // pi_old of the batch's rollouts
  Dense(PolicyKind k, const PolicyShape& s, const OptimizerConfig& c, int n) : kind(k), shape(s), config(c), steps(n) {
    const std::size_t size = k == PolicyKind::tabular ? static_cast<std::size_t>(s.prompts) * s.actions : s.features;
    theta.assign(size, 0);
    m = v = g = theta;
  }

  double x(int p, int f, int a) const { return shape.feature[(static_cast<std::size_t>(p) * shape.features + f) * shape.width + a]; }

  std::vector<double> probabilities(int p) const {
    std::vector<double> e(shape.actions, 0.0);
    double top = -1e300, sum = 0;
    for (int a = 0; a < shape.actions; ++a) {
      if (kind == PolicyKind::tabular) e[a] = theta[static_cast<std::size_t>(p) * shape.actions + a];
      else
        for (int f = 0; f < shape.features; ++f) e[a] += theta[f] * x(p, f, a);
      top = std::max(top, e[a]);
    }
    for (double& z : e) sum += z = std::exp(z - top);
    for (double& z : e) z /= sum;
    return e;
  }

  void remember(const std::vector<std::uint32_t>& prompt, const std::vector<std::uint16_t>& action) {
    old.assign(action.size(), 0);
    for (std::size_t k = 0; k < action.size(); ++k) old[k] = probabilities(static_cast<int>(prompt[k / shape.rollouts]))[action[k]];
  }

  // Takes the advantage from rollouts whose ratio is closer than `distance` to 1 - clip or 1 + clip; returns from how many.
  int clear_edges(const std::vector<std::uint32_t>& prompt, const std::vector<std::uint16_t>& action, double clip, double distance,
                  std::vector<float>& advantage) const {
    int cleared = 0;
    for (std::size_t k = 0; k < action.size(); ++k) {
      const double rho = probabilities(static_cast<int>(prompt[k / shape.rollouts]))[action[k]] / old[k];
      if (std::fabs(std::fabs(rho - 1) - clip) >= distance || advantage[k] == 0) continue;
      advantage[k] = 0;
      ++cleared;
    }
    return cleared;
  }

  // mean over the kept rollouts of min(rho A, clip(rho) A): Schulman et al. 2017, eq. 7; no clip when ratio_clip is 0
  double surrogate(const std::vector<std::uint32_t>& prompt, const std::vector<std::uint16_t>& action, const std::vector<float>& advantage,
                   const RolloutTerms& terms) const {
    double sum = 0, kept = 0;
    for (std::size_t k = 0; k < action.size(); ++k) {
      if (terms.mask && !terms.mask[k]) continue;
      const double rho = probabilities(static_cast<int>(prompt[k / shape.rollouts]))[action[k]] / old[k], a = advantage[k];
      const double held = terms.ratio_clip > 0 ? std::clamp(rho, 1 - terms.ratio_clip, 1 + terms.ratio_clip) : rho;
      sum += std::min(rho * a, held * a);
      kept += 1;
    }
    return kept > 0 ? sum / kept : 0;
  }

  // Fills g, before the clip of its norm; returns the share of kept rollouts whose ratio was clipped.
  double gradient(const std::vector<std::uint32_t>& prompt, const std::vector<std::uint16_t>& action, const std::vector<float>& advantage,
                  const RolloutTerms& terms) {
    std::fill(g.begin(), g.end(), 0.0);
    double kept = 0, clipped = 0;
    for (std::size_t k = 0; k < action.size(); ++k) kept += !terms.mask || terms.mask[k];
    for (int b = 0; b < shape.batch; ++b) {
      const std::vector<double> pi = probabilities(static_cast<int>(prompt[b]));
      for (int i = 0; i < shape.rollouts; ++i) {
        const int k = b * shape.rollouts + i, chosen = action[k];
        if (terms.mask && !terms.mask[k]) continue;
        double part = advantage[k];
        if (terms.reused) {
          const double rho = pi[chosen] / old[k];
          const bool beyond = (part > 0 && rho > 1 + terms.ratio_clip) || (part < 0 && rho < 1 - terms.ratio_clip);
          const bool over = terms.ratio_clip > 0 && beyond;
          clipped += over;
          part = over ? 0 : part * rho;
        }
        const double c = (part - terms.kl * (1 - 1.0 / shape.actions / pi[chosen])) / kept;
        for (int a = 0; a < shape.actions; ++a) {
          const double d = c * ((a == chosen) - pi[a]);
          if (kind == PolicyKind::tabular) g[static_cast<std::size_t>(prompt[b]) * shape.actions + a] += d;
          else
            for (int f = 0; f < shape.features; ++f) g[f] += d * x(static_cast<int>(prompt[b]), f, a);
        }
      }
    }
    return kept > 0 ? clipped / kept : 0;
  }

  void update(int t) {
    double norm = 0;
    for (double z : g) norm += z * z;
    norm = std::sqrt(norm);
    if (config.clip > 0 && norm > config.clip)
      for (double& z : g) z *= config.clip / norm;
    const double lr = learning_rate(config, t, steps);
    if (config.kind == OptimizerKind::sgd)
      for (std::size_t i = 0; i < theta.size(); ++i) theta[i] += lr * g[i];
    else adam_definition(config, t, lr, static_cast<int>(theta.size()), g.data(), theta.data(), m.data(), v.data());
  }
};

}  // namespace odrpo
