// Trains batches of bandit runs of one shape, from their specs to their records.
#include "train/batched/run_batch.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <tuple>

#include "config/spec.hpp"
#include "kernels/subnormals.hpp"
#include "train/batched/block/step.hpp"
#include "train/batched/run_layout.hpp"
#include "train/prompt_batch.hpp"

namespace odrpo {
namespace {

// Seconds that a chunk of steps should take, since a stop is noticed only between chunks.
constexpr double stretch_seconds = 0.25;
constexpr int first_stretch = 32;

// Learning rates and Adam's scalars for the runs that have one optimiser, computed chunk by chunk.
class UpdateScalars {
 public:
  UpdateScalars(const OptimizerConfig& config, const device::Layout& layout)
      : scalars_(config, layout.steps * layout.updates, layout.remember) {}

  const float *power1 = nullptr, *power2 = nullptr;  ///< powers of Adam's beta1 and beta2, in the device's memory, as the next two
  PendingStep* pending = nullptr;
  float* rate = nullptr;

  std::vector<float> powers(bool first) const {
    std::vector<float> p;
    for (int n = 0; n <= scalars_.remember() + 1; ++n) p.push_back(first ? scalars_.beta1_power(n) : scalars_.beta2_power(n));
    return p;
  }
  /// Computes the scalars of updates first .. end - 1; call it chunk after chunk. `steps`: pending Adam steps, a row for each update from
  /// first - remember on. `rates`: learning rates.
  void go_on(int first, int end, std::vector<PendingStep>& steps, std::vector<float>& rates) {
    const int ring = scalars_.remember() + 1, base = first - scalars_.remember();
    steps.assign(static_cast<std::size_t>(end - base) * ring, PendingStep{});
    rates.clear();
    const auto row = [&](int last) { return &steps[static_cast<std::size_t>(last - base) * ring]; };
    for (int last = std::max(base, 0); last < first; ++last) std::copy_n(scalars_.pending(last), first - last, row(last));
    for (int u = first; u < end; ++u) {
      scalars_.begin_step(u);
      rates.push_back(scalars_.rate());
      for (int j = 0; j < ring && j <= u && u - j >= base; ++j) row(u - j)[j] = scalars_.pending(u - j)[j];
    }
  }

 private:
  AdamScalars scalars_;
};

auto schedule_key(const OptimizerConfig& c) {
  return std::tuple(c.kind, c.lr, c.schedule, c.warmup, c.beta1, c.beta2, c.eps, c.weight_decay);
}

// The runs of one shape: what all of them share, and what each has of its own.
class Batch {
 public:
  Batch(const BatchDevice& device, std::vector<BanditProblem> problems)
      : device_(device), held_(device), problems_(std::move(problems)), layout_(make_layout(*problems_[0].spec, device.block_bytes)), runs_(problems_.size()) {
    const std::size_t n = problems_.size(), parameters = device::parameters(layout_);
    const std::size_t records = static_cast<std::size_t>(device::records(layout_));
    theta_ = held_.take<float>(n * parameters);
    last_ = held_.filled<std::int32_t>(n * device::rows(layout_), 0xff);
    record_ = held_.filled<device::Record>(n * records, 0);
    if (layout_.general) seen_ = held_.filled<device::Seen>(n * layout_.steps, 0);
    else reward_ = held_.filled<std::uint32_t>(n * layout_.steps, 0);
    time_ = held_.filled<long long>(n * 2, 0);
    const std::vector<device::Scalars> scalars(n);
    device::Scalars* all_scalars = held_.sent(std::span(scalars));
    std::vector<float> start(parameters, 0.0f);
    for (std::size_t i = 0; !layout_.linear && i < static_cast<std::size_t>(layout_.prompts) * layout_.width; ++i)
      if (i % layout_.width >= static_cast<std::size_t>(layout_.actions)) start[i] = padding;
    for (std::size_t i = 0; i < n; ++i) {
      device::Run& run = runs_[i];
      give(problems_[i], run);
      if (layout_.general) give_rest(problems_[i], seen_ + i * layout_.steps, run);
      run.theta = theta_ + i * parameters;
      device_.send(run.theta, start.data(), parameters * sizeof(float));
      run.last = last_ + i * device::rows(layout_);
      run.scalars = all_scalars + i;
      run.record = record_ + i * records;
      if (!layout_.general) run.reward = reward_ + i * layout_.steps;
      run.time = time_ + i * 2;
    }
    sent_runs_ = held_.take<device::Run>(n);
    std::vector<std::uint32_t> all(n);
    std::iota(all.begin(), all.end(), 0u);
    going_on_ = held_.sent(std::span<const std::uint32_t>(all));
  }

  // Trains all steps. Returns false when it was stopped before the end.
  bool run(const std::atomic<bool>& stop) {
    int chunk = first_stretch;
    std::size_t count = runs_.size();
    for (int first = 0; first <= layout_.steps && count > 0;) {
      if (stop.load(std::memory_order_relaxed)) return false;
      const int end = std::min(first + std::min(chunk, longest_.steps), layout_.steps + 1);
      prepare(first, end);
      const double seconds = device_.run(layout_, sent_runs_, going_on_, count, first, end);
      count = device_.drop_lost(sent_runs_, going_on_, count);
      const double more = seconds > 0 ? stretch_seconds / seconds : 4.0;
      chunk = static_cast<int>(std::clamp(more * (end - first), 1.0, std::min(4.0 * (end - first), 1.0 * longest_.steps)));
      first = end;
    }
    return true;
  }

  void hand_over(const BatchEngine::Done& done) const {
    const std::size_t n = runs_.size(), records = static_cast<std::size_t>(device::records(layout_));
    std::vector<device::Record> record(n * records);
    std::vector<std::uint32_t> reward(layout_.general ? 0 : n * layout_.steps);
    std::vector<device::Seen> seen(layout_.general ? n * layout_.steps : 0);
    std::vector<long long> time(n * 2);
    device_.fetch(record.data(), record_, record.size() * sizeof record[0]);
    device_.fetch(reward.data(), reward_, reward.size() * sizeof reward[0]);
    device_.fetch(seen.data(), seen_, seen.size() * sizeof seen[0]);
    device_.fetch(time.data(), time_, time.size() * sizeof time[0]);
    for (std::size_t i = 0; i < n; ++i) {
      const long long ticks = time[2 * i + 1];
      const double per_tick = ticks > 0 ? 1e-9 * static_cast<double>(time[2 * i]) / static_cast<double>(ticks) : 0;
      const auto seen_at = [&](int t) {
        const std::size_t at = i * layout_.steps + t;
        return layout_.general ? seen[at] : device::Seen{static_cast<double>(reward[at]), static_cast<double>(device::draws(layout_))};
      };
      done(batched_record(*problems_[i].spec, *problems_[i].world, layout_, {record.data() + i * records, records}, seen_at, per_tick));
    }
  }

 private:
  // Fills a run's constant inputs.
  void give(const BanditProblem& problem, device::Run& run) {
    const RunSpec& spec = *problem.spec;
    const LearnConfig& learn = spec.learn;
    const RatedView rated = problem.rated->view();
    run.key = spec.run_key;
    run.quality = held_.sent_once(std::span(problem.world->quality));
    if (layout_.linear) run.feature = held_.sent_once(std::span(problem.world->feature));
    run.distribution_row = held_.sent_once(std::span(problem.rated->row));
    run.threshold = held_.sent_once(std::span(problem.rated->threshold));
    run.stride = rated.stride;
    run.lowest = rated.lowest;
    run.estimator = problem.advantages->view();
    if (!problem.advantages->terms().empty()) run.estimator.term = held_.sent_once(problem.advantages->terms());
    run.whitening = problem.whitening;
    run.drop_dead = learn.dead_groups == DeadGroups::drop;
    run.leaves_pivot = leaves_pivot(spec.estimator.form);
    run.masked = run.drop_dead || run.leaves_pivot || reward_kind(spec).gaps;
    run.kl = static_cast<float>(learn.kl);
    run.reference = 1.0f / static_cast<float>(layout_.actions);
    const RatioLimits limits = ratio_limits(learn.ratio_clip);
    run.ratio_low = limits.lowest;
    run.ratio_high = limits.highest;
    run.clip = learn.optimizer.clip;
    run.eps = static_cast<float>(learn.optimizer.eps);
    run.rest1 = static_cast<float>(1.0 - learn.optimizer.beta1);
    run.rest2 = static_cast<float>(1.0 - learn.optimizer.beta2);
    std::unique_ptr<UpdateScalars>& schedule = schedules_[schedule_key(learn.optimizer)];
    if (!schedule) {
      schedule = std::make_unique<UpdateScalars>(learn.optimizer, layout_);
      schedule->power1 = held_.sent(std::span<const float>(schedule->powers(true)));
      schedule->power2 = held_.sent(std::span<const float>(schedule->powers(false)));
      schedule->pending = held_.take<PendingStep>(longest_.pending);
      schedule->rate = held_.take<float>(static_cast<std::size_t>(longest_.steps) * layout_.updates);
    }
    run.power1 = schedule->power1;
    run.power2 = schedule->power2;
    run.pending = schedule->pending;
    run.rate = schedule->rate;
    std::uint16_t*& order = orders_[spec.run_key];
    if (order == nullptr) order = held_.take<std::uint16_t>(static_cast<std::size_t>(longest_.epochs) * layout_.prompts);
    run.order = order;
  }

  // Fills the further inputs of a run of the general kind.
  void give_rest(const BanditProblem& problem, device::Seen* seen, device::Run& run) {
    const RunSpec& spec = *problem.spec;
    const RewardKind kind = reward_kind(spec);
    const BatchEstimator& estimator = *problem.advantages;
    device::General g;
    g.real = kind.real;
    g.gaps = kind.gaps;
    g.missing = problem.rated->missing;
    if (problem.rated->sampling == Sampling::draws) g.votes = problem.rated->votes;
    g.aggregate = problem.rated->aggregate;
    g.tie = problem.rated->tie;
    if (!problem.rated->value.empty()) g.value = held_.sent_once(std::span(problem.rated->value));
    g.estimator = estimator.view();
    if (!estimator.along().empty()) g.estimator.along = held_.sent_once(estimator.along());
    if (!estimator.counts().empty()) g.estimator.counts = held_.sent_once(estimator.counts());
    g.seen = seen;
    if (problem.advantages->needs_median()) follow_median(problem, g);
    if (spec.record.gradient > 0) g.gradient_sums = gradient_sums_room(spec.record.gradient);
    if (g.term != nullptr) run.estimator.term = g.term;
    run.general = held_.sent(std::span<const device::General>(&g, 1));
  }
  device::GradientSums gradient_sums_room(int replicas) {
    const std::size_t size = static_cast<std::size_t>(device::gradient_size(layout_));
    return {replicas, held_.take<double>(size), held_.take<double>(1), held_.take<float>(size)};
  }
  // Gives a run a running median, and a table of terms (weight / divisor) of its own.
  void follow_median(const BanditProblem& problem, device::General& g) {
    const RunSpec& spec = *problem.spec;
    device::Median start;
    start.value = first_median(spec.env.levels());
    g.median = held_.sent(std::span<const device::Median>(&start, 1));
    g.by_window = spec.estimator.running == RunningKind::window;
    g.rho = spec.estimator.rho;
    g.places = median_ring(spec);
    g.ring = held_.take<std::uint32_t>(static_cast<std::size_t>(g.places));
    g.term = held_.filled<float>(problem.advantages->terms().size(), 0);
  }

  // Fills the tables that steps first .. end - 1 read. The last step may be recorded only.
  void prepare(int first, int end) {
    const int first_update = first * layout_.updates, end_update = std::min(end, layout_.steps) * layout_.updates;
    std::vector<PendingStep> steps;
    std::vector<float> rates;
    for (auto& [key, schedule] : schedules_) {
      schedule->go_on(first_update, end_update, steps, rates);
      device_.send(schedule->pending, steps.data(), steps.size() * sizeof steps[0]);
      device_.send(schedule->rate, rates.data(), rates.size() * sizeof rates[0]);
    }
    const int first_epoch = first / layout_.per_epoch, epochs = (end - 1) / layout_.per_epoch - first_epoch + 1;
    std::vector<PromptOrders> orders;
    for (const auto& [key, order] : orders_) orders.push_back({key, order});
    Arena passing(device_);
    device_.shuffle(passing.sent(std::span<const PromptOrders>(orders)), orders.size(), first_epoch, epochs, layout_.prompts);
    for (device::Run& run : runs_) {
      run.first_pending = first_update - layout_.remember;
      run.first_rate = first_update;
      run.first_epoch = first_epoch;
    }
    device_.send(sent_runs_, runs_.data(), runs_.size() * sizeof runs_[0]);
  }

  const BatchDevice& device_;
  Arena held_;
  std::vector<BanditProblem> problems_;
  const device::Layout layout_;
  const Chunk longest_ = longest_chunk(layout_);
  std::vector<device::Run> runs_;
  std::map<decltype(schedule_key({})), std::unique_ptr<UpdateScalars>> schedules_;
  std::map<std::uint64_t, std::uint16_t*> orders_;
  float* theta_ = nullptr;
  std::int32_t* last_ = nullptr;
  device::Record* record_ = nullptr;
  std::uint32_t* reward_ = nullptr;
  device::Seen* seen_ = nullptr;
  long long* time_ = nullptr;
  device::Run* sent_runs_ = nullptr;
  std::uint32_t* going_on_ = nullptr;  // indices of the runs still training
};

}  // namespace

void train_batched(const BatchDevice& device, const std::vector<const RunSpec*>& runs, RunCache& cache, const std::atomic<bool>& stop,
                   const BatchEngine::Done& done) {
  const FlushSubnormals flush;
  std::map<std::string, std::vector<const RunSpec*>> shapes;
  for (const RunSpec* run : runs) shapes[batch_shape(*run)].push_back(run);
  for (const auto& [shape, specs] : shapes) {
    std::vector<BanditProblem> problems = make_problems(specs, cache, stop, done);
    if (stop.load(std::memory_order_relaxed)) return;
    if (problems.empty()) continue;
    Batch batch(device, std::move(problems));
    if (!batch.run(stop)) return;
    batch.hand_over(done);
  }
}

}  // namespace odrpo
