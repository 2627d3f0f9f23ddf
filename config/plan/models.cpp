// Finds and checks the judges that posterior and corrected estimators believe in: `model` of [estimator.NAME].
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "config/catalogue/axis.hpp"
#include "config/catalogue/believed_judge.hpp"
#include "config/catalogue/catalogue.hpp"
#include "config/plan/plan.hpp"
#include "config/plan/rater_file.hpp"
#include "config/plan/run_grid.hpp"
#include "config/spec.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {
namespace {

constexpr std::string_view model_key = "model";

/// Where an estimator names a model: the node of the key's value, or of its element in a list. Null if the estimator has no such key.
const Node* node_of(const Node& root, const Variant<EstimatorConfig>& estimator, std::string_view name) {
  const Node* all = find_child(root, section_of<EstimatorConfig>());
  const Node* section = all == nullptr ? nullptr : find_child(*all, estimator.name);
  const Node* key = section == nullptr || section->kind != Node::Kind::table ? nullptr : find_child(*section, model_key);
  if (key == nullptr || key->kind != Node::Kind::list) return key;
  for (const Node& entry : key->children)
    if (entry.kind == Node::Kind::text && entry.text == name) return &entry;
  return key;
}

/// Makes a name that no other judge has from the name of a judge's file, without its folder.
std::string name_of_file(const std::string& path, const std::set<std::string>& taken) {
  std::string plain = path.substr(path.find_last_of('/') + 1);
  for (char& c : plain)
    if (!is_name(std::string("a") + c)) c = '-';
  if (!is_name(plain)) plain = "judge-" + plain;
  if (!is_name(plain)) plain = "judge";  // too long
  std::string name = plain;
  for (int i = 2; taken.count(folded(name)) > 0; ++i) name = fmt::format("{}-{}", plain, i);
  return name;
}

const Variant<RaterConfig>* find_model(const Plan& plan, const std::string& name) {
  const auto found = std::find_if(plan.models.begin(), plan.models.end(), [&](const auto& model) { return model.name == name; });
  return found == plan.models.end() ? nullptr : &*found;
}

class Models {
 public:
  Models(const std::vector<Variant<RaterConfig>>& raters, Plan& plan, Reading& reading)
      : raters_(raters), plan_(plan), reading_(reading) {
    for (const auto word : CatalogueOf<RaterConfig>::words()) taken_.insert(folded(std::string(word)));
    for (const auto& rater : raters) taken_.insert(folded(rater.name));
    taken_.insert(std::string(own_rater));
  }

  /// Returns the judge's name in plan.models. Reports an unknown judge, and returns `name` as it is. `node`: where the key names it, or null; `label`: the
  /// key, "estimator.NAME.model".
  std::string find(const Node* node, Place section, const std::string& label, const std::string& name) {
    const auto defined = std::find_if(raters_.begin(), raters_.end(), [&](const auto& rater) { return same_word(rater.name, name); });
    const auto entry = CatalogueOf<RaterConfig>::find(name);
    const Place place = node == nullptr ? section : node->place;
    if (defined != raters_.end()) {
      if (!defined->axes.empty())
        reading_.errors.add(place, fmt::format("rater {} is several judges, by its axis `{}`: a model is one", shown(defined->name),
                                               defined->axes.front().key));
      return add(*defined);
    }
    if (entry) return add({entry->word, place, entry->config, {}});
    if (node != nullptr && is_rater_file(name)) return of_file(*node, label);
    std::vector<std::string_view> words;
    if (label.ends_with(model_key)) words.push_back(own_rater);
    for (const auto word : CatalogueOf<RaterConfig>::words()) words.push_back(word);
    for (const auto& rater : raters_)
      if (!CatalogueOf<RaterConfig>::find(rater.name)) words.push_back(rater.name);
    reading_.errors.add(place, fmt::format("`{}` knows no rater \"{}\"", label, shown(name)),
                        allowed_words<RaterConfig>(words) + ", or a judge's file such as \"judge.toml\"", nearest_word(name, words));
    return name;
  }

 private:
  std::string add(const Variant<RaterConfig>& model) {
    if (find_model(plan_, model.name) == nullptr) plan_.models.push_back(model);
    return model.name;
  }
  std::string of_file(const Node& node, const std::string& label) {
    for (const auto& [path, name] : files_)
      if (path == node.text) return name;
    const auto rater = read_named_rater(node, label, reading_);
    const std::string name = name_of_file(node.text, taken_);
    taken_.insert(folded(name));
    files_.emplace_back(node.text, name);
    if (rater) add({name, node.place, *rater, {}});
    return name;
  }

  const std::vector<Variant<RaterConfig>>& raters_;
  Plan& plan_;
  Reading& reading_;
  std::set<std::string> taken_;                             // names in use, folded
  std::vector<std::pair<std::string, std::string>> files_;  // path of each file read, name of its judge
};

std::vector<std::string> models_of(const Variant<EstimatorConfig>& estimator) {
  const GridAxis* axis = find_axis(estimator.axes, model_key);
  if (axis == nullptr) return {estimator.config.model};
  std::vector<std::string> names;
  for (const auto& value : axis->values) names.push_back(std::get<std::string>(value));
  return names;
}

// reports prior = "moments" with a judge that resamples a file: this prior needs normally distributed quality, which such a file does not give
void check_moments(const Variant<EstimatorConfig>& estimator, const Plan& plan, Diagnostics& errors) {
  if (!estimator.config.posterior || !may_be(estimator.axes, "prior", estimator.config.prior, prior_words, PriorRule::moments)) return;
  const auto refuse = [&](const Variant<RaterConfig>& judge) {
    if (scored_responses(judge.config.noise) != nullptr)
      errors.add(estimator.place,
                 fmt::format("estimator {} has prior = \"moments\", and the responses of {}'s file are no normal world",
                             shown(estimator.name), shown(judge.name)),
                 "prior = \"following\" or \"fixed\"");
  };
  for (const std::string& name : models_of(estimator)) {
    if (const Variant<RaterConfig>* model = find_model(plan, name)) refuse(*model);
    else if (name == own_rater)
      for (const auto& rater : plan.rater) refuse(rater);
  }
}

}  // namespace

std::vector<std::int64_t> levels_of(const Variant<EnvConfig>& env, const Variant<RaterConfig>& rater) {
  if (const int own = rater_levels(rater.config); own > 0 && !env.levels_given) return {own};
  if (env.config.kind == WorldKind::toy_lm) return {toy_levels};
  return values_of(env.axes, levels_key, env.config.bandit.levels);
}

void read_models(const Node& root, const std::vector<Variant<RaterConfig>>& raters, Plan& plan, Reading& reading) {
  Models models(raters, plan, reading);
  const auto model_named = [&](const Variant<EstimatorConfig>& estimator, const std::string& name) {
    if (same_word(name, own_rater)) return std::string(own_rater);
    return models.find(node_of(root, estimator, name), estimator.place, fmt::format("estimator.{}.{}", estimator.name, model_key), name);
  };
  for (auto& estimator : plan.estimator) {
    if (!needs_judge(estimator.config)) continue;
    for (auto& axis : estimator.axes)
      if (axis.key == model_key) {
        std::set<AxisValue> seen;
        for (auto& value : axis.values) {
          value = model_named(estimator, std::get<std::string>(value));
          if (!seen.insert(value).second)
            reading.errors.add(axis.place, fmt::format("`estimator.{}.model` has {} twice", estimator.name, shown(value_text(value))));
        }
      }
    if (const GridAxis* axis = find_axis(estimator.axes, model_key)) estimator.config.model = std::get<std::string>(axis->values.front());
    else estimator.config.model = model_named(estimator, estimator.config.model);
  }
  for (auto& env : plan.env) {
    const Node* section = rollouts_section(root, env, reading.errors);
    if (section == nullptr) continue;
    BanditConfig& world = env.config.bandit;
    world.judge = models.find(find_child(*section, judge_key), env.place, fmt::format("env.{}.{}", env.name, judge_key), world.judge);
    if (const Variant<RaterConfig>* judge = find_model(plan, world.judge)) read_groups(*section, judge->config, env, reading);
  }
}

void check_corrected(const Plan& plan, const RunGrid& runs, Diagnostics& errors) {
  if (std::none_of(plan.estimator.begin(), plan.estimator.end(), [](const auto& estimator) { return estimator.config.corrected; })) return;
  std::set<std::string> met;
  for (const std::size_t i : runs.first_of_each({GridPart::env, GridPart::rater, GridPart::estimator, GridPart::votes})) {
    const RunSpec run = runs[i];
    if (!run.estimator.corrected || correction_seconds(run) > most_correction_seconds) continue;
    const std::optional<std::string> why = correct_judge(run).refusal;
    if (!why) continue;
    const auto of = [&](const auto& variant) { return variant.name == run.estimator_name; };
    const std::string judge = run.model ? fmt::format("the model {} of rater {}", shown(run.estimator.model), shown(run.rater_name)) : "rater " + shown(run.rater_name);
    const std::string text = fmt::format("estimator {} cannot correct the scores of {} with {}: {}", shown(run.estimator_name), judge,
                                         counted(run.votes, "vote"), *why);
    if (met.insert(text).second) errors.add(std::find_if(plan.estimator.begin(), plan.estimator.end(), of)->place, text);
  }
}

void check_models(const Node& root, const Plan& plan, Diagnostics& errors) {
  for (const auto& estimator : plan.estimator) {
    if (!needs_judge(estimator.config)) continue;
    check_moments(estimator, plan, errors);
    for (const std::string& name : models_of(estimator)) {
      const Variant<RaterConfig>* model = find_model(plan, name);
      if (model == nullptr) continue;
      const Node* node = node_of(root, estimator, name);
      const Place place = node == nullptr ? estimator.place : node->place;
      const int own = rater_levels(model->config);
      for (const auto& env : plan.env) {
        for (const auto& rater : plan.rater)
          for (const auto levels : levels_of(env, rater))
            if (own > 0 && own != levels)
              errors.add(place, fmt::format("the model {} of estimator {} has {} levels, and the scores of rater {} in env {} have {}",
                                            shown(name), shown(estimator.name), own, shown(rater.name), shown(env.name), levels));
        if (scored_responses(model->config.noise) != nullptr && env.config.kind == WorldKind::bandit &&
            env.config.bandit.profile != ProfileSource::rater)
          errors.add(place,
                     fmt::format("the model {} of estimator {} knows the responses of its file alone, and env {} has a world of its own",
                                 shown(name), shown(estimator.name), shown(env.name)),
                     "profile = \"rater\" there, or a judge on a latent scale");
      }
    }
  }
}

}  // namespace odrpo
