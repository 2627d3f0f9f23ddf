// Archives: one function names what is kept of something, and the same lines write it and read it back. Bytes as they lie in memory: for
// the program and the kind of processor that wrote them.
#pragma once
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace odrpo {

template <class T>
concept Number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

/// Writes numbers, and texts, vectors and spans of numbers with their lengths; what has a member keep(archive) is asked.
class Saving {
 public:
  static constexpr bool loading = false;
  template <class... T>
  void operator()(T&&... values) {
    (put(values), ...);
  }
  void require(bool) {}
  std::string bytes;

 private:
  template <class T>
  void put(T& x) {
    if constexpr (Number<std::remove_cv_t<T>>) add(&x, sizeof x);
    else if constexpr (requires { x.keep(*this); }) x.keep(*this);
    else put_all(x);
  }
  template <class Many>
  void put_all(const Many& many) {
    static_assert(Number<std::remove_cv_t<typename Many::value_type>>);
    const std::uint64_t count = many.size();
    add(&count, sizeof count);
    add(many.data(), many.size() * sizeof *many.data());
  }
  void add(const void* from, std::size_t size) { bytes.append(static_cast<const char*>(from), size); }
};

/// Reads what Saving wrote. Nothing that does not fit is read: from then on it has failed, and leaves everything as it is.
class Loading {
 public:
  static constexpr bool loading = true;
  explicit Loading(std::string_view bytes) : bytes_(bytes) {}
  template <class... T>
  void operator()(T&&... values) {
    (get(values), ...);
  }
  /// Fails unless the condition holds.
  void require(bool condition) { good_ = good_ && condition; }
  bool good() const { return good_; }
  bool finished() const { return good_ && bytes_.empty(); }

 private:
  template <class T>
  void get(T& x) {
    if constexpr (Number<T>) take(&x, sizeof x);
    else if constexpr (requires { x.keep(*this); }) x.keep(*this);
    else get_all(x);
  }
  template <class Many>
  void get_all(Many& many) {
    static_assert(Number<typename Many::value_type>);
    constexpr std::size_t each = sizeof(typename Many::value_type);
    std::uint64_t count = 0;
    take(&count, sizeof count);
    require(count <= bytes_.size() / each);
    if constexpr (requires { many.resize(count); }) {
      if (good_) many.resize(count);
    } else {
      require(count == many.size());  // a span cannot grow
    }
    if (good_) take(many.data(), count * each);
  }
  void take(void* to, std::size_t size) {
    require(size <= bytes_.size());
    if (!good_ || size == 0) return;
    std::memcpy(to, bytes_.data(), size);
    bytes_.remove_prefix(size);
  }
  std::string_view bytes_;
  bool good_ = true;
};

}  // namespace odrpo
