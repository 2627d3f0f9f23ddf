// Fits a judge to a file of scores, and further judges to random halves of its prompts, on several threads.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>

#include "config/spec.hpp"
#include "envs/judge/latent/evidence.hpp"
#include "envs/judge/latent/fit.hpp"
#include "envs/judge/resampled.hpp"
#include "kernels/random.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/subnormals.hpp"
#include "train/advice/advice.hpp"

namespace odrpo {
namespace {

constexpr std::uint32_t half_draws = 0x68616c66;  // gives these draws a random key apart from the keys of seeds

JudgeWorld judge_world(const std::string& name, const LatentScale& judge, const Outliers& outliers, CheckKind kind = CheckKind::sampled_judge) {
  RaterConfig rater;
  rater.noise = noise_of(judge, outliers);
  return {name, std::move(rater), kind};
}

std::vector<std::uint32_t> half_of(std::size_t prompts, std::uint64_t seed, int which) {
  std::vector<std::uint32_t> order(prompts);
  shuffle_epoch(derive_key(seed, half_draws), static_cast<std::uint32_t>(which), static_cast<std::uint32_t>(prompts), order.data());
  order.resize(prompts / 2);
  std::sort(order.begin(), order.end());
  return order;
}

}  // namespace

std::optional<FileJudges> judges_of(const ScoreTable& whole, const std::string& file, int drawn, std::uint64_t seed, int jobs,
                                    const std::atomic<bool>& stop) {
  const ScoreTable table = heard_judges(whole);
  FileJudges judges;
  LatentFitOptions options;
  options.intervals = false;
  options.seed = seed;
  LatentFit fit;
  try {
    fit = fit_latent_scale(table, options);
  } catch (const Failure& f) {
    throw Failure(f.code, fmt::format("{}: {}", file, f.what()));
  }
  judges.fitted = judge_world("judge", fit.judge, fit.outliers);
  options.whole = &fit;

  // goodness_of_fit() fits two halves of the prompts: they are sampled judges too
  GoodnessOfFit check;
  std::vector<std::optional<JudgeWorld>> made(static_cast<std::size_t>(std::max(drawn - 2, 0)) + 2);  // unused, resampled, sampled
  std::vector<std::string> why(made.size());
  std::exception_ptr failure;
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  const auto make = [&](std::size_t i) {
    if (i == 0) {
      check = goodness_of_fit(table, options);
    } else if (i == 1) {
      RaterConfig rater;
      rater.noise = {ResampleNoise{resample_responses(table, RowCentre::middle).responses}};
      made[i] = {"the file's responses", std::move(rater), CheckKind::file_responses};
    } else {
      LatentFitOptions half = options;
      half.prompts = half_of(table.prompts.size(), seed, static_cast<int>(i));
      const LatentFit of = fit_latent_scale(table, half);
      made[i] = judge_world(fmt::format("sampled judge {}", i + 1), of.judge, of.outliers);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int j = 0; j < std::max(jobs, 1); ++j)
      threads.emplace_back([&] {
        const FlushSubnormals flush;
        for (std::size_t i = 0; !stop && (i = next++) < made.size();) try {
            make(i);
          } catch (const Failure& f) {
            why[i] = f.what();
          } catch (...) {
            const std::lock_guard lock(mutex);
            failure = std::current_exception();
            next = made.size();
          }
      });
  }
  if (failure) std::rethrow_exception(failure);
  if (stop) return std::nullopt;
  const bool checked = check.reason.empty() && why[0].empty();
  std::string misses, undefined;
  for (const CheckedStatistic& line : check.lines)
    if (line.verdict == FitVerdict::undefined) add_item(undefined, line.name);
    else if (line.verdict == FitVerdict::misses)
      add_item(misses, fmt::format("{} ({:.3f} in the file, {:.3f} simulated)", line.name, line.mean.observed, line.mean.simulated));
  if (!checked) judges.doubts.push_back(fmt::format("How well the judge fits is not known: {}.", why[0].empty() ? check.reason : why[0]));
  if (!misses.empty()) judges.doubts.push_back(fmt::format("The fitted judge misses {}.", misses));
  if (!undefined.empty()) judges.doubts.push_back(fmt::format("The file does not say whether the judge fits in {}.", undefined));
  for (std::size_t f = 0; checked && f < check.judge.size() && f < static_cast<std::size_t>(drawn); ++f)
    judges.others.push_back(judge_world(fmt::format("sampled judge {}", f + 1), check.judge[f], check.outliers[f]));
  int missing = checked ? 0 : std::min(drawn, 2);
  for (std::size_t i = 2; i < made.size(); ++i)
    if (made[i]) judges.others.push_back(std::move(*made[i]));
    else ++missing, why[0] = why[0].empty() ? why[i] : why[0];
  if (fit.other)
    judges.others.push_back(judge_world(fit.outliers.any() ? "the judge without outliers, which fits too" : "a judge with outliers, which fits too",
                                        fit.other->judge, fit.other->outliers, CheckKind::other_model));
  if (made[1]) judges.others.push_back(std::move(*made[1]));
  else judges.notes.push_back("not checked with the file's responses themselves: " + why[1]);
  if (missing > 0)
    judges.notes.push_back(fmt::format("{} of {} judges could not be sampled from the fit's uncertainty: {}", missing, drawn,
                                       why[0].empty() ? check.reason : why[0]));
  return judges;
}

}  // namespace odrpo
