// Curves of some runs, and all runs as records, read back from a file.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include "tests/catch.hpp"
#include "tests/results/sample.hpp"
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

}  // namespace odrpo
