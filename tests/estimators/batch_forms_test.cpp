// Forms that read the whole batch, or lengths of responses, by hand; tests/app/compute/batch_forms_test.py has many batches.
#include "estimators/batch_forms.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "estimators/compat.hpp"
#include "estimators/definition.hpp"
#include "kernels/math.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

namespace {

using Values = std::vector<double>;
constexpr double none = undefined;

void check_batch(const std::string& word, int rollouts, const Values& rewards, const Values& want, const std::vector<int>& lengths = {}, Compat compat = Compat::paper) {
  EstimatorConfig c = *parse_estimator(word);
  c.compat = compat;
  Values got(rewards.size());
  batch_advantages(c, 3, rollouts, rewards, lengths, got);
  CAPTURE(word, got, want);
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(std::fabs(got[i] - want[i]) < 1e-14);
}

}  // namespace

TEST_CASE("opo by hand: 3 7 7 9 of 4 1 2 3 tokens have the weighted mean 60/10") {
  check_batch("opo", 4, {3, 7, 7, 9}, {-3, 1, 1, 3}, {4, 1, 2, 3});
  check_batch("opo", 4, {3, 7, none, 9}, {3 - 46 / 8.0, 7 - 46 / 8.0, 0, 9 - 46 / 8.0}, {4, 1, 2, 3});
  check_batch("opo", 2, {7, none, 5, 5}, {0, 0, 0, 0}, {4, 1, 2, 3});
  check_batch("opo", 2, {7, none, none, none}, {7, 0, 0, 0}, {4, 1, 2, 3}, Compat::verl);
}

TEST_CASE("bnpo by hand: levels 1..3 are 0, 1/2, 1") {
  const double pi = math::pi, of_quarters = 0.25 * pi / (2 * std::sqrt(3.0));
  // p = 1/2, 3/4, 1/4: mean 1/2, variance 1/16, a = b = 3/2, so f(p) = 8/pi sqrt(p (1 - p)), the density of Beta(3/2, 3/2)
  check_batch("bnpo", 2, {1, 3, 3, 2, 1, 2}, {-pi / 8, pi / 8, of_quarters, -of_quarters, -of_quarters, of_quarters});
  // p = 1/2, 1, 0 have a = b = 0; and one prompt, equal prompts: f = 1. A lone score has no p. A failed answer counts as level 1
  check_batch("bnpo", 2, {1, 3, 3, 3, 1, 1}, {-0.5, 0.5, 0, 0, 0, 0});
  check_batch("bnpo", 2, {1, 2}, {-0.25, 0.25});
  check_batch("bnpo", 2, {1, 2, 2, 1, 3, none, none, none}, {-0.25, 0.25, 0.25, -0.25, 0, 0, 0, 0});
  check_batch("bnpo", 2, {0, 2}, {-0.25, 0.25});
}

TEST_CASE("shrunk by hand") {
  // the others of 2 4 have means 7 and 10 and variances 2 and 0: V = 1, T = 4.5 - .5, l = 1/5; of 6 8: 3, 10, T = 24, l = 1/25; of 10 10: 3, 7, V = 2,
  // T = 8 - 1, l = 2/9
  check_batch("shrunk", 2, {2, 4, 6, 8, 10, 10}, {2 - 0.8 * 4 - 0.2 * 8.5, 4 - 0.8 * 2 - 0.2 * 8.5, 6 - 0.96 * 8 - 0.04 * 6.5, 8 - 0.96 * 6 - 0.04 * 6.5, 10 / 9.0, 10 / 9.0});
  // one or two prompts, or others that do not vary: the numbers of rloo
  check_batch("shrunk", 2, {2, 4}, {-2, 2});
  check_batch("shrunk", 2, {2, 4, 6, 9}, {-2, 2, -3, 3});
  check_batch("shrunk", 2, {2, 4, 6, 6, 9, 9}, {-2, 2});
  // a lone score is compared with the other prompts' mean, and is no other prompt itself
  check_batch("shrunk", 2, {2, 4, 7, none, 6, 8}, {-2, 2, 2, 0, -2, 2});
}

TEST_CASE("forms of a batch are refused where there is one group, and others where there is a batch") {
  const auto message = [](auto call) -> std::string {
    try {
      call();
    } catch (const Failure& failure) {
      CHECK(failure.code == Exit::limits);
      return failure.what();
    }
    return "nothing was thrown";
  };
  Values two{1, 2}, out(2);
  const auto whole = [&](const char* word, const std::vector<int>& lengths = {}) {
    return message([&] { batch_advantages(*parse_estimator(word), 10, 2, two, lengths, out); });
  };
  CHECK(whole("grpo") == "grpo reads one group at a time, not a batch");
  CHECK(whole("opo") == "opo needs the length of every response, 1 token or more");
  CHECK(whole("opo", {1, 0}) == "opo needs the length of every response, 1 token or more");
  CHECK(message([&] { advantages(*parse_estimator("bnpo"), 10, two, no_median, out); }) == "bnpo reads the scores of the whole batch, and there is one group of scores alone");
  CHECK(message([&] { advantages(*parse_estimator("opo"), 10, two, no_median, out); }) == "opo reads the lengths of the responses, and there is one group of scores alone");
}
