// Requests that `compute` refuses: each with its code, and the id echoed.
#include "app/compute_line.hpp"

#include <nlohmann/json.hpp>
#include <string>

#include "tests/catch.hpp"

using nlohmann::json;
using odrpo::app::compute_line;

namespace {

struct Row {
  std::string request, code;
};

const std::string advantage = R"({"id":1,"fn":"advantage","args":{"rewards":)";
const std::string rest = R"(,"est":"grpo","eps":0,"ddof":0}})";

}  // namespace

TEST_CASE("bad requests get a stable code word") {
  const Row rows[] = {
      {"", "bad_json"},
      {"{", "bad_json"},
      {"nonsense", "bad_json"},
      {"{} {}", "bad_json"},
      {"{\"id\":\"\xff\"}", "bad_json"},
      {"{\"id\":\"\xed\xa0\x80\"}", "bad_json"},
      {std::string("{\"id\":\0}", 8), "bad_json"},
      {advantage + "[NaN]" + rest, "bad_json"},
      {advantage + "[Infinity]" + rest, "bad_json"},
      {R"({"id":1,"id":2,"fn":"vote","args":{}})", "bad_json"},
      {R"({"id":1,"fn":"vote","args":{"scores":[1],"tie":"first","tie":"first"}})", "bad_json"},
      {R"({"a":[{"b":1,"b":2}]})", "bad_json"},
      {std::string(100, '['), "too_deep"},
      {std::string(200000, '[') + std::string(200000, ']'), "too_deep"},
      {std::string((16u << 20) + 1, ' '), "too_large"},
      {"[]", "bad_request"},
      {"3", "bad_request"},
      {"{}", "bad_request"},
      {R"({"fn":"vote"})", "bad_request"},
      {R"({"fn":"vote","args":[]})", "bad_request"},
      {R"({"fn":3,"args":{}})", "bad_request"},
      {R"({"fn":"vote","args":{},"more":1})", "bad_request"},
      {R"({"fn":"nope","args":{}})", "unknown_function"},
      {R"({"fn":"mac","args":{"est":"grpo","R":[1,2],"M":2}})", "unknown_function"},
      {"{\"fn\":\"" + std::string(39, 'x') + "\xc3\xa9\",\"args\":{}}", "unknown_function"},
      {R"({"fn":"vote","args":{"scores":[1]}})", "missing_argument"},
      {R"({"fn":"vote","args":{"scores":[1],"tie":"first","votes":3}})", "unknown_argument"},
      {R"({"fn":"vote","args":{"scores":1,"tie":"first"}})", "wrong_type"},
      {R"({"fn":"vote","args":{"scores":["1"],"tie":"first"}})", "wrong_type"},
      {R"({"fn":"vote","args":{"scores":[1.5],"tie":"first"}})", "wrong_type"},
      {R"({"fn":"vote","args":{"scores":[1],"tie":1}})", "wrong_type"},
      {R"({"fn":"vote","args":{"scores":[1],"tie":"middle"}})", "out_of_range"},
      {R"({"fn":"vote","args":{"scores":[],"tie":"first"}})", "wrong_shape"},
      {advantage + "[true]" + rest, "wrong_type"},
      {advantage + "[null]" + rest, "wrong_type"},
      {advantage + "[[1]]" + rest, "wrong_type"},
      {advantage + "[1e999]" + rest, "out_of_range"},
      {advantage + "[1e300]" + rest, "out_of_range"},
      {R"({"fn":"advantage","args":{"rewards":[1,2],"est":"gppo","eps":0,"ddof":0}})", "out_of_range"},
      {R"({"fn":"advantage","args":{"rewards":[1,2],"est":"grpo","eps":-1,"ddof":0}})", "out_of_range"},
      {R"({"fn":"advantage","args":{"rewards":[1,2],"est":"grpo","eps":0,"ddof":2}})", "out_of_range"},
      {R"({"fn":"odrpo","args":{"rewards":[3],"K":2,"norm":"grpo","weights":"gini","eps":0,"median_rule":"lower","median_value":null}})",
       "out_of_range"},
      {R"({"fn":"odrpo","args":{"rewards":[1.5],"K":2,"norm":"grpo","weights":"gini","eps":0,"median_rule":"lower","median_value":null}})",
       "wrong_type"},
      {R"({"fn":"odrpo","args":{"rewards":[1,2],"K":2,"norm":"grpo","weights":"gini_median","eps":0,"median_rule":"running","median_value":null}})",
       "out_of_range"},
      {R"({"fn":"odrpo_continuous","args":{"rewards":[1,2e6],"norm":"grpo","weights":"gini","eps":0,"median_rule":"lower","median_value":null}})",
       "too_large"},
      {R"({"fn":"loo","args":{"M":0,"level":1,"med":1,"norm":"grpo","weights":"gini"}})", "out_of_range"},
      {R"({"fn":"loo","args":{"M":2,"level":1,"med":null,"norm":"grpo","weights":"gini_median"}})", "out_of_range"},
      {R"({"fn":"running_median","args":{"batches":[[[1]]],"kind":"window","init":5,"window":null,"rho":null,"rule":"lower"}})",
       "wrong_type"},
      {R"({"fn":"running_median","args":{"batches":[[[1]]],"kind":"window","init":5,"window":0,"rho":null,"rule":"lower"}})",
       "out_of_range"},
      {R"({"fn":"running_median","args":{"batches":[[1]],"kind":"window","init":5,"window":3,"rho":null,"rule":"lower"}})", "wrong_type"},
      {R"({"fn":"kendall_w","args":{"judges":[]}})", "wrong_shape"},
      {R"({"fn":"kendall_w","args":{"judges":[[]]}})", "wrong_shape"},
      {R"({"fn":"rank_flip","args":{"judges":[[1,2],[1]]}})", "wrong_shape"},
      {R"({"fn":"kl_k3","args":{"logp":[1],"logref":[1,2],"clamp":null}})", "wrong_shape"},
      {R"({"fn":"kl_k3","args":{"logp":[-1000],"logref":[0],"clamp":null}})", "not_finite"},
      {R"({"fn":"kl_k3","args":{"logp":[0],"logref":[0],"clamp":-1}})", "out_of_range"},
      {R"({"fn":"rater_pmf","args":{"center":3,"sigma":-1,"K":5,"p_low":0,"p_high":0}})", "out_of_range"},
      {R"({"fn":"rater_pmf","args":{"center":3,"sigma":1,"K":0,"p_low":0,"p_high":0}})", "out_of_range"},
      {R"({"fn":"vote_pmf","args":{"pmf":[0.5,0.4],"N":3,"tie":"first"}})", "out_of_range"},
      {R"({"fn":"vote_pmf","args":{"pmf":[],"N":3,"tie":"first"}})", "out_of_range"},
      {R"({"fn":"vote_pmf","args":{"pmf":[0.5,0.5],"N":100000,"tie":"first"}})", "out_of_range"},
      {R"({"fn":"vote_pmf","args":{"pmf":[0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1],"N":32,"tie":"nearest_mean"}})", "too_large"},
  };
  for (const Row& row : rows) {
    const std::string text = compute_line(row.request);
    CAPTURE(row.request.substr(0, 200), text);
    const json answer = json::parse(text);  // throws when the answer is not JSON itself
    REQUIRE(answer.contains("error"));
    CHECK(answer["error"]["code"] == row.code);
    CHECK(answer["error"]["message"].get<std::string>().size() > 5);
    CHECK(text.find('\n') == std::string::npos);
  }
}

TEST_CASE("the id comes back whatever it is") {
  for (const std::string id : {"7", "-1.5", "\"a\\\"b\"", "null", "true", "[1,{\"a\":2}]", "18446744073709551615"}) {
    const std::string request = "{\"id\":" + id + R"(,"fn":"vote","args":{"scores":[2,1,2],"tie":"first"}})";
    CHECK(compute_line(request) == "{\"id\":" + id + ",\"out\":2}");
  }
  CHECK(compute_line(R"({"fn":"vote","args":{"scores":[2,1,2],"tie":"first"}})") == R"({"id":null,"out":2})");
  CHECK(json::parse(compute_line(R"({"id":"x","fn":"vote","args":{}})"))["id"] == "x");
}

TEST_CASE("numbers are printed as the shortest text that reads back") {
  for (const std::string number : {"0.1", "0.30000000000000004", "1e-07", "123456789.125", "5", "2.2250738585072014e-308"})
    CHECK(compute_line(R"({"id":1,"fn":"kl_k3","args":{"logp":[-500],"logref":[0],"clamp":)" + number + "}}") ==
          R"({"id":1,"out":[)" + number + "]}");
  CHECK(compute_line(R"({"id":1,"fn":"advantage","args":{"rewards":[3,3.0],"est":"maxrl","eps":0,"ddof":0}})") ==
        R"({"id":1,"out":[0,0]})");
}

TEST_CASE("words take - and _ alike, and whole numbers may carry a point") {
  const auto odrpo = [](const std::string& weights, const std::string& k) {
    return compute_line(R"({"id":1,"fn":"odrpo","args":{"rewards":[1,2.0,5],"K":)" + k + R"(,"norm":"grpo","weights":")" + weights +
                        R"(","eps":0,"median_rule":"lower","median_value":null}})");
  };
  CHECK(odrpo("gini_median", "5") == odrpo("gini-median", "5.0"));
  CHECK(json::parse(odrpo("gini_median", "5")).contains("out"));
}
