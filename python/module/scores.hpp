// Reads arrays of numbers that belong to Python: of any type and strides, a few groups at a time, in double.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

namespace odrpo::python {

/// What an array holds.
enum class Number { float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64, boolean };

/// Numbers [groups][members] in memory of somebody else, who keeps them until the work is done. Strides count numbers.
struct Matrix {
  Number number = Number::float64;
  const void* data = nullptr;
  std::size_t groups = 0, members = 0;
  std::ptrdiff_t group_stride = 0, member_stride = 0;
};

/// A number that cannot be a score, and where it stands.
struct BadScore : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Scores, and which of them are there: those where `mask` is not 0. Without data in `mask` all are.
struct Scores {
  Matrix scores, mask;
  bool one_group = false;  ///< the array has one dimension, so that messages name one index
  std::size_t groups() const { return scores.groups; }
  std::size_t members() const { return scores.members; }
  /// Sets out[count][members] to the scores of the groups first, first + 1, ..; missing ones become NaN. Throws BadScore for a score that is there
  /// and is not finite, or beyond 1e100 (as `compute` does).
  void read(std::size_t first, std::size_t count, std::span<double> out) const;
  /// Sets out[count][members] to floats that lie side by side, if all are there and integers 0..most, most <= 254; false if they are not, or not so.
  bool read_levels(std::size_t first, std::size_t count, int most, std::span<std::uint8_t> out) const;
};

/// Sets out[count][members] to numbers of the matrix.
void read_numbers(const Matrix& matrix, std::size_t first, std::size_t count, std::span<double> out);

}  // namespace odrpo::python
