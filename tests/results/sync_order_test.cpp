// Checks the order of the calls that change names or sync while a suite is saved: the protocol of docs/results.md, call by call.
#include <regex>
#include <string>

#include "tests/catch.hpp"
#include "tests/results/recorded_system.hpp"
#include "tests/results/sample.hpp"

using namespace odrpo;

TEST_CASE("what must be on the disk first is synced first") {
  const sample::Scratch scratch;
  const auto all = sample::runs(1);
  const SuiteFacts facts = sample::facts(all);
  sample::Recording recording(scratch.path.string());
  {
    WorkFolder work(scratch.file(), facts, false, recording.system());
    work.commit(all);
    work.save_checkpoint(CheckpointKind::start, "s", "bytes");
    work.assemble();
  }
  std::string calls;  // without checksums and numbers of processes
  for (const std::string& line : recording.lines())
    calls += std::regex_replace(line, std::regex("(lock|shard|start)-[-0-9a-f]+"), "$1-N") + "\n";
  CHECK(calls ==
        "mkdir out.h5.work\ncreate lock-N.tmp\nwrite lock-N.tmp\nsync lock-N.tmp\ncreate lock\nwrite lock\nsync lock\nunlink lock-N.tmp\n"
        "create suite.tmp\nwrite suite.tmp\nsync suite.tmp\nrename suite.tmp suite\nsync out.h5.work\n"
        "create provenance.tmp\nwrite provenance.tmp\nsync provenance.tmp\nrename provenance.tmp provenance\nsync out.h5.work\nsync .\n"
        "create shard-N.h5.tmp\nwrite shard-N.h5.tmp\nsync shard-N.h5.tmp\nrename shard-N.h5.tmp shard-N.h5\nsync out.h5.work\n"
        "create start-N.tmp\nwrite start-N.tmp\nsync start-N.tmp\nrename start-N.tmp start-N\nsync out.h5.work\n"
        "create rows.tmp\nunlink rows.tmp\nwrite rows.tmp\n"
        "create output.tmp\nwrite output.tmp\nsync output.tmp\nrename output.tmp out.h5\nsync .\n"
        "unlink shard-N.h5\nunlink provenance\nunlink start-N\nsync out.h5.work\nunlink suite\nunlink lock\nunlink out.h5.work\nwrite lock\n");
}
