// Is a figure's SVG text harmless inside a page? Our own code draws it; a mistake there must not become a page that runs something.
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "results/page.hpp"

namespace odrpo {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

/// What is wrong with an attribute, in small letters.
std::string attribute_problem(std::string_view name, std::string_view value) {
  if (name == "style") return "an attribute style";
  if (name.starts_with("on")) return "an attribute " + std::string(name);
  if ((name == "href" || name == "xlink:href" || name == "src") && !value.starts_with('#')) return "a link to something else";
  for (std::size_t at = value.find("url("); at != std::string_view::npos; at = value.find("url(", at + 1))
    if (const std::string_view to = value.substr(at + 4); !to.starts_with('#') && !to.starts_with("'#")) return "a link to something else";
  return "";
}

/// What is wrong with the tag that begins at `at`, behind its "<"; `at` is behind its ">" then.
std::string tag_problem(std::string_view svg, std::size_t& at) {
  constexpr std::string_view known[] = {"svg",      "g",       "defs",   "symbol",         "use",  "path",  "polyline", "polygon",
                                        "line",     "rect",    "circle", "ellipse",        "text", "tspan", "title",    "desc",
                                        "clippath", "pattern", "marker", "lineargradient", "stop", "mask"};
  const bool closing = svg.substr(at).starts_with('/');
  if (closing) ++at;
  const std::size_t name_end = std::min(svg.find_first_of(" \t\r\n\f/>", at), svg.size());
  const std::string_view element = svg.substr(at, name_end - at);
  if (std::find(std::begin(known), std::end(known), element) == std::end(known)) return "an element <" + std::string(element) + ">";
  for (at = name_end; at < svg.size();) {
    if (is_blank(svg[at]) || svg[at] == '/') {
      ++at;
      continue;
    }
    if (svg[at++] == '>') return "";
    const std::size_t from = at - 1, equals = std::min(svg.find_first_of("=> \t\r\n", at), svg.size());
    if (equals + 1 >= svg.size() || svg[equals] != '=' || (svg[equals + 1] != '"' && svg[equals + 1] != '\''))
      return "an attribute that is not in quotes";
    const std::size_t end = svg.find(svg[equals + 1], equals + 2);
    if (end == std::string_view::npos) return "a quote that is not closed";
    const std::string_view name = svg.substr(from, equals - from), value = svg.substr(equals + 2, end - equals - 2);
    if (std::string problem = attribute_problem(name, value); !problem.empty()) return problem;
    at = end + 1;
  }
  return "a tag that is not closed";
}

}  // namespace

std::string svg_problem(std::string_view given) {
  std::string svg(given);
  for (char& c : svg)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (!svg.starts_with("<svg") || svg.find("<svg", 1) != std::string::npos) return "no <svg> element alone";
  const std::size_t last = svg.find_last_not_of("\n ");
  if (last == std::string::npos || !std::string_view(svg).substr(0, last + 1).ends_with("</svg>")) return "no <svg> element alone";
  for (std::size_t at = svg.find('<'); at != std::string::npos; at = svg.find('<', at)) {
    ++at;
    if (std::string problem = tag_problem(svg, at); !problem.empty()) return problem;
  }
  return "";
}

}  // namespace odrpo
