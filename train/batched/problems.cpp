// Problems by as many threads as runs may be trained by at a time.
#include "train/batched/problems.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "kernels/isa.hpp"
#include "kernels/subnormals.hpp"
#include "config/spec.hpp"
#include "train/run_record.hpp"

namespace odrpo {

std::vector<BanditProblem> make_problems(const std::vector<const RunSpec*>& runs, RunCache& cache, const std::atomic<bool>& stop,
                                   const BatchEngine::Done& done) {
  std::vector<std::optional<BanditProblem>> made(runs.size());
  std::vector<std::string> why(runs.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    const FlushSubnormals flush;
    for (std::size_t i = next++; i < runs.size(); i = next++) try {
        made[i] = make_bandit_problem(*runs[i], cache, best_isa(), stop, false);
      } catch (const std::bad_alloc&) {
        why[i] = "out of memory";
      } catch (const std::exception& e) {
        why[i] = e.what();
      }
  };
  {
    std::vector<std::jthread> helpers;
    const std::size_t threads = std::min(static_cast<std::size_t>(std::max(1, cache.threads)), runs.size());
    for (std::size_t t = 1; t < threads; ++t) try {
        helpers.emplace_back(work);
      } catch (const std::system_error&) {
        break;  // no more threads to be had: go on with those there are
      }
    work();
  }
  std::vector<BanditProblem> problems;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!why[i].empty()) done(failed_record(*runs[i], why[i]));
    else if (made[i]) problems.push_back(std::move(*made[i]));
  }
  return problems;
}

}  // namespace odrpo
