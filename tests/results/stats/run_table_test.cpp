// The reader of runs: what it accepts, and every mistake at its place.
#include <string>

#include "kernels/shared/failure.hpp"
#include "results/stats/run_statistics.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

namespace {

const RunColumns columns{"seed", {"estimator", "votes"}, "gain", {}};
const std::string header = "seed,estimator,votes,gain\n";

struct Refusal {
  Exit code = Exit::ok;
  std::string message = "accepted";
};

Refusal refusal(const std::string& text, const RunColumns& asked = columns) {
  try {
    parse_runs(text, "f.csv", asked);
  } catch (const Failure& failure) {
    return {failure.code, failure.what()};
  }
  return {};
}

void rejected(const std::string& text, const std::string& words, const RunColumns& asked = columns) {
  const Refusal r = refusal(text, asked);
  INFO(r.message);
  CHECK(r.code == Exit::bad_input);
  CHECK(r.message.find(words) != std::string::npos);
}

}  // namespace

TEST_CASE("runs, by hand") {
  const RunTable t = parse_runs(header + "10,maxrl,8,1.5\n2,grpo,8,-2e-1\n10,grpo,8,+3\n2,maxrl,8,4\n", "f.csv", columns);
  CHECK(t.cells == std::vector<std::vector<std::string>>{{"maxrl", "8"}, {"grpo", "8"}});  // the file's order
  CHECK(t.units == std::vector<std::string>{"2", "10"});                                   // by size
  CHECK(t.tasks == std::vector<std::string>{""});
  REQUIRE(t.runs.size() == 4);
  CHECK(t.runs[0].value == 4);
  CHECK(t.runs[1].value == 1.5);
  CHECK(t.runs[2].value == -0.2);
  CHECK(t.runs[3].value == 3);
}

TEST_CASE("runs: columns in any order, others ignored, quotes, tasks, missing values") {
  RunColumns asked = columns;
  asked.task = {"rater", "env"};
  const RunTable t = parse_runs(
      "\xef\xbb\xbfgain,extra,seed,votes,\"estimator\",rater,env\r\n"
      "# a comment\r\n1,\"x,y\",a,1,\"a \"\"b\"\", "
      "c\",mixed,e\r\n,z,b,1,d,mixed,e\r\nnan,z,c,1,d,veto,e\r\nNA,,d,1,d,veto,e\r\n2,,b,1,d,veto,e\r\n",
      "f.csv", asked);
  CHECK(t.cells == std::vector<std::vector<std::string>>{{"a \"b\", c", "1"}, {"d", "1"}});
  CHECK(t.tasks == std::vector<std::string>{"mixed, e", "veto, e"});
  CHECK(t.blank == 1);
  CHECK(t.not_a_number == 2);
  REQUIRE(t.runs.size() == 2);
  CHECK(t.runs[1].task == 1);
  // a run that failed and was repeated is no duplicate
  CHECK(parse_runs(header + "1,a,1,\n1,a,1,5\n", "f.csv", columns).runs.size() == 1);
}

TEST_CASE("columns that are not there are the command line's mistake, all at once") {
  RunColumns asked = columns;
  asked.unit = "sed";
  asked.cell = {"estimater", "votes"};
  asked.task = {"nothing-like-it"};
  const Refusal r = refusal(header + "1,a,1,2\n", asked);
  CHECK(r.code == Exit::usage);
  CHECK(r.message ==
        "--unit: f.csv has no column \"sed\"; did you mean \"seed\"?\n"
        "--cell: f.csv has no column \"estimater\"; did you mean \"estimator\"?\n"
        "--task: f.csv has no column \"nothing-like-it\"\n"
        "Its columns: seed, estimator, votes or gain");
}

TEST_CASE("mistakes in runs are told at their places, all at once") {
  rejected("", "f.csv:1:1: error: nothing in it");
  rejected("# only a comment\n\n", "nothing in it");
  rejected(header, "f.csv:1:1: error: no runs below the header");
  rejected(header + "1,a,1,\n", "no run below the header has a value");
  rejected("1,2,3,4\n5,6,7,8\n", "f.csv:1:1: error: data where the header was expected");
  RunColumns commas = columns;
  commas.reading.separator = ',';
  rejected("seed;estimator;votes;gain\n1;a;1;2\n", "columns separated by semicolons", commas);
  rejected(std::string("\xff\xfe\0\xd8", 4), "UTF-16 with a surrogate that is no pair");
  rejected("seed,estimator,votes,gain,gain\n1,a,1,2,3\n", "f.csv:1:27: error: column \"gain\" stands twice");
  rejected(header + "1,a,1,2,3\n", "f.csv:2:9: error: 5 fields, but the header has 4");
  rejected(header + "1,a,1\n", "f.csv:2:5: error: 3 fields");
  rejected(header + "1,a,1,good\n", "f.csv:2:7: error: gain \"good\": a number is wanted");
  rejected(header + "1,a,1,1;5\n", "a number is wanted");
  rejected(header + "1,a,1,inf\n2,a,1,-inf\n", "f.csv:3:7: error: gain \"-inf\" is no finite number");
  rejected(header + "1,a,1,1e999\n", "is out of the range of numbers");
  rejected(header + ",a,1,2\n", "f.csv:2:1: error: column \"seed\" is empty");
  rejected(header + "1,,1,2\n", "f.csv:2:3: error: column \"estimator\" is empty");
  rejected(header + "1,a,\"1,2\n", "a quote that is not closed");
  rejected(header + "1,\x1b[31m,1,x\x1b\n", "gain \"x\\x1b\"");
  rejected(header + "1,a,1,2\n3,a,1,2\n1,a,1,4\n",
           "f.csv:4:1: error: unit \"1\" of cell \"a, 1\" is given twice; first on line 2 (does --cell or --task lack a column?)");
  RunColumns asked = columns;
  asked.cell = {"estimator"};
  asked.task = {"votes"};
  rejected(header + "1,a,1,2\n1,a,8,2\n1,a,8,3\n", "in task \"8\" is given twice; first on line 3", asked);
  const std::string several = refusal(header + "x\n1,a,1,y\n2,a,1,z\n").message;
  CHECK(several.find("f.csv:2:1") != std::string::npos);
  CHECK(several.find("f.csv:3:7") != std::string::npos);
  CHECK(several.find("f.csv:4:7") != std::string::npos);
  std::string many = header;
  for (int i = 0; i < 30; ++i) many += "1,a,1,x\n";
  CHECK(refusal(many).message.ends_with("… and more"));
}

TEST_CASE("the order of rows changes nothing but the order of cells") {
  const std::string rows[] = {"1,a,1,2\n", "2,a,1,3\n", "10,a,1,5\n", "x,a,1,7\n"};
  const RunTable one = parse_runs(header + rows[0] + rows[1] + rows[2] + rows[3], "f", columns);
  const RunTable two = parse_runs(header + rows[3] + rows[2] + rows[0] + rows[1], "f", columns);
  CHECK(one.units == two.units);
  for (std::size_t i = 0; i < 4; ++i) CHECK(one.runs[i].value == two.runs[i].value);
}
