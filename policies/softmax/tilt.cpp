// Normal equations of the fit, and their solution.
#include "policies/softmax/tilt.hpp"

#include "kernels/math.hpp"

namespace odrpo {
namespace {

constexpr double ridge = 1e-9;  // share of the diagonal's mean

// A symmetric system of n equations: the lower triangle of its matrix, [n][n], and its right side.
struct NormalEquations {
  std::size_t n;
  std::vector<double> matrix, right;
  explicit NormalEquations(std::size_t size) : n(size), matrix(size * size, 0.0), right(size, 0.0) {}
  double* row(std::size_t i) { return &matrix[i * n]; }
};

// Adds the responses of one prompt; `x` is [F][width], scratch [A][F].
void add_prompt(NormalEquations& sums, const PolicyShape& shape, const float* x, const float* value, std::vector<double>& centred) {
  const auto actions = static_cast<std::size_t>(shape.actions), width = static_cast<std::size_t>(shape.width);
  double mean_value = 0;
  for (std::size_t a = 0; a < actions; ++a) mean_value += static_cast<double>(value[a]);
  mean_value /= static_cast<double>(actions);
  for (std::size_t f = 0; f < sums.n; ++f) {
    const float* of = x + f * width;
    double mean = 0;
    for (std::size_t a = 0; a < actions; ++a) mean += static_cast<double>(of[a]);
    mean /= static_cast<double>(actions);
    for (std::size_t a = 0; a < actions; ++a) centred[a * sums.n + f] = static_cast<double>(of[a]) - mean;
  }
  for (std::size_t a = 0; a < actions; ++a) {
    const double* row = &centred[a * sums.n];
    const double v = static_cast<double>(value[a]) - mean_value;
    for (std::size_t i = 0; i < sums.n; ++i) {
      double* to = sums.row(i);
      for (std::size_t j = 0; j <= i; ++j) to[j] += row[i] * row[j];
      sums.right[i] += row[i] * v;
    }
  }
}

// L with L L^T = the matrix, in its place; then L y = right and L^T theta = y, in the right side's place.
void solve(NormalEquations& sums) {
  const std::size_t n = sums.n;
  std::vector<double>& y = sums.right;
  for (std::size_t i = 0; i < n; ++i) {
    double* li = sums.row(i);
    for (std::size_t j = 0; j <= i; ++j) {
      const double* lj = sums.row(j);
      double rest = li[j];
      for (std::size_t k = 0; k < j; ++k) rest -= li[k] * lj[k];
      li[j] = i == j ? math::sqrt(rest) : rest / lj[j];
    }
    double rest = y[i];
    for (std::size_t k = 0; k < i; ++k) rest -= li[k] * y[k];
    y[i] = rest / li[i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) y[i] -= sums.row(k)[i] * y[k];
    y[i] /= sums.row(i)[i];
  }
}

}  // namespace

std::vector<double> fit_linear(const PolicyShape& shape, const float* value) {
  const auto n = static_cast<std::size_t>(shape.features), width = static_cast<std::size_t>(shape.width);
  NormalEquations sums(n);
  std::vector<double> centred(static_cast<std::size_t>(shape.actions) * n);
  for (std::size_t p = 0; p < static_cast<std::size_t>(shape.prompts); ++p)
    add_prompt(sums, shape, shape.feature + p * n * width, value + p * width, centred);
  double trace = 0;
  for (std::size_t i = 0; i < n; ++i) trace += sums.row(i)[i];
  if (trace == 0) return sums.right;  // zeros
  for (std::size_t i = 0; i < n; ++i) sums.row(i)[i] += ridge * trace / static_cast<double>(n);
  solve(sums);
  return sums.right;
}

std::vector<float> tilted_parameters(PolicyKind kind, const PolicyShape& shape, const float* value, std::span<const double> fit,
                                     double tilt) {
  std::vector<float> start;
  if (kind == PolicyKind::linear) {
    for (const double theta : fit) start.push_back(static_cast<float>(tilt * theta));
    return start;
  }
  const std::size_t cells = static_cast<std::size_t>(shape.prompts) * static_cast<std::size_t>(shape.width);
  start.reserve(cells);
  for (std::size_t i = 0; i < cells; ++i) start.push_back(static_cast<float>(tilt * static_cast<double>(value[i])));
  return start;
}

}  // namespace odrpo
