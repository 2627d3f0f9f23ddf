// Launchers of the shared functors on a GPU.
#pragma once
#include <cstdint>
#include <vector>

namespace odrpo::gpu {

/// out[i] = word 0 of draw(key, action, i, 7, 9).
void words(std::uint64_t key, std::vector<std::uint32_t>& out);
/// out[i] = f(in[i]) for f = exp, log(1 + x^2), cos of x turns, erfc, in turn i % 4.
void elementary(const std::vector<double>& in, std::vector<double>& out);
/// out[i] = weight / norm of level i % 10 + 1 reached by i % 8 + 1 of 8 members (estimators/weights.hpp).
void level_terms(std::vector<double>& out);
/// Writes far outside of any allocation, so that the device takes no more work from this process.
void fail_on_purpose();

}  // namespace odrpo::gpu
