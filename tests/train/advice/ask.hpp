// A small question and what answers it, for the tests of advices.
#pragma once
#include <atomic>
#include <string>
#include <vector>

#include "config/catalogue/catalogue.hpp"
#include "train/advice/advice.hpp"

namespace odrpo {

inline JudgeWorld judge_named(const char* word) { return {word, CatalogueOf<RaterConfig>::find(word)->config}; }

inline AdviceQuestion small_question(double calls, std::vector<std::string> estimators) {
  AdviceQuestion q;
  q.calls = calls;
  q.rollouts = {4, 8};
  q.votes = {1, 2, 8};
  q.tuning_seeds = 8;
  q.report_seeds = 8;
  q.check_seeds = 6;
  for (const std::string& word : estimators) q.estimators.push_back({word, CatalogueOf<EstimatorConfig>::find(word)->config});
  return q;
}

// An advice with all that it needs.
struct AskedAdvice {
  std::atomic<bool> stop{false};
  Trials trials;
  std::vector<AdviceProgress> told;
  AdviceWork work{[this](const AdviceProgress& at) { told.push_back(at); }};
  explicit AskedAdvice(int jobs = 1) : trials(jobs, stop) {}
  std::optional<Advice> ask(const AdviceQuestion& q, const JudgeWorld& judge, const std::vector<JudgeWorld>& others = {}) {
    return advise(q, judge, others, trials, work);
  }
};

}  // namespace odrpo
