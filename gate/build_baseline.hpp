// `gate --build-baseline REF`: builds the commit from which the checked out one has branched off, to be compared with on this machine.
#pragma once
#include <functional>
#include <string>

#include "gate/measure/child.hpp"

namespace odrpo {

struct BuiltBaseline {
  std::string program;   ///< odrpo-bench of the merge base
  std::string commit;    ///< its full hash
  bool is_head = false;  ///< it is the commit that is checked out: nothing but uncommitted changes can differ
};

/// In the git work tree around the current folder: the merge base of `reference` and HEAD, checked out in build/baseline/HASH/source as a
/// work tree of its own and built in build/baseline/HASH/build as a release with microbenchmarks. What an earlier call has built is kept;
/// what it has left half done, or somebody has changed there, is made as the commit has it. `tell` is called before each step. Failure
/// usage: no work tree, no such commit, nothing in common; io: another gate builds there; runs_failed: git or cmake fails, with the end of
/// what it wrote.
BuiltBaseline build_baseline(const std::string& reference, const std::atomic<bool>& stop, ChildKeeper& keeper,
                             const std::function<void(const std::string&)>& tell);

/// Two builds are compared where they have the same compiler, flags and build type. Failure no_baseline, with what differs, as their
/// --version says; of a program that says nothing nothing is known.
void check_equal_builds(const std::string& one, const std::string& other, const std::atomic<bool>& stop, ChildKeeper& keeper);

}  // namespace odrpo
