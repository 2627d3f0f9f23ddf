// Pages of suites with what each is refused with: tests/config/pages.
#pragma once
#include <regex>
#include <string>

#include "tests/config/loading.hpp"
#include "tests/page.hpp"

namespace odrpo {

/// "exit CODE" and the message without the folder. Of a message of the TOML parser only its first words: the rest is another in each of its versions.
inline std::string refusal_text(const Refusal& refused, const std::string& folder = "") {
  static const std::regex parser("(error: bad [a-z -]+: [a-z ]*)[^;\n]*");
  std::string text = std::regex_replace(refused.message, parser, "$1...") + "\n";
  for (std::size_t at = 0; !folder.empty() && (at = text.find(folder, at)) != std::string::npos;) text.erase(at, folder.size());
  return "exit " + std::to_string(static_cast<int>(refused.code)) + "\n" + text;
}

/// Every suite of the page; a case that does not begin with [suite], or a comment, stands below small_suite. A suite that is accepted has a
/// number of runs, also as it is written out.
inline void check_suites(const std::string& page) {
  check_cases("config/pages/" + page + ".txt", [](const std::string& input) {
    const std::string text = input.starts_with("[suite]") || input.starts_with("#") ? input : small_suite + input;
    const Refusal refused = refusal(text);
    return refused.code != Exit::ok ? refusal_text(refused) : std::to_string(loaded(loaded(text).resolved).runs.size()) + " runs\n";
  });
}

}  // namespace odrpo
