// Fuzz target: a judge's answer in JSON, against another parser where the two must agree.
#include "envs/judge_json.hpp"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "tests/envs/toy_lm_json_definition.hpp"
#include "tests/fuzz/oracle.hpp"

using namespace odrpo;

namespace {

/// Nothing in the text that the other parser reads otherwise on purpose: escapes of lone surrogates, numbers beyond a double, a byte order
/// mark, a NUL (an end for it), deeper nesting; nor is it longer than a quadratic definition can take.
bool comparable(std::string_view text) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  if (text.size() > 200 || text.find('\0') != text.npos || has("\\ud") || has("\\uD") || has("\xef\xbb\xbf")) return false;
  if (std::count_if(text.begin(), text.end(), [](char c) { return c == '[' || c == '{'; }) > json_depth) return false;
  std::size_t digits = 0;  // an exponent of three digits or more may be too large
  bool exponent = false;
  for (const char c : text) {
    if (c == 'e' || c == 'E') exponent = true, digits = 0;
    else if (c >= '0' && c <= '9') ++digits;
    else if (c != '+' && c != '-') exponent = false;
    if (exponent && digits > 2) return false;
  }
  return true;
}

bool is_json(std::string_view text) {
  const auto length = json_value_length(text);
  return length && text.find_first_not_of(" \t\n\r", *length) == std::string_view::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto length = json_value_length(text);
  fuzz::require(!length || *length <= size, "a value longer than its text");
  for (const int levels : {5, 10}) {
    const auto score = parse_score(text, levels);
    fuzz::require(!score || (*score >= 1 && *score <= levels), "a score off the scale");
    if (!comparable(text)) continue;
    fuzz::require(score == defined_score(text, levels), "another score than the definition's", text);
  }
  if (comparable(text)) fuzz::require(is_json(text) == nlohmann::json::accept(text), "JSON for one parser alone", text);
  return 0;
}
