// The question that the flags of `judge advise` ask.
#pragma once
#include "app/command.hpp"
#include "train/advice/question.hpp"

namespace odrpo::app {

/// Failure usage for words and numbers that are none, for an estimator that the groups cannot have, and where everything would be free.
AdviceQuestion advice_question(const JudgeAdviseOptions& o);

}  // namespace odrpo::app
