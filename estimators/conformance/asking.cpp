// Asks for the batches of a comparison.
#include "estimators/conformance/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/shared/failure.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {
namespace {

using Values = std::vector<double>;

/// Failures after which nothing more is asked: each may cost the start of the program and its deadline.
constexpr int most_failures = 8;

std::string numbers_text(std::span<const double> values) {
  return joined(std::vector<double>(values.begin(), values.end()), [](double x) { return x != x ? std::string("-") : fmt::format("{:g}", x); });
}

}  // namespace

/// Asks a question. Where there is no answer, asks for its groups one by one up to the one that has none.
AnsweredBatch EstimatorComparison::answered(Question question, bool batches_only) {
  AnsweredBatch asked{std::move(question), {}, ""};
  const Question& q = asked.question;
  asked.answer.assign(q.scores.size(), no_answer);
  const bool again = std::any_of(asked_.begin(), asked_.end(), [&](const AnsweredBatch& a) { return a.question.check == q.check && !a.failure.empty(); });
  if (again || failures_ >= most_failures) {
    asked.failure = again ? std::string(not_asked) : fmt::format("{} after {} batches without an answer", not_asked, failures_);
    return asked;
  }
  try {
    ask_(q.batch(), asked.answer);
  } catch (const Failure& failure) {
    asked.failure = failure.what();
    std::fill(asked.answer.begin(), asked.answer.end(), no_answer);
    const bool late = asked.failure.find("`deadline`") != std::string::npos;
    failures_ += late ? most_failures / 2 : 1;
    const auto size = static_cast<std::size_t>(q.members);
    for (std::size_t g = 0; g < q.groups() && q.groups() > 1 && !batches_only && !late; ++g) try {
        const Question one = q.with_groups(q.check, std::vector{g});
        ask_(one.batch(), std::span(asked.answer).subspan(g * size, size));
      } catch (const Failure& of_group) {
        asked.failure = fmt::format("scores {}: {}", numbers_text(q.group(q.scores, g)), of_group.what());
        std::fill_n(asked.answer.begin() + static_cast<std::ptrdiff_t>(g * size), size, no_answer);
        break;
      }
  }
  return asked;
}

/// Asks for all batches of scores. Throws the first Failure where none of the first three has an answer.
void EstimatorComparison::ask_all() {
  const EstimatorConfig config = o_.as ? *o_.as : estimator_named("odrpo(grpo)");
  for (Question& q : conformance_questions(config, o_.levels, o_.scores)) {
    asked_.push_back(answered(std::move(q), o_.whitened));
    if (asked_.size() == 3 && failures_ >= 3) throw Failure(Exit::runs_failed, asked_[0].failure);
  }
}

/// Asks for batches that others of this number answer too.
void EstimatorComparison::ask_own(std::size_t at) {
  const AnsweredBatch& first = asked_[at];
  if (!first.failure.empty()) return;
  const Question& q = first.question;
  const auto size = static_cast<std::size_t>(q.members);
  const auto add = [&](Question question, Values follows) { own_.emplace_back(answered(std::move(question), true), std::move(follows)); };

  Values turned = first.answer;
  for (std::size_t g = 0; g < q.groups(); ++g) std::reverse(turned.begin() + static_cast<std::ptrdiff_t>(g * size), turned.begin() + static_cast<std::ptrdiff_t>((g + 1) * size));
  add(members_reversed(q), turned);

  std::vector<std::size_t> order(q.groups());
  std::iota(order.rbegin(), order.rend(), 0);
  Values reversed;
  for (const std::size_t g : order) reversed.insert(reversed.end(), first.answer.begin() + static_cast<std::ptrdiff_t>(g * size), first.answer.begin() + static_cast<std::ptrdiff_t>((g + 1) * size));
  add(q.with_groups(Check::groups, order), reversed);

  for (const std::size_t g : {std::size_t{0}, q.groups() - 1})
    add(q.with_groups(Check::alone, std::vector{g}), Values(first.answer.begin() + static_cast<std::ptrdiff_t>(g * size), first.answer.begin() + static_cast<std::ptrdiff_t>((g + 1) * size)));

  std::iota(order.begin(), order.end(), 0);
  add(q.with_groups(Check::again, order), first.answer);
}

/// Asks for a batch of scores in the lower half, shifted to the upper half, and doubled. Groups are those of asked_[at], halved.
void EstimatorComparison::ask_laws(std::size_t at) {
  const int half = o_.levels / 2;
  if (half < 2) return;
  Question lower = asked_[at].question;
  lower.check = Check::laws;
  for (double& score : lower.scores) score = std::clamp(std::ceil(score * half / o_.levels), 1.0, static_cast<double>(half));
  Question shifted = lower, doubled = lower;
  for (double& score : shifted.scores) score += half;
  for (double& score : doubled.scores) score *= 2;
  for (Question* q : {&lower, &shifted, &doubled}) laws_.push_back(answered(std::move(*q), true));
}

}  // namespace odrpo
