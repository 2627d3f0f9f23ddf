// Binds the flags of `theory`.
#include "app/options/flag_binding.hpp"

namespace odrpo::app {
namespace {

constexpr long long most_seed = 9'000'000'000'000'000'000;

void shared_options(CLI::App& c, TheoryOptions& o, const std::string& usual_sizes) {
  repeated(c, "--estimator", o.estimators, "word of `list estimators`; may be repeated (default: those of the paper)", "WORD");
  c.add_option("--compat", o.compat, "word of `list compat`: whose conventions (default: paper)")->type_name("WORD");
  c.add_option("--median", o.median, "what gini-median reads: lower (default), mid or upper")->type_name("RULE");
  c.add_option("--k", o.k, "forms that compare subsets of the group, as max-at-k: their size (default 2)")
      ->check(whole(2, 254))
      ->type_name("N");
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
    CLI::App* sub = theory.add_subcommand(name, help);
    sub->footer(std::string("Example:\n  ") + example);
    sub->callback([&chosen, call = std::move(call)] { chosen = call; });
    return sub;
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
  c->add_option("--seed", l.seed, "seed of these groups (default 1)")->check(whole(0, most_seed))->type_name("N");
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
  c->add_option("--levels", b.levels, "K, for raters that take any (default 10)")->check(whole(2, 100))->type_name("K");
  c->add_option("--batch", b.batch, "B: prompts of a batch (default 64)")->check(whole(1, 65'536))->type_name("B");
  c->add_option("--prompts", b.prompts, "prompts of a world (default 1024)")->check(whole(2, 65'536))->type_name("P");
  c->add_option("--worlds", b.worlds, "worlds, for standard errors (default 4)")->check(whole(1, 1000))->type_name("W");
  c->add_option("--batches", b.batches, "drawn batches for the expected cosine (default 1000; 0: none)")->check(whole(0, 1'000'000))->type_name("N");
  c->add_option("--ascent", b.ascent, "batches of the ascent to the best map for the cosine (default 4000; 0: none)")
      ->check(whole(0, 10'000'000))
      ->type_name("N");
  c->add_option("--seed", b.seed, "seed of the worlds (default 1)")->check(whole(0, most_seed))->type_name("N");
}

}  // namespace odrpo::app
