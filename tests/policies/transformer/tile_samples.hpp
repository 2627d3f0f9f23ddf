// What the tests of the transformer's functors share: sizes of batches, random values, distances, and every order of items.
#pragma once
#include <cmath>
#include <cstring>
#include <vector>

#include "tests/catch.hpp"
#include "tests/policies/transformer/host_backend.hpp"
#include "tests/policies/transformer/samples.hpp"

namespace odrpo::host_backend {

using Values = std::vector<float>;
inline Values normals(std::size_t n, unsigned seed) { return transformer_samples::normals<float>(n, seed); }

// Largest distance relative to the largest value.
inline double gap(const Values& a, const Values& b) {
  double worst = 0, size = 1e-30;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(std::fabs(a[i] - b[i]) < 1e30)) return 1e30;  // NaN too
    worst = std::fmax(worst, std::fabs(a[i] - b[i]));
    size = std::fmax(size, std::fabs(b[i]));
  }
  return worst / size;
}

// Runs f(queue) in every order, with and without company: all must write the same bits into `out`. Returns them.
template <class Run>
Values in_any_order(Values& out, Run run) {
  const Values before = out;
  Values first;
  for (const Order order : {Order::forward, Order::reversed, Order::shuffled})
    for (const int extra : {0, 2}) {
      out = before;
      HostBackend q{order, extra};
      run(q);
      if (first.empty()) first = out;
      REQUIRE(std::memcmp(first.data(), out.data(), out.size() * sizeof(float)) == 0);
    }
  return first;
}

// A batch in fixed rows, and the same rows in the order of the CPU's stages: there are no others, as nothing ends early.
struct Sizes {
  int prompts, per_prompt, prompt, response, width, heads;
  FixedRows rows() const { return {prompts, per_prompt, prompt, response}; }
};
inline const Sizes sizes[] = {{3, 4, 2, 4, 16, 2},  {2, 3, 11, 19, 16, 1}, {2, 2, 3, 1, 16, 2},
                              {2, 3, 8, 24, 64, 4}, {1, 3, 8, 24, 128, 4}, {2, 1, 1, 9, 32, 4}};

inline const TransformerStages& stages() { return transformer_stages(best_isa()); }

}  // namespace odrpo::host_backend
