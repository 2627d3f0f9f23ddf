// Looks for shipped suites where the program was installed, or in the sources that it was built from.
#include "app/run/shipped_suites.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "app/command.hpp"
#include "config/read/parse.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/output_file.hpp"

namespace odrpo::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view extension = ".toml";

/// The folder of shipped suites, found by the JSON schema in it; empty where there is none.
fs::path suites_folder() {
  std::error_code ignored;
  const fs::path here = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  const BuildFacts build = build_facts();
  for (const std::string& folder : {build.suites_installed, build.suites_of_sources}) {
    const fs::path path = (here / folder).lexically_normal();
    if (fs::is_regular_file(path / "odrpo-bench.schema.json", ignored)) return path;
  }
  return {};
}

/// The names of the suites in a folder, sorted: "paper/results", "quickstart", …
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  if (folder.empty()) return names;
  for (auto file = fs::recursive_directory_iterator(folder, ignored); file != fs::end(file); file.increment(ignored))
    if (file->path().extension() == extension) names.push_back(file->path().lexically_relative(folder).replace_extension().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string without_extension(std::string path) {
  if (path.ends_with(extension)) path.resize(path.size() - extension.size());
  return path;
}

/// `; did you mean "x"?` where a shipped suite's name resembles `path` or its last part. Otherwise, if `path` is a single word, the list of
/// all shipped suites; else empty.
std::string suggestion(const std::string& path) {
  const std::vector<std::string> names = names_in(suites_folder());
  const std::string word = without_extension(path), last = word.substr(word.rfind('/') + 1);
  for (const std::string& wanted : {word, last}) {
    if (const std::string near = did_you_mean(wanted, names); !near.empty()) return near;
    for (const std::string& name : names)
      if (name.ends_with('/' + wanted)) return did_you_mean(name, names);
  }
  if (names.empty() || word != path || last != path) return "";
  return "\nShipped suites: " + one_of(std::vector<std::string_view>(names.begin(), names.end()), names.size());
}

}  // namespace

std::vector<std::string> shipped_suites() { return names_in(suites_folder()); }

std::string suite_path(const std::string& path) {
  if (exists(path)) return path;
  const fs::path folder = suites_folder();
  const std::vector<std::string> names = names_in(folder);
  const std::string name = without_extension(path);
  return std::find(names.begin(), names.end(), name) == names.end() ? path : (folder / name).string().append(extension);
}

Suite load_named_suite(std::string& path, const std::vector<std::string>& set, const std::vector<std::string>& only) {
  path = suite_path(path);
  try {
    return load_suite(path, set, only);
  } catch (const Failure& failure) {
    if (failure.code != Exit::io || exists(path)) throw;
    throw Failure(Exit::io, failure.what() + suggestion(path));
  }
}

}  // namespace odrpo::app
