// The canonical text of a run, and its key.
#include "config/write/canonical.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "config/catalogue/catalogue.hpp"
#include "config/spec.hpp"
#include "config/write/field_writer.hpp"
#include "envs/bandit/world.hpp"
#include "results/store/digest.hpp"

namespace odrpo {

namespace {

// Keys younger than the first stored runs, with their defaults: left out where they have them, so that those runs keep their names.
constexpr std::pair<std::string_view, std::string_view> newer_keys[] = {
    {"env.difficulty", "easy"}, {"env.evaluated_prompts", "256"},  {"estimator.k", "2"},    {"rater.seconds_per_call", "unset"},
    {"rater.parallel", "1"},    {"rater.price_per_call", "unset"}, {"rater.order", "turn"}, {"rater.stop", "0"},
    {"rater.seconds", "unset"},   {"rater.prices", "unset"},
    {"policy.tilt", "0"},          {"estimator.model", "rater"}, {"estimator.prior", "following"}, {"estimator.keep", "0.95"},
    {"estimator.values", "unset"}, {"estimator.floor", "posterior"}};

template <class C>
void write_section(std::string_view section, C config, const FieldWriter::Out& out) {
  const std::string prefix = std::string(section) + ".";
  FieldWriter writer([&](std::string_view name, const std::string& text, bool is_word) {
    const std::string key = prefix + std::string(name);
    if (std::find(std::begin(newer_keys), std::end(newer_keys), std::pair<std::string_view, std::string_view>(key, text)) ==
        std::end(newer_keys))
      out(key, text, is_word);
  });
  describe(writer, config);
}

// every field of a run but its key and seed, in the fixed order of canonical_text: out("learn.lr", "0.05", false)
void write_fields(const RunSpec& spec, const FieldWriter::Out& out) {
  out("run.votes", std::to_string(spec.votes), false);
  out("env.base", base_of(spec.env), true);
  write_section("env", spec.env, out);
  write_section("rater", spec.rater, out);
  out("policy.base", base_of(spec.policy), true);
  write_section("policy", spec.policy, out);
  out("estimator.base", base_of(spec.estimator), true);
  EstimatorConfig estimator = spec.estimator;
  if (spec.model) estimator.model = own_rater;  // written below as what it is, whatever its name
  write_section("estimator", estimator, out);
  if (spec.model) write_section("model", *spec.model, out);
  write_section("learn", spec.learn, out);
  write_section("record", spec.record, out);
}

}  // namespace

std::string canonical_seed(const RunSpec& spec) {
  return "run.key = " + std::to_string(spec.run_key) + "\nrun.seed = " + std::to_string(spec.seed) + "\n";
}

std::string canonical_settings(const RunSpec& spec) {
  std::string text;
  text.reserve(2048);
  write_fields(spec, [&](std::string_view key, const std::string& value, bool) {
    text += key;
    text += " = ";
    text += value;
    text += '\n';
  });
  return text;
}

std::string canonical_text(const RunSpec& spec) { return canonical_seed(spec) + canonical_settings(spec); }

std::string source_text(const RunSpec& spec) {
  std::string text = canonical_fields(resolve_profile(spec.env.bandit, spec.rater.world));
  if (!brings_world(spec.env.bandit, spec.rater)) return text;
  RaterConfig first;
  first.noise = {spec.rater.noise.front()};
  return text + canonical_fields(first);
}

std::string spec_key(const RunSpec& spec) { return sha256_hex(canonical_text(spec)).substr(0, 16); }

}  // namespace odrpo
