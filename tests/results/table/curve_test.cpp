// Curves of some runs, and all runs as records, read back from a file.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include "results/table/table.hpp"
#include "tests/catch.hpp"
#include "tests/results/sample.hpp"
#include "tests/results/table/table_sample.hpp"
#include "tests/rounds.hpp"

namespace odrpo {
namespace {

/// What a curve of a run has where it is defined.
RunCurve defined(const RunRecord& run, std::uint32_t row, const std::string& name) {
  RunCurve out{row, {}, {}};
  for (const Curve& curve : run.curves)
    if (curve.name == name)
      for (std::size_t s = 0; s < run.step.size(); ++s)
        if (!std::isnan(curve.values[s])) {
          out.step.push_back(run.step[s]);
          out.value.push_back(curve.values[s]);
        }
  return out;
}

std::vector<std::uint32_t> every_row(std::size_t runs) {
  std::vector<std::uint32_t> rows(runs);
  for (std::uint32_t i = 0; i < runs; ++i) rows[i] = i;
  return rows;
}

}  // namespace

TEST_CASE("a curve of some runs is what the runs recorded", "[curves]") {
  const sample::Scratch scratch;
  const auto runs = sample::runs();
  const std::string path = scratch.path / "a.h5", digest = sample::write_file(path, runs);
  std::mt19937 random(7);
  for (const Curve& any : runs[0].curves) {
    std::vector<std::uint32_t> rows;
    for (const std::uint32_t row : every_row(runs.size()))
      if (random() % 2 == 0) rows.push_back(row);
    INFO(any.name);
    std::size_t seen = 0;
    auto curves = read_curve(path, any.name, rows, digest);
    std::sort(curves.begin(), curves.end(), [](const auto& a, const auto& b) { return a.run < b.run; });
    for (const std::uint32_t row : rows) {
      const RunCurve expected = defined(runs[row], row, any.name);
      if (expected.step.empty()) continue;
      REQUIRE(seen < curves.size());
      CHECK(curves[seen].run == row);
      CHECK(curves[seen].step == expected.step);
      CHECK(curves[seen].value == expected.value);
      ++seen;
    }
    CHECK(seen == curves.size());
  }
}

TEST_CASE("a curve that no run has is refused with those there are", "[curves]") {
  const sample::Scratch scratch;
  const std::string path = scratch.path / "a.h5", digest = sample::write_file(path, sample::runs());
  const auto refusal = [&](const std::string& curve, const std::string& of) -> std::pair<int, std::string> {
    try {
      (void)read_curve(path, curve, every_row(1), of);
    } catch (const Failure& failure) {
      return {static_cast<int>(failure.code), failure.what()};
    }
    return {0, ""};
  };
  const auto [code, message] = refusal("qualty", digest);
  CHECK(code == static_cast<int>(Exit::usage));
  CHECK(message.find("did you mean \"quality\"") != std::string::npos);
  CHECK(refusal("quality", std::string(64, '0')).first == static_cast<int>(Exit::bad_input));
  CHECK(refusal("quality", digest).first == 0);
}

TEST_CASE("a curve whose bytes were changed is refused", "[curves][slow]") {
  const sample::Scratch scratch;
  const std::string path = scratch.path / "a.h5";
  const auto runs = sample::runs();
  const std::string digest = sample::write_file(path, runs);
  std::ifstream in(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  int refused = 0;
  std::mt19937 random(11);
  for (int i = 0; i < rounds(40, 200); ++i) {
    std::string damaged = bytes;
    damaged[bytes.size() / 4 + random() % (bytes.size() / 2)] ^= 1;
    const std::string other = scratch.path / "b.h5";
    std::ofstream(other, std::ios::binary) << damaged;
    try {
      for (const RunCurve& curve : read_curve(other, "quality", every_row(runs.size()), digest))
        if (curve.value != defined(runs[curve.run], curve.run, "quality").value) FAIL("a changed number went through");
    } catch (const Failure&) {
      ++refused;
    }
  }
  CHECK(refused > 0);
}

TEST_CASE("all runs come back as they were written", "[curves]") {
  const sample::Scratch scratch;
  const auto runs = sample::runs();
  const std::string path = scratch.path / "a.h5";
  const std::string digest = sample::write_file(path, runs);
  std::size_t at = 0;
  std::string head;
  read_runs(
      path, [&](const ResultFile& file) { head = file.digest; },
      [&](std::vector<RunRecord>& slab) {
        for (const RunRecord& run : slab) {
          REQUIRE(at < runs.size());
          CHECK(run.id == runs[at].id);
          CHECK(run.step == runs[at].step);
          CHECK(run.seconds.size() == runs[at].seconds.size());
          for (const Curve& curve : run.curves) CHECK(defined(run, 0, curve.name).value == defined(runs[at], 0, curve.name).value);
          ++at;
        }
      });
  CHECK(at == runs.size());
  CHECK(head == digest);
}

namespace {

/// Curves of the runs as a reader would bring them.
std::vector<RunCurve> curves_of(const std::vector<RunRecord>& all, const char* name) {
  std::vector<RunCurve> curves;
  for (std::uint32_t i = 0; i < all.size(); ++i)
    for (const Curve& curve : all[i].curves)
      if (curve.name == name) curves.push_back({i, all[i].step, curve.values});
  return curves;
}

}  // namespace

TEST_CASE("each cell of a curve is the mean over the runs of its chosen rate", "[curves]") {
  const auto all = sample::some_runs({0.1, 1});
  const ResultFile file = sample::file_of(all);
  TableSpec spec;
  spec.best = {"lr"};
  spec.baseline = "maxrl";
  const TableModel table = make_table(file, spec);
  const auto curves = curves_of(all, "quality");
  const TableModel shown = curve_table(table, {"quality", "levels", "", {}, {}}, curves, 100);
  REQUIRE(shown.columns == std::vector<std::string>{"0", "10", "20"});
  REQUIRE(shown.blocks.size() == 2);  // votes 1 and 8
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t r = 0; r < table.rows.size(); ++r)
      for (std::size_t s = 0; s < 3; ++s) {
        const TableCell& cell = shown.blocks[b].cells[r * 3 + s];
        const std::string rate = table.blocks[0].cells[r * 2 + b].chosen.at(0).value;
        double sum = 0;
        int n = 0;
        for (const RunRecord& run : all) {
          const bool here = run.estimator == table.rows[r] && std::to_string(run.votes) == table.columns[b] &&
                            std::get<double>(run.axes[0].second) == std::stod(rate);
          if (!here) continue;
          sum += run.curves[0].values[s];
          ++n;
        }
        CHECK(cell.n == n);
        CHECK(cell.n == 3);
        CHECK(cell.centre == Approx(sum / n).epsilon(1e-13));
      }
  // the comparison with the baseline is paired by seed
  const TableCell& cell = shown.blocks[0].cells[3 + 2];
  CHECK(cell.comparison.difference.n == 3);
  CHECK(cell.comparison.difference.mean == Approx(cell.centre - shown.blocks[0].cells[2].centre).epsilon(1e-12));
}

TEST_CASE("steps are thinned evenly and the last stays", "[curves]") {
  auto all = sample::some_runs({0.1});
  for (RunRecord& run : all) {
    run.step.clear();
    run.curves = {{"quality", {}}};
    for (int s = 0; s <= 100; ++s) {
      run.step.push_back(s * s);
      run.curves[0].values.push_back(s);
    }
  }
  const TableModel table = make_table(sample::file_of(all), {});
  const auto curves = curves_of(all, "quality");
  const auto columns = curve_table(table, {"quality", "", "", {}, {}}, curves, 6).columns;
  CHECK(columns == std::vector<std::string>{"0", "400", "1600", "3600", "6400", "10000"});
  CHECK(curve_table(table, {"quality", "", "", {}, {}}, curves, 1000).columns.size() == 101);
}

TEST_CASE("a curve is shown by the run's own origin and factor", "[curves]") {
  const auto all = sample::some_runs({0.1});
  const ResultFile file = sample::file_of(all);
  const TableModel table = make_table(file, {});
  CurveValue value{"gain", "%", "", {}, {}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    value.origin.push_back(static_cast<double>(i));
    value.factor.push_back(2);
  }
  const auto curves = curves_of(all, "quality");
  const TableModel shown = curve_table(table, value, curves, 100);
  for (std::size_t r = 0; r < shown.rows.size(); ++r)
    for (const TableCell* cell = &shown.blocks[0].cells[r * 3]; cell != &shown.blocks[0].cells[r * 3] + 3; ++cell)
      for (std::size_t i = 0; i < cell->runs.size(); ++i) {
        const std::size_t step = static_cast<std::size_t>(std::stoi(cell->column) / 10), run = cell->runs[i];
        CHECK(cell->values[i].second == Approx(2 * (all[run].curves[0].values[step] - static_cast<double>(run))).epsilon(1e-13));
      }
}

TEST_CASE("a table of chosen runs is the table of these alone", "[tables]") {
  const auto all = sample::some_runs({0.1, 1});
  const ResultFile file = sample::file_of(all);
  std::vector<RunRecord> some;
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < all.size(); ++i)
    if (all[i].votes == 8 && std::get<double>(all[i].axes[0].second) == 1) {
      some.push_back(all[i]);
      rows.push_back(i);
    }
  TableSpec spec;
  spec.baseline = "maxrl";
  const TableModel expected = make_table(sample::file_of(some), spec);
  const ResultFile chosen = chosen_runs(file, {{"votes", {"8"}}, {"lr", {"1.0"}}});
  CHECK(chosen.rows == rows);
  const TableModel table = make_table(chosen, spec);
  CHECK(table_csv(table) == table_csv(expected));
  CHECK(runs_behind(table) == rows);
  CHECK(make_table(chosen_runs(file, {{"votes", {"8", "1"}}}), {}).columns.size() == 2);
}

TEST_CASE("words that choose no run are refused", "[tables]") {
  const ResultFile file = sample::file_of(sample::some_runs({0.1, 1}));
  const auto refusal = [&](const std::vector<ChosenRuns>& where) -> std::string {
    try {
      (void)chosen_runs(file, where);
    } catch (const Failure& failure) {
      return failure.code == Exit::usage ? failure.what() : "wrong exit code";
    }
    return "";
  };
  CHECK(refusal({{"vots", {"8"}}}).find("did you mean \"votes\"") != std::string::npos);
  CHECK(refusal({{"votes", {"4"}}}).find("where: no run has votes \"4\"; did you mean \"1\"?\nThere are: 1, 8") == 0);
  CHECK(refusal({{"votes", {"8"}}, {"votes", {"1"}}}).find("no run has all") != std::string::npos);
  CHECK(refusal({{"value", {"gain"}}}).find("where: ") == 0);
}

}  // namespace odrpo
