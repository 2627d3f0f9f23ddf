// Supervised steps that are stopped and go on: to the same bits, whatever lies in the store.
#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "config/spec.hpp"
#include "tests/catch.hpp"
#include "tests/config/loading.hpp"
#include "tests/train/checkpoint/checkpoint_sample.hpp"
#include "train/schedule/run_steps.hpp"

using namespace odrpo;
using namespace odrpo::checkpoint_sample;

TEST_CASE("toy-lm: supervised steps that are stopped again and again go on from where they were, to the same bits") {
  for (const std::vector<std::string>& set :
       {std::vector<std::string>{}, {"policy.p.lora_rank=2"}, {"policy.p.head=untied", "policy.p.warm_batch=7"}}) {
    const RunSpec spec = loaded(lm, set).runs[0];
    const RunRecord whole = undisturbed(spec);
    Memory memory;
    int calls = 0;
    for (RunSteps steps; steps.world_done < 6; ++calls) {
      RunCache shared;
      std::atomic<bool> stop{false};
      memory.saved = [&](CheckpointKind) { stop = true; };  // after one step, so that the call ends after another one
      CHECK(train(spec, shared, stop, memory.store, &steps).error == "stopped");
      CHECK(steps.world_steps == 6);
      REQUIRE(steps.world_done == 2 * (calls + 1));
      CHECK(steps.world_restored == 2 * calls);
    }
    CHECK(calls == 3);
    check_same(whole, call(spec, memory, 1000));
    CHECK(memory.told ==
          std::vector<std::string>{"continued supervised steps at step 2 of 6", "continued supervised steps at step 4 of 6"});
  }
}

TEST_CASE("toy-lm: supervised steps half-way that are damaged, another's or of other sizes are made again") {
  const RunSpec spec = loaded(lm, {"policy.p.warm_steps=4"}).runs[0];
  const RunRecord whole = undisturbed(spec);
  Memory memory;
  {
    RunCache shared;
    std::atomic<bool> stop{false};
    memory.saved = [&](CheckpointKind) { stop = memory.starts >= 2; };
    CHECK(train(spec, shared, stop, memory.store).error == "stopped");
    memory.saved = [](CheckpointKind) {};
  }
  REQUIRE(memory.files.size() == 1);
  const std::string bytes = memory.files.begin()->second, name = memory.files.begin()->first.second;
  const auto made_again = [&](const std::string& stored) {
    Memory again;
    again.files[{CheckpointKind::start, name}] = stored;
    check_same(whole, call(spec, again, 1000));
    return again.told.empty();
  };
  CHECK_FALSE(made_again(bytes));
  CHECK(made_again(""));
  CHECK(made_again("text"));
  CHECK(made_again(bytes + '\0'));
  for (const std::size_t size : {std::size_t{3}, name.size() + 9, name.size() + 20, bytes.size() / 2, bytes.size() - 1})
    CHECK(made_again(bytes.substr(0, size)));
  for (const int done : {-1, 0, 4, 5, 1 << 30}) {  // other steps than the moments are of
    std::string lying = bytes;
    std::memcpy(&lying[8 + name.size()], &done, sizeof done);
    CHECK(made_again(lying));
  }
  std::string other = bytes;
  other[8] ^= 1;  // another world's
  CHECK(made_again(other));
}
