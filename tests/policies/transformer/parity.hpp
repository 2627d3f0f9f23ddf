// How far a transformer in fixed rows is from the CPU's: layer by layer, sites, weights. The same measure for a queue of the host and a
// device.
#pragma once
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "policies/transformer/device/pass_memory.hpp"
#include "policies/transformer/pass.hpp"

namespace odrpo::parity {

/// Largest distance of what two functions give for 0 .. n - 1, relative to the largest of the second; huge where one gives NaN.
template <class A, class B>
double gap(std::size_t n, A a, B b) {
  double worst = 0, size = 1e-30;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = a(i), y = b(i);
    if (!(std::fabs(x - y) < 1e30)) return 1e30;
    worst = std::fmax(worst, std::fabs(x - y));
    size = std::fmax(size, std::fabs(y));
  }
  return worst / size;
}

using Gaps = std::vector<std::pair<std::string, double>>;
inline double worst(const Gaps& gaps) {
  double x = 0;
  for (const auto& g : gaps) x = std::fmax(x, g.second);
  return x;
}

/// Of each block of weights or gradients: got[i] against want(i).
template <class Want>
Gaps of_blocks(const WeightTable& table, const float* got, Want want) {
  Gaps gaps;
  for (const WeightBlock& block : table.blocks)
    gaps.emplace_back(block.name, gap(
                                      block.count(), [&](std::size_t i) { return got[block.at + i]; },
                                      [&](std::size_t i) { return want(block.at + i); }));
  return gaps;
}

/// Of a pass against the CPU's over the same tokens: embedding, each layer (all it keeps, and what it hands on), logits, probabilities.
/// fetch(p, n): n floats from where the pass keeps them.
template <class Fetch>
Gaps of_pass(const DevicePass& p, const TransformerPass& cpu, Fetch fetch) {
  const FixedRows& fixed = p.rows;
  const int d = p.shape.width, v = p.shape.vocabulary, all = rows_of(fixed), prompts = fixed.prompts, prompt_rows = prompt_rows_of(fixed);
  // the fixed rows and sites of those that the CPU has
  std::vector<int> at(cpu.rows().rows), site(cpu.sites()), out(cpu.sites());
  for (std::size_t r = 0; r < at.size(); ++r)
    at[r] =
        static_cast<int>(r) < prompt_rows ? static_cast<int>(r) : first_of(fixed, cpu.rows().at[r] - fixed.prompt) + cpu.rows().sequence[r];
  for (int i = 0; i < cpu.sites(); ++i) {
    site[i] = i < prompts ? i : prompts + at[prompt_rows + i - prompts] - prompt_rows;
    out[i] = row_of_site(fixed, site[i]);
  }
  const auto of = [&](const std::vector<int>& from, const float* where, int count, const float* want, int width) {
    const std::vector<float> got = fetch(where, static_cast<std::size_t>(count) * width);
    return gap(
        from.size() * width, [&](std::size_t i) { return got[static_cast<std::size_t>(from[i / width]) * width + i % width]; },
        [&](std::size_t i) { return want[i]; });
  };
  Gaps gaps{{"embed", of(at, p.layer[0].x, all, cpu.layer[0].x.data(), d)}};
  for (int l = 0; l < p.shape.layers; ++l) {
    const DevicePass::Layer& got = p.layer[l];
    const LayerRows& want = cpu.layer[l];
    double x = of(at, got.qkv, all, want.qkv.data(), 3 * d);
    x = std::fmax(x, of(at, got.mixed, all, want.mixed.data(), d));
    x = std::fmax(x, of(at, got.y, all, want.y.data(), d));
    x = std::fmax(x, of(at, got.up, all, want.up.data(), 4 * d));
    if (l + 1 < p.shape.layers) x = std::fmax(x, of(at, p.layer[l + 1].x, all, cpu.layer[l + 1].x.data(), d));
    else x = std::fmax(x, of(out, p.out, all, cpu.site_x.data(), d));
    gaps.emplace_back("layer" + std::to_string(l), x);
  }
  const int sites = sites_of(fixed);
  gaps.emplace_back("logits", of(site, p.logits, sites, cpu.logits.data(), v));
  gaps.emplace_back("chances",
                    std::fmax(of(site, p.log_total, sites, cpu.log_total.data(), 1), of(site, p.entropy, sites, cpu.entropy.data(), 1)));
  const int tokens = sequences_of(fixed) * p.shape.response;
  const std::vector<float> log_probability = fetch(p.log_probability, tokens);
  gaps.back().second = std::fmax(
      gaps.back().second, gap(
                              tokens, [&](std::size_t i) { return log_probability[i]; }, [&](std::size_t i) { return cpu.log_probability()[i]; }));
  return gaps;
}

}  // namespace odrpo::parity
