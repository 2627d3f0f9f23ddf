// Reads a rater from a judge's file, and computes the checksum of its numbers.
#include "config/plan/rater_file.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "config/catalogue/describe.hpp"
#include "config/read/parse_toml.hpp"
#include "config/read/read_file.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/system/text.hpp"
#include "results/store/digest.hpp"

namespace odrpo {
namespace {

/// Finds the only section [rater.NAME] of the tree. If there is none, or more than one, reports an error and returns null.
const Node* only_rater(const Node& root, Diagnostics& errors) {
  const Node* raters = find_child(root, section_of<RaterConfig>());
  for (const Node& other : root.children)
    if (&other != raters)
      errors.add(other.key_place, fmt::format("`{}`: a judge's file has one section [rater.NAME] and nothing else", shown(other.key)));
  const bool one = raters != nullptr && raters->kind == Node::Kind::table && raters->children.size() == 1 &&
                   raters->children.front().kind == Node::Kind::table;
  if (!one) errors.add(raters == nullptr ? Place{0, 1, 1} : raters->place, "a judge's file needs one section [rater.NAME]");
  return one ? &raters->children.front() : nullptr;
}

RaterConfig parse_rater(const std::string& file, const std::string& text, std::vector<std::string>& notes) {
  Diagnostics errors(file, text, {});
  Node root;
  RaterConfig config;
  if (parse_toml(text, root, errors))
    if (const Node* rater = only_rater(root, errors)) {
      const std::string label = fmt::format("rater.{}", shown(rater->key));
      FieldReader fields(rater, label, false, errors);
      if (const Node* base = fields.extra(base_key))
        if (auto start = read_base<RaterConfig>(*base, label, errors)) config = std::move(start->config);
      fields.read(config);
      fields.finish();
      if (edited_since_fit(text, *rater))
        notes.push_back(fmt::format("{}: edited since the fit: its numbers are not those that `judge fit` wrote", file));
      if (config.noise.empty() && !errors.any())
        errors.add(rater->key_place,
                   fmt::format("[rater.{}] needs a noise model, such as [rater.{}.latent], or `base = \"...\"`, the rater it starts from", shown(rater->key),
                               shown(rater->key)));
    }
  errors.finish();
  return config;
}

}  // namespace

RaterConfig load_rater_file(const std::string& path, std::vector<std::string>& notes) {
  return parse_rater(shown(path, 4096), read_suite_file(path), notes);
}

std::optional<RaterConfig> read_named_rater(const Node& node, const std::string& label, Reading& reading) {
  const auto text = named_text(node, label, read_suite_file, reading);
  if (text) try {
      return parse_rater(shown(path_of(node, reading), 4096), *text, reading.notes);
    } catch (const Failure& failure) {
      add_inside(node, label, failure, true, reading);
    }
  return std::nullopt;
}

std::optional<RaterConfig> read_rater_file(const Node& section, const std::string& label, FieldReader& fields, Reading& reading) {
  const Node* node = fields.extra(file_key);
  if (node == nullptr) return std::nullopt;
  if (const Node* base = find_child(section, base_key))
    reading.errors.add(base->key_place, fmt::format("[{}] has `file` and `base`: one of them says what it starts from", label));
  if (node->kind != Node::Kind::text || node->text.empty() || node->text.find('\0') != std::string::npos) {
    reading.errors.add(node->place, fmt::format("`{}.file` must be the path of a file in quotes, not {}", label, found_text(*node)));
    return std::nullopt;
  }
  return read_named_rater(*node, label + ".file", reading);
}

// The checksum of a rater's keys and numbers, sorted so that their order in the file does not count.

namespace {

constexpr std::string_view mark = "# numbers of the fit, sha256: ";
constexpr std::size_t mark_digits = 12;

// Adds a line for each value below the node: "latent.sigma 0x1.ca5p-2".
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

// Returns the checksum of the section's tables (noise models) and lists (the order of the models).
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
