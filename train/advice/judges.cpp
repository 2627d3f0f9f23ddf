// Fits to halves of the prompts, on several threads.
#include "train/advice/judges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "envs/rater/heard_judges.hpp"
#include "envs/rater/latent_fit.hpp"
#include "kernels/failure.hpp"
#include "kernels/random.hpp"
#include "kernels/shuffle.hpp"
#include "kernels/subnormals.hpp"
#include "spec/learned_judge.hpp"

namespace odrpo {
namespace {

constexpr std::uint32_t half_draws = 0x68616c66;  // tells the key of these draws from the keys of seeds

JudgeWorld on_latent_scale(const std::string& name, const LatentFit& fit) {
  RaterConfig rater;
  rater.noise = {LatentNoise{fit.judge}};
  return {name, std::move(rater)};
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
  std::vector<std::optional<JudgeWorld>> made(static_cast<std::size_t>(drawn) + 2);  // fitted, drawn, resampled
  std::vector<std::string> why(made.size());
  std::exception_ptr failure;
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  const auto make = [&](std::size_t i) {
    if (i + 1 == made.size()) {
      RaterConfig rater;
      rater.noise = learn_rater(whole, LearnedWorld::resample, file).noise;
      made[i] = {"the file's responses", std::move(rater)};
      return;
    }
    LatentFitOptions options;
    options.intervals = false;
    options.seed = seed;
    if (i > 0) options.prompts = half_of(table.prompts.size(), seed, static_cast<int>(i));
    made[i] = on_latent_scale(i == 0 ? "judge" : fmt::format("sampled judge {}", i), fit_latent_scale(table, options));
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
            const std::lock_guard lock(mutex);
            if (i == 0) failure = std::make_exception_ptr(Failure(f.code, fmt::format("{}: {}", file, f.what())));
          } catch (...) {
            const std::lock_guard lock(mutex);
            failure = std::current_exception();
            next = made.size();
          }
      });
  }
  if (failure) std::rethrow_exception(failure);
  if (stop) return std::nullopt;
  judges.fitted = std::move(*made[0]);
  int missing = 0;
  for (std::size_t i = 1; i < made.size(); ++i)
    if (made[i]) judges.others.push_back(std::move(*made[i]));
    else if (i + 1 == made.size()) judges.notes.push_back("not checked with the file's responses themselves: " + why[i]);
    else ++missing;
  if (missing > 0)
    judges.notes.push_back(fmt::format("{} of {} judges could not be drawn from the fit's uncertainty: {}", missing, drawn,
                                       *std::find_if(why.begin() + 1, why.end() - 1, [](const std::string& w) { return !w.empty(); })));
  return judges;
}

}  // namespace odrpo
