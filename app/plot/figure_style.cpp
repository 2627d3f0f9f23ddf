// Looks of estimators by their form, weight and normaliser.
#include "app/plot/figure_style.hpp"

#include <fmt/format.h>

#include "estimators/estimator.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"

namespace odrpo::app {
namespace {

// colours and dashes by their number in results/figure/figure.hpp
constexpr int black = 0, blue = 1, vermilion = 2, green = 3, purple = 4, orange = 5, sky = 6;
constexpr int solid = 0, dashed = 1, dotted = 2, dash_dotted = 3, finely_dotted = 4;

int colour_of_weight(Weight weight) {
  switch (weight) {
    case Weight::uniform: return orange;
    case Weight::linear: return sky;
    case Weight::gini: return blue;
    case Weight::gini_median: return vermilion;
    case Weight::root: return green;
  }
  return green;
}

SeriesStyle style_of(const EstimatorConfig& config) {
  if (config.form == Form::odrpo) {
    const int colour = colour_of_weight(config.weight);
    return {colour, config.norm == Norm::grpo ? solid : dashed, colour};
  }
  if (config.form == Form::odrpo_bitwise) return {green, config.norm == Norm::grpo ? solid : dashed, green};
  switch (config.form) {
    case Form::grpo: return {black, solid, black};
    case Form::maxrl: return {black, dashed, black};
    case Form::reinforce: return {black, dotted, black};
    case Form::rloo: return {black, dash_dotted, black};
    case Form::mc_grpo: return {black, finely_dotted, black};
    case Form::rank_grpo: return {purple, solid, purple};
    case Form::convex_reinforce: return {green, dotted, green};
    case Form::max_at_k: return {purple, dash_dotted, purple};
    case Form::max_at_k_centred: return {purple, finely_dotted, purple};
    case Form::odrpo:
    case Form::odrpo_bitwise: break;
  }
  return {};
}

}  // namespace

std::vector<SeriesStyle> series_styles(const std::vector<std::string>& names) {
  std::vector<SeriesStyle> wanted;
  int next = 0;
  for (const std::string& name : names) {
    const auto config = parse_estimator(name);
    wanted.push_back(config ? style_of(*config) : SeriesStyle{next % series_colours, 0, next % series_symbols});
    if (!config) ++next;
  }
  return distinct_styles(std::move(wanted));
}

FigureFormat figure_format(std::string_view flag, const std::string& path) {
  for (const auto& format : figure_formats)
    if (path.ends_with("." + std::string(format.word))) return format.value;
  throw Failure(Exit::usage, fmt::format("{}: \"{}\" does not end in .svg, .pdf or .png", printable_line(flag), printable_line(path)));
}

}  // namespace odrpo::app
