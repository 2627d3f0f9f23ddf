// The figure of `judge advise`: gain against cost.
#include <fmt/format.h>

#include <cmath>

#include "app/judge/advise/advice_text.hpp"
#include "app/plot/figure_style.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/output_file.hpp"
#include "kernels/system/terminal.hpp"
#include "results/figure/figure.hpp"

namespace odrpo::app {

void check_advice_figure(const std::string& path, const std::string& input) {
  figure_format("--figure", path);
  check_output(path, input);
}

void draw_advice_figure(const Advice& a, const AdviceQuestion& q, const AdviceInput& in, const std::string& path) {
  constexpr const char* labels[] = {"judge calls", "price", "hours of calls"};
  const CostUnit unit = cost_unit(q);
  const double scale = unit == CostUnit::seconds ? 3600 : 1;
  FigurePanel panel;
  panel.x_label = labels[static_cast<int>(unit)];
  panel.y_label = "gain, % of the headroom";
  panel.bands = true;
  std::vector<std::size_t> shown;
  std::vector<std::string> names;
  for (const VotesRow& row : a.votes) shown.push_back(row.choice);
  if (std::find(shown.begin(), shown.end(), a.advised) == shown.end()) shown.push_back(a.advised);
  for (const std::size_t i : shown) {
    const AdviceChoice& c = a.report[i].from.choice;
    names.push_back(fmt::format("{} x {}{}{}", c.rollouts, c.votes, c.rule == VoteRule::single ? "" : " " + rule_text(c),
                                i == a.advised ? " (advised)" : ""));
  }
  const std::vector<SeriesStyle> styles = series_styles(names);
  for (std::size_t s = 0; s < shown.size(); ++s) {
    FigureSeries series{names[s], styles[s], {}};
    for (const GainPoint& point : a.report[shown[s]].curve)
      series.points.push_back({point.cost / scale, point.gain.mean, point.gain.lo, point.gain.hi});
    panel.series.push_back(std::move(series));
  }
  Figure figure;
  figure.panels.push_back(std::move(panel));
  figure.caption = fmt::format(
      "gain of training against what the judge costs ({}): the best choice of each number of calls about an answer, answers x calls, "
      "mean over policies and n = {} seeds, 95 % Student-t intervals",
      in.name, q.report_seeds);
  write_output(path, draw_figure(figure, figure_format("--figure", path), {5.5, 0}));
  print_note(fmt::format("{}: {}", printable_line(path), figure.caption));
}

}  // namespace odrpo::app
