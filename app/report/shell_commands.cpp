// How to repeat the runs of a result file.
#include "app/report/shell_commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "kernels/shared/utf8.hpp"
#include "kernels/system/text.hpp"

namespace odrpo::app {
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    lines.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return lines;
}

std::string file_word(const std::string& name) { return shell_word(name.starts_with('-') ? "./" + name : name); }

std::string shell_word(const std::string& given) {
  const std::string text = printable_line(given);
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_./=:,@%+-").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::vector<std::string> suite_changes(const ResultFile& file) {
  std::vector<std::string> changes;
  const auto text = [&](const char* name) {
    const std::string* found = file.provenance_text(name);
    return found ? *found : std::string();
  };
  if (file.provenance_text("only")) {
    for (const std::string& set : lines_of(text("overrides"))) changes.insert(changes.end(), {"--set", set});
    for (const std::string& glob : lines_of(text("only"))) changes.insert(changes.end(), {"--only", glob});
    return changes;
  }
  const std::vector<std::string> argv = lines_of(text("argv"));
  for (std::size_t i = 0; i < argv.size(); ++i)
    for (const char* flag : {"--set", "--only"}) {
      if (argv[i] == flag && i + 1 < argv.size()) {
        changes.insert(changes.end(), {flag, argv[i + 1]});
        ++i;
        break;
      }
      if (argv[i].starts_with(std::string(flag) + "="))
        changes.insert(changes.end(), {flag, argv[i].substr(std::string_view(flag).size() + 1)});
    }
  if (argv.empty())
    for (const std::string& set : lines_of(text("overrides"))) changes.insert(changes.end(), {"--set", set});
  return changes;
}

std::string reproduction_commands(const ResultFile& file, const std::string& path) {
  const std::string results = std::filesystem::path(path).filename().string();
  const std::string name = is_name(file.suite) ? file.suite : "suite";
  std::string run = fmt::format("odrpo-bench run {}.toml", name);
  for (const std::string& word : suite_changes(file)) run += " " + shell_word(word);
  return fmt::format("odrpo-bench export {0} --what suite -o {1}.toml\n{2} -o {1}-again.h5\nodrpo-bench diff {0} {1}-again.h5\n",
                     file_word(results), name, run);
}

}  // namespace odrpo::app
