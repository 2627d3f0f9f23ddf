// Binds the flags of `gate`, `worker`, `judge` and `theory`.
#include "app/options/flag_binding.hpp"
#include "results/scores/score_file.hpp"

namespace odrpo::app {

void gate_options(CLI::App& c, GateOptions& o) {
  c.add_option("--baseline", o.baseline, "the command that is compared with, quoted as for a shell")->type_name("CMD");
  c.add_option("--candidate", o.candidate, "the command that must not be slower")->type_name("CMD");
  c.add_option("--build-baseline", o.build_baseline,
               "kind self: build the commit at which the checked out one left REF, and compare this program with it")
      ->type_name("REF");
  c.add_option("--save", o.save, "measure --baseline alone and store it, or add a session to what is stored")->type_name("FILE.json");
  c.add_option("--against", o.against, "compare with a stored baseline, where host, CPU, governor, compiler, system and load are its own")
      ->type_name("FILE.json");
  c.add_flag("--force", o.force, "of --save: replace a file that holds another baseline");
  c.add_option("--kind", o.kind, "self (two builds of odrpo-bench), benchmark (Google Benchmark), worker (JSON lines) or process")
      ->type_name("KIND");
  c.add_option("--suite", o.suite,
               "kind self: the training steps of this suite's runs (default: the microbenchmarks); of FILE.h5: its limits")
      ->type_name("SUITE.toml");
  repeated(c, "--cases", o.cases, "only cases that this pattern names, e.g. 'advantage/*'; may be repeated", "GLOB");
  c.add_option("--limit", o.limit, "slow-down that is too much, as 1% or 0.01 (default 1%; below 3%)")->type_name("LIMIT");
  repeated(c, "--fail-on", o.fail_on,
           "slower, different, failed, faster, counts, void, inconclusive, skipped or nothing (default slower,different; of counts alone "
           "different,counts,inconclusive)",
           "WORD,WORD");
  c.add_option("--counts", o.counts, "instructions: auto (default), perf, callgrind or off")->type_name("HOW");
  c.add_flag("--only-counts", o.only_counts, "compare counts and checksums; measure no time");
  c.add_option("--max-seconds", o.max_seconds, "measure no longer, but two blocks; cases without a verdict are inconclusive then")
      ->check(positive())
      ->type_name("S");
  c.add_option("--deadline", o.deadline, "seconds that an answer or a command may take (default 60)")->check(positive())->type_name("S");
  c.add_option("--seed", o.seed, "seed of the order within pairs (default: drawn)")->check(seed())->type_name("N");
  c.add_flag("--json", o.json, "everything as JSON");
  c.add_option("--junit", o.junit, "write JUnit's XML")->type_name("FILE.xml");
  c.add_option("--markdown", o.markdown, "write a job summary, and its figure beside it (.svg)")->type_name("FILE.md");
  c.add_flag("--self-test", o.self_test, "how often the gate errs on this host: equal work, and 2, 5 and 10 % more; about 40 s");
  c.add_option("--trials", o.trials, "of the self-test, instead of 40 s")->check(whole(1, 100'000))->type_name("N");
  c.add_flag("--science", o.science, "instead: do two result files of one suite, OLD.h5 NEW.h5, show the same?");
  repeated(c, "--margin", o.margin, "of --science: quality=LEVELS (default .02), gain=SHARE (.5%) or steps=SHARE (10%)", "WHAT=MARGIN");
  c.add_option("--max-memory", o.max_memory, "of result files: MB that reading a file may take")->check(positive())->type_name("MB");
  c.add_flag("-q,--quiet", o.quiet, "no progress and no notes");
}

void worker_options(CLI::App& c, WorkerOptions& o) {
  suite_options(c, o.suite, false);
  c.add_option("--self-test", o.self_test, "the known work of `gate --self-test`: baseline or candidate")->type_name("SIDE");
}

// Binds the flags of `judge`.

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
  reading_flags(app, o.reading);
}

namespace {

void advise_options(CLI::App& c, JudgeAdviseOptions& a) {
  c.add_option("input", a.path, "a file of scores (CSV, TSV, JSON, or what an evaluation tool wrote), a judge's file (.toml), or a word of `list raters`")
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
  c.add_option("--seed", a.seed, "seed of everything (default 1)")->check(seed())->type_name("N");
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
    return add_command(judge, chosen, name, help, example, std::move(call));
  };

  JudgeAnalyzeOptions& o = commands.analyze;
  CLI::App* c = add("analyze", "how noisy a judge is: agreement, reliability, severity, drift, gold, beside known judges",
                    "odrpo-bench judge analyze scores.csv\n  odrpo-bench judge analyze scores.csv --figure kendall=w.svg",
                    [&o] { return judge_analyze(o); });
  c->add_option(
       "input", o.path,
       "a file of scores (CSV, TSV, JSON, or what an evaluation tool wrote; a folder of a tool's files); or a rater to simulate: a word of `list raters`, a judge's file, or a "
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
  c->add_option("--samples", o.samples, "calls of a rater about each response (default: of a suite its most votes, else 16)")
      ->check(whole(1, 1024))
      ->type_name("N");
  c->add_option("--resamples", o.resamples, "resamples of the bootstrap (default 2000)")->check(whole(1000, 1'000'000))->type_name("N");
  c->add_option("--seed", o.seed, "seed of the resamples (default 1)")->check(seed())->type_name("N");
  c->add_flag("--json", o.json, "everything as JSON, with intervals and counts");
  c->add_option("-o,--output", o.output, "file to write (default: standard output)")->type_name("FILE");

  JudgeFitOptions& f = commands.fit;
  c = add("fit", "a simulated judge fitted to a file of scores, with its goodness of fit, as a TOML file for suites",
          "odrpo-bench judge fit scores.csv -o judge.toml\n  odrpo-bench judge fit scores.csv --rater 'sample_id / 2'",
          [&f] { return judge_fit(f); });
  c->add_option("file", f.path, "a file of scores: CSV, TSV, JSON, or what an evaluation tool wrote; or a folder of a tool's files")->required()->type_name("FILE");
  score_options(*c, f.scores);
  c->add_option("--name", f.name, "name of the section [rater.NAME] (default: judge)")->type_name("NAME");
  c->add_option("--seed", f.seed, "seed of the simulated scores (default 1)")->check(seed())->type_name("N");
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
  c->add_option("--seed", s.seed, "seed of the world and the calls (default 1)")->check(seed())->type_name("N");
  c->add_flag("--truth", s.truth, "a column `gold` with the true quality");
  c->add_option("-o,--output", s.output, "file to write: .csv, .tsv or .jsonl (default: CSV to standard output)")->type_name("FILE");

  advise_options(
      *add("advise", "how to spend a number of judge calls: votes per answer, answers per prompt, estimator",
           "odrpo-bench judge advise scores.csv --calls 150000\n  odrpo-bench judge advise mixed --calls 150000 --figure advice.svg",
           [&a = commands.advise] { return judge_advise(a); }),
      commands.advise);
}

// Binds the flags of `theory`.

namespace {

void shared_options(CLI::App& c, TheoryOptions& o, const std::string& usual_sizes) {
  repeated(c, "--estimator", o.estimators, "word of `list estimators`; may be repeated (default: those of the paper)", "WORD");
  c.add_option("--compat", o.compat, "word of `list compat`: whose conventions (default: paper)")->type_name("WORD");
  c.add_option("--median", o.median, "what gini-median reads: lower (default), mid or upper")->type_name("RULE");
  c.add_option("--k", o.k, "forms that compare subsets of the group, as max-at-k: their size (default 2)")
      ->check(whole(2, 254))
      ->type_name("N");
  centre_options(c, o.kappa, o.r_min);
  c.add_option("--origin", o.origin, "maxrl: values as given (1, default) or less one (0)")->check(whole(0, 1))->type_name("0|1");
  repeated(c, "--group-size", o.group_sizes, "M: 8, 2,4,8 or 2..16 (default: " + usual_sizes + ")", "M");
  c.add_option("--format", o.format, "text (default), csv or json")->type_name("FORMAT");
  c.add_flag("--json", o.json, "the same as --format json");
}

void values_option(CLI::App& c, TheoryOptions& o) {
  repeated(c, "--values", o.values, "values of the levels, ascending, e.g. 1,2,12 (default: 1..K)", "R,R");
}

}  // namespace

void theory_commands(CLI::App& theory, TheoryCommands& commands, std::function<int()>& chosen) {
  theory.require_subcommand(0, 1);
  theory.footer("`odrpo-bench theory COMMAND --help` explains a command; docs/theory.md says what comes out.");
  const auto add = [&](const char* name, const char* help, const char* example, std::function<int()> call) {
    return add_command(theory, chosen, name, help, example, std::move(call));
  };

  TheoryCurlOptions& u = commands.curl;
  CLI::App* c = add("curl", "mean absolute curl of estimators' update fields, exactly: has the field a scalar objective?",
                    "odrpo-bench theory curl --levels 3,5,8,10 --group-size 8\n  odrpo-bench theory curl suites/paper/curl.toml --figure curl.svg",
                    [&u] { return theory_curl(u); });
  c->add_option("suite", u.suite, "a suite: its runs say estimators, K and M, instead of the flags")->type_name("SUITE.toml");
  shared_options(*c, u, "2..16");
  repeated(*c, "--levels", u.levels, "K: 10, 3,5,8 or 2..10 (default: 2..10)", "K");
  values_option(*c, u);
  c->add_option("--figure", u.figure, "draw the curl over K and over M to a .svg, .pdf or .png")->type_name("FILE");

  const auto point = [&](CLI::App& of, TheoryFieldOptions& o) {
    repeated(of, "--p", o.p, "probabilities of the levels 1..K, e.g. 0.2,0.3,0.5", "P,P");
    shared_options(of, o, "8");
    values_option(of, o);
  };
  TheoryFieldOptions& f = commands.field;
  c = add("field", "the exact expected update at a point of the simplex, its cosine with the gradient of E[r], and its curl",
          "odrpo-bench theory field --p 0.2,0.3,0.5 --group-size 2,4,8,16\n  odrpo-bench theory field --triangle 0.1",
          [&f] { return theory_field(f); });
  point(*c, f);
  c->add_option("--triangle", f.triangle, "instead of --p: circulation around the triangle of three levels with corners (1-2E, E, E)")
      ->check(share())
      ->type_name("E");
  c->add_option("--rater", f.rater, "scores come from a rater, --p is of true levels: word of `list raters`, or a judge's file")
      ->type_name("RATER");
  repeated(*c, "--votes", f.votes, "N: the rater's calls about a response, 8 or 1,8 (default: 1)", "N");
  TheoryFieldOptions& j = commands.objective;
  point(*add("objective", "the scalar objective that an estimator climbs: of groups of M, of endless groups, and with the paper's constant",
             "odrpo-bench theory objective --p 0.2,0.3,0.5 --group-size 8", [&j] { return theory_objective(j); }),
        j);

  TheoryLeverageOptions& l = commands.leverage;
  c = add("leverage", "what one corrupted score does to its group: its share of sum A^2, and how much the advantages grow",
          "odrpo-bench theory leverage --group 7,7,8,8,7,9,8,7 --outlier 1,10\n  odrpo-bench theory leverage --rater mixed --figure "
          "leverage.svg",
          [&l] { return theory_leverage(l); });
  shared_options(*c, l, "8, with --rater");
  repeated(*c, "--group", l.group, "whole scores of a group (default: 7,7,8,8,7,9,8,7)", "LIST");
  repeated(*c, "--outlier", l.outliers, "what one score becomes (default: 1 and the highest level)", "LIST");
  c->add_option("--rater", l.rater, "draw groups from a rater's world instead: word of `list raters`, or a judge's file")
      ->type_name("RATER");
  c->add_option("--groups", l.groups, "groups that --rater draws (default 20000)")->check(whole(2, 65'536))->type_name("N");
  c->add_option("--seed", l.seed, "seed of these groups (default 1)")->check(seed())->type_name("N");
  c->add_option("--figure", l.figure, "draw shares and growth as bars to a .svg, .pdf or .png")->type_name("FILE");

  TheoryBoundOptions& b = commands.bound;
  c = add("bound", "the best possible advantages from a group's scores, for a rater and a policy, and how far estimators stay below them",
          "odrpo-bench theory bound --rater mixed --rater veto --votes 1,8\n  odrpo-bench theory bound --rater judge.toml --policy linear "
          "--tilt 0,1",
          [&b] { return theory_bound(b); });
  shared_options(*c, b, "8");
  values_option(*c, b);
  repeated(*c, "--rater", b.raters, "word of `list raters`, or a judge's file; may be repeated (default: mixed)", "RATER");
  repeated(*c, "--votes", b.votes, "N: the rater's calls about a response, 8 or 1,8 (default: 1)", "N");
  repeated(*c, "--policy", b.policies, "tabular or linear; may be repeated (default: both)", "WORD");
  repeated(*c, "--tilt", b.tilts, "policies proportional to exp(tilt quality), e.g. 0,0.5,1 (default: 0, uniform)", "T,T");
  c->add_option("--prior", b.prior, "of posterior estimators: following (default) or fixed")->type_name("WORD");
  c->add_option("--quality", b.quality, "of responses: real (default), or integer: whole levels")->type_name("WORD");
  c->add_option("--levels", b.levels, "K, for raters that take any (default 10)")->check(whole(2, 100))->type_name("K");
  c->add_option("--batch", b.batch, "B: prompts of a batch (default 64)")->check(whole(1, 65'536))->type_name("B");
  c->add_option("--prompts", b.prompts, "prompts of a world (default 1024)")->check(whole(2, 65'536))->type_name("P");
  c->add_option("--worlds", b.worlds, "worlds, for standard errors (default 4)")->check(whole(1, 1000))->type_name("W");
  c->add_option("--batches", b.batches, "drawn batches for the expected cosine (default 1000; 0: none)")->check(whole(0, 1'000'000))->type_name("N");
  c->add_option("--ascent", b.ascent, "batches of the ascent to the best map for the cosine (default 4000; 0: none)")
      ->check(whole(0, 10'000'000))
      ->type_name("N");
  c->add_option("--seed", b.seed, "seed of the worlds (default 1)")->check(seed())->type_name("N");
}

}  // namespace odrpo::app
