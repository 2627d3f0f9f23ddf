// A table of repeated scores: what readers of files make and judges are learned from.
#pragma once
#include <cstdint>
#include <vector>

namespace odrpo {

/// Scores of M responses to each of P prompts, N samples per response; N may differ between prompts, not inside one, nor may M differ
/// from the responses that stand in the file.
struct ScoreTable {
  struct Prompt {
    long long id;                     ///< prompt_id of the file
    int responses, samples;           ///< M, N
    std::vector<std::uint8_t> score;  ///< [M][N] in order of response_id and sample_id
  };
  std::vector<Prompt> prompts;  ///< in order of prompt_id
  int largest = 0, smallest = 0;
};

}  // namespace odrpo
