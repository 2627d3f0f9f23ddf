// What tests of suites share: loading text, and what a bad suite is refused with.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "config/read/parse.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo {

/// A refused suite: the exit code and the complete message; code ok and no message when it was accepted.
struct Refusal {
  Exit code = Exit::ok;
  std::string message;
  bool has(const std::string& fragment) const { return message.find(fragment) != std::string::npos; }
};

inline Refusal refusal(const std::string& text, const std::vector<std::string>& set = {}, const std::vector<std::string>& only = {}) {
  try {
    load_suite_text("bad.toml", text, set, only);
  } catch (const Failure& f) {
    return {f.code, f.what()};
  }
  return {};
}

/// The same for a file; `suite` takes what was accepted.
inline Refusal file_refusal(const std::string& path, const std::vector<std::string>& set = {}, Suite* suite = nullptr) {
  try {
    Suite made = load_suite(path, set, {});
    if (suite != nullptr) *suite = std::move(made);
  } catch (const Failure& f) {
    return {f.code, f.what()};
  }
  return {};
}

inline Suite loaded(const std::string& text, const std::vector<std::string>& set = {}, const std::vector<std::string>& only = {}) {
  return load_suite_text("good.toml", text, set, only);
}

/// The ids of all runs.
inline std::vector<std::string> ids(const Suite& suite) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < suite.runs.size(); ++i) all.push_back(suite.runs.id(i));
  return all;
}

inline std::string repeated(const std::string& piece, int n) {
  std::string text;
  for (int i = 0; i < n; ++i) text += piece;
  return text;
}

/// A small good suite: two estimators, one run each.
inline const std::string small_suite = R"([suite]
name = "small"
[grid]
estimator = ["grpo", "maxrl"]
)";

}  // namespace odrpo
