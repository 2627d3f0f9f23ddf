// An estimator for odrpo-bench as a shared library in C++: [estimator.mine] library = "./libgrpo.so".
// c++ -std=c++20 -O2 -shared -fPIC -I$(dirname $(command -v odrpo-bench))/../include grpo.cpp -o libgrpo.so
#include <odrpo_estimator.h>

#include <cmath>
#include <span>

namespace {

void group(std::span<const double> scores, double* out) {  // NaN = missing
  double sum = 0, squares = 0, n = 0, low = INFINITY, high = -INFINITY;
  for (const double s : scores)
    if (!std::isnan(s)) sum += s, ++n, low = std::fmin(low, s), high = std::fmax(high, s);
  for (const double s : scores)
    if (!std::isnan(s)) squares += (s - sum / n) * (s - sum / n);
  for (const double s : scores) *out++ = std::isnan(s) || low == high ? 0 : (s - sum / n) / std::sqrt(squares / n);
}

}  // namespace

int odrpo_estimator_version() { return ODRPO_ESTIMATOR_VERSION; }

int odrpo_estimate(const odrpo_batch* batch, double* advantages) {
  const auto members = static_cast<std::size_t>(batch->members);
  for (std::size_t g = 0; g < static_cast<std::size_t>(batch->groups); ++g) group({batch->scores + g * members, members}, advantages + g * members);
  return 0;
}
