// docs/reference: every committed page is the one that the program prints.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "app/completion/command_text.hpp"
#include "app/reference/schema.hpp"
#include "kernels/shared/exit_words.hpp"
#include "tests/catch.hpp"
#include "tests/source_path.hpp"

using namespace odrpo;
using namespace odrpo::app;

namespace {

const std::filesystem::path folder = source_path("docs/reference");

}  // namespace

TEST_CASE("every page of docs/reference is what list --markdown prints, byte for byte") {
  for (const std::string_view page : reference_pages()) {
    if (page == "commands") continue;  // made from the parser, which the program alone has: tests/app/completion/shells_test.py
    std::ifstream file(folder / (std::string(page) + ".md"), std::ios::binary);
    const std::string committed{std::istreambuf_iterator<char>(file), {}};
    INFO("write it anew: odrpo-bench list --markdown " << page << " > docs/reference/" << page << ".md");
    CHECK(committed == reference_page(page, {}));
  }
}

TEST_CASE("docs/reference has no page that nothing prints") {
  const auto pages = reference_pages();
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    INFO(entry.path());
    CHECK(std::find(pages.begin(), pages.end(), entry.path().stem().string()) != pages.end());
  }
}

TEST_CASE("every exit code has a text, and no other number has") {
  std::ifstream file(source_path("kernels/shared/failure.hpp"), std::ios::binary);
  std::string header{std::istreambuf_iterator<char>(file), {}};
  header.resize(header.find("};"));
  const std::regex pattern(" = ([0-9]+),");
  std::vector<int> codes, described;
  for (auto match = std::sregex_iterator(header.begin(), header.end(), pattern); match != std::sregex_iterator(); ++match) codes.push_back(std::stoi((*match)[1]));
  for (const ExitText& exit : exit_texts) described.push_back(static_cast<int>(exit.code));
  CHECK(codes.size() == 14);
  CHECK(codes == described);
}

TEST_CASE("another page is refused with the words there are") {
  try {
    reference_page("key", {});
    FAIL("accepted");
  } catch (const Failure& f) {
    CHECK(f.code == Exit::usage);
    CHECK(std::string(f.what()).find("keys, noise, estimators, curves, functions or commands") != std::string::npos);
    CHECK(std::string(f.what()).find("did you mean \"keys\"?") != std::string::npos);
  }
}
