// What the runs of a suite share, made when it is first asked for: worlds, fits, vote distributions, rated worlds, supervised starts, estimators.
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
class DistributionCache;
struct PosteriorModel;
class PosteriorVotes;
struct RatedWorld;
struct RunSpec;

/// Weights after the supervised steps of a transformer, which all runs of one seed, world and model share.
struct WarmStart {
  std::vector<float> weights;  ///< empty without supervised steps
  std::size_t bytes() const { return weights.size() * sizeof(float); }
};

/// theta of fit_linear() (policies/softmax/policy.hpp), which all tilted linear policies of one world share.
struct LinearFit {
  std::vector<double> theta;
  std::size_t bytes() const { return theta.size() * sizeof(double); }
};

/// Safe from any thread. A value is made by the first thread that asks for its key, while others that ask for it wait. It is dropped when
/// no run and no copy of the cache holds it and the cache is full, so schedule runs of one seed and env next to each other.
///
/// Copies share the values. Each copy holds the latest value of each kind that it was asked for, whatever its size, until it is asked for
/// another: a worker with a copy of its own keeps its world between two runs, and never holds two.
class RunCache {
 public:
  template <class T>
  using Make = std::function<std::shared_ptr<T>()>;  ///< null when it was stopped: nothing is stored then

  RunCache();
  RunCache(const RunCache& other);
  ~RunCache();
  RunCache& operator=(const RunCache&) = delete;

  /// Bytes of each kind that may stay in memory without a run that uses them.
  static constexpr std::size_t unused_bytes = std::size_t{128} << 20;
  /// Threads that one caller may use to make what a batch of runs needs.
  int threads = 1;

  std::shared_ptr<const BanditWorld> world(const std::string& key, const Make<const BanditWorld>& make);
  std::shared_ptr<const LinearFit> fit(const std::string& key, const Make<const LinearFit>& make);
  std::shared_ptr<DistributionCache> distributions(const std::string& key, const Make<DistributionCache>& make);
  std::shared_ptr<const RatedWorld> rated(const std::string& key, const Make<const RatedWorld>& make);
  std::shared_ptr<const PosteriorModel> posterior_model(const std::string& key, const Make<const PosteriorModel>& make);
  std::shared_ptr<const PosteriorVotes> posterior_votes(const std::string& key, const Make<const PosteriorVotes>& make);
  std::shared_ptr<const HistogramTable> posterior_table(const std::string& key, const Make<const HistogramTable>& make);
  std::shared_ptr<const WarmStart> warm_start(const std::string& key, const Make<const WarmStart>& make);
  /// The run's estimator. Runs of one estimator share its tables by histogram, which are made once they have enough groups between them;
  /// `look_up` false: this run has no use for them.
  std::shared_ptr<const BatchEstimator> estimator(const RunSpec& spec, Isa isa, bool look_up = true);

 private:
  struct State;
  struct Latest;
  std::shared_ptr<State> state_;
  std::unique_ptr<Latest> latest_;
};

/// Bytes of a run's estimator, which runs of one estimator share, when they estimate so many groups together.
double estimator_bytes(const RunSpec& spec, double groups);

}  // namespace odrpo
