// The example suite of docs/suites.md is read, and has the runs that it says. (Pages of docs/reference: tests/app/reference/reference_test.cpp.)
#include <fstream>
#include <iterator>
#include <string>

#include "tests/catch.hpp"
#include "tests/config/loading.hpp"
#include "tests/source_path.hpp"

using namespace odrpo;

TEST_CASE("the example of docs/suites.md is a good suite") {
  std::ifstream file(source_path("docs/suites.md"), std::ios::binary);
  const std::string docs{std::istreambuf_iterator<char>(file), {}};
  const auto begin = docs.find("```toml\n") + 8;
  const auto suite = loaded(docs.substr(begin, docs.find("```", begin) - begin));
  CHECK(suite.runs.size() == 2 * 3 * 4 * 2 * 20);
}
