// Which learning rates of a choice train: coarse ones first, then closer ones around the best (docs/advice.md).
#pragma once
#include <map>
#include <vector>

namespace odrpo {

/// Places on the grid of learning rates, eight to a decade: the rate at place p is 10^(p / 8), rounded to two digits.
inline constexpr int lowest_rate = -20, highest_rate = 20;
double rate_at(int place);

/// Places between neighbours: factors of 10 and 3.2 in the first stages of the race, 1.8 and 1.3 around a choice's best rate.
inline constexpr int first_spacing = 8, coarse_spacing = 4, fine_spacing = 2, finest_spacing = 1;

/// The top of a parabola through three points of a curve, of which the middle one is the highest.
struct ParabolaTop {
  double offset;  ///< of the top from the middle point
  double above;   ///< by how much the top is higher than the middle point
};
/// The neighbours lie `left` below and `right` above the middle point, and are lower by `left_drop` and `right_drop`.
ParabolaTop parabola_top(double left, double left_drop, double right, double right_drop);

/// Gains of one choice with one policy at the learning rates that were tried. Seeds are those of the race, in their order.
class RateSearch {
 public:
  void add(int place, double gain) { gain_[place].push_back(gain); }  ///< of the rate's next seed
  int seeds(int place) const;                                        ///< that the rate has trained on
  const std::vector<double>& gain(int place) const { return gain_.at(place); }

  /// The rate with the best mean, of those that trained on most seeds; 1 where none has.
  int best() const;
  /// The best rate and its neighbours at that spacing, as far as there are such places.
  std::vector<int> around_best(int spacing) const;
  /// What a finer grid of rates could add to the best one's mean: from the parabola through it and the nearest rates on both sides that
  /// trained on as many seeds. Nothing added where a side has none.
  ParabolaTop finer() const;
  /// The next rates that are wanted around the best one: those fine_spacing away, and one nearer the parabola's top until a finer grid
  /// could add at most `tolerance`. Each lacks seeds; none are wanted when it is good enough.
  std::vector<int> wanted(double tolerance) const;
  /// The other rates at most fine_spacing from the best that trained on as many seeds and may be as good: a one-sided paired t test does
  /// not find them worse with p < .01.
  std::vector<int> as_good() const;

 private:
  std::map<int, std::vector<double>> gain_;  // [place][seed]
};

}  // namespace odrpo
