// Mistakes of JSON lines, and how a user names a column that the file lacks.
#include <algorithm>
#include <string>

#include "kernels/shared/failure.hpp"
#include "results/scores/score_file.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

namespace {

std::string refusal(const std::string& text, const std::string& file, const ScoreColumns& columns = {}) {
  try {
    parse_scores(text, file, columns);
  } catch (const Failure& failure) {
    CHECK(failure.code == Exit::bad_input);
    return failure.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a mistake of every JSON line is told once, with a count and with how its key is named") {
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += "{\"item\":0,\"n\":" + std::to_string(i) + ",\"score\":3}\n";
  const std::string found = R"("item", "n", "score")";
  CHECK(refusal(lines, "f.jsonl") == "f.jsonl:1:1: error: no key \"prompt_id\" (1000 times); found " + found +
                                                     "\nf.jsonl:1:1: error: no key \"response_id\" (1000 times); found " + found);
  ScoreColumns flags;
  flags.named_by = "--", flags.response = "answer";
  CHECK(refusal(lines, "f.jsonl", flags) ==
        "f.jsonl:1:1: error: no key \"prompt_id\" (1000 times); found " + found +
            "; --prompt says which one it is\nf.jsonl:1:1: error: no key \"answer\" (1000 times); found " + found);
  CHECK(refusal("item,answer,score\n0,0,3\n", "f.csv", flags) ==
        R"(f.csv:1:1: error: no column "prompt_id"; found "item", "answer", "score"; --prompt says which one it is)");
  // among others, behind which there is more
  lines = "{\"prompt_id\":0,\"response_id\":0,\"score\":3}\nx\n" + lines;
  for (int i = 0; i < 30; ++i) lines += "{\"prompt_id\":0,\"response_id\":0,\"score\":\"1e99" + std::to_string(i) + "\"}\n";
  const std::string many = refusal(lines, "f.jsonl");
  CHECK(many.starts_with("f.jsonl:2:1: error: this line is no JSON object\nf.jsonl:3:1: error: no key \"prompt_id\" (1000 times)\n"));
  CHECK(std::count(many.begin(), many.end(), '\n') == 20);
  CHECK(many.ends_with("… and more"));
}
