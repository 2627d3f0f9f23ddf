// From the path of a judge's file to its rater.
#include "config/plan/rater_file.hpp"

#include <fmt/format.h>

#include "config/read/parse_toml.hpp"
#include "config/read/read_file.hpp"
#include "config/write/fit_mark.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {
namespace {

/// The only section [rater.NAME] of the tree; null, and an error, when there is none or more.
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
      describe(fields, config);
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

}  // namespace odrpo
