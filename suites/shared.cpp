// The caches behind Shared: one entry a key text, made once, a bounded number kept alive.
#include "suites/shared.hpp"

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "suites/field_writer.hpp"

namespace odrpo {
namespace {

/// Values by key, each made by the first thread that asks while the others wait; the `keep` latest stay alive without a user.
template <class T>
class Cache {
 public:
  explicit Cache(std::size_t keep) : keep_(keep) {}
  std::shared_ptr<T> get(const std::string& key, const std::function<std::shared_ptr<T>()>& make) {
    std::shared_ptr<Slot> slot;
    {
      const std::lock_guard lock(mutex_);
      auto& entry = slots_[key];
      if (!entry) {
        entry = std::make_shared<Slot>();
        order_.push_back(key);
        while (order_.size() > keep_) {
          slots_.erase(order_.front());
          order_.pop_front();
        }
      }
      slot = entry;
    }
    const std::lock_guard lock(slot->mutex);
    if (!slot->value) slot->value = make();
    return slot->value;
  }

 private:
  struct Slot {
    std::mutex mutex;
    std::shared_ptr<T> value;
  };
  std::size_t keep_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Slot>> slots_;
  std::deque<std::string> order_;
};

/// A config as key text.
template <class C>
std::string canonical_fields(C config) {
  std::string all;
  FieldWriter writer([&](std::string_view key, const std::string& text, bool) { all.append(key).append("=").append(text).append(";"); });
  describe(writer, config);
  return all;
}

}  // namespace

struct Shared::State {
  Cache<const BanditWorld> worlds{16};
  Cache<LawCache> laws{256};
  Cache<const RatedWorld> rated{64};
};
Shared::Shared() : state_(std::make_unique<State>()) {}
Shared::~Shared() = default;

Problem make_problem(const RunSpec& spec, Shared& shared, Isa isa) {
  Shared::State& s = shared.state();
  const bool features = spec.policy.kind == PolicyKind::linear;
  const int law_votes = spec.rater.sampling == Sampling::law ? spec.votes : 1;
  const std::string seed = std::to_string(spec.run_key);
  const WorldProfile profile = resolve_profile(spec.env, spec.rater.world);
  const std::string world_key = seed + (features ? " features " : " plain ") + canonical_fields(spec.env) + canonical_fields(profile);
  const std::string rater_key = canonical_fields(spec.rater) + "levels " + std::to_string(spec.env.levels) + " votes " + std::to_string(law_votes);

  Problem problem{};
  problem.spec = &spec;
  problem.isa = isa;
  problem.world = s.worlds.get(world_key, [&] { return std::make_shared<const BanditWorld>(make_bandit(spec.env, profile, spec.run_key, features)); });
  const auto laws = s.laws.get(rater_key, [&] { return std::make_shared<LawCache>(spec.rater, spec.env.levels, law_votes); });
  problem.rated = s.rated.get(world_key + rater_key + " of " + std::to_string(spec.votes), [&] {
    return std::make_shared<const RatedWorld>(rate_world(*problem.world, spec.rater, spec.votes, spec.run_key, *laws));
  });
  problem.random = &random_stages(isa);
  problem.rate = &rate_stages(isa);
  problem.estimator = &estimator_stages(isa);
  problem.action_blocks = (spec.learn.rollouts + 3) / 4;
  return problem;
}

}  // namespace odrpo
