// The fingerprint of a suite, and what else the result store must know of it.
#include "train/schedule/suite_identity.hpp"

#include "results/store/digest.hpp"
#include "config/write/canonical.hpp"
#include "config/plan/run_grid.hpp"
#include "config/spec.hpp"
#include "config/suite.hpp"

namespace odrpo {
namespace {

// SHA-256 of the version and, for each run, its id and its canonical text.
std::string fingerprint(const RunGrid& runs, const std::string& program_version) {
  Sha256 hash;
  hash.add("odrpo-bench " + program_version + '\n');
  for (std::size_t c = 0; c < runs.combinations(); ++c) {
    const Combination all = runs.combination(c);
    RunSpec run = runs[all.first];
    const std::string settings = canonical_settings(run) + '\n';
    for (std::size_t i = all.first; i < all.first + all.runs; ++i) {
      if (i > all.first) run = runs[i];
      hash.add(run.id + '\n' + canonical_seed(run) + settings);
    }
  }
  return hash.hex();
}

}  // namespace

SuiteFacts suite_facts(const Suite& suite, const std::string& program_version) {
  SuiteFacts facts;
  facts.name = suite.name;
  facts.axis_names = suite.axis_names;
  facts.runs = suite.runs.size();
  facts.run_id = [runs = suite.runs](std::size_t i) { return runs.id(i); };
  facts.fingerprint = fingerprint(suite.runs, program_version);
  return facts;
}

}  // namespace odrpo
