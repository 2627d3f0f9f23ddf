// Rewrites an SVG drawing so that it can be part of a page with other drawings, and checks that a drawing is harmless.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/shared/failure.hpp"
#include "kernels/system/text.hpp"
#include "results/page/html_page.hpp"
#include "results/page/html_text.hpp"

namespace odrpo {
namespace {

// allowed words, each with blanks around it
constexpr std::string_view elements =
    " svg g defs symbol use path polyline polygon line rect circle ellipse text tspan title clipPath pattern linearGradient stop ";
constexpr std::string_view attributes =
    " id d x y x1 y1 x2 y2 cx cy r rx ry dx dy width height points transform viewBox color opacity offset text-anchor shape-rendering "
    "clip-path clip-rule xmlns xmlns:xlink xlink:href href xml:space patternUnits patternContentUnits patternTransform clipPathUnits "
    "gradientUnits role aria-label ";

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

bool is_one(std::string_view list, std::string_view word) {
  return word.find(' ') == std::string_view::npos && list.find(fmt::format(" {} ", word)) != std::string_view::npos;
}

struct Tag {
  std::string_view name;
  std::vector<std::pair<std::string_view, std::string_view>> attributes;
  bool closing = false, empty = false;  ///< closing: </name>; empty: <name/>
};

std::size_t past_blanks(std::string_view svg, std::size_t at) {
  while (at < svg.size() && is_blank(svg[at])) ++at;
  return at;
}

/// Reads the tag whose "<" is at `at`, and moves `at` behind its ">". Returns a message if the tag is malformed.
std::optional<std::string> read_tag(std::string_view svg, std::size_t& at, Tag& tag) {
  tag = {};
  ++at;
  tag.closing = svg.substr(at).starts_with('/');
  if (tag.closing) ++at;
  const std::size_t name_end = std::min(svg.find_first_of(" \t\r\n\f/>", at), svg.size());
  tag.name = svg.substr(at, name_end - at);
  for (at = name_end; at < svg.size();) {
    tag.empty = svg[at] == '/';
    if (is_blank(svg[at]) || tag.empty) {
      ++at;
      if (tag.empty && !svg.substr(at).starts_with('>')) return "a slash amid a tag";
      if (tag.empty) return ++at, std::nullopt;
      continue;
    }
    if (svg[at] == '>') return ++at, std::nullopt;
    const std::string_view name = svg.substr(at, std::min(svg.find_first_of("=>\"' \t\r\n", at), svg.size()) - at);
    at = past_blanks(svg, at + name.size());
    if (name.empty() || at == svg.size() || svg[at] != '=') return "an attribute without a value";
    at = past_blanks(svg, at + 1);
    if (at == svg.size() || (svg[at] != '"' && svg[at] != '\'')) return "an attribute that is not in quotes";
    const std::size_t end = svg.find(svg[at], at + 1);
    if (end == std::string_view::npos) return "a quote that is not closed";
    tag.attributes.emplace_back(name, svg.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return "a tag that is not closed";
}

bool is_attribute(std::string_view name) {
  return is_one(attributes, name) || name.starts_with("stroke") || name.starts_with("fill") || name.starts_with("font-");
}

std::string attribute_problem(std::string_view name, std::string_view value) {
  if (!is_attribute(name)) return "an attribute " + std::string(name);
  if (name.ends_with("href") && !value.starts_with('#')) return "a link to something else";
  for (std::size_t at = value.find("url("); at != std::string_view::npos; at = value.find("url(", at + 1))
    if (!value.substr(at + 4).starts_with('#')) return "a link to something else";
  return "";
}

/// Returns an attribute as text for a page, with `prefix` before ids; empty if a page does not allow the attribute.
std::string attribute_text(std::string_view name, std::string_view given, const std::string& prefix) {
  std::string value(given);
  if (name == "id") value = prefix + value;
  if (name.ends_with("href") && value.starts_with('#')) value.insert(1, prefix);
  for (std::size_t at = value.find("url(#"); at != std::string::npos; at = value.find("url(#", at + 1)) value.insert(at + 5, prefix);
  if (!attribute_problem(name, value).empty()) return "";
  return fmt::format(" {}=\"{}\"", name, value);
}

/// Returns the attributes of a tag, each once. Properties in its `style` become attributes and override those of the same name.
std::string attributes_text(const Tag& tag, const std::string& prefix) {
  std::vector<std::pair<std::string_view, std::string_view>> all;
  const auto bare = [](std::string_view text) { return trimmed(text, " \t\n\r\f"); };
  const auto set = [&](std::string_view name, std::string_view value) {
    std::erase_if(all, [&](const auto& a) { return a.first == name; });
    all.emplace_back(name, value);
  };
  for (const auto& [name, value] : tag.attributes)
    if (name != "style") set(name, value);
  for (const auto& [name, value] : tag.attributes)
    for (std::size_t from = 0; name == "style" && from < value.size();) {
      const std::size_t end = std::min(value.find(';', from), value.size()), colon = value.find(':', from);
      if (colon < end) set(bare(value.substr(from, colon - from)), bare(value.substr(colon + 1, end - colon - 1)));
      from = end + 1;
    }
  std::string out;
  for (const auto& [name, value] : all) out += attribute_text(name, value, prefix);
  return out;
}

/// Returns the root <svg> tag: width and height times `scale`, viewBox, and `title` as aria-label.
std::string root_text(const Tag& tag, const std::string& title, double scale) {
  std::string size;
  for (const auto& [name, value] : tag.attributes)
    if (name == "width" || name == "height") {
      double number = 0;
      std::from_chars(value.data(), value.data() + value.size(), number);
      size += fmt::format(" {}=\"{:.0f}\"", name, scale * number);
    } else if (name == "viewBox") {
      size += attribute_text(name, value, "");
    }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\"{} role=\"img\" aria-label=\"{}\">", size,
      markup_text(title));
}

}  // namespace

std::string inline_svg(std::string_view document, const std::string& prefix, const std::string& title, double scale) {
  const auto refuse = [](const std::string& why) { throw Failure(Exit::internal, "a drawing cannot stand in a page: it has " + why); };
  std::string out;
  std::size_t at = document.find("<svg");
  int skipped = 0;  // nesting depth within an element that is left out
  if (at == std::string_view::npos) refuse("no <svg>");
  for (Tag tag; at < document.size();) {
    if (document[at] != '<') {
      const std::size_t end = std::min(document.find('<', at), document.size());
      if (skipped == 0) out += document.substr(at, end - at);
      at = end;
    } else if (document.substr(at).starts_with("<!--")) {
      at = document.find("-->", at);
      if (at == std::string_view::npos) refuse("a comment that is not closed");
      at += 3;
    } else {
      if (const auto problem = read_tag(document, at, tag)) refuse(*problem);
      const bool kept = skipped == 0 && is_one(elements, tag.name) && tag.name != "title";
      if (!kept) skipped += tag.empty ? 0 : tag.closing ? -1 : 1;
      else if (tag.closing) out += fmt::format("</{}>", tag.name);
      else if (out.empty()) out = root_text(tag, title, scale);
      else out += fmt::format("<{}{}{}>", tag.name, attributes_text(tag, prefix), tag.empty ? "/" : "");
    }
  }
  std::string lines;  // the drawing without gnuplot's blank lines and tabs
  for (const char c : out)
    if (!(is_blank(c) && (lines.empty() || lines.back() == '\n'))) lines += c == '\t' ? ' ' : c;
  return lines;
}

std::string svg_problem(std::string_view svg) {
  const std::size_t last = svg.find_last_not_of("\n ");
  if (!svg.starts_with("<svg") || svg.find("<svg", 1) != std::string_view::npos || !svg.substr(0, last + 1).ends_with("</svg>"))
    return "no <svg> element alone";
  Tag tag;
  for (std::size_t at = svg.find('<'); at != std::string_view::npos; at = svg.find('<', at)) {
    if (const auto problem = read_tag(svg, at, tag)) return *problem;
    if (!is_one(elements, tag.name)) return "an element <" + std::string(tag.name) + ">";
    for (const auto& [name, value] : tag.attributes)
      if (std::string problem = attribute_problem(name, value); !problem.empty()) return problem;
  }
  return "";
}

}  // namespace odrpo
