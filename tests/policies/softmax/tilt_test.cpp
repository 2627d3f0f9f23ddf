// Tilted starts against their definition: exp(tilt q) in double, and the least-squares fit by orthogonal columns instead of normal
// equations.
#include <cmath>
#include <functional>
#include <random>
#include <tuple>
#include <vector>

#include "kernels/isa.hpp"
#include "policies/softmax/policy.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

namespace {

/// Random values and features of `prompts` x `actions`.
struct Sample {
  int prompts, actions, features, width = 64;
  std::vector<float> feature, value;
  Sample(int p, int a, int f, unsigned seed) : prompts(p), actions(a), features(f) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    feature.assign(static_cast<std::size_t>(p) * f * width, 0.0f);
    value.assign(static_cast<std::size_t>(p) * width, 0.0f);
    for (int i = 0; i < p; ++i) {
      const float centre = normal(random);
      for (int j = 0; j < a; ++j) value[static_cast<std::size_t>(i) * width + j] = 5 + centre + normal(random);
      for (int k = 0; k < f; ++k)
        for (int j = 0; j < a; ++j) x(i, k, j) = normal(random) + centre;
    }
  }
  float& x(int p, int f, int a) { return feature[(static_cast<std::size_t>(p) * features + f) * width + a]; }
  float v(int p, int a) const { return value[static_cast<std::size_t>(p) * width + a]; }
  PolicyShape shape() const { return {prompts, actions, width, 2, 4, features, feature.data()}; }
};

using Rows = std::vector<std::vector<double>>;

/// Columns of the features, then the values, each centred within its prompt: [F + 1][P A].
Rows centred_columns(Sample& s) {
  Rows columns(static_cast<std::size_t>(s.features) + 1);
  for (int f = 0; f <= s.features; ++f)
    for (int p = 0; p < s.prompts; ++p) {
      double mean = 0;
      const auto at = [&](int a) { return static_cast<double>(f < s.features ? s.x(p, f, a) : s.v(p, a)); };
      for (int a = 0; a < s.actions; ++a) mean += at(a) / s.actions;
      for (int a = 0; a < s.actions; ++a) columns[static_cast<std::size_t>(f)].push_back(at(a) - mean);
    }
  return columns;
}

double inner(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// The fit by modified Gram-Schmidt: X = Q R, R theta = Q^T v.
std::vector<double> fit_by_orthogonal_columns(Sample& s) {
  Rows q = centred_columns(s);
  std::vector<double> v = q.back();
  q.pop_back();
  const std::size_t n = q.size();
  Rows r(n, std::vector<double>(n, 0.0));
  std::vector<double> theta(n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      r[i][j] = inner(q[i], q[j]);
      for (std::size_t k = 0; k < q[j].size(); ++k) q[j][k] -= r[i][j] * q[i][k];
    }
    r[j][j] = std::sqrt(inner(q[j], q[j]));
    for (double& x : q[j]) x /= r[j][j];
    theta[j] = inner(q[j], v);
    for (std::size_t k = 0; k < v.size(); ++k) v[k] -= theta[j] * q[j][k];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) theta[i] -= r[i][k] * theta[k];
    theta[i] /= r[i][i];
  }
  return theta;
}

/// Probabilities of every prompt by the definition: a softmax of these logits, in double.
Rows definition(const Sample& s, const std::function<double(int p, int a)>& logit) {
  Rows all;
  for (int p = 0; p < s.prompts; ++p) {
    std::vector<double> row;
    double top = -1e300, sum = 0;
    for (int a = 0; a < s.actions; ++a) top = std::max(top, logit(p, a));
    for (int a = 0; a < s.actions; ++a) row.push_back(std::exp(logit(p, a) - top));
    for (const double e : row) sum += e;
    for (double& e : row) e /= sum;
    all.push_back(row);
  }
  return all;
}

/// A policy that starts tilted has these probabilities, and their means.
void check_start(Sample& s, PolicyKind kind, double tilt, Isa isa, const Rows& wanted) {
  const PolicyShape shape = s.shape();
  SoftmaxPolicy policy(kind, shape, {}, 10, isa);
  std::vector<double> fit;
  if (kind == PolicyKind::linear) fit = fit_linear(shape, s.value.data());
  policy.start_at(tilted_parameters(kind, shape, s.value.data(), fit, tilt));
  const std::uint32_t prompt[] = {1, static_cast<std::uint32_t>(s.prompts - 1)};
  policy.forward(0, prompt);
  for (int b = 0; b < 2; ++b)
    for (int a = 0; a < s.width; ++a) {
      const double pi = static_cast<double>(policy.rows().probability[b * s.width + a]);
      if (a < s.actions) CHECK(pi == Approx(wanted[prompt[b]][static_cast<std::size_t>(a)]).epsilon(2e-5).margin(1e-9));
      else CHECK(pi == 0);
    }
  double quality = 0, kl = 0, entropy = 0;
  for (int p = 0; p < s.prompts; ++p)
    for (int a = 0; a < s.actions; ++a) {
      const double pi = wanted[static_cast<std::size_t>(p)][static_cast<std::size_t>(a)];
      quality += pi * static_cast<double>(s.v(p, a)) / s.prompts;
      if (pi == 0) continue;
      kl += pi * std::log(pi * s.actions) / s.prompts;  // to the uniform policy, wherever this one starts
      entropy -= pi * std::log(pi) / s.prompts;
    }
  const ExactMeans means = policy.exact(s.value.data());
  CHECK(means.quality == Approx(quality).epsilon(1e-5));
  CHECK(means.kl == Approx(kl).epsilon(1e-4).margin(1e-6));
  CHECK(means.entropy == Approx(entropy).epsilon(1e-4).margin(1e-6));
}

}  // namespace

TEST_CASE("the fit of a tilted linear policy is the least-squares fit by orthogonal columns") {
  for (const auto& [prompts, actions, features] : {std::tuple{7, 5, 3}, {20, 33, 24}, {2, 2, 1}, {5, 50, 40}}) {
    Sample s(prompts, actions, features, 11u + static_cast<unsigned>(features));
    const std::vector<double> fit = fit_linear(s.shape(), s.value.data()), wanted = fit_by_orthogonal_columns(s);
    REQUIRE(fit.size() == wanted.size());
    for (std::size_t f = 0; f < fit.size(); ++f) CHECK(fit[f] == Approx(wanted[f]).epsilon(1e-6).margin(1e-7));
    // what the features do not explain is at right angles to them
    Rows columns = centred_columns(s);
    std::vector<double> rest = columns.back();
    for (std::size_t f = 0; f < fit.size(); ++f)
      for (std::size_t k = 0; k < rest.size(); ++k) rest[k] -= fit[f] * columns[f][k];
    for (std::size_t f = 0; f < fit.size(); ++f)
      CHECK(std::fabs(inner(rest, columns[f])) < 1e-7 * std::sqrt(inner(columns[f], columns[f]) * inner(columns.back(), columns.back())));
  }
}

TEST_CASE("a linear value is fitted exactly, whatever a prompt adds to all of its responses") {
  Sample s(6, 9, 4, 3);
  const double theta[] = {0.5, -2, 0, 1.25};
  for (int p = 0; p < s.prompts; ++p)
    for (int a = 0; a < s.actions; ++a) {
      double v = 3.0 * p;
      for (int f = 0; f < 4; ++f) v += theta[f] * static_cast<double>(s.x(p, f, a));
      s.value[static_cast<std::size_t>(p) * s.width + a] = static_cast<float>(v);
    }
  const std::vector<double> fit = fit_linear(s.shape(), s.value.data());
  for (std::size_t f = 0; f < 4; ++f) CHECK(fit[f] == Approx(theta[f]).margin(1e-5));
}

TEST_CASE("a fit with more features than responses that differ is finite and exact, without features that differ it is zero") {
  Sample s(2, 3, 40, 5);  // four differences, forty features
  const std::vector<double> fit = fit_linear(s.shape(), s.value.data());
  const Rows columns = centred_columns(s);
  for (std::size_t k = 0; k < columns.back().size(); ++k) {
    double fitted = 0;
    for (std::size_t f = 0; f < fit.size(); ++f) {
      REQUIRE(std::isfinite(fit[f]));
      fitted += fit[f] * columns[f][k];
    }
    CHECK(fitted == Approx(columns.back()[k]).margin(1e-5));
  }
  std::fill(s.feature.begin(), s.feature.end(), 0.25f);
  CHECK(fit_linear(s.shape(), s.value.data()) == std::vector<double>(40, 0.0));
}

TEST_CASE("a tilted tabular policy starts at pi ~ exp(tilt q), a linear one at the fit of it, the KL divergence is to the uniform policy") {
  for (const Isa isa : {Isa::portable, Isa::avx2})
    for (const int actions : {10, 33}) {
      if (!has_isa(isa)) continue;
      Sample s(9, actions, 6, 7);
      const std::vector<double> fit = fit_by_orthogonal_columns(s);
      for (const double tilt : {0.0, 0.5, 3.0, 1000.0}) {
        INFO(isa_name(isa) << ", " << actions << " actions, tilt " << tilt);
        check_start(s, PolicyKind::tabular, tilt, isa, definition(s, [&](int p, int a) {
                      return static_cast<double>(static_cast<float>(tilt * static_cast<double>(s.v(p, a))));
                    }));
        if (tilt > 10) continue;  // the rounding of logits of thousands shows
        check_start(s, PolicyKind::linear, tilt, isa, definition(s, [&](int p, int a) {
                      double logit = 0;
                      for (int f = 0; f < s.features; ++f)
                        logit += tilt * fit[static_cast<std::size_t>(f)] * static_cast<double>(s.x(p, f, a));
                      return logit;
                    }));
      }
    }
}
