// Checks the commands of estimators of other programs, and hashes the files that they name. Nothing is started here.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "config/catalogue/axis.hpp"
#include "config/plan/plan.hpp"
#include "config/read/field_reader.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/system/process.hpp"
#include "kernels/system/text.hpp"
#include "results/store/digest.hpp"

namespace odrpo {
namespace {

/// SHA-256 of a regular file; empty where it cannot be read.
std::string sha256_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Sha256 sum;
  char bytes[65536];
  while (file.read(bytes, sizeof bytes) || file.gcount() > 0) sum.add(bytes, static_cast<std::size_t>(file.gcount()));
  return file.eof() ? sum.hex() : "";
}

/// Commands that a value of the suite is: one, or several of an axis.
std::vector<const Node*> commands_of(const Node& value) {
  std::vector<const Node*> all;
  if (value.kind == Node::Kind::text) all.push_back(&value);
  if (value.kind == Node::Kind::list)
    for (const Node& entry : value.children)
      if (entry.kind == Node::Kind::text) all.push_back(&entry);
  return all;
}

}  // namespace

void read_outside(const Node& section, const std::string& label, EstimatorConfig& config, Reading& reading) {
  const Node* given = find_child(section, command_key);
  if (given == nullptr) return;
  const bool own = reading.only_below.empty();
  config.folder = given->place.set == 0 && !reading.folder.empty() ? reading.folder.substr(0, reading.folder.size() - 1) : "";
  if (config.folder.empty() && given->place.set == 0 && reading.folder == "/") config.folder = "/";
  std::set<std::string> files;
  for (const Node* command : commands_of(*given)) try {
      const std::vector<std::string> words = command_words("`" + label + ".command`", command->text);
      const bool in_folder = words[0].find('/') != std::string::npos && !words[0].starts_with('/') && given->place.set == 0;
      if (own && find_program(in_folder ? reading.folder + words[0] : words[0]).empty())
        reading.errors.add(command->place, fmt::format("`{}.command`: there is no program \"{}\"{}", label, shown(words[0]),
                                                       words[0].find('/') == std::string::npos ? " in PATH" : " that can be executed"));
      for (const std::string& word : words) {
        const std::string path = given->place.set == 0 && !word.starts_with('/') ? reading.folder + word : word;
        std::error_code error;
        const bool of_machine = &word == &words[0] && (word.starts_with('/') || word.find('/') == std::string::npos);  // such as python3
        if (of_machine || word.empty() || !std::filesystem::is_regular_file(path, error) || !may_be_opened(path, reading)) continue;
        files.insert(fmt::format("{} {}", word, sha256_of_file(path)));
      }
    } catch (const Failure& failure) {
      reading.errors.add(command->place, failure.what());
    }
  config.files = joined(std::vector<std::string>(files.begin(), files.end()));
}

void check_outside(const Plan& plan, Diagnostics& errors) {
  for (const auto& estimator : plan.estimator) {
    if (estimator.config.outside == Outside::none) continue;
    if (estimator.config.command.empty())
      errors.add(estimator.place, fmt::format("estimator {} needs `command = \"...\"`, the program that computes its advantages", shown(estimator.name)),
                 "[estimator.NAME] command = \"python3 mine.py\"");
    if (plan.record.gradient > 0 && may_be(estimator.axes, "state", estimator.config.state, outside_state_words, OutsideState::run))
      errors.add(estimator.place, fmt::format("estimator {} has state = \"run\", and `gradient` of [record] would ask it for more batches than the run has", shown(estimator.name)),
                 "state = \"none\", or gradient = 0");
  }
}

}  // namespace odrpo
