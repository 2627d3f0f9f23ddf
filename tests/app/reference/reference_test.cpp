// docs/reference: every committed page is the one that the program prints.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "app/reference/schema.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"
#include "tests/source_path.hpp"

using namespace odrpo;
using namespace odrpo::app;

namespace {

const std::filesystem::path folder = source_path("docs/reference");

}  // namespace

TEST_CASE("every page of docs/reference is what list --markdown prints, byte for byte") {
  for (const std::string_view page : reference_pages()) {
    std::ifstream file(folder / (std::string(page) + ".md"), std::ios::binary);
    const std::string committed{std::istreambuf_iterator<char>(file), {}};
    INFO("write it anew: odrpo-bench list --markdown " << page << " > docs/reference/" << page << ".md");
    CHECK(committed == reference_page(page));
  }
}

TEST_CASE("docs/reference has no page that nothing prints") {
  const auto pages = reference_pages();
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    INFO(entry.path());
    CHECK(std::find(pages.begin(), pages.end(), entry.path().stem().string()) != pages.end());
  }
}

TEST_CASE("docs/commands.md has a row for every exit code, and for no other number") {
  const auto text_of = [](const char* path) {
    std::ifstream file(source_path(path), std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(file), {}};
  };
  const std::string header = text_of("kernels/shared/failure.hpp"), page = text_of("docs/commands.md");
  const auto numbers = [](const std::string& text, const std::regex& pattern) {
    std::set<int> found;
    for (auto match = std::sregex_iterator(text.begin(), text.end(), pattern); match != std::sregex_iterator(); ++match)
      found.insert(std::stoi((*match)[1]));
    return found;
  };
  const std::set<int> codes = numbers(header.substr(0, header.find("};")), std::regex(" = ([0-9]+),"));
  CHECK(codes.size() == 14);
  CHECK(numbers(page.substr(page.find("## Exit codes")), std::regex("\\n\\| ([0-9]+) \\|")) == codes);
}

TEST_CASE("another page is refused with the words there are") {
  try {
    reference_page("key");
    FAIL("accepted");
  } catch (const Failure& f) {
    CHECK(f.code == Exit::usage);
    CHECK(std::string(f.what()).find("keys, noise, estimators, curves or functions") != std::string::npos);
    CHECK(std::string(f.what()).find("did you mean \"keys\"?") != std::string::npos);
  }
}
