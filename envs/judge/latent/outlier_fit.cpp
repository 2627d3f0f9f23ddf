// Finds outliers by maximum likelihood, with BHHH steps inside bounds, forward selection of kinds, and sandwich intervals. In this file a
// "score" g of a prompt also means the derivative of its log-likelihood. BHHH takes the sum of outer products of these as the Hessian.
#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "envs/judge/latent/draw.hpp"
#include "envs/judge/latent/evidence.hpp"
#include "envs/judge/latent/fit.hpp"
#include "envs/judge/latent/least_squares.hpp"
#include "envs/judge/latent/outlier_likelihood.hpp"
#include "kernels/math.hpp"

namespace odrpo {
namespace {

constexpr std::uint64_t most_scores_searched = 10'000;
constexpr std::size_t most_thresholds = 64;  // most thresholds of all judges together: each costs time, and outliers are the same for all judges
constexpr std::uint32_t most_calls = 16;  // most scores of a response that are used, all judges together; at least two of each judge are
constexpr std::size_t most_kinds = 4;
constexpr int first_steps = 4;           // number of steps of each climb at first; only the best climbs continue
constexpr std::size_t most_climbs = 3;
constexpr int tables_of_trial = 10;
constexpr int fewest_far = 5;  // a kind needs so many responses with two calls far apart

// parameters, with bounds: log sigma, logit prompt_share, spread, judge_sigma, then the share of each kind of outlier
constexpr std::size_t smooth_parameters = 4, parameters = smooth_parameters + all_outliers.size();
constexpr std::array<double, parameters> lowest{-4.5, -7, 0, 0, 0, 0, 0, 0, 0}, highest{3, 5, 2, 5, .45, .9, .6, .9, .6};
constexpr std::array<double, all_outliers.size()> first_share{.02, .03, .02, .04, .02};
constexpr std::size_t place_of(Outlier kind) { return smooth_parameters + static_cast<std::size_t>(kind); }

using Point = std::array<double, parameters>;

/// State of a climb: one maximisation of the likelihood.
struct Climbed {
  Point at{};
  std::vector<std::size_t> free;  // indices in `at` of the free parameters
  Vector prompt;                  // log-likelihood of each prompt
  double sum = 0;
};

/// Returns the distance of grid points of x that suits the judge's sigma.
double spacing_of(const LatentScale& judge) { return std::clamp(0.6 * judge.sigma, 0.03, 0.125); }

/// A second start of the search with nearly constant noise. The likelihood has two local maxima: noise that varies much between responses,
/// and nearly constant noise with outliers.
Point even_noise(Point at) {
  at[2] = std::min(at[2], 0.2), at[0] = std::max(at[0] - 0.2, lowest[0]);
  return at;
}

double sum_of(const Vector& v) {
  double sum = 0;
  for (const double x : v) sum += x;
  return sum;
}

class Search {
 public:
  Search(const ScoreTable& table, const LatentScale& start, const OutlierSearch& search)
      : table_(table),
        search_(search),
        share_(level_shares(table, numbers_to(table.prompts.size()))),
        likelihood_(table, spacing_of(start),
                    std::max<std::uint32_t>(2, most_calls / static_cast<std::uint32_t>(table.judges.size()))) {
    const auto logit = [](double p) { return math::log(p / (1 - p)); };
    start_ = {math::log(start.sigma), search.free.prompt_share ? logit(std::clamp(start.prompt_share, 0.001, 0.99)) : lowest[1], start.spread,
              start.judge_sigma};
    for (std::size_t i = 0; i < smooth_parameters; ++i) start_[i] = std::clamp(start_[i], lowest[i], highest[i]);
    free_ = {0};
    if (search.free.prompt_share) free_.push_back(1);
    if (search.free.spread) free_.push_back(2);
    if (search.free.judge_sigma) free_.push_back(3);
  }

  OutlierFit fit();

 private:
  Outliers outliers_at(const Point& at) const {
    Outliers outliers;
    for (const Outlier kind : all_outliers) outliers[kind] = at[place_of(kind)];
    return outliers;
  }
  LatentScale judge_at(const Point& at, std::span<const double> share) const {
    LatentScale judge;
    judge.sigma = math::exp(at[0]);
    judge.prompt_share = search_.free.prompt_share ? 1 / (1 + math::exp(-at[1])) : 0;
    judge.spread = at[2], judge.judge_sigma = at[3];
    settle_thresholds(judge, table_.levels(), shares_without(outliers_at(at), table_.values.size(), share));
    return judge;
  }
  Vector likelihood_at(const Point& at, std::span<const double> share) const { return likelihood_(judge_at(at, share), outliers_at(at)); }
  std::vector<Vector> scores(const Point& at, const std::vector<std::size_t>& of, const Vector& base, std::span<const double> share) const;
  Climbed climb(std::vector<std::size_t> free, Point at, int most_steps = 40) const;
  double score_test(const Climbed& from, const std::vector<Vector>& g, std::size_t place) const;
  bool as_often(const Climbed& with, Outlier kind);
  void set_intervals(const Climbed& at, OutlierFit& fit) const;

  const ScoreTable& table_;
  const OutlierSearch& search_;
  Vector share_;  // [J][K] frequencies of levels
  std::vector<PromptMoments> moments_;  // of the table, computed when first needed
  OutlierLikelihood likelihood_;
  Point start_{};
  std::vector<std::size_t> free_;
};

// Computes d log-likelihood of a prompt / d parameter for the parameters `of`: [parameter][prompt]. `base`: log-likelihoods at `at`.
std::vector<Vector> Search::scores(const Point& at, const std::vector<std::size_t>& of, const Vector& base, std::span<const double> share) const {
  std::vector<Vector> out;
  for (const std::size_t i : of) {
    Point probe = at;
    const double h = at[i] + 1e-4 < highest[i] ? 1e-4 : -1e-4;
    probe[i] += h;
    Vector d = likelihood_at(probe, share);
    for (std::size_t p = 0; p < d.size(); ++p) d[p] = (d[p] - base[p]) / h;
    out.push_back(std::move(d));
  }
  return out;
}

Climbed Search::climb(std::vector<std::size_t> free, Point at, int most_steps) const {
  Climbed now{at, std::move(free), likelihood_at(at, share_), 0};
  now.sum = sum_of(now.prompt);
  double damping = 1e-2;
  int small = 0;
  for (int step = 0; step < most_steps && small < 2; ++step) {
    const std::vector<Vector> g = scores(now.at, now.free, now.prompt, share_);
    std::vector<std::size_t> moving;  // indices in `free` of parameters that no bound holds
    Vector uphill;
    for (std::size_t i = 0; i < now.free.size(); ++i) {
      const double sum = sum_of(g[i]), value = now.at[now.free[i]];
      if ((value <= lowest[now.free[i]] && sum < 0) || (value >= highest[now.free[i]] && sum > 0)) continue;
      moving.push_back(i);
      uphill.push_back(sum);
    }
    const std::size_t n = moving.size();
    Vector square(n * n), move;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < n; ++k) square[i * n + k] = dot(g[moving[i]], g[moving[k]]);
    bool better = false;
    const double before = now.sum;
    for (int attempt = 0; attempt < 10 && !better && n > 0; ++attempt) {
      Vector damped = square;
      for (std::size_t i = 0; i < n; ++i) damped[i * n + i] += damping * square[i * n + i] + 1e-9;
      if (!solve(damped, uphill, move)) break;
      Point next = now.at;
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t place = now.free[moving[i]];
        next[place] = std::clamp(next[place] + move[i], lowest[place], highest[place]);
      }
      Vector there = likelihood_at(next, share_);
      const double sum = sum_of(there);
      better = sum > now.sum;
      if (better) now.at = next, now.prompt = std::move(there), now.sum = sum;
      damping = better ? damping * 0.2 : std::max(damping, 1e-3) * 6;
    }
    if (!better) break;
    small = now.sum - before < 1e-2 ? small + 1 : 0;
  }
  return now;
}

// Tests (robust score test) if parameter `place`, a share that is 0, should be larger. Returns the statistic in sds: above 0, larger shares raise the
// likelihood. `g` has the derivatives of each prompt's log-likelihood by the free parameters.
double Search::score_test(const Climbed& from, const std::vector<Vector>& g, std::size_t place) const {
  const Vector of = scores(from.at, {place}, from.prompt, share_).front();
  const std::size_t n = g.size();
  Vector square(n * n), with(n), factor;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n; ++k) square[i * n + k] = dot(g[i], g[k]) + (i == k ? 1e-9 : 0);
    with[i] = dot(g[i], of);
  }
  if (!solve(square, with, factor)) return 0;
  double squares = 1e-300;
  for (std::size_t p = 0; p < of.size(); ++p) {
    double rest = of[p];
    for (std::size_t i = 0; i < n; ++i) rest -= factor[i] * g[i][p];
    squares += rest * rest;
  }
  return sum_of(of) / math::sqrt(squares);
}

/// The end of the scale to which a kind of outlier moves a call.
enum class RowEnd { lowest, highest, any };
RowEnd end_of(Outlier kind) {
  return kind == Outlier::low || kind == Outlier::veto ? RowEnd::lowest : kind == Outlier::high ? RowEnd::highest : RowEnd::any;
}

/// Counts responses with two calls far apart, by RowEnd: with one call at the lowest level, one at the highest, anywhere. The two calls are by
/// one judge if rows_of_judges().
std::array<int, 3> far_responses(const ScoreTable& table) {
  const int levels = table.levels(), far = far_levels(levels);
  const bool by_judge = rows_of_judges(table);
  std::array<int, 3> count{};
  for (const auto& response : table.responses) {
    int least = levels, most = 1;
    std::uint32_t judge = 0;
    std::array<bool, 3> shown{};
    for_each_score(table, response, [&](int level, std::uint32_t column) {
      if (by_judge && table.columns[column].judge != judge) least = levels, most = 1;
      judge = table.columns[column].judge;
      least = std::min(least, level), most = std::max(most, level);
      if (most - least < far) return;
      shown[0] = shown[0] || least == 1, shown[1] = shown[1] || most == levels, shown[2] = true;
    });
    for (std::size_t i = 0; i < count.size(); ++i) count[i] += shown[i];
  }
  return count;
}

// Counts pairs of calls far apart, one of them at the outlier's level. True if they are at least as frequent in the table as in simulated
// scores of `with`, within 3 standard errors.
bool Search::as_often(const Climbed& with, Outlier kind) {
  const RowEnd end = end_of(kind);
  const Moment moment = end == RowEnd::lowest ? Moment::far_lowest : end == RowEnd::highest ? Moment::far_highest : Moment::far_pairs;
  if (moments_.empty()) moments_ = prompt_moments(table_, MomentSet::with_rows);
  const double rate = moments_of(moments_, numbers_to(moments_.size()))[static_cast<std::size_t>(moment)];
  double squares = 0.25, pairs = 0;
  for (const PromptMoments& m : moments_) {
    const double beyond = (end == RowEnd::lowest ? m.far_lowest : end == RowEnd::highest ? m.far_highest : m.far) - rate * m.pairs;
    squares += beyond * beyond, pairs += m.pairs;
  }
  const auto simulated = draw_scores(judge_at(with.at, share_), table_, tables_of_trial, search_.seed, outliers_at(with.at)).table;
  return moments_of(simulated, MomentSet::with_rows)[static_cast<std::size_t>(moment)] < rate + 3 * math::sqrt(squares) / pairs;
}

// Computes the sandwich covariance over prompts, and intervals. Includes the sampling error of the frequencies that set the thresholds.
void Search::set_intervals(const Climbed& at, OutlierFit& fit) const {
  std::vector<std::size_t> free;
  for (const std::size_t i : at.free)
    if (at.at[i] > lowest[i] && at.at[i] < highest[i]) free.push_back(i);
  const std::size_t n = free.size(), prompts = likelihood_.prompts();
  const auto total = [&](const Point& point, std::span<const double> share) {
    Vector sums;
    for (const Vector& g : scores(point, free, likelihood_at(point, share), share)) sums.push_back(sum_of(g));
    return sums;
  };
  std::vector<Vector> psi = scores(at.at, free, at.prompt, share_);
  Vector here;
  for (const Vector& g : psi) here.push_back(sum_of(g));
  Vector curvature(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    Point probe = at.at;
    const double h = free[i] < smooth_parameters ? 1e-3 : 1e-3 * std::max(probe[free[i]], 0.1);
    probe[free[i]] += h;
    const Vector there = total(probe, share_);
    for (std::size_t k = 0; k < n; ++k) curvature[i * n + k] -= (there[k] - here[k]) / h / 2, curvature[k * n + i] -= (there[k] - here[k]) / h / 2;
  }
  for (std::size_t i = 0; i < n; ++i)
    for (double& x : psi[i]) x -= here[i] / static_cast<double>(prompts);
  // adds to each prompt's scores the effect that the prompt has through the frequencies of levels
  const std::size_t levels = table_.values.size();
  std::vector<Vector> own, calls;  // of each prompt: frequencies of levels; number of scores by judge
  Vector all_calls(table_.judges.size(), 0);
  for (std::uint32_t p = 0; p < prompts; ++p) {
    own.push_back(level_shares(table_, std::span(&p, 1)));
    Vector& n = calls.emplace_back(all_calls.size(), 0);
    for (const auto& response : table_.responses_of(table_.prompts[p]))
      for_each_score(table_, response, [&](int, std::uint32_t column) { n[table_.columns[column].judge] += 1; });
    for (std::size_t j = 0; j < n.size(); ++j) all_calls[j] += n[j];
  }
  for (std::size_t f = 0; f < share_.size(); ++f) {
    if (share_[f] == 0) continue;
    Vector moved = share_;
    const double h = std::min(1e-4, share_[f] * 0.1);
    moved[f] += h;
    const Vector there = total(at.at, moved);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t p = 0; p < prompts; ++p)
        psi[i][p] += (own[p][f] - share_[f]) * calls[p][f / levels] / all_calls[f / levels] * (there[i] - here[i]) / h;
  }
  std::vector<Vector> inverse;
  for (std::size_t i = 0; i < n; ++i) {
    Vector unit(n, 0), row;
    unit[i] = 1;
    inverse.push_back(solve(curvature, unit, row) ? row : Vector(n, undefined));
  }
  Vector middle(n * n), covariance(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k) middle[i * n + k] = dot(psi[i], psi[k]) * static_cast<double>(prompts) / static_cast<double>(prompts - 1);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = 0; b < n; ++b) covariance[i * n + k] += inverse[i][a] * middle[a * n + b] * inverse[k][b];
  for (auto& row : fit.covariance) row.fill(undefined);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      if (free[i] >= smooth_parameters && free[k] >= smooth_parameters)
        fit.covariance[free[i] - smooth_parameters][free[k] - smooth_parameters] = covariance[i * n + k];
  for (const Outlier kind : all_outliers) {  // intervals on a log scale, because shares are above 0
    const auto k = static_cast<std::size_t>(kind);
    const double value = fit.outliers[kind], factor = value > 0 ? math::exp(1.96 * math::sqrt(fit.covariance[k][k]) / value) : 1;
    fit.low[k] = value / factor, fit.high[k] = std::min(value * factor, 1.0);
  }
}

OutlierFit Search::fit() {
  const auto with = [](std::vector<std::size_t> free, std::size_t place) {
    free.push_back(place);
    return free;
  };
  OutlierFit out;
  Climbed best;
  std::optional<Climbed> rejected;
  if (search_.known != nullptr) {
    std::vector<std::size_t> free = free_;
    Point at = start_;
    for (const Outlier kind : all_outliers)
      if ((*search_.known)[kind] > 0) free.push_back(place_of(kind)), at[place_of(kind)] = (*search_.known)[kind];
    best = climb(std::move(free), at);
  } else {
    const std::array<int, 3> far = far_responses(table_);
    const auto shown = [&](Outlier kind) { return far[static_cast<std::size_t>(end_of(kind))] >= fewest_far; };
    if (std::none_of(all_outliers.begin(), all_outliers.end(), shown)) return out;
    best = climb(free_, start_);
    if (Climbed other = climb(free_, even_noise(best.at)); other.sum > best.sum) best = std::move(other);
    const double needed = 10 + static_cast<double>(likelihood_.prompts()) / 10;
    for (std::size_t added = 0; added < most_kinds; ++added) {
      std::vector<std::pair<Outlier, Climbed>> tried;
      const std::vector<Vector> g = scores(best.at, best.free, best.prompt, share_);
      for (const Outlier kind : all_outliers) {
        const std::size_t place = place_of(kind);
        if (best.at[place] > 0 || !shown(kind)) continue;
        std::vector<Point> starts;
        if (score_test(best, g, place) > 1) starts.push_back(best.at);
        if (added == 0) starts.push_back(even_noise(best.at));
        for (Point& start : starts) {
          start[place] = first_share[static_cast<std::size_t>(kind)];
          tried.emplace_back(kind, climb(with(best.free, place), start, first_steps));
        }
      }
      const auto best_first = [&] {
        std::stable_sort(tried.begin(), tried.end(), [](const auto& a, const auto& b) { return a.second.sum > b.second.sum; });
      };
      best_first();
      for (std::size_t i = 0; i < tried.size() && i < most_climbs; ++i)
        if (2 * (tried[i].second.sum - best.sum) > needed / 4) tried[i].second = climb(tried[i].second.free, tried[i].second.at);
      best_first();
      const auto good = std::find_if(tried.begin(), tried.end(),
                                     [&](const auto& t) { return 2 * (t.second.sum - best.sum) >= needed && as_often(t.second, t.first); });
      if (good == tried.end()) {
        if (added == 0 && !tried.empty() && 2 * (tried.front().second.sum - best.sum) > needed / 2) rejected = std::move(tried.front().second);
        break;
      }
      best = std::move(good->second);
      std::erase_if(best.free, [&](std::size_t place) { return place >= smooth_parameters && best.at[place] == 0; });
    }
  }
  out.chosen = outliers_at(best.at).any();
  if (!out.chosen && rejected) best = std::move(*rejected);
  out.outliers = outliers_at(best.at);
  out.judge = judge_at(best.at, share_);
  if (search_.intervals && out.chosen) set_intervals(best, out);
  return out;
}

/// Keeps `most` judges. The first has the most scores. Each next one has the most scores of responses that a kept judge has scored too.
ScoreTable some_judges(const ScoreTable& table, std::size_t most) {
  std::vector<bool> kept(table.judges.size(), false), scored(table.responses.size(), false);
  for (std::size_t n = 0; n < most; ++n) {
    std::vector<std::pair<std::int64_t, std::int64_t>> count(kept.size());  // by judge: scores of responses in `scored`, all scores
    for (std::size_t r = 0; r < table.responses.size(); ++r)
      for_each_score(table, table.responses[r], [&](int, std::uint32_t column) {
        auto& [shared, all] = count[table.columns[column].judge];
        shared += scored[r], ++all;
      });
    std::size_t best = kept.size();
    for (std::size_t j = 0; j < kept.size(); ++j)
      if (!kept[j] && (best == kept.size() || count[j] > count[best])) best = j;
    kept[best] = true;
    for (std::size_t r = 0; r < table.responses.size(); ++r)
      for_each_score(table, table.responses[r], [&](int, std::uint32_t column) { scored[r] = scored[r] || table.columns[column].judge == best; });
  }
  return keep_judges(table, kept);
}

}  // namespace

OutlierFit fit_outliers(const ScoreTable& whole, const LatentScale& start, const OutlierSearch& search) {
  if (const std::size_t most = std::max<std::size_t>(2, most_thresholds / whole.values.size()); whole.judges.size() > most) {
    const ScoreTable some = some_judges(whole, most);
    const Evidence evidence = evidence_of(some);
    OutlierSearch less = search;
    less.free.prompt_share = less.free.prompt_share && evidence.groups;
    less.free.spread = less.free.spread && (evidence.triples || some.levels() > 2);
    less.free.judge_sigma = less.free.judge_sigma && evidence.shared && evidence.repeats;
    return evidence.pairs ? fit_outliers(some, start, less) : OutlierFit{};
  }
  std::vector<std::uint32_t> scored;  // indices of prompts with a score
  for (std::uint32_t p = 0; p < whole.prompts.size(); ++p) {
    bool any = false;
    for (const auto& response : whole.responses_of(whole.prompts[p])) for_each_score(whole, response, [&](int, std::uint32_t) { any = true; });
    if (any) scored.push_back(p);
  }
  const ScoreTable table = take_prompts(whole, thinned(whole, scored, PromptSize::ratings, most_scores_searched));
  const OutlierFit fit = Search(table, start, search).fit();
  if (!fit.chosen || spacing_of(fit.judge) >= spacing_of(start)) return fit;
  OutlierSearch finer = search;  // the grid of x was chosen for a sigma that included the outliers; a smaller sigma needs a finer one
  finer.known = &fit.outliers;
  return Search(table, fit.judge, finer).fit();
}

}  // namespace odrpo
