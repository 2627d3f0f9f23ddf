// What a work folder keeps besides shards: checkpoints and starts come back whole or not at all, and go when they are done with.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "kernels/shared/failure.hpp"
#include "results/store/digest.hpp"
#include "tests/catch.hpp"
#include "tests/results/sample.hpp"
#include "tests/results/store/work/recorded_system.hpp"

using namespace odrpo;
namespace fs = std::filesystem;

namespace {

std::string name_of(const char* prefix, const std::string& of) { return prefix + sha256_hex(of).substr(0, 16); }

int count_files(const std::string& folder, const std::string& prefix) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) count += entry.path().filename().string().starts_with(prefix);
  return count;
}

bool refused(const std::string& output, const SuiteFacts& facts, bool force) {
  try {
    WorkFolder work(output, facts, force);
    return false;
  } catch (const Failure& failure) {
    CHECK(failure.code == Exit::io);
    return true;
  }
}

}  // namespace

TEST_CASE("checkpoints and starts come back, in this call and the next") {
  const sample::Scratch scratch;
  const auto all = sample::runs(1);
  const SuiteFacts facts = sample::facts(all);
  const std::string zeros(1000, '\0'), folder = scratch.file() + ".work";
  {
    const WorkFolder work(scratch.file(), facts, false);
    CHECK(work.load_checkpoint(CheckpointKind::run, all[0].id).bytes.empty());
    CHECK_FALSE(work.load_checkpoint(CheckpointKind::run, all[0].id).damaged);
    work.save_checkpoint(CheckpointKind::run, all[0].id, "half way");
    work.save_checkpoint(CheckpointKind::run, all[0].id, zeros);
    work.save_checkpoint(CheckpointKind::run, all[1].id, "");
    work.save_checkpoint(CheckpointKind::start, all[0].id, "another kind under the same name");
    CHECK(work.load_checkpoint(CheckpointKind::run, all[0].id).bytes == zeros);
  }
  CHECK(fs::exists(folder + "/" + name_of("checkpoint-", all[0].id)));  // though nothing was committed
  const WorkFolder work(scratch.file(), facts, false);
  CHECK(work.notes().empty());
  CHECK(work.load_checkpoint(CheckpointKind::run, all[0].id).bytes == zeros);
  CHECK(work.load_checkpoint(CheckpointKind::run, all[1].id).bytes.empty());
  CHECK_FALSE(work.load_checkpoint(CheckpointKind::run, all[1].id).damaged);
  CHECK(work.load_checkpoint(CheckpointKind::start, all[0].id).bytes == "another kind under the same name");
}

TEST_CASE("a checkpoint goes when its run is committed, everything at the end") {
  const sample::Scratch scratch;
  auto all = sample::runs(1);
  const std::string folder = scratch.file() + ".work";
  WorkFolder work(scratch.file(), sample::facts(all), false);
  for (const RunRecord& r : all) work.save_checkpoint(CheckpointKind::run, r.id, r.id);
  work.save_checkpoint(CheckpointKind::start, "weights", "w");
  all[1].status = all[2].status = RunStatus::failed;
  all[1].error = "diverged: here and always";
  all[2].error = "out of memory";
  work.commit(std::span(all).first(3));
  CHECK(count_files(folder, "checkpoint-") == static_cast<int>(all.size()) - 2);
  CHECK(work.load_checkpoint(CheckpointKind::run, all[0].id).bytes.empty());
  CHECK(work.load_checkpoint(CheckpointKind::run, all[1].id).bytes.empty());
  CHECK(work.load_checkpoint(CheckpointKind::run, all[2].id).bytes == all[2].id);  // it may have more memory the next time
  CHECK(work.load_checkpoint(CheckpointKind::run, all[3].id).bytes == all[3].id);
  CHECK(work.checkpoints() == all.size() - 2);
  CHECK(work.load_checkpoint(CheckpointKind::start, "weights").bytes == "w");
  work.commit(std::span(all).subspan(3, 1));
  work.commit(std::span(all).subspan(4));
  work.save_checkpoint(CheckpointKind::run, all[0].id, "stale");
  CHECK(work.checkpoints() == 1);
  CHECK(work.assemble() == result_digest(all));
  CHECK(count_files(folder, "shard-") == 0);
  {
    WorkFolder again(scratch.file(), sample::facts(all), false);
    CHECK(again.finished().size() == all.size() - 2);
    CHECK(again.checkpoints() == 1);
    CHECK(again.load_checkpoint(CheckpointKind::run, all[0].id).bytes.empty());
    CHECK(again.load_checkpoint(CheckpointKind::run, all[2].id).bytes == all[2].id);
    all[1].status = all[2].status = RunStatus::ok;
    all[1].error = all[2].error = "";
    again.commit(std::span(all).subspan(1, 2));
    CHECK(again.checkpoints() == 0);
    CHECK(again.assemble() == result_digest(all));
  }
  CHECK_FALSE(fs::exists(folder));
}

TEST_CASE("after a power cut a checkpoint is whole, and no older than the last that was saved") {
  const sample::Scratch scratch;
  const auto all = sample::runs(1);
  const SuiteFacts facts = sample::facts(all);
  const auto version = [](std::size_t n) { return std::string(100 * n, static_cast<char>('0' + n)); };
  sample::Recording recording(scratch.path.string());
  {
    const WorkFolder work(scratch.file(), facts, false, recording.system());
    for (std::size_t n = 1; n <= 3; ++n) {
      work.save_checkpoint(CheckpointKind::run, all[0].id, version(n));
      recording.committed(n);
    }
  }
  constexpr unsigned seed = 20261126;
  std::mt19937 rng(seed);
  for (std::size_t count = 0; count <= recording.size(); ++count)
    for (const sample::Survives survives : sample::all_survives) {
      const sample::Scratch left;
      const std::size_t saved = recording.lay_out(left.path.string(), count, survives, rng);
      INFO("seed " << seed << ", after call " << count << ", mode " << static_cast<int>(survives) << ", version " << saved << " was saved");
      const CheckpointBytes found = WorkFolder(left.file(), facts, false).load_checkpoint(CheckpointKind::run, all[0].id);
      CHECK_FALSE(found.damaged);
      CHECK((found.bytes == version(saved) || found.bytes == version(saved + 1)));
    }
}

TEST_CASE("a kept file that is not what was written is not there") {
  const sample::Scratch scratch;
  const auto all = sample::runs(1);
  const WorkFolder work(scratch.file(), sample::facts(all), false);
  const std::string path = scratch.file() + ".work/" + name_of("checkpoint-", "r");
  work.save_checkpoint(CheckpointKind::run, "r", "the bytes of a checkpoint");
  const std::string good = sample::bytes_of(path);
  const auto gone = [&](const std::string& bytes) {
    sample::write_bytes(path, bytes);
    const CheckpointBytes back = work.load_checkpoint(CheckpointKind::run, "r");
    return back.damaged && back.bytes.empty();
  };
  for (std::size_t size = 0; size < good.size(); ++size) CHECK(gone(good.substr(0, size)));
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string flipped = good;
    flipped[at] ^= 1;
    CHECK(gone(flipped));
  }
  CHECK(gone(good + "x"));
  CHECK(gone("odrpo-bench kept file 2" + good.substr(23)));  // of another version of the format
  fs::remove(path);
  fs::create_symlink("/dev/zero", path);
  CHECK(work.load_checkpoint(CheckpointKind::run, "r").damaged);
  fs::remove(path);
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  CHECK(work.load_checkpoint(CheckpointKind::run, "r").damaged);
  fs::remove(path);
  sample::write_bytes(path, "");
  fs::resize_file(path, WorkFolder::checkpoint_limit + 1000);  // sparse; not read
  CHECK(work.load_checkpoint(CheckpointKind::run, "r").damaged);
  work.save_checkpoint(CheckpointKind::run, "r", "again");
  CHECK(work.load_checkpoint(CheckpointKind::run, "r").bytes == "again");
}

TEST_CASE("kept files make a folder somebody's work, and names that are nearly theirs are foreign") {
  const sample::Scratch scratch;
  const auto all = sample::runs(1);
  SuiteFacts mine = sample::facts(all), other = mine;
  other.fingerprint = std::string(64, 'b');
  const std::string folder = scratch.file() + ".work/";
  { WorkFolder(scratch.file(), mine, false).save_checkpoint(CheckpointKind::start, "s", "mine"); }
  CHECK(refused(scratch.file(), other, false));
  fs::remove(folder + "suite");
  CHECK(refused(scratch.file(), mine, false));  // nobody knows whose it is
  { CHECK(WorkFolder(scratch.file(), other, true).load_checkpoint(CheckpointKind::start, "s").bytes.empty()); }
  CHECK_FALSE(fs::exists(folder));

  { WorkFolder(scratch.file(), mine, false).save_checkpoint(CheckpointKind::start, "s", "mine"); }
  for (const char* name : {"checkpoint-", "checkpoint-0123456789abcde", "checkpoint-0123456789abcdeg", "checkpoint-0123456789abcdef0",
                           "start-0123456789ABCDEF", "start-0123456789abcdef.h5", "mystart-0123456789abcdef", "start.tmp", "lock.tmp"}) {
    INFO(name);
    sample::write_bytes(folder + name, "precious");
    CHECK(refused(scratch.file(), mine, true));
    CHECK(sample::bytes_of(folder + name) == "precious");
    fs::remove(folder + name);
  }
  sample::write_bytes(folder + name_of("start-", "t") + ".tmp", "half");
  const WorkFolder work(scratch.file(), mine, false);
  CHECK(work.load_checkpoint(CheckpointKind::start, "s").bytes == "mine");
  CHECK(count_files(folder, name_of("start-", "t")) == 0);
}

TEST_CASE("many threads keep files at once, and a kill leaves each old or new") {
  const sample::Scratch scratch;
  const auto all = sample::runs(1);
  const SuiteFacts facts = sample::facts(all);
  constexpr int threads = 4, size = 50'000;
  const auto write_forever = [&](const WorkFolder& work, int times) {
    std::vector<std::thread> team;
    for (int w = 0; w < threads; ++w)
      team.emplace_back([&work, w, times] {
        for (int i = 0; i < times; ++i)
          work.save_checkpoint(CheckpointKind::run, std::to_string(w), std::to_string(w) + std::string(size, static_cast<char>('a' + i % 26)));
      });
    for (auto& t : team) t.join();
  };
  { write_forever(WorkFolder(scratch.file(), facts, false), 3); }
  for (int round = 0; round < 10; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      write_forever(WorkFolder(scratch.file(), facts, false), 1 << 30);
      ::_exit(0);
    }
    ::usleep(static_cast<unsigned>(10'000 + 7'000 * round));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const WorkFolder work(scratch.file(), facts, false);
    for (int w = 0; w < threads; ++w) {
      const CheckpointBytes back = work.load_checkpoint(CheckpointKind::run, std::to_string(w));
      CHECK_FALSE(back.damaged);
      REQUIRE(back.bytes.size() == size + 1);
      CHECK(back.bytes[0] == '0' + w);
      CHECK(back.bytes.find_first_not_of(back.bytes[1], 1) == std::string::npos);
    }
  }
}
