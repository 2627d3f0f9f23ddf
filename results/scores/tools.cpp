// Implements tools.hpp: one small reader for each tool. A reader takes the objects of a file and adds a row for each score.
#include "results/scores/tools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/cell_text.hpp"
#include "results/scores/csv.hpp"
#include "results/scores/rows.hpp"
#include "results/scores/tool_text.hpp"

namespace odrpo {
namespace {

/// True if a text begins as a date does: "2026-11-25".
bool is_date(std::string_view text) {
  return text.size() > 4 && text[4] == '-' && std::all_of(text.begin(), text.begin() + 4, [](char c) { return c >= '0' && c <= '9'; });
}

/// Finds the file's name without folder and endings: "samples_a" of "runs/samples_a.jsonl.gz" and of "runs.zip:samples_a.jsonl", "log" of
/// "log.eval:summaries.json".
std::string stem_of(std::string_view name) {
  if (const std::string_view member = ".eval:summaries.json"; name.ends_with(member)) name.remove_suffix(member.size());
  if (const auto folder = name.find_last_of("/:"); folder != std::string_view::npos) name.remove_prefix(folder + 1);
  for (const std::string_view end : {".gz", ".zst", ".jsonl", ".ndjson", ".json"})
    if (name.ends_with(end)) name.remove_suffix(end.size());
  return std::string(name);
}

/// Finds the task of a file "samples_TASK_DATE.jsonl" of lm-evaluation-harness; the file's own name where it is called otherwise.
std::string lm_eval_task(std::string_view file) {
  std::string stem = stem_of(file);
  if (!stem.starts_with("samples_")) return stem;
  if (const auto last = stem.rfind('_'); last > 7 && is_date(std::string_view(stem).substr(last + 1))) stem.resize(last);
  return stem.substr(8);
}

/// Finds the task of a log "DATE_TASK_ID.eval" of Inspect; empty where it is called otherwise.
std::string inspect_task(std::string_view file) {
  const std::string stem = stem_of(file);
  const auto first = stem.find('_'), last = stem.rfind('_');
  return is_date(stem) && first < last ? stem.substr(first + 1, last - first - 1) : "";
}

struct ToolText {
  std::string name;
  std::vector<ToolItem> items;
};

class Reader {
 public:
  Reader(std::span<const ToolText> texts, const ScoreReading& how) : texts_(texts), how_(how), judges_(texts.size()) {}
  ToolRows rows;

  void promptfoo();
  void inspect();
  void lm_eval();
  void openai_evals();
  void deepeval();
  void mt_bench();
  void verl();
  void nemo_rl();
  void prime_rl();
  void verifiers();

 private:
  template <class Use>
  void each(Use use) {
    for (std::size_t file = 0; file < texts_.size(); ++file)
      for (const ToolItem& item : texts_[file].items) use(item.json, item.line, file);
  }
  /// The key of the score that the user named, else `usual`. Fails where no object has it.
  std::string key(const char* usual) const;
  void add(ToolRow row) { rows.rows.push_back(std::move(row)); }
  /// Adds a row of a file, whose judges add_unscored() counts on.
  void add_of(std::size_t file, ToolRow row) {
    judges_[file].insert(row.judge);
    add(std::move(row));
  }
  /// Adds a blank score by each judge of its file for every row of `unscored_`, and notes their number.
  void add_unscored(const char* what) {
    std::set<std::string> all;
    for (const auto& names : judges_) all.insert(names.begin(), names.end());
    for (auto& [file, row] : unscored_)
      for (const std::string& judge : judges_[file].empty() ? all : judges_[file]) row.judge = judge, add(row);
    note(static_cast<long>(unscored_.size()), what);
  }
  void note(long n, const char* what) {
    if (n > 0) rows.notes.push_back(fmt::format("{} {}", n, what));
  }
  std::span<const ToolText> texts_;
  const ScoreReading& how_;
  std::vector<std::set<std::string>> judges_;              ///< of each file
  std::vector<std::pair<std::size_t, ToolRow>> unscored_;  ///< file and row of answers without any score
};

std::string Reader::key(const char* usual) const {
  const std::string named = how_.columns.score == ScoreColumns{}.score ? usual : how_.columns.score;
  std::set<std::string> keys;
  for (const ToolText& text : texts_)
    for (const ToolItem& item : text.items) {
      if (item.json.contains(named)) return named;
      for (const auto& [key, value] : item.json.items()) keys.insert(key);
    }
  fail(Exit::bad_input, "{}: no object has the key {}; they have {}", texts_[0].name, shown_cell(named), joined(keys, [](const std::string& k) { return shown_cell(k); }));
}

void Reader::promptfoo() {
  long failed = 0;
  each([&](const Json& json, long line, std::size_t) {
    for (const Json& result : member(json, {"results", "results"})) {
      const Json& output = member(result, {"response", "output"});
      if (output.is_null()) {
        ++failed;
        continue;
      }
      ToolRow row;
      row.prompt = id_of(text_of(member(result, {"vars"})) + "/" + text_of(member(result, {"promptIdx"})));
      row.response = id_of(text_of(output) + "/" + text_of(member(result, {"provider", "id"})));
      row.line = line;
      const Json& parts = member(result, {"gradingResult", "componentResults"});
      if (!parts.is_array() || parts.empty()) {
        row.judge = "score", row.score = score_of(member(result, {"score"}));
        add(row);
        continue;
      }
      std::map<std::string, int> met;
      for (const Json& part : parts) {
        if (!part.is_object()) continue;
        const Json& metric = member(part, {"assertion", "metric"});
        row.judge = text_of(metric.is_null() ? member(part, {"assertion", "type"}) : metric);
        if (const int times = ++met[row.judge]; times > 1) row.judge += " " + std::to_string(times);  // another assertion, which asks something else
        row.score = member(part, {"metadata", "graderError"}) == true ? "grader error" : score_of(member(part, {"score"}));
        add(row);
      }
    }
  });
  note(failed, "results have no output: the provider failed");
}

void Reader::inspect() {
  const auto scores_of = [&](const Json& log, const Json& sample, long line, std::size_t file) {
    ToolRow row;
    row.prompt = text_of(member(sample, {"id"})), row.response = text_of(member(sample, {"epoch"})), row.line = line;
    if (texts_.size() > 1) {  // an epoch of another log is another answer, and an id of another task another prompt
      const Json& spec = member(log, {"eval"});
      const std::string& name = texts_[file].name;
      const std::string model = text_of(member(spec, {"model"}));
      std::string task = text_of(member(spec, {"task"})), run;
      for (const Json* id : {&member(spec, {"eval_id"}), &member(spec, {"run_id"}), &member(sample, {"uuid"})})
        if (run.empty()) run = text_of(*id);
      if (run.empty() && model.empty()) run = stem_of(name);
      if (task.empty()) task = inspect_task(name);
      for (const std::string& part : {run, model})
        if (!part.empty()) row.response = part + "/" + row.response;
      if (!task.empty()) row.prompt = task + "/" + row.prompt;
    }
    const auto put = [&](const std::string& judge, const Json& value) {
      static const std::map<std::string, const char*> grades = {{"C", "1"}, {"P", "0.5"}, {"I", "0"}, {"N", "0"}};
      row.judge = judge, row.score = score_of(value);
      if (const auto grade = grades.find(row.score); value.is_string() && grade != grades.end()) row.score = grade->second;
      add_of(file, row);
    };
    const Json& scores = member(sample, {"scores"});
    if (!scores.is_object() || scores.empty()) {
      unscored_.emplace_back(file, std::move(row));
      return;
    }
    for (const auto& [judge, score] : scores.items()) {
      const Json& value = member(score, {"value"});
      if (!value.is_object()) put(judge, value);
      else if (value.empty()) put(judge, Json());
      else
        for (const auto& [part, of] : value.items()) put(judge + "." + part, of);
    }
  };
  each([&](const Json& json, long line, std::size_t file) {
    if (!json.contains("samples")) scores_of(json, json, line, file);  // of summaries.json
    for (const Json& sample : member(json, {"samples"})) scores_of(json, sample, line, file);
  });
  add_unscored("samples have no scores: they count as missing");
}

void Reader::lm_eval() {
  // files of one task are its repeats; a document of another task is another prompt
  std::map<std::string, int> files;
  std::vector<std::string> task, repeat;
  for (const ToolText& text : texts_) {
    task.push_back(texts_.size() > 1 ? lm_eval_task(text.name) + "/" : "");
    repeat.push_back(std::to_string(files[task.back()]++));
  }
  long lacking = 0;
  each([&](const Json& json, long line, std::size_t file) {
    const std::string prompt = task[file] + text_of(member(json, {"doc_id"})), filter = text_of(member(json, {"filter"}));
    const std::string ending = filter.empty() || filter == "none" ? "" : "," + filter;
    const Json& metrics = member(json, {"metrics"});
    if (!metrics.is_array() || metrics.empty()) unscored_.emplace_back(file, ToolRow{prompt, "0", "", repeat[file], "", line});
    for (const Json& metric : metrics) {
      if (!metric.is_string()) continue;
      const Json& score = member(json, {metric.get_ref<const std::string&>().c_str()});
      lacking += score.is_null();
      add_of(file, {prompt, "0", metric.get<std::string>() + ending, repeat[file], score_of(score), line});
    }
  });
  note(lacking, "scores of metrics are absent or null: they count as missing");
  add_unscored("documents have no metrics: their scores count as missing");
}

void Reader::openai_evals() {
  std::vector<std::string> names(texts_.size());
  long errors = 0, unscored = 0;
  each([&](const Json& json, long line, std::size_t file) {
    if (json.contains("spec")) names[file] = text_of(member(json, {"spec", "eval_name"}));
    if (!json.contains("sample_id")) return;
    if (text_of(member(json, {"type"})) == "error") {
      ++errors;
      return;
    }
    const Json& data = member(json, {"data"});
    const char* const keys[] = {"score", "correct", "choice"};
    const auto score = std::find_if(std::begin(keys), std::end(keys), [&](const char* key) { return data.is_object() && data.contains(key); });
    if (score != std::end(keys)) add({text_of(json["sample_id"]), "0", names[file], std::to_string(file), score_of(data[*score]), line});
    else if (text_of(member(json, {"type"})) == "match" || text_of(member(json, {"type"})) == "metrics") ++unscored;
  });
  note(errors, "events are errors of the tool");
  note(unscored, "events of scores have none: they are left out");
}

void Reader::deepeval() {
  each([&](const Json& json, long line, std::size_t file) {
    for (const Json& test : member(json, {"testCases"})) {
      ToolRow row{id_of(text_of(member(test, {"input"}))), id_of(text_of(member(test, {"actualOutput"}))), "", std::to_string(file), "", line};
      const Json& metrics = member(test, {"metricsData"});
      if (!metrics.is_array() || metrics.empty()) unscored_.emplace_back(file, row);
      for (const Json& metric : metrics) {
        const bool failed = !member(metric, {"error"}).is_null();
        row.judge = text_of(member(metric, {"name"})), row.score = failed ? "error" : score_of(member(metric, {"score"}));
        add_of(file, row);
      }
    }
  });
  add_unscored("test cases have no metrics: their scores count as missing");
}

void Reader::mt_bench() {
  each([&](const Json& json, long line, std::size_t) {
    const Json& judge = member(json, {"judge"});
    std::string name = judge.is_array() ? joined(judge, text_of, " ") : text_of(judge);
    std::string score = score_of(member(json, {"score"}));
    if (const CellText cell = read_cell(score); cell.kind == CellText::Kind::number && cell.value == -1) score.clear();  // the judge gave no verdict
    add({text_of(member(json, {"question_id"})) + "/" + text_of(member(json, {"turn"})), text_of(member(json, {"model"})), std::move(name), "",
         std::move(score), line});
  });
}

void Reader::verl() {
  // a rollout of several outputs repeats its score: the first output has the prompt, the last one the score
  struct Rollout {
    std::size_t row;
    long first, last;
  };
  std::map<std::string, Rollout> rollouts;
  std::map<std::string, int> uids, met;
  long repeated = 0;
  const std::string score = key("score");
  const auto in_step = [](const Json& json, std::size_t file, const std::string& id) {
    return fmt::format("{}/{}/{}", file, text_of(member(json, {"step"})), id);
  };
  each([&](const Json& json, long, std::size_t file) { ++uids[in_step(json, file, text_of(member(json, {"uid"})))]; });
  each([&](const Json& json, long line, std::size_t file) {
    if (!json.contains(score)) fail(Exit::bad_input, "{}:{}:1: error: no key {}", texts_[file].name, line, shown_cell(score));
    const std::string step = text_of(member(json, {"step"})), input = id_of(text_of(member(json, {"input"})));
    ToolRow row{step.empty() ? input : step + "/" + input, "", "", "", score_of(json[score]), line};
    const std::string uid = text_of(member(json, {"uid"}));
    const auto rollout = rollout_of(uid);
    if (rollout && uids[in_step(json, file, uid)] == 1) {  // a uid of several rows names no output
      const auto [at, is_new] =
          rollouts.try_emplace(in_step(json, file, rollout->first), Rollout{rows.rows.size(), rollout->second, rollout->second});
      if (!is_new) {
        ++repeated;
        Rollout& known = at->second;
        ToolRow& kept = rows.rows[known.row];
        if (rollout->second > known.last) known.last = rollout->second, kept.score = row.score, kept.line = line;
        if (rollout->second < known.first) known.first = rollout->second, kept.prompt = row.prompt;
        return;
      }
    }
    add(std::move(row));
  });
  for (ToolRow& row : rows.rows) row.response = std::to_string(met[row.prompt]++);
  note(repeated, "rows are further outputs of a rollout and repeat its score: the last output of each rollout is kept");
}

void Reader::nemo_rl() {
  std::size_t groups = 0, least = 0, most = 0;
  const std::string reward = key("rewards");
  for (const ToolText& text : texts_) {
    std::vector<std::string> content;
    for (const ToolItem& item : text.items) content.push_back(text_of(only_element(member(item.json, {"content"}))));
    std::vector<std::size_t> common;
    for (std::size_t i = 1; i < content.size(); ++i) common.push_back(common_beginning(content[i - 1], content[i]));
    if (content.empty()) continue;
    const std::size_t size = size_by_common_beginning(common);
    if (size == 0)
      fail(Exit::bad_input, "{}: where a prompt's rows begin cannot be told: by their common beginnings the groups would have different sizes; write the prompt's id, the answer's id and the score into JSON lines, and name them by --prompt, --response and --score",
           text.name);
    for (std::size_t i = 0; i < content.size(); ++i)
      add({fmt::format("{}/{}", texts_.size() > 1 ? text.name : "0", i / size + 1), std::to_string(i % size + 1), "", "",
           score_of(only_element(member(text.items[i].json, {reward.c_str()}))), text.items[i].line});
    least = groups == 0 ? size : std::min(least, size), most = std::max(most, size);
    groups += content.size() / size;
  }
  const std::string size = least == most ? std::to_string(most) : fmt::format("{} to {}", least, most);
  rows.notes.push_back(
      fmt::format("found {} groups of {} answers by their common beginning: if that is wrong, write the prompt's id, the answer's "
                  "id and the score into JSON lines", groups, size));
}

void Reader::prime_rl() {
  long empty = 0;
  each([&](const Json& json, long line, std::size_t file) {
    std::string prompt = text_of(member(json, {"group"}));
    for (const std::initializer_list<const char*>& path : {std::initializer_list<const char*>{"task", "key"}, {"task", "hash"}, {"task", "data", "idx"}})
      if (prompt.empty()) prompt = text_of(member(json, path));
    if (texts_.size() > 1) prompt = std::to_string(file) + "/" + prompt;
    empty += member(json, {"traces"}).empty();
    for (const Json& trace : member(json, {"traces"})) {
      const Json& rewards = member(trace, {"rewards"});
      const std::string response = text_of(member(trace, {"id"}));
      if (!rewards.is_object() || rewards.empty()) unscored_.emplace_back(file, ToolRow{prompt, response, "", "", "", line});
      else
        for (const auto& [name, reward] : rewards.items())
          add_of(file, {prompt, response, name, "", score_of(reward.is_object() ? member(reward, {"score"}) : reward), line});
    }
  });
  add_unscored("traces have no rewards: they count as missing");
  note(empty, "groups have no traces: they are left out");
}

void Reader::verifiers() {
  std::map<std::string, int> met;
  const std::string score = key("reward");
  each([&](const Json& json, long line, std::size_t file) {
    const std::string prompt = (texts_.size() > 1 ? std::to_string(file) + "/" : "") + text_of(member(json, {"example_id"}));
    std::string response = text_of(member(json, {"sample_id"}));
    if (response.empty()) response = text_of(member(json, {"rollout_number"}));
    if (response.empty()) response = std::to_string(met[prompt]++);
    add({prompt, std::move(response), "", "", score_of(member(json, {score.c_str()})), line});
  });
}

struct Tool {
  ScoreFormat format;
  void (Reader::*read)();
  std::vector<std::vector<const char*>> keys;  ///< of its objects: all of one list; "a.b" is the key b in the object a
  bool names_judges;                           ///< `--score` chooses among the judges of its rows
};
const std::vector<Tool>& tools() {
  static const std::vector<Tool> all = {
      {ScoreFormat::promptfoo, &Reader::promptfoo, {{"results.results", "evalId"}, {"results.results", "config"}}, true},
      {ScoreFormat::inspect, &Reader::inspect, {{"eval", "samples"}, {"id", "epoch", "scores"}, {"id", "epoch", "input", "target"}}, true},
      {ScoreFormat::lm_eval, &Reader::lm_eval, {{"doc_id", "filtered_resps"}}, true},
      {ScoreFormat::openai_evals, &Reader::openai_evals, {{"spec.eval_name"}, {"run_id", "event_id", "sample_id"}}, true},
      {ScoreFormat::deepeval, &Reader::deepeval, {{"testCases"}}, true},
      {ScoreFormat::mt_bench, &Reader::mt_bench, {{"question_id", "model", "judge", "score", "turn"}}, true},
      {ScoreFormat::verl, &Reader::verl, {{"input", "output", "score", "step"}}, false},
      {ScoreFormat::nemo_rl, &Reader::nemo_rl, {{"content", "rewards", "idx"}}, false},
      {ScoreFormat::prime_rl, &Reader::prime_rl, {{"traces", "task"}, {"traces", "group"}}, true},
      {ScoreFormat::verifiers, &Reader::verifiers, {{"example_id", "reward"}}, false},
  };
  return all;
}

bool has_keys(const Json& json, const std::vector<const char*>& keys) {
  return json.is_object() && std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
    const auto point = key.find('.');
    return json.contains(key.substr(0, point)) && (point == std::string::npos || json[key.substr(0, point)].contains(key.substr(point + 1)));
  });
}

/// Keeps rows of the judges that the user named.
void choose_judges(ToolRows& rows, const std::string& wanted, const std::string& file) {
  std::set<std::string> judges, kept;
  for (const ToolRow& row : rows.rows) judges.insert(row.judge);
  for (const std::string& part : judges.contains(wanted) ? std::vector{wanted} : split(wanted, ',')) {
    const std::string glob(trimmed(part));
    const auto before = kept.size();
    for (const std::string& name : judges)
      if (name == glob || glob_match(glob, name)) kept.insert(name);
    if (kept.size() == before && !kept.contains(glob))
      fail(Exit::bad_input, "{}: no judge or metric is called {}; the file has {}", file, shown_cell(glob), joined(judges, [](const std::string& j) { return shown_cell(j); }));
  }
  std::erase_if(rows.rows, [&](const ToolRow& row) { return !kept.contains(row.judge); });
}

}  // namespace

std::optional<ScoreFormat> tool_of(std::string_view text) {
  const Json json = first_object(text);
  for (const Tool& tool : tools())
    for (const auto& keys : tool.keys)
      if (has_keys(json, keys)) return tool.format;
  return std::nullopt;
}

ToolRows read_tool(ScoreFormat format, std::span<const TextView> texts, const ScoreReading& how) {
  const auto tool = std::find_if(tools().begin(), tools().end(), [&](const Tool& t) { return t.format == format; });
  const std::string_view word = word_of<ScoreFormat>(score_format_words, format);
  std::vector<ToolText> read;
  for (const TextView& text : texts) {
    read.push_back({text.name, items_of(text)});
    const auto good = [&](const ToolItem& item) { return std::any_of(tool->keys.begin(), tool->keys.end(), [&](const auto& keys) { return has_keys(item.json, keys); }); };
    if (std::none_of(read.back().items.begin(), read.back().items.end(), good))
      fail(Exit::bad_input, "{}:1:1: error: no file of {}: no object has the keys {}", text.name, word, joined(tool->keys[0]));
  }
  Reader reader(read, how);
  (reader.*tool->read)();
  if (tool->names_judges && how.columns.score != ScoreColumns{}.score) choose_judges(reader.rows, how.columns.score, texts[0].name);
  if (how.columns.rater.empty())
    for (ToolRow& row : reader.rows.rows) row.judge.clear();
  if (reader.rows.rows.empty()) fail(Exit::bad_input, "{}:1:1: error: no score in this file of {}", texts[0].name, word);
  return std::move(reader.rows);
}

ListedScores::ListedScores(std::vector<ToolRow> rows) : rows_(std::move(rows)) {
  has_[prompt_field] = has_[response_field] = has_[score_field] = true;
  has_[rater_field] = std::any_of(rows_.begin(), rows_.end(), [](const ToolRow& row) { return !row.judge.empty(); });
  has_[sample_field] = std::any_of(rows_.begin(), rows_.end(), [](const ToolRow& row) { return !row.sample.empty(); });
}

bool ListedScores::next(ScoreRow& row, CsvErrors&) {
  if (at_ == rows_.size()) return false;
  const ToolRow& of = rows_[at_++];
  row.line = of.line;
  const std::pair<std::size_t, const std::string*> fields[] = {
      {prompt_field, &of.prompt}, {response_field, &of.response}, {rater_field, &of.judge}, {sample_field, &of.sample}, {score_field, &of.score}};
  for (const auto& [field, text] : fields) row.field[field] = {*text, of.line, 1, false};
  row.field[gold_field] = {};
  return true;
}

}  // namespace odrpo
