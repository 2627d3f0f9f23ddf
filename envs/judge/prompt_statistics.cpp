// Counts in integers how pairs of responses are ordered. Kendall's W, flips and ties follow from these counts.
#include "envs/judge/prompt_statistics.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/math.hpp"

namespace odrpo {
namespace {

constexpr std::size_t level_codes = 256;

/// Counts over a matrix of levels: how pairs of responses are ordered, and ties.
struct Counts {
  std::int64_t opposite = 0;      ///< number of (pair of responses, pair of columns) with opposite order
  std::int64_t tied = 0;          ///< number of (pair of responses, column) with equal levels
  double ties = 0;                ///< sum of t^3 - t over each column's groups of t equal levels
  std::vector<std::int64_t> net;  ///< [M] number of (other response, column) below it - number above it = 2 rank sum - N (M + 1)
};

struct Matrix {
  std::span<const std::uint8_t> level;  ///< [M][N]
  std::size_t m, n;
  const std::uint8_t* row(std::size_t r) const { return level.data() + r * n; }
};

/// Counts by comparing every pair of responses in all columns: M^2 N / 2 comparisons.
void count_by_pairs(const Matrix& x, Counts& c) {
  for (std::size_t a = 0; a < x.m; ++a)
    for (std::size_t b = a + 1; b < x.m; ++b) {
      const std::uint8_t *p = x.row(a), *q = x.row(b);
      std::int64_t above = 0, below = 0;  // number of columns with a above b; with a below b
      for (std::size_t j = 0; j < x.n; ++j) above += p[j] > q[j], below += p[j] < q[j];
      c.opposite += above * below;
      c.tied += static_cast<std::int64_t>(x.n) - above - below;
      c.net[a] += above - below;
      c.net[b] -= above - below;
    }
}

/// Counts by the joint table of levels of every pair of columns: N^2 / 2 times M + K^2 additions.
void count_by_columns(const Matrix& x, std::size_t k, Counts& c) {
  std::vector<std::int64_t> joint(k * k), count(k), lower(k);
  for (std::size_t i = 0; i < x.n; ++i) {
    std::fill(count.begin(), count.end(), 0);
    for (std::size_t r = 0; r < x.m; ++r) ++count[x.row(r)[i]];
    std::int64_t below = 0;
    for (std::size_t v = 0; v < k; ++v) {
      c.tied += count[v] * (count[v] - 1) / 2;
      lower[v] = 2 * below + count[v] - static_cast<std::int64_t>(x.m);
      below += count[v];
    }
    for (std::size_t r = 0; r < x.m; ++r) c.net[r] += lower[x.row(r)[i]];
    for (std::size_t j = i + 1; j < x.n; ++j) {
      std::fill(joint.begin(), joint.end(), 0);
      for (std::size_t r = 0; r < x.m; ++r) ++joint[x.row(r)[i] * k + x.row(r)[j]];
      std::fill(count.begin(), count.end(), 0);  // of responses above level v in column i: number by level in column j
      for (std::size_t v = k; v-- > 0;) {
        std::int64_t opposite = 0;  // number of responses above in column i, below in column j
        for (std::size_t w = 0; w < k; ++w) {
          c.opposite += joint[v * k + w] * opposite;
          opposite += count[w];
        }
        for (std::size_t w = 0; w < k; ++w) count[w] += joint[v * k + w];
      }
    }
  }
}

/// Sum of t^3 - t over groups of t equal levels in a column = sum over (response, column) of t^2 - 1, t = size of its group.
double sum_of_ties(const Matrix& x) {
  std::int64_t count[level_codes] = {};
  double ties = 0;
  for (std::size_t j = 0; j < x.n; ++j) {
    for (std::size_t r = 0; r < x.m; ++r) ++count[x.row(r)[j]];
    for (std::size_t r = 0; r < x.m; ++r) {
      const auto t = static_cast<double>(count[x.row(r)[j]]);
      ties += t * t - 1;
    }
    for (std::size_t r = 0; r < x.m; ++r) count[x.row(r)[j]] = 0;
  }
  return ties;
}

Counts counts_of(const Matrix& x) {
  Counts c;
  c.net.assign(x.m, 0);
  const std::size_t codes = std::size_t{*std::max_element(x.level.begin(), x.level.end())} + 1;
  const double m = static_cast<double>(x.m), n = static_cast<double>(x.n), k = static_cast<double>(codes);
  if (m * m > n * (m + k * k)) count_by_columns(x, codes, c);
  else count_by_pairs(x, c);
  c.ties = sum_of_ties(x);
  return c;
}

void agreement(const Matrix& x, PromptStatistics& out) {
  const Counts c = counts_of(x);
  const double m = static_cast<double>(x.m), n = static_cast<double>(x.n), pairs = m * (m - 1) / 2;
  out.tie = static_cast<double>(c.tied) / (pairs * n);
  if (x.n < 2) return;
  out.flip = static_cast<double>(c.opposite) / (pairs * n * (n - 1) / 2);
  double spread = 0;
  for (const std::int64_t d : c.net) spread += static_cast<double>(d) * static_cast<double>(d);
  const double most = n * (n * m * (m * m - 1) - c.ties);
  if (!(most > 0)) return;
  out.w = 3 * spread / most;
  out.rank_correlation = (n * out.w - 1) / (n - 1);
}

void rows(const Matrix& x, PromptStatistics& out) {
  const double n = static_cast<double>(x.n);
  std::int64_t total = 0, constant = 0;
  double deviations = 0;
  for (std::size_t r = 0; r < x.m; ++r) {
    std::int64_t sum = 0, squares = 0;
    for (std::size_t j = 0; j < x.n; ++j) {
      const std::int64_t v = x.row(r)[j];
      sum += v;
      squares += v * v;
    }
    const std::int64_t scaled = static_cast<std::int64_t>(x.n) * squares - sum * sum;  // N^2 times the variance with ddof 0
    total += sum;
    constant += scaled == 0;
    deviations += std::sqrt(static_cast<double>(scaled));
  }
  out.mean = static_cast<double>(total) / static_cast<double>(x.level.size());
  if (x.n < 2) return;
  out.constant_rows = static_cast<double>(constant) / static_cast<double>(x.m);
  out.row_sd = deviations / std::sqrt(n * (n - 1)) / static_cast<double>(x.m);
}

/// Stores the matrix of a prompt in `level`, row after row. Returns its number of columns N.
std::size_t gather(const ScoreTable& table, const ScoreTable::Prompt& prompt, std::vector<std::uint8_t>& level) {
  level.clear();
  const auto responses = table.responses_of(prompt);
  // fast path for the usual case: all responses have the same columns, and all answers could be read
  const bool plain = std::all_of(responses.begin(), responses.end(), [&](const ScoreTable::Response& r) {
    const auto own = table.columns_of(r), first = table.columns_of(responses[0]);
    const auto levels = table.levels_of(r);
    return std::equal(own.begin(), own.end(), first.begin(), first.end()) &&
           std::find(levels.begin(), levels.end(), ScoreTable::unreadable) == levels.end();
  });
  if (plain) {
    for (const auto& r : responses) level.insert(level.end(), table.levels_of(r).begin(), table.levels_of(r).end());
    return responses.empty() ? 0 : responses[0].count;
  }
  const std::vector<std::uint32_t> columns = complete_columns(table, prompt);
  for (const auto& r : responses) {
    std::size_t at = 0;
    for_each_score(table, r, [&](int k, std::uint32_t column) {
      while (at < columns.size() && columns[at] < column) ++at;
      if (at < columns.size() && columns[at] == column) level.push_back(static_cast<std::uint8_t>(k));
    });
  }
  return columns.size();
}

}  // namespace

PromptStatistics matrix_statistics(std::span<const std::uint8_t> level, std::size_t columns) {
  PromptStatistics out{0, 0, undefined, undefined, undefined, undefined, undefined, undefined, undefined};
  if (level.empty() || columns == 0) return out;
  const Matrix x{level, level.size() / columns, columns};
  out.responses = static_cast<std::uint32_t>(x.m);
  out.columns = static_cast<std::uint32_t>(x.n);
  rows(x, out);
  if (x.m > 1) agreement(x, out);
  return out;
}

std::vector<PromptStatistics> prompt_statistics(const ScoreTable& table) {
  std::vector<PromptStatistics> out;
  out.reserve(table.prompts.size());
  std::vector<std::uint8_t> level;
  for (const auto& prompt : table.prompts) {
    const std::size_t columns = gather(table, prompt, level);
    out.push_back(matrix_statistics(level, columns));
  }
  return out;
}

}  // namespace odrpo
