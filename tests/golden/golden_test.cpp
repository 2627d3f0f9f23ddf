// Every golden case through `compute`: numbers of an independent 40-digit implementation, null = undefined.
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "app/compute/line.hpp"
#include "tests/catch.hpp"
#include "tests/source_path.hpp"

using nlohmann::json;

namespace {

/// Does `got` hold what `want` holds, numbers within 1e-11 + 1e-10 |want|?
bool agrees(const json& got, const json& want) {
  if (want.is_number())
    return got.is_number() && std::abs(got.get<double>() - want.get<double>()) <= 1e-11 + 1e-10 * std::abs(want.get<double>());
  if (want.is_array() || want.is_object()) {
    if (got.type() != want.type() || got.size() != want.size()) return false;
    for (const auto& [key, value] : want.items()) {
      const bool there = want.is_object() ? got.contains(key) : true;
      if (!there || !agrees(want.is_object() ? got[key] : got[std::stoul(key)], value)) return false;
    }
    return true;
  }
  return got == want;
}

}  // namespace

namespace {

/// Passes the cases of a file to `compute`, and returns how many there are.
int check_cases(const char* name) {
  std::ifstream file(source_path(std::string("tests/golden/") + name));
  const json golden = json::parse(file);
  int checked = 0;
  for (const json& one : golden.at("cases")) {
    const json request = {{"id", one["id"]}, {"fn", one["fn"]}, {"args", one["args"]}};
    const json answer = json::parse(odrpo::app::compute_line(request.dump()));
    CAPTURE(request.dump(), answer.dump(), one["out"].dump());
    CHECK(answer["id"] == one["id"]);
    REQUIRE(answer.contains("out"));
    CHECK(agrees(answer["out"], one["out"]));
    ++checked;
  }
  return checked;
}

}  // namespace

TEST_CASE("golden cases agree within 1e-11 + 1e-10 of the value") {
  CHECK(check_cases("golden_public.json") == 67);
  CHECK(check_cases("golden_rivals.json") == 71);
}

namespace {

/// The cases of a file of posterior values through a function of `compute`; `key`: what the function is given besides rater and prior.
int check_posteriors(const std::string& name, const std::string& function, const std::string& key) {
  std::ifstream file(source_path("tests/golden/" + name));
  const json golden = json::parse(file);
  for (const json& one : golden.at("cases")) {
    const json args = {{key, one[key]}, {"rater", one["rater"]}, {"prior", one["prior"]}};
    const json answer = json::parse(odrpo::app::compute_line(json{{"id", 1}, {"fn", function}, {"args", args}}.dump()));
    CAPTURE(args.dump(), answer.dump());
    REQUIRE(answer.contains("out"));
    REQUIRE(answer["out"].size() == one["values"].size());
    for (std::size_t i = 0; i < one["values"].size(); ++i)
      CHECK(std::abs(answer["out"][i].get<double>() - one["values"][i].get<double>()) < 1e-8);
  }
  return static_cast<int>(golden.at("cases").size());
}

}  // namespace

TEST_CASE("posterior scores agree with an independent script") {
  CHECK(check_posteriors("posterior.json", "posterior_scores", "scores") == 32);
}

TEST_CASE("posterior scores of all votes agree with an independent script") {
  CHECK(check_posteriors("posterior_votes.json", "posterior_votes", "votes") == 24);
}
