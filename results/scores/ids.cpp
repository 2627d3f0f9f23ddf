// A hash table of texts in one pool, and the order of ids.
#include "results/scores/cells.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <numeric>
#include <optional>
#include <tuple>

#include "kernels/shared/failure.hpp"
#include "results/scores/csv.hpp"

namespace odrpo {
namespace {

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::size_t hash(std::uint32_t group, std::string_view text) {
  return std::hash<std::string_view>()(text) + std::size_t{group} * 0x9e3779b97f4a7c15u;
}
std::size_t spread(std::size_t h) { return h ^ (h >> 32); }

}  // namespace

std::string_view plain_id(std::string_view text, std::string& buffer) {
  const bool plain = text.size() == 1 || (!text.empty() && text[0] >= '1' && text[0] <= '9');
  if (plain) return text;
  const auto value = whole(text);
  if (!value) return text;
  buffer = std::to_string(*value);
  return buffer;
}

std::uint32_t IdTable::number_of(std::uint32_t group, std::string_view t) {
  if (!keys_.empty() && holds(last_, group, t)) return last_;
  if (2 * (keys_.size() + 1) > slots_.size()) grow();
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = spread(hash(group, t)) & mask;
  for (; slots_[at] != 0; at = (at + 1) & mask)
    if (holds(slots_[at] - 1, group, t)) return last_ = slots_[at] - 1;
  keys_.push_back({static_cast<std::uint32_t>(pool_.size()), static_cast<std::uint32_t>(t.size()), group});
  pool_ += t;
  slots_[at] = static_cast<std::uint32_t>(keys_.size());
  return last_ = slots_[at] - 1;
}

void IdTable::grow() {
  slots_.assign(std::max<std::size_t>(64, 2 * slots_.size()), 0);
  const std::size_t mask = slots_.size() - 1;
  for (std::uint32_t i = 0; i < size(); ++i) {
    std::size_t at = spread(hash(keys_[i].group, text(i))) & mask;
    while (slots_[at] != 0) at = (at + 1) & mask;
    slots_[at] = i + 1;
  }
}

std::vector<std::uint32_t> IdTable::sorted(const std::vector<std::uint32_t>& group_rank) const {
  struct Place {
    std::uint32_t group;
    bool is_text;
    std::int64_t value;
  };
  std::vector<Place> place(keys_.size());
  for (std::uint32_t i = 0; i < size(); ++i) {
    const auto value = whole(text(i));
    place[i] = {group_rank.empty() ? keys_[i].group : group_rank[keys_[i].group], !value, value.value_or(0)};
  }
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [&](std::uint32_t i) { return std::tie(place[i].group, place[i].is_text, place[i].value); };
    if (key(a) != key(b)) return key(a) < key(b);
    return place[a].is_text && text(a) < text(b);
  };
  std::vector<std::uint32_t> order(keys_.size());
  std::iota(order.begin(), order.end(), 0u);
  if (!std::is_sorted(order.begin(), order.end(), before)) std::sort(order.begin(), order.end(), before);
  return order;
}

std::vector<std::string> IdTable::same_but_case() const {
  IdTable lower;
  std::vector<std::uint32_t> first;
  std::string folded;
  for (std::uint32_t i = 0; i < size(); ++i) {
    const auto is_letter = [](char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; };
    const std::string_view t = text(i);
    if (std::none_of(t.begin(), t.end(), is_letter)) continue;
    folded = t;
    for (char& c : folded)
      if (is_letter(c)) c |= 32;
    const std::uint32_t n = lower.number_of(keys_[i].group, folded);
    if (n < first.size()) return {std::string(text(first[n])), std::string(t)};
    first.push_back(i);
  }
  return {};
}

std::vector<std::uint32_t> ranks_of(const std::vector<std::uint32_t>& sorted) {
  std::vector<std::uint32_t> rank(sorted.size());
  for (std::uint32_t i = 0; i < sorted.size(); ++i) rank[sorted[i]] = i;
  return rank;
}

std::string shown_id(std::string_view text) { return whole(text) ? std::string(text) : shown_cell(text); }

}  // namespace odrpo
