// Mutations of two shipped suites, one of which zips, at random with fixed seeds: refused or accepted, but never a crash, a hang or an
// unplaced message. Under sanitizers fuzz/suite.cpp does the same.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "config/spec.hpp"
#include "tests/catch.hpp"
#include "tests/config/loading.hpp"
#include "tests/source_path.hpp"

using namespace odrpo;

namespace {

std::string original(const std::string& name) {
  std::ifstream file(source_path("suites/" + name + ".toml"), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t below(std::mt19937_64& random, std::size_t n) { return n == 0 ? 0 : random() % n; }

// one random change: a byte, a piece of TOML, a line moved, doubled or dropped, a piece cut out
void mutate(std::string& text, std::mt19937_64& random) {
  static const char* const pieces[] = {
      "[", "]", "{", "}", "\"", "'", "\"\"\"", "'''", "=", ".", ",", "#", "\n", "\\", "-", "nan", "inf", "1e400",
      "99999999999999999999", "0", "-1", "2.5", "true", "[[", "[grid]\n", "[rater.x]\n", "base = \"veto\"\n", "\xc3\xa9", "\xff",
      "low.p = [0.1, 0.2]\n", "[estimator.grpo]\n", "1979-05-27", "{a = 1}", "[1, 2]", "votes", "lr = [1, 2]\n",
      "{ votes = 2, \"learn.steps\" = 3 },\n", "\"rater.paid.low.p\" = 0.1, ", "estimator = \"maxrl\", ", "\t", "\r\n"};
  const auto at = below(random, text.size() + 1);
  const auto line = text.rfind('\n', at == 0 ? 0 : at - 1);
  const auto begin = line == std::string::npos ? 0 : line + 1;
  const auto length = std::min(text.find('\n', begin), text.size()) - begin;
  const std::string row = text.substr(begin, length) + "\n";
  switch (random() % 6) {
    case 0: text.insert(at, pieces[below(random, std::size(pieces))]); break;
    case 1:
      if (at < text.size()) text[at] = static_cast<char>(random());
      break;
    case 2: text.erase(at, 1 + below(random, 20)); break;
    case 3: text.insert(begin, row); break;
    case 4: text.erase(begin, length); break;
    case 5: {
      const auto to = text.find('\n', below(random, text.size() + 1));
      if (to != std::string::npos) text.insert(to + 1, row);
      break;
    }
  }
}

}  // namespace

TEST_CASE("mutated suites are refused with a message or accepted", "[unsanitized]") {
  const auto name = GENERATE(as<std::string>{}, "quickstart", "equal-cost");
  const auto start = original(name);
  REQUIRE(start.size() > 200);
  int accepted = 0, refused = 0;
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < 750; ++i) {
      std::string text = start;
      for (std::size_t n = 1 + below(random, 6); n > 0; --n) mutate(text, random);
      INFO("seed " << seed << ", mutation " << i << ":\n" << text);
      const auto r = refusal(text);
      if (r.code == Exit::ok) {
        ++accepted;
        const Suite suite = loaded(text), again = loaded(suite.resolved);
        REQUIRE(again.resolved == suite.resolved);
        REQUIRE(again.runs.size() == suite.runs.size());
        REQUIRE(again.runs.back().id == suite.runs.back().id);
        continue;
      }
      ++refused;
      REQUIRE((r.code == Exit::suite || r.code == Exit::limits));
      REQUIRE((r.code == Exit::limits || r.has("bad.toml:")));
      REQUIRE(r.message.find('\x1b') == std::string::npos);
    }
  }
  std::printf("mutations of %s (seeds 1 to 4): %d accepted, %d refused\n", name.c_str(), accepted, refused);
  CHECK(refused > 500);
  CHECK(accepted > 100);
}
