// The caches of runs: one entry a key text, made once, a bounded number without a user kept alive.
#include "train/run_cache.hpp"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "spec/canonical.hpp"
#include "spec/reward_kind.hpp"

namespace odrpo {
namespace {

/// Values by key, each made by the first thread that asks while the others wait. The latest stay alive without a user as long as they hold
/// at most `keep` bytes together. A maker that returns null (stopped) leaves no entry behind.
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

struct RunCache::State {
  Cache<SharedEstimator> estimators{unused_bytes};
  Cache<const BanditWorld> worlds{unused_bytes};
  Cache<LawCache> laws{unused_bytes};
  Cache<const RatedWorld> rated{unused_bytes};
  Cache<const WarmStart> starts{unused_bytes};
};
RunCache::RunCache() : state_(std::make_unique<State>()) {}
RunCache::~RunCache() = default;

std::shared_ptr<const BanditWorld> RunCache::world(const std::string& key, const Make<const BanditWorld>& make) {
  return state_->worlds.get(key, make);
}
std::shared_ptr<LawCache> RunCache::laws(const std::string& key, const Make<LawCache>& make) { return state_->laws.get(key, make); }
std::shared_ptr<const RatedWorld> RunCache::rated(const std::string& key, const Make<const RatedWorld>& make) {
  return state_->rated.get(key, make);
}
std::shared_ptr<const WarmStart> RunCache::warm_start(const std::string& key, const Make<const WarmStart>& make) {
  return state_->starts.get(key, make);
}

std::shared_ptr<const BatchEstimator> RunCache::estimator(const RunSpec& spec, Isa isa, bool look_up) {
  const std::string key = fmt::format("{} {} levels {} rollouts {}", estimator_word(spec.estimator), canonical_fields(spec.estimator),
                                      spec.env.levels(), spec.learn.rollouts);
  const RewardKind kind = reward_kind(spec);
  const bool whole = look_up && !kind.real && !kind.gaps;  // only then are groups looked up
  return state_->estimators.get(key, [&] { return std::make_shared<SharedEstimator>(spec); })
      ->with(whole ? static_cast<double>(spec.learn.steps) * spec.learn.batch : 0, isa);
}

double estimator_bytes(const RunSpec& spec) { return BatchEstimator::bytes(spec.estimator, spec.env.levels(), spec.learn.rollouts); }

}  // namespace odrpo
