// Watches a JSON parser for a key that stands twice in one object, of which the parser would keep the last.
#pragma once
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace odrpo {

/// A callback for Json::parse() that calls twice(key), which throws, at the second of two equal keys of an object; `key` has at most 40 bytes.
template <class Json, class Twice>
typename Json::parser_callback_t unique_keys(Twice twice) {
  return [twice, open = std::vector<std::set<std::string>>()](int, typename Json::parse_event_t event, Json& value) mutable {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && !open.back().insert(value.template get<std::string>()).second)
      twice(value.template get<std::string>().substr(0, 40));
    return true;
  };
}

}  // namespace odrpo
