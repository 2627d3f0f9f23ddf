// Locks a work folder for one writer, on any machine that shares the folder. Private to results/store/; protocol: docs/many-machines.md.
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

/// The process that holds a lock, as the lock's file names it.
struct LockOwner {
  std::string host, user, since;  ///< since: UTC, "2026-11-25 07:05:01"
  std::string boot, space;        ///< of the machine's boot; of its space of process numbers (process_space())
  long long process = 0;
  std::uint64_t started = 0;  ///< when that process started, in clock ticks of its machine
  /// This process, now.
  static LockOwner self();
  std::string text() const;
  /// The owner that a text names; nobody (process 0) for another text, as an empty one or that of a program before version 1 of locks.
  static LockOwner read(std::string_view text);
};

/// A mark for names of temporary files: mark_begin and 16 hexadecimal digits. Each call and process gets another.
std::string own_mark(const LockOwner& self);

/// How a lock is taken. The tests have rules of their own.
struct LockRules {
  LockOwner self = LockOwner::self();
  double beat = 10;     ///< seconds between two signs of life
  double silence = 60;  ///< seconds without one after which the owner may be dead
  double patience = 0.2;  ///< seconds to wait for an owner that may be going
  bool watches = true;    ///< a lock that is dated in the future is watched for `silence` …
  const std::atomic<bool>* stop = nullptr;  ///< … until this is set
};

/// What a lock's file says to whoever does not hold it.
struct LockState {
  bool held = false;    ///< by a process that lives, or may
  bool silent = false;  ///< held, and without a sign of life for longer than LockRules::silence
  bool ahead = false;   ///< its last sign of life is dated in the future, and nothing else shows whether its owner lives
  std::string owner;    ///< "process 17 of ann on node7, since 2026-11-25 07:05:01 UTC, last sign of life 3 s ago"
};

/// A lock on a folder that several machines share, for one writer at a time. It is a file with its owner's name, touched while the owner
/// lives. It is made by link(2), which is atomic on network file systems, and also held by flock where there is one. So a killed owner on
/// the same machine is noticed at once, one before the machine's restart after LockRules::silence. One that fell silent on another machine
/// is reported, and its lock is left to people.
class Lock {
 public:
  enum class Result { held, taken, gone };  ///< held: now ours; taken: another process has it; gone: the folder is being removed
  Lock() = default;
  ~Lock() { release(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  /// Tries for LockRules::patience; watches a lock that is dated in the future for LockRules::silence. Failure io when it cannot be made,
  /// `stopped` when LockRules::stop is set while it watches.
  Result take(const Folder& folder, const std::string& name, const LockRules& rules = {});
  /// Who has it, after `taken`.
  const LockState& other() const { return other_; }
  /// Is the lock held, and is its file still the one in the folder? (Not when somebody removed the folder or the file.)
  bool stands(const Folder& folder, const std::string& name) const;
  void release();
  explicit operator bool() const { return static_cast<bool>(file_); }
  /// Who holds the lock of a folder that is only read; nobody when there is none. Failure io.
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
