// The passes of the batch form on the current CUDA device: the same bits as on the host. Built only where nvcc is.
#pragma once
#include <cstdint>
#include <vector>

#include "estimators/batch.hpp"
#include "kernels/device/memory.hpp"

namespace odrpo {

/// A BatchEstimator whose tables lie on the device.
class DeviceEstimator {
 public:
  DeviceEstimator(const BatchEstimator& estimator, const Stream& stream, Asked from = Asked::current());
  /// Sends the tables again, after set_median() of the same estimator.
  void update(const BatchEstimator& estimator, const Stream& stream, Asked from = Asked::current());
  /// Queues out[group][G] of score[group][G], both in device memory and aligned to a group (score to G bytes when G is 8 or 16, out to 16
  /// bytes); scores 0..levels, none missing.
  void operator()(const std::uint8_t* score, std::size_t groups, float* out, const Stream& stream, Asked from = Asked::current()) const;

 private:
  EstimatorView view_;
  std::vector<float> host_;  // what is sent, alive while it is
  DeviceBuffer<float> term_;
};

}  // namespace odrpo
