// What training makes of batches of scores: a posterior estimator as a run has it, its prior moving from batch to batch. Each line of stdin
// is a batch, [[3, 7, null], …]; each line of stdout has its values. Usage: posterior_batches RATER LEVELS VOTES PRIOR KEEP GROUP
#include <cmath>
#include <cstdio>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/flags/flag_values.hpp"
#include "config/spec.hpp"
#include "kernels/shared/words.hpp"
#include "train/run_cache.hpp"
#include "train/worlds/posterior_model.hpp"

using namespace odrpo;

int main(int argc, char** argv) {
  if (argc != 7) return 2;
  RunSpec spec;
  spec.rater = app::rater_named(argv[1]);
  spec.env.bandit.levels = std::stoi(argv[2]);
  spec.votes = std::stoi(argv[3]);
  spec.estimator = *parse_estimator("posterior(grpo)");
  spec.estimator.prior = *find_word<PriorRule>(prior_words, argv[4]);
  spec.estimator.keep = std::stod(argv[5]);
  spec.learn.rollouts = std::stoi(argv[6]);
  RunCache cache;
  const auto estimator = cache.estimator(spec, best_isa(), false);
  PosteriorBatch posterior(spec.estimator, posterior_tables(spec, cache, *estimator, best_isa(), false), spec.learn.rollouts);
  for (std::string line; std::getline(std::cin, line);) {
    const auto batch = nlohmann::json::parse(line);
    std::vector<float> scores;
    for (const auto& group : batch)
      for (const auto& score : group) scores.push_back(score.is_null() ? std::numeric_limits<float>::quiet_NaN() : score.get<float>());
    std::vector<double> value(scores.size()), floor(batch.size());
    posterior.begin_batch();
    posterior.values(scores.data(), static_cast<int>(batch.size()), value.data(), floor.data());
    nlohmann::json out = nlohmann::json::array();
    for (const double v : value) out.push_back(std::isnan(v) ? nlohmann::json(nullptr) : nlohmann::json(v));
    std::puts(out.dump().c_str());
  }
  return 0;
}
