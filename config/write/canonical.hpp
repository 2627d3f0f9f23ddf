// Canonical text of a run: equal text = same run.
#pragma once
#include <string>

namespace odrpo {

struct RunSpec;

/// The canonical text of a RunSpec: every field of every config, one `section.key = value` a line, fixed order, shortest
/// round-trip numbers. Equal text = same run.
std::string canonical_text(const RunSpec& spec);
/// Its first lines, run.key and run.seed; and the others, which are the same for all runs of one combination.
std::string canonical_seed(const RunSpec& spec);
std::string canonical_settings(const RunSpec& spec);
/// What the bandit's worlds of a run are drawn from: equal text = equal worlds for one seed and one env.
std::string source_text(const RunSpec& spec);
/// First 16 hex digits of the SHA-256 of canonical_text.
std::string spec_key(const RunSpec& spec);

}  // namespace odrpo
