// Sums of advantages over every histogram of companions.
#include "estimators/theory/field.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "estimators/theory/companions.hpp"
#include "estimators/theory/histograms.hpp"
#include "kernels/failure.hpp"

namespace odrpo {
namespace {

void check_theory_work(const TheorySetting& s, const CompanionMap& map, int companions, double each) {
  const double histograms = histogram_count(s.levels(), companions), work = histograms * each * map.cost();
  if (work <= most_theory_work) return;
  throw Failure(Exit::limits, "K = " + std::to_string(s.levels()) + " and M = " + std::to_string(s.members) + " have " +
                                  std::to_string(static_cast<long long>(std::min(histograms, 1e18))) +
                                  " histograms, too many for an exact sum");
}

double mean_of_levels(std::span<const double> x) {
  double sum = 0;
  for (const double v : x) sum += v;
  return sum / static_cast<double>(x.size());
}

}  // namespace

std::vector<double> update_field(const TheorySetting& s, std::span<const double> p) {
  CompanionMap map(s);
  check_theory_work(s, map, s.members - 1, s.levels());
  const Multinomial probability(p, s.members - 1);
  std::vector<double> field(p.size(), 0.0), gain(p.size());
  for_each_histogram(s.levels(), s.members - 1, [&](std::span<const int> companions) {
    const double chance = probability(companions);
    if (chance == 0) return;
    map.gains(companions, gain);
    for (std::size_t k = 0; k < field.size(); ++k) field[k] += chance * gain[k];
  });
  return field;
}

double field_cosine(std::span<const double> field, std::span<const double> values) {
  const double field_mean = mean_of_levels(field), value_mean = mean_of_levels(values);
  double dot = 0, f2 = 0, v2 = 0;
  for (std::size_t k = 0; k < field.size(); ++k) {
    const double f = field[k] - field_mean, v = values[k] - value_mean;
    dot += f * v, f2 += f * f, v2 += v * v;
  }
  return f2 > 0 ? dot / (math::sqrt(f2) * math::sqrt(v2)) : std::numeric_limits<double>::quiet_NaN();
}

double curl_at(const TheorySetting& s, std::span<const int> companions, int i, int j) {
  const auto f = [&](int of, int beside) {  // f_of(s + e_beside)
    std::vector<int> group(companions.begin(), companions.end());
    ++group[static_cast<std::size_t>(of)];
    ++group[static_cast<std::size_t>(beside)];
    return group_advantages(s, group)[static_cast<std::size_t>(of)];
  };
  const int last = s.levels() - 1;
  return f(i, j) - f(i, last) + f(j, last) - f(j, i) + f(last, i) - f(last, j);
}

MeanCurl mean_absolute_curl(const TheorySetting& s) {
  CompanionMap map(s);
  const auto levels = static_cast<std::size_t>(s.levels());
  check_theory_work(s, map, s.members - 2, 0.5 * static_cast<double>(levels * levels));
  std::vector<double> d(levels * levels, 0.0);
  const double* last = &d[(levels - 1) * levels];
  double sum = 0;
  MeanCurl mean;
  for_each_histogram(s.levels(), s.members - 2, [&](std::span<const int> companions) {
    map.differences(companions, d);
    double here = 0;
    for (std::size_t j = 1; j + 1 < levels; ++j)
      for (std::size_t i = 0; i < j; ++i) here += math::abs((last[i] - last[j]) - d[j * levels + i]);
    sum += here;
    mean.histograms += 1;
  });
  const double k = static_cast<double>(levels), pairs = 0.5 * (k - 1) * (k - 2);
  mean.all = 2 * sum / (k * k * mean.histograms);
  mean.pairs = pairs > 0 ? sum / (pairs * mean.histograms) : std::numeric_limits<double>::quiet_NaN();
  return mean;
}

std::vector<double> field_curl(const TheorySetting& s, std::span<const double> p) {
  CompanionMap map(s);
  const auto levels = static_cast<std::size_t>(s.levels());
  check_theory_work(s, map, s.members - 2, 0.5 * static_cast<double>(levels * levels));
  const Multinomial probability(p, s.members - 2);
  std::vector<double> d(levels * levels, 0.0), curl(levels * levels, 0.0);
  const double* last = &d[(levels - 1) * levels];
  for_each_histogram(s.levels(), s.members - 2, [&](std::span<const int> companions) {
    const double chance = probability(companions) * (s.members - 1);
    if (chance == 0) return;
    map.differences(companions, d);
    for (std::size_t j = 1; j + 1 < levels; ++j)
      for (std::size_t i = 0; i < j; ++i) curl[i * levels + j] += chance * ((last[i] - last[j]) - d[j * levels + i]);
  });
  for (std::size_t j = 1; j < levels; ++j)
    for (std::size_t i = 0; i < j; ++i) curl[j * levels + i] = -curl[i * levels + j];
  return curl;
}

}  // namespace odrpo
