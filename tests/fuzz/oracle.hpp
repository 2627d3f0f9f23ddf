// What every fuzz target asks of the code under test: a documented refusal or a sound answer, and text that is safe to print.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>

#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"

namespace odrpo::fuzz {

/// Ends the process when `holds` is false, so that libFuzzer keeps the input.
inline void require(bool holds, const char* what, std::string_view text = {}) {
  if (holds) return;
  std::fprintf(stderr, "FINDING: %s\n", what);
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fputc('\n', stderr);
  std::abort();
}

/// The text is UTF-8 without control characters but line ends and tabs.
inline void require_printable(std::string_view text, const char* what) {
  for (std::string_view rest = text; !rest.empty();) {
    const Character c = first_character(rest);
    require(c.bytes > 0 && (c.point == '\n' || c.point == '\t' || !is_control(c.point)), what, text);
    rest.remove_prefix(c.bytes);
  }
}

/// Runs `call`. A Failure with one of the `allowed` exit codes is fine; any other exception leaves the target, which is a finding.
/// Returns true when the call ended without a Failure.
template <class Call>
bool accepted(std::initializer_list<Exit> allowed, Call call) {
  try {
    call();
    return true;
  } catch (const Failure& failure) {
    bool known = false;
    for (const Exit code : allowed) known |= failure.code == code;
    require(known, "a Failure with an exit code that is not documented here", failure.what());
    require(*failure.what() != '\0', "a Failure without a message");
  }
  return false;
}

}  // namespace odrpo::fuzz
