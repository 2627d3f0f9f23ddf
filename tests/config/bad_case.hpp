// One row of a table of bad suites: exit code, line and column, and what the message says.
#pragma once
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/config/loading.hpp"

namespace odrpo {

struct BadCase {
  const char* what;
  std::string text;   // lines behind the four of small_suite, unless it begins with '[suite]'
  std::string place;  // "line:column"
  std::vector<std::string> fragments;
  Exit code = Exit::suite;
};

inline void check_refused(const std::vector<BadCase>& cases) {
  for (const auto& c : cases) {
    INFO(c.what);
    const auto r = refusal(c.text.starts_with("[suite]") ? c.text : small_suite + c.text);
    INFO(r.message);
    CHECK(r.code == c.code);
    if (!c.place.empty()) CHECK(r.has("bad.toml:" + c.place + ": error: "));
    for (const auto& fragment : c.fragments) {
      INFO(fragment);
      CHECK(r.has(fragment));
    }
  }
}

}  // namespace odrpo
