// Blocks of fibres: phases see what the phase before wrote, and what is wrong with a block's text is found.
#include "tests/kernels/device/fibre_block.hpp"

#include "tests/catch.hpp"

using namespace odrpo;
using host_backend::FibreBlock;
using host_backend::FibreThread;

namespace {

// Each of n numbers, moved three times by phases.
template <class T>
std::vector<int> moved(int n, unsigned seed) {
  std::vector<int> a(static_cast<std::size_t>(n)), b = a;
  FibreBlock(seed).run(128, [&] {
    const ThreadBlock<T> block;
    block.threads(n, [&](int i) { a[static_cast<std::size_t>(i)] = i; });
    for (int round = 0; round < 3; ++round) {
      block.threads(n, [&](int i) { b[static_cast<std::size_t>(i)] = a[static_cast<std::size_t>(n - 1 - i)]; });
      block.threads(n, [&](int i) { a[static_cast<std::size_t>(i)] = b[static_cast<std::size_t>((i + 1) % n)]; });
    }
  });
  return a;
}

struct Careless : FibreThread {
  static void sync() {}
};

}  // namespace

TEST_CASE("a block's phases see all that the phase before wrote") {
  const std::vector<int> want = moved<FibreThread>(300, 1);
  for (int i = 0; i < 300; ++i) {
    int x = i;
    for (int round = 0; round < 3; ++round) x = (300 - 1) - (x + 1) % 300;
    CHECK(want[static_cast<std::size_t>(i)] == x);
  }
  for (unsigned seed = 2; seed < 10; ++seed) CHECK(moved<FibreThread>(300, seed) == want);
}

TEST_CASE("a block without its barriers is found: other results") {
  int different = 0;
  for (unsigned seed = 1; seed <= 5; ++seed) different += moved<Careless>(300, seed) != moved<FibreThread>(300, seed);
  CHECK(different == 5);
}

TEST_CASE("threads that wait for others that do not come are found") {
  FibreBlock block(3);
  CHECK_THROWS_AS(block.run(64,
                            [] {
                              if (FibreThread::thread() != 5) FibreThread::sync();
                            }),
                  std::runtime_error);
  CHECK_THROWS_AS(block.run(32,
                            [] {
                              if (FibreThread::thread() < 16) FibreThread::shuffle(1, 0);
                              else FibreThread::ballot(true);
                            }),
                  std::runtime_error);
  // a warp whose tiles loop unequally often around a sum
  CHECK_THROWS_AS(block.run(32,
                            [] {
                              const ThreadBlock<FibreThread> b;
                              b.tiles(4, [](const auto& o, int i) {
                                for (int k = 0; k <= i; ++k) o.sum(1.0f);
                              });
                            }),
                  std::runtime_error);
}

TEST_CASE("a failure in a thread comes out of its block") {
  FibreBlock block(4);
  CHECK_THROWS_AS(block.run(32,
                            [] {
                              if (FibreThread::thread() == 7) throw std::logic_error("seven");
                              FibreThread::sync();
                            }),
                  std::logic_error);
}
