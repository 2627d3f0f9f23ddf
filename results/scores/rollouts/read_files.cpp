// Finds the files of dumps and their format, and has them read one after the other.
#include "results/scores/rollouts/rollouts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "kernels/shared/failure.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/input_file.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/rollouts/readers.hpp"
#include "results/scores/score_file.hpp"
#include "results/scores/tool_text.hpp"
#include "results/scores/tools.hpp"

namespace odrpo {

std::optional<std::int64_t> step_of_name(std::string_view file) {
  // the last number of the file's name, or of "step_N" among its folders
  const auto number_at_end = [](std::string_view name) -> std::optional<std::int64_t> {
    const auto last = name.find_last_of("0123456789");
    if (last == std::string_view::npos) return std::nullopt;
    name = name.substr(0, last + 1);
    return number_from<std::int64_t>(name.substr(name.find_last_not_of("0123456789") + 1));
  };
  std::string_view folders = file;
  const auto slash = file.find_last_of("/:");
  if (const auto step = number_at_end(slash == std::string_view::npos ? file : file.substr(slash + 1))) return step;
  while (!folders.empty()) {
    const auto at = folders.rfind('/');
    const std::string_view part = at == std::string_view::npos ? folders : folders.substr(at + 1);
    if (part.starts_with("step")) return number_at_end(part);
    folders = at == std::string_view::npos ? std::string_view() : folders.substr(0, at);
  }
  return std::nullopt;
}

namespace {

constexpr const char* dump_endings[] = {".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".gz", ".zst", ".zip"};

bool may_hold_rollouts(std::string_view name) {
  return !name.starts_with("__MACOSX/") && std::any_of(std::begin(dump_endings), std::end(dump_endings), [&](std::string_view end) { return name.ends_with(end); });
}

/// The files that the paths name, those of a folder in the order of their numbers.
std::vector<std::string> dump_files(std::span<const std::string> paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path, error))
      if (entry.is_regular_file() && may_hold_rollouts(entry.path().filename().string())) found.push_back(entry.path().string());
    if (error) cannot_read(path);
    if (found.empty()) fail(Exit::bad_input, "{}: a folder without dumps of rollouts (.jsonl, .json, .csv, .tsv, packed or not)", shown(path, 4096));
    const auto is_parquet = [](const std::string& file) { return file.ends_with(".parquet"); };
    if (std::all_of(found.begin(), found.end(), is_parquet))
      fail(Exit::bad_input, "{0}: Parquet files: `python -m odrpo_bench convert {0} OUT.jsonl` makes JSON lines of their rows", shown(path, 4096));
    std::erase_if(found, is_parquet);  // beside what was made of them
    std::sort(found.begin(), found.end(), numbers_before);
    files.insert(files.end(), found.begin(), found.end());
  }
  std::set<std::filesystem::path> known;  // a file that is named twice, also by its folder, is one file
  std::erase_if(files, [&](const std::string& file) {
    std::error_code error;
    const auto path = std::filesystem::weakly_canonical(file, error);
    return !error && !known.insert(path).second;
  });
  return files;
}

/// Leaves out files of evaluations beside those of the training, and prime-rl's files of all traces beside those of the traces that were trained on.
void leave_out_others(std::vector<std::string>& files, std::vector<std::string>& notes) {
  const std::set<std::string> all(files.begin(), files.end());
  const auto replaced = [](std::string path, std::string_view part, std::string_view by) {
    const auto at = path.rfind(part);
    return at == std::string::npos ? std::string() : path.replace(at, part.size(), by);
  };
  const auto drop = [&](std::string_view what, const auto& is_other) {
    const auto n = std::erase_if(files, is_other);
    if (n > 0) notes.push_back(fmt::format("{} left out: {}", counted(n, "file"), what));
  };
  const auto any = [&](std::string_view part) { return std::any_of(files.begin(), files.end(), [&](const std::string& file) { return file.find(part) != std::string::npos; }); };
  if (any("train_data_step"))
    drop("validation of NeMo RL", [](const std::string& file) { return file.find("val_data_step") != std::string::npos; });
  const auto is_trace = [](const std::string& file, std::string_view part) { return file.ends_with("/traces.jsonl") && file.find(part) != std::string::npos; };
  if (any("/train/")) drop("evaluations of prime-rl", [&](const std::string& file) { return is_trace(file, "/eval/"); });
  drop("the traces of them that were trained on are read from another file of their step",
       [&](const std::string& file) { return file.ends_with("/all/traces.jsonl") && all.contains(replaced(file, "/all/", "/effective/")); });
}

RolloutFormat format_of(const TextView& text) {
  if (!is_json(text.text, text.name)) return format_by_name(text.name) == ScoreFormat::tsv ? RolloutFormat::tsv : RolloutFormat::csv;
  const Json object = first_object(text.text);
  const auto has = [&](std::initializer_list<const char*> keys) {
    return object.is_object() && std::all_of(keys.begin(), keys.end(), [&](const char* key) { return object.contains(key); });
  };
  if (has({"step", "prompt", "completion", "advantage"})) return RolloutFormat::trl;
  const auto tool = tool_of(text.text);
  if (tool == ScoreFormat::verl) return RolloutFormat::verl;
  if (tool == ScoreFormat::nemo_rl) return RolloutFormat::nemo_rl;
  if (tool == ScoreFormat::prime_rl) return RolloutFormat::prime_rl;
  if (tool == ScoreFormat::verifiers) return RolloutFormat::verifiers;
  return RolloutFormat::json;
}

/// Reads the texts of all files, one file at a time.
class RolloutFiles {
 public:
  RolloutFiles(const RolloutReading& how, std::vector<std::string> notes) : how_(how), rows_(how) { rows_.out.notes = std::move(notes); }
  void read_file(NamedText file);
  Rollouts finish();

 private:
  void read(const TextView& text);
  const RolloutReading& how_;
  DumpRows rows_;
  std::optional<RolloutFormat> format_;
  std::unique_ptr<FlatReader> flat_;
  std::unique_ptr<TraceReader> traces_;
};

void RolloutFiles::read_file(NamedText file) {
  std::vector<NamedText> texts;
  const std::string name = file.name;
  if (is_packed(file.text)) texts = unpacked(file.text, file.name, may_hold_rollouts);
  else texts.push_back(std::move(file));
  if (texts.empty()) fail(Exit::bad_input, "{}: no dump of rollouts in it: .jsonl, .json, .csv or .tsv", name);
  for (NamedText& text : texts) {
    make_utf8(text);
    const TextView view{text.name, text.text};
    check_score_text(view);
    read(view);
    text.text = {};
  }
}

void RolloutFiles::read(const TextView& text) {
  const RolloutFormat format = how_.format ? *how_.format : format_of(text);
  if (format_ && format != *format_)
    fail(Exit::bad_input, "{}:1:1: error: a file of format {}, and {} has format {}: files of one training are read together", text.name, word_of<RolloutFormat>(rollout_format_words, format),
         rows_.out.files.front(), word_of<RolloutFormat>(rollout_format_words, *format_));
  if (!format_ && format == RolloutFormat::prime_rl) traces_ = std::make_unique<TraceReader>(rows_);
  else if (!format_) flat_ = std::make_unique<FlatReader>(format, rows_);
  format_ = format;
  rows_.out.files.push_back(text.name);
  traces_ ? traces_->read(text) : flat_->read(text);
}

Rollouts RolloutFiles::finish() {
  if (!format_) fail(Exit::bad_input, "no dump of rollouts is given");
  rows_.out.format = word_of<RolloutFormat>(rollout_format_words, *format_);
  rows_.out.weights = how_.weights;
  return traces_ ? traces_->finish() : flat_->finish();
}

}  // namespace

Rollouts read_rollouts(std::span<const std::string> paths, const RolloutReading& how) {
  std::vector<std::string> names = dump_files(paths), notes;
  leave_out_others(names, notes);
  RolloutFiles files(how, std::move(notes));
  for (const std::string& name : names) files.read_file({shown(name, 4096), read_bytes(name, {"a dump of rollouts", Exit::bad_input, max_scores_bytes})});
  return files.finish();
}

Rollouts parse_rollouts(std::vector<NamedText> files, const RolloutReading& how) {
  RolloutFiles all(how, {});
  for (NamedText& file : files) all.read_file(std::move(file));
  return all.finish();
}

}  // namespace odrpo
