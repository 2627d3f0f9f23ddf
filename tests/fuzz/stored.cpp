// Fuzz target: a stored baseline of the gate, as it is and with a checksum that fits. What is accepted is written back as the same values.
#include "gate/stored.hpp"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "kernels/shared/failure.hpp"
#include "results/store/digest.hpp"
#include "tests/fuzz/oracle.hpp"

using namespace odrpo;

namespace {

constexpr int most_nested = 400;

std::optional<StoredBaseline> read(const std::string& text) {
  std::optional<StoredBaseline> stored;
  fuzz::accepted({Exit::bad_input}, [&] { stored = parse_stored(text, "base.json"); });
  return stored;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using Json = nlohmann::ordered_json;
  const std::string text(reinterpret_cast<const char*>(data), size);
  read(text);
  if (std::count_if(text.begin(), text.end(), [](char c) { return c == '[' || c == '{'; }) > most_nested) return 0;  // dump() recurses
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return 0;
  json.erase("sha256");
  std::string rest;
  try {
    rest = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  } catch (const Json::exception&) {
    return 0;
  }
  json["sha256"] = sha256_hex(rest);
  const auto stored = read(json.dump());
  if (!stored) return 0;
  const std::string written = stored_json(*stored);
  const auto again = read(written);
  fuzz::require(again.has_value(), "what was written is refused", written);
  fuzz::require(stored_json(*again) == written, "written twice, it differs", written);
  return 0;
}
