// Word or path.
#include "app/judge_rater.hpp"

#include <fmt/format.h>

#include "app/printable.hpp"
#include "kernels/failure.hpp"
#include "results/suggest.hpp"
#include "spec/catalogue.hpp"
#include "spec/plan_rater_file.hpp"

namespace odrpo::app {

RaterConfig rater_named(const std::string& name) {
  if (name.ends_with(".toml") || name.find('/') != std::string::npos) return load_rater_file(name);
  using Raters = CatalogueOf<RaterConfig>;
  if (const auto preset = Raters::find(name)) return preset->config;
  throw Failure(Exit::usage, fmt::format("there is no rater \"{}\": a word of `list raters`, or a judge's file (.toml){}",
                                         printable_line(name), did_you_mean(name, Raters::words())));
}

}  // namespace odrpo::app
