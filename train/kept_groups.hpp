// Keeps groups of a step while it draws other prompts: their rows of the arrays by prompt.
#pragma once
#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

namespace odrpo {

/// Rows of some groups, of several arrays [batch][…] of plain values. Each call gets the same arrays in the same order; empty ones are left alone.
class KeptGroups {
 public:
  std::size_t count() const { return count_; }
  void clear() {
    count_ = 0;
    for (auto& rows : rows_) rows.clear();
  }
  /// Adds the rows of these groups of the batch.
  template <class... T>
  void add(std::span<const std::size_t> groups, std::size_t batch, const std::vector<T>&... arrays) {
    rows_.resize(sizeof...(arrays));
    auto rows = rows_.begin();
    (append(groups, batch, arrays, *rows++), ...);
    count_ += groups.size();
  }
  /// Makes the first of the kept groups, at least as many as a batch has, the batch.
  template <class... T>
  void restore(std::vector<T>&... arrays) const {
    auto rows = rows_.begin();
    (std::copy_n((rows++)->data(), arrays.size() * sizeof(T), reinterpret_cast<std::byte*>(arrays.data())), ...);
  }

 private:
  template <class T>
  static void append(std::span<const std::size_t> groups, std::size_t batch, const std::vector<T>& array, std::vector<std::byte>& rows) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::size_t bytes = array.size() / batch * sizeof(T);
    for (const std::size_t g : groups) {
      const auto* from = reinterpret_cast<const std::byte*>(array.data()) + g * bytes;
      rows.insert(rows.end(), from, from + bytes);
    }
  }
  std::size_t count_ = 0;
  std::vector<std::vector<std::byte>> rows_;  // [arrays][count][…]
};

}  // namespace odrpo
