// Word or path.
#include "app/flags/named_rater.hpp"

#include <fmt/format.h>

#include <vector>

#include "config/catalogue/catalogue.hpp"
#include "config/plan/rater_file.hpp"
#include "envs/bandit/world.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/shared/suggest.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/terminal.hpp"

namespace odrpo::app {

RaterConfig rater_named(const std::string& name, bool quiet) {
  if (is_rater_file(name)) {
    std::vector<std::string> notes;
    RaterConfig rater = load_rater_file(name, notes);
    for (const std::string& note : notes)
      if (!quiet) print_note("note: " + printable_line(note));
    return rater;
  }
  using Raters = CatalogueOf<RaterConfig>;
  if (const auto preset = Raters::find(name)) return preset->config;
  throw Failure(Exit::usage, fmt::format("there is no rater \"{}\": a word of `list raters`, or a judge's file (.toml){}",
                                         printable_line(name), did_you_mean(name, Raters::words())));
}

int simulated_levels(const RaterConfig& rater, int asked) {
  const int own = rater_levels(rater);
  if (own > 0 && asked > 0 && asked != own) throw Failure(Exit::usage, fmt::format("--levels {}: this judge has {} levels", asked, own));
  return own > 0 ? own : asked > 0 ? asked : BanditConfig{}.levels;
}

}  // namespace odrpo::app
