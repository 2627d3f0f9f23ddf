// Fuzz target: a CSV file of a judge's scores, from its bytes to the channel that is learned from them.
#include "results/score_file.hpp"

#include <cmath>
#include <cstdint>

#include "spec/learned_judge.hpp"
#include "tests/fuzz/oracle.hpp"

using namespace odrpo;

namespace {

void check_channel(const EmpiricalJudge& judge) {
  const auto& matrix = judge.channel.matrix;
  const auto size = static_cast<std::size_t>(matrix.size);
  for (std::size_t row = 0; row < size; ++row) {
    double sum = 0;
    for (std::size_t k = 0; k < size; ++k) {
      const double p = (*matrix.values)[row * size + k];
      fuzz::require(p >= 0 && p <= 1, "a learned probability is none");
      sum += p;
    }
    fuzz::require(std::abs(sum - 1) < 1e-9, "a row of a learned channel does not sum to 1");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const int levels : {0, 10}) {
    const auto read = [&] {
      const ScoreTable table = parse_scores(text, "scores.csv", levels);
      const int most = levels > 0 ? levels : max_score;
      fuzz::require(!table.prompts.empty() && table.smallest >= 1 && table.largest <= most, "a table out of range");
      for (const auto& p : table.prompts)
        fuzz::require(p.score.size() == static_cast<std::size_t>(p.responses) * static_cast<std::size_t>(p.samples), "a ragged matrix");
      const JudgeFile judge = make_judge(table, "scores.csv", levels);
      fuzz::require_printable(judge.found, "a description that a terminal must not print");
      check_channel(judge.judge);
    };
    fuzz::accepted({Exit::bad_input}, [&] {
      try {
        read();
      } catch (const Failure& failure) {
        fuzz::require_printable(failure.what(), "a message that a terminal must not print");
        throw;
      }
    });
  }
  return 0;
}
