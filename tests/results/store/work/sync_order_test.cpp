// Checks the order of the calls that change names or sync while a suite is saved: the protocol of docs/results.md, call by call.
#include <regex>
#include <string>

#include "tests/catch.hpp"
#include "tests/results/sample.hpp"
#include "tests/results/store/work/recorded_system.hpp"

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
  std::string calls;  // without checksums and what tells the process
  for (const std::string& line : recording.lines())
    calls += std::regex_replace(std::regex_replace(line, std::regex("-r[0-9a-f]{16}"), "-r"), std::regex("(shard|start)-[0-9a-f]+(-[0-9a-f]+)?"), "$1-N") + "\n";
  CHECK(calls ==
        "mkdir out.h5.work\ncreate lock-r.tmp\nwrite lock-r.tmp\nsync lock-r.tmp\ncreate lock\nwrite lock\nsync lock\nunlink lock-r.tmp\n"
        "create suite-r.tmp\nwrite suite-r.tmp\nsync suite-r.tmp\nrename suite-r.tmp suite\nsync out.h5.work\n"
        "create provenance-r.tmp\nwrite provenance-r.tmp\nsync provenance-r.tmp\nrename provenance-r.tmp provenance\nsync out.h5.work\nsync .\n"
        "create shard-N.h5-r.tmp\nwrite shard-N.h5-r.tmp\nsync shard-N.h5-r.tmp\nrename shard-N.h5-r.tmp shard-N.h5\nsync out.h5.work\n"
        "create start-N-r.tmp\nwrite start-N-r.tmp\nsync start-N-r.tmp\nrename start-N-r.tmp start-N\nsync out.h5.work\n"
        "create rows-r.tmp\nunlink rows-r.tmp\nwrite rows-r.tmp\n"
        "create output-r.tmp\nwrite output-r.tmp\nsync output-r.tmp\nrename output-r.tmp out.h5\nsync .\n"
        "rename provenance provenance-r.tmp\nunlink provenance-r.tmp\nunlink shard-N.h5\nrename start-N start-N-r.tmp\nunlink start-N-r.tmp\nsync out.h5.work\n"
        "rename suite suite-r.tmp\nunlink suite-r.tmp\nrename lock lock-r.tmp\nunlink lock-r.tmp\nunlink out.h5.work\nwrite lock-r.tmp\n");
}
