// Every launch of the program's kernels against the limits of devices, for all sizes that suites can ask for: threads, blocks, shared memory.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "envs/toy_lm/world.hpp"
#include "kernels/device/grid.hpp"
#include "policies/transformer/device/passes.hpp"
#include "tests/catch.hpp"
#include "tests/source_path.hpp"
#include "tests/train/trained.hpp"
#include "train/batched/run_layout.hpp"

using namespace odrpo;

namespace {

// Devices by compute capability; the most shared memory of a block is NVIDIA's ("CUDA C++ Programming Guide", compute capabilities).
struct Card {
  const char* name;
  std::size_t block_bytes;
};
constexpr Card cards[] = {{"8.0", 163 * 1024}, {"8.6", 99 * 1024}, {"8.9", 99 * 1024}, {"9.0", 227 * 1024}};

// Why a card refuses a launch; empty = it does not.
std::string fault(const Grid& grid, const Card& card) {
  constexpr std::size_t most_blocks = 0x7fffffff, without_asking = 48 * 1024;
  if (grid.threads < 1 || grid.threads > 1024) return std::to_string(grid.threads) + " threads";
  if (grid.blocks > most_blocks) return std::to_string(grid.blocks) + " blocks";
  if (grid.shared_bytes > card.block_bytes) return std::to_string(grid.shared_bytes) + " bytes of shared memory on " + card.name;
  if (grid.shared_bytes > without_asking && !grid.opts_in) return std::to_string(grid.shared_bytes) + " bytes of shared memory, not asked for";
  return "";
}

}  // namespace

TEST_CASE("limits of launches: a planted launch of 106,496 bytes that were not asked for is found, and one that is too large for a card") {
  const Grid planted{1, 256, 106'496};
  for (const Card& card : {cards[0], cards[3]}) CHECK(fault(planted, card) == "106496 bytes of shared memory, not asked for");
  Grid asked = planted;
  asked.opts_in = true;
  std::vector<std::string> faults;
  for (const Card& card : cards) faults.push_back(fault(asked, card));
  CHECK(faults == std::vector<std::string>{"", "106496 bytes of shared memory on 8.6", "106496 bytes of shared memory on 8.9", ""});
  CHECK(fault({1, 1025}, cards[3]) == "1025 threads");
  CHECK(fault({1, 0}, cards[3]) == "0 threads");
  CHECK(fault({0x80000000, 32}, cards[3]) == "2147483648 blocks");
  CHECK(fault({1, 32, 48 * 1024}, cards[3]) == "");
}

// Each kernel and what gives its launch the sizes: a launch that is not here is tested nowhere below.
TEST_CASE("limits of launches: the program launches no kernel but those that are tested here", "[unsanitized]") {
  const std::regex sized(R"(\blaunch\(([a-z_<>F]+), (\w+)\()"), any(R"(\blaunch\()");
  const auto found = [](const std::string& text, const std::regex& what) { return std::sregex_iterator(text.begin(), text.end(), what); };
  std::set<std::string> launches;
  for (const char* module : {"app", "envs", "estimators", "kernels", "policies", "train"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(source_path(module))) {
      const std::string name = entry.path().filename().string();
      if (!std::regex_search(name, std::regex(R"([.](cu|cuh|inl|hpp)$)"))) continue;
      std::ifstream file(entry.path());
      const std::string text = std::regex_replace(std::string{std::istreambuf_iterator<char>(file), {}}, std::regex("//[^\n]*"), "");
      INFO(name);
      CHECK((text.find("<<<") != text.npos) == (name == "launch.cuh"));
      if (name == "launch.cuh") continue;
      const std::sregex_iterator none;
      for (auto i = found(text, sized); i != none; ++i) launches.insert((*i)[1].str() + " " + (*i)[2].str());
      CHECK(std::distance(found(text, any), none) == std::distance(found(text, sized), none));
    }
  CHECK(launches == std::set<std::string>{"kernel train_grid", "shuffle_epochs shuffle_grid", "tile_kernel<F> tile_grid"});
}

namespace {

// What the launches of runs came to on one card.
struct Tally {
  std::size_t resident = 0, in_device_memory = 0, refused = 0;
};

// The launches of a run of the bandit on every card; where it is refused, it must be too large there.
void check_bandit(const RunSpec& spec, std::array<Tally, std::size(cards)>& tallies) {
  std::string wrong;
  for (std::size_t c = 0; c < std::size(cards); ++c) {
    const Card& card = cards[c];
    Tally& tally = tallies[c];
    const device::Layout p = make_layout(spec, card.block_bytes);
    if (!why_too_large(spec, card.block_bytes).empty()) {
      ++tally.refused;
      if (p.bytes <= card.block_bytes || (p.resident && !p.linear)) wrong = "refused for no reason";
      continue;
    }
    ++(p.resident ? tally.resident : tally.in_device_memory);
    if (!fault(train_grid(p, 100'000), card).empty()) wrong = fault(train_grid(p, 100'000), card);
    if (p.threads % 32 != 0 || p.threads > most_threads(p.resident, p.general)) wrong = "threads that the kernel was not compiled for";
    const Grid shuffles = shuffle_grid(100'000, longest_chunk(p).epochs);  // as many seeds as a suite has
    if (!fault(shuffles, card).empty()) wrong = "shuffles: " + fault(shuffles, card);
  }
  INFO(spec.env.bandit.prompts << " prompts x " << spec.env.bandit.actions << ", batch " << spec.learn.batch << " x " << spec.learn.rollouts << ", "
                               << spec.env.bandit.levels << " levels, " << spec.env.bandit.features << " features");
  CHECK(wrong == "");
}

}  // namespace

TEST_CASE("limits of launches: every size of the bandit that a card does not refuse fits it", "[unsanitized]") {
  std::array<Tally, std::size(cards)> tallies;
  for (const PolicyKind policy : {PolicyKind::tabular, PolicyKind::linear})
    for (const bool general : {false, true})
      for (const bool adam : {false, true})
        for (const int epochs : {1, 64})
          for (const int levels : {2, 10, 100})
            for (const int rollouts : {2, 8, 33, 255})
              for (const int batch : {1, 4, 5, 16, 31, 64, 129, 256, 700, 2048, 65536})
                for (const int prompts : {batch, 4 * batch + 1, 65536})
                  for (const int actions : {2, 32, 33, 1024}) {
                    if (prompts > 65536 || prompts < 2) continue;
                    RunSpec spec = small_run(policy);
                    spec.record.gradient = general ? 4096 : 0;
                    spec.learn.optimizer.kind = adam ? OptimizerKind::adamw : OptimizerKind::sgd;
                    spec.learn.epochs = epochs;
                    spec.learn.rollouts = rollouts;
                    spec.learn.batch = batch;
                    spec.learn.steps = 10'000'000;
                    spec.env.bandit = {};
                    spec.env.bandit.prompts = prompts;
                    spec.env.bandit.actions = actions;
                    spec.env.bandit.levels = levels;
                    spec.env.bandit.features = actions == 33 ? 256 : 24;
                    check_bandit(spec, tallies);
                  }
  for (std::size_t c = 0; c < std::size(cards); ++c) {
    INFO(cards[c].name << ": " << tallies[c].resident << " resident, " << tallies[c].in_device_memory << " in device memory, " << tallies[c].refused << " refused");
    CHECK(tallies[c].resident > 1000);
    CHECK(tallies[c].in_device_memory > 300);
    CHECK(tallies[c].refused > 1000);
  }
  CHECK(tallies[0].refused < tallies[1].refused);  // 163 KiB and 99
  CHECK(tallies[1].refused == tallies[2].refused);
  CHECK(tallies[3].refused < tallies[0].refused);
}

TEST_CASE("limits of launches: the largest batch of the bandit that fits a card fills it", "[unsanitized]") {
  for (const Card& card : cards) {
    RunSpec spec = small_run(PolicyKind::tabular);
    int fits = 2, not_any_more = 65536;
    while (not_any_more - fits > 1) {
      const int middle = (fits + not_any_more) / 2;
      spec.learn.batch = spec.env.bandit.prompts = middle;
      (why_too_large(spec, card.block_bytes).empty() ? fits : not_any_more) = middle;
    }
    spec.learn.batch = spec.env.bandit.prompts = fits;
    const Grid grid = train_grid(make_layout(spec, card.block_bytes), 1);
    INFO(card.name << ": batches of " << fits << " prompts, " << grid.shared_bytes << " bytes");
    CHECK(fault(grid, card) == "");
    CHECK(grid.shared_bytes <= card.block_bytes);
    CHECK(grid.shared_bytes > 0.98 * static_cast<double>(card.block_bytes));
    Grid silent = grid;
    silent.opts_in = false;
    CHECK(fault(silent, card) == std::to_string(grid.shared_bytes) + " bytes of shared memory, not asked for");
  }
}

namespace {

// A queue that launches nothing: it keeps the sizes of its launches.
struct CountingQueue {
  std::size_t launches = 0, most_blocks = 0;
  std::set<std::string> faults;
  template <class F>
  void tiles(std::size_t n, const F&) {
    const Grid grid = tile_grid(n);
    ++launches;
    most_blocks = std::max(most_blocks, grid.blocks);
    if (n == 0) faults.insert("no items");
    for (const Card& card : cards) faults.insert(fault(grid, card));
  }
  void product(const Product&) {}
  void zero(float*, std::size_t) {}
};

}  // namespace

TEST_CASE("limits of launches: every size of the toy language model that a device can count fits every card", "[unsanitized]") {
  std::size_t shapes = 0, launches = 0, most_blocks = 0;
  for (const auto size : {TransformerSize::small, TransformerSize::large})
    for (const auto head : {HeadKind::tied, HeadKind::untied})
      for (const int rank : {0, 1, 128})
        for (const int words : {40, most_vocabulary})
          for (const int response : {12, most_response_tokens})
            for (const int per_prompt : {2, 8, 255}) {
              TransformerConfig config;
              config.size = size;
              config.head = head;
              config.lora_rank = size == TransformerSize::small ? std::min(rank, 64) : rank;
              const TransformerShape shape = transformer_shape(config, words, toy_prompt_tokens, response, 0);
              REQUIRE(refuse_transformer(config, shape) == "");
              int most = 65536;  // the most prompts of a batch that can be counted
              while (most > 1 && !device_can_count(shape, most, per_prompt)) --most;
              for (const int prompts : {1, most}) {
                MemoryPieces pieces;
                const DeviceMemory at = device_memory_of(config, shape, prompts, per_prompt, pieces);
                const WeightTable table = weight_table(shape);
                const DeviceWeights weights{&table, at.theta, at.gradient};
                CountingQueue q;
                device::sample(q, at.pass, weights, 0.5f);
                device::read(q, at.reference, weights);
                device::backward(q, at.pass, at.back, weights);
                for (const OptimizerKind kind : {OptimizerKind::sgd, OptimizerKind::adamw}) {
                  OptimizerConfig optimizer;
                  optimizer.kind = kind;
                  device::update(q, at.back, {at.trained, at.theta, at.gradient, at.m, at.v}, optimizer);
                }
                INFO(shape.width << " wide, " << words << " words, " << response << " tokens, batch " << prompts << " x " << per_prompt << ", rank " << rank);
                CHECK(q.faults == std::set<std::string>{""});
                ++shapes;
                launches += q.launches;
                most_blocks = std::max(most_blocks, q.most_blocks);
              }
            }
  CHECK(shapes == 2 * 2 * 3 * 2 * 2 * 3 * 2);
  CHECK(launches > 200 * shapes);
  CHECK(most_blocks > 1'000'000);  // so the largest batches were among them
}
