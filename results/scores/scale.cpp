// Finds the scale of a file of scores, in whole numbers so that 0.1 x 3 is the 0.3 that a file has. Writes tables as text.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/shared/json.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/csv.hpp"
#include "results/scores/rows.hpp"
#include "results/scores/score_file.hpp"

namespace odrpo {
namespace {

constexpr double most_whole = 1e15;  // below 2^53
constexpr double rounding_of_step = 1e-4;  // of the distance between neighbouring levels

/// Numbers as whole multiples of 10^-d; empty where no d <= 9 makes them exact.
struct Decimals {
  std::vector<std::int64_t> whole;
  double unit = 1;  ///< 10^d
};
Decimals decimals_of(const std::vector<double>& values) {
  Decimals d;
  for (int digits = 0; digits <= 9; ++digits, d.unit *= 10) {
    d.whole.clear();
    for (const double v : values) {
      const double n = std::round(v * d.unit);
      if (!(std::fabs(n) < most_whole) || n / d.unit != v) break;
      d.whole.push_back(static_cast<std::int64_t>(n));
    }
    if (d.whole.size() == values.size()) return d;
  }
  return {};
}

/// least, least + step, …, most as numbers; empty when there are more than most_levels or they do not end in `most`.
std::vector<double> grid(std::int64_t least, std::int64_t most, std::int64_t step, double unit) {
  if (step <= 0 || most < least || (most - least) % step != 0 || (most - least) / step >= most_levels) return {};
  std::vector<double> values;
  for (std::int64_t n = least; n <= most; n += step) values.push_back(static_cast<double>(n) / unit);
  return values;
}

std::optional<double> number(std::string_view text) {
  const auto value = number_of(std::string(trimmed(text, " ")));
  return value && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace

ScoreScale scale_of_levels(int levels) {
  ScoreScale scale;
  for (int k = 1; k <= levels; ++k) scale.values.push_back(k);
  return scale;
}

std::optional<ScoreScale> parse_scale(std::string_view text) {
  const auto dots = text.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  const auto by = text.find("by", dots);
  const auto least = number(text.substr(0, dots));
  const auto most = number(by == std::string_view::npos ? text.substr(dots + 2) : text.substr(dots + 2, by - dots - 2));
  const auto step = by == std::string_view::npos ? std::optional(1.0) : number(text.substr(by + 2));
  if (!least || !most || !step) return std::nullopt;
  const Decimals d = decimals_of({*least, *most, *step});
  if (d.whole.empty()) return std::nullopt;
  ScoreScale scale{grid(d.whole[0], d.whole[1], d.whole[2], d.unit)};
  return scale.values.size() < 2 ? std::nullopt : std::optional(std::move(scale));
}

std::vector<double> scale_of_scores(const std::vector<double>& found) {
  const Decimals d = decimals_of(found);
  if (d.whole.empty()) return found;
  if (d.unit == 1 && d.whole.front() >= 1 && d.whole.back() <= most_levels) return scale_of_levels(static_cast<int>(d.whole.back())).values;
  std::int64_t step = 0;
  for (const std::int64_t n : d.whole) step = std::gcd(step, n - d.whole.front());
  std::vector<double> values = grid(d.whole.front(), d.whole.back(), step, d.unit);
  return values.empty() ? found : values;
}

int level_on(std::span<const double> scale, double reward) {
  if (scale.size() == 0 || reward != reward) return 0;
  const std::size_t above = static_cast<std::size_t>(std::lower_bound(scale.begin(), scale.end(), reward) - scale.begin());
  for (const std::size_t i : {above, above - 1}) {
    if (i >= scale.size()) continue;
    const double step = scale.size() == 1 ? std::fabs(scale[i]) : i == 0 ? scale[1] - scale[0] : scale[i] - scale[i - 1];
    if (std::fabs(reward - scale[i]) <= rounding_of_step * step) return static_cast<int>(i) + 1;
  }
  return 0;
}

std::string scale_text(const std::vector<double>& values) {
  const auto text = [](double v) { return exact_text(v == 0 ? 0.0 : v); };
  if (const Decimals d = decimals_of(values); values.size() > 2 && !d.whole.empty()) {
    const std::int64_t step = d.whole[1] - d.whole[0];
    if (grid(d.whole.front(), d.whole.back(), step, d.unit) == values)
      return fmt::format("{}..{}{}", text(values.front()), text(values.back()),
                         static_cast<double>(step) == d.unit ? "" : " by " + text(static_cast<double>(step) / d.unit));
  }
  std::string all;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values.size() > 12 && i == 6) all += ", …", i = values.size() - 2;
    else all.append(i == 0 ? "" : ", ").append(text(values[i]));
  }
  return all;
}

// Rows of a table of scores as text.

namespace {

constexpr std::size_t piece = std::size_t{1} << 16;  // bytes handed on at once

/// The ids of one column as their format has them: in JSON all are numbers where all are plain whole ones, and all are texts otherwise.
template <class List, class Text>
std::vector<std::string> id_texts(const List& list, ScoreFormat format, Text id_of) {
  const auto whole = [&](const auto& item) {
    const auto value = number_from<std::int64_t>(id_of(item));
    return value && std::to_string(*value) == id_of(item);
  };
  const bool numbers = std::all_of(list.begin(), list.end(), whole);
  std::vector<std::string> texts;
  for (const auto& item : list) {
    const std::string& id = id_of(item);
    if (format == ScoreFormat::csv) texts.push_back(csv_field(id));
    else if (format == ScoreFormat::tsv || numbers) texts.push_back(id);
    else texts.push_back(Json(id).dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  return texts;
}

}  // namespace

void write_scores(const ScoreTable& table, ScoreFormat format, const std::function<void(std::string_view)>& out) {
  const ScoreColumns names;
  const bool json = format == ScoreFormat::json;
  const bool named = std::any_of(table.judges.begin(), table.judges.end(), [](const auto& j) { return !j.name.empty(); });
  const bool gold = std::any_of(table.responses.begin(), table.responses.end(), has_gold);
  std::vector<std::string> score;
  for (const double value : table.values) score.push_back(fmt::format("{}", value));
  const std::vector<std::string> judge = id_texts(table.judges, format, [](const auto& j) -> const std::string& { return j.name; }),
                                 sample = id_texts(table.columns, format, [](const auto& c) -> const std::string& { return c.sample; }),
                                 id = id_texts(table.prompts, format, [](const auto& p) -> const std::string& { return p.id; });
  const char mark = format == ScoreFormat::tsv ? '\t' : ',';
  std::string text;
  if (!json) {
    text = fmt::format("{1}{0}{2}{0}{3}", mark, names.prompt, names.response, names.sample);
    if (named) text += mark + names.rater;
    text += mark + names.score;
    if (gold) text += mark + names.gold;
    text += '\n';
  }
  for (const auto& prompt : table.prompts) {
    const std::string& prompt_id = id[static_cast<std::size_t>(&prompt - table.prompts.data())];
    int response = 0;
    for (const auto& r : table.responses_of(prompt)) {
      const std::string true_score = has_gold(r) ? fmt::format("{}", r.gold) : "";
      const auto levels = table.levels_of(r);
      const auto columns = table.columns_of(r);
      ++response;
      for (std::size_t i = 0; i < levels.size(); ++i) {
        const std::string given = levels[i] == ScoreTable::unreadable ? "unreadable" : score[levels[i] - 1u];
        const auto& of = table.columns[columns[i]];
        if (json) {
          text += fmt::format("{{\"{}\": {}, \"{}\": {}, \"{}\": {}", names.prompt, prompt_id, names.response, response, names.sample,
                              sample[columns[i]]);
          if (named) text += fmt::format(", \"{}\": {}", names.rater, judge[of.judge]);
          text += levels[i] == ScoreTable::unreadable ? fmt::format(", \"{}\": \"{}\"", names.score, given)
                                                      : fmt::format(", \"{}\": {}", names.score, given);
          if (!true_score.empty()) text += fmt::format(", \"{}\": {}", names.gold, true_score);
          text += "}\n";
        } else {
          text += fmt::format("{1}{0}{2}{0}{3}", mark, prompt_id, response, sample[columns[i]]);
          if (named) text += mark + judge[of.judge];
          text += mark + given;
          if (gold) text += mark + true_score;
          text += '\n';
        }
        if (text.size() < piece) continue;
        out(text);
        text.clear();
      }
    }
  }
  if (!text.empty()) out(text);
}

}  // namespace odrpo
