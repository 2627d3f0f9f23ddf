// Writes what is found about the advantages that a trainer logged.
#include <fmt/format.h>

#include <algorithm>

#include "app/flags/estimator_flag.hpp"
#include "app/rollouts/rollout_report.hpp"
#include "estimators/compat.hpp"
#include "estimators/formula_text.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"

namespace odrpo::app {
namespace {

constexpr std::size_t most_fits_listed = 12, most_groups_listed = 20;

/// The formula under the convention, and the whitening after it.
std::string parameters_of_fit(const LoggedConvention& l) {
  std::string formula = estimator_formula(l.config);
  formula = formula.substr(0, formula.rfind(" ["));  // the system, which is named before
  return l.whitening.on ? fmt::format("{}; whitened{}: {}", formula, l.by_system ? " as the system does" : "", whitening_text(l.whitening)) : formula;
}

/// The fits after the first, systems of one word with equal parameters together: "grpo of verl, skyrl (divided by ...)".
std::string others_text(const std::vector<LoggedFit>& fits) {
  std::vector<std::pair<std::string, std::string>> found;  // word and parameters; systems
  for (std::size_t i = 1; i < fits.size(); ++i) {
    const LoggedConvention& l = fits[i].convention;
    const std::string key = estimator_text(l.config) + '\n' + parameters_of_fit(l), system(word_of<Compat>(compat_words, l.config.compat));
    const auto same = std::find_if(found.begin(), found.end(), [&](const auto& f) { return f.first == key; });
    if (same == found.end()) found.emplace_back(key, system);
    else same->second += ", " + system;
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(found.size(), most_fits_listed); ++i) {
    const std::size_t end = found[i].first.find('\n');
    add_item(text, fmt::format("{} of {}: {}", found[i].first.substr(0, end), found[i].second, found[i].first.substr(end + 1)), "; ");
  }
  if (found.size() > most_fits_listed) text += fmt::format("; and {} more", found.size() - most_fits_listed);
  return text;
}

}  // namespace

std::string convention_text(const LoggedConvention& l) {
  return fmt::format("{} of {}: {}", estimator_text(l.config), word_of<Compat>(compat_words, l.config.compat), parameters_of_fit(l));
}

PageTable logged_table(const RolloutReport& r) {
  const LoggedComparison& logged = *r.input.logged;
  const Rollouts& in = r.input.rollouts;
  PageTable t{"logged advantages", {}, {}};
  for (const std::string& note : logged.notes) t.legend.push_back("note: " + note);
  if (logged.fits.empty()) {
    t.legend.push_back("logged advantages: no group has one for every reward");
    return t;
  }
  const LoggedFit& best = logged.fits[0];
  const std::string equal = best.equal > 0 ? fmt::format("; and {} of {} whose rewards are equal", best.equal_fitting, counted(best.equal, "group")) : "";
  if (best.all_fitting() == 0)
    t.legend.push_back(fmt::format("logged advantages: no convention fits any of {}; the nearest, by the mean relative difference, is {}; largest difference {:.3g}", counted(best.groups + best.equal, "group"),
                                   convention_text(best.convention), best.largest));
  else
    t.legend.push_back(fmt::format("logged advantages: {} of {} fit {}{}; largest difference {:.2g}", best.fitting, counted(best.groups, "group"), convention_text(best.convention), equal, best.largest));
  if (best.all_fitting() > 0 && logged.fits.size() > 1) t.legend.push_back("cannot be told apart on these groups: " + others_text(logged.fits));
  if (logged.found) t.legend.push_back(fmt::format("weights of the rewards, found from the advantages up to a factor: {}; solved: {:.6g}", fmt::join(logged.weights, ", "), fmt::join(logged.exact, ", ")));
  if (best.all_fitting() > 0 && !best.others.empty()) {
    t.rows.push_back({"does not fit", "step", "prompt", "rows"});
    for (std::size_t i = 0; i < std::min(best.others.size(), most_groups_listed); ++i) {
      const RolloutGroup& g = in.groups[best.others[i]];
      t.rows.push_back({place_text(in, g.first), fmt::format("{}", g.step), shortened(printable_line(in.prompts[g.prompt]), 24), fmt::format("{}", g.count)});
    }
    const std::int64_t unlisted = best.groups + best.equal - best.all_fitting() - static_cast<std::int64_t>(most_groups_listed);
    if (unlisted > 0) t.legend.push_back(fmt::format("{} more groups do not fit: --json has up to {}", unlisted, LoggedFit::most_listed));
  }
  t.legend.push_back("a group fits if all its advantages differ by at most 1e-6 of the largest (at least 1) and what rewards lose as floats; where rewards are equal, by 1e-6, or all by the same rounding of their mean");
  return t;
}

Json logged_json(const RolloutReport& r) {
  if (!r.input.logged) return nullptr;
  const LoggedComparison& logged = *r.input.logged;
  Json out = {{"weights", logged.weights}, {"weights_found", logged.found}, {"weights_solved", logged.exact}, {"notes", logged.notes}, {"fits", Json::array()}};
  for (const LoggedFit& fit : logged.fits) {
    const Convention c = convention_of(fit.convention.config);
    const Whitening& w = fit.convention.whitening;
    Json whitening = nullptr;
    if (w.on) whitening = {{"by_system", fit.convention.by_system}, {"unit", w.unit == WhitenUnit::token ? "token" : "response"}, {"ddof", w.ddof}, {"eps", w.eps}, {"centred", w.centred}};
    out["fits"].push_back({{"estimator", estimator_text(fit.convention.config)},
                           {"compat", word_of<Compat>(compat_words, fit.convention.config.compat)},
                           {"ddof", c.ddof},
                           {"eps", c.eps},
                           {"whitening", whitening},
                           {"groups", fit.groups},
                           {"fitting", fit.fitting},
                           {"equal_groups", fit.equal},
                           {"equal_fitting", fit.equal_fitting},
                           {"largest_difference", fit.largest},
                           {"text", convention_text(fit.convention)}});
  }
  out["not_fitting"] = Json::array();
  if (logged.fits.empty()) return out;
  for (const std::size_t g : logged.fits[0].others) {
    const RolloutGroup& group = r.input.rollouts.groups[g];
    out["not_fitting"].push_back({{"place", place_text(r.input.rollouts, group.first)}, {"step", group.step}, {"prompt", printable_line(r.input.rollouts.prompts[group.prompt])}, {"rows", group.count}});
  }
  return out;
}

}  // namespace odrpo::app
