// One request of `compute`: guards before parsing, the envelope, the call, and the answer or the refusal.
#include "app/compute_line.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "app/compute_functions.hpp"
#include "kernels/failure.hpp"

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

/// Parses strictly: UTF-8, one value, no key twice in an object.
json parse(std::string_view text) {
  if (text.size() > max_compute_line) throw Refusal{"too_large", "a request is at most 16 MiB"};
  check_depth(text);
  std::vector<std::set<std::string>> open;  // keys of the objects being read
  const auto watch = [&](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) open.emplace_back();
    if (event == json::parse_event_t::object_end) open.pop_back();
    if (event == json::parse_event_t::key && !open.back().insert(value.get<std::string>()).second)
      throw Refusal{"bad_json", fmt::format("the key \"{}\" is there twice", value.get<std::string>().substr(0, 40))};
    return true;
  };
  try {
    return json::parse(text, watch);
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
    const json request = parse(text);
    if (!request.is_object()) throw Refusal{"bad_request", "a request is an object with id, fn and args"};
    if (request.contains("id")) id = request["id"].dump();
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
