// Fuzz target: a judge's answer in JSON, against its definition where the two must agree.
#include "envs/toy_lm/judge_json.hpp"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "kernels/shared/answer/answer.hpp"
#include "tests/envs/toy_lm/json_definition.hpp"
#include "tests/fuzz/oracle.hpp"

using namespace odrpo;

namespace {

/// Not nested deeper than parse_score() reads, nor longer than a quadratic definition can take.
bool comparable(std::string_view text) {
  return text.size() <= 200 && std::count_if(text.begin(), text.end(), [](char c) { return c == '[' || c == '{'; }) <= json_depth;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const int levels : {5, 10}) {
    const auto score = parse_score(text, levels);
    fuzz::require(!score || (*score >= 1 && *score <= levels), "a score off the scale");
    if (!comparable(text)) continue;
    fuzz::require(score == defined_score(text, levels), "another score than the definition's", text);
  }
  return 0;
}
