// One request of `compute`: guards before parsing, the envelope, the call, and the answer or the refusal.
#include "app/compute/line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "app/compute/functions.hpp"
#include "kernels/shared/failure.hpp"
#include "results/export/unique_keys.hpp"

namespace odrpo::app {
namespace {

using nlohmann::json;

constexpr int max_depth = 64;

/// The parser recurses, so brackets outside strings are counted first.
void check_depth(std::string_view text) {
  int depth = 0;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inside && c == '\\') ++i;
    else if (c == '"') inside = !inside;
    else if (!inside && (c == '[' || c == '{') && ++depth > max_depth)
      throw Refusal{"too_deep", fmt::format("more than {} nested lists or objects", max_depth)};
    else if (!inside && (c == ']' || c == '}')) --depth;
  }
}

/// Is it a number as JSON writes it, of any size?
bool is_number(std::string_view text) {
  std::size_t at = text.starts_with('-') ? 1 : 0;
  const auto digits = [&] {
    const std::size_t from = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at - from;
  };
  const bool zero = text.substr(at).starts_with('0');
  if (const std::size_t whole = digits(); whole == 0 || (zero && whole > 1)) return false;
  if (text.substr(at).starts_with('.') && (++at, digits() == 0)) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits() == 0) return false;
  }
  return at == text.size();
}

/// The id as it was sent, without blanks between its tokens; empty without one. Its numbers, which may be beyond doubles, become 0 in the
/// request, each in as many bytes; the rest of it is left to the parser.
std::string take_id(std::string& request) {
  std::string id, key;
  int depth = 0;
  bool at_key = false, inside = false;  // where a key of the request may stand; inside the value of `id`
  for (std::size_t at = 0, end = 0; at < request.size(); at = end) {
    const char c = request[at];
    end = at + 1;
    if (c == '"') {
      while (end < request.size() && request[end] != '"') end += request[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, request.size());
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      end = std::min(request.find_first_not_of("+-.0123456789eE", at), request.size());
    }
    const std::string_view token = std::string_view(request).substr(at, end - at);
    if (depth == 1 && (c == ',' || c == '}')) inside = false, at_key = true;
    if (inside && token.find_first_not_of(" \t\r") != std::string_view::npos) id += token;
    if (depth == 1 && at_key && c == '"') key = token;
    if (depth == 1 && at_key && c == ':') inside = json::parse(key, nullptr, false) == "id", at_key = false;
    if (inside && is_number(token)) request.replace(at, end - at, '0' + std::string(end - at - 1, ' '));
    if (c == '{' || c == '[') at_key = ++depth == 1;
    if (c == '}' || c == ']') --depth;
  }
  return id;
}

/// Parses strictly: UTF-8, one value, no key twice in an object.
json parse(std::string_view text) {
  check_depth(text);
  try {
    return json::parse(text, unique_keys<json>([](const std::string& key) { throw Refusal{"bad_json", fmt::format("the key \"{}\" is there twice", key)}; }));
  } catch (const json::parse_error& e) {
    throw Refusal{"bad_json", fmt::format("not JSON at byte {}", e.byte)};
  } catch (const json::out_of_range&) {
    throw Refusal{"out_of_range", "a number is beyond the range of doubles"};
  }
}

std::string answer(const json& request) {
  for (const auto& [key, value] : request.items())
    if (key != "id" && key != "fn" && key != "args")
      throw Refusal{"bad_request", fmt::format("\"{}\" is not one of id, fn, args", key.substr(0, 40))};
  if (!request.contains("fn") || !request["fn"].is_string()) throw Refusal{"bad_request", "fn: the name of a function is needed"};
  if (!request.contains("args") || !request["args"].is_object()) throw Refusal{"bad_request", "args: an object is needed"};
  const std::string& name = request["fn"].get_ref<const std::string&>();
  std::string names;
  for (const ComputeFunction& f : compute_functions()) {
    if (f.name == name) return f.answer(Arguments(request["args"], f.text.arguments));
    names += (names.empty() ? "" : ", ") + std::string(f.name);
  }
  throw Refusal{"unknown_function", fmt::format("\"{}\" is not one of {}", name.substr(0, 40), names)};
}

std::string refuse(const std::string& id, const std::string& code, const std::string& message) {
  // a cut-off name may end inside a character
  const std::string text = json(message).dump(-1, ' ', false, json::error_handler_t::replace);
  return fmt::format(R"({{"id":{},"error":{{"code":"{}","message":{}}}}})", id, code, text);
}

}  // namespace

std::string compute_line(std::string_view text) {
  std::string id = "null";
  try {
    if (text.size() > max_compute_line) throw Refusal{"too_large", "a request is at most 16 MiB"};
    std::string line(text);
    const std::string sent = take_id(line);
    const json request = parse(line);
    if (!request.is_object()) throw Refusal{"bad_request", "a request is an object with id, fn and args"};
    if (request.contains("id")) id = sent;
    return fmt::format(R"({{"id":{},"out":{}}})", id, answer(request));
  } catch (const Refusal& r) {
    return refuse(id, r.code, r.message);
  } catch (const Failure& f) {
    return refuse(id, "too_large", f.what());
  } catch (const std::bad_alloc&) {
    return refuse(id, "too_large", "out of memory");
  } catch (const std::exception& e) {
    return refuse(id, "internal", e.what());
  }
}

}  // namespace odrpo::app
