// Tests by permutation whether columns are exchangeable. Sums of each prompt are computed once; a permutation reassigns them to columns.
#include "envs/judge/agreement/exchangeability.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "kernels/random.hpp"

namespace odrpo {
namespace {

constexpr std::uint32_t permutations = 999, permutation_draws = 0x7065726d;  // permutation_draws: makes a random key unlike those of runs
constexpr std::size_t most_products = 65'536, fewest_prompts = 50, most_rows = 4'096;
constexpr double reading_holds = 0.01;             // a reading is accepted if the p value of the test within its judges is above this
constexpr std::uint32_t most_uneven_columns = 16;  // with more columns, tries only readings with equally many columns for each judge

/// Sums over the responses of one prompt, for each column and each pair of columns.
struct PromptSums {
  std::vector<std::uint32_t> column;  ///< [n] the columns that all responses have
  std::vector<double> rank;           ///< [n] sum of r = rank - mean rank, within the response
  std::vector<double> slope;          ///< [n] sum of (score - response's mean) (response's mean - mean of all responses)
  std::vector<double> product;        ///< [n][n] sum of products r r' of two columns
};

/// The part of a table that the test uses.
struct Sample {
  std::uint32_t columns = 0;
  std::vector<PromptSums> prompts;
  std::vector<std::vector<double>> rows;  ///< [responses] levels of a response in its prompt's columns
  std::vector<std::size_t> prompt_of;     ///< [responses] index of its prompt
};

double mean_of(std::span<const double> x) { return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size()); }

/// Sets `rank` to the mid-ranks of x minus the mean rank.
void centred_ranks(std::span<const double> x, std::vector<double>& rank) {
  rank.assign(x.size(), 0);
  for (std::size_t a = 0; a < x.size(); ++a)
    for (const double other : x) rank[a] += (other < x[a]) * 0.5 - (other > x[a]) * 0.5;
}

Sample sample_of(const ScoreTable& table) {
  Sample s;
  s.columns = static_cast<std::uint32_t>(table.columns.size());
  if (s.columns < 2 || s.columns > most_tested_columns) return s;
  const std::size_t all = table.prompts.size(), per_prompt = std::max<std::size_t>(table.responses.size() / all, 1);
  const std::size_t limit = std::max(std::min(most_products / (s.columns * s.columns), most_rows / per_prompt), fewest_prompts);
  const std::size_t taken = std::min(all, limit);
  for (std::size_t i = 0; i < taken; ++i) {
    const auto& prompt = table.prompts[i * all / taken];
    PromptSums sums;
    sums.column = complete_columns(table, prompt);
    if (sums.column.size() < 2) continue;
    for (const auto& r : table.responses_of(prompt)) {
      std::vector<double> row;
      for_each_score(table, r, [&](int level, std::uint32_t column) {
        if (std::binary_search(sums.column.begin(), sums.column.end(), column)) row.push_back(level);
      });
      if (row.empty()) continue;
      s.rows.push_back(std::move(row));
      s.prompt_of.push_back(s.prompts.size());
    }
    s.prompts.push_back(std::move(sums));
  }

  double mean = 0;
  for (const auto& row : s.rows) mean += mean_of(row) / static_cast<double>(s.rows.size());
  std::vector<double> rank;
  for (std::size_t i = 0; i < s.rows.size(); ++i) {
    const auto& row = s.rows[i];
    PromptSums& p = s.prompts[s.prompt_of[i]];
    const std::size_t n = row.size();
    p.rank.resize(n), p.slope.resize(n), p.product.resize(n * n);
    centred_ranks(row, rank);
    const double own = mean_of(row);
    for (std::size_t a = 0; a < n; ++a) {
      p.rank[a] += rank[a];
      p.slope[a] += (row[a] - own) * (own - mean);
      for (std::size_t b = 0; b < n; ++b) p.product[a * n + b] += rank[a] * rank[b];
    }
  }
  return s;
}

/// Computes the test statistics of the four effects: sums of squared deviations from a mean. Sums and means are over the columns of each
/// judge, or, for correlation, over the pairs of columns of each pair of judges.
class Statistics {
 public:
  Statistics(const Sample& sample, std::span<const std::uint32_t> judge)
      : n_(sample.columns), rank_(n_), slope_(n_), square_(n_), product_(static_cast<std::size_t>(n_) * n_) {
    const std::uint32_t judges = 1 + *std::max_element(judge.begin(), judge.end());
    columns_.resize(judges), pairs_.resize(static_cast<std::size_t>(judges) * judges);
    for (std::uint32_t a = 0; a < n_; ++a) {
      columns_[judge[a]].push_back(a);
      for (std::uint32_t b = 0; b < a; ++b)
        pairs_[std::max(judge[a], judge[b]) * judges + std::min(judge[a], judge[b])].push_back(a * n_ + b);
    }
  }
  const std::vector<std::vector<std::uint32_t>>& columns() const { return columns_; }

  void clear() {
    for (auto* sums : {&rank_, &slope_, &square_, &product_}) std::fill(sums->begin(), sums->end(), 0.0);
  }
  /// Adds a prompt's sums; its i-th column counts as column to[i].
  void add(const PromptSums& p, std::span<const std::uint32_t> to) {
    const std::size_t n = p.column.size();
    for (std::size_t a = 0; a < n; ++a) {
      rank_[to[a]] += p.rank[a];
      slope_[to[a]] += p.slope[a];
      square_[to[a]] += p.product[a * n + a];
      for (std::size_t b = 0; b < a; ++b) product_[std::max(to[a], to[b]) * n_ + std::min(to[a], to[b])] += p.product[a * n + b];
    }
  }
  std::array<double, column_effects> values() const {
    return {about_mean(rank_, columns_), about_mean(slope_, columns_), about_mean(square_, columns_), about_mean(product_, pairs_)};
  }

 private:
  static double about_mean(const std::vector<double>& sums, const std::vector<std::vector<std::uint32_t>>& groups) {
    double squares = 0;
    for (const auto& group : groups) {
      if (group.size() < 2) continue;
      double mean = 0;
      for (const std::uint32_t i : group) mean += sums[i];
      mean /= static_cast<double>(group.size());
      for (const std::uint32_t i : group) squares += (sums[i] - mean) * (sums[i] - mean);
    }
    return squares;
  }

  std::uint32_t n_;
  std::vector<double> rank_, slope_, square_, product_;      // [column]; product_: [a][b], b < a
  std::vector<std::vector<std::uint32_t>> columns_, pairs_;  // [judge] its columns; [pair of judges] their pairs of columns
};

/// Computes p values of value[0], the observed statistics. Under the null hypothesis all elements of `value` are equally likely. A p value is the
/// share of elements at least as large, up to rounding. For all effects together, the statistic is the smallest of the four p values.
PermutationTest p_values(const std::vector<std::array<double, column_effects>>& value) {
  const auto count = static_cast<double>(value.size());
  std::vector<double> least(value.size(), 1.0), sorted(value.size());
  PermutationTest test;
  for (std::size_t k = 0; k < column_effects; ++k) {
    std::transform(value.begin(), value.end(), sorted.begin(), [&](const auto& v) { return v[k]; });
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t b = 0; b < value.size(); ++b) {
      const auto below = std::lower_bound(sorted.begin(), sorted.end(), value[b][k] * (1 - 1e-9)) - sorted.begin();
      const double p = (count - static_cast<double>(below)) / count;
      least[b] = std::min(least[b], p);
      if (b == 0) test.of[k] = p;
    }
  }
  test.p = static_cast<double>(std::count_if(least.begin(), least.end(), [&](double p) { return p <= least[0]; })) / count;
  return test;
}

PermutationTest permuted(const Sample& sample, std::span<const std::uint32_t> judge, std::uint64_t seed) {
  if (sample.prompts.empty()) return {};
  const std::uint64_t key = derive_key(seed, permutation_draws);
  Statistics statistics(sample, judge);
  std::vector<std::array<double, column_effects>> value;
  std::vector<std::uint32_t> to, place, order;  // of a prompt: new column of each column; one judge's columns; their shuffled order
  const auto permute = [&](std::uint32_t b, std::uint32_t p) {
    const auto& column = sample.prompts[p].column;
    Words4 four{};
    std::uint32_t drawn = 0;
    for (std::uint32_t j = 0; j < statistics.columns().size(); ++j) {
      place.clear();
      for (std::uint32_t i = 0; i < column.size(); ++i)
        if (judge[column[i]] == j) place.push_back(i);
      order.resize(place.size());
      shuffle(order.data(), static_cast<std::uint32_t>(order.size()), [&](std::uint32_t) {
        if (drawn % 4 == 0) four = draw(key, Purpose::order, b, p, drawn / 4);
        return four.x[drawn++ % 4];
      });
      for (std::size_t i = 0; i < place.size(); ++i) to[place[i]] = column[place[order[i]]];
    }
  };
  for (std::uint32_t b = 0; b <= permutations; ++b) {
    statistics.clear();
    for (std::uint32_t p = 0; p < sample.prompts.size(); ++p) {
      to = sample.prompts[p].column;
      if (b > 0) permute(b, p);
      statistics.add(sample.prompts[p], to);
    }
    value.push_back(statistics.values());
  }
  return p_values(value);
}

std::vector<std::uint32_t> judges_of(const ColumnReading& reading, std::uint32_t columns) {
  std::vector<std::uint32_t> judge(columns);
  for (std::uint32_t c = 0; c < columns; ++c) judge[c] = reading.judge_of(c);
  return judge;
}

/// Returns the reading with the fewest judges that is accepted (reading_holds). Among equals, it prefers equally many calls of each judge, then
/// the largest p.
ColumnReading find_reading(const Sample& sample, std::uint64_t seed) {
  const std::uint32_t n = sample.columns;
  for (std::uint32_t judges = 2; judges < n; ++judges) {
    std::vector<ColumnReading> even, uneven;
    if (n % judges == 0) even = {{false, n / judges}, {true, judges}};
    for (std::uint32_t m = 2; n <= most_uneven_columns && m < n; ++m)
      if (n % m != 0 && (n + m - 1) / m == judges) uneven.push_back({false, m});
    for (const auto& readings : {even, uneven}) {
      ColumnReading best;
      double p = reading_holds;
      for (const ColumnReading& reading : readings)
        if (const double own = permuted(sample, judges_of(reading, n), seed).p; own > p) p = own, best = reading;
      if (p > reading_holds) return best;
    }
  }
  return {};
}

/// Computes the offsets of columns, their share of the variance within a response, and the correlations of residuals.
void describe_columns(const Sample& sample, Exchangeability& e) {
  const std::uint32_t n = sample.columns;
  std::vector<double> times(n, 0.0);
  e.offset.assign(n, 0.0);
  double variance = 0;
  const auto each_residual = [&](const std::vector<double>& row, std::size_t i, auto call) {
    const double mean = mean_of(row);
    for (std::size_t a = 0; a < row.size(); ++a) call(sample.prompts[sample.prompt_of[i]].column[a], row[a] - mean);
  };
  for (std::size_t i = 0; i < sample.rows.size(); ++i)
    each_residual(sample.rows[i], i, [&](std::uint32_t c, double x) {
      e.offset[c] += x, times[c] += 1;
      variance += x * x / static_cast<double>(sample.rows[i].size() * sample.rows.size());
    });
  std::vector<double> used;
  for (std::uint32_t c = 0; c < n; ++c) {
    e.offset[c] /= times[c];  // NaN of a column without scores
    if (times[c] > 0) used.push_back(e.offset[c]);
  }
  const double mean = mean_of(used);
  for (const double o : used) e.constant_share += (o - mean) * (o - mean) / static_cast<double>(used.size() - 1);
  e.constant_share = variance > 0 ? e.constant_share / variance : 0;

  std::vector<double> product(static_cast<std::size_t>(n) * n, 0.0), first(product), second(product);
  std::vector<std::pair<std::uint32_t, double>> row;
  for (std::size_t i = 0; i < sample.rows.size(); ++i) {
    row.clear();
    each_residual(sample.rows[i], i, [&](std::uint32_t c, double x) { row.emplace_back(c, x - e.offset[c]); });
    for (const auto& [a, x] : row)
      for (const auto& [b, y] : row) product[a * n + b] += x * y, first[a * n + b] += x * x, second[a * n + b] += y * y;
  }
  e.correlation.assign(product.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t k = 0; k < product.size(); ++k)
    if (first[k] > 0 && second[k] > 0) e.correlation[k] = product[k] / std::sqrt(first[k] * second[k]);
}

}  // namespace

double Exchangeability::mean_correlation(bool one_judge) const {
  if (correlation.empty()) return std::nan("");
  double sum = 0;
  int pairs = 0;
  for (std::uint32_t a = 0; a < columns; ++a)
    for (std::uint32_t b = 0; b < a; ++b) {
      const double r = correlation[static_cast<std::size_t>(a) * columns + b];
      const bool same = !reading || reading->judge_of(a) == reading->judge_of(b);
      if (same == one_judge && !std::isnan(r)) sum += r, ++pairs;
    }
  return pairs > 0 ? sum / pairs : std::nan("");
}

PermutationTest test_columns(const ScoreTable& table, std::uint64_t seed) {
  const Sample sample = sample_of(table);
  return permuted(sample, std::vector<std::uint32_t>(sample.columns, 0), seed);
}

Exchangeability test_exchangeability(const ScoreTable& table, std::uint64_t seed) {
  const Sample sample = sample_of(table);
  Exchangeability e;
  e.columns = sample.columns, e.prompts = sample.prompts.size(), e.responses = sample.rows.size();
  if (sample.prompts.empty()) return e;
  e.test = permuted(sample, std::vector<std::uint32_t>(sample.columns, 0), seed);
  describe_columns(sample, e);
  if (e.differ()) e.reading = find_reading(sample, seed);
  return e;
}

}  // namespace odrpo
