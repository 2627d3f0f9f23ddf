// Caches what runs share. Makes each value once per key, and keeps a limited number of bytes that no run uses.
#include "train/run_cache.hpp"

#include <fmt/format.h>

#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "config/catalogue/believed_judge.hpp"
#include "config/catalogue/catalogue.hpp"
#include "config/spec.hpp"
#include "config/write/canonical.hpp"
#include "envs/bandit/channel.hpp"
#include "envs/bandit/world.hpp"
#include "estimators/batch.hpp"
#include "estimators/estimator.hpp"
#include "estimators/level_values.hpp"
#include "estimators/outside/program.hpp"
#include "estimators/posterior/posterior.hpp"
#include "kernels/group_table.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/team.hpp"
#include "train/worlds/posterior_batch.hpp"
#include "train/worlds/rollout_world.hpp"

namespace odrpo {
namespace {

/// Keeps values under keys, which are texts. The first thread that asks for a key makes its value, while others that ask for it wait. A
/// value can be found while anybody holds it. The cache itself holds the values made last, at most `keep` bytes together. A maker that
/// returns null (it was stopped) leaves no value.
template <class T>
class Cache {
 public:
  explicit Cache(std::size_t keep) : keep_(keep) {}
  std::shared_ptr<T> get(const std::string& key, const std::function<std::shared_ptr<T>()>& make) {
    const std::shared_ptr<Slot> slot = slot_of(key);
    std::shared_ptr<T> made;
    {
      const std::lock_guard making(slot->mutex);
      if (std::shared_ptr<T> known = slot->value.lock()) return known;
      made = make();
      slot->value = made;
    }
    if (made) hold(made);
    return made;
  }

 private:
  struct Slot {
    std::mutex mutex;
    std::weak_ptr<T> value;
  };
  std::shared_ptr<Slot> slot_of(const std::string& key) {
    const std::lock_guard lock(mutex_);
    if (slots_.size() >= most_slots_) {  // forget keys whose values are gone and that no thread asks for
      std::erase_if(slots_, [](const auto& s) {
        if (s.second.use_count() > 1) return false;
        const std::lock_guard lock(s.second->mutex);  // no other thread holds this slot: the lock only orders memory accesses
        return s.second->value.expired();
      });
      most_slots_ = 2 * slots_.size() + 16;
    }
    auto& entry = slots_[key];
    if (!entry) entry = std::make_shared<Slot>();
    return entry;
  }
  void hold(const std::shared_ptr<T>& value) {
    const std::size_t bytes = value->bytes();
    std::vector<std::shared_ptr<T>> dropped;  // destroyed outside the lock
    const std::lock_guard lock(mutex_);
    held_.emplace_back(value, bytes);
    held_bytes_ += bytes;
    while (held_bytes_ > keep_) {
      held_bytes_ -= held_.front().second;
      dropped.push_back(std::move(held_.front().first));
      held_.pop_front();
    }
  }
  const std::size_t keep_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Slot>> slots_;
  std::size_t most_slots_ = 16, held_bytes_ = 0;
  std::deque<std::pair<std::shared_ptr<T>, std::size_t>> held_;
};

/// The value for which one copy of the cache was asked last.
template <class T>
class LatestValue {
 public:
  std::shared_ptr<T> get(Cache<T>& cache, const std::string& key, const std::function<std::shared_ptr<T>()>& make) {
    std::shared_ptr<T> old;
    {
      const std::lock_guard lock(mutex_);
      if (value_ && key_ == key) return value_;
      old.swap(value_);
    }
    old.reset();  // before another value is made, since a world may be large
    std::shared_ptr<T> value = cache.get(key, make);
    const std::lock_guard lock(mutex_);
    key_ = key;
    old = std::exchange(value_, value);
    return value;
  }

 private:
  std::mutex mutex_;
  std::string key_;
  std::shared_ptr<T> value_;
};

/// An estimator, and the number of groups that its runs estimate together.
class SharedEstimator {
 public:
  SharedEstimator(const EstimatorConfig& form, const RunSpec& spec)
      : estimator_(form, spec.env.levels(), group_size(spec)),
        bytes_(static_cast<std::size_t>(estimator_.bytes(std::numeric_limits<double>::infinity()))) {}
  /// Adds `groups` to the number of groups that the estimator should expect (BatchEstimator::expect). Returns the estimator.
  std::shared_ptr<const BatchEstimator> with(double groups, Isa isa) {
    const std::lock_guard lock(mutex_);
    groups_ += groups;
    estimator_.expect(groups_, isa);
    return std::make_shared<const BatchEstimator>(estimator_);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::mutex mutex_;
  BatchEstimator estimator_;
  const std::size_t bytes_;  ///< including the table of advantages by histogram that it may get
  double groups_ = 0;
};

std::shared_ptr<const CorrectedScores> correct(const RunSpec& spec) {
  CorrectedJudge judge = correct_judge(spec);
  if (judge.scores.score.empty()) throw Failure(Exit::limits, estimator_word(spec.estimator) + ": " + *judge.refusal);
  return std::make_shared<const CorrectedScores>(std::move(judge.scores));
}

}  // namespace

struct RunCache::State {
  Cache<SharedEstimator> estimators{unused_bytes};
  Cache<const CorrectedScores> corrected{unused_bytes};
  Cache<const BanditWorld> worlds{unused_bytes};
  Cache<const LinearFit> fits{unused_bytes};
  Cache<const RolloutPrior> rollout_priors{unused_bytes};
  Cache<DistributionCache> distributions{unused_bytes};
  Cache<const RatedWorld> rated{unused_bytes};
  Cache<const PosteriorModel> posterior_models{unused_bytes};
  Cache<const PosteriorVotes> posterior_votes{unused_bytes};
  Cache<const HistogramTable> posterior_tables{unused_bytes};
  Cache<const WarmStart> starts{unused_bytes};
};
struct RunCache::Latest {
  LatestValue<const BanditWorld> world;
  LatestValue<const LinearFit> fit;
  LatestValue<const RolloutPrior> rollout_prior;
  LatestValue<DistributionCache> distributions;
  LatestValue<const RatedWorld> rated;
  LatestValue<const PosteriorModel> posterior_model;
  LatestValue<const PosteriorVotes> posterior_votes;
  LatestValue<const HistogramTable> posterior_table;
  LatestValue<const WarmStart> start;
  LatestValue<SharedEstimator> estimator;
  std::unique_ptr<Team> team;
  std::mutex outside_mutex;
  std::map<std::string, std::shared_ptr<OutsideProgram>> outside;
};
RunCache::RunCache() : state_(std::make_shared<State>()), latest_(std::make_unique<Latest>()) {}
RunCache::RunCache(const RunCache& other) : threads(other.threads), state_(other.state_), latest_(std::make_unique<Latest>()) {}
RunCache::~RunCache() = default;

Team& RunCache::team() {
  if (!latest_->team) latest_->team = std::make_unique<Team>(threads);
  return *latest_->team;
}

std::shared_ptr<const BanditWorld> RunCache::world(const std::string& key, const Make<const BanditWorld>& make) {
  return latest_->world.get(state_->worlds, key, make);
}
std::shared_ptr<const LinearFit> RunCache::fit(const std::string& key, const Make<const LinearFit>& make) {
  return latest_->fit.get(state_->fits, key, make);
}
std::shared_ptr<const RolloutPrior> RunCache::rollout_prior(const std::string& key, const Make<const RolloutPrior>& make) {
  return latest_->rollout_prior.get(state_->rollout_priors, key, make);
}
std::shared_ptr<DistributionCache> RunCache::distributions(const std::string& key, const Make<DistributionCache>& make) {
  return latest_->distributions.get(state_->distributions, key, make);
}
std::shared_ptr<const RatedWorld> RunCache::rated(const std::string& key, const Make<const RatedWorld>& make) {
  return latest_->rated.get(state_->rated, key, make);
}
std::shared_ptr<const PosteriorModel> RunCache::posterior_model(const std::string& key, const Make<const PosteriorModel>& make) {
  return latest_->posterior_model.get(state_->posterior_models, key, make);
}
std::shared_ptr<const PosteriorVotes> RunCache::posterior_votes(const std::string& key, const Make<const PosteriorVotes>& make) {
  return latest_->posterior_votes.get(state_->posterior_votes, key, make);
}
std::shared_ptr<const HistogramTable> RunCache::posterior_table(const std::string& key, const Make<const HistogramTable>& make) {
  return latest_->posterior_table.get(state_->posterior_tables, key, make);
}
std::shared_ptr<const WarmStart> RunCache::warm_start(const std::string& key, const Make<const WarmStart>& make) {
  return latest_->start.get(state_->starts, key, make);
}

std::shared_ptr<const BatchEstimator> RunCache::estimator(const RunSpec& spec, Isa isa, bool look_up) {
  EstimatorConfig form = form_of(spec.estimator);
  if (spec.estimator.corrected) form = corrected_form(spec.estimator, *state_->corrected.get(correction_key(spec), [&] { return correct(spec); }));
  const std::string key =
      fmt::format("{} {} levels {} group {}", estimator_word(form), canonical_fields(form), spec.env.levels(), group_size(spec));
  const RewardKind kind = reward_kind(spec);
  const bool whole = look_up && !kind.real && !kind.gaps && !spec.estimator.posterior && spec.estimator.outside == Outside::none;  // a table takes integer scores, none missing
  return latest_->estimator.get(state_->estimators, key, [&] { return std::make_shared<SharedEstimator>(form, spec); })
      ->with(whole ? static_cast<double>(spec.learn.steps) * spec.learn.batch : 0, isa);
}

std::shared_ptr<OutsideProgram> RunCache::outside(const RunSpec& spec) {
  if (spec.estimator.outside != Outside::command) return nullptr;
  const std::lock_guard lock(latest_->outside_mutex);
  std::shared_ptr<OutsideProgram>& program = latest_->outside[canonical_fields(spec.estimator) + spec.estimator.folder];
  if (!program || !program->runs()) program = std::make_shared<OutsideProgram>(spec.estimator);
  return program;
}

double estimator_bytes(const RunSpec& spec, double groups) {
  EstimatorConfig form = form_of(spec.estimator);
  std::vector<double> spaced;  // stands for corrected scores, whose numbers change no size
  for (int k = 1; k <= spec.env.levels(); ++k) spaced.push_back(2 * k);
  if (spec.estimator.corrected) form = with_values(form, spaced);
  return BatchEstimator(form, spec.env.levels(), group_size(spec)).bytes(groups);
}

}  // namespace odrpo
