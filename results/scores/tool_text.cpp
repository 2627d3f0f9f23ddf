// Implements tool_text.hpp.
#include "results/scores/tool_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "kernels/shared/failure.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/rows.hpp"

namespace odrpo {
namespace {

constexpr int deepest = 512;  ///< nested objects and lists of a tool's file; writing a value as text recurses once for each

/// Refuses a text whose objects and lists nest more than `deepest`, with the place of the first that does.
void check_depth(const TextView& text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.text.size(); ++i) {
    const char c = text.text[i];
    if (quoted && c == '\\') ++i;
    else if (c == '"') quoted = !quoted;
    else if (!quoted && (c == '}' || c == ']')) --depth;
    else if (!quoted && (c == '{' || c == '[') && ++depth > deepest) {
      const std::string_view before = text.text.substr(0, i);
      const std::size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
      fail(Exit::bad_input, "{}:{}:{}: error: objects and lists nest more than {} deep", text.name,
           std::count(before.begin(), before.end(), '\n') + 1, i - start + 1, deepest);
    }
  }
}

/// Lists with a number for each token, which trainers write beside the texts and no reader wants.
constexpr std::string_view token_lists[] = {"token_ids", "prompt_token_ids", "completion_token_ids", "input_ids", "prompt_ids", "completion_ids", "prompt_mask",
                                            "completion_mask", "token_loss_mask", "logprobs", "generation_logprobs", "prev_logprobs", "completion_logprobs"};

/// Tells the parser which values it leaves out: lists of tokens.
class Keep {
 public:
  bool operator()(int, Json::parse_event_t event, Json& value) {
    const bool tokens = std::exchange(tokens_, false);
    if (event == Json::parse_event_t::key)
      tokens_ = std::find(std::begin(token_lists), std::end(token_lists), value.get_ref<const std::string&>()) != std::end(token_lists);
    return !(tokens && event == Json::parse_event_t::array_start);
  }

 private:
  bool tokens_ = false;  ///< the latest event was the key of such a list
};

/// Parses a text, also with the numbers that JSON lacks and Python writes bare, as null: an infinite one too. Discarded where it is no JSON.
Json parsed(std::string_view text) {
  Json json = Json::parse(text.begin(), text.end(), Keep(), false);
  if (!json.is_discarded()) return json;
  const std::string plain = without_bare(text, {"-Infinity", "Infinity", "-NaN", "NaN"});
  return Json::parse(plain.begin(), plain.end(), Keep(), false);
}

}  // namespace

Json first_object(std::string_view text) {
  const std::string_view first = JsonItems(text).next();
  Json json = parsed(first);
  return json.is_discarded() && first.starts_with('{') && first.size() < text.size() ? parsed(text) : json;
}

void each_item(const TextView& text, const std::function<void(ToolItem item)>& use) {
  check_depth(text);
  JsonItems parts(text.text);
  bool first = true;
  for (std::string_view part = parts.next(); !part.empty(); part = parts.next(), first = false) {
    ToolItem item{parsed(part), parts.line()};
    const bool is_object = item.json.is_object();
    if (!is_object && first && part.starts_with('{'))  // the first line of a document of several
      if (Json whole = parsed(text.text); whole.is_object()) return use({std::move(whole), item.line});
    if (!is_object) fail(Exit::bad_input, "{}:{}:1: error: this is no JSON object", text.name, parts.line());
    use(std::move(item));
  }
  if (parts.is_cut()) fail(Exit::bad_input, "{}:{}:1: error: the list ends behind this object without ]: the file is cut off", text.name, parts.line());
}

std::vector<ToolItem> items_of(const TextView& text) {
  std::vector<ToolItem> items;
  each_item(text, [&](ToolItem item) { items.push_back(std::move(item)); });
  return items;
}

const Json& member(const Json& json, std::initializer_list<const char*> path) {
  static const Json none;
  const Json* at = &json;
  for (const char* key : path) {
    if (!at->is_object() || !at->contains(key)) return none;
    at = &(*at)[key];
  }
  return *at;
}

const Json& only_element(const Json& json) { return json.is_array() && json.size() == 1 ? json[0] : json; }

std::string text_of(const Json& json) {
  if (json.is_null()) return "";
  if (json.is_number_float())  // 82.0 is 82, also as a part of an id
    if (const double value = json.get<double>(); std::abs(value) < 9e15 && value == std::floor(value)) return std::to_string(static_cast<long long>(value));
  return json.is_string() ? json.get<std::string>() : json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string score_of(const Json& json) {
  if (json.is_boolean()) return json.get<bool>() ? "1" : "0";
  return text_of(json);
}

std::string id_of(std::string_view text) {
  return fmt::format("t{:016x}", hash_of(text));
}

std::optional<std::pair<std::string, long>> rollout_of(const std::string& uid) {
  const auto last = uid.rfind('_');
  if (last == std::string::npos || last == 0) return std::nullopt;
  const auto before = uid.rfind('_', last - 1);
  if (before == std::string::npos || before == 0) return std::nullopt;
  const auto output = number_from<long>(uid.substr(last + 1));
  if (!output || !number_from<long>(uid.substr(before + 1, last - before - 1))) return std::nullopt;
  return std::pair(uid.substr(0, last), *output);
}

std::size_t common_beginning(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

std::size_t size_by_common_beginning(std::span<const std::size_t> common) {
  const std::size_t rows = common.size() + 1;
  if (std::all_of(common.begin(), common.end(), [&](std::size_t n) { return n == common[0]; })) return rows;
  std::size_t best = 0, margin = 0;
  for (std::size_t size = 2; 2 * size <= rows; ++size) {
    if (rows % size != 0) continue;
    const auto within = [&](std::size_t group) { return *std::min_element(&common[group * size], &common[group * size + size - 1]); };
    std::size_t least = std::string::npos;  // how much less rows of two groups share than those of each
    for (std::size_t group = 1; group < rows / size; ++group) {
      const std::size_t shared = std::min(within(group - 1), within(group)), between = common[group * size - 1];
      least = std::min(least, shared > between ? shared - between : 0);
    }
    if (least > margin) best = size, margin = least;
  }
  return best;
}

}  // namespace odrpo
