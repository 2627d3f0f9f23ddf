// Checks what `merge` prints of runs that differ: both files, their digests, their values and their machines.
#include "app/run/merge_text.hpp"

#include "config/read/parse.hpp"
#include "tests/catch.hpp"

using namespace odrpo;
using namespace odrpo::app;

TEST_CASE("runs that differ between parts are printed with both files, digests and machines") {
  const Suite suite = load_suite_text("s.toml", "[suite]\nname = \"s\"\n[grid]\nestimator = \"grpo\"\n", {}, {});
  std::vector<Part> parts(3);
  for (std::size_t i = 0; i < 3; ++i) {
    parts[i].path = std::string(1, static_cast<char>('a' + i)) + ".h5";
    parts[i].provenance = {{"cpu", i == 2 ? "Zen" : "Xeon"}, {"isa", "avx2"}};
  }
  const auto digest = [](char c) { return std::string(64, c); };
  MergeReport report;
  report.differing = 1234;
  report.conflicts = {{"run-1", "bandit", 0, 2, digest('1'), digest('2'), {"final_quality 1 and 2", "auc_quality 3 and 4"}},
                      {"run-2", "bandit", 1, 0, digest('3'), digest('4'), {"key a and b"}},
                      {"run-3", "bandit", RunConflict::own_source, 1, digest('5'), digest('6'), {"its words or axes"}}};
  CHECK(conflict_text(suite, parts, report, "out.h5") ==
        "1234 runs differ between parts; nothing was written\n"
        "  run run-1: digest 111111111111 in a.h5, 222222222222 in c.h5: final_quality 1 and 2; auc_quality 3 and 4\n"
        "    the first trained on Xeon (avx2), the second on Zen (avx2)\n"
        "  run run-2: digest 333333333333 in b.h5, 444444444444 in a.h5: key a and b\n"
        "  run run-3: digest 555555555555 in out.h5, 666666666666 in b.h5: its words or axes\n"
        "  and 1,231 more\n"
        "  runs of the bandit have equal bits on every machine: one of the two parts is damaged, forged, or of a faulty machine");
}
