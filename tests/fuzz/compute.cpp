// Fuzz target: one line of `compute`. The answer is always one line of JSON with "id" and either "out" or a documented "error".
#include <cstdint>
#include <nlohmann/json.hpp>

#include "app/compute/line.hpp"
#include "tests/fuzz/oracle.hpp"

using namespace odrpo;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view request(reinterpret_cast<const char*>(data), size);
  const std::string answer = app::compute_line(request);
  fuzz::require(answer.find('\n') == std::string::npos, "an answer of several lines", answer);
  nlohmann::json json;
  try {
    json = nlohmann::json::parse(answer);
  } catch (const nlohmann::json::out_of_range&) {
    return 0;  // a number of the id, which comes back as it was sent, is beyond doubles
  } catch (const nlohmann::json::exception&) {
  }
  fuzz::require(json.is_object() && json.size() == 2 && json.contains("id"), "an answer that is none", answer);
  if (json.contains("out")) return 0;
  fuzz::require(json.contains("error") && json["error"].contains("code"), "neither out nor error", answer);
  fuzz::require(json["error"]["code"] != "internal", "an internal error", answer);
  return 0;
}
