// Which compiled copy of the stage files runs: chosen once from what the processor can do, or asked for by a test.
#pragma once
#include <string_view>

namespace odrpo {

/// Instruction sets that stage files are compiled for. All give the same bits.
enum class Isa { portable, avx2 };

/// Does this processor (and this build) have the instruction set?
bool has_isa(Isa isa);
/// The best one there is; environment variable ODRPO_ISA=portable holds it back (for comparisons).
Isa best_isa();
std::string_view isa_name(Isa isa);

}  // namespace odrpo
