// Counts of each response and judge, how far they are drawn to their level's row, and the laws that follow.
#include "envs/rater/resampled.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "envs/rater/empirical.hpp"
#include "envs/rater/latent_evidence.hpp"
#include "envs/rater/latent_fit.hpp"
#include "kernels/failure.hpp"
#include "kernels/math.hpp"
#include "kernels/random.hpp"

namespace odrpo {
namespace {

constexpr std::uint64_t most_compared = 200'000;  // scores of a redrawn table
constexpr double redrawn_scores = 200'000;        // of all redrawn tables of one concentration

using Counts = std::vector<std::uint32_t>;  // how many scores of each judge and level, [J][K]

/// Scores of one response by judge and level; false where there are none.
bool count_scores(const ScoreTable& table, const ScoreTable::Response& response, Counts& out) {
  out.assign(table.judges.size() * table.values.size(), 0);
  bool any = false;
  for_each_score(table, response, [&](int level, std::uint32_t column) {
    ++out[table.columns[column].judge * table.values.size() + static_cast<std::size_t>(level) - 1];
    any = true;
  });
  return any;
}

/// The laws of responses from their counts.
class Shrinkage {
 public:
  explicit Shrinkage(const ScoreTable& table) : levels_(table.values.size()), judges_(table.judges.size()) {
    const EmpiricalJudge pooled = learn_judge(table);
    row_.assign(levels_ * judges_ * levels_, 0);
    Counts counts;
    for (const auto& response : table.responses)
      if (judges_ > 1 && count_scores(table, response, counts))
        for (std::size_t i = 0; i < counts.size(); ++i) row_[level_of(counts) * counts.size() + i] += counts[i];
    for (std::size_t at = 0; at < row_.size(); at += levels_) {  // (level, judge)
      const double* all = pooled.channel.matrix.values->data() + at / levels_ / judges_ * levels_;
      double n = 0;
      for (std::size_t k = 0; k < levels_; ++k) n += row_[at + k];
      for (std::size_t k = 0; k < levels_; ++k) row_[at + k] = (row_[at + k] + all[k]) / (n + 1);
    }
  }

  /// [J][K] of a response with these counts, at concentration c.
  std::vector<double> laws(const Counts& counts, double c) const {
    std::vector<double> out(counts.size());
    const double* row = row_.data() + level_of(counts) * counts.size();
    for (std::size_t at = 0; at < out.size(); at += levels_) {
      double n = 0;
      for (std::size_t k = 0; k < levels_; ++k) n += counts[at + k];
      for (std::size_t k = 0; k < levels_; ++k) out[at + k] = n + c > 0 ? (counts[at + k] + c * row[at + k]) / (n + c) : row[at + k];
    }
    return out;
  }

 private:
  std::size_t level_of(const Counts& counts) const {  // from 0
    std::size_t n = 0, sum = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) n += counts[i], sum += (i % levels_ + 1) * counts[i];
    return (2 * sum + n) / (2 * n) - 1;
  }
  std::size_t levels_, judges_;
  std::vector<double> row_;  // [K][J][K]
};

/// Squared differences of the moments over their tolerances between a table and tables redrawn from the laws of a concentration.
class Distance {
 public:
  Distance(const ScoreTable& table, const Shrinkage& shrinkage)
      : table_(table),
        shrinkage_(shrinkage),
        observed_(moments_of(table)),
        repeats_(static_cast<std::uint32_t>(std::clamp(redrawn_scores / static_cast<double>(table.level.size() + 1), 1.0, 50.0))) {}

  double at(double c) const {
    Moments sum{};
    for (std::uint32_t repeat = 0; repeat < repeats_; ++repeat) {
      const Moments one = moments_of(redrawn(c, repeat));
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += one[i] / repeats_;
    }
    double distance = 0;
    for (const Moment moment : {Moment::median_w, Moment::mean_w, Moment::flip, Moment::tie, Moment::constant_rows, Moment::row_sd}) {
      const auto i = static_cast<std::size_t>(moment);
      const double miss = (sum[i] - observed_[i]) / moment_tolerance(moment, table_.levels());
      if (miss == miss) distance += miss * miss;
    }
    return distance;
  }

 private:
  ScoreTable redrawn(double c, std::uint32_t repeat) const {
    ScoreTable out = table_;
    Counts counts;
    for (std::uint32_t r = 0; r < out.responses.size(); ++r) {
      if (!count_scores(table_, table_.responses[r], counts)) continue;
      const std::vector<double> laws = shrinkage_.laws(counts, c);
      const auto& response = out.responses[r];
      Words4 word{};
      for (std::uint32_t n = 0; n < response.count; ++n) {
        if (n % 4 == 0) word = draw(1, Purpose::latent_call, repeat, r, n / 4);
        std::uint8_t& level = out.level[response.first + n];
        if (level == ScoreTable::unreadable) continue;
        const double* row = laws.data() + out.columns[out.column[response.first + n]].judge * out.values.size();
        double left = static_cast<double>(word.x[n % 4]) * 0x1p-32;
        level = 1;
        while (level < out.values.size() && left >= row[level - 1]) left -= row[level++ - 1];
      }
    }
    return out;
  }
  const ScoreTable& table_;
  const Shrinkage& shrinkage_;
  Moments observed_;
  std::uint32_t repeats_;
};

/// The nearest concentration, by golden section on a scale of logarithms.
double fit_concentration(const Distance& distance) {
  constexpr double golden = 0.6180339887498949;
  double low = math::log(0.01), high = math::log(1000);
  double a = high - golden * (high - low), b = low + golden * (high - low);
  double at_a = distance.at(math::exp(a)), at_b = distance.at(math::exp(b));
  for (int step = 0; step < 16; ++step) {
    if (at_a < at_b) {
      high = b, b = a, at_b = at_a;
      a = high - golden * (high - low);
      at_a = distance.at(math::exp(a));
    } else {
      low = a, a = b, at_a = at_b;
      b = low + golden * (high - low);
      at_b = distance.at(math::exp(b));
    }
  }
  return math::exp(0.5 * (low + high));
}

bool scored_twice(const ScoreTable& table) {
  Counts counts;
  for (const auto& response : table.responses) {
    if (!count_scores(table, response, counts)) continue;
    for (std::size_t at = 0; at < counts.size(); at += table.values.size()) {
      std::uint32_t n = 0;
      for (std::size_t k = 0; k < table.values.size(); ++k) n += counts[at + k];
      if (n > 1) return true;
    }
  }
  return false;
}

}  // namespace

ResampledJudge resample_responses(const ScoreTable& whole) {
  if (whole.judges.size() > most_judges)
    throw Failure(Exit::bad_input,
                  "a panel has at most " + std::to_string(most_judges) + " judges, not " + std::to_string(whole.judges.size()));
  // each response has a law for each judge
  const std::uint64_t most = std::min<std::uint64_t>(most_resampled, most_laws / whole.judges.size());
  const std::uint64_t ratings = whole.level.size(), responses = std::max<std::uint64_t>(whole.responses.size(), 1);
  const auto all = numbers_to(whole.prompts.size());
  const ScoreTable table = responses > most ? take_prompts(whole, thinned(whole, all, ratings * most / responses)) : whole;
  const Shrinkage shrinkage(whole);

  ResampledJudge judge;
  if (scored_twice(table)) {
    const ScoreTable compared = take_prompts(table, thinned(table, numbers_to(table.prompts.size()), most_compared));
    judge.concentration = fit_concentration(Distance(compared, shrinkage));
  } else {
    judge.reason = "no judge scored a response twice";
  }

  std::map<Counts, std::uint32_t> number;
  NumberRows laws;
  std::vector<std::vector<double>> prompts;
  bool two = false;
  Counts counts;
  for (const auto& prompt : table.prompts) {
    std::vector<double> of_prompt;
    for (const auto& response : table.responses_of(prompt)) {
      if (!count_scores(table, response, counts)) continue;
      const auto [at, fresh] = number.try_emplace(counts, static_cast<std::uint32_t>(number.size()));
      of_prompt.push_back(at->second);
      if (!fresh) continue;
      const std::vector<double> rows = shrinkage.laws(counts, judge.concentration);
      for (auto row = rows.begin(); row != rows.end(); row += table.levels()) laws.emplace_back(row, row + table.levels());
    }
    two = two || of_prompt.size() > 1;
    if (!of_prompt.empty()) prompts.push_back(std::move(of_prompt));
  }
  if (!two) throw Failure(Exit::bad_input, "no prompt has two responses with scores: nothing could be learned in such a world");
  judge.responses = join_responses(laws, static_cast<int>(table.judges.size()), prompts);
  return judge;
}

}  // namespace odrpo
