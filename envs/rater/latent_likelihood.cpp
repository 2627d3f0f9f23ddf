// From what many responses share to what differs: tables of answers at places, of patterns given b, then a sum over prompts.
#include "envs/rater/latent_likelihood.hpp"

#include <algorithm>

#include "kernels/math.hpp"

namespace odrpo {
namespace {

/// Points at equal steps over +-end with normal weights: for smooth functions as good as quadrature gets.
NormalNodes equal_steps(double step, double end) {
  NormalNodes nodes;
  const int half = static_cast<int>(end / step);
  double sum = 0;
  for (int i = -half; i <= half; ++i) {
    const double x = i * step;
    nodes.point.push_back(x);
    nodes.weight.push_back(math::exp(-0.5 * x * x));
    sum += nodes.weight.back();
  }
  for (double& w : nodes.weight) w /= sum;
  return nodes;
}

/// P(level 1..K | place) at every place, into row[level - 1][place]; sd > 0.
void level_rows(const NormalTable& normal, std::span<const double> thresholds, std::span<const double> place, double shift, double sd,
                std::vector<double>& row) {
  const std::size_t n = place.size(), cuts = thresholds.size();
  for (std::size_t i = 0; i < n; ++i) {
    double at = -64, tail = 0;  // the threshold below, and Phi of it in the smaller tail
    for (std::size_t k = 0; k <= cuts; ++k) {
      const double next = k < cuts ? (thresholds[k] - place[i] - shift) / sd : 64.0, next_tail = normal.tail(next);
      double p = 0;
      if (next <= 0) p = next_tail - tail;
      else if (at >= 0) p = tail - next_tail;
      else p = 1 - tail - next_tail;
      row[k * n + i] = p > 0 ? p : 0;
      at = next;
      tail = next_tail;
    }
  }
}

/// into[x] += weight * product over levels of row[level][x]^count
void add_product(const ScorePatterns::Answer& answer, std::span<const double> row, std::size_t n, double weight, double* into,
                 std::vector<double>& product) {
  std::fill(product.begin(), product.end(), weight);
  for (const auto& [level, count] : answer.given) {
    const double* p = &row[(level - 1u) * n];
    for (std::uint32_t c = 0; c < count; ++c)
      for (std::size_t i = 0; i < n; ++i) product[i] *= p[i];
  }
  for (std::size_t i = 0; i < n; ++i) into[i] += product[i];
}

}  // namespace

NormalTable::NormalTable() {
  for (int i = 0; i <= cells; ++i) {
    const double x = static_cast<double>(i) / per_unit;
    at_.push_back(0.5 * math::erfc(x * 0.70710678118654752));
    at_.push_back(-0.3989422804014327 * math::exp(-0.5 * x * x) / per_unit);
  }
}

LatentLikelihood::LatentLikelihood(const ScorePatterns& patterns, const LatentGrid& grid)
    : patterns_(patterns),
      b_(equal_steps(grid.b_step, 4.5)),
      x_(equal_steps(grid.x_step, 5)),
      u_(equal_steps(grid.u_step, 4)),
      z_(normal_nodes(grid.z_nodes)),
      by_prompt_(patterns.prompts()) {}

void LatentLikelihood::tabulate_answers(const LatentScale& judge) {
  const std::size_t n = x_.point.size(), answers = patterns_.answers.size(), spreads = judge.spread > 0 ? z_.point.size() : 1;
  answer_.assign(spreads * answers * n, 0.0);
  largest_.assign(answers, 0.0);
  std::vector<double> row(static_cast<std::size_t>(judge.levels) * n), product(n);
  const double noise = math::sqrt(judge.sigma * judge.sigma + judge.judge_sigma * judge.judge_sigma);
  for (std::size_t z = 0; z < spreads; ++z) {
    const double s = spreads > 1 ? math::exp(judge.spread * z_.point[z]) : 1.0;
    for (std::uint32_t j = 0; j < static_cast<std::uint32_t>(judge.judges()); ++j) {
      const auto add = [&](double shift, double sd, double weight, bool once) {
        level_rows(normal_, judge.thresholds(static_cast<int>(j)), x_.point, shift, sd, row);
        for (std::size_t a = 0; a < answers; ++a) {
          const auto& answer = patterns_.answers[a];
          if (answer.judge == j && (answer.calls == 1 || judge.judge_sigma == 0) == once)
            add_product(answer, row, n, weight, &answer_[(z * answers + a) * n], product);
        }
      };
      add(0, s * noise, 1, true);
      bool repeats = false;
      for (const auto& answer : patterns_.answers) repeats |= answer.judge == j && answer.calls > 1;
      if (judge.judge_sigma > 0 && repeats)
        for (std::size_t u = 0; u < u_.point.size(); ++u) add(s * judge.judge_sigma * u_.point[u], s * judge.sigma, u_.weight[u], false);
    }
  }
  for (std::size_t a = 0; a < answers; ++a) {
    double most = 1e-300;
    for (std::size_t z = 0; z < spreads; ++z)
      for (std::size_t i = 0; i < n; ++i) most = std::max(most, answer_[(z * answers + a) * n + i]);
    for (std::size_t z = 0; z < spreads; ++z)
      for (std::size_t i = 0; i < n; ++i) answer_[(z * answers + a) * n + i] /= most;
    largest_[a] = math::log(most);
  }
}

void LatentLikelihood::tabulate_patterns(double prompt_share) {
  const std::size_t n = x_.point.size(), answers = patterns_.answers.size(), spreads = answer_.size() / (answers * n);
  const std::size_t states = prompt_share > 0 ? b_.point.size() : 1;
  // [b][x] weight of a place given b; by the normal weights of x where b says nothing
  std::vector<double> weight(states * n);
  for (std::size_t b = 0; b < states; ++b) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double from = x_.point[i] - (prompt_share > 0 ? math::sqrt(prompt_share) * b_.point[b] : 0.0);
      sum += weight[b * n + i] = math::exp(-0.5 * from * from / (1 - prompt_share));
    }
    for (std::size_t i = 0; i < n; ++i) weight[b * n + i] /= sum;
  }
  pattern_.assign(patterns_.patterns.size() * states, 0.0);
  std::vector<double> product(n), sum(n);
  for (std::size_t t = 0; t < patterns_.patterns.size(); ++t) {
    std::fill(sum.begin(), sum.end(), 0.0);
    double largest = 0;
    for (std::size_t z = 0; z < spreads; ++z) {
      std::fill(product.begin(), product.end(), spreads > 1 ? z_.weight[z] : 1.0);
      for (const std::uint32_t a : patterns_.patterns[t]) {
        const double* p = &answer_[(z * answers + a) * n];
        for (std::size_t i = 0; i < n; ++i) product[i] *= p[i];
      }
      for (std::size_t i = 0; i < n; ++i) sum[i] += product[i];
    }
    for (const std::uint32_t a : patterns_.patterns[t]) largest += largest_[a];
    for (std::size_t b = 0; b < states; ++b) {
      double p = 0;
      for (std::size_t i = 0; i < n; ++i) p += weight[b * n + i] * sum[i];
      pattern_[t * states + b] = largest + math::log(std::max(p, 1e-300));
    }
  }
}

double LatentLikelihood::operator()(const LatentScale& judge) {
  tabulate_answers(judge);
  tabulate_patterns(judge.prompt_share);
  const std::size_t states = judge.prompt_share > 0 ? b_.point.size() : 1;
  std::vector<double> at(states);
  double total = 0;
  for (std::uint32_t p = 0; p < patterns_.prompts(); ++p) {
    std::fill(at.begin(), at.end(), 0.0);
    for (std::uint32_t r = patterns_.first[p]; r < patterns_.first[p + 1]; ++r) {
      const double* of = &pattern_[patterns_.responses[r] * states];
      for (std::size_t b = 0; b < states; ++b) at[b] += of[b];
    }
    const double most = *std::max_element(at.begin(), at.end());
    double sum = 0;
    for (std::size_t b = 0; b < states; ++b) sum += (states > 1 ? b_.weight[b] : 1.0) * math::exp(at[b] - most);
    total += by_prompt_[p] = most + math::log(sum);
  }
  return total;
}

}  // namespace odrpo
