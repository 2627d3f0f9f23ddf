// The result file: what is written is read back, digests are independent of order, equal runs give equal bytes.
#include "results/store/store.hpp"

#include <algorithm>
#include <random>

#include "kernels/shared/failure.hpp"
#include "results/store/digest.hpp"
#include "results/store/file/pack.hpp"
#include "results/store/file/read.hpp"
#include "tests/catch.hpp"
#include "tests/results/sample.hpp"
#include "tests/source_path.hpp"

using namespace odrpo;

TEST_CASE("base64 by the vectors of RFC 4648") {
  CHECK(base64("").empty());
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foobar") == "Zm9vYmFy");
  CHECK(base64("\xff\xfe\xfd") == "//79");
}

TEST_CASE("SHA-256 known answers") {
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Sha256 pieces;
  pieces.add("a");
  pieces.add("");
  pieces.add("bc");
  CHECK(pieces.hex() == sha256_hex("abc"));
}

TEST_CASE("the digest covers what it says") {
  const auto all = sample::runs();
  const std::string digest = result_digest(all);
  CHECK(digest.size() == 64);
  auto shuffled = all;
  std::mt19937 rng(7);
  std::shuffle(shuffled.begin(), shuffled.end(), rng);
  CHECK(result_digest(shuffled) == digest);

  auto changed = all;
  changed[3].seconds.assign(changed[3].seconds.size(), 1.0f);
  changed[3].step_time_median = 9;
  changed[3].finals.push_back({modelled_seconds, 9});
  changed[3].error = "x";
  std::reverse(changed[3].finals.begin(), changed[3].finals.end());
  std::reverse(changed[3].curves.begin(), changed[3].curves.end());
  CHECK(result_digest(changed) == digest);

  const auto differs = [&](auto change) {
    auto other = all;
    change(other[3]);
    return result_digest(other) != digest;
  };
  CHECK(differs([](RunRecord& r) { r.curves[0].values[2] = std::nextafter(r.curves[0].values[2], 9.0); }));
  CHECK(differs([](RunRecord& r) { r.finals[0].value += 1e-9; }));
  CHECK(differs([](RunRecord& r) { r.finals[0].name += "x"; }));
  CHECK(differs([](RunRecord& r) { r.step[1] += 1; }));
  CHECK(differs([](RunRecord& r) { r.evaluated = {{"quality", {1}}}; }));
  CHECK(differs([](RunRecord& r) { r.votes += 1; }));
  CHECK(differs([](RunRecord& r) { r.key[0] = 'f'; }));
  CHECK(differs([](RunRecord& r) { r.axes[0].second = 0.25; }));
  CHECK(differs([](RunRecord& r) { r.status = RunStatus::failed; }));
}

TEST_CASE("a result file round-trips") {
  const sample::Scratch scratch;
  auto all = sample::runs();
  const std::string digest = sample::write_file(scratch.file(), all);
  CHECK(digest == result_digest(all));
  CHECK_FALSE(std::filesystem::exists(scratch.file() + ".work"));

  const auto file = sample::read_all(scratch.file());
  CHECK(file.suite == "sample");
  CHECK(file.version == "0.0");
  CHECK(file.status == "complete");
  CHECK(file.digest == digest);
  CHECK(result_digest(file.records) == digest);
  REQUIRE(file.records.size() == all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const RunRecord &a = all[i], &b = file.records[i];
    CHECK(a.id == b.id);
    CHECK(a.key == b.key);
    CHECK(a.axes == b.axes);
    CHECK(a.step == b.step);
    CHECK(a.seconds == b.seconds);
    CHECK(a.step_time_median == b.step_time_median);
    REQUIRE(a.curves.size() == b.curves.size());
    for (std::size_t c = 0; c < a.curves.size(); ++c) {
      CHECK(a.curves[c].name == b.curves[c].name);
      for (std::size_t s = 0; s < a.step.size(); ++s)
        CHECK((a.curves[c].values[s] == b.curves[c].values[s] || (std::isnan(a.curves[c].values[s]) && std::isnan(b.curves[c].values[s]))));
    }
    REQUIRE(a.finals.size() == b.finals.size());
    for (std::size_t f = 0; f < a.finals.size(); ++f) CHECK(a.finals[f].name == b.finals[f].name);
  }
  REQUIRE(file.column("learn_lr"));
  CHECK(file.column("learn_lr")->number[2] == 0.1);
  CHECK(file.column("learn_schedule")->text(2) == "cosine");
  CHECK(file.column("nothing") == nullptr);
  REQUIRE(file.provenance_text("suite"));
  CHECK(*file.provenance_text("suite") == "[suite]\nname = \"sample\"  # ± UTF-8\n");
}

TEST_CASE("evaluations per prompt round-trip, in runs with fewer prompts, none or that failed") {
  const sample::Scratch scratch;
  auto all = sample::with_evaluated(sample::runs());
  all[2].status = RunStatus::failed;
  all[3].evaluated.clear();
  all[4].evaluated.pop_back();
  all[5].evaluated[0].values[1] = sample::nan;
  const std::string digest = sample::write_file(scratch.file(), all);
  CHECK(digest == result_digest(all));
  CHECK(verify_results(scratch.file()).computed == digest);
  const auto file = sample::read_all(scratch.file());
  REQUIRE(file.records.size() == all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    INFO(all[i].id);
    const auto& read = file.records[i].evaluated;
    if (all[i].status == RunStatus::failed) {
      CHECK(read.empty());
      continue;
    }
    CHECK(file.records[i].step == all[i].step);
    REQUIRE(read.size() == all[i].evaluated.size());
    for (std::size_t v = 0; v < read.size(); ++v) {
      CHECK(read[v].name == all[i].evaluated[v].name);
      REQUIRE(read[v].values.size() == all[i].evaluated[v].values.size());
      for (std::size_t p = 0; p < read[v].values.size(); ++p) {
        const double a = read[v].values[p], b = all[i].evaluated[v].values[p];
        CHECK((a == b || (std::isnan(a) && std::isnan(b))));
      }
    }
  }
  const std::vector<std::uint32_t> rows{0, 2, 3, 5};
  const auto evaluated = read_evaluated(scratch.file(), {"length", "quality"}, rows, digest);
  REQUIRE(evaluated.size() == 2);
  REQUIRE(evaluated[0].size() == 2);
  REQUIRE(evaluated[1].size() == 2);
  CHECK(evaluated[0][0].run == 0);
  CHECK(evaluated[0][0].step == std::vector<std::int32_t>{0, 1, 2, 3, 4});
  CHECK(evaluated[0][0].value == all[0].evaluated[1].values);
  CHECK(evaluated[1][0].value == all[0].evaluated[0].values);
  CHECK(evaluated[1][1].run == 5);
  CHECK(evaluated[1][1].step == std::vector<std::int32_t>{0, 2, 3, 4});  // where it is defined
  CHECK(sample::failure_of([&] { read_evaluated(scratch.file(), {"price"}, rows, digest); }).first == Exit::usage);
  CHECK(sample::failure_of([&] { read_evaluated(scratch.file(), {"length"}, rows, std::string(64, '0')); }).first == Exit::bad_input);
}

TEST_CASE("kept rollouts round-trip outside the digest, in runs with fewer, none or that failed, in shards and when a later call takes them up") {
  const sample::Scratch scratch;
  auto all = sample::with_rollouts(sample::runs());
  all[2].status = RunStatus::failed;
  all[3].rollouts.clear();
  const SuiteFacts facts = sample::facts(all);
  {
    WorkFolder work(scratch.file(), facts, false);
    for (std::size_t i = 0; i < 10; ++i) work.commit(std::span(all).subspan(i, 1));
  }
  std::string digest;
  {
    WorkFolder work(scratch.file(), facts, false);
    CHECK(work.finished().size() == 9);
    work.commit(std::span(all).subspan(10));
    digest = work.assemble();
  }
  auto without = all;
  for (RunRecord& run : without) run.rollouts.clear();
  CHECK(digest == result_digest(without));
  CHECK(verify_results(scratch.file()).computed == digest);
  const auto file = sample::read_all(scratch.file());
  REQUIRE(file.records.size() == all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    INFO(all[i].id);
    const auto& read = file.records[i].rollouts;
    if (all[i].status == RunStatus::failed) {
      CHECK(read.empty());
      continue;
    }
    REQUIRE(read.size() == all[i].rollouts.size());
    for (std::size_t v = 0; v < read.size(); ++v) {
      CHECK(read[v].name == all[i].rollouts[v].name);
      REQUIRE(read[v].values.size() == all[i].rollouts[v].values.size());
      for (std::size_t p = 0; p < read[v].values.size(); ++p) {
        const double a = read[v].values[p], b = all[i].rollouts[v].values[p];
        CHECK((a == b || (std::isnan(a) && std::isnan(b))));
      }
    }
  }
}

TEST_CASE("a file has the lowest schema that holds what it has, and says that it has no evaluations") {
  const sample::Scratch scratch;
  const auto schema_of = [&] {
    const store::Hid file(H5Fopen(scratch.file().c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "file");
    return store::integer_attribute(file, "schema_version");
  };
  const std::string digest = sample::write_file(scratch.file(), sample::runs());
  CHECK(schema_of() == 4);
  const std::vector<std::uint32_t> rows{0};
  const auto [code, message] = sample::failure_of([&] { read_evaluated(scratch.file(), {"quality"}, rows, digest); });
  CHECK(code == Exit::usage);
  CHECK(sample::contains(message, "no evaluations per prompt"));
  std::filesystem::remove(scratch.file());
  sample::write_file(scratch.file(), sample::with_rollouts(sample::runs()));
  CHECK(schema_of() == 5);
  std::filesystem::remove(scratch.file());
  auto failed = sample::runs(1);
  for (RunRecord& run : failed) run.status = RunStatus::failed;
  sample::write_file(scratch.file(), failed);
  CHECK(schema_of() == 2);  // no curves, and so no times
}

TEST_CASE("a stored file of schema 3, whose times lie among the curves, reads as one of today") {
  const std::string old = source_path("tests/results/schema-3.h5");
  const sample::Scratch scratch;
  auto all = sample::runs();
  all[4].status = RunStatus::failed;
  all[4].error = "made to fail";
  all = sample::with_evaluated(std::move(all));
  const std::string digest = sample::write_file(scratch.file("today.h5"), all);
  CHECK(verify_results(old).computed == digest);
  const auto bytes = [](const std::string& path) {
    auto file = sample::read_all(path);
    std::vector<std::string> runs;
    for (RunRecord& run : file.records) runs.push_back(store::packed(run));
    return runs;
  };
  CHECK(bytes(old) == bytes(scratch.file("today.h5")));

  // its failed run is trained again: all others are taken over, times too
  std::filesystem::copy_file(old, scratch.file());
  all[4] = sample::with_evaluated(sample::runs())[4];
  {
    WorkFolder work(scratch.file(), sample::facts(all), false);
    CHECK(work.finished().size() == all.size() - 1);
    work.commit(std::span(all).subspan(4, 1));
    CHECK(work.assemble() == result_digest(all));
  }
  sample::write_file(scratch.file("whole.h5"), all);
  CHECK(sample::bytes_of(scratch.file()) == sample::bytes_of(scratch.file("whole.h5")));
}

TEST_CASE("evaluations of shards of different shapes are merged, and taken up by a later call") {
  const sample::Scratch scratch;
  const auto all = sample::with_evaluated(sample::runs());
  const SuiteFacts facts = sample::facts(all);
  {
    WorkFolder work(scratch.file(), facts, false);
    for (std::size_t i = 0; i < 10; ++i) work.commit(std::span(all).subspan(i, 1));
  }
  WorkFolder work(scratch.file(), facts, false);
  CHECK(work.finished().size() == 10);
  work.commit(std::span(all).subspan(10));
  CHECK(work.assemble() == result_digest(all));
  sample::write_file(scratch.file("whole.h5"), all, all.size());
  CHECK(sample::bytes_of(scratch.file()) == sample::bytes_of(scratch.file("whole.h5")));
}

TEST_CASE("equal runs give equal bytes") {
  const sample::Scratch scratch;
  const auto all = sample::runs();
  sample::write_file(scratch.file("a.h5"), all, 1);
  ::setenv("MALLOC_PERTURB_", "77", 1);
  sample::write_file(scratch.file("b.h5"), all, 100);
  CHECK(sample::bytes_of(scratch.file("a.h5")) == sample::bytes_of(scratch.file("b.h5")));
}

TEST_CASE("runs without some axis, final or curve share a file with runs that have it") {
  const sample::Scratch scratch;
  std::vector<RunRecord> all = {sample::run("bandit", "maxrl", 1, 0.1, 0, 20), sample::run("bandit", "grpo", 1, 0.1, 0, 20)};
  all[1].axes.erase(all[1].axes.begin() + 1, all[1].axes.end());
  all[1].finals.pop_back();
  all[1].curves.pop_back();
  all[0].axes.push_back({"learn_lr", 3.0});  // same column name as learn.lr, once sanitised
  SuiteFacts facts = sample::facts(all);
  facts.axis_names.push_back("learn_lr");
  {
    WorkFolder work(scratch.file(), facts, false);
    work.commit(all);
    CHECK(work.assemble() == result_digest(all));
  }
  const auto file = sample::read_all(scratch.file());
  CHECK(result_digest(file.records) == result_digest(all));
  CHECK(file.records[1].axes.size() == 1);
  CHECK(file.column("learn_lr_")->number[0] == 3.0);
  CHECK(file.records[1].curves.size() == 2);
}

TEST_CASE("records that contradict themselves are a bug, not a file") {
  const sample::Scratch scratch;
  const auto refused = [&](auto change) {
    std::vector<RunRecord> all = {sample::run("bandit", "maxrl", 1, 0.1, 0, 20)};
    const SuiteFacts facts = sample::facts(all);
    change(all[0]);
    WorkFolder work(scratch.file(), facts, false);
    try {
      work.commit(all);
    } catch (const Failure& failure) {
      return failure.code == Exit::internal;
    }
    return false;
  };
  CHECK(refused([](RunRecord& r) { r.step[1] = r.step[0]; }));
  CHECK(refused([](RunRecord& r) { r.curves[0].values.pop_back(); }));
  CHECK(refused([](RunRecord& r) { r.seconds.pop_back(); }));
  CHECK(refused([](RunRecord& r) { r.finals[0].name = "votes"; }));
  CHECK(refused([](RunRecord& r) { r.finals[0].name = "learn_lr"; }));
  CHECK(refused([](RunRecord& r) { r.curves[0].name = "step"; }));
  CHECK(refused([](RunRecord& r) { r.evaluated = {{"quality", {1, 2}}, {"length", {1}}}; }));
  CHECK(refused([](RunRecord& r) { r.evaluated = {{"prompt", {1}}}; }));
  CHECK(refused([](RunRecord& r) { r.id = "other"; }));
  CHECK_FALSE(refused([](RunRecord&) {}));
}

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
