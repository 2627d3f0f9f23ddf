// Compares two tables of ratings.
#pragma once
#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/shared/score_table.hpp"

namespace odrpo {

/// The first member in which two tables differ; empty when they are the same.
inline std::string difference(const ScoreTable& a, const ScoreTable& b) {
  const auto same = [](const auto& x, const auto& y, auto equal) { return std::equal(x.begin(), x.end(), y.begin(), y.end(), equal); };
  if (a.values != b.values) return "values";
  if (a.level != b.level) return "level";
  if (a.column != b.column) return "column";
  if (a.notes != b.notes) return "notes";
  if (a.warnings != b.warnings) return "warnings";
  if (!same(a.columns, b.columns, [](const auto& x, const auto& y) { return x.judge == y.judge && x.sample == y.sample; }))
    return "columns";
  if (!same(a.judges, b.judges, [](const auto& x, const auto& y) {
        return x.name == y.name && x.ratings == y.ratings && x.unreadable == y.unreadable && x.missing == y.missing;
      }))
    return "judges";
  if (!same(a.responses, b.responses, [](const auto& x, const auto& y) {
        return x.first == y.first && x.count == y.count && (x.gold == y.gold || (std::isnan(x.gold) && std::isnan(y.gold)));
      }))
    return "responses";
  if (!same(a.prompts, b.prompts, [](const auto& x, const auto& y) { return x.id == y.id && x.first == y.first && x.count == y.count; }))
    return "prompts";
  return "";
}

}  // namespace odrpo
