// Checkpoints of a run in training: written every so many seconds and when the run is stopped, taken up by a later call.
#pragma once
#include <cstdint>
#include <cstring>
#include <functional>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "config/spec.hpp"
#include "kernels/isa.hpp"
#include "kernels/shared/clock.hpp"
#include "results/store/record.hpp"

namespace odrpo {

// Archives: one function names what is kept of something, and the same lines write it and read it back. Bytes as they lie in memory: for
// the program and the kind of processor that wrote them.

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

// CheckpointStore: where a long run puts the state from which a later call goes on.

/// Who trains a run, in as far as its bits depend on it.
struct MadeBy {
  Isa isa;
  std::string device = {};  ///< empty = the CPU alone
};

/// Called from any worker's thread; none throws anything but std::bad_alloc. A default one stores nothing.
struct CheckpointStore {
  std::function<std::string()> build = [] { return std::string(); };  ///< names the program's build: another build's are not taken up
  double seconds = 30;  ///< a run is stored when it has trained for so long since it began or was stored last; 0 = after every step
  std::function<std::string(CheckpointKind, const std::string& name)> load = {};                   ///< empty when there is none
  std::function<bool(CheckpointKind, const std::string& name, std::string_view bytes)> save = {};  ///< false when it is not stored
  std::function<void(const std::string&)> report = {};                                             ///< a sentence for the user

  explicit operator bool() const { return load && save && report; }
};

/// What the bits of a run depend on besides its configuration: the build, the instruction set, the engine of matrix products and the device.
std::string made_by(const CheckpointStore& store, const MadeBy& by);

/// "checkpoint FORMAT: run KEY, by …": what a checkpoint must begin with to be taken up.
std::string checkpoint_owner(const CheckpointStore& store, const RunSpec& spec, const MadeBy& by);

/// Stores what `write` puts into an archive; says whether it is stored. No memory for a copy is no reason to give a run up.
template <class Write>
bool store_archive(const CheckpointStore& store, CheckpointKind kind, const std::string& name, Write&& write) try {
  Saving to;
  write(to);
  return store.save(kind, name, to.bytes);
} catch (const std::bad_alloc&) {
  return false;
}

/// The checkpoint of one run. R has a member t, the step to come, and keep(archive). Made again bit by bit, and so not stored: the world,
/// the start, the order of prompts, the optimiser's scalars, the judge's distributions, and all that a step begins with overwriting.
template <class R>
class Checkpoints {
 public:
  /// `store` and `spec` must outlive it. The clock starts now.
  Checkpoints(const CheckpointStore& store, const RunSpec& spec, MadeBy by)
      : store_(store), spec_(spec), by_(std::move(by)), last_(now_seconds()) {}

  /// Goes on where an earlier call was, if it left a checkpoint that fits; reports what it found. False when the run was half read: it
  /// must be made anew.
  bool resume(R& run) {
    if (!store_) return true;
    const std::string bytes = store_.load(CheckpointKind::run, spec_.id);
    if (bytes.empty()) return true;
    Loading from(bytes);
    std::string whose;
    from(whose);
    if (whose != owner()) {
      store_.report("ignored the checkpoint of " + spec_.id + ": another program, kind of processor or device left it");
      return true;
    }
    run.keep(from);
    if (!from.finished() || !run.is_consistent(spec_)) {
      store_.report("ignored the checkpoint of " + spec_.id + ": it does not fit the run");
      return false;
    }
    run.world.restored(run.t);
    step_ = run.t;
    store_.report("continued " + spec_.id + " at step " + std::to_string(step_) + " of " + std::to_string(spec_.learn.steps));
    return true;
  }

  /// Between two steps: stores the run when it is due, or when it must stop and has trained anything since.
  void save_when_due(R& run, bool stopping) {
    if (!store_ || run.t == step_ || !(stopping || now_seconds() - last_ >= store_.seconds)) return;
    const bool stored = store_archive(store_, CheckpointKind::run, spec_.id, [&](Saving& to) {
      to(owner());
      run.keep(to);
    });
    last_ = now_seconds();
    if (stored) step_ = run.t;
  }

 private:
  // naming a build reads the whole program: not before somebody asks
  const std::string& owner() {
    if (owner_.empty()) owner_ = checkpoint_owner(store_, spec_, by_);
    return owner_;
  }

  const CheckpointStore& store_;
  const RunSpec& spec_;
  const MadeBy by_;
  std::string owner_;
  double last_;   // when it was stored, or began
  int step_ = 0;  // at which it was stored
};

}  // namespace odrpo
