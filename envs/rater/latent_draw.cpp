// Draws prompt after prompt: places of its responses, then judges' lasting errors and the errors of calls, two normals a block.
#include "envs/rater/latent_draw.hpp"

#include <algorithm>
#include <string>

#include "kernels/failure.hpp"
#include "kernels/math.hpp"
#include "kernels/random.hpp"

namespace odrpo {
namespace {

/// Normals of one question, in the order in which they are asked for.
class Normals {
 public:
  Normals(std::uint64_t seed, Purpose purpose, std::uint32_t step, std::uint32_t prompt)
      : seed_(seed), purpose_(purpose), step_(step), prompt_(prompt) {}
  double next() {
    if (half_) {
      half_ = false;
      return pair_.b;
    }
    pair_ = math::normal_pair(draw(seed_, purpose_, step_, prompt_, block_++).x);
    half_ = true;
    return pair_.a;
  }

 private:
  std::uint64_t seed_;
  Purpose purpose_;
  std::uint32_t step_, prompt_, block_ = 0;
  math::Normal2 pair_{};
  bool half_ = false;
};

class Drawer {
 public:
  Drawer(const LatentScale& judge, DrawnScores& out, std::uint64_t seed)
      : judge_(judge),
        out_(out),
        seed_(seed),
        of_prompt_(math::sqrt(judge.prompt_share)),
        of_response_(math::sqrt(1 - judge.prompt_share)),
        lasting_(static_cast<std::size_t>(judge.judges())) {}

  void start_prompt(std::uint32_t responses) {
    prompt_ = static_cast<std::uint32_t>(out_.table.prompts.size());
    out_.table.prompts.push_back({std::to_string(prompt_ + 1), static_cast<std::uint32_t>(out_.table.responses.size()), responses});
    response_ = 0;
    b_ = of_prompt_ > 0 ? Normals(seed_, Purpose::latent_place, 0, prompt_).next() : 0;
  }

  /// A rating in each of the columns.
  void response(std::span<const std::uint32_t> columns) {
    ScoreTable& t = out_.table;
    Normals of_place(seed_, Purpose::latent_place, response_ + 1, prompt_), of_call(seed_, Purpose::latent_call, response_, prompt_);
    const double x = of_prompt_ * b_ + of_response_ * of_place.next();
    const double s = judge_.spread > 0 ? math::exp(judge_.spread * of_place.next()) : 1.0;
    std::fill(lasting_.begin(), lasting_.end(), 0.0);
    if (judge_.judge_sigma > 0) {
      Normals of_judge(seed_, Purpose::latent_judge, response_, prompt_);
      for (double& u : lasting_) u = s * judge_.judge_sigma * of_judge.next();
    }
    t.responses.push_back({static_cast<std::uint32_t>(t.level.size()), static_cast<std::uint32_t>(columns.size()), no_gold});
    for (const std::uint32_t c : columns) {
      const std::uint32_t j = t.columns[c].judge;
      const double y = x + lasting_[j] + s * judge_.sigma * of_call.next();
      std::uint8_t level = 1;
      for (const double cut : judge_.thresholds(static_cast<int>(j))) level = static_cast<std::uint8_t>(level + (y > cut));
      t.level.push_back(level);
      t.column.push_back(c);
      ++t.judges[j].ratings;
    }
    out_.place.push_back(x);
    ++response_;
  }

 private:
  const LatentScale& judge_;
  DrawnScores& out_;
  std::uint64_t seed_;
  double of_prompt_, of_response_, b_ = 0;
  std::vector<double> lasting_;
  std::uint32_t prompt_ = 0, response_ = 0;
};

void reserve(DrawnScores& out, double prompts, double responses, double scores) {
  if (responses >= 0x1p32 || scores >= 0x1p32) throw Failure(Exit::limits, "a table of scores has room for fewer than 2^32 of them");
  out.table.prompts.reserve(static_cast<std::size_t>(prompts));
  out.table.responses.reserve(static_cast<std::size_t>(responses));
  out.table.level.reserve(static_cast<std::size_t>(scores));
  out.table.column.reserve(static_cast<std::size_t>(scores));
  out.place.reserve(static_cast<std::size_t>(responses));
}

void set_values(ScoreTable& table, int levels) {
  for (int k = 1; k <= levels; ++k) table.values.push_back(k);
}

}  // namespace

DrawnScores draw_scores(const LatentScale& judge, const ScoreShape& shape, std::uint64_t seed) {
  DrawnScores out;
  const int judges = judge.judges();
  set_values(out.table, judge.levels);
  std::vector<std::uint32_t> all;
  for (int j = 0; j < judges; ++j) {
    out.table.judges.push_back({judges > 1 ? std::to_string(j + 1) : "", 0, 0, 0});
    for (std::uint32_t n = 0; n < shape.calls; ++n) {
      all.push_back(static_cast<std::uint32_t>(all.size()));
      out.table.columns.push_back({static_cast<std::uint32_t>(j), std::to_string(n + 1)});
    }
  }
  const double responses = static_cast<double>(shape.prompts) * shape.responses;
  reserve(out, shape.prompts, responses, responses * static_cast<double>(all.size()));
  Drawer drawer(judge, out, seed);
  for (std::uint32_t p = 0; p < shape.prompts; ++p) {
    drawer.start_prompt(shape.responses);
    for (std::uint32_t r = 0; r < shape.responses; ++r) drawer.response(all);
  }
  return out;
}

DrawnScores draw_scores(const LatentScale& judge, const ScoreTable& like, int repeats, std::uint64_t seed) {
  DrawnScores out;
  set_values(out.table, judge.levels);
  out.table.columns = like.columns;
  for (const auto& j : like.judges) out.table.judges.push_back({j.name, 0, 0, 0});
  const double n = repeats;
  reserve(out, n * static_cast<double>(like.prompts.size()), n * static_cast<double>(like.responses.size()),
          n * static_cast<double>(like.level.size()));
  Drawer drawer(judge, out, seed);
  std::vector<std::uint32_t> columns;
  for (int copy = 0; copy < repeats; ++copy)
    for (const auto& prompt : like.prompts) {
      drawer.start_prompt(prompt.count);
      for (const auto& r : like.responses_of(prompt)) {
        columns.clear();
        for_each_score(like, r, [&](int, std::uint32_t column) { columns.push_back(column); });
        drawer.response(columns);
      }
    }
  return out;
}

}  // namespace odrpo
