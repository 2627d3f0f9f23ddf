// How often tables of equal rows have a star or lose a bold cell, and how often a true difference has a star: 100 tables of each shape, 400 in full.
#include <cstdio>

#include "results/stats/run_statistics.hpp"
#include "results/table/table.hpp"
#include "tests/catch.hpp"
#include "tests/results/stats/null_tables.hpp"
#include "tests/rounds.hpp"

using namespace odrpo;
using namespace odrpo::null_tables;

namespace {

const int tables = rounds(100, 400), most = rounds(11, 31);  // a true 5 % has more with probability .004 and .007

/// Gains of a row at one rate and seed: the mean of the rate, in standard deviations, plus what the world, the row and the run add.
struct Shape {
  const char* name;
  std::vector<double> mean;
  int tuning;
  double world, row;  ///< shares of the variance that all rows of a seed have in common, and all rates of a row
};
const Shape shapes[] = {
    {"four equal rates, 3 tuning seeds", {0, 0, 0, 0}, 3, 0.5, 0},
    {"eight equal rates, 5 tuning seeds", {0, 0, 0, 0, 0, 0, 0, 0}, 5, 0.3, 0.3},
    {"a peak among five, 5 tuning seeds", {-1, -0.3, 0, -0.3, -1}, 5, 0.5, 0.2},
    {"two peaks, 2 tuning seeds", {0, -0.8, 0}, 2, 0, 0},
    {"a slope and a cliff, 10 tuning seeds", {-0.4, -0.2, 0, -6}, 10, 0.6, 0},
};

class Drawn {
 public:
  /// one_world: all columns share the worlds of their seeds
  Drawn(const Shape& shape, int seeds, unsigned seed, bool one_world = false)
      : shape_(shape), one_world_(one_world), seeds_(static_cast<std::size_t>(seeds)), random_(seed) {}
  Gains operator()(int row, double better = 0) {
    const auto& [name, mean, tuning, world, own] = shape_;
    if (row == 0 && (world_.empty() || !one_world_)) {
      world_.resize(seeds_);
      for (double& x : world_) x = normal_(random_);
    }
    Gains gains(mean.size(), std::vector<double>(seeds_));
    for (std::size_t seed = 0; seed < seeds_; ++seed) {
      const double common = std::sqrt(world) * world_[seed] + std::sqrt(own) * normal_(random_);
      for (std::size_t rate = 0; rate < mean.size(); ++rate)
        gains[rate][seed] = 50 + better + mean[rate] + common + std::sqrt(1 - world - own) * normal_(random_);
    }
    return gains;
  }

 private:
  const Shape& shape_;
  bool one_world_;
  std::size_t seeds_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::vector<double> world_;
};

}  // namespace

TEST_CASE("tables of equal rows that chose their rates: at most 5 % have a star, or lose a bold cell", "[.slow]") {
  for (const Shape& shape : shapes) {
    int starred = 0, before = 0, unbold = 0;
    for (int t = 0; t < tables; ++t) {
      const Design design{4, 4, shape.tuning, 20};
      Drawn drawn(shape, design.tuning + design.reported, 1000u + static_cast<unsigned>(t));
      const TableModel table = table_of(design, [&](int row) { return drawn(row); });
      starred += stars_of(table) > 0;
      unbold += !all_bold(table);
      std::vector<double> p;
      for (const TableCell& cell : table.blocks[0].cells)
        if (const auto& leads = cell.comparison.among_choices.row_leads; !leads.empty()) p.push_back(t_test_p(leads[0].by));
      for (const double x : holm_adjusted(p))
        if (x < 0.05) {
          ++before;
          break;
        }
    }
    std::printf("%-40s of %d tables: star %3d (chosen against chosen %3d), not all bold %3d\n", shape.name, tables, starred, before, unbold);
    INFO(shape.name);
    CHECK(starred <= most);
    CHECK(unbold <= most);
  }
}

TEST_CASE("tables of equal rows at one rate: at most 5 % lose a bold cell", "[.slow]") {
  for (const int rows : {3, 6, 12}) {
    const Shape shape{"one rate", {0}, 0, 0.4, 0};
    int unbold = 0;
    for (int t = 0; t < tables; ++t) {
      Drawn drawn(shape, 20, 2000u + static_cast<unsigned>(t));
      unbold += !all_bold(table_of({rows, 4, 0, 20}, [&](int row) { return drawn(row); }));
    }
    std::printf("%2d equal rows in 4 columns, of %d tables: not all bold %3d\n", rows, tables, unbold);
    CHECK(unbold <= most);
  }
}

TEST_CASE("the power of a star between rows that chose their rates", "[.slow]") {
  for (const std::size_t s : {0, 2, 4}) {
    Shape shape = shapes[s];
    shape.tuning = 5;
    int found = 0, before = 0;
    for (int t = 0; t < tables; ++t) {
      const Design design{2, 1, 5, 25};
      Drawn drawn(shape, 30, 3000u + static_cast<unsigned>(t));
      const TableModel table = table_of(design, [&](int row) { return drawn(row, row == 1 ? 0.7 : 0); });
      found += stars_of(table);
      before += chosen_differ(table.blocks[0].cells[1].comparison);
    }
    std::printf("%-40s .7 sd better, 5 of 30 seeds to choose: star %.2f, chosen against chosen %.2f\n", shape.name, found * 1.0 / tables,
                before * 1.0 / tables);
    CHECK(found > 0.3 * tables);
  }
}

TEST_CASE("with the seeds that --power names between rows that chose, a star is found four times of five", "[.slow]") {
  for (const std::size_t s : {0, 2, 4}) {
    Shape shape = shapes[s];
    shape.tuning = 5;
    const auto made = [&](int reported, unsigned seed) {
      Drawn drawn(shape, shape.tuning + reported, seed);
      TableModel table = table_of({2, 1, shape.tuning, reported}, [&](int row) { return drawn(row, row == 1 ? 0.7 : 0); });
      table.spec.power_difference = 0.7;
      return table;
    };
    const TableModel large = made(2000, 7000);
    const int needed = seeds_needed(large.blocks[0].cells[1].comparison, large, 0).alone;
    REQUIRE(needed > 2);
    int found = 0;
    for (int t = 0; t < tables; ++t) found += stars_of(made(needed, 7001u + static_cast<unsigned>(t)));
    std::printf("%-40s .7 sd better, %d seeds named: star %.2f\n", shape.name, needed, found * 1.0 / tables);
    const double error = std::sqrt(0.16 / tables);
    CHECK(found > (0.8 - 3 * error) * tables);
    CHECK(found < (0.86 + 3 * error) * tables);
  }
}

TEST_CASE("several tasks of equal rows that chose their rates: at most 5 % of files have a star over tasks, or between conditions",
          "[.slow]") {
  const Shape& shape = shapes[3];
  for (const int tasks : {2, 4}) {
    int starred = 0, before = 0, contrasts = 0, contradictions = 0;
    for (int t = 0; t < tables; ++t) {
      Drawn drawn(shape, shape.tuning + 20, 4000u + static_cast<unsigned>(t), true);
      const TableModel table = table_of({4, tasks, shape.tuning, 20}, [&](int row) { return drawn(row); });
      StatisticsOptions options;
      options.resamples = 10;
      options.baseline = {"row0"};
      const auto has_star = [&](const std::vector<Difference>& list) {
        bool star = false;
        for (const Difference& d : list) {
          star = star || d.p_holm < star_level;
          contradictions += (d.student.lo > 0 || d.student.hi < 0) != (d.p_holm < star_level);
        }
        return star;
      };
      RunTable runs = table_runs(table, {"rater"}, {"votes"});
      starred += has_star(run_statistics(runs, options).differences);
      options.baseline = {"row0", std::nullopt};
      options.contrast = ContrastChoice{1, "1", "2"};
      contrasts += has_star(run_statistics(table_runs(table, {"rater", "votes"}, {}), options).contrasts);
      options.baseline = {"row0"};
      options.contrast.reset();
      runs.other_choices.clear();  // as if nothing had been chosen
      for (const Difference& d : run_statistics(runs, options).differences)
        if (d.p_holm < star_level) {
          ++before;
          break;
        }
    }
    std::printf("%d tasks, %-31s of %d files: star %3d (chosen against chosen %3d), between two conditions %3d\n", tasks, shape.name,
                tables, starred, before, contrasts);
    CHECK(starred <= most);
    CHECK(contrasts <= most);
    CHECK(contradictions == 0);
    CHECK(before > most);
  }
}
