// Holds the table of conventions, and finds the one that a config follows.
#include "estimators/compat.hpp"

#include <algorithm>
#include <array>

#include "estimators/weights.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {
namespace {

constexpr Whitening none{};
constexpr Whitening population{true, WhitenScale::added, 0, 0};                            // the paper's batch normalisation
constexpr Whitening masked_whiten{true, WhitenScale::inside, 1, 1e-8, WhitenUnit::token};  // verl: rsqrt(var + 1e-8)
constexpr Whitening added_1e_4{true, WhitenScale::added, 1, 1e-4};
constexpr Whitening sample{true, WhitenScale::added, 1, 0};
constexpr Whitening clamped{true, WhitenScale::floor, 0, 1e-8, WhitenUnit::token};

constexpr auto group = Centre::group;
constexpr auto others = Centre::others;
constexpr auto zero = Single::zero;
constexpr auto reward = Single::reward;

// The convention `paper` of a form. odrpo uses those of grpo and maxrl at its levels.
constexpr Convention of_paper(const FormRow& r) {
  const bool levels = r.form == Form::grpo || r.form == Form::maxrl;
  const std::string_view levels_source = levels ? "theory" : "";
  return {
      Compat::paper, r.form, r.centre, r.divisor, r.ddof, r.eps, zero, r.guard, r.whitened ? population : none, r.source, levels ? population : none,
      levels_source};
}

// Conventions read from the systems' source code, mid to late 2026. Columns as in struct Convention.
constexpr Convention systems[] = {
    {Compat::verl, Form::reinforce, group, Divisor::none, 0, 0, reward, false, masked_whiten, "reinforce++_baseline of core_algos.py", none,
     ""},
    {Compat::verl, Form::rloo, others, Divisor::none, 0, 0, reward, false, none, "rloo of core_algos.py:612-636", none, ""},
    {Compat::verl, Form::grpo, group, Divisor::deviation, 1, 1e-6, reward, false, none, "grpo of core_algos.py:314-328", masked_whiten,
     "gdpo of core_algos.py:449-466, masked_whiten of torch_functional.py:329-346"},
    {Compat::verl, Form::grpo_passk, Centre::second, Divisor::deviation, 1, 1e-6, zero, false, none, "grpo_passk of core_algos.py:471", none,
     ""},
    {Compat::verl, Form::opo, group, Divisor::none, 0, 0, reward, false, none, "opo of core_algos.py:639", none, ""},

    {Compat::trl, Form::reinforce, group, Divisor::none, 0, 0, zero, false, none, "scale \"none\" of grpo_trainer.py:2764-2788", none, ""},
    {Compat::trl, Form::rloo, others, Divisor::none, 0, 0, zero, false, none, "rloo_trainer.py:1675-1699", none, ""},
    {Compat::trl, Form::grpo, group, Divisor::deviation, 1, 1e-4, zero, false, none, "scale \"group\" of grpo_trainer.py:2764-2788",
     added_1e_4, "normalize_then_sum of grpo_trainer.py:2790-2800"},

    // The guard of pull request #4158 (sd > 0, and the others not all equal) is what this row has had: deviations are exact here, so the
    // two conditions are one.
    {Compat::nemo, Form::reinforce, group, Divisor::none, 0, 0, zero, false, clamped, "reinforce++ of advantage_estimator.py:233-265", none,
     ""},
    {Compat::nemo, Form::grpo, others, Divisor::others_deviation, 1, 1e-6, zero, false, none,
     "grpo of utils.py:149-196 and advantage_estimator.py:82-96; so too with the guard of pull request #4158", sample,
     "gdpo of advantage_estimator.py:156-190; so too with the guard of pull request #4158"},

    {Compat::openrlhf, Form::reinforce, group, Divisor::none, 0, 0, zero, false, none, "dr_grpo of experience_maker.py:268-274", none, ""},
    {Compat::openrlhf, Form::rloo, others, Divisor::none, 0, 0, zero, false, none,
     "rloo of experience_maker.py:268-274, where a group of one gets NaN", none, ""},
    {Compat::openrlhf, Form::grpo, group, Divisor::deviation, 1, 1e-9, zero, false, none,
     "group_norm of experience_maker.py:268-274, where a group of one gets NaN", none,
     "group_norm of experience_maker.py:268-274 at every level"},

    {Compat::maxrl_reference, Form::maxrl, group, Divisor::mean, 0, 1e-6, Single::over_eps, false, none, "maxrl of core_algos.py:402-441",
     none, "maxrl of core_algos.py:402-441 at every level"},

    {Compat::skyrl, Form::rloo, others, Divisor::none, 0, 0, zero, false, none, "rloo of ppo_utils.py:1202-1252", none, ""},
    {Compat::skyrl, Form::grpo, group, Divisor::deviation, 1, 1e-6, reward, false, none, "grpo of ppo_utils.py:1286-1336", none,
     "grpo of ppo_utils.py:1286-1336 at every level"},
    {Compat::skyrl, Form::maxrl, group, Divisor::mean, 0, 1e-6, reward, false, none, "maxrl of ppo_utils.py:1339-1371", none,
     "maxrl of ppo_utils.py:1339-1371 at every level"},

    {Compat::prime, Form::grpo, group, Divisor::none, 0, 0, zero, false, none, "algo/grpo.py:30", none, ""},
    {Compat::prime, Form::maxrl, group, Divisor::mean, 0, 0, zero, true, none, "algo/max_rl.py:26", none,
     "algo/max_rl.py:26 at every level"},

    {Compat::gdpo, Form::grpo, group, Divisor::deviation, 1, 1e-4, zero, false, added_1e_4,
     "trl fork, grpo_trainer.py:1226-1248, one reward", added_1e_4, "trl fork, grpo_trainer.py:1226-1248"},

    {Compat::tinker, Form::grpo, group, Divisor::none, 0, 0, zero, false, none, "compute_advantages of rl/data_processing.py:23-42", none,
     ""},

    {Compat::relax, Form::reinforce, group, Divisor::none, 0, 0, zero, false, clamped,
     "reinforce_plus_plus_baseline: algorithms/rewards.py:70-72, whitened as pull request #202 says", none, ""},
    {Compat::relax, Form::rloo, others, Divisor::none, 0, 0, zero, false, none, "group_leave_one_out of algorithms/rewards.py", none, ""},
    {Compat::relax, Form::grpo, group, Divisor::deviation, 1, 1e-6, zero, false, none,
     "group_mean_std of algorithms/rewards.py:49-80, where a group of one gets NaN", added_1e_4,
     "gdpo of pull request #277, open when it was read", 1e-4},
};

constexpr auto table = [] {
  constexpr auto own = static_cast<std::size_t>(std::ranges::count_if(form_rows, [](const FormRow& row) { return !has_norm(row.form); }));
  std::array<Convention, own + std::size(systems)> all{};  // odrpo has no convention of its own
  std::size_t n = 0;
  for (const FormRow& row : form_rows)
    if (!has_norm(row.form)) all[n++] = of_paper(row);
  for (const Convention& row : systems) all[n++] = row;
  return all;
}();

/// The form whose convention a config follows: for odrpo, the one that its norm names.
Form row_form(const EstimatorConfig& c) {
  if (!has_norm(c.form)) return c.form;
  return c.norm == Norm::maxrl ? Form::maxrl : Form::grpo;
}

const Convention* find_row(const EstimatorConfig& c) {
  for (const Convention& row : table)
    if (row.system == c.compat && row.form == row_form(c) && (!has_norm(c.form) || !row.levels_source.empty())) return &row;
  return nullptr;
}

std::string forms_of(Compat system) {
  std::string cardinal, ordinal;
  for (const Convention& row : table) {
    if (row.system != system) continue;
    const std::string word(row_of(row.form).word);
    add_item(cardinal, word);
    if (!row.levels_source.empty()) ordinal += ", odrpo(" + word + ") with any weight or by bits";
  }
  return cardinal + ordinal;
}

}  // namespace

std::span<const Convention> conventions() { return table; }

std::optional<CompatRefusal> refused_convention(const EstimatorConfig& c) {
  const std::string system(word_of<Compat>(compat_words, c.compat));
  if (find_row(c) == nullptr)
    return CompatRefusal{"compat", "compat \"" + system + "\" has no " + estimator_word(c) + "; it has " + forms_of(c.compat)};
  const FormRow& own = row_of(c.form);
  if (c.compat != Compat::paper && (c.ddof != own.ddof || c.eps != own.eps)) {
    const std::string_view key = c.ddof != own.ddof ? "ddof" : "eps";
    return CompatRefusal{key, std::string(key) + " cannot be given beside compat \"" + system + "\", which sets it itself"};
  }
  if (c.form == Form::odrpo && !c.norm_formula.empty() && c.compat != Compat::paper)
    return CompatRefusal{"compat", "compat \"" + system + "\" sets what levels are divided by, and so does the formula `norm`"};
  if (c.origin == 0 && !reads_key(c.form, FormKeys::origin))
    return CompatRefusal{"origin", "origin = 0 is for maxrl: only maxrl depends on the origin, not " + estimator_word(c)};
  if (c.posterior && c.form == Form::grpo && c.floor.value_or(0) != 0 && find_row(c)->divisor == Divisor::none)
    return CompatRefusal{"floor", "floor has no effect under compat \"" + system + "\", whose grpo divides by nothing"};
  return std::nullopt;
}

std::optional<std::string> compat_refusal(const EstimatorConfig& c) {
  if (const auto refused = refused_convention(c)) return refused->reason;
  return std::nullopt;
}

Convention convention_of(const EstimatorConfig& c) {
  if (const auto refusal = compat_refusal(c)) throw Failure(Exit::limits, *refusal);
  Convention row = *find_row(c);
  if (has_norm(c.form)) row.eps = row.levels_eps.value_or(row.eps);
  if (c.compat != Compat::paper) return row;
  if (reads_key(c.form, FormKeys::ddof)) row.ddof = c.ddof;
  row.eps = c.eps;
  return row;
}

Form followed_form(const EstimatorConfig& c) {
  return c.form == Form::grpo && convention_of(c).divisor == Divisor::none ? Form::reinforce : c.form;
}

double single_factor(const Convention& convention) {
  switch (convention.single) {
    case Single::zero: return 0.0;
    case Single::reward: return 1.0;
    case Single::over_eps: return 1.0 / convention.eps;
  }
  return 0.0;
}

LevelRule level_rule(const EstimatorConfig& c) {
  const Convention row = convention_of(c);
  return {row.divisor, row.ddof, row.eps, single_factor(row), c.k};
}

std::string_view refused_votes(const EstimatorConfig& c) {
  if (c.posterior) return "has one posterior score for each response";
  if (c.corrected) return "corrects one score of each response";
  if (row_of(c.form).basis != Basis::level) return "has no levels that a share of the votes could reach";
  switch (level_rule(c).divisor) {
    case Divisor::best_of:
    case Divisor::best_of_centred: return "compares subsets of responses, not of votes";
    case Divisor::others_deviation: return "compares a response with the others, and its own votes would be among them";
    default: return "";
  }
}

Weight level_weighting(const EstimatorConfig& c) { return c.form == Form::odrpo ? c.weight : row_of(c.form).weight; }

Whitening whitening_after(const EstimatorConfig& c) {
  const Convention row = convention_of(c);
  return has_norm(c.form) ? row.after_levels : row.after;
}

}  // namespace odrpo
