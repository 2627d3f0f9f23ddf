// [label]: read with its place, written back, kept out of every run, and shown with a note where the grid has no such name.
#include "config/write/canonical.hpp"
#include "tests/catch.hpp"
#include "tests/config/loading.hpp"

namespace odrpo {
namespace {

const std::string suite = R"toml([suite]
name = "labels"
[grid]
rater = ["mixed"]
estimator = ["grpo", "odrpo-gini(maxrl)"]
votes = [1, 8]
[learn]
lr = [0.1, 0.2]
)toml";

TEST_CASE("labels change no run, and the suite written out has them again") {
  const Suite bare = loaded(suite);
  const Suite with = loaded(suite + "[label]\n\"odrpo-gini(maxrl)\" = 'ODRPO \"Gini\"'\n\"votes=8\" = \"8 votes\"\n\"lr=0.2\" = \"fast\"\n");
  CHECK(with.table.labels == Labels{{"odrpo-gini(maxrl)", "ODRPO \"Gini\""}, {"votes=8", "8 votes"}, {"lr=0.2", "fast"}});
  CHECK(with.notes.empty());
  CHECK(ids(with) == ids(bare));
  for (std::size_t i = 0; i < bare.runs.size(); ++i) CHECK(spec_key(with.runs[i]) == spec_key(bare.runs[i]));
  CHECK(load_suite_text("again.toml", with.resolved, {}, {}).table.labels == with.table.labels);
  CHECK(parse_table_spec(table_spec_lines(with.table)).labels == with.table.labels);
  CHECK(table_spec_problem(table_spec_lines(with.table)).empty());
  CHECK(loaded(suite, {"label.grpo=GRPO"}).table.labels == Labels{{"grpo", "GRPO"}});
}

TEST_CASE("a label of a name that the grid has not is a note, since --set may have changed the grid") {
  CHECK(loaded(suite + "[label]\ngrop = \"GRPO\"\n\"votes=9\" = \"nine\"\n").notes ==
        std::vector<std::string>{"[label] has \"grop\", which the grid has not; did you mean \"grpo\"?",
                                 "[label] has \"votes=9\", which the grid has not; did you mean \"votes=1\"?"});
}

TEST_CASE("labels that cannot be shown are refused at their place") {
  const auto message = [](const std::string& lines) { return refusal(suite + "[label]\n" + lines).message; };
  CHECK(message("grpo = 3\n") == R"(bad.toml:10:8: error: the label of "grpo" must be a text in quotes, not a whole number; a name with a dot stands in quotes too
   10 | grpo = 3
      |        ^)");
  CHECK(message("grpo = \"\"\n") == R"(bad.toml:10:8: error: the label of "grpo" cannot be printed
   10 | grpo = ""
      |        ^
      = allowed: 1 to 60 characters without tabs and line ends)");
  CHECK(message("grpo = \"a\\tb\"\n").find("10:8: error: the label of \"grpo\" cannot be printed") != std::string::npos);
  CHECK(message("grpo = \"" + std::string(61, 'x') + "\"\n").find("10:8: error") != std::string::npos);
  CHECK(message("grpo = \"x\"\nmaxrl = \"x\"\n").find("11:9: error: two names have the label \"x\"") != std::string::npos);
  CHECK(message("grpo = \"odrpo-gini(maxrl)\"\n").find("10:8: error: the label of \"grpo\" is the name of another: \"odrpo-gini(maxrl)\"") != std::string::npos);
  CHECK(message("lr=0.1 = \"x\"\n").find("10:") != std::string::npos);  // not TOML without quotes
}

}  // namespace
}  // namespace odrpo
