// Every byte that a command shows has a checksum: changes made with HDF5 itself, and flipped bits, are found by whoever shows them.
#include <functional>
#include <random>

#include "kernels/shared/failure.hpp"
#include "results/store/file/hdf5.hpp"
#include "tests/catch.hpp"
#include "tests/results/sample.hpp"
#include "tests/rounds.hpp"

using namespace odrpo;
using odrpo::store::Hid;
using sample::contains, sample::failure_of;

namespace {

std::vector<std::string> every_column(const ResultFile& head) {
  std::vector<std::string> names;
  for (const ColumnInfo& column : head.all) names.push_back(column.name);
  return names;
}

/// What reading the table, and verifying, say of a file after a change.
struct Answers {
  bool table = false, verify = false;  ///< found something
};
Answers answers(const std::string& path) {
  Answers a;
  a.table = failure_of([&] { read_results(path, every_column); }).first == Exit::bad_input;
  a.verify = failure_of([&] {
               const Verification found = verify_results(path);
               if (found.computed != found.head.digest) throw Failure(Exit::bad_input, "digest");
             }).first == Exit::bad_input;
  return a;
}

Answers after(const std::function<void(hid_t)>& change) {
  const sample::Scratch scratch;
  sample::write_file(scratch.file(), sample::with_rollouts(sample::with_evaluated(sample::runs(1))));
  store::quiet();
  {
    const Hid file(H5Fopen(scratch.file().c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose, "file");
    change(file);
  }
  return answers(scratch.file());
}

void overwrite(hid_t file, const char* name, hid_t type, const void* data) {
  const Hid dataset(H5Dopen2(file, name, H5P_DEFAULT), H5Dclose, name);
  REQUIRE(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
}

void overwrite_texts(hid_t file, const char* name, const std::vector<const char*>& texts) {
  overwrite(file, name, store::string_type(), texts.data());
}

/// Texts of provenance are found by name: their order shows nowhere.
std::vector<std::pair<std::string, std::string>> sorted(std::vector<std::pair<std::string, std::string>> texts) {
  std::sort(texts.begin(), texts.end());
  return texts;
}

}  // namespace

TEST_CASE("nothing was changed, nothing is found") {
  const Answers a = after([](hid_t) {});
  CHECK_FALSE(a.table);
  CHECK_FALSE(a.verify);
}

TEST_CASE("a table shows no id of a failed run that does not have its checksum") {
  const sample::Scratch scratch;
  auto all = sample::runs(1);
  all[3].status = RunStatus::failed;
  sample::write_file(scratch.file(), all);
  CHECK(read_results(scratch.file()).failed_ids == std::vector<std::string>{all[3].id});
  std::string bytes = sample::bytes_of(scratch.file());
  const auto at = bytes.find(all[3].id);
  REQUIRE(at != std::string::npos);
  bytes[at + all[3].id.size() - 1] ^= 1;
  sample::write_bytes(scratch.file(), bytes);
  CHECK(failure_of([&] { read_results(scratch.file()); }).first == Exit::bad_input);
}

TEST_CASE("a file with checksums is not read as one without") {
  const auto downgraded = [](bool with_text) {
    return after([=](hid_t f) {
      H5Adelete(f, "schema_version");
      store::set_attribute(f, "schema_version", 1LL);
      if (with_text) overwrite_texts(f, "provenance/formulas", {"another text"});
    });
  };
  for (const bool with_text : {false, true}) {
    CHECK(downgraded(with_text).table);
    CHECK(downgraded(with_text).verify);
  }
}

TEST_CASE("texts that tables show") {
  for (const char* name : {"suite", "version", "table", "formulas", "raters"}) {
    INFO(name);
    const Answers a = after([&](hid_t f) { overwrite_texts(f, (std::string("provenance/") + name).c_str(), {"another text"}); });
    CHECK(a.table);
    CHECK(a.verify);
  }
  for (const char* name : {"id", "env", "rater", "policy", "estimator", "status", "error", "key", "learn_schedule"}) {
    INFO(name);
    const Answers a = after([&](hid_t f) { overwrite_texts(f, name, std::vector<const char*>(16, "another")); });
    CHECK(a.table);
    CHECK(a.verify);
  }
}

TEST_CASE("numbers of the root table") {
  const std::vector<double> ones(16, 1.0);
  for (const char* name : {"votes", "seed", "final_gain", "step_time_median", "undefined", "learn_lr", "learn_steps"}) {
    INFO(name);
    const Answers a = after([&](hid_t f) { overwrite(f, name, H5T_NATIVE_DOUBLE, ones.data()); });
    CHECK(a.table);
    CHECK(a.verify);
  }
}

TEST_CASE("attributes: names of axes, the suite's name, counts, digest, fingerprint, the checksums themselves") {
  for (const char* name : {"suite", "result_digest", "fingerprint", "status", "Conventions", "contents_sha256"}) {
    INFO(name);
    const Answers a = after([&](hid_t f) { H5Adelete(f, name), store::set_attribute(f, name, std::string("another")); });
    CHECK(a.table);
    CHECK(a.verify);
  }
  for (const char* name : {"axis", "sha256"})
    for (const bool remove : {false, true}) {
      INFO(name);
      const Answers a = after([&](hid_t f) {
        const Hid dataset(H5Dopen2(f, "learn_lr", H5P_DEFAULT), H5Dclose, name);
        H5Adelete(dataset, name);
        if (!remove) store::set_attribute(dataset, name, std::string("another"));
      });
      CHECK(a.table);
      CHECK(a.verify);
    }
  const Answers more = after([](hid_t f) {
    const hsize_t shape[] = {16};
    const Hid list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "list");
    const Hid dataset(H5Dcreate2(f, "more", H5T_IEEE_F64LE, store::space(shape), H5P_DEFAULT, list, H5P_DEFAULT), H5Dclose, "more");
    H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, std::vector<double>(16, 1.0).data());
  });
  CHECK(more.table);
  CHECK(more.verify);
}

TEST_CASE("curves, seconds and scales, which verify reads") {
  const std::vector<double> values(16 * 6, 0.5);
  const std::vector<float> seconds(16 * 6 * 6, 0.5f);
  CHECK(after([&](hid_t f) { overwrite(f, "curves/bandit/quality", H5T_NATIVE_DOUBLE, values.data()); }).verify);
  CHECK(after([&](hid_t f) { overwrite(f, "seconds/bandit/seconds", H5T_NATIVE_FLOAT, seconds.data()); }).verify);
  const std::vector<std::int32_t> steps = {0, 1, 2, 3, 4, 5};
  CHECK(after([&](hid_t f) { overwrite(f, "curves/bandit/step", H5T_NATIVE_INT32, steps.data()); }).verify);
  CHECK(after([&](hid_t f) { overwrite_texts(f, "seconds/bandit/stage", std::vector<const char*>(6, "stage")); }).verify);
  CHECK(after([&](hid_t f) { H5Ldelete(f, "curves/bandit/kl", H5P_DEFAULT); }).table);
  CHECK(after([&](hid_t f) { H5Ldelete(f, "seconds", H5P_DEFAULT); }).table);
}

TEST_CASE("evaluations, which verify reads") {
  const std::vector<double> values(8 * 5, 0.5);
  CHECK(after([&](hid_t f) { overwrite(f, "evaluated/bandit/quality", H5T_NATIVE_DOUBLE, values.data()); }).verify);
  const std::vector<std::int32_t> prompts = {0, 1, 2, 3, 3};
  CHECK(after([&](hid_t f) { overwrite(f, "evaluated/bandit/prompt", H5T_NATIVE_INT32, prompts.data()); }).verify);
  CHECK(after([&](hid_t f) { H5Ldelete(f, "evaluated/bandit/length", H5P_DEFAULT); }).table);
  CHECK(after([&](hid_t f) { H5Ldelete(f, "evaluated", H5P_DEFAULT); }).table);
}

TEST_CASE("rollouts, which verify reads") {
  const std::vector<double> values(8 * 8, 0.5);
  for (const char* name : rollout_columns)
    CHECK(after([&](hid_t f) { overwrite(f, ("rollouts/bandit/" + std::string(name)).c_str(), H5T_NATIVE_DOUBLE, values.data()); }).verify);
  const std::vector<std::int32_t> rollouts = {0, 1, 2, 3, 4, 5, 6, 6};
  CHECK(after([&](hid_t f) { overwrite(f, "rollouts/bandit/rollout", H5T_NATIVE_INT32, rollouts.data()); }).verify);
  CHECK(after([&](hid_t f) { H5Ldelete(f, "rollouts/bandit/quality", H5P_DEFAULT); }).table);
  CHECK(after([&](hid_t f) { H5Ldelete(f, "rollouts", H5P_DEFAULT); }).table);
}

TEST_CASE("a step or prompt of a rollout that is no whole number is refused, though its checksum is right") {
  for (const auto& [column, value, message] : {std::tuple(rollout_step, 1.5, "the step of a rollout is 1.5"), {rollout_prompt, -1.0, "the prompt of a rollout is -1"},
                                               {rollout_response, 1e17, "the response of a rollout is 1e+17"}, {rollout_reward, 1e31, "its reward is 1e+31"}}) {
    const sample::Scratch scratch;
    auto all = sample::with_rollouts(sample::runs(1));
    all[1].rollouts[column].values[2] = value;
    {
      WorkFolder work(scratch.file(), sample::facts(all), false);
      work.commit(all);
      const auto [code, text] = failure_of([&] { work.assemble(); });  // read back before it is put into place
      CHECK(code == Exit::io);
      CHECK(contains(text, message));
    }
    CHECK_FALSE(std::filesystem::exists(scratch.file()));
  }
}

TEST_CASE("flipped bits: whatever still reads is what was written", "[slow]") {
  const sample::Scratch scratch;
  const auto all = sample::runs(1);
  const std::string digest = sample::write_file(scratch.file("good.h5"), all);
  const std::string good = sample::bytes_of(scratch.file("good.h5"));
  const ResultFile before = read_results(scratch.file("good.h5"), every_column);
  int read = 0, refused = 0;
  for (unsigned seed = 1; seed <= rounds(60u, 300u); ++seed) {
    INFO("seed " << seed);
    std::mt19937 rng(seed);
    std::string bad = good;
    bad[rng() % bad.size()] ^= static_cast<char>(1u << rng() % 8);
    sample::write_bytes(scratch.file(), bad);
    try {
      const ResultFile file = read_results(scratch.file(), every_column);
      ++read;
      CHECK(sorted(file.provenance) == sorted(before.provenance));
      CHECK(file.suite == before.suite);
      REQUIRE(file.columns.size() == before.columns.size());
      for (std::size_t c = 0; c < file.columns.size(); ++c) {
        CHECK(file.columns[c].name == before.columns[c].name);
        CHECK(file.columns[c].axis == before.columns[c].axis);
        CHECK(file.columns[c].words == before.columns[c].words);
        CHECK(file.columns[c].code == before.columns[c].code);
        for (std::size_t i = 0; i < file.columns[c].number.size(); ++i)
          CHECK((file.columns[c].number[i] == before.columns[c].number[i] ||
                 (std::isnan(file.columns[c].number[i]) && std::isnan(before.columns[c].number[i]))));
      }
    } catch (const Failure& failure) {
      ++refused;
      CHECK(failure.code == Exit::bad_input);
    }
  }
  WARN("seeds 1..300: " << read << " tables read, equal to the good one; " << refused << " refused");
}
