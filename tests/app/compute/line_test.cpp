// Requests that `compute` refuses: each with its code, and the id echoed.
#include "app/compute/line.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

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

TEST_CASE("posterior scores of votes: groups without responses, responses without votes, and too many of either") {
  const auto answer = [](const std::string& votes) {
    return json::parse(compute_line(R"({"id":1,"fn":"posterior_votes","args":{"rater":"mixed","prior":"fixed","votes":)" + votes + "}}"));
  };
  CHECK(answer("[]")["out"] == json::array());
  CHECK(answer("[[]]")["out"] == json::array({nullptr}));
  const json some = answer("[[7,8],[],[1]]")["out"];
  CHECK((some.size() == 3 && some[1].is_null() && some[0].is_number()));
  for (const char* votes : {"[[0]]", "[[11]]", "[[7.5]]"}) CHECK(answer(votes)["error"]["code"] == "out_of_range");
  const json many = json::array({std::vector<int>(256, 7)}), large = std::vector<std::vector<int>>(256, {7});
  CHECK(answer(many.dump())["error"]["code"] == "out_of_range");
  CHECK(answer(large.dump())["error"]["code"] == "out_of_range");
  CHECK(answer("3")["error"]["code"] == "wrong_type");
}

TEST_CASE("missing rewards: the others are the group, and they get 0") {
  const auto out = [](const std::string& request) { return json::parse(compute_line(request))["out"]; };
  for (const char* estimator : {"grpo", "maxrl", "rloo", "rank-grpo", "odrpo-gini-median(grpo)"}) {
    const auto of = [&](const char* rewards) {
      return out(R"({"id":1,"fn":"advantage","args":{"rewards":)" + std::string(rewards) + R"(,"est":")" + estimator + R"(","eps":0,"ddof":0}})");
    };
    const json some = of("[3,null,9,7,null]"), there = of("[3,9,7]");
    CAPTURE(estimator, some.dump());
    CHECK(some == json::array({there[0], 0.0, there[1], there[2], 0.0}));
    CHECK(of("[null,null]") == json::array({0.0, 0.0}));
  }
  const auto odrpo = [&](const char* rewards) {
    return out(R"({"fn":"odrpo","args":{"K":4,"norm":"grpo","weights":"gini","eps":0,"median_rule":"lower","median_value":null,"rewards":)" + std::string(rewards) + "}}");
  };
  const json there = odrpo("[1,4,2]");
  CHECK(odrpo("[1,4,null,2]") == json::array({there[0], there[1], 0.0, there[2]}));
}

TEST_CASE("numbers that differ by rounding alone have one rank") {
  const auto out = [](const std::string& request) { return json::parse(compute_line(request))["out"]; };
  const auto w = [&](const char* row) { return out(R"({"fn":"kendall_w","args":{"judges":[[1,2,3,3],)" + std::string(row) + "]}}"); };
  CHECK(w("[0.3,0.5,0.6,0.6000000000000001]") == w("[3,5,6,6]"));
  CHECK(w("[0.3,0.5,0.6,0.60001]") != w("[3,5,6,6]"));
  const auto flips = [&](const char* row) { return out(R"({"fn":"rank_flip","args":{"judges":[[1,2,3,4],)" + std::string(row) + "]}}"); };
  CHECK(flips("[0.3,0.5,0.6000000000000001,0.6]") == flips("[3,5,6,6]"));
  const auto ranks = [&](const char* rewards) {
    return out(R"({"fn":"advantage","args":{"est":"rank-grpo","eps":0,"ddof":0,"rewards":)" + std::string(rewards) + "}}");
  };
  CHECK(ranks("[0.1,0.6,0.6000000000000001]") == ranks("[1,6,6]"));
}

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
      {R"({"fn":"bound","args":{"est":"grpo","R":[1,2],"M":2}})", "unknown_function"},
      {R"({"fn":"mac","args":{"est":"grpo","R":[1,2],"M":1}})", "out_of_range"},
      {R"({"fn":"mac","args":{"est":"grpo","R":[1],"M":4}})", "out_of_range"},
      {R"({"fn":"mac","args":{"est":"grpo","R":[2,1],"M":4}})", "out_of_range"},
      {R"({"fn":"mac","args":{"est":"odrpo","R":[1,2],"M":4,"norm":"grpo"}})", "missing_argument"},
      {R"({"fn":"mac","args":{"est":"grpo","R":[1,2],"M":4,"norm":"grpo","weights":"gini"}})", "out_of_range"},
      {R"({"fn":"mac","args":{"est":"odrpo","R":[1,2],"M":4,"norm":"grpo","weights":"gini-median","median_rule":"running"}})",
       "out_of_range"},
      {R"-({"fn":"mac","args":{"est":"posterior(grpo)","R":[1,2],"M":4}})-", "out_of_range"},
      {R"({"fn":"mac","args":{"est":"grpo","R":[1,2,3,4,5,6,7,8,9,10],"M":64}})", "too_large"},
      {R"({"fn":"field","args":{"est":"rank-grpo","R":[1,2,3,4,5,6,7,8,9,10],"M":24,"p":[1,0,0,0,0,0,0,0,0,0]}})", "too_large"},
      {R"({"fn":"field","args":{"est":"grpo","R":[1,2],"M":4,"p":[0.5,0.4]}})", "out_of_range"},
      {R"({"fn":"field","args":{"est":"grpo","R":[1,2],"M":4,"p":[1]}})", "wrong_shape"},
      {R"({"fn":"curl_at","args":{"est":"grpo","R":[1,2,3],"s":[1,2],"i":0,"j":1}})", "wrong_shape"},
      {R"({"fn":"curl_at","args":{"est":"grpo","R":[1,2,3],"s":[0,0,0],"i":0,"j":3}})", "out_of_range"},
      {R"({"fn":"curl_at","args":{"est":"grpo","R":[1,2,3],"s":[1000,1000,0],"i":0,"j":1}})", "out_of_range"},
      {R"({"fn":"level_potential","args":{"P":1.5,"level":1,"med":1,"M":2,"norm":"grpo","weights":"gini"}})", "out_of_range"},
      {R"({"fn":"level_potential","args":{"P":0.5,"level":1,"med":null,"M":2,"norm":"grpo","weights":"gini-median"}})", "out_of_range"},
      {R"({"fn":"level_potential","args":{"P":0,"level":1,"med":null,"M":null,"norm":"maxrl","weights":"gini"}})", "not_finite"},
      {R"({"fn":"objective","args":{"P":[0.5],"R":[1,2,3],"med":null,"M":4,"norm":"grpo","weights":"gini"}})", "wrong_shape"},
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
      {advantage + "[[null]]" + rest, "wrong_type"},
      {advantage + "[[1]]" + rest, "wrong_type"},
      {advantage + "[1e999]" + rest, "out_of_range"},
      {advantage + "[1e300]" + rest, "out_of_range"},
      {R"({"fn":"advantage","args":{"rewards":[1,2],"est":"gppo","eps":0,"ddof":0}})", "out_of_range"},
      {R"({"fn":"advantage","args":{"rewards":[1,2],"est":"grpo","eps":-1,"ddof":0}})", "out_of_range"},
      {R"({"fn":"advantage","args":{"rewards":[1,2],"est":"grpo","eps":0,"ddof":2}})", "out_of_range"},
      {R"({"fn":"advantage","args":{"rewards":[1,2],"est":"grpo"}})", "missing_argument"},
      {R"({"fn":"advantage","args":{"rewards":[1,2],"est":"grpo","eps":0}})", "missing_argument"},
      {R"({"fn":"odrpo","args":{"rewards":[1,2],"K":2,"norm":"grpo","weights":"gini","median_rule":"lower","median_value":null}})",
       "missing_argument"},
      {R"({"fn":"batch_normalize","args":{"groups":[[1,2]],"ddof":0}})", "missing_argument"},
      {R"({"fn":"advantage","args":{"rewards":[1,2],"est":"grpo","compat":"verll"}})", "out_of_range"},
      {R"({"fn":"advantage","args":{"rewards":[1,2],"est":"grpo","eps":0,"ddof":0,"compat":3}})", "wrong_type"},
      {R"({"fn":"advantage","args":{"rewards":[1,2],"est":"maxrl","compat":"verl"}})", "out_of_range"},
      {R"({"fn":"advantage","args":{"rewards":[1,2],"est":"grpo","eps":0.1,"ddof":0,"compat":"verl"}})", "out_of_range"},
      {R"({"fn":"advantage","args":{"rewards":[1,2],"est":"grpo","eps":0,"ddof":1,"compat":"verl"}})", "out_of_range"},
      {R"({"fn":"advantage","args":{"rewards":[1,2],"est":"grpo","ddof":0,"compat":"verl"}})", "out_of_range"},
      {R"({"fn":"mac","args":{"est":"grpo","R":[1,2],"M":4,"eps":0,"compat":"verl"}})", "out_of_range"},
      {R"({"fn":"advantage","args":{"rewards":[1,2],"est":"grpo","eps":0,"ddof":0,"origin":0}})", "out_of_range"},
      {R"({"fn":"advantage","args":{"rewards":[1,2],"est":"maxrl","eps":0,"ddof":0,"origin":2}})", "out_of_range"},
      {R"({"fn":"loo","args":{"M":2,"level":1,"med":1,"norm":"grpo","weights":"gini","compat":"maxrl-reference"}})", "out_of_range"},
      {R"({"fn":"loo","args":{"M":2,"level":1,"med":1,"norm":"grpo","weights":"gini","origin":1}})", "unknown_argument"},
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
      {R"({"fn":"whiten","args":{"groups":[[1,2]]}})", "missing_argument"},
      {R"({"fn":"whiten","args":{"groups":[[1,2]],"est":"grop"}})", "out_of_range"},
      {R"({"fn":"whiten","args":{"groups":[[1,2]],"est":"maxrl","compat":"verl"}})", "out_of_range"},
      {R"({"fn":"whiten","args":{"groups":[[1,2]],"est":"grpo","eps":0}})", "unknown_argument"},
      {R"({"fn":"whiten","args":{"groups":[[1,2]],"est":"grpo","tokens":[[1],[2]]}})", "wrong_shape"},
      {R"({"fn":"whiten","args":{"groups":[[1,2]],"est":"grpo","tokens":[[1,2],[]]}})", "wrong_shape"},
      {R"({"fn":"whiten","args":{"groups":[[1,2]],"est":"grpo","tokens":[[1,0.5]]}})", "out_of_range"},
      {R"({"fn":"whiten","args":{"groups":[[1,2]],"est":"grpo","tokens":[[1,-1]]}})", "out_of_range"},
      {R"({"fn":"whiten","args":{"groups":[[1,2]],"est":"grpo","kept":[[1,2]]}})", "out_of_range"},
      {R"({"fn":"vote_pmf","args":{"pmf":[0.5,0.4],"N":3,"tie":"first"}})", "out_of_range"},
      {R"({"fn":"vote_pmf","args":{"pmf":[],"N":3,"tie":"first"}})", "out_of_range"},
      {R"({"fn":"vote_pmf","args":{"pmf":[0.5,0.5],"N":100000,"tie":"first"}})", "out_of_range"},
      {R"({"fn":"median_pmf","args":{"pmf":[0.5,0.4],"N":3}})", "out_of_range"},
      {R"({"fn":"median_pmf","args":{"pmf":[0.5,0.5],"N":3,"tie":"first"}})", "unknown_argument"},
      {R"({"fn":"sum_pmf","args":{"pmf":[],"N":3}})", "out_of_range"},
      {R"({"fn":"sum_pmf","args":{"pmf":[0.5,0.5],"N":0}})", "out_of_range"},
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
  for (const std::string id : {"7",
                               "-1.5",
                               "\"a\\\"b\"",
                               "null",
                               "true",
                               "[1,{\"a\":2}]",
                               "{\"b\":1,\"a\":[2.50]}",
                               "18446744073709551615",
                               "18446744073709551616",
                               "-9223372036854775809",
                               "123456789012345678901234567890",
                               "-0",
                               "-0.0",
                               "0",
                               "1.10",
                               "1e2",
                               "1E+02",
                               "1e400",
                               "-1e-400",
                               "[1e999,1.0]",
                               "\"\\u0041\\/x\"",
                               "\"1.10, }{\"",
                               "\"\xc3\xa9\"",
                               "\"\"",
                               "[]",
                               "{}"}) {
    const std::string request = "{\"id\":" + id + R"(,"fn":"vote","args":{"scores":[2,1,2],"tie":"first"}})";
    CHECK(compute_line(request) == "{\"id\":" + id + ",\"out\":2}");
    // last, behind a nested `id`, with blanks around it
    const std::string last = R"({"fn":"vote","args":{"scores":[2,1,2],"tie":"first"} , "\u0069d" :)" + std::string("\t") + id + " \r}";
    CHECK(compute_line(last) == "{\"id\":" + id + ",\"out\":2}");
    CHECK(compute_line("{\"id\":" + id + R"(,"fn":"nope","args":{"id":3}})")
              .starts_with("{\"id\":" + id + ",\"error\":{\"code\":\"unknown_function\""));
  }
  CHECK(compute_line(R"({"id":[ 1,	{"a b" : 1.10 } ],"fn":"vote","args":{"scores":[2,1,2],"tie":"first"}})") ==
        R"({"id":[1,{"a b":1.10}],"out":2})");
  for (const std::string id : {"01", "1.", ".5", "+1", "-", "1e", "--1", "0x10", "1 2", "tru", "\"a", "[1", "\"\xff\"", "", "1:2"}) {
    CAPTURE(id);
    const std::string text = compute_line("{\"id\":" + id + R"(,"fn":"vote","args":{"scores":[2,1,2],"tie":"first"}})");
    CHECK(text.starts_with(R"({"id":null,"error":{"code":"bad_json")"));
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

namespace {

void check_numbers(const std::string& request, const std::vector<double>& wanted) {
  const json answer = json::parse(compute_line(request));
  CAPTURE(request, answer.dump());
  REQUIRE(answer.contains("out"));
  REQUIRE(answer["out"].size() == wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(answer["out"][i].get<double>() == Approx(wanted[i]).epsilon(1e-12).margin(1e-15));
}

}  // namespace

TEST_CASE("conventions of systems, by hand") {
  const auto advantage_of = [](const std::string& rewards, const std::string& est, const std::string& more) {
    return R"({"fn":"advantage","args":{"rewards":)" + rewards + R"(,"est":")" + est + '"' + more + "}}";
  };
  // 3, 7, 7, 9: mean 6.5, squares 19; 3 against 7, 7, 9 (mean 23/3, variance 4/3), 7 against 3, 7, 9 (19/3, 28/3), 9 against 3, 7, 7
  const double below = std::sqrt(19 / 3.0) + 1e-6, seven = (7 - 19 / 3.0) / (std::sqrt(28 / 3.0) + 1e-6);
  check_numbers(advantage_of("[3,7,7,9]", "grpo", R"(,"compat":"verl")"), {-3.5 / below, 0.5 / below, 0.5 / below, 2.5 / below});
  check_numbers(advantage_of("[3,7,7,9]", "grpo", R"(,"compat":"nemo")"),
                {(3 - 23 / 3.0) / (std::sqrt(4 / 3.0) + 1e-6), seven, seven, (9 - 17 / 3.0) / (std::sqrt(16 / 3.0) + 1e-6)});
  check_numbers(advantage_of("[3]", "reinforce", R"(,"compat":"verl")"), {3});
  check_numbers(advantage_of("[3]", "reinforce", R"(,"compat":"paper")"), {0});
  check_numbers(advantage_of("[3]", "maxrl", R"(,"compat":"maxrl_reference","origin":0)"), {2e6});
  check_numbers(advantage_of("[3,5]", "maxrl", R"(,"eps":0,"ddof":0,"origin":0)"), {-1 / 3.0, 1 / 3.0});
  check_numbers(advantage_of("[3,5]", "maxrl", R"(,"eps":0,"ddof":0,"origin":1)"), {-0.25, 0.25});

  // 1 of 2 reaches level 1, none level 2: under verl 1/2 over sqrt(1/4 2) + 1e-6; undivided under nemo, where the other member has no
  // spread
  const auto odrpo_of = [](const std::string& system) {
    return R"({"fn":"odrpo","args":{"rewards":[0,1],"K":2,"norm":"grpo","weights":"uniform","median_rule":"lower","median_value":null,"compat":")" +
           system + "\"}}";
  };
  const double half = 0.5 / (std::sqrt(0.5) + 1e-6);
  check_numbers(odrpo_of("verl"), {-half, half});
  check_numbers(odrpo_of("nemo"), {-1, 1});
  check_numbers(
      R"({"fn":"odrpo_continuous","args":{"rewards":[2.5],"norm":"maxrl","weights":"linear","median_rule":"lower","median_value":null,"compat":"skyrl"}})",
      {1 + 2 + 3 * 0.5});
  const json loo = json::parse(
      compute_line(R"({"fn":"loo","args":{"M":2,"level":3,"med":null,"norm":"grpo","weights":"linear","compat":"verl"}})"))["out"];
  CHECK(loo["t"][0].get<double>() == Approx(3 * half));
  CHECK(loo["u"][1].get<double>() == Approx(-3 * half));
  CHECK(loo["t"][1] == 0);
}

TEST_CASE("an exact sum that would take more than some seconds is refused at once") {
  const auto field = [](const std::string& est, const std::string& values, const std::string& p, int members) {
    const json answer = json::parse(compute_line(R"({"fn":"field","args":{"est":")" + est + R"(","R":)" + values + R"(,"p":)" + p +
                                                 R"(,"M":)" + std::to_string(members) + "}}"));
    return answer.contains("out") ? "" : answer["error"]["code"].get<std::string>() + ": " + answer["error"]["message"].get<std::string>();
  };
  const std::string two = "[0.5,0.5]", four = "[0.25,0.25,0.25,0.25]";
  CHECK(field("grpo", "[1,2,3,4]", four, 1000) ==
        "too_large: 999 scores on 4 levels have 167167000 histograms, too many for an exact sum of 12 steps each; the limit is 1000000000 "
        "steps");
  CHECK(field("odrpo-gini-median(grpo)", "[1,2,3,4]", four, 1000).starts_with("too_large"));
  CHECK(field("grpo\",\"compat\":\"nemo", "[1,2]", two, 1000).starts_with("too_large"));
  CHECK(field("grpo", "[1,2]", two, 1000).empty());
  CHECK(field("grpo", "[1,2,3]", "[0.5,0.25,0.25]", 400).empty());
  CHECK(field("grpo\",\"compat\":\"nemo", "[1,2]", two, 100).empty());
}

TEST_CASE("what systems do to a whole batch, by hand") {
  const auto whiten = [](const std::string& est, const std::string& more) {
    const json answer = json::parse(compute_line(R"({"fn":"whiten","args":{"groups":[[1,-1],[2,-2]],"est":")" + est + '"' + more + "}}"));
    CAPTURE(answer.dump());
    REQUIRE(answer.contains("out"));
    std::vector<double> batch;
    for (const json& group : answer["out"])
      for (const json& x : group) batch.push_back(x.get<double>());
    return batch;
  };
  const auto close = [](const std::vector<double>& got, const std::vector<double>& wanted) {
    REQUIRE(got.size() == wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(wanted[i]).epsilon(1e-12).margin(1e-15));
  };
  // 1, -1, 2, -2: mean 0, squares 10
  const double paper = std::sqrt(10 / 4.0), sample = std::sqrt(10 / 3.0);
  close(whiten("grpo", ""), {1 / paper, -1 / paper, 2 / paper, -2 / paper});
  close(whiten("grpo", R"(,"compat":"trl")"), {1, -1, 2, -2});
  const double gdpo = sample + 1e-4, verl = std::sqrt(10 / 3.0 + 1e-8);
  close(whiten("odrpo(grpo)", R"(,"compat":"trl")"), {1 / gdpo, -1 / gdpo, 2 / gdpo, -2 / gdpo});
  close(whiten("odrpo-gini(grpo)", R"(,"compat":"nemo")"), {1 / sample, -1 / sample, 2 / sample, -2 / sample});
  close(whiten("reinforce", R"(,"compat":"verl")"), {1 / verl, -1 / verl, 2 / verl, -2 / verl});
  // over tokens 1, -1 twice, 2 thrice, -2 never: mean 5/6, squares 1/36 + 2 (121/36) + 3 (49/36) = 65/6, over 5
  const double tokens = std::sqrt(13 / 6.0 + 1e-8), clamped = std::sqrt(65 / 36.0);
  close(whiten("reinforce", R"(,"compat":"verl","tokens":[[1,2],[3,0]])"), {1 / 6.0 / tokens, -11 / 6.0 / tokens, 7 / 6.0 / tokens, 0});
  close(whiten("reinforce", R"(,"compat":"nemo","tokens":[[1,2],[3,0]])"), {1 / 6.0 / clamped, -11 / 6.0 / clamped, 7 / 6.0 / clamped, 0});
  close(whiten("grpo", R"(,"tokens":[[1,2],[3,0]])"), {1 / paper, -1 / paper, 2 / paper, -2 / paper});  // the paper's are responses
  // without the -2: mean 2/3, squares 14/3, ddof 0 and 1
  const double three = std::sqrt(14 / 9.0), nemo = std::sqrt(14 / 6.0);
  close(whiten("grpo", R"(,"kept":[[1,1],[1,0]])"), {1 / 3.0 / three, -5 / 3.0 / three, 4 / 3.0 / three, 0});
  close(whiten("odrpo(grpo)", R"(,"compat":"nemo","kept":[[1,1],[1,0]])"), {1 / 3.0 / nemo, -5 / 3.0 / nemo, 4 / 3.0 / nemo, 0});
  close(whiten("grpo", R"(,"compat":"verl","kept":[[1,1],[1,0]])"), {1, -1, 2, 0});  // not whitened, left out all the same
}

TEST_CASE("laws of the median and of the sum of scores, by hand") {
  // of three: level 1 when two or three are at it, 3/8 + 1/8; at most level 2: 3 (0.64) 0.2 + 0.512 = 0.896
  check_numbers(R"({"fn":"median_pmf","args":{"pmf":[0.5,0.3,0.2],"N":3}})", {0.5, 0.396, 0.104});
  check_numbers(R"({"fn":"median_pmf","args":{"pmf":[0.5,0.5],"N":2}})", {0.75, 0.25});  // the lower of two
  check_numbers(R"({"fn":"sum_pmf","args":{"pmf":[0.5,0.3,0.2],"N":2}})", {0.25, 0.3, 0.29, 0.12, 0.04});
  check_numbers(R"({"fn":"sum_pmf","args":{"pmf":[0,1],"N":3}})", {0, 0, 0, 1});
}
