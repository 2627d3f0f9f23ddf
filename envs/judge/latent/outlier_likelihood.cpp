// Computes the likelihood by quadrature: P(level) at all nodes, products over a response's scores, then sums over the nodes of x, z, u, b.
#include "envs/judge/latent/outlier_likelihood.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "kernels/math.hpp"
#include "kernels/normal_nodes.hpp"

namespace odrpo {
namespace {

constexpr double widest = 3.75;     // nodes of x lie on [-3.75, 3.75]
constexpr int prompt_nodes = 61;    // nodes of b lie on [-4, 4]
constexpr int spread_points = 7, bias_points = 5;
constexpr double least = 1e-300;

// Gauss-Legendre nodes on [0, 1], for a response's own veto probability
constexpr std::array<double, 5> own_point{0.046910077030668, 0.230765344947158, 0.5, 0.769234655052842, 0.953089922969332};
constexpr std::array<double, 5> own_weight{0.118463442528095, 0.239314335249683, 0.284444444444444, 0.239314335249683, 0.118463442528095};

/// Quadrature nodes for P(veto or low sets a call to the lowest level), which varies between responses.
NormalNodes lowest_nodes(const Outliers& outliers) {
  const double low = outliers[Outlier::low], veto = outliers[Outlier::veto];
  NormalNodes nodes{{low}, {1 - veto}};
  for (std::size_t i = 0; veto > 0 && i < own_point.size(); ++i) {
    nodes.point.push_back(1 - (1 - low) * (1 - own_point[i]));
    nodes.weight.push_back(veto * own_weight[i]);
  }
  return nodes;
}

}  // namespace

OutlierLikelihood::NormalTable::NormalTable() : cell_(lowest_at * per_unit + 1) {
  for (std::size_t i = 0; i < cell_.size(); ++i) {
    const double x = -static_cast<double>(i) / per_unit;
    cell_[i] = {math::normal_cdf(x), math::normal_density(x) / per_unit};
  }
}

double OutlierLikelihood::NormalTable::lower(double x) const {
  const double at = x * per_unit;
  if (!(at < lowest_at * per_unit)) return 0;
  const auto i = static_cast<std::size_t>(at);
  const double t = at - static_cast<double>(i), rest = 1 - t;
  const Cell &a = cell_[i], &b = cell_[i + 1];
  return rest * rest * ((1 + 2 * t) * a.value - t * a.slope) + t * t * ((1 + 2 * rest) * b.value + rest * b.slope);
}

OutlierLikelihood::OutlierLikelihood(const ScoreTable& table, double spacing, std::uint32_t most_calls)
    : levels_(table.values.size()), judges_(table.judges.size()), counted_(judges_), most_times_(judges_, std::vector<std::uint32_t>(levels_)) {
  const int nodes = 2 * static_cast<int>(widest / spacing + 0.5) + 1;
  for (int i = 0; i < nodes; ++i) x_.push_back(widest * (2.0 * i / (nodes - 1) - 1));
  std::vector<std::map<Counted, std::uint32_t>> number(judges_);
  std::map<std::vector<std::uint32_t>, std::uint32_t> kinds;
  std::vector<std::vector<std::uint8_t>> count(judges_, std::vector<std::uint8_t>(levels_));
  first_.push_back(0);
  for (const auto& prompt : table.prompts) {
    for (const auto& response : table.responses_of(prompt)) {
      for (auto& of : count) std::fill(of.begin(), of.end(), std::uint8_t{0});
      std::vector<std::uint32_t> calls(judges_), kind(judges_);
      for_each_score(table, response, [&](int level, std::uint32_t column) {
        const std::size_t j = table.columns[column].judge;
        if (calls[j]++ < most_calls) ++count[j][static_cast<std::size_t>(level) - 1];
      });
      bool any = false;
      for (std::size_t j = 0; j < judges_; ++j) {
        if (calls[j] == 0) continue;
        any = true;
        Counted of;
        for (std::size_t k = 0; k < levels_; ++k) {
          if (count[j][k] == 0) continue;
          of.level.push_back(static_cast<std::uint8_t>(k)), of.times.push_back(count[j][k]);
          most_times_[j][k] = std::max<std::uint32_t>(most_times_[j][k], count[j][k]);
        }
        const auto [at, fresh] = number[j].try_emplace(of, static_cast<std::uint32_t>(counted_[j].size()));
        if (fresh) counted_[j].push_back(std::move(of));
        kind[j] = at->second + 1;
      }
      if (!any) continue;
      const auto [at, fresh] = kinds.try_emplace(kind, static_cast<std::uint32_t>(kind_.size()));
      if (fresh) kind_.push_back(std::move(kind));
      response_.push_back(at->second);
    }
    if (response_.size() > first_.back()) first_.push_back(static_cast<std::uint32_t>(response_.size()));
  }
}

std::vector<double> OutlierLikelihood::operator()(const LatentScale& judge, const Outliers& outliers) const {
  const NormalNodes z = normal_nodes(judge.spread > 0 ? spread_points : 1), u = normal_nodes(judge.judge_sigma > 0 ? bias_points : 1),
                    lowest = lowest_nodes(outliers);
  const std::size_t nx = x_.size(), nz = z.point.size(), nu = u.point.size(), inner = nz * nx, cells = nu * inner;
  const double mirror = outliers[Outlier::mirror], uniform = outliers[Outlier::uniform] / static_cast<double>(levels_), high = outliers[Outlier::high],
               smooth = (1 - high) * (1 - outliers[Outlier::uniform]);

  // P(level | x, z, u) of a call of each judge, before outliers veto and low: [judge][level][cells], cell = (u, z, x)
  std::vector<double> f(judges_ * levels_ * cells);
  std::vector<double> row(levels_);
  for (std::size_t j = 0; j < judges_; ++j)
    for (std::size_t iu = 0; iu < nu; ++iu)
      for (std::size_t iz = 0; iz < nz; ++iz) {
        const double s = math::exp(judge.spread * z.point[iz]), shift = s * judge.judge_sigma * u.point[iu];
        for (std::size_t ix = 0; ix < nx; ++ix) {
          double before = 0;
          for (std::size_t k = 0; k < levels_; ++k) {
            const double below = k + 1 == levels_ ? 1 : normal_cdf_((judge.thresholds(static_cast<int>(j))[k] - x_[ix] - shift) / (s * judge.sigma));
            row[k] = std::max(below - before, 0.0);
            before = below;
          }
          for (std::size_t k = 0; k < levels_; ++k)
            f[(j * levels_ + k) * cells + iu * inner + iz * nx + ix] =
                smooth * ((1 - mirror) * row[k] + mirror * row[levels_ - 1 - k]) + (1 - high) * uniform + (k + 1 == levels_ ? high : 0);
        }
      }

  // P(scores of a response | x) of each kind of response: [kind][x]
  std::vector<double> of_kind(kind_.size() * nx), product(cells), power(cells);
  std::vector<std::vector<double>> of_counted(judges_);  // [judge][counted][inner]
  for (std::size_t v = 0; v < lowest.point.size(); ++v) {
    for (std::size_t j = 0; j < judges_; ++j) {
      std::vector<std::size_t> at(levels_);  // index in `powers` where P(level)^1, P(level)^2, .. begin, each for all cells
      std::vector<double> powers;
      for (std::size_t k = 0; k < levels_; ++k) {
        at[k] = powers.size();
        const double* const from = f.data() + (j * levels_ + k) * cells;
        for (std::uint32_t n = 1; n <= most_times_[j][k]; ++n) {
          const std::size_t here = powers.size();
          powers.resize(here + cells);
          for (std::size_t c = 0; c < cells; ++c) {
            const double once = std::max((1 - lowest.point[v]) * from[c] + (k == 0 ? lowest.point[v] : 0), least);
            powers[here + c] = n == 1 ? once : powers[at[k] + c] * powers[here - cells + c];
          }
        }
      }
      of_counted[j].assign(counted_[j].size() * inner, 0);
      for (std::size_t i = 0; i < counted_[j].size(); ++i) {
        const Counted& counted = counted_[j][i];
        for (std::size_t l = 0; l < counted.level.size(); ++l) {
          const double* const with = powers.data() + at[counted.level[l]] + (counted.times[l] - 1u) * cells;
          for (std::size_t c = 0; c < cells; ++c) product[c] = l == 0 ? with[c] : product[c] * with[c];
        }
        double* const out = of_counted[j].data() + i * inner;
        for (std::size_t iu = 0; iu < nu; ++iu)
          for (std::size_t c = 0; c < inner; ++c) out[c] += u.weight[iu] * product[iu * inner + c];
      }
    }
    for (std::size_t i = 0; i < kind_.size(); ++i) {
      bool begun = false;
      for (std::size_t j = 0; j < judges_; ++j) {
        if (kind_[i][j] == 0) continue;
        const double* const with = of_counted[j].data() + (kind_[i][j] - 1) * inner;
        for (std::size_t c = 0; c < inner; ++c) power[c] = begun ? power[c] * with[c] : with[c];
        begun = true;
      }
      for (std::size_t iz = 0; iz < nz; ++iz) {
        const double weight = lowest.weight[v] * z.weight[iz];
        for (std::size_t ix = 0; ix < nx; ++ix) of_kind[i * nx + ix] += weight * power[iz * nx + ix];
      }
    }
  }

  // log P(scores of a response | b) of each kind of response: [kind][b]
  const double share = judge.prompt_share, of_prompt = math::sqrt(share), rest = 1 - share;
  std::vector<double> given(nx * prompt_nodes), prior(prompt_nodes), of_b(kind_.size() * prompt_nodes);
  double sum_prior = 0;
  for (int i = 0; i < prompt_nodes; ++i) {
    const double b = 4 * (2.0 * i / (prompt_nodes - 1) - 1);
    sum_prior += prior[static_cast<std::size_t>(i)] = math::exp(-0.5 * b * b);
    double sum = 0;
    for (std::size_t ix = 0; ix < nx; ++ix) {
      const double d = x_[ix] - of_prompt * b;
      sum += given[ix * prompt_nodes + static_cast<std::size_t>(i)] = math::exp(-0.5 * d * d / rest);
    }
    for (std::size_t ix = 0; ix < nx; ++ix) given[ix * prompt_nodes + static_cast<std::size_t>(i)] /= sum;
  }
  for (std::size_t i = 0; i < kind_.size(); ++i) {
    double* const out = of_b.data() + i * prompt_nodes;
    for (std::size_t ix = 0; ix < nx; ++ix)
      for (std::size_t b = 0; b < prompt_nodes; ++b) out[b] += of_kind[i * nx + ix] * given[ix * prompt_nodes + b];
    for (std::size_t b = 0; b < prompt_nodes; ++b) out[b] = math::log(std::max(out[b], least));
  }

  std::vector<double> total(prompts());
  std::array<double, prompt_nodes> sum{};
  for (std::size_t p = 0; p < total.size(); ++p) {
    sum.fill(0);
    for (std::uint32_t r = first_[p]; r < first_[p + 1]; ++r)
      for (std::size_t b = 0; b < prompt_nodes; ++b) sum[b] += of_b[response_[r] * prompt_nodes + b];
    const double top = *std::max_element(sum.begin(), sum.end());
    double weighed = 0;
    for (std::size_t b = 0; b < prompt_nodes; ++b) weighed += prior[b] / sum_prior * math::exp(sum[b] - top);
    total[p] = top + math::log(weighed);
  }
  return total;
}

}  // namespace odrpo
