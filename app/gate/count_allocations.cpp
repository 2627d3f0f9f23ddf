// Counts the memory allocations of a measured program, as a library that LD_PRELOAD loads into it. The counter is in a memory page that the
// gate shares (counts.cpp). Links only the C library.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using Count = std::uint64_t;
Count* page = nullptr;  // [0] becomes 1 when this counter is loaded into the program, [1] counts allocations

void count() {
  if (page != nullptr) __atomic_fetch_add(page + 1, 1, __ATOMIC_RELAXED);
}

// memory that dlsym() gets if it allocates before the real malloc() is known
alignas(16) char early[1 << 16];
std::size_t early_used = 0;
bool is_early(const void* p) { return p >= early && p < early + sizeof early; }
void* early_allocate(std::size_t size, std::size_t alignment = 16) {
  const std::size_t from = (early_used + alignment - 1) / alignment * alignment;
  if (size > sizeof early - from) return nullptr;
  early_used = from + size;
  return early + from;
}

struct Real {
  void* (*allocate)(std::size_t);
  void* (*zeroed)(std::size_t, std::size_t);
  void* (*again)(void*, std::size_t);
  void* (*aligned)(std::size_t, std::size_t);
  int (*posix_aligned)(void**, std::size_t, std::size_t);
  void* (*of_aligned)(std::size_t, std::size_t);
  void (*release)(void*);
};
Real real{};
enum class State { unknown, looking, known } state = State::unknown;

template <class F>
void look_up(F& function, const char* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  std::memcpy(&function, &found, sizeof found);
}

bool known() {
  if (state == State::known) return true;
  if (state == State::looking) return false;
  state = State::looking;
  look_up(real.allocate, "malloc");
  look_up(real.zeroed, "calloc");
  look_up(real.again, "realloc");
  look_up(real.aligned, "memalign");
  look_up(real.posix_aligned, "posix_memalign");
  look_up(real.of_aligned, "aligned_alloc");
  look_up(real.release, "free");
  state = State::known;
  return true;
}

__attribute__((constructor)) void begin() {
  known();
  const char* fd = std::getenv("ODRPO_COUNT_ALLOCATIONS");
  if (fd == nullptr) return;
  char link[64], target[64] = {};  // a child process may have another file at this number
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", std::atoi(fd));
  if (readlink(link, target, sizeof target - 1) < 0 || std::strncmp(target, "/memfd:odrpo-count", 18) != 0) return;
  void* const shared = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, std::atoi(fd), 0);
  if (shared == MAP_FAILED) return;
  page = static_cast<Count*>(shared);
  __atomic_store_n(page, 1, __ATOMIC_RELAXED);
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) {
  if (!known()) return early_allocate(size);
  count();
  return real.allocate(size);
}
void* calloc(std::size_t n, std::size_t size) {
  if (!known()) return early_allocate(n * size);  // zeros, since static memory begins as zeros and no byte is handed out twice
  count();
  return real.zeroed(n, size);
}
void* realloc(void* old, std::size_t size) {
  if (is_early(old)) {
    void* const fresh = malloc(size);
    const std::size_t there = static_cast<std::size_t>(early + sizeof early - static_cast<char*>(old));
    if (fresh != nullptr) std::memcpy(fresh, old, size < there ? size : there);
    return fresh;
  }
  if (!known()) return early_allocate(size);
  count();
  return real.again(old, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  if (!known()) return early_allocate(size, alignment);
  count();
  return real.aligned(alignment, size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
  if (!known()) return (*out = early_allocate(size, alignment)) != nullptr ? 0 : ENOMEM;
  count();
  return real.posix_aligned(out, alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  if (!known()) return early_allocate(size, alignment);
  count();
  return real.of_aligned(alignment, size);
}
void free(void* p) {
  if (p == nullptr || is_early(p)) return;
  if (known()) real.release(p);
}
}
