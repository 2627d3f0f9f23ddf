// Names the result file that `run` writes without -o: by the suite, by what --set changed, and by the part.
#include "app/run/output_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "config/catalogue/describe.hpp"
#include "results/store/digest.hpp"

namespace odrpo::app {
namespace {

constexpr std::size_t longest_suffix = 80;  // longer ones end with a checksum

/// Sections whose keys change no run.
constexpr std::string_view idle_sections[] = {section_of<TableConfig>(), section_of<GateConfig>(), section_of<LimitsConfig>(), label_section};

bool names_runs(std::string_view key) {
  const std::string_view section = key.substr(0, key.find('.'));
  return key != "suite.name" && std::find(std::begin(idle_sections), std::end(idle_sections), section) == std::end(idle_sections);
}

/// The text without brackets, quotes and blanks; of a path its last part; other characters that a shell or file system may dislike become '_'.
std::string file_part(std::string_view text) {
  if (const auto slash = text.find_last_of('/'); slash != std::string_view::npos) text.remove_prefix(slash + 1);
  std::string out;
  for (const char c : text) {
    if (std::string_view("[]\"' \t").find(c) != std::string_view::npos) continue;
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || std::string_view("._=+,-").find(c) != std::string_view::npos;
    out += plain ? c : '_';
  }
  return out;
}

/// "-seeds=3-lr=0.1" for --set suite.seeds=3 --set learn.lr=0.1.
std::string suffix_of(const std::vector<std::string>& set) {
  std::string suffix, all;
  for (auto at = set.begin(); at != set.end(); ++at) {
    const std::size_t equals = std::min(at->find('='), at->size());
    const std::string_view whole(*at), value = whole.substr(std::min(equals + 1, whole.size()));
    std::string_view key = whole.substr(0, equals);
    const bool set_again = !key.ends_with('+') && std::any_of(at + 1, set.end(), [&](const std::string& later) { return later.starts_with(whole.substr(0, equals + 1)); });
    if (!names_runs(key) || set_again) continue;
    if (const auto dot = key.rfind('.'); dot != std::string_view::npos) key.remove_prefix(dot + 1);
    suffix += '-' + file_part(key) + '=' + file_part(value);
    all += *at + '\n';
  }
  if (suffix.size() <= longest_suffix) return suffix;
  return suffix.substr(0, longest_suffix - 9) + '-' + sha256_hex(all).substr(0, 8);
}

}  // namespace

std::string default_output(const std::string& suite, const std::vector<std::string>& set, const std::string& name, PartOfSuite part) {
  const std::string whole = suite + (name.empty() ? suffix_of(set) : '-' + name);
  if (part.count == 1) return whole + ".h5";
  const std::size_t width = std::to_string(part.count - 1).size();
  return fmt::format("{}.part-{:0{}}-of-{}.h5", whole, part.index, width, part.count);
}

}  // namespace odrpo::app
