// Who trained: what a result file says of runs that were trained in several places.
#include "results/store/store.hpp"

#include "tests/catch.hpp"
#include "tests/results/sample.hpp"

using namespace odrpo;

TEST_CASE("lines of several texts, each once, in their order") {
  CHECK(join_lines({}) == "");
  CHECK(join_lines({"", "\n"}) == "");
  CHECK(join_lines({"a", "b", "a"}) == "a\nb");
  CHECK(join_lines({"a\nb", "b\nc\n", "a"}) == "a\nb\nc");
}

TEST_CASE("a file whose runs were trained in several places names all of them, each once") {
  const sample::Scratch scratch;
  const auto all = sample::runs();
  const auto trained = [&](const char* cpu, const char* device, std::size_t first, std::size_t count, bool end) {
    SuiteFacts facts = sample::facts(all);
    facts.provenance.emplace_back("cpu", cpu);
    facts.provenance.emplace_back("device", device);
    facts.provenance.emplace_back("argv", device);
    WorkFolder work(scratch.file(), facts, false);
    if (count > 0) work.commit(std::span(all).subspan(first, count));
    if (end) work.assemble();
  };
  trained("A", "cuda:0 (X)", 0, 0, false);  // has trained nothing
  trained("A", "cpu", 0, 2, false);
  trained("A", "cuda:0 (Y)", 2, 2, false);
  trained("A", "cuda:0 (Z)", 0, 0, false);  // nor has this one
  trained("A", "cuda:0 (Y)", 4, 1, false);
  trained("B", "cpu", 5, all.size() - 5, true);
  const ResultFile file = sample::read_all(scratch.file());
  CHECK(*file.provenance_text("cpu") == "A\nB");
  CHECK(*file.provenance_text("device") == "cpu\ncuda:0 (Y)");
  CHECK(*file.provenance_text("argv") == "cpu");  // the last call's
}

TEST_CASE("a file that keeps runs of an earlier output names who trained them, too") {
  const sample::Scratch scratch;
  const auto all = sample::runs();
  auto failing = all;
  failing[2].status = RunStatus::failed;
  failing[2].error = "not finite";
  for (const char* device : {"cpu", "cuda:0 (X)"}) {
    SuiteFacts facts = sample::facts(all);
    facts.provenance.emplace_back("device", device);
    WorkFolder work(scratch.file(), facts, false);
    const bool first = device == std::string("cpu");
    work.commit(first ? std::span<const RunRecord>(failing) : std::span<const RunRecord>(all).subspan(2, 1));
    work.assemble();
  }
  const ResultFile file = sample::read_all(scratch.file());
  CHECK(*file.provenance_text("device") == "cpu\ncuda:0 (X)");
}
