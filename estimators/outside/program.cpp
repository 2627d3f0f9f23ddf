// Implements program.hpp: writes requests, reads answers, and says what is wrong with them.
#include "estimators/outside/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/process.hpp"

namespace odrpo {
namespace {

using Json = nlohmann::json;

constexpr double seconds_to_end = 5;     // after the last request
constexpr std::size_t longest_number = 64, longest_start = std::size_t{1} << 16;  // bytes in an answer: of each advantage, besides them
constexpr std::size_t shown_bytes = 200;

void add_number(std::string& text, double x) {
  if (x != x) text += "null";
  else fmt::format_to(std::back_inserter(text), "{}", x);
}

/// Writes [[1,2],[3,null]].
template <class T>
std::string rows_text(std::span<const T> values, std::size_t members) {
  std::string text = "[";
  for (std::size_t i = 0; i < values.size(); ++i) {
    text += i % members == 0 ? (i == 0 ? "[" : "],[") : ",";
    if constexpr (std::is_same_v<T, double>) add_number(text, values[i]);
    else text += std::to_string(values[i]);
  }
  return text + "]]";
}

}  // namespace

/// The process, its numbered requests and their answers.
class OutsideProgram::Conversation {
 public:
  explicit Conversation(const EstimatorConfig& config)
      : process_("estimator `" + printable_line(config.command) + "`", find_command("`command`", command_words("`command`", config.command), config.folder),
                 {.deadline = config.deadline, .longest_answer = longest_start, .kill_left = true, .deadline_from = " (`deadline`)"}, {.folder = config.folder}) {}

  /// The answer to a message, whose text lacks its last brace: an object with the message's number and without `error`.
  Json ask(std::string message, const std::string& doing) {
    message += fmt::format(",\"id\":{}}}", ++number_);
    latest_ = process_.ask(message, doing);
    Json answer = Json::parse(latest_, nullptr, false);
    if (answer.is_discarded())
      refuse(doing, latest_.find("NaN") != std::string::npos || latest_.find("Infinity") != std::string::npos ? "the answer has NaN or Infinity, which JSON lacks"
                                                                                                                 : "the answer is no JSON");
    if (!answer.is_object()) refuse(doing, "the answer is no JSON object");
    if (const auto error = answer.find("error"); error != answer.end())
      refuse(doing, "it says: " + (error->is_string() ? printable_line(error->get<std::string>()) : std::string("an error that is no text")), false);
    if (const auto id = answer.find("id"); id == answer.end() || *id != number_)
      refuse(doing, fmt::format("the answer's `id` is not {}, that of the request: each answer repeats it", number_));
    return answer;
  }

  [[noreturn]] void refuse(const std::string& doing, const std::string& why, bool show = true) {
    const std::string shown = show ? fmt::format(": {}{}", printable_line(latest_.substr(0, shown_bytes)), latest_.size() > shown_bytes ? " …" : "") : "";
    throw Failure(Exit::runs_failed, fmt::format("{}: {}: {}{}{}", process_.who(), doing, why, shown, process_.last_words()));
  }

  void limit_answers(std::size_t numbers) { process_.limit_answers(longest_start + longest_number * numbers); }
  const std::string& latest() const { return latest_; }
  std::string errors() { return process_.errors(); }
  void close() { process_.close(seconds_to_end); }

 private:
  Process process_;
  std::string latest_;
  std::int64_t number_ = 0;  ///< of the latest request
};

OutsideProgram::OutsideProgram(const EstimatorConfig& config)
    : kind_(config.kind), state_(config.state), conversation_(std::make_unique<Conversation>(config)) {
  const auto word = [](std::string_view w) { return Json(std::string(w)).dump(); };
  conversation_->ask(fmt::format("{{\"protocol\":{},\"kind\":{},\"state\":{}", outside_protocol, word(word_of<OutsideKind>(outside_kind_words, kind_)),
                                 word(word_of<OutsideState>(outside_state_words, state_))),
                     "the first message");
  introduction_ = conversation_->latest();
  if (const std::string errors = conversation_->errors(); !errors.empty()) introduction_ += '\n' + errors;
}

OutsideProgram::~OutsideProgram() {
  if (conversation_) try {
      conversation_->close();
    } catch (const Failure&) {  // its work is done; the destructor of the process kills it
    }
}

void OutsideProgram::begin(const OutsideRun& run) {
  run_ = run;
  conversation_->limit_answers(static_cast<std::size_t>(run.batch) * static_cast<std::size_t>(run.rollouts));
  const Json about = {{"run", run.id}, {"estimator", run.estimator}, {"seed", run.seed}, {"levels", run.levels}, {"batch", run.batch},
                      {"rollouts", run.rollouts}, {"votes", run.votes}, {"steps", run.steps}};
  try {
    conversation_->ask("{\"begin\":" + about.dump(), "the message `begin`");
  } catch (const Failure&) {
    conversation_.reset();
    throw;
  }
}

void OutsideProgram::ask(const OutsideBatch& batch, std::span<double> out) {
  const std::size_t members = static_cast<std::size_t>(batch.members), groups = batch.prompts.size();
  std::string message = fmt::format("{{\"run\":{},\"step\":{},\"levels\":{},\"prompts\":[{}],\"scores\":{}", Json(run_.id).dump(), batch.step, run_.levels,
                                    fmt::join(batch.prompts, ","), rows_text(batch.scores, members));
  if (!batch.lengths.empty()) message += ",\"lengths\":" + rows_text(batch.lengths, members);
  const std::string doing = fmt::format("step {}", batch.step);
  const Json answer = conversation_->ask(std::move(message), doing);
  const auto rows = answer.find("advantages");
  if (rows == answer.end()) conversation_->refuse(doing, "the answer has no `advantages`");
  if (!rows->is_array() || rows->size() != groups)
    conversation_->refuse(doing, fmt::format("`advantages` has {} groups, wanted {}", rows->is_array() ? std::to_string(rows->size()) : "no list of", groups));
  for (std::size_t g = 0; g < groups; ++g) {
    const Json& row = (*rows)[g];
    if (!row.is_array() || row.size() != members)
      conversation_->refuse(doing, fmt::format("`advantages`[{}] has {} numbers, wanted {}", g, row.is_array() ? std::to_string(row.size()) : "no list of", members));
    for (std::size_t i = 0; i < members; ++i) {
      const std::size_t at = g * members + i;
      const bool missing = batch.scores[at] != batch.scores[at];
      const bool left_out = kind_ == OutsideKind::final ? row[i].is_null() : missing && (row[i].is_null() || row[i].is_number());
      if (left_out) out[at] = std::numeric_limits<double>::quiet_NaN();
      else if (!row[i].is_number()) conversation_->refuse(doing, fmt::format("`advantages`[{}][{}] is not a number but {}", g, i, row[i].type_name()));
      else out[at] = row[i].get<double>();
      if (std::isinf(static_cast<float>(out[at]))) conversation_->refuse(doing, fmt::format("`advantages`[{}][{}] is {}, beyond the range of float", g, i, out[at]));
    }
  }
}

void OutsideProgram::advantages(const OutsideBatch& batch, std::span<double> out) try {
  ask(batch, out);
  if (state_ != OutsideState::none || !is_sampled(batch.step)) return;
  const std::string why = disagreement(batch, out, [&](const OutsideBatch& b, std::span<double> again) { ask(b, again); });
  if (!why.empty()) conversation_->refuse(fmt::format("step {}", batch.step), why, false);
} catch (const Failure&) {
  conversation_.reset();
  throw;
}

}  // namespace odrpo
