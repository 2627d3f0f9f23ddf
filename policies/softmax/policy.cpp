// Calls the stages of a softmax policy's step in order, and fits the parameters of a tilted start.
#include "policies/softmax/policy.hpp"

#include <algorithm>
#include <limits>

#include "kernels/math.hpp"
#include "policies/row_math.hpp"
#include "policies/softmax/stages.hpp"

namespace odrpo {
namespace {

constexpr int longest_memory = 64;  // updates after which an unvisited row is brought up to date without a gradient
constexpr int peek_rows = 256;      // rows that exact() evaluates together

// Longest distance between two visits of a prompt, in updates. At worst the prompt is in the first batch of one pass over all prompts and
// in the last batch of the next. It waits from the last update on the one to the first update on the other. No bound if passes leave
// prompts out.
long longest_absence(int prompts, int batch, int updates) {
  const long per_epoch = prompts / batch;
  return prompts % batch == 0 ? (2 * per_epoch - 1) * updates - (updates - 1) : std::numeric_limits<long>::max();
}

}  // namespace

RowMemory row_memory(PolicyKind kind, int prompts, int batch, int epochs) {
  if (kind == PolicyKind::linear) return {1, false};
  const long absence = longest_absence(prompts, batch, epochs);
  return {static_cast<int>(std::min<long>(absence, longest_memory)), absence > longest_memory};
}

namespace {

// Of batches that are no passes over all prompts, any row can stay unvisited for any time.
RowMemory row_memory(PolicyKind kind, const PolicyShape& shape, int epochs) {
  if (kind == PolicyKind::linear || shape.in_passes) return row_memory(kind, shape.prompts, shape.batch, epochs);
  return {longest_memory, true};
}

}  // namespace

RatioLimits ratio_limits(double clip) {
  if (clip > 0) return {static_cast<float>(1.0 - clip), static_cast<float>(1.0 + clip)};
  return {0.0f, std::numeric_limits<float>::max()};
}

SoftmaxPolicy::SoftmaxPolicy(PolicyKind kind, const PolicyShape& shape, const OptimizerConfig& config, int steps, Isa isa, int epochs)
    : kind_(kind),
      shape_(shape),
      config_(config),
      stages_(policy_stages(isa)),
      scalars_(config, steps, row_memory(kind, shape, epochs).updates) {
  const std::size_t batch_cells = static_cast<std::size_t>(shape.batch) * shape.width;
  row_width_ = tabular() ? shape.width : (shape.features + 31) / 32 * 32;
  const std::size_t rows = tabular() ? shape.prompts : 1;
  theta_.assign(rows * row_width_, 0.0f);
  m_.assign(adam() ? theta_.size() : 0, 0.0f);
  v_.assign(m_.size(), 0.0f);
  root_.assign(m_.size(), 0.0f);
  last_.assign(rows, -1);
  bias_.assign(shape.width, 0.0f);
  std::fill(bias_.begin() + shape.actions, bias_.end(), padding);
  if (tabular()) {
    for (std::size_t r = 0; r < rows; ++r) std::copy(bias_.begin(), bias_.end(), theta_.begin() + r * row_width_);
    if (adam() && row_memory(kind, shape, epochs).overdue) visited_at_.resize(scalars_.remember() + 1);
  } else {
    logits_.resize(batch_cells);
  }
  visits_.resize(tabular() ? shape.batch : 1);
  by_age_.resize(std::max(shape.batch, peek_rows));
  probability_.resize(batch_cells);
  cumulative_.resize(batch_cells);
  total_.resize(shape.batch);
  logit_gradient_.assign(batch_cells, 0.0f);
  old_probability_.assign(static_cast<std::size_t>(shape.batch) * shape.rollouts, 1.0f);
  coefficient_.resize(old_probability_.size());
  gradient_.assign(tabular() ? batch_cells : row_width_, 0.0f);
  peek_.resize(static_cast<std::size_t>(peek_rows) * shape.width);
  prompt_.resize(shape.batch);
  rows_ = {probability_.data(), cumulative_.data(), total_.data()};
}

void SoftmaxPolicy::start_at(std::span<const float> parameters) {
  const TableRows rows = table();
  const std::size_t width = static_cast<std::size_t>(tabular() ? shape_.width : shape_.features);
  for (std::size_t r = 0; r < last_.size(); ++r)
    std::copy_n(parameters.begin() + static_cast<std::ptrdiff_t>(r * width), rows.used,
                theta_.begin() + static_cast<std::ptrdiff_t>(r * static_cast<std::size_t>(row_width_)));
}

RowVisit SoftmaxPolicy::visit(std::uint32_t row, std::uint32_t place) const {
  const int last = last_[row];
  if (last < 0 || !adam()) return {row, 0, nullptr, 1.0f, 1.0f, place};  // never visited: the moments are zero, so nothing is pending
  const int n = step_ - last;
  return {row, n, scalars_.pending(last), scalars_.beta1_power(n), scalars_.beta2_power(n), place};
}

// Applies the pending steps, sorted by their number n: consecutive rows then run the loop over pending steps equally often.
void SoftmaxPolicy::catch_up(const RowVisit* visits, int count, float* out) {
  int start[longest_memory + 3] = {};
  for (int i = 0; i < count; ++i) ++start[visits[i].n + 1];
  for (int n = 1; n < longest_memory + 3; ++n) start[n] += start[n - 1];
  for (int i = 0; i < count; ++i) by_age_[start[visits[i].n]++] = visits[i];
  stages_.catch_up(table(), by_age_.data(), count, scalars_.eps(), out);
}

// Updates the moments of the visited rows with a gradient (null = zero), and records the visit.
void SoftmaxPolicy::accumulate(const RowVisit* visits, int count, const float* gradient) {
  stages_.accumulate(table(), visits, count, static_cast<float>(1.0 - config_.beta1), static_cast<float>(1.0 - config_.beta2), gradient);
  for (int i = 0; i < count; ++i) {
    last_[visits[i].row] = step_;
    if (!visited_at_.empty()) visited_at_[step_ % visited_at_.size()].push_back(visits[i].row);
  }
}

// Visits, with a zero gradient, the rows whose pending steps AdamScalars no longer keeps at the next update.
void SoftmaxPolicy::visit_overdue(int t) {
  if (visited_at_.empty()) return;
  const std::size_t ring = visited_at_.size();
  std::vector<std::uint32_t>& oldest = visited_at_[(t + 1) % ring];  // rows visited at step t - remember
  std::vector<std::uint32_t> overdue;
  for (std::uint32_t row : oldest)
    if (last_[row] == t - scalars_.remember()) overdue.push_back(row);
  oldest.clear();
  for (std::uint32_t row : overdue) {
    const RowVisit v = visit(row);
    catch_up(&v, 1, nullptr);
    accumulate(&v, 1, nullptr);
  }
}

void SoftmaxPolicy::forward(int t, const std::uint32_t* prompt) {
  step_ = t;
  scalars_.begin_step(t);
  std::copy(prompt, prompt + shape_.batch, prompt_.begin());
  visit_overdue(t);
  const int count = static_cast<int>(visits_.size());
  for (int i = 0; i < count; ++i) visits_[i] = visit(tabular() ? prompt[i] : 0u, static_cast<std::uint32_t>(i));
  if (adam()) catch_up(visits_.data(), count, nullptr);
  if (tabular()) return stages_.softmax(theta_.data(), prompt_.data(), shape_.batch, shape_.width, rows_);
  stages_.linear_logits(shape_.feature, theta_.data(), bias_.data(), prompt_.data(), shape_.batch, shape_.features, shape_.width,
                        logits_.data());
  stages_.softmax(logits_.data(), nullptr, shape_.batch, shape_.width, rows_);
}

void SoftmaxPolicy::look_at(const std::uint32_t* prompt) {
  step_ += 1;  // all updates so far are pending for the update to come
  std::vector<float> now = tabular() ? std::vector<float>(static_cast<std::size_t>(shape_.batch) * shape_.width) : theta_;
  const int count = static_cast<int>(visits_.size());
  for (int i = 0; i < count; ++i) visits_[i] = visit(tabular() ? prompt[i] : 0u, static_cast<std::uint32_t>(i));
  if (adam()) catch_up(visits_.data(), count, now.data());
  else if (tabular())
    for (int i = 0; i < count; ++i)
      std::copy_n(&theta_[static_cast<std::size_t>(prompt[i]) * shape_.width], shape_.width, &now[static_cast<std::size_t>(i) * shape_.width]);
  step_ -= 1;
  if (tabular()) return stages_.softmax(now.data(), nullptr, shape_.batch, shape_.width, rows_);
  stages_.linear_logits(shape_.feature, now.data(), bias_.data(), prompt, shape_.batch, shape_.features, shape_.width, logits_.data());
  stages_.softmax(logits_.data(), nullptr, shape_.batch, shape_.width, rows_);
}

void SoftmaxPolicy::sample(const std::uint32_t* word, int blocks, std::uint16_t* action) const {
  stages_.sample(rows_, shape_.batch, shape_.width, shape_.rollouts, word, blocks, action);
}

void SoftmaxPolicy::to_parameters(const float* logit_gradient, float* out) const {
  stages_.linear_gradient(shape_.feature, logit_gradient, prompt_.data(), shape_.batch, shape_.features, shape_.width, out);
}

void SoftmaxPolicy::remember(const std::uint16_t* action) {
  for (int b = 0, k = 0; b < shape_.batch; ++b) {
    const float* pi = rows_.probability + static_cast<std::size_t>(b) * shape_.width;
    for (int i = 0; i < shape_.rollouts; ++i, ++k) old_probability_[k] = std::max(pi[action[k]], smallest_probability);
  }
}

double SoftmaxPolicy::gradient(const std::uint16_t* action, const float* advantage, const RolloutTerms& terms, float* out) {
  float* to = out ? out : gradient_.data();
  float* by_logits = tabular() ? to : logit_gradient_.data();
  const int all = shape_.batch * shape_.rollouts;
  const int active = terms.mask ? all - static_cast<int>(std::count(terms.mask, terms.mask + all, std::uint8_t{0})) : all;
  if (active == 0) {
    std::fill_n(to, gradient_size(), 0.0f);
    return 0;
  }
  const float kl = static_cast<float>(terms.kl), reference = 1.0f / static_cast<float>(shape_.actions),
              scale = 1.0f / static_cast<float>(active);
  int clipped = 0;
  if (terms.mask || terms.reused) {
    const RatioLimits ratio = ratio_limits(terms.ratio_clip);
    const float* old_probability = terms.reused ? old_probability_.data() : nullptr;
    const RolloutWeights weights{kl, reference, scale, old_probability, ratio.lowest, ratio.highest, terms.mask};
    clipped = stages_.coefficients(rows_, shape_.batch, shape_.width, shape_.rollouts, action, advantage, weights, coefficient_.data());
    stages_.logit_gradient_by(rows_, shape_.batch, shape_.width, shape_.rollouts, action, coefficient_.data(), by_logits);
  } else {
    stages_.logit_gradient(rows_, shape_.batch, shape_.width, shape_.rollouts, action, advantage, kl, reference, scale, by_logits);
  }
  if (!tabular()) to_parameters(by_logits, to);
  return static_cast<double>(clipped) / active;
}

void SoftmaxPolicy::exact_gradient(const float* quality, float* out) {
  float* by_logits = tabular() ? out : logit_gradient_.data();
  for (int b = 0; b < shape_.batch; ++b) {
    // d E[q] / d logit_a = pi_a (q_a - E[q])
    const float *q = quality + static_cast<std::size_t>(prompt_[b]) * shape_.width,
                *pi = rows_.probability + static_cast<std::size_t>(b) * shape_.width;
    float* g = by_logits + static_cast<std::size_t>(b) * shape_.width;
    const float mean = stages_.dot(q, pi, shape_.width);
    for (int a = 0; a < shape_.width; ++a) g[a] = pi[a] * (q[a] - mean) / static_cast<float>(shape_.batch);
  }
  if (!tabular()) to_parameters(by_logits, out);
}

void SoftmaxPolicy::update() {
  const int n = gradient_size();
  if (config_.clip > 0) {
    const float* g = gradient_.data();
    const float factor = row_math::clip_factor(row_math::gradient_norm(stages_.dot(g, g, n), g, n), config_.clip);
    if (factor != 1.0f) stages_.scale(gradient_.data(), factor, n);
  }
  const int count = static_cast<int>(visits_.size());
  if (!adam()) return stages_.ascend(table(), visits_.data(), count, scalars_.rate(), gradient_.data());
  accumulate(visits_.data(), count, gradient_.data());
}

void SoftmaxPolicy::restored(int updates_done) { step_ = scalars_.begin_again(updates_done) - 1; }

// Calls use(first, count, logits) for the logits [count][width] of all prompts, peek_rows rows at a time. They are of a copy of the parameters with all
// updates 0 .. step_ applied; the policy itself stays as it is.
template <class F>
void SoftmaxPolicy::each_exact_row(F use) {
  std::vector<RowVisit> visits(peek_rows);
  std::vector<float> theta_now;
  const int keep = step_;
  step_ += 1;
  if (!tabular()) {
    theta_now = theta_;
    const RowVisit v = visit(0);
    if (adam()) catch_up(&v, 1, theta_now.data());
  }
  for (int p = 0; p < shape_.prompts; p += peek_rows) {
    const int count = std::min(peek_rows, shape_.prompts - p);
    if (tabular()) {
      for (int i = 0; i < count; ++i) visits[i] = visit(static_cast<std::uint32_t>(p + i), static_cast<std::uint32_t>(i));
      if (adam()) catch_up(visits.data(), count, peek_.data());
      else std::copy_n(&theta_[static_cast<std::size_t>(p) * shape_.width], static_cast<std::size_t>(count) * shape_.width, peek_.data());
    } else {
      const float* feature = shape_.feature + static_cast<std::size_t>(p) * shape_.features * shape_.width;
      stages_.linear_logits(feature, theta_now.data(), bias_.data(), nullptr, count, shape_.features, shape_.width, peek_.data());
    }
    use(p, count, peek_.data());
  }
  step_ = keep;
}

ExactMeans SoftmaxPolicy::exact(const float* quality) {
  ExactMeans sums;
  each_exact_row([&](int p, int count, const float* logits) {
    const ExactMeans part = stages_.exact(logits, quality + static_cast<std::size_t>(p) * shape_.width, count, shape_.width, shape_.actions);
    sums.quality += part.quality * count;
    sums.kl += part.kl * count;
    sums.entropy += part.entropy * count;
  });
  return {sums.quality / shape_.prompts, sums.kl / shape_.prompts, sums.entropy / shape_.prompts};
}

std::vector<double> SoftmaxPolicy::exact_shares(const float* quality, std::span<const float> thresholds) {
  std::vector<double> shares(thresholds.size(), 0.0);
  std::vector<float> reaches;
  each_exact_row([&](int p, int count, const float* logits) {
    const float* q = quality + static_cast<std::size_t>(p) * shape_.width;
    reaches.resize(static_cast<std::size_t>(count) * shape_.width);
    for (std::size_t k = 0; k < thresholds.size(); ++k) {
      std::transform(q, q + reaches.size(), reaches.begin(), [&](float x) { return x >= thresholds[k] ? 1.0f : 0.0f; });
      shares[k] += stages_.exact(logits, reaches.data(), count, shape_.width, shape_.actions).quality * count;
    }
  });
  for (double& share : shares) share /= shape_.prompts;
  return shares;
}

std::vector<float> SoftmaxPolicy::exact_logits() {
  std::vector<float> all;
  each_exact_row([&](int, int count, const float* logits) { all.insert(all.end(), logits, logits + static_cast<std::size_t>(count) * shape_.width); });
  return all;
}

// Picks the copy of softmax_stage.cpp that was compiled for the instruction set.

namespace portable {
extern const PolicyStages policy_table;
}
namespace avx2 {
extern const PolicyStages policy_table;
}
namespace avx512 {
extern const PolicyStages policy_table;
}
const PolicyStages& policy_stages(Isa isa) {
  return isa == Isa::avx512 ? avx512::policy_table : isa == Isa::avx2 ? avx2::policy_table : portable::policy_table;
}

// The normal equations of fit_linear(), and their solution.

namespace {

constexpr double ridge = 1e-9;  // times the diagonal's mean, added to the diagonal

// A symmetric system of n equations: the lower triangle of its matrix, [n][n], and its right side.
struct NormalEquations {
  std::size_t n;
  std::vector<double> matrix, right;
  explicit NormalEquations(std::size_t size) : n(size), matrix(size * size, 0.0), right(size, 0.0) {}
  double* row(std::size_t i) { return &matrix[i * n]; }
};

// Adds one prompt's responses to the sums. Its features `x` are [F][width]; `centred` is scratch [A][F], A = actions.
void add_prompt(NormalEquations& sums, const PolicyShape& shape, const float* x, const float* value, std::vector<double>& centred) {
  const auto actions = static_cast<std::size_t>(shape.actions), width = static_cast<std::size_t>(shape.width);
  double mean_value = 0;
  for (std::size_t a = 0; a < actions; ++a) mean_value += static_cast<double>(value[a]);
  mean_value /= static_cast<double>(actions);
  for (std::size_t f = 0; f < sums.n; ++f) {
    const float* of = x + f * width;
    double mean = 0;
    for (std::size_t a = 0; a < actions; ++a) mean += static_cast<double>(of[a]);
    mean /= static_cast<double>(actions);
    for (std::size_t a = 0; a < actions; ++a) centred[a * sums.n + f] = static_cast<double>(of[a]) - mean;
  }
  for (std::size_t a = 0; a < actions; ++a) {
    const double* row = &centred[a * sums.n];
    const double v = static_cast<double>(value[a]) - mean_value;
    for (std::size_t i = 0; i < sums.n; ++i) {
      double* to = sums.row(i);
      for (std::size_t j = 0; j <= i; ++j) to[j] += row[i] * row[j];
      sums.right[i] += row[i] * v;
    }
  }
}

// Solves the equations in place by Cholesky's decomposition: L L^T = matrix, then L y = right, then L^T theta = y. `right` becomes theta.
void solve(NormalEquations& sums) {
  const std::size_t n = sums.n;
  std::vector<double>& y = sums.right;
  for (std::size_t i = 0; i < n; ++i) {
    double* li = sums.row(i);
    for (std::size_t j = 0; j <= i; ++j) {
      const double* lj = sums.row(j);
      double rest = li[j];
      for (std::size_t k = 0; k < j; ++k) rest -= li[k] * lj[k];
      li[j] = i == j ? math::sqrt(rest) : rest / lj[j];
    }
    double rest = y[i];
    for (std::size_t k = 0; k < i; ++k) rest -= li[k] * y[k];
    y[i] = rest / li[i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) y[i] -= sums.row(k)[i] * y[k];
    y[i] /= sums.row(i)[i];
  }
}

}  // namespace

std::vector<double> fit_linear(const PolicyShape& shape, const float* value) {
  const auto n = static_cast<std::size_t>(shape.features), width = static_cast<std::size_t>(shape.width);
  NormalEquations sums(n);
  std::vector<double> centred(static_cast<std::size_t>(shape.actions) * n);
  for (std::size_t p = 0; p < static_cast<std::size_t>(shape.prompts); ++p)
    add_prompt(sums, shape, shape.feature + p * n * width, value + p * width, centred);
  double trace = 0;
  for (std::size_t i = 0; i < n; ++i) trace += sums.row(i)[i];
  if (trace == 0) return sums.right;  // zeros
  for (std::size_t i = 0; i < n; ++i) sums.row(i)[i] += ridge * trace / static_cast<double>(n);
  solve(sums);
  return sums.right;
}

std::vector<float> tilted_parameters(PolicyKind kind, const PolicyShape& shape, const float* value, std::span<const double> fit,
                                     double tilt) {
  std::vector<float> start;
  if (kind == PolicyKind::linear) {
    for (const double theta : fit) start.push_back(static_cast<float>(tilt * theta));
    return start;
  }
  const std::size_t cells = static_cast<std::size_t>(shape.prompts) * static_cast<std::size_t>(shape.width);
  start.reserve(cells);
  for (std::size_t i = 0; i < cells; ++i) start.push_back(static_cast<float>(tilt * static_cast<double>(value[i])));
  return start;
}

}  // namespace odrpo
