// Batched runs by the threads of a block, taking turns in any order: the text that the device runs, its shuffles and barriers included,
// gives the bits of train().
#include "config/write/canonical.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/device/fibre_block.hpp"
#include "tests/rounds.hpp"
#include "tests/train/batched/host_backend.hpp"
#include "tests/train/batched/runs.hpp"
#include "tests/train/trained.hpp"
#include "train/run_cache.hpp"

using namespace odrpo;

namespace {

// The same as host_backend.hpp with blocks of threads in place of vectors.
RunRecord by_threads(const RunSpec& spec, unsigned seed) {
  HostDevice host;
  BatchDevice device = host.device();
  host_backend::FibreBlock block(seed);
  device.run = [&](const device::Layout& layout, const device::Run* runs, const std::uint32_t* going_on, std::size_t count, int first, int end) {
    std::vector<std::uint64_t> memory(layout.bytes / 8 + 2);
    for (std::size_t i = 0; i < count; ++i) {
      std::memset(memory.data(), 0xcd, layout.bytes);
      device::with_kind(layout, [&](auto linear, auto resident, auto general) {
        constexpr bool is_linear = decltype(linear)::value, is_resident = decltype(resident)::value, is_general = decltype(general)::value;
        block.run(layout.threads, [&] {
          device::run_block<is_linear, is_resident, is_general>(ThreadBlock<host_backend::FibreThread>{}, layout, runs[going_on[i]],
                                                                reinterpret_cast<unsigned char*>(memory.data()), first, end);
        });
      });
    }
    return 0.0;
  };
  RunRecord record;
  RunCache shared;
  train_batched(device, {&spec}, shared, never, [&](RunRecord r) { record = std::move(r); });
  return record;
}

void compare(RunSpec (*any)(Chooser&), unsigned first, unsigned end) {
  for (unsigned seed = first; seed < end; ++seed) {
    Chooser c{std::mt19937(seed)};
    RunSpec spec = any(c);
    spec.learn.steps = std::min(spec.learn.steps, 12);
    spec.learn.batch = std::min(spec.learn.batch, 9);
    INFO("seed " << seed << "\n" << canonical_text(spec));
    check_same(by_threads(spec, seed), run(spec));
  }
}

}  // namespace

TEST_CASE("a batched run by threads that take turns in any order has the bits of train()", "[slow]") { compare(any_run, 201, rounds(211, 231)); }
TEST_CASE("and batched runs of the general kind by threads", "[slow]") { compare(any_general_run, 301, rounds(311, 341)); }

TEST_CASE("and batched runs by threads at the ends of the sizes that there are", "[slow]") {
  unsigned seed = 1;
  std::size_t left_out = 0;  // for a person each third run
  for (const RunSpec& spec : corner_runs()) {
    if (left_out++ % rounds(3, 1) != 0) continue;
    INFO(spec.id);
    check_same(by_threads(spec, ++seed), run(spec));
  }
}
