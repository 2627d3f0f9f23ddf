// Binds the flags of `judge`.
#include "app/options/flag_binding.hpp"

#include "results/scores/scale.hpp"

namespace odrpo::app {

void score_options(CLI::App& app, ScoreOptions& o) {
  app.add_option("--prompt", o.prompt, "column of the prompt (default: prompt_id)")->type_name("COLUMN");
  app.add_option("--response", o.response, "column of the response (default: response_id)")->type_name("COLUMN");
  app.add_option("--score", o.score, "column of the score (default: score)")->type_name("COLUMN");
  app.add_option("--sample", o.sample, "column of the sample: which call of a judge (default: sample_id, if there is one; none)")
      ->type_name("COLUMN");
  app.add_option("--rater", o.rater,
                 "column of the judge (default: rater_id, if there is one; none: it is one judge), or made of the sample: 'sample_id / 2': "
                 "each two samples are a judge's; 'sample_id % 2': two judges in turn")
      ->type_name("COLUMN");
  app.add_option("--gold", o.gold, "column of a response's true score (default: gold, if there is one; none)")->type_name("COLUMN");
  app.add_option("--scale", o.scale, "the scores that there can be: 0..10 or '0..5 by 0.5' (default: those of the file)")
      ->type_name("SCALE");
  app.add_option("--levels", o.levels, "the same for 1..K")->check(whole(2, most_levels))->type_name("K");
}

namespace {

void advise_options(CLI::App& c, JudgeAdviseOptions& a) {
  c.add_option("input", a.path, "a file of scores (CSV, TSV, JSON lines), a judge's file (.toml), or a word of `list raters`")
      ->required()
      ->type_name("INPUT");
  c.add_option("--calls", a.calls, "judge calls of the whole training")->required()->check(CLI::Range(1.0, 1e12))->type_name("C");
  const auto amount = CLI::Range(0.0, 1e9);
  auto* price =
      c.add_option("--price-call", a.price_call, "price of a call: choices then cost the same money")->check(amount)->type_name("P");
  auto* rollout =
      c.add_option("--price-rollout", a.price_rollout, "price of generating an answer, in the same unit")->check(amount)->type_name("R");
  price->needs(rollout), rollout->needs(price);
  auto* seconds = c.add_option("--seconds-call", a.seconds_call, "seconds of a call: choices then take the judge the same time")
                      ->check(positive())
                      ->type_name("S");
  auto* parallel = c.add_option("--parallel", a.parallel, "calls at a time (default 1)")->check(whole(1, 1'000'000))->type_name("M");
  parallel->needs(seconds), seconds->excludes(price), seconds->excludes(rollout);
  c.add_option("--batch", a.batch, "prompts of a training step (default 64)")->check(whole(1, 256))->type_name("B");
  repeated(c, "--rollouts", a.rollouts, "answers to a prompt that are considered (default 4,8,16)", "G,G");
  repeated(c, "--votes", a.votes, "calls about an answer that are considered (default 1,2,4,8,16,32)", "N,N");
  repeated(c, "--rules", a.rules, "what several calls may become: mean, mode, stop (default), expected, fraction", "WORD,WORD");
  repeated(c, "--estimators", a.estimators, "estimators that are considered (default: the six of suite judge-scores)", "WORD,WORD");
  repeated(c, "--policies", a.policies, "what is trained (default linear,tabular)", "WORD,WORD");
  c.add_option("--seeds", a.seeds, "fresh seeds that the finalists are reported on (default 40)")->check(whole(4, 10'000))->type_name("N");
  c.add_option("--tuning-seeds", a.tuning_seeds, "seeds of the race (default 16)")->check(whole(8, 1000))->type_name("N");
  c.add_option("--drawn-judges", a.drawn, "judges drawn from the uncertainty of a file's fit, to check the advice (default 4)")
      ->check(whole(0, 100))
      ->type_name("N");
  c.add_flag("--thorough", a.thorough, "check the advice on the toy language model too (up to an hour)");
  score_options(c, a.scores);
  c.add_option("--seed", a.seed, "seed of everything (default 1)")->check(whole(0, 9'000'000'000'000'000'000))->type_name("N");
  c.add_option("--jobs", a.jobs, "threads (default: the cores)")->check(whole(1, 1024))->type_name("N");
  c.add_option("--figure", a.figure, "draw gain against cost to a .svg, .pdf or .png")->type_name("FILE");
  c.add_flag("--json", a.json, "everything as JSON");
  c.add_flag("-q,--quiet", a.quiet, "no progress");
  c.add_option("-o,--output", a.output, "file to write (default: standard output)")->type_name("FILE");
}

}  // namespace

void judge_commands(CLI::App& judge, JudgeCommands& commands, std::function<int()>& chosen) {
  judge.require_subcommand(0, 1);
  judge.footer("`odrpo-bench judge COMMAND --help` explains a command.");
  const auto add = [&](const char* name, const char* help, const char* example, std::function<int()> call) {
    CLI::App* sub = judge.add_subcommand(name, help);
    sub->footer(std::string("Example:\n  ") + example);
    sub->callback([&chosen, call = std::move(call)] { chosen = call; });
    return sub;
  };

  JudgeAnalyzeOptions& o = commands.analyze;
  CLI::App* c = add("analyze", "how noisy a judge is: agreement, reliability, severity, drift, gold, beside known judges",
                    "odrpo-bench judge analyze scores.csv\n  odrpo-bench judge analyze scores.csv --figure kendall=w.svg",
                    [&o] { return judge_analyze(o); });
  c->add_option(
       "input", o.path,
       "a CSV, TSV or JSON lines file with one row per score; or a rater to simulate: a word of `list raters`, a judge's file, or a "
       "suite, whose raters are put beside each other (.toml)")
      ->required()
      ->type_name("INPUT");
  score_options(*c, o.scores);
  repeated(*c, "--compare", o.compare, "another input to put beside it; may be repeated", "INPUT");
  repeated(
      *c, "--figure", o.figures,
      "draw kendall (histogram of W) or rows (heat maps of each response's mean, deviation, skewness, excess kurtosis) to a .svg, .pdf "
      "or .png; may be repeated",
      "KIND=FILE");
  c->add_option("--resamples", o.resamples, "resamples of the bootstrap (default 2000)")->check(whole(1000, 1'000'000))->type_name("N");
  c->add_option("--seed", o.seed, "seed of the resamples (default 1)")->check(whole(0, 9'000'000'000'000'000'000))->type_name("N");
  c->add_flag("--json", o.json, "everything as JSON, with intervals and counts");
  c->add_option("-o,--output", o.output, "file to write (default: standard output)")->type_name("FILE");

  JudgeFitOptions& f = commands.fit;
  c = add("fit", "a simulated judge fitted to a file of scores, with its goodness of fit, as a TOML file for suites",
          "odrpo-bench judge fit scores.csv -o judge.toml\n  odrpo-bench judge fit scores.csv --rater 'sample_id / 2'",
          [&f] { return judge_fit(f); });
  c->add_option("file", f.path, "a CSV, TSV or JSON lines file with one row per score")->required()->type_name("FILE");
  score_options(*c, f.scores);
  c->add_option("--name", f.name, "name of the section [rater.NAME] (default: judge)")->type_name("NAME");
  c->add_option("--seed", f.seed, "seed of the simulated scores (default 1)")->check(whole(0, 9'000'000'000'000'000'000))->type_name("N");
  c->add_flag("--json", f.json, "the report as JSON");
  c->add_option("-o,--output", f.output, "the judge's file (default: none is written)")->type_name("FILE.toml");

  JudgeSimulateOptions& s = commands.simulate;
  c = add("simulate", "scores that a rater gives in its own world, as training meets them",
          "odrpo-bench judge simulate mixed --prompts 1000 -o scores.csv\n  odrpo-bench judge simulate judge.toml --truth",
          [&s] { return judge_simulate(s); });
  c->add_option("rater", s.rater, "a word of `list raters`, or a judge's file (.toml)")->required()->type_name("RATER");
  c->add_option("--prompts", s.prompts, "prompts (default 1000)")->check(whole(1, 65'536))->type_name("P");
  c->add_option("--responses", s.responses, "responses to each prompt (default 8)")->check(whole(1, 1024))->type_name("M");
  c->add_option("--samples", s.samples, "calls about each response (default 16); judges of a panel answer in turn")
      ->check(whole(1, 1024))
      ->type_name("N");
  c->add_option("--levels", s.levels, "K of a rater that takes any scale (default 10)")->check(whole(2, most_levels))->type_name("K");
  c->add_option("--seed", s.seed, "seed of the world and the calls (default 1)")
      ->check(whole(0, 9'000'000'000'000'000'000))
      ->type_name("N");
  c->add_flag("--truth", s.truth, "a column `gold` with the true quality");
  c->add_option("-o,--output", s.output, "file to write: .csv, .tsv or .jsonl (default: CSV to standard output)")->type_name("FILE");

  advise_options(
      *add("advise", "how to spend a number of judge calls: votes per answer, answers per prompt, estimator",
           "odrpo-bench judge advise scores.csv --calls 150000\n  odrpo-bench judge advise mixed --calls 150000 --figure advice.svg",
           [&a = commands.advise] { return judge_advise(a); }),
      commands.advise);
}

}  // namespace odrpo::app
