// Maps the values of dimensions to codes, and groups runs by their codes.
#include "results/table/dimensions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

#include "kernels/math.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"

namespace odrpo {
namespace {

constexpr const char* plain_dimensions[] = {"env", "rater", "policy", "estimator", "votes"};

/// Numbers different 64-bit values 0, 1, 2, … in the order of their first use. Remembers the last one, since neighbouring runs often have
/// the same.
class Numbering {
 public:
  std::uint32_t operator()(std::uint64_t key) {
    if (numbers_.empty() || key != last_)
      at_ = numbers_.try_emplace(last_ = key, static_cast<std::uint32_t>(numbers_.size())).first->second;
    return at_;
  }
  std::size_t size() const { return numbers_.size(); }

 private:
  std::map<std::uint64_t, std::uint32_t> numbers_;  // a sorted map, since a malicious file could make a hash table slow
  std::uint64_t last_ = 0;
  std::uint32_t at_ = 0;
};

std::string number_entry(double value, bool integer) {
  if (std::isnan(value)) return absent_entry;
  return integer && std::fabs(value) < 9e18 ? fmt::format("{}", static_cast<std::int64_t>(value)) : fmt::format("{}", value);
}

Dimension of_numbers(std::string name, const Column& column) {
  Dimension d{std::move(name), {}, {}, {}};
  d.own.reserve(column.number.size());
  const bool integer = column.integer || column.axis.empty();  // `votes` is an integer too
  Numbering numbering;
  for (const double value : column.number) {
    d.own.push_back(numbering(std::bit_cast<std::uint64_t>(std::isnan(value) ? undefined : value)));
    if (d.own.back() == d.entries.size()) d.entries.push_back(number_entry(value, integer));
  }
  d.code = d.own;
  return d;
}

Dimension of_texts(std::string name, const Column& column) {
  Dimension d{std::move(name), {}, column.code, {}};
  for (const std::string& word : column.words)
    d.entries.push_back(word.empty() && !column.axis.empty() ? absent_entry : printable_text(word));
  return d;
}

}  // namespace

const Column& read_column(const ResultFile& file, const std::string& name, bool numeric) {
  const Column* column = file.column(name);
  if (column == nullptr || column->numeric != numeric || column->size() != file.runs)
    throw Failure(Exit::internal, "the table's column '" + name + "' has not been read");
  return *column;
}

std::vector<Dimension> dimensions_of(const ResultFile& file) {
  std::vector<Dimension> dimensions;
  for (const char* name : plain_dimensions) {
    const bool numeric = name == std::string_view("votes");
    const Column& column = read_column(file, name, numeric);
    dimensions.push_back(numeric ? of_numbers(name, column) : of_texts(name, column));
  }
  std::vector<std::pair<std::size_t, Dimension>> axes;  // (first run that has the axis, axis)
  for (const Column& column : file.columns) {
    const std::string name = printable_text(column.axis);
    const auto same = [&](const Dimension& d) { return d.name == name; };
    if (name.empty() || std::any_of(dimensions.begin(), dimensions.end(), same) ||
        std::any_of(axes.begin(), axes.end(), [&](const auto& axis) { return same(axis.second); }))
      continue;
    std::size_t first = 0;
    while (first < file.runs && (column.numeric ? std::isnan(column.number[first]) : column.text(first).empty())) ++first;
    if (first < file.runs) axes.emplace_back(first, column.numeric ? of_numbers(name, column) : of_texts(name, column));
  }
  std::stable_sort(axes.begin(), axes.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& axis : axes) dimensions.push_back(std::move(axis.second));
  return dimensions;
}

Combinations combinations_of(std::span<const Dimension* const> dimensions, std::size_t runs) {
  Combinations all;
  if (runs > 0) all.first = {0};
  for (const Dimension* dimension : dimensions) {
    if (dimension->entries.size() < 2) continue;
    all.code.resize(runs);
    all.first.clear();
    Numbering numbering;
    for (std::uint32_t i = 0; i < runs; ++i) {
      all.code[i] = numbering(std::uint64_t{all.code[i]} * dimension->entries.size() + dimension->code[i]);
      if (all.code[i] == all.first.size()) all.first.push_back(i);
    }
  }
  return all;
}

bool follows(const Dimension& dimension, std::span<const Dimension* const> others, std::size_t runs) {
  const Combinations all = combinations_of(others, runs);
  for (std::size_t i = 0; i < runs; ++i)
    if (dimension.code[i] != dimension.code[all.first[all.of(i)]]) return false;
  return true;
}

SortedRuns sorted_runs(std::span<const std::uint32_t> code, std::size_t codes) {
  SortedRuns sorted;
  sorted.begin.assign(codes + 1, 0);
  for (const std::uint32_t c : code) ++sorted.begin[c + 1];
  for (std::size_t c = 0; c < codes; ++c) sorted.begin[c + 1] += sorted.begin[c];
  sorted.runs.resize(code.size());
  std::vector<std::uint32_t> next(sorted.begin.begin(), sorted.begin.end() - 1);
  for (std::uint32_t i = 0; i < code.size(); ++i) sorted.runs[next[code[i]]++] = i;
  return sorted;
}

}  // namespace odrpo
