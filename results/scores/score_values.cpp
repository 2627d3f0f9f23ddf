// Implements score_values.hpp.
#include "results/scores/score_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "results/scores/csv.hpp"
#include "results/scores/reading.hpp"

namespace odrpo {

std::uint8_t ScoreValues::code_of(const CellText& cell, CellPlace at) {
  const double value = cell.value, whole = cell.kind == CellText::Kind::fraction ? cell.whole : 0;
  const auto count = [&](std::size_t i) {
    last_ = i;
    ++entries_[i].count;
    return static_cast<std::uint8_t>(i + 1);
  };
  const auto met = [&](std::size_t i) { return entries_[i].least == value && entries_[i].most == value && entries_[i].whole == whole; };
  if (last_ < entries_.size() && met(last_)) return count(last_);
  for (std::size_t i = 0; i < entries_.size(); ++i)  // nearly always one of a few
    if (met(i)) return count(i);
  if (!stated_.empty() && whole == 0) {
    const double largest = std::max(std::fabs(stated_.front()), std::fabs(stated_.back()));
    if (std::none_of(stated_.begin(), stated_.end(), [&](double v) { return same_score(v, value, largest); })) return 0;
  }
  largest_ = std::max({largest_, std::fabs(value), whole});
  const double slack = joined_ ? rounding_of_scores * largest_ : 0;
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.holds(value, whole, slack); });
  if (found != entries_.end()) {
    found->least = std::min(found->least, value), found->most = std::max(found->most, value);
    return count(static_cast<std::size_t>(found - entries_.begin()));
  }
  if (entries_.size() == most_codes && !joined_) {
    join_rounded();
    return code_of(cell, at);
  }
  if (entries_.size() == most_codes) return 0;
  entries_.push_back({value, value, whole, 0, at});
  return count(entries_.size() - 1);
}

void ScoreValues::join_rounded() {
  joined_ = true;
  std::array<std::uint8_t, 256> moved{};
  std::iota(moved.begin(), moved.end(), std::uint8_t{0});
  std::vector<Entry> kept;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& e = entries_[i];
    const auto same = std::find_if(kept.begin(), kept.end(), [&](const Entry& k) {
      return k.whole == e.whole && e.least <= k.most + rounding_of_scores * largest_ && e.most >= k.least - rounding_of_scores * largest_;
    });
    moved[i + 1] = static_cast<std::uint8_t>(same - kept.begin() + 1);
    if (same == kept.end()) {
      kept.push_back(e);
      continue;
    }
    same->least = std::min(same->least, e.least), same->most = std::max(same->most, e.most), same->count += e.count;
  }
  entries_ = std::move(kept);
  last_ = 0;
  moved_ = moved;
}

std::optional<std::array<std::uint8_t, 256>> ScoreValues::take_moved() { return std::exchange(moved_, std::nullopt); }

double ScoreValues::usual_step() const {
  double least = INFINITY, most = -INFINITY;
  for (const Entry& e : entries_) least = std::min(least, e.least), most = std::max(most, e.most);
  const double power = most > least ? std::ceil(std::log10((most - least) / 50)) : 0;
  return power < 0 ? 1 / std::round(std::pow(10, -power)) : std::round(std::pow(10, power));
}

ScoreValues::Settled ScoreValues::settle() const {
  Settled out;
  // fractions: one M, and no score above it
  double whole = 0, most = stated_.empty() ? -INFINITY : stated_.back();
  bool readable = true;
  for (const Entry& e : entries_) {
    if (e.whole > 0 && whole > 0 && e.whole != whole) readable = false;
    whole = std::max(whole, e.whole), most = std::max(most, e.most);
  }
  readable = readable && !(most > whole * (1 + rounding_of_scores));
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& e = entries_[i];
    const auto on_scale = [&](double v) { return same_score(v, e.least, std::max(largest_, std::fabs(v))); };
    const bool off = e.whole > 0 && !stated_.empty() && std::none_of(stated_.begin(), stated_.end(), on_scale);
    if (e.whole > 0 && (!readable || off)) {
      out.refused.push_back({fmt::format("{}/{}", exact_text(e.least), exact_text(e.whole)), e.count, e.first});
      continue;
    }
    order.push_back(i);
    if (e.whole > 0) out.fractions += e.count, out.whole = e.whole;
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return entries_[a].least < entries_[b].least; });
  if (!stated_.empty()) {
    out.values = stated_;
    const double largest = std::max(std::fabs(stated_.front()), std::fabs(stated_.back()));
    for (const std::size_t i : order)
      for (std::size_t k = 0; k < stated_.size(); ++k)
        if (same_score(stated_[k], entries_[i].least, largest)) out.index[i + 1] = static_cast<std::uint8_t>(k + 1);
    return out;
  }
  // neighbours that differ by rounding alone are one
  std::vector<std::pair<double, double>> ends;
  std::vector<std::size_t> group(entries_.size(), 0);
  for (const std::size_t i : order) {
    const Entry& e = entries_[i];
    if (ends.empty() || !same_score(e.least, ends.back().second, largest_)) ends.emplace_back(e.least, e.most);
    else ends.back().second = std::max(ends.back().second, e.most);
    group[i] = ends.size();
  }
  std::vector<bool> met(ends.size() + 1, false);
  std::size_t different = 0;
  for (std::size_t i = 0; i < entries_.size() && !out.too_many; ++i) {  // in the order of the file
    if (group[i] == 0 || met[group[i]]) continue;
    met[group[i]] = true;
    if (++different > most_levels) out.too_many = {entries_[i].least, entries_[i].first};
  }
  for (const auto& [least, largest] : ends) {
    const double slack = rounding_of_sums * largest_;
    out.values.push_back(shortest_between(least - slack, largest + slack));
    if (least < largest) out.rounded.emplace_back(least, largest);
  }
  for (std::size_t i = 0; i < group.size(); ++i) out.index[i + 1] = static_cast<std::uint8_t>(std::min<std::size_t>(group[i], 254));
  return out;
}

}  // namespace odrpo
