// Learns a judge from a file's table, and says what is in it.
#include "spec/learned_judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>

#include "kernels/failure.hpp"
#include "results/score_scale.hpp"

namespace odrpo {

namespace {

std::string range(int least, int most, const char* what) {
  return least == most ? fmt::format("{} {}{}", least, what, least == 1 ? "" : "s") : fmt::format("{} to {} {}s", least, most, what);
}

std::string counted(std::int64_t n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

/// "6 levels", or which scores they are where they are not 1, 2, …: "11 levels (scores 0..5 by 0.5)".
std::string levels_text(const ScoreTable& table) {
  const std::string text = fmt::format("{} levels", table.levels());
  if (table.values.front() == 1 && table.values.back() == table.levels()) return text;
  return fmt::format("{} (scores {})", text, scale_text(table.values));
}

/// What the table holds besides scores of one judge.
std::string besides(const ScoreTable& table) {
  std::string text;
  if (table.judges.size() > 1) text += fmt::format("; {} judges, pooled", table.judges.size());
  if (table.missing() > 0) text += "; " + counted(table.missing(), "blank score");
  if (table.unreadables() > 0) text += "; " + counted(table.unreadables(), "answer") + " that cannot be read, left out";
  const auto gold = std::count_if(table.responses.begin(), table.responses.end(), has_gold);
  if (gold > 0) text += fmt::format("; gold scores of {}", counted(gold, "response"));
  for (const std::string& note : table.notes) text += "; " + note;
  return text;
}

std::string found_in(const ScoreTable& table, const EmpiricalJudge& judge) {
  int responses[2] = {INT_MAX, 0}, samples[2] = {INT_MAX, 0};
  const auto widen = [](int(&range)[2], std::uint32_t n) {
    range[0] = std::min(range[0], static_cast<int>(n)), range[1] = std::max(range[1], static_cast<int>(n));
  };
  for (const auto& p : table.prompts) widen(responses, p.count);
  for (const auto& r : table.responses) widen(samples, r.count);
  std::string text = fmt::format("{} x {} x {}, {}, pooled sd {:.3g}", counted(static_cast<std::int64_t>(table.prompts.size()), "prompt"),
                                 range(responses[0], responses[1], "response"), range(samples[0], samples[1], "sample"), levels_text(table),
                                 judge.pooled_sd) +
                     besides(table);
  // levels whose rows hold more than counts
  std::string few;
  long levels = 0, responses_of_few = 0;
  for (std::size_t i = 0; i < judge.rows.size(); ++i)
    if (judge.thin[i]) {
      few += fmt::format("{}{} ({})", few.empty() ? "" : ", ", i + 1, judge.rows[i]);
      ++levels, responses_of_few = judge.rows[i];
    }
  if (levels == 0) return text;
  const auto all = static_cast<long>(judge.rows.size());
  if (levels > 8) return text + fmt::format("; {} of {} levels have few responses: smoothed", levels, all);
  if (levels > 1) return text + fmt::format("; levels {} have few responses: smoothed", few);
  return text + fmt::format("; level {} has {} response{}: smoothed", few.substr(0, few.find(' ')), responses_of_few,
                            responses_of_few == 1 ? "" : "s");
}

}  // namespace

JudgeFile make_judge(const ScoreTable& table, const std::string& file) {
  try {
    EmpiricalJudge judge = learn_judge(table);
    std::string found = found_in(table, judge);
    return {std::move(judge), std::move(found)};
  } catch (const Failure& failure) {
    throw Failure(failure.code, fmt::format("{}: {}", file, failure.what()));
  }
}

}  // namespace odrpo
