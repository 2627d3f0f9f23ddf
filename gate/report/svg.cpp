// The intervals of a gate's cases as a small SVG.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gate/report/report.hpp"
#include "gate/report/report_words.hpp"
#include "results/page/html_text.hpp"

namespace odrpo {
namespace {

constexpr std::size_t most_rows = 40;
constexpr double row_height = 18, left = 300, width = 340, top = 34;

const char* colour(const GateReport& r, std::size_t i) {
  if (fails(r, i)) return "#D55E00";  // Okabe and Ito's vermilion
  const auto& v = r.decisions[i].verdict;
  if (v == GateVerdict::faster) return "#009E73";
  return v == GateVerdict::same ? "#0072B2" : "#E69F00";
}

/// Half of the shown range, in percent: 3, 5, 10, 20, 50 or 100.
double half_range(const GateReport& r, std::span<const std::size_t> rows) {
  double most = 100 * r.rules.same;
  for (const std::size_t i : rows) {
    const GateEstimate& e = r.decisions[i].estimate;
    if (e.blocks > 0) most = std::max({most, 100 * std::abs(e.ratio_hi() - 1), 100 * std::abs(e.ratio_lo() - 1)});
  }
  for (const double range : {5.0, 10.0, 20.0, 50.0})
    if (most <= range) return range;
  return 100;
}

}  // namespace

std::string gate_svg(const GateReport& r) {
  const std::vector<std::size_t> order = worst_first(r);
  const std::span<const std::size_t> rows = std::span(order).first(std::min(order.size(), most_rows));
  const double range = half_range(r, rows), height = top + row_height * static_cast<double>(rows.size()) + 26;
  const auto x = [&](double percent) { return left + width * (std::clamp(percent, -range, range) / range + 1) / 2; };
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"660\" height=\"{0:g}\" viewBox=\"0 0 660 {0:g}\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n"
      "<title>{1}</title>\n<rect width=\"660\" height=\"{0:g}\" fill=\"#ffffff\"/>\n<text x=\"8\" y=\"18\" "
      "font-weight=\"bold\">{1}</text>\n",
      height, markup_text(short_text("gate: " + outcome_text(r), 100)));
  const double bottom = top + row_height * static_cast<double>(rows.size());
  const auto mark = [&](double percent, const char* dash) {
    out += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:g}\" x2=\"{0:.1f}\" y2=\"{2:g}\" stroke=\"#888888\"{3}/>\n", x(percent), top - 4,
                       bottom + 4, dash);
  };
  mark(0, "");
  mark(100 * r.rules.limit, " stroke-dasharray=\"4 3\"");
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const GateCase& c = r.decisions[rows[k]];
    const double y = top + row_height * (static_cast<double>(k) + 0.5);
    out += fmt::format("<text x=\"8\" y=\"{:.1f}\">{}</text>\n", y + 4, markup_text(short_text(c.name, 40)));
    if (c.estimate.blocks == 0) continue;
    const auto percent = [](double ratio) { return 100 * (ratio - 1); };
    out += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"2\"/>\n",
                       x(percent(c.estimate.ratio_lo())), y, x(percent(c.estimate.ratio_hi())), y, colour(r, rows[k]));
    out +=
        fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"/>\n", x(percent(c.estimate.ratio())), y, colour(r, rows[k]));
  }
  for (const double percent : {-range, 0.0, range})
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x(percent), bottom + 20,
                       percent == 0 ? "no change" : fmt::format("{:+g} %", percent));
  return out + "</svg>\n";
}

}  // namespace odrpo
