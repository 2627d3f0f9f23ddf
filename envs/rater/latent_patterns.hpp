// Scores as a likelihood sees them: how often each judge gave each level to a response. Equal responses are kept once.
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "kernels/score_table.hpp"

namespace odrpo {

/// What every judge said about every response, of the answers that could be read.
struct ScorePatterns {
  struct Answer {  ///< of one judge about one response
    std::uint32_t judge = 0;
    std::vector<std::pair<std::uint8_t, std::uint32_t>> given;  ///< (level, how often), levels increasing
    std::uint32_t calls = 0;
    bool operator<(const Answer& o) const { return std::pair{judge, given} < std::pair{o.judge, o.given}; }
  };
  std::vector<Answer> answers;                       ///< all different
  std::vector<std::vector<std::uint32_t>> patterns;  ///< all different: the answers about a response, one of each judge that scored it
  std::vector<std::uint32_t> responses;              ///< the pattern of each, prompt after prompt; responses without a score are left out
  std::vector<std::uint32_t> first;  ///< [prompts + 1] where a prompt's responses begin; prompts without scores are left out
  std::uint32_t prompts() const { return static_cast<std::uint32_t>(first.size()) - 1; }
};

/// Patterns of the prompts with these indices, in this order. A judge's calls about a response beyond 200 are left out.
ScorePatterns patterns_of(const ScoreTable& table, std::span<const std::uint32_t> prompts);

/// Of each judge's scores in these prompts, the share of each level: [J][K]. Of a judge without scores there: equal shares.
std::vector<double> level_shares(const ScoreTable& table, std::span<const std::uint32_t> prompts);

}  // namespace odrpo
