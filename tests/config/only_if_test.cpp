// Every key that has an effect only beside another key: refused when it is idle in all runs, without trace in a run where it is idle, told
// apart where it is not.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "config/catalogue/axis.hpp"
#include "config/catalogue/describe.hpp"
#include "config/check/key_effect.hpp"
#include "config/read/field_reader.hpp"
#include "config/spec.hpp"
#include "config/write/canonical.hpp"
#include "config/write/field_list.hpp"
#include "kernels/system/text.hpp"
#include "tests/catch.hpp"
#include "tests/config/loading.hpp"

using namespace odrpo;

namespace {

std::string literal(const AxisValue& value) {
  const auto* word = std::get_if<std::string>(&value);
  return word == nullptr ? value_text(value) : *word == "[]" ? *word : quoted_text(*word);  // an empty list of words stands for itself
}

AxisValue number_like(const FieldInfo& f, double value) {
  if (f.type == "integer") return static_cast<std::int64_t>(value);
  return value;
}
double largest(const FieldInfo& f) {
  return f.type == "integer" ? static_cast<double>(std::get<std::int64_t>(*f.max)) : std::get<double>(*f.max);
}
AxisValue default_of(const FieldInfo& f) {
  if (f.type == "word" || f.type == "name" || f.type == "word or number") return f.value;
  return number_like(f, std::stod(f.value));
}
// a value that is not the default
AxisValue other_of(const FieldInfo& f) {
  if (f.type == "word") return std::string(f.words[f.words[0].word == f.value ? 1 : 0].word);
  if (f.type == "word or number") return largest(f) / 2;
  if (f.type == "name") return std::string("veto");  // of [estimator.NAME] model
  const double usual = std::stod(f.value);
  if (f.key == "stop") return number_like(f, 2);  // 1 is refused
  if (f.type == "integer") return number_like(f, usual < largest(f) ? usual + 1 : usual - 1);
  return usual < largest(f) ? (usual + largest(f)) / 2 : usual / 2;
}

// Values of other keys; the base and the world are among them under their names in rules.
using Setting = std::map<std::string_view, AxisValue>;

// the words that an estimator's `base` may be
std::vector<std::string_view> estimator_bases() {
  auto words = CatalogueOf<EstimatorConfig>::words();
  words.push_back(command_word), words.push_back(library_word);
  return words;
}

template <class C>
AxisValue value_for(const Need& need, bool holds) {
  if (need.key == env_need) return std::string(holds ? "bandit" : "toy-lm");
  if (need.key == noise_need)
    for (const std::string_view word : {"gaussian", "latent", "resample"})
      if (allows(need, std::string(word)) == holds) return std::string(word);
  if (need.key == median_need) return std::string(holds ? "odrpo-gini-median(grpo)" : "odrpo(grpo)");
  if (need.key == base_need) {
    for (const std::string_view word : estimator_bases())
      if (allows(need, std::string(word)) == holds) return std::string(word);
    FAIL("every base or none");
  }
  for (const FieldInfo& f : all_fields<C>()) {
    if (f.key != need.key) continue;
    if (need.kind == Need::Kind::above) return number_like(f, !holds ? need.bound : f.type == "integer" ? need.bound + 1 : largest(f) / 2);
    if (need.kind == Need::Kind::not_zero) return number_like(f, holds ? largest(f) / 2 : 0);
    if (need.kind == Need::Kind::given && holds) return std::string(f.type == "words" ? "lr" : "grpo");
    if (need.kind == Need::Kind::given) return std::string(f.type == "words" ? "[]" : "");
    for (const Choice& w : f.words)
      if (allows(need, std::string(w.word)) == holds) return std::string(w.word);
  }
  FAIL("no value of " << need.key);
  return {};
}

// the key that fulfils a need: the base says whether a median is read
std::string_view key_of(const Need& need) { return need.key == median_need ? base_need : need.key; }

// all needs hold, or the first where one is enough
template <class C>
Setting active(const OnlyIf& rule) {
  Setting values;
  for (const Need& need : rule.list())
    if (!rule.any || values.empty()) values[key_of(need)] = value_for<C>(need, true);
  return values;
}
// a list of numbers, which is absent where it is not given
template <class C>
bool is_numbers(std::string_view key) {
  const auto fields = all_fields<C>();
  return std::any_of(fields.begin(), fields.end(), [&](const FieldInfo& f) { return f.key == key && f.type == "numbers"; });
}
// Each setting leaves the key without effect: one need is broken, or, where one would be enough, all are.
template <class C>
std::vector<Setting> idle(const OnlyIf& rule) {
  std::vector<Setting> all;
  for (const Need& broken : rule.list()) {
    Setting values = active<C>(rule);
    for (const Need& need : rule.list())
      if ((rule.any || need == broken) && !is_numbers<C>(need.key)) values[key_of(need)] = value_for<C>(need, false);
    all.push_back(values);
  }
  return all;
}

std::string word_at(const Setting& values, std::string_view key, const char* otherwise) {
  const auto found = values.find(key);
  return found == values.end() ? otherwise : std::get<std::string>(found->second);
}

// a good suite up to the lines of the section
template <class C>
std::string head(const Setting& values);
template <>
std::string head<LearnConfig>(const Setting&) {
  return "[suite]\nname = \"a\"\nseeds = 2\n[grid]\nestimator = \"grpo\"\n[learn]\n";
}
template <>
std::string head<TableConfig>(const Setting&) {
  return "[suite]\nname = \"a\"\nseeds = 2\n[grid]\nestimator = \"grpo\"\n[learn]\nlr = [0.1, 0.2]\n[table]\n";
}
template <>
std::string head<EstimatorConfig>(const Setting& values) {
  const std::string base = word_at(values, base_need, "grpo");
  return "[suite]\nname = \"a\"\nseeds = 2\n[grid]\nestimator = \"e\"\n[estimator.e]\nbase = \"" + base + "\"\n";
}
template <>
std::string head<PolicyConfig>(const Setting&) {
  return "[suite]\nname = \"a\"\nseeds = 2\n[grid]\nestimator = \"grpo\"\nenv = \"toy-lm\"\npolicy = \"p\"\n"
         "[policy.p]\nbase = \"transformer\"\n";
}
template <>
std::string head<RaterConfig>(const Setting& values) {
  const bool bandit = word_at(values, env_need, "toy-lm") == "bandit";
  return std::string("[suite]\nname = \"a\"\nseeds = 2\n[grid]\nestimator = \"grpo\"\nrater = \"r\"\nvotes = [4]\n") +
         (bandit ? "" : "env = \"toy-lm\"\npolicy = \"transformer\"\n") + "[rater.r]\nbase = \"mixed\"\n";
}

// the noise of a rater that is not a Gaussian's, which its base has already
std::string noise_line(const std::string& word) {
  if (word == "gaussian") return "";
  const std::string rest = word == "latent" ? "thresholds = [[0, 1]]" : "laws = [[0.5, 0.5]], prompts = [[0, 0]]";
  return "noise = [{ model = \"" + word + "\", " + rest + " }]\n";
}

template <class C>
std::string lines(const Setting& values) {
  std::string text = head<C>(values);
  if (const auto base = values.find(base_need); base != values.end()) {
    if (base->second == AxisValue(std::string(command_word))) text += "command = \"true\"\n";
    if (base->second == AxisValue(std::string(library_word))) text += "library = \"/proc/self/exe\"\n";  // any file: nothing is loaded
  }
  for (const auto& [key, value] : values)
    if (key == noise_need) text += noise_line(std::get<std::string>(value));
    else if (key != base_need && key != env_need) text += std::string(key) + " = " + literal(value) + "\n";
  return text;
}
std::string line(const FieldInfo& f, const AxisValue& value) {
  // nothing hacks in the world of `mixed`: a penalty alone is another error (check/worlds.cpp)
  const std::string also = f.key == "world_hack_penalty" ? "world_hack_share = 0.5\n" : "";
  return also + f.key + " = " + literal(value) + "\n";
}
std::string axis(std::string_view key, const AxisValue& a, const AxisValue& b) {
  return std::string(key) + " = [" + literal(a) + ", " + literal(b) + "]\n";
}

template <class C>
C config_of(const Setting& values, std::string_view key = "", const AxisValue& value = {}) {
  C config;
  if constexpr (std::is_same_v<C, EstimatorConfig> || std::is_same_v<C, PolicyConfig>)
    config = CatalogueOf<C>::find(word_at(values, base_need, std::is_same_v<C, PolicyConfig> ? "transformer" : "grpo"))->config;
  if constexpr (std::is_same_v<C, RaterConfig>) config.noise = {*make_noise(word_at(values, noise_need, "gaussian"))};
  for (const auto& [k, v] : values) {
    if (k == noise_need) continue;
    assign(config, k, v);
  }
  assign(config, key, value);
  return config;
}
template <class C>
std::string settled_text(C config, const Use& use) {
  settle(config, use);
  return canonical_fields(config);
}
Use use_of(const Setting& values) { return {word_at(values, env_need, "toy-lm") == "bandit" ? WorldKind::bandit : WorldKind::toy_lm}; }

template <class C>
int check_section() {
  int met = 0;
  for (const FieldInfo& f : all_fields<C>()) {
    const OnlyIf& rule = f.only_if;
    if (rule.count == 0 || f.type == "numbers" || f.type == "formula") continue;  // lists and formulas: below
    if (f.key == "command" || f.key == "library" || f.key == "deadline") continue;  // a program must be there, and a deadline changes no number: tests/app/run/own_estimator_test.py
    ++met;
    INFO(section_of<C>() << "." << f.key << " only if " << rule_text(rule));
    const AxisValue usual = default_of(f), other = other_of(f);

    // a rule names described keys and their words
    for (const Need& need : rule.list())
      for (const std::string_view word : need.words) {
        if (word.empty() || need.key == env_need) continue;
        bool known = false;
        const Need alone{.key = need.key, .words = {word}};
        if (need.key == base_need)
          for (const std::string_view w : estimator_bases()) known = known || allows(alone, std::string(w));
        if (need.key == noise_need) known = make_noise(word).has_value();
        for (const FieldInfo& g : all_fields<C>())
          for (const Choice& w : g.words) known = known || (g.key == need.key && w.word == word);
        INFO(word);
        CHECK(known);
      }

    // without effect in all runs: refused at the key; [table] has its errors at values
    for (const Setting& values : idle<C>(rule)) {
      const std::string before = lines<C>(values), text = before + line(f, other);
      INFO(text);
      const auto place = std::count(text.begin(), text.end(), '\n');
      const std::string column = std::is_same_v<C, TableConfig> ? std::to_string(f.key.size() + 4) : "1";
      const Refusal r = refusal(text);
      INFO(r.message);
      CHECK(r.code == Exit::suite);
      CHECK(r.has("bad.toml:" + std::to_string(place) + ":" + column + ": error: `" + (std::is_same_v<C, TableConfig> ? "table." : "") +
                  f.key + "` has no effect "));
      if constexpr (!std::is_same_v<C, TableConfig>) {
        const C plain = config_of<C>(values), changed = config_of<C>(values, f.key, other);
        CHECK(canonical_fields(changed) != canonical_fields(plain));
        CHECK(settled_text(changed, use_of(values)) == settled_text(plain, use_of(values)));
      }
    }

    // with effect: taken, and another run
    const Setting on = active<C>(rule);
    const std::string text = lines<C>(on);
    INFO(text);
    REQUIRE(refusal(text + line(f, other)).message == "");
    if constexpr (!std::is_same_v<C, TableConfig>)
      CHECK(canonical_text(loaded(text + line(f, other)).runs[0]) != canonical_text(loaded(text + line(f, usual)).runs[0]));

    // an axis that leaves it idle at times: those runs do not have it, and the suite that is written out gives the same runs
    for (const Need& need : rule.list()) {
      if (need.key == base_need || need.kind == Need::Kind::given || need.key == env_need || need.key == noise_need) continue;
      Setting values = on;
      if (rule.any) values = idle<C>(rule)[0];
      values.erase(need.key);
      const std::string both =
          lines<C>(values) + axis(need.key, value_for<C>(need, false), value_for<C>(need, true)) + axis(f.key, usual, other);
      INFO(both);
      const Refusal r = refusal(both);
      INFO(r.message);
      if (rule.every_run) {
        CHECK(r.has("`" + f.key + "` has no effect "));
        continue;
      }
      REQUIRE(r.message == "");
      const Suite suite = loaded(both);
      REQUIRE(suite.runs.size() == 8);
      const auto settings = [](const Suite& of, std::size_t i) { return canonical_settings(of.runs[2 * i]); };
      CHECK(settings(suite, 0) == settings(suite, 1));
      CHECK(settings(suite, 1) != settings(suite, 2));
      CHECK(settings(suite, 2) != settings(suite, 3));
      const Suite again = loaded(suite.resolved);
      for (std::size_t i = 0; i < 4; ++i) CHECK(settings(again, i) == settings(suite, i));
    }
  }
  return met;
}

}  // namespace

TEST_CASE("a key that needs another one is refused where it is idle in all runs, and leaves no trace where it is idle in one") {
  CHECK(check_section<RaterConfig>() == 16);
  CHECK(check_section<PolicyConfig>() == 3);
  CHECK(check_section<EstimatorConfig>() == 20);
  CHECK(check_section<LearnConfig>() == 8);
  CHECK(check_section<TableConfig>() == 3);
}

TEST_CASE("the supervised steps use the keys of a policy that are not of training alone") {
  std::set<std::string> used;
  PolicyConfig plain;
  plain.kind = PolicyKind::transformer;
  plain.transformer.lora_rank = 4;
  for (const FieldInfo& f : fields_of(plain)) {
    PolicyConfig changed = plain;
    const AxisValue other = other_of(f);
    assign(changed, f.key, other);
    INFO(f.key);
    const bool uses = settled_text(changed, {.supervised = true}) != settled_text(plain, {.supervised = true});
    CHECK(uses != f.only_if.training_only);
    CHECK(settled_text(changed, {}) != settled_text(plain, {}));
    if (uses) used.insert(f.key);
  }
  CHECK(used == std::set<std::string>{"size", "head", "warm_steps", "warm_batch", "warm_lr"});
}

TEST_CASE("values of levels are refused where the form reads none, leave no trace there, and make another run elsewhere") {
  const std::string values = "values = [1, 2, 3, 4, 5, 6, 7, 8, 9, 19]\n";
  for (const auto& [base, why] : {std::pair{"rank-grpo", no_rank_values}, {"posterior(maxrl)", no_posterior_values}}) {
    const Refusal r = refusal(head<EstimatorConfig>({{base_need, std::string(base)}}) + values);
    INFO(r.message);
    CHECK(r.code == Exit::suite);
    CHECK(r.has("bad.toml:8:1: error: `values` has no effect on " + std::string(base) + ": " + std::string(why)));
    EstimatorConfig config = *parse_estimator(base), plain = config;
    config.values = {1, 2};
    CHECK(canonical_fields(config) != canonical_fields(plain));
    CHECK(settled_text(config, {}) == settled_text(plain, {}));
  }
  const std::string good = head<EstimatorConfig>({{base_need, std::string("odrpo-gini(grpo)")}});
  const std::string with = canonical_text(loaded(good + values).runs[0]), without = canonical_text(loaded(good).runs[0]);
  CHECK(with.find("estimator.values = [1, 2, 3, 4, 5, 6, 7, 8, 9, 19]\n") != std::string::npos);
  CHECK(without.find("estimator.values") == std::string::npos);
  const Suite suite = loaded(good + values);
  CHECK(canonical_text(loaded(suite.resolved).runs[0]) == with);
}

TEST_CASE("formulas are refused where no level reads them, leave no trace there, and make another run elsewhere, and decide whether a median is read") {
  const auto of = [](const std::string& base) { return head<EstimatorConfig>({{base_need, base}}); };
  for (const auto& [base, line, why] : {std::tuple{"grpo", "weight = \"k\"\n", "a formula takes the place of the weight 1 of odrpo(NORM)"},
                                        {"odrpo-gini(grpo)", "weight = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n", "a formula takes the place of the weight 1 of odrpo(NORM)"},
                                        {"odrpo-bitwise(grpo)", "norm = \"mu\"\n", "only odrpo divides what a level adds"},
                                        {"posterior(grpo)", "norm = \"mu\"\n", "only odrpo divides what a level adds"}}) {
    const Refusal r = refusal(of(base) + line);
    INFO(r.message);
    CHECK(r.code == Exit::suite);
    CHECK(r.has("bad.toml:8:1: error: `" + std::string(line).substr(0, std::string(line).find(' ')) + "` has no effect on " + base + ": " + why));
  }
  EstimatorConfig config = *parse_estimator("maxrl"), plain = config;
  config.weight_formula = std::get<Formula>(Formula::parse("k", config.numbers));
  CHECK(canonical_fields(config) != canonical_fields(plain));
  CHECK(settled_text(config, {}) == settled_text(plain, {}));
  const std::string median = "median = \"upper\"\n";
  CHECK(refusal(of("odrpo(grpo)") + "weight = \"k\"\n" + median).has("`median` has no effect on odrpo(grpo): only the weight gini-median and formulas with `med` read a median"));
  CHECK(refusal(of("odrpo-gini-median(grpo)") + "norm = \"mu\"\n" + median).message == "");
  for (const char* key : {"weight", "norm"}) {
    const std::string text = of("odrpo(grpo)") + key + " = \"1+a*max( med,1)\"\na = [0.5, 2]\n" + median;
    const Suite suite = loaded(text);
    REQUIRE(suite.runs.size() == 4);
    const std::string first = canonical_text(suite.runs[0]);
    CHECK(first.find("estimator." + std::string(key) + " = 1 + a*max(med, 1)\n") != std::string::npos);
    CHECK(first.find("estimator.a = 0.5\n") != std::string::npos);
    CHECK(canonical_text(suite.runs[2]).find("estimator.a = 2\n") != std::string::npos);
    const Suite again = loaded(suite.resolved);
    for (std::size_t i = 0; i < 4; ++i) CHECK(canonical_text(again.runs[i]) == canonical_text(suite.runs[i]));
    CHECK(canonical_text(loaded(of("odrpo(grpo)") + key + " = \"1 + a * max(med, 1.0)\"\na = 0.5\n" + median).runs[0]) == first);
  }
}

TEST_CASE("rules in words") {
  CHECK(rule_text(adam_only) == "optimizer = \"adam\" or \"adamw\"");
  CHECK(rule_text(window_only) == "weight or norm reads the median and median = \"running\" and running = \"window\"");
  CHECK(rule_text(failures_only) == "`parse_failure` above 0 or `json_broken` above 0");
  CHECK(rule_text(length_bias_only) == "`length_bias` other than 0");
  CHECK(rule_text(eps_only) ==
        "base = \"grpo\", \"posterior(grpo)\", \"rank-grpo\", \"posterior(rank-grpo)\", \"maxrl\", \"posterior(maxrl)\", \"arena\", \"dgae\", \"qae\", \"grpo-passk\" or \"odrpo*\"");
  CHECK(rule_text(training_only).empty());
  const auto keys = fields_of<LearnConfig>();
  const auto beta1 = std::find_if(keys.begin(), keys.end(), [](const FieldInfo& f) { return f.key == "beta1"; });
  CHECK(beta1->meaning() == beta1->help + "; only if optimizer = \"adam\" or \"adamw\"");
}
