// Draws tables of scores: makes an empty table, then for each prompt draws its normal variables and computes the scores.
#include "envs/judge/latent/draw.hpp"

#include <algorithm>
#include <string>

#include "envs/judge/latent/evidence.hpp"
#include "kernels/math.hpp"
#include "kernels/random.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo {
namespace {

/// Appends n standard normals from draw() with (purpose, step, prompt): two per counter block of the random generator.
void append_normals(std::vector<double>& out, std::size_t n, std::uint64_t seed, Purpose purpose, std::uint32_t step,
                    std::uint32_t prompt) {
  for (std::uint32_t block = 0; n > 0; ++block) {
    const math::Normal2 pair = math::normal_pair(draw(seed, purpose, step, prompt, block).x);
    out.push_back(pair.a);
    if (n > 1) out.push_back(pair.b);
    n -= std::min<std::size_t>(n, 2);
  }
}

/// Appends all normals of prompt p (LatentNormals); those of u only if `lasting`.
void append_normals(LatentNormals& out, const ScoreTable& table, std::uint32_t p, std::uint64_t seed, bool lasting) {
  append_normals(out.b, 1, seed, Purpose::latent_place, 0, p);
  const auto responses = table.responses_of(table.prompts[p]);
  for (std::uint32_t r = 0; r < responses.size(); ++r) {
    const math::Normal2 place = math::normal_pair(draw(seed, Purpose::latent_place, r + 1, p, 0).x);
    out.e.push_back(place.a);
    out.z.push_back(place.b);
    if (lasting) append_normals(out.u, table.judges.size(), seed, Purpose::latent_judge, r, p);
    append_normals(out.eps, responses[r].count, seed, Purpose::latent_call, r, p);
  }
}

void append_replacements(std::vector<Replacement>& out, const Outliers& outliers, const ScoreTable& table, std::uint32_t p, std::uint64_t seed) {
  if (!outliers.any()) return;
  const auto responses = table.responses_of(table.prompts[p]);
  for (std::uint32_t r = 0; r < responses.size(); ++r) {
    out.resize(out.size() + responses[r].count);
    draw_replacements(outliers, table.levels(), seed, p, r, std::span(out).last(responses[r].count));
  }
}

/// Indices in LatentNormals of the next prompt, response and call.
struct Cursor {
  std::size_t prompt = 0, response = 0, call = 0;
};

/// Computes the scores of prompt p and moves the cursor past it. Appends the places x of its responses to `place`, unless it is null.
void score_prompt(const LatentScale& judge, const LatentNormals& normals, Cursor& at, ScoreTable& table, std::uint32_t p,
                  std::vector<double>* place) {
  const double of_prompt = math::sqrt(judge.prompt_share) * normals.b[at.prompt++], of_response = math::sqrt(1 - judge.prompt_share);
  const std::size_t judges = table.judges.size();
  for (const auto& response : table.responses_of(table.prompts[p])) {
    const double x = of_prompt + of_response * normals.e[at.response];
    const double s = judge.spread > 0 ? math::exp(judge.spread * normals.z[at.response]) : 1.0;
    const double* u = judge.judge_sigma > 0 ? &normals.u[at.response * judges] : nullptr;
    for (std::uint32_t i = response.first; i < response.first + response.count; ++i) {
      const std::uint32_t j = table.columns[table.column[i]].judge;
      const double error = (u ? judge.judge_sigma * u[j] : 0.0) + judge.sigma * normals.eps[at.call], y = x + s * error;
      unsigned level = 1;
      for (const double cut : judge.thresholds(static_cast<int>(j))) level += y > cut;
      if (const Replacement replacement = normals.replacement.empty() ? kept_score : normals.replacement[at.call]; replacement != kept_score)
        level = replacement == mirrored_score ? static_cast<unsigned>(judge.levels) + 1 - level : replacement;
      table.level[i] = static_cast<std::uint8_t>(level);
      ++at.call;
    }
    ++at.response;
    if (place) place->push_back(x);
  }
}

void refuse_too_many(double responses, double scores) {
  if (responses >= 0x1p32 || scores >= 0x1p32) throw Failure(Exit::limits, "a table of scores has room for fewer than 2^32 of them");
}

void append_prompt(ScoreTable& table, std::uint32_t responses) {
  table.prompts.push_back({std::to_string(table.prompts.size() + 1), static_cast<std::uint32_t>(table.responses.size()), responses});
}

void append_response(ScoreTable& table, std::span<const std::uint32_t> columns) {
  table.responses.push_back({static_cast<std::uint32_t>(table.column.size()), static_cast<std::uint32_t>(columns.size()), no_gold});
  for (const std::uint32_t c : columns) {
    table.column.push_back(c);
    ++table.judges[table.columns[c].judge].ratings;
  }
}

ScoreTable empty_table(const LatentScale& judge, const ScoreShape& shape) {
  ScoreTable table = panel_columns(judge.levels, judge.judges(), static_cast<int>(shape.calls));
  const std::vector<std::uint32_t> all = numbers_to(table.columns.size());
  const double responses = static_cast<double>(shape.prompts) * shape.responses;
  refuse_too_many(responses, responses * static_cast<double>(all.size()));
  table.responses.reserve(static_cast<std::size_t>(responses));
  table.column.reserve(table.responses.capacity() * all.size());
  for (std::uint32_t p = 0; p < shape.prompts; ++p) {
    append_prompt(table, shape.responses);
    for (std::uint32_t r = 0; r < shape.responses; ++r) append_response(table, all);
  }
  table.level.resize(table.column.size());
  return table;
}

ScoreTable empty_table(const ScoreTable& like, int repeats) {
  refuse_too_many(static_cast<double>(like.responses.size()) * repeats, static_cast<double>(like.level.size()) * repeats);
  ScoreTable table;
  table.values = like.values;
  table.columns = like.columns;
  for (const auto& j : like.judges) table.judges.push_back({j.name, 0, 0, 0});
  std::vector<std::uint32_t> columns;
  for (int copy = 0; copy < repeats; ++copy)
    for (const auto& prompt : like.prompts) {
      append_prompt(table, prompt.count);
      for (const auto& response : like.responses_of(prompt)) {
        columns.clear();
        for_each_score(like, response, [&](int, std::uint32_t column) { columns.push_back(column); });
        append_response(table, columns);
      }
    }
  table.level.resize(table.column.size());
  return table;
}

DrawnScores fill(const LatentScale& judge, ScoreTable table, std::uint64_t seed, const Outliers& outliers) {
  DrawnScores out{std::move(table), {}};
  out.place.reserve(out.table.responses.size());
  LatentNormals normals;
  for (std::uint32_t p = 0; p < out.table.prompts.size(); ++p) {
    for (auto* part : {&normals.b, &normals.e, &normals.z, &normals.u, &normals.eps}) part->clear();
    normals.replacement.clear();
    append_normals(normals, out.table, p, seed, judge.judge_sigma > 0);
    append_replacements(normals.replacement, outliers, out.table, p, seed);
    Cursor start;
    score_prompt(judge, normals, start, out.table, p, &out.place);
  }
  return out;
}

}  // namespace

ScoreTable panel_columns(int levels, int judges, int calls) {
  ScoreTable table;
  for (int k = 1; k <= levels; ++k) table.values.push_back(k);
  for (int j = 0; j < judges; ++j) {
    table.judges.push_back({judges > 1 ? std::to_string(j + 1) : "", 0, 0, 0});
    for (int n = 0; n < calls; ++n) table.columns.push_back({static_cast<std::uint32_t>(j), std::to_string(n + 1)});
  }
  return table;
}

DrawnScores draw_scores(const LatentScale& judge, const ScoreShape& shape, std::uint64_t seed, const Outliers& outliers) {
  return fill(judge, empty_table(judge, shape), seed, outliers);
}

DrawnScores draw_scores(const LatentScale& judge, const ScoreTable& like, int repeats, std::uint64_t seed, const Outliers& outliers) {
  return fill(judge, empty_table(like, repeats), seed, outliers);
}

ScoreDraws::ScoreDraws(const ScoreTable& like, int repeats, std::uint64_t seed) : table_(empty_table(like, repeats)), seed_(seed) {
  for (std::uint32_t p = 0; p < table_.prompts.size(); ++p) append_normals(normals_, table_, p, seed, table_.judges.size() > 1);
}

void ScoreDraws::set_outliers(const Outliers& outliers) {
  normals_.replacement.clear();
  for (std::uint32_t p = 0; p < table_.prompts.size(); ++p) append_replacements(normals_.replacement, outliers, table_, p, seed_);
}

const ScoreTable& ScoreDraws::scores(const LatentScale& judge) {
  Cursor at;
  for (std::uint32_t p = 0; p < table_.prompts.size(); ++p) score_prompt(judge, normals_, at, table_, p, nullptr);
  return table_;
}

}  // namespace odrpo
