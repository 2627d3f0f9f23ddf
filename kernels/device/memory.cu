// Implements streams, events, memory and failure messages through the CUDA runtime.
#include <cstdio>
#include <string>
#include <string_view>

#include "kernels/device/check.cuh"
#include "kernels/device/memory.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo {
namespace {

std::string mebibytes(std::size_t bytes) {
  char text[40];
  std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / (1 << 20));
  return text;
}

// What to add to CUDA's message for an error; empty if that message is enough.
std::string advice(cudaError_t error, std::size_t bytes) {
  switch (error) {
    case cudaErrorMemoryAllocation: {
      std::size_t free = 0, total = 0;
      const bool known = cudaMemGetInfo(&free, &total) == cudaSuccess;
      std::string text = bytes > 0 ? "asked for " + mebibytes(bytes) : "the device's memory is full";
      if (known) text += ", " + mebibytes(free) + " of " + mebibytes(total) + " are free";
      return text;
    }
    case cudaErrorInsufficientDriver: return "there is no NVIDIA driver, or it is too old for this program";
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorMisalignedAddress:
    case cudaErrorAssert: return "a kernel failed: a bug in this program; the device takes no more work from this process";
    case cudaErrorECCUncorrectable:
    case cudaErrorHardwareStackError:
    case cudaErrorDevicesUnavailable:
    case cudaErrorLaunchTimeout:
    case cudaErrorSystemNotReady:
    case cudaErrorUnknown: return "the device is lost or busy; results on disk are safe, start again when nvidia-smi shows it well";
    default: return "";
  }
}

}  // namespace

// keeps the last folder and the file of the path that the compiler was given
std::string line_of(Asked from) {
  std::string_view file = from.file;
  if (const auto name = file.rfind('/'); name != file.npos)
    if (const auto folder = file.rfind('/', name - 1); name > 0 && folder != file.npos) file.remove_prefix(folder + 1);
  return std::string(file) + ":" + std::to_string(from.line);
}

void device_failed(cudaError_t error, const char* doing, Asked from, std::size_t bytes) {
  std::string text = std::string("CUDA cannot ") + doing + ": " + cudaGetErrorString(error);
  if (const std::string more = advice(error, bytes); !more.empty()) text += " (" + more + ")";
  cudaGetLastError();  // clears the error, so that later calls do not report it again
  throw Failure(Exit::device, text + " [" + cudaGetErrorName(error) + " at " + line_of(from) + "]");
}

void use_device(int index, Asked from) { check(cudaSetDevice(index), "use the device", from); }

Stream::Stream(Asked from) { check(cudaStreamCreateWithFlags(&handle_, cudaStreamNonBlocking), "make a stream", from); }
Stream::~Stream() {
  if (handle_ != nullptr) cudaStreamDestroy(handle_);
}
void Stream::wait(Asked from) const { check(cudaStreamSynchronize(handle_), "finish the queued work", from); }

Event::Event(Asked from) { check(cudaEventCreate(&handle_), "make an event", from); }
Event::~Event() {
  if (handle_ != nullptr) cudaEventDestroy(handle_);
}
void Event::record(const Stream& stream, Asked from) { check(cudaEventRecord(handle_, stream.handle()), "record an event", from); }
double Event::seconds_since(const Event& begin, Asked from) const {
  float milliseconds = 0;
  check(cudaEventSynchronize(handle_), "finish the queued work", from);
  check(cudaEventElapsedTime(&milliseconds, begin.handle_, handle_), "read the time between events", from);
  return 1e-3 * milliseconds;
}

namespace device_memory {

void* take(Place place, std::size_t bytes, Asked from) {
  void* p = nullptr;
  const bool pinned = place == Place::pinned;
  const cudaError_t error = pinned ? cudaMallocHost(&p, bytes) : cudaMalloc(&p, bytes);
  if (error != cudaSuccess) device_failed(error, pinned ? "lock memory of the host" : "take memory of the device", from, bytes);
  return p;
}

void give_back(Place place, void* p) noexcept {
  if (p == nullptr) return;
  if (place == Place::pinned) cudaFreeHost(p);
  else cudaFree(p);
}

void copy(void* to, const void* from, std::size_t bytes, Way way, const Stream& stream, Asked asked) {
  if (bytes == 0) return;
  const auto kind = way == Way::to_device     ? cudaMemcpyHostToDevice
                    : way == Way::from_device ? cudaMemcpyDeviceToHost
                                              : cudaMemcpyDeviceToDevice;
  check(cudaMemcpyAsync(to, from, bytes, kind, stream.handle()), "queue a copy", asked);
}

void fill(void* to, int byte, std::size_t bytes, const Stream& stream, Asked asked) {
  if (bytes > 0) check(cudaMemsetAsync(to, byte, bytes, stream.handle()), "queue a fill", asked);
}

void wrong_size(std::size_t has, std::size_t asked_for, Asked asked) {
  throw Failure(Exit::internal, "a device buffer of " + std::to_string(has) + " values was asked for " + std::to_string(asked_for) +
                                    " at " + line_of(asked));
}
void too_many(std::size_t n, std::size_t size, Asked asked) {
  throw Failure(Exit::limits,
                std::to_string(n) + " values of " + std::to_string(size) + " bytes are more than memory holds, at " + line_of(asked));
}

}  // namespace device_memory
}  // namespace odrpo
