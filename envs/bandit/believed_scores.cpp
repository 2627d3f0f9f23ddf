// Builds the model of one score and the model of all single calls of a judge, by quadrature over prompts, responses and their traits.
#include <algorithm>
#include <utility>

#include "envs/bandit/believed.hpp"
#include "envs/rater/distribution_table.hpp"
#include "kernels/math.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo {
namespace {

/// Computes P(score | quality) of a rater, averaged over traits. Numbers scores 0, 1, ... as ScoreModel does.
class ScoreDistribution {
 public:
  ScoreDistribution(const RaterConfig& rater, int levels, int votes)
      : rater_(rater),
        channel_(rater.noise, levels),
        outcomes_(make_outcomes(rater, levels, votes)),
        levels_(levels),
        votes_(votes),
        of_prompt_(prompt_traits(rater)),
        of_response_(response_traits(rater)),
        call_(static_cast<std::size_t>(count_outcomes(rater, levels, 1))),
        mean_call_(call_.size()),
        distribution_(static_cast<std::size_t>(outcomes_.count)) {
    const bool real = real_valued(rater, votes);
    numbers.lowest = outcomes_.lowest;
    numbers.per_level = real ? per_level_of_reals : 1;
    numbers.scores = (levels - outcomes_.lowest) * numbers.per_level + 1;
  }

  ScoreModel numbers;  ///< only its members lowest, per_level and scores are set

  /// Adds `probability` times P(score), averaged over the traits that the noise draws, to `row`. `traits` has the quality, or the number of the
  /// response's distribution in ScoredResponses.
  void add(Traits traits, double probability, std::span<double> row) {
    // judges of a panel have different distributions; several calls are treated as calls with the mean of these
    const bool mean_judge = votes_ > 1 && panel_size(rater_.noise) > 1 && rater_.aggregate != Aggregate::expected;
    for (const Drawn& response : of_response_) {
      std::fill(mean_call_.begin(), mean_call_.end(), 0.0);
      for (const Drawn& prompt : of_prompt_) {
        Traits t = joined(prompt.traits, response.traits);
        t.quality = traits.quality;
        if (traits.distribution >= 0) t.distribution = traits.distribution * panel_size(rater_.noise) + t.judge;
        const double p = probability * response.probability * prompt.probability;
        if (rater_.aggregate == Aggregate::expected) {
          add_expected(t, p, row);
          continue;
        }
        call_distribution(rater_, channel_, t, levels_, call_);
        if (mean_judge)
          for (std::size_t k = 0; k < call_.size(); ++k) mean_call_[k] += prompt.probability * call_[k];
        else add_distribution(call_, p, row);
      }
      if (mean_judge) add_distribution(mean_call_, probability * response.probability, row);
    }
  }

 private:
  void add_distribution(std::span<const double> call, double probability, std::span<double> row) {
    aggregate_distribution(rater_, outcomes_, call, votes_, distribution_);
    for (int o = 0; o < outcomes_.count; ++o) {
      if (o == outcomes_.missing) continue;  // "no score" is not evidence about a response
      const double score = outcomes_.value.empty() ? outcomes_.lowest + o : static_cast<double>(outcomes_.value[o]);
      row[static_cast<std::size_t>(numbers.number_of(score))] += probability * distribution_[o];
    }
  }
  // the expected score of a call is one real number: its probability is split between the two score numbers around it
  void add_expected(const Traits& traits, double probability, std::span<double> row) {
    channel_.row(traits, call_);
    double mean = 0;
    for (int k = 1; k <= levels_; ++k) mean += k * call_[static_cast<std::size_t>(k - 1)];
    const double at = std::clamp((mean - numbers.lowest) * numbers.per_level, 0.0, static_cast<double>(numbers.scores - 1));
    const auto below = static_cast<std::size_t>(std::min(math::floor(at), static_cast<double>(numbers.scores - 2)));
    row[below] += probability * (1 - (at - static_cast<double>(below)));
    row[below + 1] += probability * (at - static_cast<double>(below));
  }

  const RaterConfig& rater_;
  Channel channel_;
  Outcomes outcomes_;
  int levels_, votes_;
  std::vector<Drawn> of_prompt_, of_response_;
  std::vector<double> call_, mean_call_, distribution_;
};

/// Sums P(score, quality) over the responses of one state (kind of prompt), and stores the sums in a ScoreModel. `place` is
/// measured from the prompt's centre.
class StateSums {
 public:
  explicit StateSums(const ScoreModel& numbers)
      : likelihood_(static_cast<std::size_t>(numbers.scores)), quality_sum_(likelihood_.size()), quality_squares_(likelihood_.size()),
        square_sum_(likelihood_.size()) {}
  void add(double probability, double quality, double place, std::span<const double> row) {
    mean_ += probability * quality;
    mean_square_ += probability * quality * quality;
    square_ += probability * place * place;
    for (std::size_t k = 0; k < row.size(); ++k) {
      const double p = probability * row[k];
      likelihood_[k] += p;
      quality_sum_[k] += p * quality;
      quality_squares_[k] += p * quality * quality;
      square_sum_[k] += p * place * place;
    }
  }
  void finish(bool moments, ScoreModel& model) const {
    for (std::size_t k = 0; k < likelihood_.size(); ++k) {
      const bool possible = likelihood_[k] > 0;
      model.likelihood.push_back(likelihood_[k]);
      const double mean = possible ? quality_sum_[k] / likelihood_[k] : mean_;
      model.expected.push_back(mean);
      model.variance.push_back(std::max(0.0, (possible ? quality_squares_[k] / likelihood_[k] : mean_square_) - mean * mean));
      if (moments) model.square.push_back(possible ? square_sum_[k] / likelihood_[k] : square_);
    }
  }

 private:
  std::vector<double> likelihood_, quality_sum_, quality_squares_, square_sum_;
  double mean_ = 0, mean_square_ = 0, square_ = 0;
};

}  // namespace

ScoreRows make_score_rows(const RaterConfig& rater, const BelievedPrompts& believed, int levels, int votes) {
  ScoreDistribution distribution(rater, levels, votes);
  ScoreRows rows{std::move(distribution.numbers), {}};
  const auto scores = static_cast<std::size_t>(rows.numbers.scores);
  rows.probability.resize(believed.quality.size() * scores);
  for (std::size_t r = 0; r < believed.quality.size(); ++r) {
    Traits traits;
    traits.quality = believed.quality[r];
    if (believed.of_file()) traits.distribution = static_cast<int>(r);
    distribution.add(traits, 1, std::span(rows.probability).subspan(r * scores, scores));
  }
  return rows;
}

ScoreModel make_score_model(const BelievedPrompts& believed, const ScoreRows& rows) {
  ScoreModel model = rows.numbers;
  const auto scores = static_cast<std::size_t>(model.scores);
  const bool moments = !believed.states.centre.empty();
  for (std::vector<double>* table : {&model.likelihood, &model.expected, &model.variance}) table->reserve(believed.states.size() * scores);
  if (moments) model.square.reserve(believed.states.size() * scores);
  for (std::size_t c = 0; c < believed.states.size(); ++c) {
    StateSums sums(model);
    for (const BelievedPrompts::Member& m : believed.members(c)) {
      const double place = moments ? believed.place[m.response] - believed.states.centre[c] : 0;
      sums.add(m.probability, believed.quality[m.response], place, rows.of(m.response));
    }
    sums.finish(moments, model);
  }
  model.prompts = believed.states;
  return model;
}

ScoreModel make_score_model(const RaterConfig& rater, const WorldSource& source, int levels, int votes, const PromptGrid& grid) {
  const BelievedPrompts believed = believe_prompts(source, levels, grid);
  return make_score_model(believed, make_score_rows(rater, believed, levels, votes));
}

std::vector<LevelChannel> level_channels(const RaterConfig& rater, int levels, int votes, int per_level, bool apart) {
  const Channel channel(rater.noise, levels);
  const Outcomes outcomes = make_outcomes(rater, levels, votes);
  const auto scores = static_cast<std::size_t>(levels), qualities = static_cast<std::size_t>(per_level * (levels - 1) + 1);
  std::vector<double> call(static_cast<std::size_t>(count_outcomes(rater, levels, 1))), distribution(static_cast<std::size_t>(outcomes.count));
  std::vector<LevelChannel> kinds;
  for (const Drawn& prompt : prompt_traits(rater)) {
    bool begins = true;
    for (const Drawn& response : response_traits(rater)) {
      if (apart || begins) kinds.push_back({apart ? prompt.probability * response.probability : prompt.probability, std::vector<double>(qualities * scores, 0.0)});
      begins = false;
      for (std::size_t j = 0; j < qualities; ++j) {
        Traits traits = joined(prompt.traits, response.traits);
        traits.quality = 1 + static_cast<double>(j) / per_level;
        call_distribution(rater, channel, traits, levels, call);
        aggregate_distribution(rater, outcomes, call, votes, distribution);
        for (std::size_t k = 0; k < scores; ++k) kinds.back().probability[j * scores + k] += (apart ? 1 : response.probability) * distribution[k];
      }
    }
  }
  return kinds;
}

std::optional<std::string> channel_refusal(RaterConfig rater, int votes) {
  if (scored_responses(rater.noise) != nullptr) return "the responses of a file have no score that follows from a true level";
  if (has_gaps(rater)) rater.parse_failure = 0;
  return whole_score_refusal(rater, votes);
}

// Distributions of single calls by lasting traits, and P(response | state).

namespace {

/// True if the model has a distribution for each judge of a panel: if judges answer in turn.
bool tells_judges_apart(const RaterConfig& rater) { return panel_size(rater.noise) > 1 && !draws_judges(rater); }
bool has_judge_error(const RaterConfig& rater) {
  const LatentScale* scale = latent_scale(rater.noise);
  return scale != nullptr && scale->judge_sigma > 0;
}

/// All combinations of a prompt's and a response's traits except the judge and its lasting error, for which CallModel has indices of their own.
std::vector<Drawn> lasting_traits(const RaterConfig& rater) {
  std::vector<Drawn> all;
  for (const Drawn& response : response_traits(rater)) {
    if (response.traits.judge_class > 0) continue;
    for (const Drawn& prompt : prompt_traits(rater))
      if (prompt.traits.judge == 0) all.push_back({joined(prompt.traits, response.traits), response.probability * prompt.probability});
  }
  double total = 0;
  for (const Drawn& d : all) total += d.probability;
  for (Drawn& d : all) d.probability /= total;  // only one judge and one class of its error are listed: their sum is below 1
  return all;
}

/// Computes the distributions of single calls, CallModel::call, for all kinds of responses.
class CallDistributions {
 public:
  CallDistributions(const RaterConfig& rater, int levels, int votes, CallModel& model)
      : rater_(rater),
        channel_(rater.noise, levels),
        levels_(levels),
        panel_(panel_size(rater.noise)),
        // in a panel, the lasting error of a judge that answers once is part of that call's error
        lasting_errors_(has_judge_error(rater) && (panel_ == 1 || (tells_judges_apart(rater) && votes > panel_))),
        traits_(lasting_traits(rater)),
        outcomes_(make_outcomes(rater, levels, 1)),
        call_(static_cast<std::size_t>(outcomes_.count)),
        mean_(call_.size()),
        model_(model) {
    model.lowest = outcomes_.lowest;
    model.scores = levels - outcomes_.lowest + 1;
    model.judges = tells_judges_apart(rater) ? panel_ : 1;
    model.traits = static_cast<int>(traits_.size());
    model.classes = lasting_errors_ ? trait_classes : 1;
    for (const Drawn& d : traits_) model.trait.push_back(d.probability);
  }

  void fill(const BelievedPrompts& believed) {
    const std::size_t responses = believed.quality.size(), inner = static_cast<std::size_t>(model_.classes * model_.traits) * model_.width;
    model_.call.resize(static_cast<std::size_t>(model_.judges * model_.scores) * inner);
    for (int j = 0; j < model_.judges; ++j)
      for (int u = 0; u < model_.classes; ++u)
        for (std::size_t t = 0; t < traits_.size(); ++t)
          for (std::size_t r = 0; r < responses; ++r) {
            Traits traits = traits_[t].traits;
            traits.quality = believed.quality[r];
            if (believed.of_file()) traits.distribution = static_cast<int>(r);
            find_distribution(traits, j, u);
            const std::size_t cell = (static_cast<std::size_t>(u) * traits_.size() + t) * model_.width + r;
            for (int k = 0; k < model_.scores; ++k)
              model_.call[static_cast<std::size_t>(j * model_.scores + k) * inner + cell] = mean_[static_cast<std::size_t>(k)];
          }
  }

 private:
  /// Sets mean_ to the distribution of a call, averaged over judges and classes of lasting errors that the model does not distinguish.
  void find_distribution(Traits traits, int judge, int judge_class) {
    const int judges = model_.judges == panel_ ? 1 : panel_, classes = has_judge_error(rater_) && !lasting_errors_ ? trait_classes : 1;
    std::fill(mean_.begin(), mean_.end(), 0.0);
    const int distribution = traits.distribution;
    for (int j = 0; j < judges; ++j)
      for (int u = 0; u < classes; ++u) {
        traits.judge = judges > 1 ? j : judge;
        traits.judge_class = classes > 1 ? u : judge_class;
        if (distribution >= 0) traits.distribution = distribution * panel_ + traits.judge;
        call_distribution(rater_, channel_, traits, levels_, call_);
        for (std::size_t k = 0; k < call_.size(); ++k) mean_[k] += call_[k] / (judges * classes);
      }
  }

  const RaterConfig& rater_;
  Channel channel_;
  int levels_, panel_;
  bool lasting_errors_;
  std::vector<Drawn> traits_;
  Outcomes outcomes_;
  std::vector<double> call_, mean_;
  CallModel& model_;
};

/// Stores P(response | state) in tiles of CallModel::lanes states each, for a world: in its states nearly all kinds of responses occur.
void lay_out_tiles(const BelievedPrompts& believed, CallModel& model) {
  const std::size_t responses = believed.quality.size(), states = believed.states.size(), lanes = CallModel::lanes;
  model.share.resize((states + lanes - 1) / lanes * responses * lanes);
  for (std::size_t c = 0; c < states; ++c)
    for (const BelievedPrompts::Member& m : believed.members(c))
      model.share[(c / lanes * responses + m.response) * lanes + c % lanes] = m.probability;
}

/// Stores P(response | state) as runs (one response, consecutive states), for a file: in its states few kinds of responses occur.
void lay_out_runs(const BelievedPrompts& believed, CallModel& model) {
  struct Entry {
    std::uint32_t response, state;
    double probability;
  };
  std::vector<Entry> all;
  for (std::size_t c = 0; c < believed.states.size(); ++c)
    for (const BelievedPrompts::Member& m : believed.members(c)) all.push_back({m.response, static_cast<std::uint32_t>(c), m.probability});
  std::stable_sort(all.begin(), all.end(),
                   [](const Entry& a, const Entry& b) { return std::pair(a.response, a.state) < std::pair(b.response, b.state); });
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool same = i > 0 && all[i].response == all[i - 1].response;
    if (same && all[i].state == all[i - 1].state) {  // two responses of the prompt have the same distribution
      model.share.back() += all[i].probability;
      continue;
    }
    if (!same || all[i].state != all[i - 1].state + 1) model.runs.push_back({all[i].response, all[i].state, 0, model.share.size()});
    ++model.runs.back().count;
    model.share.push_back(all[i].probability);
  }
}

}  // namespace

double believed_responses(const RaterConfig& rater, int levels) {
  if (const ScoredResponses* file = scored_responses(rater.noise)) return static_cast<double>(file->rows()) / file->judges;
  return PromptGrid().qualities_per_level * (levels - 1) + 1;
}

double call_cells(const RaterConfig& rater, int levels) {
  const double judges = tells_judges_apart(rater) ? panel_size(rater.noise) : 1, classes = has_judge_error(rater) ? trait_classes : 1;
  return judges * classes * static_cast<double>(lasting_traits(rater).size()) * believed_responses(rater, levels);
}

double call_model_bytes(const RaterConfig& rater, int levels) {
  return sizeof(double) * call_cells(rater, levels) * count_outcomes(rater, levels, 1);
}

CallModel make_call_model(const RaterConfig& rater, const WorldSource& source, int levels, int votes, const PromptGrid& grid) {
  BelievedPrompts believed = believe_prompts(source, levels, grid);
  if (call_model_bytes(rater, levels) > most_call_model_bytes) throw Failure(Exit::limits, too_large_for_all_votes);
  CallModel model;
  model.width = (believed.quality.size() + CallModel::lanes - 1) / CallModel::lanes * CallModel::lanes;
  CallDistributions(rater, levels, votes, model).fill(believed);
  if (believed.of_file()) lay_out_runs(believed, model);
  else lay_out_tiles(believed, model);
  model.quality = std::move(believed.quality);
  if (grid.moments) model.place = std::move(believed.place);
  model.prompts = std::move(believed.states);
  return model;
}

}  // namespace odrpo
