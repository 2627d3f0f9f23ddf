// Declares the cache of what runs share: worlds, linear fits, vote distributions, rated worlds, judge models, warm starts, estimators.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/isa.hpp"

namespace odrpo {

struct BanditWorld;
class BatchEstimator;
class HistogramTable;
class OutsideProgram;
class DistributionCache;
struct PosteriorModel;
class PosteriorVotes;
struct RatedWorld;
struct RolloutPrior;
struct RunSpec;
class Team;

/// Weights of a transformer after its supervised steps. All runs of one seed, world and model share them.
struct WarmStart {
  std::vector<float> weights;  ///< empty without supervised steps
  std::size_t bytes() const { return weights.size() * sizeof(float); }
};

/// The parameters theta of fit_linear() (policies/softmax/policy.hpp). All tilted linear policies of one world share them.
struct LinearFit {
  std::vector<double> theta;
  std::size_t bytes() const { return theta.size() * sizeof(double); }
};

/// Keeps values under keys, which are texts. Any thread may call it. The first thread that asks for a key makes its value; others that ask
/// for it wait. A full cache drops values that no run and no copy of the cache holds. So train runs of one seed and env one
/// after another.
///
/// Copies share the values. Each copy also holds the last value of each kind that it was asked for, whatever its size, until it is asked
/// for another. So a worker with its own copy keeps its world between two runs, and never holds two worlds.
class RunCache {
 public:
  template <class T>
  using Make = std::function<std::shared_ptr<T>()>;  ///< makes a value; null = it was stopped, and nothing is stored

  RunCache();
  RunCache(const RunCache& other);
  ~RunCache();
  RunCache& operator=(const RunCache&) = delete;

  /// Most bytes of values of each kind that stay in memory while no run uses them.
  static constexpr std::size_t unused_bytes = std::size_t{128} << 20;
  /// Threads that the owner of this copy may use.
  int threads = 1;
  /// These threads, started at the first call, for the owner of this copy alone.
  Team& team();

  std::shared_ptr<const BanditWorld> world(const std::string& key, const Make<const BanditWorld>& make);
  std::shared_ptr<const LinearFit> fit(const std::string& key, const Make<const LinearFit>& make);
  std::shared_ptr<const RolloutPrior> rollout_prior(const std::string& key, const Make<const RolloutPrior>& make);
  std::shared_ptr<DistributionCache> distributions(const std::string& key, const Make<DistributionCache>& make);
  std::shared_ptr<const RatedWorld> rated(const std::string& key, const Make<const RatedWorld>& make);
  std::shared_ptr<const PosteriorModel> posterior_model(const std::string& key, const Make<const PosteriorModel>& make);
  std::shared_ptr<const PosteriorVotes> posterior_votes(const std::string& key, const Make<const PosteriorVotes>& make);
  std::shared_ptr<const HistogramTable> posterior_table(const std::string& key, const Make<const HistogramTable>& make);
  std::shared_ptr<const WarmStart> warm_start(const std::string& key, const Make<const WarmStart>& make);
  /// Returns the run's estimator. Runs of one estimator share a table of the advantages of all histograms (counts of each score in a
  /// group). It is made once these runs together have enough groups. `look_up` false: this run does not use the table.
  std::shared_ptr<const BatchEstimator> estimator(const RunSpec& spec, Isa isa, bool look_up = true);
  /// Returns the program that computes the run's advantages; null where none does. Each copy of the cache starts one for each estimator, keeps it for its next runs,
  /// and starts another after a failure. Throws as OutsideProgram.
  std::shared_ptr<OutsideProgram> outside(const RunSpec& spec);

 private:
  struct State;
  struct Latest;
  std::shared_ptr<State> state_;
  std::unique_ptr<Latest> latest_;
};

/// Returns the bytes of a run's estimator with its tables, if the runs that share it estimate `groups` groups in all.
double estimator_bytes(const RunSpec& spec, double groups);

}  // namespace odrpo
