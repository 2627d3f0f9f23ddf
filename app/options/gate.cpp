// Binds the flags of `gate` and `worker`.
#include "app/options/flag_binding.hpp"

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
           "slower, different, faster, counts, void, inconclusive or nothing (default slower,different; of counts alone "
           "different,counts,inconclusive)",
           "WORD,WORD");
  c.add_option("--counts", o.counts, "instructions: auto (default), perf, callgrind or off")->type_name("HOW");
  c.add_flag("--only-counts", o.only_counts, "compare counts and checksums; measure no time");
  c.add_option("--max-seconds", o.max_seconds, "measure no longer, but two blocks; cases without a verdict are inconclusive then")
      ->check(positive())
      ->type_name("S");
  c.add_option("--deadline", o.deadline, "seconds that an answer or a command may take (default 60)")->check(positive())->type_name("S");
  c.add_option("--seed", o.seed, "seed of the order within pairs (default: drawn)")
      ->check(whole(0, 9'000'000'000'000'000'000))
      ->type_name("N");
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

}  // namespace odrpo::app
