// Packs records as bytes as they lie in memory, for this program alone: to send them from a child process, and for the row file. One
// function per struct names its fields, for packing and unpacking. Private to results/store/.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "results/store/file/hdf5.hpp"
#include "results/store/record.hpp"

namespace odrpo::store {

/// Packs: appends values to bytes.
struct Pack {
  std::string bytes;
  void raw(const void* data, std::size_t size) { bytes.append(static_cast<const char*>(data), size); }
  std::size_t length(std::size_t n) {
    raw(&n, sizeof n);
    return n;
  }
};

/// Unpacks: takes values from bytes, and throws Hdf5Error at their end. The bytes may be garbage, since the child process that sent them
/// may have crashed.
struct Unpack {
  std::string_view bytes;
  void raw(void* data, std::size_t size) {
    if (size > bytes.size()) throw Hdf5Error("the reader broke off");
    if (size > 0) std::memcpy(data, bytes.data(), size);
    bytes.remove_prefix(size);
  }
  std::size_t length(std::size_t) {
    std::size_t n = 0;
    raw(&n, sizeof n);
    if (n > bytes.size()) throw Hdf5Error("the reader broke off");
    return n;
  }
};

template <class A, class T>
requires std::is_arithmetic_v<T>
void exchange(A& a, T& value) { a.raw(&value, sizeof value); }
template <class A>
void exchange(A& a, bool& flag) {
  unsigned char byte = flag;
  a.raw(&byte, 1);
  flag = byte != 0;
}
template <class A>
void exchange(A& a, std::string& text) {
  text.resize(a.length(text.size()));
  a.raw(text.data(), text.size());
}
template <class A, class T>
void exchange(A& a, std::vector<T>& items);
template <class A, class T, class U>
void exchange(A& a, std::pair<T, U>& pair) {
  exchange(a, pair.first);
  exchange(a, pair.second);
}
template <class A>
void exchange(A& a, AxisValue& value) {
  std::uint8_t kind = static_cast<std::uint8_t>(value.index());
  exchange(a, kind);
  if (value.index() != kind) {
    if (kind == 0) value = std::int64_t{0};
    if (kind == 1) value = 0.0;
    if (kind == 2) value = std::string();
  }
  std::visit([&](auto& held) { exchange(a, held); }, value);
}
template <class A>
void exchange(A& a, Final& final_value) {
  exchange(a, final_value.name);
  exchange(a, final_value.value);
}
template <class A>
void exchange(A& a, Curve& curve) {
  exchange(a, curve.name);
  exchange(a, curve.values);
}
template <class A>
void exchange(A& a, RunRecord& run) {
  for (std::string* text : {&run.id, &run.key, &run.env, &run.rater, &run.policy, &run.estimator, &run.error}) exchange(a, *text);
  exchange(a, run.votes);
  exchange(a, run.seed);
  exchange(a, run.axes);
  bool failed = run.status == RunStatus::failed;
  exchange(a, failed);
  run.status = failed ? RunStatus::failed : RunStatus::ok;
  exchange(a, run.finals);
  exchange(a, run.step);
  exchange(a, run.curves);
  exchange(a, run.evaluated);
  exchange(a, run.rollouts);
  exchange(a, run.seconds);
  exchange(a, run.step_time_median);
}
template <class A>
void exchange(A& a, ColumnInfo& info) {
  exchange(a, info.name);
  exchange(a, info.axis);
  exchange(a, info.numeric);
  exchange(a, info.integer);
}
/// Packs or unpacks all members but `columns` and `rows`.
template <class A>
void exchange(A& a, ResultFile& file) {
  for (std::string* text : {&file.suite, &file.version, &file.status, &file.digest, &file.fingerprint}) exchange(a, *text);
  exchange(a, file.runs);
  exchange(a, file.all);
  exchange(a, file.failed);
  exchange(a, file.failed_ids);
  exchange(a, file.provenance);
  exchange(a, file.curves);
}
template <class A, class T>
void exchange(A& a, std::vector<T>& items) {
  const std::size_t count = a.length(items.size());
  if constexpr (std::is_same_v<A, Unpack>)  // bounds the allocation for garbage: a text or a list takes at least 8 bytes
    if (count > a.bytes.size() / (std::is_arithmetic_v<T> ? sizeof(T) : 8)) throw Hdf5Error("the reader broke off");
  items.resize(count);
  if constexpr (std::is_arithmetic_v<T>) {
    a.raw(items.data(), items.size() * sizeof(T));
  } else {
    for (T& item : items) exchange(a, item);
  }
}

template <class T>
std::string packed(T& value) {
  Pack pack;
  exchange(pack, value);
  return std::move(pack.bytes);
}

}  // namespace odrpo::store
