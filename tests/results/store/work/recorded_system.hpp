// A file system that remembers what was synced: it records every call that changes something, and lays out what a power cut after any of
// them would leave, with all or some of what was not synced lost.
#pragma once
#include <fcntl.h>
#include <stdio.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "results/store/work/files.hpp"

namespace odrpo::sample {

/// What of the unsynced changes survives a power cut.
enum class Survives { nothing, names, everything, some };  ///< names: renames and removals, but no contents
inline constexpr Survives all_survives[] = {Survives::nothing, Survives::names, Survives::everything, Survives::some};

class Recording {
 public:
  explicit Recording(std::string root) : root_(std::move(root)) { folders_[0]; }
  /// From here on this many runs are safe.
  void committed(std::size_t runs) {
    const std::lock_guard lock(mutex_);
    log_.push_back({Op::commit, runs, 0, 0, {}, {}, 0, {}});
  }
  std::size_t size() const { return log_.size(); }

  /// Lays out in `to` what is on the disk when the power fails after the first `count` calls. Returns how many runs were safe.
  std::size_t lay_out(const std::string& to, std::size_t count, Survives survives, std::mt19937& rng) const {
    Disk disk;
    std::size_t runs = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (log_[i].op == Op::commit) runs = log_[i].id;
      else disk.apply(log_[i]);
    }
    disk.cut(survives, rng);
    disk.write(to, 0);
    return runs;
  }

  /// The calls that change names or sync, in their order, a line each: "sync out.h5.work". Writes to one file until its sync are one line.
  std::vector<std::string> lines() const;

  /// The system calls, done and recorded. The recording outlives it.
  System system();

 private:
  enum class Op { create, write, resize, sync_file, sync_folder, rename, exchange, unlink, mkdir, commit };
  struct Entry {
    Op op;
    std::size_t id = 0;          ///< file or folder made, written, synced or renamed; runs of a commit
    std::size_t folder = 0, to = 0;  ///< folder of `name`, of `new_name`
    std::string name, new_name;
    std::uint64_t at = 0;
    std::string bytes;
    std::size_t other = 0;  ///< the file on the other side of an exchange
  };
  struct Node {
    bool folder = false;
    std::size_t id = 0;
  };
  using Names = std::map<std::string, Node>;

  /// The disk while calls are applied: what is, what is safe, and changes of names that are not safe yet.
  struct Disk {
    std::map<std::size_t, std::string> now, safe;
    std::map<std::size_t, Names> names, safe_names;
    std::vector<Entry> pending;
    Disk() { names[0], safe_names[0]; }
    static void change(std::map<std::size_t, Names>& all, const Entry& e) {
      if (e.op == Op::create) all[e.folder][e.name] = {false, e.id};
      if (e.op == Op::mkdir) all[e.folder][e.name] = {true, e.id};
      if (e.op == Op::unlink) all[e.folder].erase(e.name);
      if (e.op != Op::rename && e.op != Op::exchange) return;
      all[e.folder].erase(e.name);  // of a rename the file arrives even where the folder that it comes from never knew it
      if (e.op == Op::exchange) all[e.folder][e.name] = {false, e.other};
      all[e.to][e.new_name] = {false, e.id};
    }
    void apply(const Entry& e) {
      switch (e.op) {
        case Op::write:
          if (now[e.id].size() < e.at + e.bytes.size()) now[e.id].resize(e.at + e.bytes.size());
          now[e.id].replace(e.at, e.bytes.size(), e.bytes);
          break;
        case Op::resize: now[e.id].resize(e.at); break;
        case Op::sync_file: safe[e.id] = now[e.id]; break;
        case Op::sync_folder: {  // changes of names in this folder, in their order
          std::vector<Entry> rest;
          for (const Entry& p : pending)
            if (p.folder == e.id || p.to == e.id) change(safe_names, p);
            else rest.push_back(p);
          pending = rest;
          break;
        }
        case Op::create: now[e.id], safe[e.id]; [[fallthrough]];
        default: change(names, e), pending.push_back(e);
      }
    }
    void cut(Survives survives, std::mt19937& rng) {
      for (const Entry& p : pending)
        if (survives == Survives::names || survives == Survives::everything || (survives == Survives::some && rng() % 2)) change(safe_names, p);
      for (auto& [id, bytes] : now) {
        if (safe[id] == bytes) continue;
        if (survives == Survives::everything || (survives == Survives::some && rng() % 3 == 0)) safe[id] = bytes;
        else if (survives == Survives::some && rng() % 2) safe[id] = bytes.substr(0, bytes.empty() ? 0 : rng() % bytes.size());
      }
    }
    void write(const std::string& to, std::size_t folder) const {
      std::filesystem::create_directories(to);
      const auto at = safe_names.find(folder);
      if (at == safe_names.end()) return;
      for (const auto& [name, node] : at->second)
        if (node.folder) write(to + "/" + name, node.id);
        else std::ofstream(to + "/" + name, std::ios::binary) << safe.at(node.id);
    }
  };

  void record(Entry entry) { log_.push_back(std::move(entry)); }

  std::string root_;
  std::mutex mutex_;
  std::vector<Entry> log_;
  std::map<std::size_t, Names> folders_;     ///< as they are now
  std::map<int, Node> open_;                 ///< by descriptor
  std::size_t next_ = 1;
};

inline std::vector<std::string> Recording::lines() const {
  std::vector<std::string> lines;
  std::map<std::size_t, std::string> names{{0, "."}};
  std::set<std::size_t> unsynced;
  for (const Entry& e : log_) {
    switch (e.op) {
      case Op::create: names[e.id] = e.name, lines.push_back("create " + e.name); break;
      case Op::mkdir: names[e.id] = e.name, lines.push_back("mkdir " + e.name); break;
      case Op::write:
      case Op::resize:
        if (unsynced.insert(e.id).second) lines.push_back("write " + names[e.id]);
        break;
      case Op::sync_file:
      case Op::sync_folder: unsynced.erase(e.id), lines.push_back("sync " + names[e.id]); break;
      case Op::exchange: names[e.other] = e.name; [[fallthrough]];
      case Op::rename:
        names[e.id] = e.new_name;
        lines.push_back((e.op == Op::rename ? "rename " : "exchange ") + e.name + " " + e.new_name);
        break;
      case Op::unlink: lines.push_back("unlink " + e.name); break;
      case Op::commit: break;
    }
  }
  return lines;
}

inline System Recording::system() {
  const System real = posix_system();
  System s = real;
  const auto folder_of = [this](int folder) { return open_.contains(folder) ? open_[folder].id : ~std::size_t{0}; };
  s.open = [=, this](int folder, const char* name, int flags, mode_t mode) {
    const std::lock_guard lock(mutex_);
    const int file = real.open(folder, name, flags, mode);
    if (file < 0) return file;
    if (folder == AT_FDCWD) {
      if (root_ == name) open_[file] = {true, 0};
      return file;  // otherwise only read
    }
    Names& names = folders_[folder_of(folder)];
    if (std::string_view(name) == ".") {
      open_[file] = open_[folder];
    } else if (const auto at = names.find(name); at != names.end()) {
      open_[file] = at->second;
    } else {
      open_[file] = names[name] = {false, next_++};
      record({Op::create, open_[file].id, folder_of(folder), folder_of(folder), name, {}, 0, {}});
    }
    return file;
  };
  s.close = [=, this](int file) {
    const std::lock_guard lock(mutex_);
    open_.erase(file);
    return real.close(file);
  };
  s.write = [=, this](int file, const void* from, std::size_t size, off_t at) {
    const std::lock_guard lock(mutex_);
    const ssize_t count = real.write(file, from, size, at);
    if (count > 0)
      record({Op::write, open_[file].id, 0, 0, {}, {}, static_cast<std::uint64_t>(at),
              std::string(static_cast<const char*>(from), static_cast<std::size_t>(count))});
    return count;
  };
  s.resize = [=, this](int file, off_t size) {
    const std::lock_guard lock(mutex_);
    record({Op::resize, open_[file].id, 0, 0, {}, {}, static_cast<std::uint64_t>(size), {}});
    return real.resize(file, size);
  };
  s.sync = [=, this](int file) {
    const std::lock_guard lock(mutex_);
    record({open_[file].folder ? Op::sync_folder : Op::sync_file, open_[file].id, 0, 0, {}, {}, 0, {}});
    return 0;  // what it promises is what the recording keeps
  };
  s.rename = [=, this](int folder, const char* from, int to_folder, const char* to, unsigned flags) {
    const std::lock_guard lock(mutex_);
    const int result = real.rename(folder, from, to_folder, to, flags);
    if (result < 0) return result;
    Entry entry{flags & RENAME_EXCHANGE ? Op::exchange : Op::rename, folders_[folder_of(folder)].at(from).id,
                folder_of(folder), folder_of(to_folder), from, to, 0, {}};
    if (entry.op == Op::exchange) entry.other = folders_[entry.to].at(to).id;
    Disk::change(folders_, entry);
    record(entry);
    return result;
  };
  s.link = [=](int, const char*, int, const char*) { return -EPERM; };  // not needed where renameat2 works
  s.unlink = [=, this](int folder, const char* name, int flags) {
    const std::lock_guard lock(mutex_);
    const int result = real.unlink(folder, name, flags);
    if (result < 0) return result;
    folders_[folder_of(folder)].erase(name);
    record({Op::unlink, 0, folder_of(folder), folder_of(folder), name, {}, 0, {}});
    return result;
  };
  s.mkdir = [=, this](int folder, const char* name, mode_t mode) {
    const std::lock_guard lock(mutex_);
    const int result = real.mkdir(folder, name, mode);
    if (result < 0) return result;
    const std::size_t id = next_++;
    folders_[folder_of(folder)][name] = {true, id};
    record({Op::mkdir, id, folder_of(folder), folder_of(folder), name, {}, 0, {}});
    return result;
  };
  return s;
}

}  // namespace odrpo::sample
