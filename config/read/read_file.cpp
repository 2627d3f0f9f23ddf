// Reads a suite file, or a file that a suite names, and checks its kind, size and encoding.
#include "config/read/read_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "config/plan/plan.hpp"
#include "config/read/tree.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/input_file.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/score_file.hpp"
#include "results/store/store.hpp"

namespace odrpo {

std::string read_suite_file(const std::string& path) {
  std::string text = read_bytes(path, {"a suite file", Exit::suite, max_suite_bytes});
  if (text.starts_with(hdf5_signature)) fail(Exit::suite, "{0}: is a result file: odrpo-bench table {0} prints it", shown(path, 4096));
  Diagnostics errors(shown(path, 4096), text, {});
  if (text.size() > max_suite_bytes) errors.add({}, "larger than 1 MiB, which no suite needs");
  else if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    errors.add({0, 1, 1}, "the file is empty; a suite needs [suite] and [grid]");
  else if (const auto wide = wide_encoding(text); !wide.empty()) errors.add({}, fmt::format("{} text: save it as UTF-8", wide));
  else if (const auto bad = first_bad_utf8(text); bad != std::string::npos) {
    const std::string_view before = std::string_view(text).substr(0, bad);
    const auto line_begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    int line = 1;
    for (const char c : before) line += c == '\n';
    const auto column = static_cast<int>(code_points(before.substr(line_begin))) + 1;
    errors.add({0, line, column}, fmt::format("byte 0x{:02x} is not UTF-8", static_cast<unsigned char>(text[bad])));
  }
  errors.finish();
  return text;
}

std::string read_scores_file(const std::string& path) {
  return read_bytes(path, {"a file of scores", Exit::bad_input, max_scores_bytes});
}

std::vector<NamedText> read_score_files(const std::string& path) {
  std::error_code error;
  std::vector<NamedText> files;
  if (!std::filesystem::is_directory(path, error)) {
    files.push_back({shown(path, 4096), read_scores_file(path)});
    return files;
  }
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    const std::string name = entry.path().filename().string();
    const bool packed = name.ends_with(".gz") || name.ends_with(".zip") || name.ends_with(".eval");
    if (entry.is_regular_file() && (packed || format_by_name(name))) names.push_back(entry.path().string());
  }
  if (error) cannot_read(path);
  if (names.empty()) fail(Exit::bad_input, "{}: a folder without files of scores (.csv, .tsv, .json, .jsonl, packed or not)", shown(path, 4096));
  std::sort(names.begin(), names.end(), numbers_before);
  for (const std::string& name : names) files.push_back({shown(name, 4096), read_scores_file(name)});
  return files;
}

// Files that a suite names: where they may lie, and what messages show of them.

namespace {

/// True if the path, after all links, lies below one of the folders.
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

bool may_be_opened(const std::string& path, const Reading& reading) { return reading.only_below.empty() || lies_below(path, reading.only_below); }

std::optional<std::string> named_text(const Node& named, const std::string& label, std::string (*read)(const std::string& path), Reading& reading) {
  const std::string path = path_of(named, reading);
  try {
    if (!may_be_opened(path, reading))
      fail(Exit::bad_input, "{}: lies neither below the result file's folder nor below the current one, and is not opened",
           shown(path, 4096));
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
