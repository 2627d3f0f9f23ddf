// The test of sample columns against all permutations by the definition, its p values under one judge, and the judges that it finds.
#include "envs/judge/agreement/exchangeability.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "tests/catch.hpp"
#include "tests/rounds.hpp"

using namespace odrpo;

namespace {

constexpr int blank = -1;                      // no rating
using Levels = std::vector<std::vector<int>>;  // [response][column]; 0 = unreadable

ScoreTable table_of(const std::vector<Levels>& prompts, std::uint32_t columns) {
  ScoreTable table;
  for (int k = 1; k <= 10; ++k) table.values.push_back(k);
  table.judges.push_back({""});
  for (std::uint32_t c = 0; c < columns; ++c) table.columns.push_back({0, std::to_string(c)});
  for (const Levels& rows : prompts) {
    const auto first = static_cast<std::uint32_t>(table.responses.size());
    for (const auto& row : rows) {
      const auto at = static_cast<std::uint32_t>(table.level.size());
      for (std::uint32_t c = 0; c < row.size(); ++c)
        if (row[c] != blank) table.level.push_back(static_cast<std::uint8_t>(row[c])), table.column.push_back(c);
      table.responses.push_back({at, static_cast<std::uint32_t>(table.level.size()) - at, no_gold});
    }
    table.prompts.push_back({std::to_string(table.prompts.size()), first, static_cast<std::uint32_t>(rows.size())});
  }
  return table;
}

double about_mean(const std::vector<double>& x) {
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
  double squares = 0;
  for (const double v : x) squares += (v - mean) * (v - mean);
  return squares;
}

/// The four statistics as exchangeability.hpp defines them.
std::vector<double> statistics(const std::vector<Levels>& prompts) {
  const std::size_t n = prompts[0][0].size();
  std::vector<double> constant(n, 0), scale(n, 0), noise(n, 0), correlation(n * (n - 1) / 2, 0);
  double all = 0, responses = 0;
  for (const Levels& rows : prompts)
    for (const auto& row : rows) all += std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(n), ++responses;
  for (const Levels& rows : prompts)
    for (const auto& row : rows) {
      const double mean = std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(n);
      std::vector<double> rank(n);
      for (std::size_t a = 0; a < n; ++a) {
        const auto below = std::count_if(row.begin(), row.end(), [&](int x) { return x < row[a]; });
        const auto same = std::count(row.begin(), row.end(), row[a]);
        rank[a] = static_cast<double>(below) + (static_cast<double>(same) + 1) / 2 - (static_cast<double>(n) + 1) / 2;
        constant[a] += rank[a];
        scale[a] += (row[a] - mean) * (mean - all / responses);
        noise[a] += rank[a] * rank[a];
      }
      std::size_t pair = 0;
      for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = 0; b < a; ++b) correlation[pair++] += rank[a] * rank[b];
    }
  return {about_mean(constant), about_mean(scale), about_mean(noise), about_mean(correlation)};
}

/// Every combination of orders of the prompts' columns, the given one first.
template <class Call>
void each_order(const std::vector<Levels>& prompts, std::size_t from, std::vector<Levels>& permuted, Call call) {
  if (from == prompts.size()) return call(permuted);
  std::vector<std::size_t> order(prompts[from][0].size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  do {
    for (std::size_t r = 0; r < prompts[from].size(); ++r)
      for (std::size_t c = 0; c < order.size(); ++c) permuted[from][r][c] = prompts[from][r][order[c]];
    each_order(prompts, from + 1, permuted, call);
  } while (std::next_permutation(order.begin(), order.end()));
}

double normal(std::mt19937_64& draw) { return std::normal_distribution<double>()(draw); }
int level(double heard) { return static_cast<int>(std::clamp(std::floor(heard + 0.5), 1.0, 10.0)); }

/// What a judge does to a response of the prompt: severity and an error that lasts, by judge of a column.
struct Panel {
  ColumnReading reading;
  double severity = 0, lasting = 0, drift = 0;
};
std::vector<Levels> scores(std::mt19937_64& draw, std::size_t prompts, std::size_t responses, std::uint32_t columns, const Panel& panel) {
  std::vector<Levels> all(prompts, Levels(responses, std::vector<int>(columns)));
  for (Levels& rows : all)
    for (auto& row : rows) {
      const double quality = 5.5 + 1.5 * normal(draw);
      std::vector<double> lasting(columns);
      for (double& x : lasting) x = panel.lasting * normal(draw);
      for (std::uint32_t c = 0; c < columns; ++c) {
        const std::uint32_t judge = panel.reading.judge_of(c);
        row[c] = level(quality + panel.severity * (judge % 3) + lasting[judge] + panel.drift * c + 0.8 * normal(draw));
        if (draw() % 10 == 0) row[c] = 1;  // an outlier
      }
    }
  return all;
}

}  // namespace

TEST_CASE("p values of permuted columns against all permutations") {
  std::mt19937_64 draw(3);
  for (int time = 0; time < 3; ++time) {
    auto prompts = scores(draw, 4, 2, 3, {{}, 0, 0.5});
    for (Levels& rows : prompts)
      for (auto& row : rows) row[2] = std::min(10, row[2] + time);
    std::vector<std::vector<double>> values;
    auto permuted = prompts;
    each_order(prompts, 0, permuted, [&](const std::vector<Levels>& p) { values.push_back(statistics(p)); });
    REQUIRE(values.size() == 6 * 6 * 6 * 6);
    const Exchangeability got = test_exchangeability(table_of(prompts, 3), 7);
    CHECK(got.prompts == 4);
    CHECK(got.responses == 8);
    std::vector<double> least(values.size(), 1.0);
    for (std::size_t k = 0; k < 4; ++k) {
      const auto p_of = [&](double value) {
        const auto as_large = std::count_if(values.begin(), values.end(), [&](const auto& v) { return v[k] >= value * (1 - 1e-9); });
        return static_cast<double>(as_large) / static_cast<double>(values.size());
      };
      for (std::size_t i = 0; i < values.size(); ++i) least[i] = std::min(least[i], p_of(values[i][k]));
      const double p = p_of(values[0][k]);
      INFO("statistic " << k << ", time " << time);
      CHECK(std::abs(got.test.of[k] - p) < 4.5 * std::sqrt(p * (1 - p) / 1000) + 0.001);
    }
    const double p = static_cast<double>(std::count_if(least.begin(), least.end(), [&](double x) { return x <= least[0]; })) /
                     static_cast<double>(values.size());
    CHECK(std::abs(got.test.p - p) < 4.5 * std::sqrt(p * (1 - p) / 1000) + 0.02);  // its four p values are those of 1000 permutations too
  }
}

TEST_CASE("columns of one judge differ as seldom as p says") {
  std::mt19937_64 draw(5);
  const int times = rounds(150, 1000);
  for (const auto& [prompts, responses, columns] : {std::array{10, 4, 4}, std::array{8, 1, 3}, std::array{20, 6, 2}}) {
    int few = 0;
    for (int i = 0; i < times; ++i) {
      auto all =
          scores(draw, static_cast<std::size_t>(prompts), static_cast<std::size_t>(responses), static_cast<std::uint32_t>(columns), {});
      for (Levels& rows : all) {  // what a call gives to a whole prompt: its responses are no rows of their own
        for (std::size_t c = 0; c < rows[0].size(); ++c) {
          const int shared = static_cast<int>(draw() % 3);
          for (auto& row : rows) row[c] = std::min(10, row[c] + shared);
        }
      }
      few += test_exchangeability(table_of(all, static_cast<std::uint32_t>(columns)), 1).test.p <= 0.05;
    }
    INFO(prompts << " x " << responses << " x " << columns << ": " << few << " of " << times);
    CHECK(few <= 0.05 * times + 4.5 * std::sqrt(0.05 * 0.95 * times));
  }
}

TEST_CASE("judges of a panel are found, in blocks and in turn") {
  std::mt19937_64 draw(9);
  struct Case {
    std::uint32_t columns;
    Panel panel;
    ColumnReading reading;
  };
  for (const auto& [columns, panel, reading] :
       {Case{8, {{false, 2}, 0, 0.9}, {false, 2}}, Case{8, {{false, 2}, 0.8, 0}, {false, 2}}, Case{6, {{true, 3}, 0.6, 0.6}, {true, 3}},
        Case{4, {{true, 2}, 0, 0.9}, {true, 2}}, Case{8, {{false, 5}, 1, 0.5}, {false, 5}}, Case{4, {{false, 1}, 0, 0, 0.4}, {false, 1}},
        Case{32, {{false, 8}, 0.5, 0.5}, {false, 8}}}) {
    const Exchangeability e = test_exchangeability(table_of(scores(draw, 100, 6, columns, panel), columns), 1);
    INFO(columns << " columns, " << (reading.in_turn ? "% " : "/ ") << reading.m << ", p " << e.test.p);
    CHECK(e.differ());
    REQUIRE(e.reading);
    CHECK(*e.reading == reading);
    if (panel.lasting > 0) CHECK(e.mean_correlation(true) > e.mean_correlation(false) + 0.05);
    CHECK(std::abs(std::accumulate(e.offset.begin(), e.offset.end(), 0.0)) < 1e-9);
  }
}

TEST_CASE("a constant, a scale and noise are told apart") {
  std::mt19937_64 draw(4);
  auto prompts = scores(draw, 200, 5, 4, {});
  const auto tested = [&](auto change) {
    auto changed = prompts;
    for (Levels& rows : changed)
      for (auto& row : rows) row[1] = change(row[1]);
    return test_exchangeability(table_of(changed, 4), 1).test.of;
  };
  const auto up = tested([](int x) { return std::min(10, x + 1); });
  CHECK(up[0] <= 0.002);
  const auto wide = tested([](int x) { return level(5.5 + 1.4 * (x - 5.5)); });
  CHECK(wide[1] <= 0.002);
  const auto noisy = tested([&](int x) { return level(x + normal(draw)); });
  CHECK(noisy[2] <= 0.002);
  CHECK(std::min(noisy[0], noisy[1]) > 0.002);
}

TEST_CASE("gaps, and tables that cannot be tested") {
  std::mt19937_64 draw(8);
  auto prompts = scores(draw, 60, 4, 4, {{false, 2}, 0.9, 0});
  for (std::size_t p = 0; p < prompts.size(); ++p) prompts[p][p % 4][p % 4] = p % 2 ? blank : 0;  // one column of each prompt is not whole
  prompts[0] = Levels(4, std::vector<int>(4, blank));
  prompts[1] = {{blank, blank, 3, blank}};
  const Exchangeability e = test_exchangeability(table_of(prompts, 4), 1);
  CHECK(e.prompts == 58);
  CHECK(e.responses == 4 * 58);
  CHECK(e.differ());

  CHECK(test_exchangeability(table_of(scores(draw, 20, 3, 1, {}), 1), 1).prompts == 0);
  const Exchangeability many = test_exchangeability(table_of(scores(draw, 3, 2, 65, {{false, 1}, 0, 0, 1}), 65), 1);
  CHECK(many.prompts == 0);
  CHECK(many.test.p == 1);
  CHECK(std::isnan(many.mean_correlation(true)));
  const Exchangeability same = test_exchangeability(table_of({Levels(3, std::vector<int>(4, 7)), Levels(3, std::vector<int>(4, 2))}, 4), 1);
  CHECK(same.test.p == 1);
  CHECK(same.constant_share == 0);
  CHECK(std::isnan(same.mean_correlation(true)));
  CHECK(test_exchangeability(ScoreTable{}, 1).prompts == 0);
}

TEST_CASE("the share of constants is the variance of offsets over that of a row") {
  const Exchangeability e = test_exchangeability(table_of({{{1, 3}, {2, 2}}, {{4, 6}}}, 2), 1);
  CHECK(e.offset == std::vector<double>{-2.0 / 3, 2.0 / 3});
  CHECK(e.constant_share == Approx((2 * 4.0 / 9) / (2.0 / 3)));  // n - 1; mean variance (n) of rows 1, 0, 1
}
