// Chooses the learning rates of a choice to train next, by a parabola through the gains at the rates tried so far.
#include <algorithm>
#include <iterator>

#include "results/stats/statistics.hpp"
#include "train/advice/race.hpp"

namespace odrpo {
namespace {

constexpr double rates[] = {0.0032, 0.0042, 0.0056, 0.0075, 0.01, 0.013, 0.018, 0.024, 0.032, 0.042, 0.056, 0.075, 0.1, 0.13,
                            0.18,   0.24,   0.32,   0.42,   0.56, 0.75,  1,     1.3,   1.8,   2.4,   3.2,   4.2,   5.6, 7.5,
                            10,     13,     18,     24,     32,   42,    56,    75,    100,   130,   180,   240,   320};
static_assert(std::size(rates) == highest_rate - lowest_rate + 1);

constexpr double ruled_out = 0.01;  // a learning rate that a one-sided test finds worse with a smaller p is not the choice's best

}  // namespace

double rate_at(int place) { return rates[place - lowest_rate]; }

ParabolaTop parabola_top(double left, double left_drop, double right, double right_drop) {
  const double bend = (right_drop / right + left_drop / left) / (left + right);  // y = slope x - bend x^2
  if (!(bend > 0)) return {0, 0};
  const double slope = left_drop / left - bend * left;
  return {slope / (2 * bend), slope * slope / (4 * bend)};
}

int RateSearch::seeds(int place) const {
  const auto found = gain_.find(place);
  return found == gain_.end() ? 0 : static_cast<int>(found->second.size());
}

int RateSearch::best() const {
  std::size_t most = 0;
  int best = 0;
  double highest = 0;
  for (const auto& [place, gain] : gain_) {
    const double mean = mean_of(gain);
    if (gain.size() > most || (gain.size() == most && mean > highest)) best = place, highest = mean, most = gain.size();
  }
  return best;
}

std::vector<int> RateSearch::around_best(int spacing) const {
  std::vector<int> places;
  const int middle = best();
  for (const int place : {middle - spacing, middle, middle + spacing})
    if (place >= lowest_rate && place <= highest_rate) places.push_back(place);
  return places;
}

ParabolaTop RateSearch::finer() const {
  const int middle = best();
  const int all = seeds(middle);
  int left = 0, right = 0;
  for (const auto& [place, gain] : gain_) {
    if (seeds(place) < all) continue;
    if (place < middle) left = middle - place;
    if (place > middle && right == 0) right = place - middle;
  }
  if (left == 0 || right == 0) return {0, 0};
  const double top = mean_of(gain_.at(middle));
  return parabola_top(left, top - mean_of(gain_.at(middle - left)), right, top - mean_of(gain_.at(middle + right)));
}

std::vector<int> RateSearch::wanted(double tolerance) const {
  const int middle = best();
  std::vector<int> places = around_best(fine_spacing);
  const auto lacks_seeds = [&](int place) { return seeds(place) < seeds(middle); };
  if (const ParabolaTop top = finer(); top.above > tolerance) places.push_back(middle + (top.offset > 0 ? finest_spacing : -finest_spacing));
  std::erase_if(places, [&](int place) { return place < lowest_rate || place > highest_rate || !lacks_seeds(place); });
  return places;
}

std::vector<int> RateSearch::as_good() const {
  const int middle = best();
  std::vector<int> places;
  for (const auto& [place, gain] : gain_)
    if (place != middle && place >= middle - fine_spacing && place <= middle + fine_spacing && seeds(place) == seeds(middle) &&
        !(t_test_p_above(paired_difference(gain_.at(middle), gain)) < ruled_out))
      places.push_back(place);
  return places;
}

}  // namespace odrpo
