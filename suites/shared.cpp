// The caches behind Shared: one entry a key text, made once, a bounded number kept alive.
#include "suites/shared.hpp"

#include <fmt/format.h>

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "suites/batch.hpp"
#include "suites/canonical.hpp"

namespace odrpo {
namespace {

/// Values by key, each made by the first thread that asks while the others wait. The latest stay alive without a user as long as they hold
/// less than `keep` bytes together. A maker that returns null (stopped) leaves no entry behind.
template <class T>
class Cache {
 public:
  explicit Cache(std::size_t keep) : keep_(keep) {}
  std::shared_ptr<T> get(const std::string& key, const std::function<std::shared_ptr<T>()>& make) {
    std::shared_ptr<Slot> slot;
    {
      const std::lock_guard lock(mutex_);
      auto& entry = slots_[key];
      if (!entry) entry = std::make_shared<Slot>();
      slot = entry;
    }
    const std::lock_guard making(slot->mutex);
    if (slot->value) return slot->value;
    slot->value = make();
    if (slot->value) {
      remember(key, slot->value->bytes());
    } else {
      const std::lock_guard lock(mutex_);
      slots_.erase(key);
    }
    return slot->value;
  }

 private:
  struct Slot {
    std::mutex mutex;
    std::shared_ptr<T> value;
  };
  void remember(const std::string& key, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    order_.emplace_back(key, bytes);
    held_ += bytes;
    while (held_ > keep_ && order_.size() > 1) {
      slots_.erase(order_.front().first);
      held_ -= order_.front().second;
      order_.pop_front();
    }
  }
  std::size_t keep_, held_ = 0;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Slot>> slots_;
  std::deque<std::pair<std::string, std::size_t>> order_;
};

/// An estimator, and how many groups its runs estimate together.
class SharedEstimator {
 public:
  explicit SharedEstimator(const RunSpec& spec)
      : bytes_(static_cast<std::size_t>(estimator_bytes(spec))), estimator_(spec.estimator, spec.env.levels(), spec.learn.rollouts) {}
  /// The estimator as it is once it knows of so many groups more.
  std::shared_ptr<const BatchEstimator> with(double groups, Isa isa) {
    const std::lock_guard lock(mutex_);
    groups_ += groups;
    estimator_.expect(groups_, isa);
    return std::make_shared<const BatchEstimator>(estimator_);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  const std::size_t bytes_;
  std::mutex mutex_;
  BatchEstimator estimator_;
  double groups_ = 0;
};

}  // namespace

struct Shared::State {
  Cache<SharedEstimator> estimators{keep};
  Cache<const BanditWorld> worlds{keep};
  Cache<LawCache> laws{keep};
  Cache<const RatedWorld> rated{keep};
  Cache<const WarmStart> warm{keep};
};
Shared::Shared() : state_(std::make_unique<State>()) {}
Shared::~Shared() = default;

std::shared_ptr<const WarmStart> shared_warm_start(Shared& shared, const std::string& key,
                                                   const std::function<std::shared_ptr<const WarmStart>()>& make) {
  return shared.state().warm.get(key, make);
}

std::shared_ptr<const BatchEstimator> shared_estimator(Shared& shared, const RunSpec& spec, Isa isa, bool look_up) {
  const std::string key = fmt::format("{} {} levels {} rollouts {}", estimator_word(spec.estimator), canonical_fields(spec.estimator),
                                      spec.env.levels(), spec.learn.rollouts);
  const RewardKind kind = reward_kind(spec);
  const bool whole = look_up && !kind.real && !kind.gaps;  // only then are groups looked up
  return shared.state()
      .estimators.get(key, [&] { return std::make_shared<SharedEstimator>(spec); })
      ->with(whole ? static_cast<double>(spec.learn.steps) * spec.learn.batch : 0, isa);
}

std::optional<Problem> make_problem(const RunSpec& spec, Shared& shared, Isa isa, const std::atomic<bool>& stop, bool look_up) {
  Shared::State& s = shared.state();
  const bool features = spec.policy.kind == PolicyKind::linear;
  const int law_votes = spec.rater.sampling == Sampling::law ? spec.votes : 1;
  const WorldProfile profile = resolve_profile(spec.env.bandit, spec.rater.world);
  const std::string world_key = fmt::format("{} {} {} {}", spec.run_key, features, canonical_fields(spec.env), canonical_fields(profile));
  const std::string rater_key = fmt::format("{} levels {} votes {}", canonical_fields(spec.rater), spec.env.bandit.levels, law_votes);

  Problem problem{};
  problem.spec = &spec;
  problem.isa = isa;
  problem.world = s.worlds.get(world_key, [&]() -> std::shared_ptr<const BanditWorld> {
    auto world = std::make_shared<const BanditWorld>(make_bandit(spec.env.bandit, profile, spec.run_key, features, &stop));
    return stop ? nullptr : world;
  });
  if (!problem.world) return std::nullopt;
  const auto laws = s.laws.get(rater_key, [&] { return std::make_shared<LawCache>(spec.rater, spec.env.bandit.levels, law_votes); });
  problem.rated = s.rated.get(fmt::format("{} {} of {}", world_key, rater_key, spec.votes), [&]() -> std::shared_ptr<const RatedWorld> {
    auto rated = rate_world(*problem.world, spec.rater, spec.votes, spec.run_key, *laws, stop);
    return rated ? std::make_shared<const RatedWorld>(std::move(*rated)) : nullptr;
  });
  if (!problem.rated) return std::nullopt;
  problem.random = &random_stages(isa);
  problem.rate = &rate_stages(isa);
  problem.estimator = &estimator_stages(isa);
  problem.advantages = shared_estimator(shared, spec, isa, look_up);
  problem.whitening = whitening_of(spec);
  problem.action_blocks = (spec.learn.rollouts + 3) / 4;
  return problem;
}

}  // namespace odrpo
