// Reads files that a suite names: where they may lie, and what is told of them.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "config/plan/plan.hpp"
#include "config/read/text.hpp"

namespace odrpo {
namespace {

/// At the end of all links.
bool lies_below(const std::string& path, const std::vector<std::string>& folders) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path file = fs::weakly_canonical(fs::absolute(path, error), error);
  return !error && std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) {
    const fs::path whole = fs::canonical(folder.empty() ? "." : folder, error);
    return !error && std::mismatch(whole.begin(), whole.end(), file.begin(), file.end()).first == whole.end();
  });
}

}  // namespace

std::string path_of(const Node& named, const Reading& reading) {
  return named.place.set == 0 && !named.text.starts_with('/') ? reading.folder + named.text : named.text;
}

std::optional<std::string> named_text(const Node& named, const std::string& label, std::string (*read)(const std::string& path), Reading& reading) {
  const std::string path = path_of(named, reading);
  try {
    if (!reading.only_below.empty() && !lies_below(path, reading.only_below))
      throw Failure(Exit::bad_input, fmt::format("{}: lies neither below the result file's folder nor below the current one, and is not opened", shown(path, 4096)));
    return read(path);
  } catch (const Failure& failure) {
    reading.files.add_file(named.place, failure.code, fmt::format("`{}`: {}", label, failure.what()));
    return std::nullopt;
  }
}

void add_inside(const Node& named, const std::string& label, const Failure& failure, bool block, Reading& reading) {
  if (!reading.only_below.empty())
    reading.files.add_file(named.place, failure.code,
                           fmt::format("`{}`: {}: something in it is wrong; since a result file names it, nothing of it is shown", label,
                                       shown(path_of(named, reading), 4096)));
  else if (block) reading.files.add_block(named.place, failure.code, failure.what());
  else reading.files.add_lines(named.place, failure.code, failure.what());
}

}  // namespace odrpo
