// What the transformer's tests share: a tiny model, random numbers and responses, and finite differences.
#pragma once
#include <cmath>
#include <random>
#include <vector>

#include "tests/policies/transformer/definition.hpp"

namespace transformer_samples {

using odrpo::definition::Numbers;

/// Width 16 in two heads, two layers, six words.
inline odrpo::TransformerShape tiny(bool tied) {
  odrpo::TransformerShape s;
  s.vocabulary = 6;
  s.prompt = 2;
  s.response = 4;
  s.width = 16;
  s.layers = 2;
  s.heads = 2;
  s.tied = tied;
  s.end = 0;
  return s;
}

template <class Real = double>
std::vector<Real> normals(std::size_t n, unsigned seed) {
  std::mt19937 g(seed);
  std::normal_distribution<Real> z(0, 1);
  std::vector<Real> x(n);
  for (Real& v : x) v = z(g);
  return x;
}

/// Weights far from the start, so that every part matters: deviation 0.3, gains around 1.
inline Numbers weights(const odrpo::TransformerShape& s, unsigned seed) {
  const odrpo::WeightTable table = odrpo::weight_table(s);
  Numbers w = normals(table.count, seed);
  for (const auto& block : table.blocks)
    for (std::size_t j = 0; j < block.count(); ++j)
      w[block.at + j] = block.deviation == 0 ? 1 + 0.3 * w[block.at + j] : 0.3 * w[block.at + j];
  return w;
}

/// Five responses of unequal length with coefficients of both signs; ratios within and beyond a clip of 0.2, references near and far.
inline std::vector<odrpo::definition::Response> responses(const odrpo::TransformerShape& s, const Numbers& w, double temperature,
                                                          unsigned seed) {
  std::mt19937 g(seed);
  std::normal_distribution<double> z(0, 1);
  std::vector<odrpo::definition::Response> all;
  for (int length : {1, 4, 2, 3, 4}) {
    odrpo::definition::Response r;
    for (int i = 0; i < s.prompt; ++i) r.prompt.push_back(static_cast<int>(g() % s.vocabulary));
    for (int i = 0; i < length; ++i) r.tokens.push_back(static_cast<int>(g() % s.vocabulary));
    r.coefficient = z(g);
    for (double l : odrpo::definition::response_log_probabilities(s, w, temperature, r)) {
      r.old_log.push_back(l + 0.3 * z(g));
      r.reference.push_back(l + 0.5 * z(g));
    }
    all.push_back(r);
  }
  return all;
}

/// Largest distance between `gradient` and central differences of f by x, relative to 1 + size, over count entries from `at` on.
template <class F>
double largest_gap(Numbers& x, const Numbers& gradient, F f, std::size_t at = 0, std::size_t count = static_cast<std::size_t>(-1)) {
  double worst = 0;
  if (count > x.size()) count = x.size();
  for (std::size_t i = at; i < at + count; ++i) {
    const double kept = x[i], h = 1e-5;
    x[i] = kept + h;
    const double above = f();
    x[i] = kept - h;
    const double below = f();
    x[i] = kept;
    worst = std::fmax(worst, std::fabs((above - below) / (2 * h) - gradient[i]) / (1 + std::fabs(gradient[i])));
  }
  return worst;
}

}  // namespace transformer_samples
