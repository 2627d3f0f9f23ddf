// Conventions of systems beside numbers of one's own.
#include "app/compute/conventions.hpp"

#include <fmt/format.h>

#include "estimators/compat.hpp"

namespace odrpo::app {

void read_conventions(const Arguments& a, EstimatorConfig& c) {
  if (a.given("k")) c.k = a.integer("k", 2, 254);
  if (a.given("k") && !reads_key(c.form, "k")) throw Refusal{"out_of_range", "k: only forms that compare subsets read it"};
  if (a.given("origin")) c.origin = a.integer("origin", 0, 1);
  if (a.given("compat")) c.compat = a.word<Compat>("compat", compat_words);
  const double eps = a.given("eps") ? a.number("eps", 0, 1e6) : 0;
  const int ddof = a.given("ddof") ? a.integer("ddof", 0, 1) : 0;
  if (c.compat == Compat::paper) c.eps = eps, c.ddof = ddof;
  if (const auto why = compat_refusal(c)) throw Refusal{"out_of_range", *why};
  const Convention system = convention_of(c);
  const auto must_be = [&](const char* name, double own, double given) {
    if (a.given(name) && given != own)
      throw Refusal{"out_of_range",
                    fmt::format("{0}: compat \"{1}\" has {0} = {2}, not {3}", name, word_of<Compat>(compat_words, c.compat), own, given)};
  };
  const bool deviation = system.divisor == Divisor::deviation || system.divisor == Divisor::others_deviation;
  if (c.compat != Compat::paper && system.divisor != Divisor::none) must_be("eps", system.eps, eps);
  if (c.compat != Compat::paper && deviation) must_be("ddof", system.ddof, ddof);
}

}  // namespace odrpo::app
