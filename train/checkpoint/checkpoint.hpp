// Saves checkpoints of a run in training every so many seconds and at a stop, and resumes the run in a later call.
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

// Archives. One function (keep) names the state; the same lines write it and read it back. Numbers are stored as their bytes in memory. So
// only the program and the kind of processor that wrote an archive can read it.

template <class T>
concept Number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

/// An archive that writes numbers, and texts, vectors and spans of numbers with their lengths. Calls keep(archive) of a value that has it.
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

/// An archive that reads what Saving wrote. At the first value that does not fit it fails, and from then on changes nothing.
class Loading {
 public:
  static constexpr bool loading = true;
  explicit Loading(std::string_view bytes) : bytes_(bytes) {}
  template <class... T>
  void operator()(T&&... values) {
    (get(values), ...);
  }
  /// Makes the reading fail unless the condition holds.
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

// CheckpointStore: keeps the state of long runs, from which a later call goes on.

/// Which hardware trains a run, as far as the run's bits depend on it.
struct MadeBy {
  Isa isa;
  std::string device = {};  ///< empty = the CPU alone
};

/// Functions that load and save checkpoints. Any worker's thread may call them; they throw nothing but std::bad_alloc. A
/// default-constructed store stores nothing.
struct CheckpointStore {
  std::function<std::string()> build = [] { return std::string(); };  ///< names the program's build: checkpoints of another are ignored
  double seconds = 30;  ///< a run is stored after so long a training since its beginning or its last checkpoint; 0 = after every step
  std::function<std::string(CheckpointKind, const std::string& name)> load = {};                   ///< the checkpoint's bytes; empty = there is none
  std::function<bool(CheckpointKind, const std::string& name, std::string_view bytes)> save = {};  ///< false when it could not be stored
  std::function<void(const std::string&)> report = {};                                             ///< shows a sentence to the user

  explicit operator bool() const { return load && save && report; }
};

/// Returns what a run's bits depend on besides its configuration: build, instruction set, engine of matrix products, device.
std::string made_by(const CheckpointStore& store, const MadeBy& by);

/// Returns the text with which a checkpoint must begin so that this run can be resumed from it: "checkpoint FORMAT: run KEY, by …".
std::string checkpoint_owner(const CheckpointStore& store, const RunSpec& spec, const MadeBy& by);

/// Stores what `write` puts into an archive. Returns false if it could not be stored, also when memory for the copy is missing: the run
/// then goes on.
template <class Write>
bool store_archive(const CheckpointStore& store, CheckpointKind kind, const std::string& name, Write&& write) try {
  Saving to;
  write(to);
  return store.save(kind, name, to.bytes);
} catch (const std::bad_alloc&) {
  return false;
}

/// The checkpoint of one run. R has a member t, the next step, and keep(archive). Not stored, since a resumed run makes them again to the same
/// bits: world, start weights, order of prompts, scalars of the optimiser, the judge's distributions. Nor are arrays that a step overwrites first.
template <class R>
class Checkpoints {
 public:
  /// `store` and `spec` must outlive this object. The time to the first checkpoint begins now.
  Checkpoints(const CheckpointStore& store, const RunSpec& spec, MadeBy by)
      : store_(store), spec_(spec), by_(std::move(by)), last_(now_seconds()) {}

  /// Resumes the run from an earlier call's checkpoint, if there is one that fits; reports what it found. Returns false when the run was
  /// partly overwritten by a checkpoint that does not fit: make the run anew.
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

  /// Call between two steps. Stores the run when a checkpoint is due, or when it must stop and has trained since the last checkpoint.
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
  // on demand, since naming a build reads the whole program file
  const std::string& owner() {
    if (owner_.empty()) owner_ = checkpoint_owner(store_, spec_, by_);
    return owner_;
  }

  const CheckpointStore& store_;
  const RunSpec& spec_;
  const MadeBy by_;
  std::string owner_;
  double last_;   // time of the last checkpoint, or of the beginning
  int step_ = 0;  // the run's next step when the last checkpoint was stored
};

}  // namespace odrpo
