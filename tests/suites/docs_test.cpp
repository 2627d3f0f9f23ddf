// docs/suites.md says what the descriptions say: every table of keys in it is the one that is made here.
#include <fstream>
#include <iterator>
#include <string>

#include "suites/field_list.hpp"
#include "tests/catch.hpp"
#include "tests/suites/loading.hpp"

using namespace odrpo;

namespace {

std::string in_cell(const std::string& text) {
  std::string out;
  for (const char c : text) out.append(c == '|' ? "\\" : "").append(1, c);
  return out;
}

std::string markdown(const std::vector<FieldInfo>& keys) {
  std::string text = "| key | default | allowed | meaning |\n|---|---|---|---|\n";
  for (const auto& key : keys)
    text += "| `" + key.key + "` | " + in_cell(key.value) + " | " + in_cell(key.allowed()) + " | " + in_cell(key.help) + " |\n";
  return text;
}

}  // namespace

TEST_CASE("docs/suites.md has every table of keys as the descriptions give it, and every word") {
  std::ifstream file(std::string(ODRPO_SOURCE_DIR) + "/docs/suites.md", std::ios::binary);
  const std::string docs{std::istreambuf_iterator<char>(file), {}};
  REQUIRE_FALSE(docs.empty());
  for (const auto& part : vocabulary()) {
    if (!part.keys.empty()) {
      INFO("paste into docs/suites.md (" << part.name << "):\n" << markdown(part.keys));
      CHECK(docs.find(markdown(part.keys)) != std::string::npos);
    }
    for (const auto& entry : part.entries) {
      INFO(part.name << ": " << entry.word);
      if (part.name != "estimators") CHECK(docs.find("`" + entry.word + "`") != std::string::npos);
      for (const auto& key : entry.keys) {
        INFO(key.key);
        CHECK(docs.find("`" + entry.word + "." + key.key + "`") != std::string::npos);
      }
    }
  }
}

TEST_CASE("the example of docs/suites.md is a good suite") {
  std::ifstream file(std::string(ODRPO_SOURCE_DIR) + "/docs/suites.md", std::ios::binary);
  const std::string docs{std::istreambuf_iterator<char>(file), {}};
  const auto begin = docs.find("```toml\n") + 8;
  const auto suite = loaded(docs.substr(begin, docs.find("```", begin) - begin));
  CHECK(suite.runs.size() == 2 * 3 * 4 * 2 * 20);
}
