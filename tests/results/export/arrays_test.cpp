// Named arrays as JSON.
#include "results/export/arrays.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"

using namespace odrpo;

namespace {

const std::vector<NamedArray> sample{
    {"format", std::string("odrpo-bench")},
    {"word", std::string("grün ☃ 😀")},
    {"empty", std::string()},
    {"whole", std::vector<std::int64_t>{-7}},
    {"counts", std::vector<std::uint8_t>{0, 1, 2, 3, 4, 255}, {2, 3}},
    {"real", std::vector<double>{0.1, std::numeric_limits<double>::quiet_NaN(), 1e300}, {3}},
    {"nothing", std::vector<double>{}, {0, 4}},
};

}  // namespace

TEST_CASE("arrays as JSON: a value, lists in lists, null for what is not finite") {
  const auto json = nlohmann::json::parse(arrays_json(sample));
  CHECK(json["word"] == "grün ☃ 😀");
  CHECK(json["whole"] == -7);
  CHECK(json["counts"] == nlohmann::json({{0, 1, 2}, {3, 4, 255}}));
  CHECK(json["real"][0] == 0.1);
  CHECK(json["real"][1].is_null());
  CHECK(json["real"][2] == 1e300);
  CHECK(json["nothing"] == nlohmann::json::array());
}
