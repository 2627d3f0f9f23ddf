// Implements program.hpp: writes requests, reads answers, and says what is wrong with them.
#include "estimators/outside/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
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

constexpr double agreement = 1e-9;       // of two answers to one batch, of the largest advantage
constexpr double seconds_to_end = 5;     // after the last request
constexpr int sampled_steps = 100;       // of which one is asked twice
constexpr std::size_t longest_number = 64, longest_start = std::size_t{1} << 16;  // bytes in an answer: of each advantage, besides them
constexpr std::size_t shown_bytes = 200;

/// The program of a command, looked up from the folder where it will run.
Command program_of(const EstimatorConfig& config) {
  Command command;
  command.arguments = command_words("command", config.command);
  const std::string& name = command.arguments[0];
  const bool inside = name.find('/') != std::string::npos && name[0] != '/' && !config.folder.empty();
  command.file = find_program(inside ? config.folder + "/" + name : name);
  if (command.file.empty()) fail(Exit::io, "there is no program \"{}\"{}", name, name.find('/') == std::string::npos ? " in PATH" : " that can be executed");
  command.file = std::filesystem::absolute(command.file).string();
  command.environment = steady_environment();
  return command;
}

ProcessRules rules_of(const EstimatorConfig& config, const std::atomic<bool>& stop) {
  return {.deadline = config.deadline, .stop = &stop, .longest_answer = longest_start, .deadline_from = " (`deadline`)"};
}

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

/// The process, and what it is asked.
class OutsideProgram::Talk {
 public:
  Talk(const EstimatorConfig& config, const std::atomic<bool>& stop)
      : process_("estimator `" + printable_line(config.command) + "`", program_of(config), rules_of(config, stop), {.folder = config.folder}) {}

  /// The answer to a message, an object without `error`.
  Json ask(const std::string& message, const std::string& doing) {
    const std::string line = process_.ask(message, doing);
    latest_ = line;
    Json answer = Json::parse(line, nullptr, false);
    if (answer.is_discarded())
      wrong(doing, line.find("NaN") != std::string::npos || line.find("Infinity") != std::string::npos ? "the answer has NaN or Infinity, which JSON lacks"
                                                                                                          : "the answer is no JSON");
    if (!answer.is_object()) wrong(doing, "the answer is no JSON object");
    if (const auto error = answer.find("error"); error != answer.end())
      wrong(doing, "it says: " + printable_line(error->is_string() ? error->get<std::string>() : error->dump()), false);
    return answer;
  }

  [[noreturn]] void wrong(const std::string& doing, const std::string& why, bool show = true) {
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
};

OutsideProgram::OutsideProgram(const EstimatorConfig& config, const std::atomic<bool>& stop) : kind_(config.kind), state_(config.state) {
  talk_ = std::make_unique<Talk>(config, stop);
  const auto word = [](std::string_view w) { return Json(std::string(w)).dump(); };
  talk_->ask(fmt::format("{{\"protocol\":{},\"kind\":{},\"state\":{}}}", outside_protocol, word(word_of<OutsideKind>(outside_kind_words, kind_)),
                         word(word_of<OutsideState>(outside_state_words, state_))),
             "the first message");
  introduction_ = talk_->latest();
  if (const std::string errors = talk_->errors(); !errors.empty()) introduction_ += '\n' + errors;
}

OutsideProgram::~OutsideProgram() {
  if (good_) try {
      talk_->close();
    } catch (const Failure&) {  // its work is done; the destructor of the process kills it
    }
}

void OutsideProgram::begin(const OutsideRun& run) {
  run_ = run;
  talk_->limit_answers(static_cast<std::size_t>(run.batch) * static_cast<std::size_t>(run.rollouts));
  const Json message = {{"begin",
                         {{"run", run.id}, {"estimator", run.estimator}, {"seed", run.seed}, {"levels", run.levels}, {"batch", run.batch},
                          {"rollouts", run.rollouts}, {"votes", run.votes}, {"steps", run.steps}}}};
  good_ = false;  // unless nothing is thrown
  talk_->ask(message.dump(), "the message `begin`");
  good_ = true;
}

void OutsideProgram::ask(const OutsideBatch& batch, std::span<double> out) {
  const std::size_t members = static_cast<std::size_t>(batch.members), groups = batch.prompts.size();
  std::string message = fmt::format("{{\"run\":{},\"step\":{},\"levels\":{},\"prompts\":[{}],\"scores\":{}", Json(run_.id).dump(), batch.step, run_.levels,
                                    fmt::join(batch.prompts, ","), rows_text(batch.scores, members));
  if (!batch.lengths.empty()) message += ",\"lengths\":" + rows_text(batch.lengths, members);
  message += '}';
  const std::string doing = fmt::format("step {}", batch.step);
  const Json answer = talk_->ask(message, doing);
  const auto rows = answer.find("advantages");
  if (rows == answer.end()) talk_->wrong(doing, "the answer has no `advantages`");
  if (!rows->is_array() || rows->size() != groups)
    talk_->wrong(doing, fmt::format("`advantages` has {} groups, wanted {}", rows->is_array() ? std::to_string(rows->size()) : "no list of", groups));
  for (std::size_t g = 0; g < groups; ++g) {
    const Json& row = (*rows)[g];
    if (!row.is_array() || row.size() != members)
      talk_->wrong(doing, fmt::format("`advantages`[{}] has {} numbers, wanted {}", g, row.is_array() ? std::to_string(row.size()) : "no list of", members));
    for (std::size_t i = 0; i < members; ++i) {
      const std::size_t at = g * members + i;
      const bool missing = batch.scores[at] != batch.scores[at];
      if (row[i].is_null() && (missing || kind_ == OutsideKind::final)) out[at] = std::numeric_limits<double>::quiet_NaN();
      else if (!row[i].is_number())
        talk_->wrong(doing, fmt::format("`advantages`[{}][{}] is {}, no number", g, i, printable_line(row[i].dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 40))));
      else out[at] = row[i].get<double>();
      if (std::isinf(static_cast<float>(out[at]))) talk_->wrong(doing, fmt::format("`advantages`[{}][{}] is {}, beyond the range of float", g, i, out[at]));
    }
  }
}

void OutsideProgram::advantages(const OutsideBatch& batch, std::span<double> out) {
  good_ = false;  // unless nothing is thrown
  ask(batch, out);
  if (state_ == OutsideState::none && (batch.step < 2 || batch.step % sampled_steps == 0)) {
    const std::size_t members = static_cast<std::size_t>(batch.members), groups = batch.prompts.size();
    const auto reversed = [&](auto values, std::size_t each) {
      std::vector<std::remove_const_t<typename decltype(values)::element_type>> turned;
      turned.reserve(values.size());
      for (std::size_t g = values.size() / each; g-- > 0;) turned.insert(turned.end(), values.begin() + g * each, values.begin() + (g + 1) * each);
      return turned;
    };
    const auto prompts = reversed(batch.prompts, 1);
    const auto scores = reversed(batch.scores, members);
    const auto lengths = reversed(batch.lengths, members);
    std::vector<double> again(out.size());
    ask({batch.step, prompts, batch.members, scores, lengths}, again);
    again = reversed(std::span<const double>(again), members);
    double largest = 0;
    for (const double a : out) largest = std::max(largest, std::fabs(a));  // a NaN changes nothing
    for (std::size_t i = 0; i < groups * members; ++i) {
      const bool same = out[i] != out[i] ? again[i] != again[i] : std::fabs(out[i] - again[i]) <= agreement * largest;
      if (!same)
        talk_->wrong(fmt::format("step {}", batch.step),
                     fmt::format("the same batch, its groups in another order, gets other advantages: [{}][{}] is {} and then {}; an estimator with memory has state = \"run\"",
                                 i / members, i % members, out[i], again[i]),
                     false);
    }
  }
  good_ = true;
}

}  // namespace odrpo
