// The length-controlled win rate: a logistic regression of two coefficients by damped Newton steps, in double, with the house's exp and
// log.
#include <vector>

#include "envs/toy_lm/held_out.hpp"
#include "kernels/math.hpp"

namespace odrpo {
namespace {

double tanh_of(double x) {
  const double e = math::exp(-2 * math::abs(x)), t = (1 - e) / (1 + e);
  return x < 0 ? -t : t;
}

// ln(1 + e^x) without overflow
double softplus(double x) { return (x > 0 ? x : 0) + math::log(1 + math::exp(-math::abs(x))); }

double sigmoid(double x) {
  const double e = math::exp(-math::abs(x)), small = e / (1 + e);
  return x < 0 ? small : 1 - small;
}

// Cross-entropy of the preferences, and its ridge.
double loss(std::span<const double> y, std::span<const double> x, double model, double length) {
  double sum = 0.5 * control_ridge * (model * model + length * length);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double s = model + length * x[i];
    sum += softplus(s) - y[i] * s;
  }
  return sum;
}

// tanh of the differences over their sd; zeros when they are all equal
std::vector<double> length_terms(std::span<const double> difference) {
  const double n = static_cast<double>(difference.size());
  double mean = 0, squares = 0;
  bool equal = true;
  for (const double d : difference) {
    mean += d / n;
    equal = equal && d == difference[0];
  }
  for (const double d : difference) squares += (d - mean) * (d - mean);
  const double sd = math::sqrt(squares / n);
  std::vector<double> x(difference.size(), 0.0);
  if (equal) return x;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = tanh_of(difference[i] / sd);
  return x;
}

}  // namespace

LengthControl control_length(std::span<const double> preference, std::span<const double> length_difference) {
  LengthControl fit;
  if (preference.empty()) return fit;
  const std::vector<double> x = length_terms(length_difference);
  double total = 0;
  for (const double y : preference) total += y;
  fit.raw = total / static_cast<double>(preference.size());
  for (const double shift : x) total += shift;
  if (!(total - total == 0)) {  // not finite: there is nothing to fit
    fit.rate = total - total;
    return fit;
  }

  double now = loss(preference, x, 0, 0);
  while (fit.iterations < control_steps && !fit.converged) {
    // gradient (a, b) and Hessian (aa, ab, bb), which the ridge keeps positive
    double a = control_ridge * fit.model, b = control_ridge * fit.length, aa = control_ridge, ab = 0, bb = control_ridge;
    for (std::size_t i = 0; i < preference.size(); ++i) {
      const double p = sigmoid(fit.model + fit.length * x[i]), w = p * (1 - p);
      a += p - preference[i];
      b += (p - preference[i]) * x[i];
      aa += w;
      ab += w * x[i];
      bb += w * x[i] * x[i];
    }
    const double determinant = aa * bb - ab * ab;
    const double da = (bb * a - ab * b) / determinant, db = (aa * b - ab * a) / determinant;
    fit.converged = math::abs(da) <= control_tolerance && math::abs(db) <= control_tolerance;
    double scale = 1;
    for (int halved = 0; halved < 60; ++halved, scale /= 2) {
      const double next = loss(preference, x, fit.model - scale * da, fit.length - scale * db);
      if (next <= now * (1 + 1e-12)) {  // near the minimum the losses differ by rounding alone
        now = next;
        break;
      }
    }
    fit.model -= scale * da;
    fit.length -= scale * db;
    ++fit.iterations;
  }
  fit.rate = sigmoid(fit.model);
  return fit;
}

}  // namespace odrpo
