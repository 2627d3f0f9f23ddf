// Implements score_notes.hpp.
#include "results/scores/score_notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/csv.hpp"

namespace odrpo {
namespace {

constexpr double most_of_a_code = 0.05;  // share of the scores
constexpr double share_far = 0.9;        // of responses with a code and other scores
constexpr double warned_share = 0.02;    // of answers that cannot be read
constexpr std::int64_t fewest_told = 5;  // answers, before it is said where they come from

/// 1, 2, …, 5, 7 or 10, all of them.
bool is_full_scale(const std::vector<double>& values) {
  if (values.size() != 5 && values.size() != 7 && values.size() != 10) return false;
  for (std::size_t k = 0; k < values.size(); ++k)
    if (values[k] != static_cast<double>(k + 1)) return false;
  return true;
}

bool is_plain(double value) { return value >= 1 && value <= 10 && value == std::floor(value); }

/// Calls call(sum, n) for each response that has a level: with the sum and the number of its other scores that are no codes.
template <class Call>
void for_each_with(const ScoreTable& table, std::size_t level_index, const std::vector<bool>& ignored, Call call) {
  for (const auto& response : table.responses) {
    bool has = false;
    double sum = 0, n = 0;
    for_each_score(table, response, [&](int level, std::uint32_t) {
      const auto k = static_cast<std::size_t>(level - 1);
      if (k == level_index) has = true;
      else if (!ignored[k]) sum += table.values[k], ++n;
    });
    if (has && n > 0) call(sum, n);
  }
}

/// Do the other scores of responses that have `code` lie far from it? True where none has others. `ignored`: levels that are codes.
bool others_are_far(const ScoreTable& table, std::size_t code, const std::vector<bool>& ignored, double distance) {
  std::int64_t far = 0, all = 0;
  for_each_with(table, code, ignored, [&](double sum, double n) { ++all, far += std::fabs(sum / n - table.values[code]) >= distance; });
  return static_cast<double>(far) >= share_far * static_cast<double>(all);
}

/// The mean of the other scores of responses that have a level; NaN where none has others.
double mean_beside(const ScoreTable& table, std::size_t level_index, const std::vector<bool>& ignored) {
  double total = 0, count = 0;
  for_each_with(table, level_index, ignored, [&](double sum, double n) { total += sum, count += n; });
  return total / count;
}

/// The mean of the scores, and of the responses of answers that cannot be read, each with as many of these as it has.
struct Means {
  double all = 0, beside = 0;
  std::int64_t answers = 0;  ///< that stand beside a score
};
Means means_of(const ScoreTable& table) {
  Means out;
  double scores = 0;
  for (const auto& response : table.responses) {
    double sum = 0, n = 0;
    for_each_score(table, response, [&](int level, std::uint32_t) { sum += table.values[static_cast<std::size_t>(level - 1)], ++n; });
    out.all += sum, scores += n;
    const auto missed = static_cast<std::int64_t>(response.count) - static_cast<std::int64_t>(n);
    if (n == 0 || missed == 0) continue;
    out.beside += static_cast<double>(missed) * sum / n, out.answers += missed;
  }
  out.all /= scores, out.beside /= static_cast<double>(out.answers);
  return out;
}

std::string times(std::int64_t n) { return n == 1 ? "once" : fmt::format("{} times", n); }

std::string unreadable_text(const ScoreTable& table, const UnreadableTexts& unreadable, const ScoreReading& how) {
  const std::int64_t n = table.unreadables();
  std::string text = fmt::format("{} of the judge's answers cannot be read as a score:", n);
  auto texts = unreadable.texts;  // the most frequent first
  std::stable_sort(texts.begin(), texts.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  for (std::size_t i = 0; i < std::min<std::size_t>(texts.size(), 3); ++i)
    text += fmt::format("{} {} {}", i == 0 ? "" : ",", texts[i].first, times(texts[i].second));
  if (texts.size() > 3) text += ", …";
  if (how.parse == nullptr) text += "; " + ways_to_read(how);
  if (n < fewest_told) return text;
  const auto most = std::max_element(table.judges.begin(), table.judges.end(), [](const auto& a, const auto& b) { return a.unreadable < b.unreadable; });
  if (table.judges.size() > 1 && 10 * most->unreadable >= 9 * n)
    text += fmt::format("; {} of them are of judge {}", most->unreadable == n ? "all" : std::to_string(most->unreadable), shown_cell(most->name));
  const Means means = means_of(table);
  const double width = table.values.back() - table.values.front();
  if (means.answers >= fewest_told && std::fabs(means.beside - means.all) > width / 5)
    text += fmt::format("; they are lost at the {} end of the scale: the other scores of their responses have the mean {:.2f}, all scores {:.2f}",
                        means.beside > means.all ? "high" : "low", means.beside, means.all);
  return text;
}

/// Names judges whose scores end at 1 where those of others go on: two scales in one table. Empty where there is one.
std::string scales_text(const ScoreTable& table) {
  if (table.judges.size() < 2) return "";
  std::vector<double> least(table.judges.size(), INFINITY), most(table.judges.size(), -INFINITY);
  for (const auto& response : table.responses)
    for_each_score(table, response, [&](int level, std::uint32_t column) {
      const std::uint32_t judge = table.columns[column].judge;
      const double score = table.values[static_cast<std::size_t>(level - 1)];
      least[judge] = std::min(least[judge], score), most[judge] = std::max(most[judge], score);
    });
  std::string low, high;
  for (std::size_t j = 0; j < most.size(); ++j)
    if (most[j] > 1) add_item(high, shown_cell(table.judges[j].name));
    else if (least[j] < 1) add_item(low, shown_cell(table.judges[j].name));
  if (low.empty() || high.empty()) return "";
  return fmt::format("judges score on different scales: {} up to 1, {} beyond it; numbers of all of them together mean nothing: read those of one scale (--score 'a,b', or a file of its own)", low, high);
}

/// Of a value beside the end of `scale`, such as 0 below 1..10: may it be a level? The other scores of its responses are then as far from the mean as those beside
/// the end, or farther; those beside a code are any. Scores off the scale count as nothing.
bool may_be_level(const ScoreTable& table, std::size_t at, const std::vector<double>& scale) {
  const double value = table.values[at], end = value < scale.front() ? scale.front() : scale.back(), side = value < end ? 1 : -1;
  if (side * (end - value) > 1) return false;
  std::vector<bool> off_scale;
  for (const double v : table.values) off_scale.push_back(std::find(scale.begin(), scale.end(), v) == scale.end());
  double sum = 0, n = 0;
  for (const std::uint8_t level : table.level)
    if (level != ScoreTable::unreadable && !off_scale[level - 1u]) sum += table.values[level - 1u], ++n;
  const auto next = static_cast<std::size_t>(std::find(table.values.begin(), table.values.end(), end) - table.values.begin());
  const double beside = side * (mean_beside(table, at, off_scale) - sum / n), beside_end = side * (mean_beside(table, next, off_scale) - sum / n);
  return !(beside >= std::min(beside_end, 0.0) / 2);
}

}  // namespace

std::string ways_to_read(const ScoreReading& how) {
  return how.columns.named_by == "--" ? "--map WORD=NUMBER makes a word a score, --parse finds the score in an answer, --missing WORD counts it as missing"
                                      : "`map` makes a word a score, `parse` finds the score in an answer, `missing` counts a word as missing";
}

void UnreadableTexts::add(std::string text, std::int64_t times) {
  const auto same = std::find_if(texts.begin(), texts.end(), [&](const auto& t) { return t.first == text; });
  if (same != texts.end()) same->second += times;
  else if (!full()) texts.emplace_back(std::move(text), times);
}

std::vector<double> possible_codes(const ScoreTable& table) {
  std::vector<std::int64_t> count(table.values.size(), 0);
  std::int64_t scores = 0;
  for (const std::uint8_t level : table.level)
    if (level != ScoreTable::unreadable) ++count[level - 1u], ++scores;
  std::vector<bool> code(count.size(), false);
  std::vector<double> found;
  for (bool again = true; again;) {
    again = false;
    std::vector<std::size_t> left;  // levels with scores that are no codes
    for (std::size_t k = 0; k < count.size(); ++k)
      if (count[k] > 0 && !code[k]) left.push_back(k);
    if (left.size() < 3) break;
    for (const bool low : {true, false}) {
      const std::size_t at = low ? left.front() : left.back();
      std::vector<double> others;
      for (const std::size_t k : left)
        if (k != at) others.push_back(table.values[k]);
      double step = others.back() - others.front();
      for (std::size_t i = 1; i < others.size(); ++i) step = std::min(step, others[i] - others[i - 1]);
      const double value = table.values[at], gap = low ? others.front() - value : value - others.back();
      const bool plain = is_plain(value) && std::all_of(others.begin(), others.end(), is_plain);
      const bool few = static_cast<double>(count[at]) <= most_of_a_code * static_cast<double>(scores);
      const bool enough = count[at] >= 3 || gap > others.back() - others.front();  // the ends of a distribution lie apart too
      const bool apart = few && enough && !plain && gap > 1.999 * step;
      const auto is_usual = [](double v) { return v == -1 || v == 0 || v == 99 || v == 999; };
      std::vector<double> scale = others;  // without a second code
      std::erase_if(scale, is_usual);
      const bool usual = is_usual(value) && is_full_scale(scale);
      if (!(apart || usual)) continue;
      if (!others_are_far(table, at, code, 1.999 * step)) continue;
      if (!apart && may_be_level(table, at, scale)) continue;
      code[at] = again = true;
      found.push_back(value);
      break;
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

void add_score_notes(ScoreTable& table, const UnreadableTexts& unreadable, const ScoreReading& how) {
  const std::int64_t answers = static_cast<std::int64_t>(table.level.size());
  if (const std::int64_t n = table.unreadables(); n > 0)
    (static_cast<double>(n) >= warned_share * static_cast<double>(answers) ? table.warnings : table.notes).push_back(unreadable_text(table, unreadable, how));
  std::string scales = scales_text(table);
  const bool several = !scales.empty();
  if (several) table.warnings.push_back(std::move(scales));
  if (several || !how.scale.values.empty() || how.round > 0 || how.bins > 0) return;
  const std::vector<double> codes = possible_codes(table);
  if (codes.empty()) return;
  std::string each;
  for (const double value : codes) {
    const auto level = static_cast<std::uint8_t>(std::lower_bound(table.values.begin(), table.values.end(), value) - table.values.begin() + 1);
    add_item(each, fmt::format("{} ({})", exact_text(value), times(std::count(table.level.begin(), table.level.end(), level))), " and ");
  }
  const bool one = codes.size() == 1, flags = how.columns.named_by == "--";
  const std::string list = joined(codes, exact_text, flags ? "," : ", "), scale = scale_text(table.values);
  const bool grid = parse_scale(scale).has_value();
  table.warnings.push_back(fmt::format(
      "{} may mean \"no score\": {} far from the other scores of the same responses, and {} read as {} all the same. {} leaves {} out; {} says that {}",
      each, one ? "it lies" : "they lie", one ? "is" : "are", one ? "a level" : "levels", flags ? "--missing " + list : "missing = [" + list + "]",
      one ? "it" : "them", (flags ? "--scale" : "scale =") + (grid ? (flags ? " '" + scale + "'" : " \"" + scale + "\"") : std::string(flags ? "" : " …")),
      one ? "it is a score" : "they are scores"));
}

}  // namespace odrpo
