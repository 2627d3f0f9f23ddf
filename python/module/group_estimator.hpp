// Computes the advantages of arrays of groups for Python: chooses the fastest implementation that takes the scores it finds.
#pragma once
#include <cstddef>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "app/compute/arguments.hpp"
#include "estimators/batch.hpp"
#include "python/module/scores.hpp"

namespace odrpo::python {

/// The arguments that set an estimator: those of the function `advantage` of `compute` (batch = true: `batch_advantage`, for forms that read more than
/// one group), without scores and lengths. eps and ddof may be left out: they are then the form's own, or those of `compat`.
std::vector<app::Argument> estimator_takes(bool batch);

struct Extent;

/// An estimator with its settings. Safe from any thread. Remembers the tables of the last size of group.
class GroupEstimator {
 public:
  /// `settings`: an object with the arguments of estimator_takes(). Throws app::Refusal as `compute` does.
  explicit GroupEstimator(const nlohmann::json& settings);
  /// Sets out[groups][members] to the advantages of `scores`, in double or as floats; missing ones get 0. Floats of integer scores 0..100 come from the
  /// tables that training uses (estimators/batch.hpp), other scores in this range from the same tables in double, and all others from the
  /// definition. What is chosen follows from all scores of the call, and from nothing before it. `lengths`: tokens of each response, for forms that read them. Throws BadScore, app::Refusal or Failure for scores that the
  /// estimator cannot have.
  template <class Real>
  void estimate(const Scores& scores, const Matrix& lengths, std::span<Real> out);

 private:
  struct Way;
  Way way_for(const Extent& extent, std::size_t members) const;
  template <class Real>
  void some_groups(const Way& way, std::span<const double> reward, std::size_t members, std::span<Real> out) const;
  template <class Real>
  bool integer_groups(const Way& way, const Scores& scores, std::size_t first, std::span<Real> out) const;
  template <class Real>
  void whole_batch(const Scores& scores, const Matrix& lengths, std::span<Real> out) const;
  std::shared_ptr<const BatchEstimator> tables(std::size_t members, int levels, double groups);

  EstimatorConfig config_;
  int levels_;         ///< K where something reads it, else 0
  bool by_formula_;    ///< the definition says where a formula is not finite
  Isa isa_ = best_isa();
  std::mutex mutex_;   ///< of what follows
  std::shared_ptr<const BatchEstimator> tables_;
  std::size_t members_ = 0;
  int table_levels_ = 0;
  double groups_ = 0, next_try_ = 0;  ///< estimated so far with these tables; how many must be to look again whether a larger table pays
};

}  // namespace odrpo::python
