// The order in which a suite is loaded.
#include "config/read/parse.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/catalogue/formulas.hpp"
#include "config/plan/expand.hpp"
#include "config/plan/plan.hpp"
#include "config/read/overrides.hpp"
#include "config/read/parse_toml.hpp"
#include "config/read/read_file.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {

Suite load_suite_text(const std::string& path, std::string text, const std::vector<std::string>& set,
                      const std::vector<std::string>& only, std::vector<std::string> only_below) {
  Diagnostics errors(shown(path, 4096), text, set);
  std::vector<Override> overrides;
  for (std::size_t i = 0; i < set.size(); ++i) overrides.push_back(split_override(set[i], static_cast<int>(i) + 1, errors));
  Node root;
  const bool whole = parse_toml(text, root, errors);
  bool sound = !errors.any();  // what is missing may stand in a statement that could not be read
  if (!whole) errors.finish();
  for (std::size_t i = 0; i < set.size(); ++i) {
    const int ordinal = static_cast<int>(i) + 1;
    if (overrides[i].path.empty()) continue;
    if (auto value = override_value(overrides[i], ordinal, errors))
      apply_override(root, overrides[i].path, std::move(*value), ordinal, errors);
    else sound = false;
  }
  const auto slash = path.rfind('/');
  Diagnostics files(shown(path, 4096), text, set);
  Reading reading{errors, files, sound, slash == std::string::npos ? "" : path.substr(0, slash + 1), std::move(only_below)};
  const Plan plan = read_plan(root, reading);
  errors.finish();
  files.finish();
  Suite suite = expand(plan, only);
  suite.resolved = write_plan(plan);
  suite.text = std::move(text);
  suite.overrides = set;
  for (const auto& rater : plan.rater) {
    const auto& [file, found, seconds] = rater.scores;
    suite.learning_seconds += seconds;
    if (found.empty()) continue;
    suite.notes.push_back(fmt::format("judge: {}: {}", file, found));
    suite.judges.emplace_back(rater.name, fmt::format("{}: {}", file.substr(file.rfind('/') + 1), found));
  }
  for (auto& note : reading.notes)
    if (std::find(suite.notes.begin(), suite.notes.end(), note) == suite.notes.end()) suite.notes.push_back(std::move(note));
  for (auto& note : exploding_groups(suite)) suite.notes.push_back(std::move(note));
  return suite;
}

Suite load_suite(const std::string& path, const std::vector<std::string>& set, const std::vector<std::string>& only) {
  for (std::size_t i = 0; i < set.size(); ++i) {  // a --set that is not even one is told before the file is looked at
    Diagnostics unused(path, {}, {});
    split_override(set[i], static_cast<int>(i) + 1, unused);
  }
  return load_suite_text(path, read_suite_file(path), set, only);
}

}  // namespace odrpo
