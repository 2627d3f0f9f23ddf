// Which kind of rewards a run's rater gives: whole scores or real values, with or without missing ones.
#pragma once

namespace odrpo {

struct RunSpec;

/// What of a rater decides how rewards are kept.
struct RewardKind {
  bool real = false;  ///< real-valued rewards, else whole scores
  bool gaps = false;  ///< responses may end without one
  int lowest = 1;     ///< lowest score
  int levels = 10;    ///< K
  int votes = 1;      ///< scores that are kept of a response: 1, or all its votes
  int members = 1;    ///< members of its prompt's group that a response makes: 1, or with aggregate = "fraction" all its votes
};
RewardKind reward_kind(const RunSpec& spec);
/// Scores that are estimated as one group: of all responses to a prompt.
int group_size(const RunSpec& spec);

}  // namespace odrpo
