// Learns a judge from a file's table, and says what is in it.
#include "spec/learned_judge.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/failure.hpp"

namespace odrpo {

namespace {

std::string range(int least, int most, const char* what) {
  return least == most ? fmt::format("{} {}{}", least, what, least == 1 ? "" : "s") : fmt::format("{} to {} {}s", least, most, what);
}

std::string found_in(const ScoreTable& table, const EmpiricalJudge& judge) {
  int responses[2] = {table.prompts[0].responses, 0}, samples[2] = {table.prompts[0].samples, 0};
  for (const auto& p : table.prompts) {
    responses[0] = std::min(responses[0], p.responses), responses[1] = std::max(responses[1], p.responses);
    samples[0] = std::min(samples[0], p.samples), samples[1] = std::max(samples[1], p.samples);
  }
  const auto prompts = table.prompts.size();
  std::string text = fmt::format("{} prompt{} x {} x {}, {} levels, pooled sd {:.3g}", prompts, prompts == 1 ? "" : "s",
                                 range(responses[0], responses[1], "response"), range(samples[0], samples[1], "sample"),
                                 judge.channel.matrix.size, judge.pooled_sd);
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

JudgeFile make_judge(const ScoreTable& table, const std::string& file, int levels) {
  try {
    EmpiricalJudge judge = learn_judge(table, levels);
    std::string found = found_in(table, judge);
    return {std::move(judge), std::move(found)};
  } catch (const Failure& failure) {
    throw Failure(failure.code, fmt::format("{}: {}", file, failure.what()));
  }
}

}  // namespace odrpo
