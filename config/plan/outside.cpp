// Checks the commands of estimators of other programs, and hashes the files that they name. Nothing is started here.
#include <fmt/format.h>

#include <filesystem>

#include "config/catalogue/axis.hpp"
#include "config/plan/plan.hpp"
#include "config/read/field_reader.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/system/process.hpp"
#include "kernels/system/text.hpp"
#include "results/store/digest.hpp"

namespace odrpo {
namespace {

/// What a shell would replace in a command, outside of the quotes that forbid it; 0 if nothing. A suite means the same wherever it is read.
char replaced_sign(std::string_view text) {
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'') ++i;
    else if (quote != 0) {
      if (c == quote) quote = 0;
      else if (quote == '"' && c == '$') return c;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (std::string_view("$~*?[").find(c) != std::string_view::npos) {
      return c;
    }
  }
  return 0;
}

}  // namespace

namespace {

void read_command(const Node& given, const std::string& who, const std::string& folder, EstimatorConfig& config, Reading& reading) {
  if (const char sign = replaced_sign(given.text); sign != 0) {
    reading.errors.add(given.place, fmt::format("{} has {} outside of single quotes: a command is taken as it stands, and nothing in it is replaced", who, sign));
    return;
  }
  std::vector<std::string> files;
  try {
    const std::vector<std::string> words = command_words(who, given.text);
    if (reading.only_below.empty()) find_command(who, words, config.folder);
    const std::string program = words[0].substr(words[0].rfind('/') + 1);  // a program of the machine, such as python3 or /usr/bin/python3, is none of the estimator's files
    std::error_code error;
    for (const std::string& word : words) {
      const std::string path = word.starts_with('/') ? word : folder + word;
      const bool of_machine = &word == &words[0] && (word == program || std::filesystem::equivalent(path, find_program(program), error));
      if (of_machine || word.empty() || !std::filesystem::is_regular_file(path, error) || !may_be_opened(path, reading)) continue;
      files.push_back(fmt::format("{} {}", word, sha256_of_file(path)));
    }
  } catch (const Failure& failure) {
    reading.errors.add(given.place, failure.what());
  }
  config.files = joined(files);
}

void read_library(const Node& given, const std::string& who, const std::string& folder, EstimatorConfig& config, Reading& reading) {
  const std::string path = given.text.starts_with('/') ? given.text : folder + given.text;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    if (reading.only_below.empty()) reading.errors.add(given.place, fmt::format("{}: there is no file {}", who, shown(path, 4096)));
  } else if (may_be_opened(path, reading)) {
    config.files = fmt::format("{} {}", given.text, sha256_of_file(path));
  }
}

}  // namespace

void read_outside(const Node& section, const std::string& label, EstimatorConfig& config, Reading& reading) {
  const bool is_command = config.outside == Outside::command;
  const Node* given = find_child(section, is_command ? command_key : library_key);
  if (given == nullptr) return;
  const std::string who = fmt::format("`{}.{}`", label, is_command ? command_key : library_key);
  if (given->kind == Node::Kind::list) reading.errors.add(given->place, fmt::format("{} must be one text, not a list: each program or library has a section of its own", who));
  if (given->kind != Node::Kind::text) return;
  const std::string folder = given->place.set == 0 ? reading.folder : "";  // paths of --set are relative to the current folder
  config.folder = folder.size() > 1 ? folder.substr(0, folder.size() - 1) : folder;
  config.place = reading.errors.text_of(given->place);
  (is_command ? read_command : read_library)(*given, who, folder, config, reading);
}

void check_outside(const Plan& plan, Diagnostics& errors) {
  for (const auto& estimator : plan.estimator) {
    if (estimator.config.outside == Outside::none) continue;
    if (estimator.config.outside == Outside::library && estimator.config.library.empty())
      errors.add(estimator.place, fmt::format("estimator {} needs `library = \"...\"`, the shared library that computes its advantages", shown(estimator.name)),
                 "[estimator.NAME] library = \"./libmine.so\"");
    if (estimator.config.outside == Outside::command && estimator.config.command.empty())
      errors.add(estimator.place, fmt::format("estimator {} needs `command = \"...\"`, the program that computes its advantages", shown(estimator.name)),
                 "[estimator.NAME] command = \"python3 mine.py\"");
    if (plan.record.gradient > 0 && may_be(estimator.axes, "state", estimator.config.state, outside_state_words, OutsideState::run))
      errors.add(estimator.place, fmt::format("estimator {} has state = \"run\", and `gradient` of [record] would ask it for more batches than the run has", shown(estimator.name)),
                 "state = \"none\", or gradient = 0");
  }
}

}  // namespace odrpo
