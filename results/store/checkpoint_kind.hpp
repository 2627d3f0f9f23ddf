// CheckpointKind: what a checkpoint is of.
#pragma once

namespace odrpo {

/// What a checkpoint holds, so that a later call need not do it again: the state of a run (named by its id), or what several runs start
/// from (named by whatever decides it).
enum class CheckpointKind { run, start };

}  // namespace odrpo
