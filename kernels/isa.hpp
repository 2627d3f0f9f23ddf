// Decides which compiled copy of the stage files runs: that of this processor's best instruction set, or the one that a test asks for.
#pragma once
#include <string_view>

namespace odrpo {

/// Instruction sets that stage files are compiled for. All give the same bits.
enum class Isa { portable, avx2, avx512 };

/// True if this processor and this build have the instruction set.
bool has_isa(Isa isa);
/// The best instruction set of this processor; the environment variable ODRPO_ISA=portable or avx2 allows none above it (for comparisons).
Isa best_isa();
std::string_view isa_name(Isa isa);

}  // namespace odrpo
