// Locks a work folder for one writer, even if several machines share the folder. Private to results/store/; protocol:
// docs/many-machines.md.
#pragma once
#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "results/store/work/files.hpp"

namespace odrpo::store {

/// The process that holds a lock, as written in the lock's file.
struct LockOwner {
  std::string host, user, since;  ///< since: UTC, "2026-11-25 07:05:01"
  std::string boot, space;        ///< id of the machine's boot; id of its process-number namespace (process_space())
  long long process = 0;
  std::uint64_t started = 0;  ///< start time of that process, in clock ticks of its machine
  /// Describes this process.
  static LockOwner self();
  std::string text() const;
  /// Parses the text of a lock's file. The result has process 0 (nobody) for any other text: empty, cut, or of a program before lock
  /// version 1.
  static LockOwner read(std::string_view text);
};

/// A mark for names of temporary files: mark_begin and 16 hexadecimal digits, different for each call and each process.
std::string own_mark(const LockOwner& self);

/// The waiting times by which Lock::take() decides, and who takes the lock. Tests set their own.
struct LockRules {
  LockOwner self = LockOwner::self();
  double beat = 10;     ///< seconds between two signs of life (touches of the lock's file)
  double silence = 60;  ///< seconds without a sign of life after which the owner may be dead
  double patience = 0.2;  ///< seconds to wait for an owner that may be about to release the lock
  bool watches = true;    ///< watch a lock whose file is dated in the future for `silence` seconds …
  const std::atomic<bool>* stop = nullptr;  ///< … until this is set
};

/// The state of a lock, as its file shows it to other processes.
struct LockState {
  bool held = false;    ///< by a process that is, or may be, alive
  bool silent = false;  ///< held, but without a sign of life for longer than LockRules::silence
  bool ahead = false;   ///< its last sign of life is dated in the future, and nothing else shows whether its owner is alive
  std::string owner;    ///< "process 17 of ann on node7, since 2026-11-25 07:05:01 UTC, last sign of life 3 s ago"
};

/// A lock on a folder that several machines may share, for one writer at a time. It is a file with its owner's name, which the owner
/// touches while it lives. It is made by link(2), which is atomic on network file systems too, and also held by flock(2) where that exists.
/// If the owner was killed on this machine, the lock is taken over at once; if this machine restarted, after LockRules::silence. If the
/// owner fell silent on another machine, the lock is only reported, and the user must remove it.
class Lock {
 public:
  enum class Result { held, taken, gone };  ///< held: this object holds it; taken: another process does; gone: the folder is being removed
  Lock() = default;
  ~Lock() { release(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  /// Tries to take the lock for LockRules::patience seconds. Watches a lock dated in the future for LockRules::silence. Failure `io` if the
  /// lock's file cannot be made; Failure `stopped` if LockRules::stop is set while it watches.
  Result take(const Folder& folder, const std::string& name, const LockRules& rules = {});
  /// The lock of the other process, after `taken`.
  const LockState& other() const { return other_; }
  /// True if this object holds the lock, and the lock's file is still in the folder. (False after somebody removed the folder or the file.)
  bool stands(const Folder& folder, const std::string& name) const;
  void release();
  /// Makes the owner's name in the lock's file survive a crash, and reach other machines where flock() does not send it. Failure `io`.
  void sync() const;
  explicit operator bool() const { return static_cast<bool>(file_); }
  /// The lock of a folder that this process only reads; not held if there is none. Failure `io`.
  static LockState look(const Folder& folder, const std::string& name, const LockRules& rules = {});

 private:
  class Try;
  class Watch;
  Result try_once(const Folder& folder, const std::string& name, const LockRules& rules, Watch& watch, bool& again);
  void hold(File file, double beat);

  File file_;
  LockState other_;
  std::mutex mutex_;
  std::condition_variable released_;
  bool done_ = false;  // under mutex_
  std::thread heart_;
};

}  // namespace odrpo::store
