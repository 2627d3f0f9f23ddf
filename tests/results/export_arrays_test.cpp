// Named arrays as files: headers of .npy by the letter of numpy's format, archives whose bytes repeat, JSON.
#include "results/export_arrays.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "kernels/failure.hpp"
#include "results/base64.hpp"
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

TEST_CASE("headers of npy files are aligned and say type, order and shape") {
  for (const NamedArray& array : sample) {
    const std::string npy = array_npy(array);
    REQUIRE(npy.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
    const std::size_t length = static_cast<unsigned char>(npy[8]) + 256u * static_cast<unsigned char>(npy[9]);
    CHECK((10 + length) % 64 == 0);
    CHECK(npy[9 + length] == '\n');
  }
  const std::string counts = array_npy(sample[4]);
  CHECK(counts.find("{'descr': '|u1', 'fortran_order': False, 'shape': (2,3,), }") == 10);
  CHECK(counts.substr(counts.size() - 6) == std::string("\0\1\2\3\4\xff", 6));
  CHECK(array_npy(sample[1]).find("'<U8'") != std::string::npos);
  CHECK(array_npy(sample[3]).find("'shape': ()") != std::string::npos);
  const std::string real = array_npy(sample[5]);
  double first = 0;
  std::memcpy(&first, real.data() + real.size() - 24, 8);
  CHECK(first == 0.1);
}

TEST_CASE("an npz archive has every array, the first as it is, and the same bytes each time") {
  const std::string npz = arrays_npz(sample);
  CHECK(npz == arrays_npz(sample));
  CHECK(npz.substr(0, 4) == "PK\x03\x04");
  for (const NamedArray& array : sample) CHECK(npz.find(array.name + ".npy") != std::string::npos);
  CHECK(npz.find(array_npy(sample[0])) < 100);
  CHECK(npz.find(array_npy(sample[4])) == std::string::npos);
  const std::vector<NamedArray> large{{"a", std::string("x")}, {"zeros", std::vector<double>(1'000'000), {1'000'000}}};
  CHECK(arrays_npz(large).size() < 20'000);
  CHECK_THROWS_AS(arrays_npz(std::vector<NamedArray>{{"bad", std::string("\xff")}}), Failure);
}

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

TEST_CASE("base64 by the vectors of RFC 4648") {
  CHECK(base64("").empty());
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foobar") == "Zm9vYmFy");
  CHECK(base64("\xff\xfe\xfd") == "//79");
}
