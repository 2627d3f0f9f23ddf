// Launchers of the shared functors on a GPU; each returns false when there is no device to run on.
#pragma once
#include <cstdint>
#include <vector>

namespace odrpo::gpu {

/// Is there a device that answers?
bool present();
/// out[i] = word 0 of draw(key, action, i, 7, 9).
bool words(std::uint64_t key, std::vector<std::uint32_t>& out);
/// out[i] = f(in[i]) for f = exp, log(1 + x^2), cos of x turns, erfc, in turn i % 4.
bool elementary(const std::vector<double>& in, std::vector<double>& out);
/// out[i] = weight / norm of level i % 10 + 1 reached by i % 8 + 1 of 8 members (estimators/weights.hpp).
bool level_terms(std::vector<double>& out);

}  // namespace odrpo::gpu
