// Keys and numbers in one order, and their checksum.
#include "config/write/fit_mark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "config/catalogue/describe.hpp"
#include "config/read/parse_toml.hpp"
#include "results/store/digest.hpp"

namespace odrpo {
namespace {

constexpr std::string_view mark = "# numbers of the fit, sha256: ";
constexpr std::size_t mark_digits = 12;

// A line for each value: "latent.sigma 0x1.ca5p-2".
void add_values(const Node& node, const std::string& path, std::set<std::string>& lines) {
  switch (node.kind) {
    case Node::Kind::integer: lines.insert(fmt::format("{} {:a}", path, static_cast<double>(node.integer))); break;
    case Node::Kind::number: lines.insert(fmt::format("{} {:a}", path, node.number)); break;
    case Node::Kind::boolean: lines.insert(fmt::format("{} {}", path, node.boolean)); break;
    case Node::Kind::text:
    case Node::Kind::date: lines.insert(fmt::format("{} {}", path, node.text)); break;
    case Node::Kind::list:
      for (std::size_t i = 0; i < node.children.size(); ++i) add_values(node.children[i], fmt::format("{}.{}", path, i), lines);
      break;
    case Node::Kind::table:
      for (const Node& child : node.children) add_values(child, path + "." + folded(child.key), lines);
      break;
  }
}

// Of the noise models, which are tables, and of their order, a list.
std::string checksum(const Node& rater) {
  std::set<std::string> lines;
  for (const Node& child : rater.children)
    if (child.kind == Node::Kind::table || child.kind == Node::Kind::list) add_values(child, folded(child.key), lines);
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return sha256_hex(text).substr(0, mark_digits);
}

}  // namespace

std::string with_fit_mark(std::string text) {
  Diagnostics none("", text, {});
  Node root;
  parse_toml(text, root, none);
  const Node& rater = find_child(root, section_of<RaterConfig>())->children.front();
  text.append(mark).append(checksum(rater)).append("\n");
  return text;
}

bool edited_since_fit(std::string_view text, const Node& rater) {
  const std::size_t at = text.rfind(mark);
  if (at == std::string_view::npos || (at > 0 && text[at - 1] != '\n')) return false;
  return text.substr(at + mark.size(), mark_digits) != checksum(rater);
}

}  // namespace odrpo
