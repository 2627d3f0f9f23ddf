// Solves for corrected scores by the singular values of the judge's channel, and measures what they leave wrong.
#include "estimators/corrected.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "estimators/level_values.hpp"
#include "kernels/math.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo {
namespace {

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// The columns of a matrix [n][n] that becomes W = C V, V orthogonal, by one-sided Jacobi rotations: the columns of W are orthogonal, and
/// their lengths are the singular values of C. Accurate for small singular values too.
struct Columns {
  std::size_t n;
  std::vector<double> w, v;  ///< [n][n] column after column

  std::span<double> of(std::vector<double>& m, std::size_t i) const { return std::span(m).subspan(i * n, n); }

  /// Makes columns p and q orthogonal. Returns false if they are already.
  bool rotate(std::size_t p, std::size_t q) {
    const double a = dot(of(w, p), of(w, p)), b = dot(of(w, q), of(w, q)), c = dot(of(w, p), of(w, q));
    constexpr double rounding = 1e-15;
    if (!(math::abs(c) > rounding * math::sqrt(a * b))) return false;
    const double zeta = (b - a) / (2 * c), tangent = (zeta < 0 ? -1 : 1) / (math::abs(zeta) + math::sqrt(1 + zeta * zeta));
    const double cosine = 1 / math::sqrt(1 + tangent * tangent), sine = cosine * tangent;
    for (std::vector<double>* m : {&w, &v})
      for (std::size_t i = 0; i < n; ++i) {
        const double x = (*m)[p * n + i], y = (*m)[q * n + i];
        (*m)[p * n + i] = cosine * x - sine * y;
        (*m)[q * n + i] = sine * x + cosine * y;
      }
    return true;
  }
};

double worth(std::span<const double> values, double level) { return values.empty() ? level : value_of_score(values, level); }

std::string number_text_of(double x) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, x, std::chars_format::general, 4).ptr);
}

}  // namespace

CorrectedScores corrected_scores(std::span<const double> channel, std::span<const double> values) {
  std::size_t n = 0;
  while (n * n < channel.size()) ++n;
  Columns m{n, std::vector<double>(n * n), std::vector<double>(n * n, 0.0)};
  for (std::size_t j = 0; j < n; ++j) {
    double total = 0;
    for (std::size_t k = 0; k < n; ++k) total += channel[j * n + k];
    for (std::size_t k = 0; k < n; ++k) m.w[k * n + j] = channel[j * n + k] / total;
    m.v[j * n + j] = 1;
  }
  constexpr int most_sweeps = 60;  // about 10 are needed
  bool moved = true;
  for (int sweep = 0; sweep < most_sweeps && moved; ++sweep) {
    moved = false;
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) moved = m.rotate(p, q) || moved;
  }
  // c = V diag(1 / s^2) W' R, s = lengths of the columns of W
  CorrectedScores out{std::vector<double>(n, 0.0)};
  double least = std::numeric_limits<double>::infinity(), largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::span<double> w = m.of(m.w, i), v = m.of(m.v, i);
    const double square = dot(w, w);
    least = std::min(least, square), largest = std::max(largest, square);
    double along = 0;
    for (std::size_t j = 0; j < n; ++j) along += w[j] * worth(values, static_cast<double>(j + 1));
    for (std::size_t k = 0; k < n && square > 0; ++k) out.score[k] += v[k] * along / square;
  }
  out.condition = least > 0 ? math::sqrt(largest / least) : std::numeric_limits<double>::infinity();
  return out;
}

std::vector<double> mean_channel(std::span<const LevelChannel> kinds) {
  std::vector<double> mean(kinds.front().probability.size(), 0.0);
  for (const LevelChannel& kind : kinds)
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += kind.weight * kind.probability[i];
  return mean;
}

std::optional<std::string> correction_refusal(const EstimatorConfig& config, const CorrectedScores& scores) {
  std::string why;
  if (!(scores.condition <= most_condition))
    why = "the channel has the condition number " + number_text_of(scores.condition) + ", and corrected scores need at most " + number_text_of(most_condition);
  for (std::size_t k = 1; k < scores.score.size(); ++k)
    if (!(scores.score[k] > scores.score[k - 1])) {
      why += std::string(why.empty() ? "" : "; ") + "corrected scores would not increase: " + std::to_string(k) + " -> " +
             number_text_of(scores.score[k - 1]) + ", " + std::to_string(k + 1) + " -> " + number_text_of(scores.score[k]);
      break;
    }
  const FormRow& row = row_of(config.form);
  const double least = scores.score.front() + config.origin - 1;
  if (why.empty() && row.basis == Basis::reward && row.divisor == Divisor::mean && least < 0)
    why = std::string(row.word) + " divides by the mean, and the corrected score 1 -> " + number_text_of(scores.score.front()) +
          (config.origin == 0 ? " less 1" : "") + " is below 0; it is not shifted, since " + std::string(row.word) + " depends on the origin";
  return why.empty() ? std::nullopt : std::optional(why);
}

EstimatorConfig corrected_form(const EstimatorConfig& config, const CorrectedScores& scores) {
  if (const auto why = correction_refusal(config, scores)) throw Failure(Exit::limits, estimator_word(config) + ": " + *why);
  return with_values(form_of(config), scores.score);
}

CorrectionBias correction_bias(const CorrectedScores& scores, std::span<const double> values, std::span<const LevelChannel> kinds, int per_level) {
  CorrectionBias bias;
  const std::size_t levels = scores.score.size(), qualities = kinds.front().probability.size() / levels;
  for (std::size_t q = 0; q < qualities; ++q) {
    const double value = worth(values, 1 + static_cast<double>(q) / per_level);
    double mean = 0, square = 0;
    for (const LevelChannel& kind : kinds) {
      const auto row = std::span(kind.probability).subspan(q * levels, levels);
      double total = 0;
      for (const double p : row) total += p;
      const double off = dot(row, scores.score) / total - value;
      mean += kind.weight * off, square += kind.weight * off * off;
    }
    bias.between = std::max(bias.between, math::abs(mean));
    bias.kinds = std::max(bias.kinds, math::sqrt(square));
    if (q % static_cast<std::size_t>(per_level) == 0) bias.levels = std::max(bias.levels, math::abs(mean));
  }
  return bias;
}

}  // namespace odrpo
