// The canonical text of a run, and its key.
#include "results/digest.hpp"
#include "suites/field_writer.hpp"

namespace odrpo {

namespace {

template <class C>
void write_section(std::string_view section, C config, const FieldWriter::Out& out) {
  const std::string prefix = std::string(section) + ".";
  FieldWriter writer([&](std::string_view key, const std::string& text, bool is_word) { out(prefix + std::string(key), text, is_word); });
  describe(writer, config);
}

// every field of a run but its key and seed, in the fixed order of canonical_text: out("learn.lr", "0.05", false)
void write_fields(const RunSpec& spec, const FieldWriter::Out& out) {
  out("run.votes", std::to_string(spec.votes), false);
  out("env.base", std::string(word_of(std::span<const Word<WorldKind>>(world_words), spec.env.kind)), true);
  write_section("env", spec.env, out);
  write_section("rater", spec.rater, out);
  out("policy.base", std::string(word_of(std::span<const Word<PolicyKind>>(policy_words), spec.policy.kind)), true);
  write_section("policy", spec.policy, out);
  out("estimator.base", estimator_word(spec.estimator), true);
  write_section("estimator", spec.estimator, out);
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

std::string spec_key(const RunSpec& spec) { return sha256_hex(canonical_text(spec)).substr(0, 16); }

}  // namespace odrpo
