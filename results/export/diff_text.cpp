// What differs between two result files, as parts of a page.
#include "results/export/diff_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/system/page_text.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"
#include "kernels/shared/utf8.hpp"

namespace odrpo {
namespace {

std::string shown_setting(const std::string& value) { return value.empty() ? "not set" : value; }

std::string number(double value) { return std::isnan(value) ? "n/a" : fmt::format("{:+.4g}", value); }

}  // namespace

std::string settings_page(const char* title, const std::vector<SettingDiff>& list) {
  if (list.empty()) return "";
  std::string text = fmt::format("\n{}\n", title);
  for (const SettingDiff& s : list)
    text += paragraph(s.key, 2) + paragraph("A " + shown_setting(s.a), 4, 2) + paragraph("B " + shown_setting(s.b), 4, 2);
  return text;
}

std::string ids_page(const char* which, const std::vector<std::string>& ids, std::size_t count) {
  if (count == 0) return "";
  std::string text = fmt::format("  only in {}: {}\n", which, runs_text(count));
  for (const std::string& id : ids) text += paragraph(id, 4, 2);
  if (count > ids.size()) text += fmt::format("    and {} more\n", count - ids.size());
  return text;
}

std::string values_page(const FileDiff& d) {
  if (d.common == 0) return "";
  std::string text = "\nvalues, B - A\n";
  if (d.values.empty()) {
    return text + paragraph(fmt::format("all {} final values of the common runs are equal{}", d.columns,
                                        d.same_digest || d.count_a + d.count_b > 0 ? "" : "; curves, or evaluations per prompt, differ"),
                            2);
  }
  std::size_t name = 5;
  for (const ValueDiff& v : d.values) name = std::max(name, columns_of(v.column));
  name = std::min<std::size_t>(name, 32);
  text += fmt::format("  {}  {:>8}  {:>10}  {:>10}\n", padded("value", name), "runs", "mean", "largest");
  for (const ValueDiff& v : d.values) {
    text += fmt::format("  {}  {:>8}  {:>10}  {:>10}\n", padded(v.column, name), v.runs, number(v.mean), number(v.largest));
    if (!v.run.empty()) text += paragraph("largest in " + v.run, 4, 2);
    if (v.undefined > 0) text += fmt::format("    {} of them defined in one file alone\n", v.undefined);
  }
  return text;
}

}  // namespace odrpo
