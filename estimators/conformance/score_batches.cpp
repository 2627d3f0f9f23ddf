// Implements score_batches.hpp.
#include "estimators/conformance/score_batches.hpp"

#include <algorithm>
#include <limits>
#include <random>

#include "estimators/theory/setting.hpp"

namespace odrpo {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

/// Adds groups to a list of questions.
class Maker {
 public:
  explicit Maker(int levels) : levels_(levels) {}

  std::vector<Question> questions;

  /// A random whole number low..high.
  int draw(int low, int high) { return low + static_cast<int>(random_() % static_cast<std::uint64_t>(high - low + 1)); }

  /// Begins a batch.
  void begin(Check check, int members) {
    questions.push_back({.check = check, .members = members, .step = static_cast<int>(questions.size())});
  }
  /// Adds a group to the latest batch. score(i) = score of its member i.
  template <class Score>
  void group(Score score) {
    Question& q = questions.back();
    q.prompts.push_back(1000 + static_cast<std::uint32_t>(q.groups() * 7));
    for (int i = 0; i < q.members; ++i) q.scores.push_back(score(i)), q.lengths.push_back(draw(1, 40));
  }
  /// Adds a batch of random groups, whose members are not all equal.
  template <class Score>
  void batch(Check check, int members, int groups, Score score) {
    begin(check, members);
    for (int g = 0; g < groups; ++g) {
      std::vector<double> drawn;
      do {
        drawn.clear();
        for (int i = 0; i < members; ++i) drawn.push_back(score());
      } while (std::count(drawn.begin(), drawn.end(), drawn[0]) == members);
      group([&](int i) { return drawn[static_cast<std::size_t>(i)]; });
    }
  }
  int level() { return draw(1, levels_); }

 private:
  int levels_;
  std::mt19937_64 random_{20260703};
};

void add_usual(Maker& m, int levels, std::span<const int> sizes, int group) {
  for (const int size : sizes) m.batch(Check::usual, size, 16, [&] { return m.level(); });
  for (const int size : {group, group + 2}) {
    m.begin(Check::ties, size);
    for (int best = 1; best < size; ++best) {
      const int low = m.draw(1, levels - 1), high = m.draw(low + 1, levels);
      m.group([&](int i) { return (i * 11) % size < best ? high : low; });
    }
    m.batch(Check::ties, size, 8, [&] { return 1 + (levels - 1) * m.draw(0, 2) / 2; });
  }
  m.begin(Check::extremes, group);
  for (const auto& [most, one] : {std::pair(levels, 1), std::pair(1, levels), std::pair(levels, levels - 1), std::pair(1, 2)})
    for (const int at : {0, 2, group - 1}) m.group([&, most = most, one = one](int i) { return i == at ? one : most; });
  for (const int size : {sizes[0], sizes[1], group}) m.batch(Check::failed, size, 12, [&] { return m.draw(0, 2) == 0 ? 0 : m.level(); });
  m.batch(Check::large, group + 56, 4, [&] { return m.level(); });
  m.batch(Check::prompts, group, 8, [&] { return m.level(); });
  for (std::size_t g = 0; g < 8; ++g) m.questions.back().prompts[g] = static_cast<std::uint32_t>(g / 2);
}

void add_reals(Maker& m, const EstimatorConfig& config, int levels, AskedScores scores, int group) {
  const Basis basis = row_of(config.form).basis;
  const bool of_levels = basis == Basis::level;
  for (const int size : {group, group + 2}) m.batch(Check::reals, size, 12, [&] { return 0.25 * m.draw(1, 4 * levels); });
  // numbers that float holds exactly
  m.batch(Check::close, group, 12, [&] { return 0.5 * levels + m.draw(0, 7) / 1024.0; });
  for (const int size : {3, 5, 7, group, 2 * group + 1, group + 56}) {
    m.begin(Check::equal_reals, size);
    for (const double score : {0.1, 0.7, 2.3, 1.0 / 3, 7.1, 9.9})
      if (score <= levels) m.group([&](int) { return score; });
  }
  if (scores != AskedScores::any || !config.values.empty()) return;
  m.batch(Check::huge, group, 12, [&] { return (of_levels ? 100.0 : 5000.0) * m.draw(1, 20); });
  if (!of_levels) m.batch(Check::negative, group, 12, [&] { return m.draw(-4, 4); });
}

/// Groups with missing scores: `left` of their members are there, in changing places.
template <class Score>
void add_missing(Maker& m, int size, int left, int turn, Score score) {
  std::vector<double> scores(static_cast<std::size_t>(size), missing);
  for (int i = 0; i < left; ++i) scores[static_cast<std::size_t>((i * 7 + turn) % size)] = score();  // 7 and the sizes have no common divisor
  m.group([&](int i) { return scores[static_cast<std::size_t>(i)]; });
}

void add_degenerate(Maker& m, int levels, AskedScores scores, int group) {
  for (const int size : {2, 3, group, group + 2}) {
    m.begin(Check::equal, size);
    for (int level = 0; level <= levels; ++level) m.group([&](int) { return level; });
  }
  m.begin(Check::single, 1);
  for (int level = 0; level <= levels; ++level) m.group([&](int) { return level; });
  for (const int size : {group % 2 == 0 ? 4 : 5, group + 2}) {
    m.begin(Check::missing, size);
    for (int gone = 0; gone < size; ++gone) {  // each place alone
      std::vector<double> drawn;
      for (int i = 0; i < size; ++i) drawn.push_back(i == gone ? missing : m.level());
      m.group([&](int i) { return drawn[static_cast<std::size_t>(i)]; });
    }
    for (int left = size - 1; left >= 0; --left)
      for (int turn = 0; turn < 2; ++turn) add_missing(m, size, left, turn * 3, [&] { return m.level(); });
    for (int left = size - 1; left > 1; left -= 2) {
      const int level = m.level();
      add_missing(m, size, left, left, [&] { return level; });
      add_missing(m, size, left, left, [&] { return m.draw(0, 1) * m.level(); });
      if (scores == AskedScores::integer) continue;
      add_missing(m, size, left, left, [&] { return 0.25 * m.draw(1, 4 * levels); });
      add_missing(m, size, left, left, [&] { return 0.5 * levels; });
    }
  }
  m.begin(Check::mixed, group);
  for (int g = 0; g < 160; ++g) {
    const int level = m.level();
    if (g % 4 == 0) m.group([&](int) { return level; });
    else if (g % 4 == 1) add_missing(m, group, g / 4 % group, g, [&] { return m.level(); });
    else m.group([&](int) { return m.draw(g % 4 == 2 ? 0 : 1, levels); });
  }
}

}  // namespace

Question Question::with_groups(Check as, std::span<const std::size_t> order) const {
  Question made{.check = as, .members = members, .step = step};
  const auto size = static_cast<std::size_t>(members);
  for (const std::size_t g : order) {
    made.prompts.push_back(prompts[g]);
    made.scores.insert(made.scores.end(), scores.begin() + static_cast<std::ptrdiff_t>(g * size), scores.begin() + static_cast<std::ptrdiff_t>((g + 1) * size));
    made.lengths.insert(made.lengths.end(), lengths.begin() + static_cast<std::ptrdiff_t>(g * size), lengths.begin() + static_cast<std::ptrdiff_t>((g + 1) * size));
  }
  return made;
}

Question members_reversed(const Question& question) {
  Question turned = question;
  turned.check = Check::members;
  const std::ptrdiff_t size = question.members;
  for (std::ptrdiff_t from = 0; from < std::ssize(turned.scores); from += size) {
    std::reverse(turned.scores.begin() + from, turned.scores.begin() + from + size);
    std::reverse(turned.lengths.begin() + from, turned.lengths.begin() + from + size);
  }
  return turned;
}

std::vector<Question> conformance_questions(const EstimatorConfig& config, int levels, AskedScores scores) {
  Maker m(levels);
  const bool odd = leaves_pivot(config.form);  // such a form is for groups of odd size
  const int group = odd ? 9 : 8;
  const std::vector<int> sizes = odd ? std::vector{3, 5, 7, 9, 15, 31} : std::vector{2, 3, 4, 5, 8, 16, 32};
  add_usual(m, levels, sizes, group);
  if (scores != AskedScores::integer && row_of(config.form).basis != Basis::bit) add_reals(m, config, levels, scores, group);
  add_degenerate(m, levels, row_of(config.form).basis == Basis::bit ? AskedScores::integer : scores, group);
  m.begin(Check::histograms, odd ? 3 : 4);
  for_each_histogram(histogram_levels(levels), m.questions.back().members, [&](std::span<const int> counts) {
    std::vector<int> drawn;
    for (std::size_t k = 0; k < counts.size(); ++k) drawn.insert(drawn.end(), static_cast<std::size_t>(counts[k]), static_cast<int>(k) + 1);
    m.group([&](int i) { return drawn[static_cast<std::size_t>(i)]; });
  });
  return std::move(m.questions);
}

}  // namespace odrpo
