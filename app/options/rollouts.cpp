// Binds the flags of `rollouts`.
#include "app/options/flag_binding.hpp"
#include "kernels/shared/words.hpp"
#include "results/scores/score_file.hpp"

namespace odrpo::app {
namespace {

void rollout_options(CLI::App& c, RolloutOptions& o) {
  c.add_option("files", o.paths, "dumps of one training: of verl, TRL, NeMo RL, prime-rl, CSV or JSON lines; or folders of them")->required()->type_name("FILE");
  c.add_option("--format", o.format, "verl, trl, nemo-rl, prime-rl, verifiers, json, csv or tsv (default: found)")->type_name("FORMAT");
  c.add_option("--step", o.step, "key or column of the training step (default: that of the format)")->type_name("NAME");
  c.add_option("--prompt", o.prompt, "of the prompt")->type_name("NAME");
  c.add_option("--group", o.group, "of the group: which completions were compared with each other (default: those of a prompt within a step)")->type_name("NAME");
  repeated(c, "--reward", o.rewards, "of the rewards: one or several, or a glob", "NAME,NAME");
  repeated(c, "--reward-weights", o.weights, "what each reward counts (default: found from logged advantages; else 1)", "W,W");
  c.add_option("--advantage", o.advantage, "of the advantage that the trainer logged")->type_name("NAME");
  c.add_option("--length", o.length, "of the length of the completion")->type_name("NAME");
  c.add_option("--group-size", o.group_size, "completions of a group, where the dump has no group")->check(whole(1, 4096))->type_name("G");
  reading_flags(c, o.reading, {"missing", "map", "parse", "round", "bins", "separator"});
  c.add_option("--scale", o.scale, "the rewards that there can be: 0..10 or '0..5 by 0.5' (default: those of the dump)")->type_name("SCALE");
  c.add_option("--levels", o.levels, "the same for 1..K")->check(whole(2, most_levels))->type_name("K");
  c.add_option("--compat", o.compat, "whose conventions: word of `list compat` (default: paper)")->type_name("WORD");
  c.add_option("-o,--output", o.output, "file to write (default: standard output)")->type_name("FILE");
}

/// `what`: what the judge is for.
void judge_of_dump_options(CLI::App& c, RolloutOptions& o, const std::string& what) {
  auto* judge = c.add_option("--judge", o.judge, what + ": a judge's file (.toml) of `judge fit`, a file of repeated scores, or a word of `list raters`")->type_name("JUDGE");
  c.add_option("--judge-reward", o.judge_reward, "which of several rewards is the judge's; the others count as exactly known")->needs(judge)->type_name("NAME");
  c.add_option("--judge-scale", o.judge_scale, "the rewards that the judge's levels stand for (default: as the judge's file says, else 1..K)")->needs(judge)->type_name("SCALE");
  c.add_option("--judge-votes", o.judge_votes, "calls behind each score of the dump, which the judge's aggregate made one score (default 1)")->needs(judge)->check(whole(1, 1024))->type_name("N");
}

}  // namespace

void rollouts_commands(CLI::App& rollouts, RolloutsCommands& commands, std::function<int()>& chosen) {
  rollouts.require_subcommand(0, 1);
  rollouts.footer("`odrpo-bench rollouts COMMAND --help` explains a command.");
  const auto add = [&](const char* name, const char* help, const char* example, std::function<int()> call) {
    return add_command(rollouts, chosen, name, help, example, std::move(call));
  };
  RolloutsAnalyzeOptions& a = commands.analyze;
  CLI::App* c = add("analyze", "dead groups, agreement of estimators, leverage, length, and the convention of logged advantages",
                    "odrpo-bench rollouts analyze rollout_data/\n  odrpo-bench rollouts analyze dump.csv --step step --prompt id --reward score --figure dead=dead.svg",
                    [&a] { return rollouts_analyze(a); });
  rollout_options(*c, a);
  repeated(*c, "--estimator", a.estimators, "word of `list estimators`, to compare; may be repeated (default: seven of the paper)", "WORD");
  repeated(*c, "--figure", a.figures, "draw dead (groups and levels over steps), levels (heat map over steps) or cosine (matrix of estimators) to a .svg, .pdf or .png; may be repeated", "KIND=FILE");
  judge_of_dump_options(*c, a, "also say how often advantages point away from true quality, and what more votes would change, by a model of the judge");
  c->add_option("--resamples", a.resamples, "resamples of the bootstrap (default 1000)")->check(whole(1000, 1'000'000))->type_name("N");
  c->add_option("--seed", a.seed, "seed of the resamples (default 1)")->check(seed())->type_name("N");
  c->add_flag("--markdown", a.markdown, "the report as Markdown");
  c->add_flag("--json", a.json, "everything as JSON, with intervals and counts");

  RolloutsEstimateOptions& e = commands.estimate;
  c = add("estimate", "the advantages that estimators give the rows of a dump, as CSV or JSON lines",
          "odrpo-bench rollouts estimate rollout_data/ --estimator 'odrpo-gini-median(maxrl)' -o advantages.jsonl\n  odrpo-bench rollouts estimate dump.jsonl --estimator grpo --compat verl",
          [&e] { return rollouts_estimate(e); });
  rollout_options(*c, e);
  repeated(*c, "--estimator", e.estimators, "word of `list estimators`; may be repeated: a column each", "WORD");
  judge_of_dump_options(*c, e, "the judge that posterior estimators believe in");
  c->add_option("--whiten", e.whiten, "over the rows of a step, as the key of suites: none (default), response, token, scale, compat")->type_name("HOW");
}

}  // namespace odrpo::app
