// Who leads, who follows.
#include "train/machines/ranks.hpp"

#include "config/suite.hpp"
#include "train/machines/rank_work.hpp"

namespace odrpo {

RunReport run_suite_by_ranks(const Suite& suite, const SuiteFacts& facts, const RunSettings& settings, const RankLink& link) {
  return link.rank == 0 ? ranks::lead(suite, facts, settings, link) : ranks::follow(suite, facts, settings, link);
}

void tell_failure(const RankLink& link, const Failure& failure) {
  RankMessage message{link.rank == 0 ? RankMessage::Kind::end : RankMessage::Kind::done};
  message.code = static_cast<int>(failure.code);
  message.text = std::string(failure.what()).substr(0, RankMessage::longest_text);
  message.host = link.host;
  for (int r = link.rank == 0 ? 1 : 0; r < (link.rank == 0 ? link.size : 1); ++r) link.send(r, message.bytes());
  link.close();
}

}  // namespace odrpo
