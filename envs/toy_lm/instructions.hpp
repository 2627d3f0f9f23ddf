// Declares how the instructions of prompts of difficulty `paper` are checked (docs/toy-lm.md, "Difficulty"). No randomness.
#pragma once
#include <functional>
#include <vector>

#include "envs/toy_lm/response.hpp"

namespace odrpo {

/// True if the response follows an instruction (instruction_words, world.hpp) to its prompt. A sentence is what stands between separators and has a word.
bool follows(Instruction instruction, const Text& t);

/// Changes the body of a draft so that it probably follows the instruction: words are inserted, erased or moved. `below(n)`: a random number 0..n-1.
void obey(Instruction instruction, const ToyLm& world, const ToyPrompt& prompt, const std::function<int(int)>& below, std::vector<Token>& body);

}  // namespace odrpo
