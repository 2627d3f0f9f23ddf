// What differs between two result files: settings over several lines, runs by id, values, undefined numbers, timings left out.
#include "results/export/file_diff.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "results/export/json_text.hpp"
#include "tests/catch.hpp"
#include "tests/results/table/table_sample.hpp"

using namespace odrpo;
using namespace odrpo::sample;

namespace {

ResultFile file_with(const std::vector<RunRecord>& all, const std::string& resolved, const std::string& digest) {
  ResultFile file = file_of(all);
  file.digest = digest;
  std::erase_if(file.provenance, [](const auto& p) { return p.first == "resolved"; });
  file.provenance.emplace_back("resolved", resolved);
  for (const char* name : {"id", "key"}) {
    std::vector<std::string> texts;
    for (const RunRecord& r : all) texts.push_back(name == std::string("id") ? r.id : r.key);
    std::erase_if(file.columns, [&](const Column& c) { return c.name == name; });
    file.columns.push_back(text_column(name, "", texts));
  }
  return file;
}

std::vector<RunRecord> three_runs() {
  std::vector<RunRecord> all;
  for (int seed = 0; seed < 3; ++seed) {
    RunRecord r = run("bandit", "grpo", 1, 0.1, seed, 20);
    r.key = "k" + std::to_string(seed);
    r.finals = {{"final_gain", 0.5 + 0.1 * seed}, {"regret", 1}, {"rare", sample::nan}};
    all.push_back(r);
  }
  return all;
}

}  // namespace

TEST_CASE("files of the same digest are equal, whatever took how long") {
  std::vector<RunRecord> all = three_runs();
  for (RunRecord& r : all) r.finals.push_back({modelled_seconds, 4.5});
  std::vector<RunRecord> slow = all;
  for (RunRecord& r : slow) r.step_time_median *= 7, r.finals.back().value *= 7;
  const FileDiff d = diff_files(file_with(all, "learn.lr = 0.1\n", "abc"), file_with(slow, "learn.lr = 0.1\n", "abc"));
  CHECK(d.same_digest);
  CHECK(d.settings.empty());
  CHECK(d.values.empty());
  CHECK(d.common == 3);
  CHECK(d.columns == 3);
}

TEST_CASE("settings, runs and values that differ are found, with how much") {
  const std::vector<RunRecord> a = three_runs();
  std::vector<RunRecord> b = a;
  b[0].finals[0].value += 0.25;
  b[1].finals[0].value -= 0.5;
  b[1].finals[2].value = 4;
  b[1].key = "other";
  b[2].id = "bandit/mixed/linear/grpo/n1/learn.lr=0.1/s7";
  const FileDiff d = diff_files(
      file_with(a, "# head\nsuite.name = \"a = b\"\nrater.m.noise = [\n  { model = \"veto\", share = 0.03 },\n]\nlearn.lr = 0.1\nlearn.kl = 0\n", "abc"),
      file_with(b, "suite.name = \"a = b\"\nrater.m.noise = [\n  { model = \"veto\", share = 0.3 },\n]\nlearn.lr = 0.1\nrecord.every = 2\n", "abd"));
  CHECK_FALSE(d.same_digest);
  REQUIRE(d.settings.size() == 3);
  CHECK(d.settings[0].key == "rater.m.noise");
  CHECK(d.settings[0].a == "[ { model = \"veto\", share = 0.03 }, ]");
  CHECK(d.settings[0].b == "[ { model = \"veto\", share = 0.3 }, ]");
  CHECK(d.settings[1].key == "learn.kl");
  CHECK(d.settings[1].b.empty());
  CHECK(d.settings[2].key == "record.every");
  CHECK(d.settings[2].a.empty());
  CHECK(d.common == 2);
  CHECK(d.count_a == 1);
  CHECK(d.only_b == std::vector<std::string>{"bandit/mixed/linear/grpo/n1/learn.lr=0.1/s7"});
  CHECK(d.other_key == 1);
  CHECK(d.other_status == 0);
  REQUIRE(d.values.size() == 2);
  CHECK(d.values[0].column == "final_gain");
  CHECK(d.values[0].runs == 2);
  CHECK(d.values[0].mean == Approx(-0.125));
  CHECK(d.values[0].largest == Approx(-0.5));
  CHECK(d.values[0].run == a[1].id);
  CHECK(d.values[1].column == "rare");
  CHECK(d.values[1].runs == 1);
  CHECK(d.values[1].undefined == 1);
  CHECK(std::isnan(d.values[1].mean));
  CHECK(std::isnan(d.values[1].largest));
}

TEST_CASE("files without a digest or without a resolved text are compared all the same") {
  ResultFile a = file_with(three_runs(), "", ""), b = a;
  a.provenance.clear();
  const FileDiff d = diff_files(a, b);
  CHECK_FALSE(d.same_digest);  // nothing says that their curves are equal
  CHECK(d.values.empty());
  CHECK(d.common == 3);
}

namespace {

const std::vector<NamedArray> arrays{
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
  const auto json = nlohmann::json::parse(arrays_json(arrays));
  CHECK(json["word"] == "grün ☃ 😀");
  CHECK(json["whole"] == -7);
  CHECK(json["counts"] == nlohmann::json({{0, 1, 2}, {3, 4, 255}}));
  CHECK(json["real"][0] == 0.1);
  CHECK(json["real"][1].is_null());
  CHECK(json["real"][2] == 1e300);
  CHECK(json["nothing"] == nlohmann::json::array());
}
