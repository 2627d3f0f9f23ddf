// Begins and ends the texts of dumps with one completion a row: columns, steps of files, groups of NeMo RL, and what is left out at the end.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/shared/failure.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/rollouts/flat_state.hpp"
#include "results/scores/tool_text.hpp"

namespace odrpo {

void FlatReader::State::begin(const TextView& text, const std::vector<std::string>& names, long line, CsvErrors& errors) {
  DumpColumns found = find_columns(format, rows.how, names, line, errors);
  if (errors.any()) throw Failure(Exit::bad_input, errors.text());
  if (rows.out.reward_names.empty()) {
    rows.out.reward_names = found.rewards;
    all_ = found.all_numbers;
    numbers.assign(found.rewards.size(), false), texts.assign(found.rewards.size(), false), fractions.assign(found.rewards.size(), false), rewards_.assign(found.rewards.size(), 0);
  } else if (found.rewards != rows.out.reward_names) {
    errors.add(line, 1, "its columns of rewards are " + names_text(found.rewards) + ", and those of " + rows.out.files.front() + " are " + names_text(rows.out.reward_names));
    throw Failure(Exit::bad_input, errors.text());
  }
  columns_ = std::move(found);
  const auto named = step_of_name(text.name);
  file_step_ = named.value_or(static_cast<std::int64_t>(rows.out.files.size()) - 1);
  if (columns_.field[step_at].empty() && format != RolloutFormat::nemo_rl && rows.out.files.size() == 1)
    rows.note(named ? "no column of steps: the number in the name of a file is its step" : "no column of steps: a file is a step");
  if (!columns_.field[length_at].empty()) rows.out.length_unit = LengthUnit::tokens;
  else if (!columns_.field[completion_at].empty()) rows.out.length_unit = LengthUnit::words;
}

void FlatReader::State::check_step(std::int64_t step, long line, CsvErrors& errors) {
  if (format < RolloutFormat::verl || format > RolloutFormat::nemo_rl) return;  // a file may be a part of a step
  const auto file = static_cast<std::uint32_t>(rows.out.files.size() - 1);
  if (last_step_ == std::pair(step, file)) return;
  last_step_ = {step, file};
  const auto [at, is_new] = file_of_step_.try_emplace(step, file);
  if (!is_new && at->second != file) errors.add(line, 1, fmt::format("step {} stands in {} too: files of one training are read together", step, rows.out.files[at->second]));
}

void FlatReader::State::add_waiting(const TextView& text) {
  if (waiting_.empty()) return;
  const std::size_t size = rows.how.group_size > 0 ? static_cast<std::size_t>(rows.how.group_size) : size_by_common_beginning(common_);
  if (size == 0) {
    const std::string_view by = rows.how.scores.columns.named_by;
    fail(Exit::bad_input, "{}:1:1: error: where a prompt's rows begin cannot be told: by their common beginnings the groups would have different sizes{}", text.name,
         by.empty() ? "" : fmt::format("; {} says how many completions a group has", by == "--" ? "--group-size" : fmt::format("{}group_size", by)));
  }
  for (std::size_t from = 0; from < waiting_.size(); from += size) {
    const std::size_t end = std::min(from + size, waiting_.size());
    std::size_t shared = waiting_[from].content.size();  // by all rows of the group
    for (std::size_t i = from + 1; i < end; ++i) shared = std::min(shared, common_[i - 1]);
    const std::string prompt = id_of(std::string_view(waiting_[from].content).substr(0, shared));
    for (std::size_t i = from; i < end; ++i) {
      waiting_[i].row.prompt = prompt;
      waiting_[i].row.group = from + 1;  // a prompt may stand in a step twice
      rows.add(waiting_[i].row, waiting_[i].rewards);
    }
  }
  waiting_.clear(), common_.clear();
}

Rollouts FlatReader::State::finish() {
  if (all_) {  // columns of numbers alone are rewards, and those with a point where there are such: a trainer's rewards are real numbers
    const bool real = std::find(fractions.begin(), fractions.end(), true) != fractions.end();
    std::string others, whole;
    std::vector<bool> kept;
    for (std::size_t c = 0; c < numbers.size(); ++c) {
      const bool is_number = numbers[c] && !texts[c];
      kept.push_back(is_number && (fractions[c] || !real));
      if (!kept[c]) add_item(is_number ? whole : others, shown_cell(rows.out.reward_names[c]));
    }
    rows.keep_columns(kept);
    const std::string_view by = rows.how.scores.columns.named_by;
    const std::string named = by.empty() ? "" : fmt::format("; {}reward names columns of rewards", by);
    if (!others.empty()) rows.note(fmt::format("no columns of rewards, since they hold other values than numbers: {}{}", others, named));
    if (!whole.empty()) rows.note(fmt::format("no columns of rewards, since they hold whole numbers without a point, which log_extra writes: {}{}", whole, named));
  }
  if (rows.out.length_unit == LengthUnit::words && std::none_of(rows.out.length.begin(), rows.out.length.end(), [](double words) { return words > 1; }))
    rows.out.length.clear(), rows.out.length_unit = LengthUnit::none;  // ids of responses
  const auto left_out = [&](std::size_t n, std::string_view why) {
    if (n > 0) rows.note(fmt::format("{} left out: {}", counted(n, "row"), why));
  };
  if (format == RolloutFormat::verl) {
    rows.settle_groups();
    left_out(rows.keep_highest(), "further outputs of a rollout, which repeat its score");
  }
  if (format == RolloutFormat::trl) {
    left_out(rows.drop_early_steps(), "of step 0, an evaluation before the training");
    left_out(rows.drop_repeated_batches(), "they repeat the batch of the step before, which TRL's log still holds");
    left_out(rows.drop_other_sizes(), "no whole groups of the training: an evaluation, or what an evaluation left of a batch in TRL's log");
    if (const std::string steps = rows.steps_with_equal_prompts(); !steps.empty())
      rows.out.warnings.push_back(fmt::format("steps {} have the same prompts in the same order: TRL writes evaluations into files of the same name; if they are such, convert the files of the other steps alone", steps));
  }
  if (differing_ > 0) rows.note(fmt::format("{} whose tokens have different advantages: the first other than 0 is read", counted(differing_, "row")));
  if (format == RolloutFormat::nemo_rl && columns_.field[group_at].empty()) rows.note("groups and prompts are found by the common beginning of rows");
  if (!shared_groups_.empty())
    rows.note(fmt::format("{} of groups with several prompts in a step: each prompt is a group of its own; {}prompt none reads the ids alone", counted(shared_groups_.size(), "id"), rows.how.scores.columns.named_by));
  return rows.finish();
}

}  // namespace odrpo
