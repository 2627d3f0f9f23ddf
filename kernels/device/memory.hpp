// Owns memory, streams and events of a CUDA device for plain C++. Compiled only if nvcc is available. Errors throw Failure with the source
// line of the call (Asked). Exit::device: the device failed; Exit::limits: more values than memory can hold; Exit::internal: a copy larger
// than its buffer.
#pragma once
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "kernels/device/devices.hpp"

struct CUstream_st;  // CUDA's own types behind its handles of streams and events
struct CUevent_st;

namespace odrpo {

/// Makes a device, by its index in find_devices(), the current one of the calling thread.
void use_device(int index, Asked from = Asked::current());

/// A CUDA stream: a queue of work on the current device, done in order.
class Stream {
 public:
  explicit Stream(Asked from = Asked::current());
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  CUstream_st* handle() const { return handle_; }
  /// Returns when all queued work is done; throws if some of it failed.
  void wait(Asked from = Asked::current()) const;

 private:
  CUstream_st* handle_ = nullptr;
};

/// A CUDA event: a mark in a stream, with the time at which the device reaches it.
class Event {
 public:
  explicit Event(Asked from = Asked::current());
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(const Stream& stream, Asked from = Asked::current());
  /// Seconds from the event `begin` to this one; waits until the device has reached both.
  double seconds_since(const Event& begin, Asked from = Asked::current()) const;

 private:
  CUevent_st* handle_ = nullptr;
};

namespace device_memory {
enum class Place { device, pinned };  ///< pinned: host memory that is locked, so that the device copies from and to it directly
void* take(Place place, std::size_t bytes, Asked from);
void give_back(Place place, void* p) noexcept;
enum class Way { to_device, from_device, within };
void copy(void* to, const void* from, std::size_t bytes, Way way, const Stream& stream, Asked asked);
void fill(void* to, int byte, std::size_t bytes, const Stream& stream, Asked asked);
[[noreturn]] void wrong_size(std::size_t has, std::size_t asked_for, Asked asked);
[[noreturn]] void too_many(std::size_t n, std::size_t size, Asked asked);
}  // namespace device_memory

/// An array of n values of T on the device or in pinned host memory; uninitialised, movable, not copyable.
template <class T, device_memory::Place place>
class OwnedMemory {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit OwnedMemory(std::size_t n, Asked from = Asked::current()) : size_(n) {
    if (n > static_cast<std::size_t>(-1) / 2 / sizeof(T)) device_memory::too_many(n, sizeof(T), from);
    if (n > 0) data_ = static_cast<T*>(device_memory::take(place, n * sizeof(T), from));
  }
  ~OwnedMemory() { device_memory::give_back(place, data_); }
  OwnedMemory(OwnedMemory&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  OwnedMemory& operator=(OwnedMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// An array in pinned host memory, for fast copies.
template <class T>
struct PinnedBuffer : OwnedMemory<T, device_memory::Place::pinned> {
  using OwnedMemory<T, device_memory::Place::pinned>::OwnedMemory;
  std::span<T> span() { return {this->data(), this->size()}; }
  std::span<const T> span() const { return {this->data(), this->size()}; }
};

/// An array in device memory. Copies are queued: what they read and write must live until Stream::wait().
template <class T>
struct DeviceBuffer : OwnedMemory<T, device_memory::Place::device> {
  using OwnedMemory<T, device_memory::Place::device>::OwnedMemory;
  void send(std::span<const T> from, const Stream& stream, Asked asked = Asked::current()) {
    need(from.size(), asked);
    device_memory::copy(this->data(), from.data(), from.size_bytes(), device_memory::Way::to_device, stream, asked);
  }
  void fetch(std::span<T> to, const Stream& stream, Asked asked = Asked::current()) const {
    need(to.size(), asked);
    device_memory::copy(to.data(), this->data(), to.size_bytes(), device_memory::Way::from_device, stream, asked);
  }
  /// Queues work that sets every byte of the array to `byte`.
  void fill(int byte, const Stream& stream, Asked asked = Asked::current()) {
    device_memory::fill(this->data(), byte, this->size() * sizeof(T), stream, asked);
  }

 private:
  void need(std::size_t n, Asked asked) const {
    if (n > this->size()) device_memory::wrong_size(this->size(), n, asked);
  }
};

}  // namespace odrpo
