// Implements tools.hpp: one small reader for each tool. A reader takes the objects of a file and adds a row for each score.
#include "results/scores/tools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/csv.hpp"

namespace odrpo {
namespace {

using Json = nlohmann::json;

/// An object of a file, and the line on which it begins.
struct Item {
  Json json;
  long line;
};
struct ToolText {
  std::string name;
  std::vector<Item> items;  ///< objects of lines or of a list; a single document is one item
};

/// Python writes NaN and infinities bare; they become null. Nothing is changed inside strings.
std::string without_bare_numbers(std::string_view text) {
  std::string out(text);
  bool quoted = false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (quoted && out[i] == '\\') ++i;
    else if (out[i] == '"') quoted = !quoted;
    else if (!quoted)
      for (const std::string_view word : {"-Infinity", "Infinity", "-NaN", "NaN"})
        if (std::string_view(out).substr(i).starts_with(word)) {
          out.replace(i, word.size(), "null" + std::string(word.size() > 4 ? word.size() - 4 : 0, ' '));
          break;
        }
  }
  return out;
}

Json parsed(std::string_view text) {
  Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  if (!json.is_discarded()) return json;
  const std::string plain = without_bare_numbers(text);
  return Json::parse(plain.begin(), plain.end(), nullptr, false);
}

/// A member at a path of keys; null where one of them lacks.
const Json& member(const Json& json, std::initializer_list<const char*> path) {
  static const Json none;
  const Json* at = &json;
  for (const char* key : path) {
    if (!at->is_object() || !at->contains(key)) return none;
    at = &(*at)[key];
  }
  return *at;
}

/// Text of a scalar; of other values their JSON.
std::string text_of(const Json& json) {
  if (json.is_null()) return "";
  return json.is_string() ? json.get<std::string>() : json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// An id for a text: 16 hexadecimal digits (FNV-1a). "t" in front keeps it a text.
std::string id_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return fmt::format("t{:016x}", hash);
}

/// The score that a value is: numbers as they are, true and false 1 and 0, null blank, texts as they are.
std::string score_of(const Json& json) {
  if (json.is_boolean()) return json.get<bool>() ? "1" : "0";
  return text_of(json);
}

class Reader {
 public:
  Reader(std::span<const ToolText> texts, const ScoreReading& how) : texts_(texts), how_(how) {}
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
      for (const Item& item : texts_[file].items) use(item.json, item.line, file);
  }
  /// The key of the score that the user named, else `usual`.
  std::string key(const char* usual) const { return how_.columns.score == ScoreColumns{}.score ? usual : how_.columns.score; }
  void add(ToolRow row) { rows.rows.push_back(std::move(row)); }
  void note(long n, const char* what) {
    if (n > 0) rows.notes.push_back(fmt::format("{} {}", n, what));
  }
  std::span<const ToolText> texts_;
  const ScoreReading& how_;
};

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
      for (const Json& part : parts) {
        if (!part.is_object()) continue;
        const Json& metric = member(part, {"assertion", "metric"});
        row.judge = text_of(metric.is_null() ? member(part, {"assertion", "type"}) : metric);
        row.score = member(part, {"metadata", "graderError"}) == true ? "grader error" : score_of(member(part, {"score"}));
        add(row);
      }
    }
  });
  note(failed, "results have no output: the provider failed");
}

void Reader::inspect() {
  const auto scores_of = [&](const Json& sample, long line) {
    ToolRow row;
    row.prompt = text_of(member(sample, {"id"})), row.response = text_of(member(sample, {"epoch"})), row.line = line;
    const auto put = [&](const std::string& judge, const Json& value) {
      static const std::map<std::string, const char*> grades = {{"C", "1"}, {"P", "0.5"}, {"I", "0"}, {"N", "0"}};
      row.judge = judge, row.score = score_of(value);
      if (const auto grade = grades.find(row.score); value.is_string() && grade != grades.end()) row.score = grade->second;
      add(row);
    };
    for (const auto& [judge, score] : member(sample, {"scores"}).items()) {
      const Json& value = member(score, {"value"});
      if (!value.is_object()) put(judge, value);
      else
        for (const auto& [part, of] : value.items()) put(judge + "." + part, of);
    }
  };
  each([&](const Json& json, long line, std::size_t) {
    if (!json.contains("samples")) scores_of(json, line);  // of summaries.json
    for (const Json& sample : member(json, {"samples"})) scores_of(sample, line);
  });
}

void Reader::lm_eval() {
  each([&](const Json& json, long line, std::size_t file) {
    for (const Json& metric : member(json, {"metrics"})) {
      if (!metric.is_string() || !json.contains(metric.get<std::string>())) continue;
      const std::string filter = text_of(member(json, {"filter"}));
      add({text_of(member(json, {"doc_id"})), "0", metric.get<std::string>() + (filter.empty() || filter == "none" ? "" : "," + filter),
           std::to_string(file), score_of(json[metric.get<std::string>()]), line});
    }
  });
}

void Reader::openai_evals() {
  std::vector<std::string> names(texts_.size());
  long errors = 0;
  each([&](const Json& json, long line, std::size_t file) {
    if (json.contains("spec")) names[file] = text_of(member(json, {"spec", "eval_name"}));
    if (!json.contains("sample_id")) return;
    if (text_of(member(json, {"type"})) == "error") {
      ++errors;
      return;
    }
    const Json& data = member(json, {"data"});
    for (const char* score : {"score", "correct", "choice"})
      if (data.is_object() && data.contains(score)) {
        add({text_of(json["sample_id"]), "0", names[file], std::to_string(file), score_of(data[score]), line});
        break;
      }
  });
  note(errors, "events are errors of the tool");
}

void Reader::deepeval() {
  each([&](const Json& json, long line, std::size_t file) {
    for (const Json& test : member(json, {"testCases"}))
      for (const Json& metric : member(test, {"metricsData"})) {
        const bool failed = !member(metric, {"error"}).is_null();
        add({id_of(text_of(member(test, {"input"}))), id_of(text_of(member(test, {"actualOutput"}))), text_of(member(metric, {"name"})),
             std::to_string(file), failed ? "error" : score_of(member(metric, {"score"})), line});
      }
  });
}

void Reader::mt_bench() {
  each([&](const Json& json, long line, std::size_t) {
    const Json& judge = member(json, {"judge"});
    std::string name = judge.is_array() ? joined(judge, text_of, " ") : text_of(judge);
    std::string score = score_of(member(json, {"score"}));
    if (score == "-1") score.clear();  // the judge gave no verdict
    add({text_of(member(json, {"question_id"})) + "/" + text_of(member(json, {"turn"})), text_of(member(json, {"model"})), std::move(name), "",
         std::move(score), line});
  });
}

void Reader::verl() {
  std::map<std::string, int> met;
  const std::string score = key("score");
  each([&](const Json& json, long line, std::size_t) {
    const Json& uid = member(json, {"uid"});
    const std::string step = text_of(member(json, {"step"})), group = id_of(text_of(uid.is_null() ? member(json, {"input"}) : uid));
    const std::string prompt = step.empty() ? group : step + "/" + group;
    if (!json.contains(score)) fail(Exit::bad_input, "{}:{}:1: error: no key {}", texts_[0].name, line, shown_cell(score));
    add({prompt, std::to_string(met[prompt]++), "", "", score_of(json[score]), line});
  });
}

void Reader::nemo_rl() {
  // rows of a prompt follow each other and begin with its text: a new one begins where less than usual is common with the row before
  for (const ToolText& text : texts_) {
    std::vector<std::string> content;
    for (const Item& item : text.items) content.push_back(text_of(member(item.json, {"content"})));
    std::vector<std::size_t> common;
    for (std::size_t i = 1; i < content.size(); ++i)
      common.push_back(static_cast<std::size_t>(
          std::mismatch(content[i - 1].begin(), content[i - 1].end(), content[i].begin(), content[i].end()).first - content[i - 1].begin()));
    std::vector<std::size_t> order = common;
    std::sort(order.begin(), order.end());
    std::size_t border = 0, widest = 0;
    for (std::size_t i = 1; i < order.size(); ++i)
      if (order[i] - order[i - 1] > widest) widest = order[i] - order[i - 1], border = order[i];
    std::vector<std::size_t> sizes;
    for (std::size_t i = 0; i < content.size(); ++i) {
      if (i == 0 || common[i - 1] < border) sizes.push_back(0);
      ++sizes.back();
      add({fmt::format("{}/{}", texts_.size() > 1 ? text.name : "0", sizes.size()), std::to_string(sizes.back()), "", "",
           score_of(member(text.items[i].json, {"rewards"})), text.items[i].line});
    }
    if (!std::all_of(sizes.begin(), sizes.end(), [&](std::size_t n) { return n == sizes[0]; }))
      fail(Exit::bad_input, "{}: where a prompt's rows begin cannot be told: by their common beginnings the groups would have different sizes; add a key with the prompt, and name it by --prompt",
           text.name);
  }
}

void Reader::prime_rl() {
  each([&](const Json& json, long line, std::size_t file) {
    std::string prompt = text_of(member(json, {"group"}));
    for (const std::initializer_list<const char*>& path : {std::initializer_list<const char*>{"task", "key"}, {"task", "hash"}, {"task", "data", "idx"}})
      if (prompt.empty()) prompt = text_of(member(json, path));
    if (texts_.size() > 1) prompt = std::to_string(file) + "/" + prompt;
    for (const Json& trace : member(json, {"traces"})) {
      const Json& rewards = member(trace, {"rewards"});
      if (!rewards.is_object()) continue;
      for (const auto& [name, reward] : rewards.items())
        add({prompt, text_of(member(trace, {"id"})), name, "", score_of(reward.is_object() ? member(reward, {"score"}) : reward), line});
    }
  });
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
  std::vector<std::vector<const char*>> keys;  ///< of its objects: all of one list
  bool names_judges;                           ///< `--score` chooses among the judges of its rows
};
const std::vector<Tool>& tools() {
  static const std::vector<Tool> all = {
      {ScoreFormat::promptfoo, &Reader::promptfoo, {{"results", "evalId"}, {"results", "config"}}, true},
      {ScoreFormat::inspect, &Reader::inspect, {{"eval", "samples"}, {"id", "epoch", "scores"}}, true},
      {ScoreFormat::lm_eval, &Reader::lm_eval, {{"doc_id", "filtered_resps"}}, true},
      {ScoreFormat::openai_evals, &Reader::openai_evals, {{"spec"}, {"run_id", "event_id", "sample_id"}}, true},
      {ScoreFormat::deepeval, &Reader::deepeval, {{"testCases"}}, true},
      {ScoreFormat::mt_bench, &Reader::mt_bench, {{"question_id", "model", "judge", "score", "turn"}}, true},
      {ScoreFormat::verl, &Reader::verl, {{"input", "output", "score", "step"}}, false},
      {ScoreFormat::nemo_rl, &Reader::nemo_rl, {{"content", "rewards", "idx"}}, false},
      {ScoreFormat::prime_rl, &Reader::prime_rl, {{"traces", "task"}, {"traces", "group"}}, true},
      {ScoreFormat::verifiers, &Reader::verifiers, {{"example_id", "reward"}}, false},
  };
  return all;
}

/// The objects of a text: a document, the elements of a list, or an object a line.
std::vector<Item> items_of(const NamedText& text) {
  std::vector<Item> items;
  Json whole = parsed(text.text);
  if (whole.is_array()) {
    for (Json& item : whole) items.push_back({std::move(item), 1});
    return items;
  }
  if (!whole.is_discarded()) {
    items.push_back({std::move(whole), 1});
    return items;
  }
  JsonItems lines(text.text);
  for (std::string_view line = lines.next(); !line.empty(); line = lines.next()) {
    items.push_back({parsed(line), lines.line()});
    if (!items.back().json.is_object()) fail(Exit::bad_input, "{}:{}:1: error: this line is no JSON object", text.name, lines.line());
  }
  return items;
}

bool has_keys(const Json& json, const std::vector<const char*>& keys) {
  return json.is_object() && std::all_of(keys.begin(), keys.end(), [&](const char* key) { return json.contains(key); });
}

/// Keeps rows of the judges that the user named.
void choose_judges(ToolRows& rows, const std::string& wanted, const std::string& file) {
  std::set<std::string> judges, kept;
  for (const ToolRow& row : rows.rows) judges.insert(row.judge);
  for (const std::string& name : judges)
    for (const std::string& glob : split(wanted, ','))
      if (name == trimmed(glob) || glob_match(std::string(trimmed(glob)), name)) kept.insert(name);
  if (kept.empty())
    fail(Exit::bad_input, "{}: no judge or metric is called {}; the file has {}", file, shown_cell(wanted), joined(judges, [](const std::string& j) { return shown_cell(j); }));
  std::erase_if(rows.rows, [&](const ToolRow& row) { return !kept.contains(row.judge); });
}

}  // namespace

std::optional<ScoreFormat> tool_of(std::string_view text) {
  JsonItems items(text);
  const std::string_view first = items.next();
  Json json = parsed(first);
  if (json.is_discarded() && text.find_first_not_of(" \t\r\n\xef\xbb\xbf") != std::string_view::npos && first.starts_with('{')) json = parsed(text);
  for (const Tool& tool : tools())
    for (const auto& keys : tool.keys)
      if (has_keys(json, keys)) return tool.format;
  return std::nullopt;
}

ToolRows read_tool(ScoreFormat format, std::span<const NamedText> texts, const ScoreReading& how) {
  const auto tool = std::find_if(tools().begin(), tools().end(), [&](const Tool& t) { return t.format == format; });
  const std::string_view word = word_of(std::span<const Word<ScoreFormat>>(score_format_words), format);
  std::vector<ToolText> read;
  for (const NamedText& text : texts) {
    read.push_back({text.name, items_of(text)});
    const auto good = [&](const Item& item) { return std::any_of(tool->keys.begin(), tool->keys.end(), [&](const auto& keys) { return has_keys(item.json, keys); }); };
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
