// Fuzz target: a file of a judge's scores, from its bytes to the table and the distributions of its responses.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

#include "config/catalogue/learned_judge.hpp"
#include "results/scores/rollouts/rollouts.hpp"
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

void read_file(std::string_view text, const std::string& file, const ScoreReading& how) {
  fuzz::accepted({Exit::bad_input}, [&] {
    try {
      const ScoreTable table = parse_scores(text, file, how);
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

/// Reads the text as a dump of rollouts: every row stands in one group, and groups follow each other.
void read_rollout_file(std::string_view text, const std::string& file, const RolloutReading& how) {
  fuzz::accepted({Exit::bad_input}, [&] {
    try {
      const Rollouts r = parse_rollouts({{file, std::string(text)}}, how);
      std::size_t rows = 0;
      for (const RolloutGroup& g : r.groups) {
        fuzz::require(g.first == rows && g.count > 0 && g.prompt < r.prompts.size(), "groups that do not follow each other");
        rows += g.count;
      }
      fuzz::require(rows == r.rows() && r.rewards.size() == rows * r.columns() && r.columns() > 0, "rows of no group");
      fuzz::require((r.advantage.empty() || r.advantage.size() == rows) && (r.length.empty() || r.length.size() == rows), "advantages of other rows");
      for (const std::string& note : r.notes) fuzz::require_printable(note, "a note that a terminal must not print");
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
  read_file(text, "scores", {});
  read_file(text, "scores.csv", {.columns = judges, .missing = {"-1", "none given"}});
  read_file(text, "scores.tsv", {.scale = scale_of_levels(10), .ids = IdSpelling::text});
  read_file(text, "scores.jsonl", {.scale = *parse_scale("0..5 by 0.5"), .ids = IdSpelling::number});
  read_file(text, "scores", {.columns = others});
  ScoreColumns wide;
  wide.score = "s*", wide.rater = "columns", wide.prompt = "";
  read_file(text, "scores.csv", {.columns = wide, .round = 0.1});
  wide.score = "a.b,score", wide.rater = "";
  read_file(text, "scores.json", {.columns = wide, .bins = 5});
  static const std::vector<ScoreReading> patterns = [] {
    std::vector<ScoreReading> all;
    for (const char* pattern : {"rating", "[[N]]", "([0-9.]+)"})
      for (const ReadingOption& option : reading_options())
        if (option.key == "parse") option.set(all.emplace_back(), {pattern});
    return all;
  }();
  for (const ScoreReading& how : patterns) read_file(text, "scores", how);
  for (const auto& format : score_format_words) read_file(text, "scores.json", {.format = format.value});
  fuzz::accepted({Exit::bad_input}, [&] { (void)parse_scores(std::vector<NamedText>{{"scores.zip", std::string(text)}, {"2", std::string(text)}}, "scores", {}); });
  read_rollout_file(text, "rollouts", {});
  for (const auto& format : rollout_format_words) read_rollout_file(text, "step_1/rollouts.jsonl", {.format = format.value});
  read_rollout_file(text, "rollouts.csv", {.step = "none", .rewards = {"s*", "a.b"}, .group_size = 2});
  if (const auto scale = parse_scale(text.substr(0, 40)))
    fuzz::require(scale->values.size() >= 2 && scale->values.size() <= most_levels &&
                      std::adjacent_find(scale->values.begin(), scale->values.end(), std::greater_equal<>()) == scale->values.end(),
                  "a scale that does not increase", scale_text(scale->values));
  return 0;
}
