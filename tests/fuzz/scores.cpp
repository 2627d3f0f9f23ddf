// Fuzz target: a file of a judge's scores, from its bytes to the table and the distributions of its responses.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

#include "config/catalogue/learned_judge.hpp"
#include "results/scores/score_file.hpp"
#include "tests/fuzz/oracle.hpp"

using namespace odrpo;

namespace {

void check_distributions(const ScoredResponses& responses) {
  const auto rows = static_cast<std::uint32_t>(responses.rows()), distributions = rows / static_cast<std::uint32_t>(responses.judges);
  fuzz::require(distributions * static_cast<std::uint32_t>(responses.judges) == rows, "a law without a row for each judge");
  for (std::uint32_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (const double p : responses.row(i)) sum += p;
    fuzz::require(std::abs(sum - 1) < 1e-9, "a law of a response does not sum to 1");
  }
  for (std::size_t p = 0; p < responses.prompts(); ++p)
    for (auto r = responses.first[p]; r < responses.first[p + 1]; ++r) {
      fuzz::require(responses.distribution[r] < distributions, "a response without a law");
      fuzz::require(r == responses.first[p] || responses.quality(responses.distribution[r - 1]) <= responses.quality(responses.distribution[r]),
                    "responses out of order");
    }
}

void check_table(const ScoreTable& t) {
  const auto values = t.values.size();
  fuzz::require(!t.prompts.empty() && values >= 1 && values <= most_levels && std::is_sorted(t.values.begin(), t.values.end()), "no scale");
  fuzz::require(t.level.size() == t.column.size() && t.judges.size() >= 1, "levels without columns");
  std::size_t responses = 0, ratings = 0;
  for (const auto& p : t.prompts) {
    fuzz::require(p.first == responses && p.count > 0, "prompts that do not follow each other");
    responses += p.count;
    fuzz::require(complete_columns(t, p).size() <= t.columns.size(), "more columns than there are");
  }
  for (const auto& r : t.responses) {
    fuzz::require(r.first == ratings, "responses that do not follow each other");
    ratings += r.count;
    const auto columns = t.columns_of(r);
    fuzz::require(std::adjacent_find(columns.begin(), columns.end(), std::greater_equal<>()) == columns.end(), "columns out of order");
  }
  fuzz::require(responses == t.responses.size() && ratings == t.level.size(), "ratings of no response");
  for (const auto level : t.level) fuzz::require(level <= values, "a level off the scale");
  for (const auto c : t.column) fuzz::require(c < t.columns.size() && t.columns[c].judge < t.judges.size(), "a column of no judge");
  std::int64_t counted = 0;
  for (const auto& j : t.judges) counted += j.ratings;
  fuzz::require(counted == static_cast<std::int64_t>(ratings), "ratings of no judge");
}

void read_file(std::string_view text, const std::string& file, const ScoreColumns& columns, const ScoreScale& scale) {
  fuzz::accepted({Exit::bad_input}, [&] {
    try {
      const ScoreTable table = parse_scores(text, file, columns, scale);
      check_table(table);
      const LearnedJudge judge = learn_rater(table, LearnedWorld::resample, file);
      fuzz::require_printable(judge.found, "a description that a terminal must not print");
      check_distributions(*std::get<ResampleNoise>(judge.noise.front()).responses);
    } catch (const Failure& failure) {
      fuzz::require_printable(failure.what(), "a message that a terminal must not print");
      throw;
    }
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ScoreColumns judges;
  judges.rater = "sample_id / 2";
  ScoreColumns others;
  others.prompt = "p", others.response = "r", others.score = "s", others.sample = "";
  read_file(text, "scores", {}, {});
  read_file(text, "scores.csv", judges, {});
  read_file(text, "scores.tsv", {}, scale_of_levels(10));
  read_file(text, "scores.jsonl", {}, *parse_scale("0..5 by 0.5"));
  read_file(text, "scores", others, {});
  if (const auto scale = parse_scale(text.substr(0, 40)))
    fuzz::require(scale->values.size() >= 2 && scale->values.size() <= most_levels &&
                      std::adjacent_find(scale->values.begin(), scale->values.end(), std::greater_equal<>()) == scale->values.end(),
                  "a scale that does not increase", scale_text(scale->values));
  return 0;
}
