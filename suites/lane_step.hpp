// What a block does with its lane: the steps of suites/train_step.hpp in phases, on a device or on the host's twin of a block (tests). The
// order of every sum is that of the CPU's stages, so that the results have the same bits.
#pragma once
#include <type_traits>

#include "envs/lane_rate.hpp"
#include "estimators/lane_groups.hpp"
#include "kernels/random.hpp"
#include "policies/lane_rows.hpp"
#include "suites/lane.hpp"

namespace odrpo::lane {

/// Rows whose expectations are added up together, as SoftmaxPolicy::exact does.
inline constexpr int rows_together = 256;

/// A lane at work: its data, and where it keeps things.
struct Work {
  const Plan& plan;
  const Run& run;
  Scalars& s;
  std::uint32_t *words, *ratings;
  RowMeans* means;
  float *advantage, *coefficient, *probability, *old_chance, *gradient, *theta, *m, *v;
  std::uint32_t* columns;
  std::uint16_t *prompt, *action;
  std::uint8_t *score, *kept;
  std::int32_t* last;
};

template <bool resident>
ODRPO_HD Work work_in(unsigned char* memory, const Plan& plan, const Run& run) {
  const auto floats = [=](std::size_t at) { return reinterpret_cast<float*>(memory + at); };
  const auto words = [=](std::size_t at) { return reinterpret_cast<std::uint32_t*>(memory + at); };
  const auto halves = [=](std::size_t at) { return reinterpret_cast<std::uint16_t*>(memory + at); };
  float *theta = run.theta, *m = run.m, *v = run.v;
  if constexpr (resident) {
    theta = floats(plan.theta);
    m = theta + static_cast<std::size_t>(rows(plan)) * plan.row_width;
    v = m + static_cast<std::size_t>(rows(plan)) * plan.row_width;
  }
  return {plan,
          run,
          *reinterpret_cast<Scalars*>(memory + plan.scalars),
          words(plan.words),
          words(plan.ratings),
          reinterpret_cast<RowMeans*>(memory + plan.means),
          floats(plan.advantage),
          floats(plan.coefficient),
          floats(plan.probability),
          floats(plan.old_chance),
          floats(plan.gradient),
          theta,
          m,
          v,
          words(plan.columns),
          halves(plan.prompt),
          halves(plan.action),
          memory + plan.score,
          memory + plan.kept,
          reinterpret_cast<std::int32_t*>(memory + plan.last)};
}

ODRPO_HD Row row_of(const Work& w, int r) {
  const std::size_t at = static_cast<std::size_t>(r) * w.plan.row_width;
  return {w.theta + at, w.m + at, w.v + at, w.plan.row_width, w.plan.linear ? w.plan.features : w.plan.actions,
          w.plan.linear ? 0.0f : padding};
}
// an octet past the end works on a place of its own, which nobody reads
ODRPO_HD Row idle_row(const Work& w, float* slot) { return {slot, slot, slot, w.plan.row_width, w.plan.row_width, 0.0f}; }
ODRPO_HD float* slot_of(const Work& w, int i) { return w.probability + static_cast<std::size_t>(i) * w.plan.width; }

/// What is pending of a row before update u. (SoftmaxPolicy::visit)
ODRPO_HD Pending pending_of(const Work& w, int r, int u) {
  const int last = w.last[r];
  if (last < 0 || !w.plan.adam) return {0, nullptr, 1.0f, 1.0f};
  const int n = u - last;
  return {n, w.run.pending + static_cast<std::size_t>(last - w.run.first_pending) * (w.plan.remember + 1), w.run.power1[n], w.run.power2[n]};
}

template <class B>
ODRPO_HD void lap(const B& b, const Work& w, int stage) {
  if (!b.leads()) return;
  const long long now = b.ticks();
  w.s.ticks[stage] += now - w.s.before;
  w.s.before = now;
}

// -- what the policy is worth before step t, exactly (SoftmaxPolicy::exact): into the scalars

template <class B>
ODRPO_HD void add_means(const B& b, const Work& w, int count) {
  b.threads(1, [&](int) {
    double quality = 0, entropy = 0;
    for (int i = 0; i < count; ++i) {
      quality += static_cast<double>(w.means[i].quality);
      entropy += static_cast<double>(w.means[i].entropy);
    }
    quality /= count;
    entropy /= count;
    const float actions = static_cast<float>(w.plan.actions);
    const double kl = static_cast<double>(lane_math::log_positive<lane_math::OneLane>(actions)) - entropy;
    w.s.quality += quality * count;
    w.s.kl += (kl > 0 ? kl : 0) * count;
    w.s.entropy += entropy * count;
  });
}

template <class B>
ODRPO_HD void value_policy(const B& b, const Work& w, int u) {
  const Plan& plan = w.plan;
  b.threads(1, [&](int) { w.s.quality = w.s.kl = w.s.entropy = 0; });
  float* theta = w.theta;
  if (plan.linear && plan.adam) {  // brought up to date aside; the state stays as it is
    theta = w.gradient;
    b.octets(1, [&](const auto& o, int) {
      catch_up(o, o.live ? row_of(w, 0) : idle_row(w, slot_of(w, o.index)), o.live ? pending_of(w, 0, u) : Pending{}, w.run.eps,
               o.live ? theta : slot_of(w, o.index));
    });
  }
  for (int first = 0; first < plan.prompts; first += rows_together) {
    const int count = plan.prompts - first < rows_together ? plan.prompts - first : rows_together;
    b.octets(count, [&](const auto& o, int i) {
      const int r = o.live ? first + i : 0;
      float *slot = slot_of(w, o.index), *logits = slot;
      if (plan.linear) {
        linear_logits(o, w.run.feature + static_cast<std::size_t>(r) * plan.features * plan.width, theta, plan.features, plan.width,
                      plan.actions, slot);
      } else if (plan.adam) {
        catch_up(o, o.live ? row_of(w, r) : idle_row(w, slot), o.live ? pending_of(w, r, u) : Pending{}, w.run.eps, slot);
      } else if (o.live) {
        logits = row_of(w, r).theta;
      }
      const RowMeans means = row_means(o, logits, w.run.quality + static_cast<std::size_t>(r) * plan.width, plan.width);
      if (o.leads()) w.means[i] = means;
    });
    add_means(b, w, count);
  }
  b.threads(1, [&](int) {
    w.s.quality /= plan.prompts;
    w.s.kl /= plan.prompts;
    w.s.entropy /= plan.prompts;
  });
}

// -- the stages of a step

template <class B>
ODRPO_HD void choose_prompts(const B& b, const Work& w, int t) {
  const Plan& plan = w.plan;
  const std::uint16_t* order = w.run.order + static_cast<std::size_t>(t / plan.per_epoch - w.run.first_epoch) * plan.prompts +
                               static_cast<std::size_t>(t % plan.per_epoch) * plan.batch;
  const int each = plan.batch * plan.blocks;
  b.threads(2 * each, [&](int i) {  // every random word of the batch
    const bool rating = i >= each;
    const int at = rating ? i - each : i, of_prompt = at / plan.blocks, block = at % plan.blocks;
    const std::uint32_t prompt = order[of_prompt];
    if (!rating && block == 0) w.prompt[of_prompt] = static_cast<std::uint16_t>(prompt);
    const Words4 four = draw(w.run.key, rating ? Purpose::rating : Purpose::action, static_cast<std::uint32_t>(t), prompt,
                             static_cast<std::uint32_t>(block));
    std::uint32_t* to = (rating ? w.ratings : w.words) + 4 * static_cast<std::size_t>(at);
    ODRPO_UNROLL
    for (int j = 0; j < 4; ++j) to[j] = four.x[j];
  });
}

// Rows whose pending updates are about to be forgotten get a visit with a zero gradient. (SoftmaxPolicy::visit_overdue)
template <class B>
ODRPO_HD void visit_overdue(const B& b, const Work& w, int u) {
  const int at_once = 2 * w.plan.slots * w.plan.width - 8 * w.plan.width;  // places of a list that leaves idle octets their slots
  std::uint16_t* list = reinterpret_cast<std::uint16_t*>(slot_of(w, 4));
  for (int first = 0; first < w.plan.prompts; first += at_once) {
    const int count = w.plan.prompts - first < at_once ? w.plan.prompts - first : at_once;
    b.threads(1, [&](int) { w.s.listed = 0; });
    b.threads(count, [&](int i) {
      if (w.last[first + i] == u - w.plan.remember && w.last[first + i] >= 0)
        list[b.add(&w.s.listed, std::uint32_t{1})] = static_cast<std::uint16_t>(first + i);
    });
    b.octets(static_cast<int>(w.s.listed), [&](const auto& o, int i) {
      const int r = o.live ? list[i] : 0;
      const Row row = o.live ? row_of(w, r) : idle_row(w, slot_of(w, o.index % 4));
      const Pending pending = o.live ? pending_of(w, r, u) : Pending{};
      catch_up(o, row, pending, w.run.eps, row.theta);
      accumulate(o, row, pending, w.run.rest1, w.run.rest2, static_cast<const float*>(nullptr));
      o.meet();
      if (o.leads()) w.last[r] = u;
    });
  }
}

/// Softmax rows of the batch's prompts with all updates before u applied; actions too when `drawn`.
template <class B>
ODRPO_HD void forward(const B& b, const Work& w, int u, bool drawn) {
  const Plan& plan = w.plan;
  if (plan.overdue) visit_overdue(b, w, u);
  if (plan.linear && plan.adam)
    b.octets(1, [&](const auto& o, int) {
      const Row row = o.live ? row_of(w, 0) : idle_row(w, slot_of(w, o.index));
      catch_up(o, row, o.live ? pending_of(w, 0, u) : Pending{}, w.run.eps, row.theta);
    });
  b.octets(plan.batch, [&](const auto& o, int i) {
    float *slot = slot_of(w, i), *logits = slot;
    const int prompt = o.live ? w.prompt[i] : 0;
    if (plan.linear) {
      linear_logits(o, w.run.feature + static_cast<std::size_t>(prompt) * plan.features * plan.width, w.theta, plan.features, plan.width,
                    plan.actions, slot);
    } else {
      const Row row = o.live ? row_of(w, prompt) : idle_row(w, slot);
      if (plan.adam) catch_up(o, row, o.live ? pending_of(w, prompt, u) : Pending{}, w.run.eps, row.theta);
      logits = row.theta;
    }
    const float total = exponents(o, logits, plan.width, slot);
    if (drawn) {
      const int words = 4 * plan.blocks;
      sample(o, slot, total, plan.width, plan.rollouts, w.words + (o.live ? static_cast<std::size_t>(i) * words : 0), words,
             w.action + static_cast<std::size_t>(i) * plan.rollouts);
    }
    normalise(o, total, plan.width, slot);
  });
}

template <class B>
ODRPO_HD void rate_responses(const B& b, const Work& w) {
  const Plan& plan = w.plan;
  b.threads(draws(plan), [&](int i) {
    const int of_prompt = i / plan.rollouts, of_group = i % plan.rollouts;
    const std::size_t cell = static_cast<std::size_t>(w.prompt[of_prompt]) * plan.width + w.action[i];
    const std::uint32_t word = w.ratings[4 * static_cast<std::size_t>(of_prompt) * plan.blocks + of_group];
    const int outcome = exceeded(w.run.threshold + w.run.law_row[cell], w.run.stride, static_cast<std::int32_t>(word >> 1));
    w.score[i] = static_cast<std::uint8_t>(w.run.lowest + outcome);
  });
}

/// Advantages, as the estimator gives them; the batch's sum of scores; who takes part; and how the advantages are whitened.
template <class B>
ODRPO_HD void estimate_advantages(const B& b, const Work& w) {
  const Plan& plan = w.plan;
  const int n = plan.rollouts;
  b.threads(1, [&](int) { w.s.reward = w.s.dead_groups = w.s.dead_levels = w.s.dropped = 0; });
  for (int first = 0; first < plan.batch; first += plan.groups_at_once) {
    const int count = plan.batch - first < plan.groups_at_once ? plan.batch - first : plan.groups_at_once;
    const auto column = [&](int g) { return group_pass::Column{w.columns + g, plan.groups_at_once}; };
    b.threads(count, [&](int g) {
      const std::uint8_t* score = w.score + static_cast<std::size_t>(first + g) * n;
      prepare(w.run.estimator, score, column(g));
      std::uint32_t sum = 0;
      int low = score[0], high = low;
      for (int i = 0; i < n; ++i) {
        sum += score[i];
        low = score[i] < low ? score[i] : low;
        high = score[i] > high ? score[i] : high;
      }
      b.add(&w.s.reward, sum);
      b.add(&w.s.dead_levels, static_cast<std::uint32_t>((plan.levels - w.run.lowest) - (high - low)));
      if (low != high) {
        if (w.run.drop_dead)
          for (int i = 0; i < n; ++i) w.kept[static_cast<std::size_t>(first + g) * n + i] = 1;
        return;
      }
      b.add(&w.s.dead_groups, std::uint32_t{1});
      if (!w.run.drop_dead) return;
      b.add(&w.s.dropped, static_cast<std::uint32_t>(n));
      for (int i = 0; i < n; ++i) w.kept[static_cast<std::size_t>(first + g) * n + i] = 0;
    });
    b.threads(count * n, [&](int i) {
      const std::size_t at = static_cast<std::size_t>(first) * n + i;
      w.advantage[at] = member(w.run.estimator, column(i / n), w.score[at]);
    });
  }
}

/// How the batch is whitened; beside it, when `recorded`, the sums over its advantages one by one. (summarise of finish.cpp)
template <class B>
ODRPO_HD void survey_batch(const B& b, const Work& w, bool recorded) {
  const int n = draws(w.plan);
  if (recorded) {
    b.threads(1, [&](int) { w.s.truth = 0; });
    b.threads(n, [&](int i) {  // multiples of 1/16, so that their sum is exact
      const std::size_t cell = static_cast<std::size_t>(w.prompt[i / w.plan.rollouts]) * w.plan.width + w.action[i];
      b.add(&w.s.truth, static_cast<unsigned long long>(w.run.quality[cell] * 16.0f));
    });
  }
  b.aside(
      [&](const auto& o) {
        const std::uint8_t* kept = w.run.drop_dead ? w.kept : nullptr;
        const Whitened whitening = whitening_of(o, w.run.whitening, w.advantage, kept, n, n - static_cast<int>(w.s.dropped));
        if (o.leads()) w.s.whitening = whitening;
      },
      [&] {
        if (!recorded) return;
        double squares = 0, lowest = static_cast<double>(w.advantage[0]), highest = lowest;
        for (int i = 0; i < n; ++i) {
          const double a = static_cast<double>(w.advantage[i]);
          squares += a * a;
          lowest = a < lowest ? a : lowest;
          highest = a > highest ? a : highest;
        }
        w.s.squares = squares;
        w.s.lowest = lowest;
        w.s.highest = highest;
      });
}

/// Gradients by the logits, in place of the probabilities. (SoftmaxPolicy::gradient and its stages)
template <class B>
ODRPO_HD void logit_gradients(const B& b, const Work& w, int epoch) {
  const Plan& plan = w.plan;
  const int n = plan.rollouts, kept = draws(plan) - static_cast<int>(w.s.dropped);
  const float scale = kept > 0 ? 1.0f / static_cast<float>(kept) : 0.0f;
  b.threads(1, [&](int) { w.s.over = 0; });
  b.octets(plan.batch, [&](const auto& o, int i) {
    using O = std::decay_t<decltype(o)>;
    using F = typename O::F;
    float* pi = slot_of(w, i);
    const std::size_t first = static_cast<std::size_t>(o.live ? i : 0) * n, own = static_cast<std::size_t>(i) * n;
    F sums = O::splat(0.0f);
    int over_count = 0;
    for (int at = 0; at < n; at += 8) {
      const int here = n - at;
      const auto there = o.lane() < here;
      const auto action = o.load(w.action + first + at, here, 0);
      const F chance = there ? o.gather(pi, action) : O::splat(1.0f);
      const F a = there ? whitened(w.s.whitening, o.load(w.advantage + first + at, here, 0.0f)) : O::splat(0.0f);
      const auto part = O::ones(there) & (w.run.drop_dead ? o.load(w.kept + first + at, here, 0) : O::ones(there));
      F c;
      if (epoch > 0) {
        const F ratio = chance / o.load(w.old_chance + first + at, here, 1.0f);
        const auto over = (O::ones(a > 0.0f) & O::ones(ratio > w.run.ratio_high)) | (O::ones(a < 0.0f) & O::ones(ratio < w.run.ratio_low));
        over_count += o.count((over & part) == 1);
        c = row_math::penalised(over == 1 ? O::splat(0.0f) : a * ratio, O::higher(chance, O::splat(smallest_chance)), w.run.kl,
                                w.run.reference);
      } else {
        if (plan.updates > 1) o.store(w.old_chance + own + at, O::higher(O::splat(smallest_chance), chance), here);
        c = row_math::penalised(a, chance, w.run.kl, w.run.reference);
      }
      c = part == 1 ? c * scale : O::splat(0.0f);
      sums += c;
      o.store(w.coefficient + own + at, c, here);
    }
    const float sum = o.sum(sums);
    o.meet();
    if (kept > 0) spread(o, pi, plan.width, w.action + first, w.coefficient + own, n, sum);
    else
      for (int at = 0; at < plan.width; at += 8) o.store(pi + at, O::splat(0.0f));
    if (o.leads() && over_count > 0) b.add(&w.s.over, static_cast<std::uint32_t>(over_count));
  });
  b.threads(1, [&](int) { w.s.clipped += kept > 0 ? static_cast<double>(w.s.over) / kept : 0.0; });
  if (plan.linear)
    b.octets(plan.features, [&](const auto& o, int f) {
      const float g = linear_gradient(o, w.run.feature, w.probability, w.prompt, plan.batch, plan.features, plan.width, o.live ? f : 0);
      if (o.leads()) w.gradient[f] = g;
    });
}

/// What the gradient is multiplied by so that its norm does not exceed the clip. (SoftmaxPolicy::update)
template <class B>
ODRPO_HD void measure_gradient(const B& b, const Work& w, const float* gradient, int n) {
  b.aside(
      [&](const auto& o) {
        double squares = static_cast<double>(dot(o, gradient, gradient, n));
        if (!(squares < 1e30 && squares > 1e-30)) {  // out of the range of float sums
          squares = 0;
          for (int i = 0; i < n; ++i) squares += static_cast<double>(gradient[i]) * static_cast<double>(gradient[i]);
        }
        const double norm = math::sqrt(squares);
        if (o.leads()) w.s.factor = norm > w.run.clip ? static_cast<float>(w.run.clip / norm) : 1.0f;
      },
      [] {});
}

/// Takes the gradient into the parameters or their moments.
template <class B>
ODRPO_HD void update(const B& b, const Work& w, int u) {
  const Plan& plan = w.plan;
  float* gradient = plan.linear ? w.gradient : w.probability;
  const int size = plan.linear ? plan.row_width : plan.batch * plan.width;
  if (w.run.clip > 0) {
    measure_gradient(b, w, gradient, size);
    if (w.s.factor != 1.0f) b.threads(size, [&](int i) { gradient[i] *= w.s.factor; });
  }
  b.octets(plan.linear ? 1 : plan.batch, [&](const auto& o, int i) {
    float* g = gradient + static_cast<std::size_t>(i) * plan.row_width;
    const int r = !o.live || plan.linear ? 0 : w.prompt[i];
    if (!o.live) return;
    const Row row = row_of(w, r);
    if (!plan.adam) return ascend(o, row, w.run.rate[u - w.run.first_rate], g);
    const Pending pending = pending_of(w, r, u);
    accumulate(o, row, pending, w.run.rest1, w.run.rest2, g);
    o.meet();
    if (o.leads()) w.last[r] = u;
  });
}

/// Writes what is recorded of step t, before its update.
template <class B>
ODRPO_HD void write_record(const B& b, const Work& w, int t) {
  const int index = t == w.plan.steps ? records(w.plan) - 1 : t / w.plan.every;
  b.threads(1, [&](int) {
    Record& r = w.run.record[index];
    r.quality = w.s.quality;
    r.kl = w.s.kl;
    r.entropy = w.s.entropy;
    r.squares = w.s.squares;
    r.lowest = w.s.lowest;
    r.highest = w.s.highest;
    r.truth = w.s.truth;
    r.reward = w.s.reward;
    r.dead_groups = w.s.dead_groups;
    r.dead_levels = w.s.dead_levels;
    r.clipped = w.s.updates > 0 ? w.s.clipped / w.s.updates : __builtin_nan("");
    w.s.clipped = w.s.updates = 0;
  });
}

/// Steps t = first .. end - 1; step `steps` is the last record, which is not learned from.
template <class B>
ODRPO_HD void run_steps(const B& b, const Work& w, int first, int end) {
  const Plan& plan = w.plan;
  if (b.leads()) w.s.before = b.ticks();
  for (int t = first; t < end && !w.s.lost; ++t) {
    const bool recorded = t % plan.every == 0 || t == plan.steps;
    if (recorded) {
      value_policy(b, w, t * plan.updates);
      lap(b, w, stage_record);
      b.threads(1, [&](int) {
        Record& r = w.run.record[t == plan.steps ? records(plan) - 1 : t / plan.every];
        for (int i = 0; i < stage_count; ++i) {
          r.ticks[i] = w.s.ticks[i];
          w.s.ticks[i] = 0;
        }
        r.quality = w.s.quality;
        w.s.lost = !(w.s.quality - w.s.quality == 0);
      });
      if (w.s.lost) break;
    }
    choose_prompts(b, w, t);
    lap(b, w, stage_prompts);
    forward(b, w, t * plan.updates, true);
    lap(b, w, stage_policy);
    rate_responses(b, w);
    lap(b, w, stage_rater);
    estimate_advantages(b, w);
    survey_batch(b, w, recorded);
    lap(b, w, stage_estimator);
    if (t < plan.steps) {
      for (int e = 0; e < plan.updates; ++e) {
        if (e > 0) forward(b, w, t * plan.updates + e, false);
        logit_gradients(b, w, e);
        update(b, w, t * plan.updates + e);
      }
      b.threads(1, [&](int) {
        w.s.updates += plan.updates;
        w.run.reward[t] = w.s.reward;
      });
      lap(b, w, stage_update);
    }
    if (recorded) {
      write_record(b, w, t);
      lap(b, w, stage_record);
    }
  }
}

/// A block's whole work of one launch in `memory` (plan.bytes of it, on 16 bytes): takes the run's state in, goes from step `first` to
/// `end`, and puts the state back.
template <bool resident, class B>
ODRPO_HD void run_lane(const B& b, const Plan& plan, const Run& given, unsigned char* memory, int first, int end) {
  const auto copy = [&](void* to, const void* from, std::size_t bytes) {
    b.threads(static_cast<int>(bytes / 4), [&](int i) { static_cast<std::uint32_t*>(to)[i] = static_cast<const std::uint32_t*>(from)[i]; });
  };
  copy(memory, &given, sizeof(Run));
  const Run& run = *reinterpret_cast<const Run*>(memory);
  const Work w = work_in<resident>(memory, plan, run);
  const std::size_t parameters = sizeof(float) * static_cast<std::size_t>(rows(plan)) * plan.row_width;
  const auto move_state = [&](bool in) {
    const auto move = [&](void* here, void* there, std::size_t bytes) { in ? copy(here, there, bytes) : copy(there, here, bytes); };
    move(&w.s, run.kept, sizeof(Scalars));
    move(w.last, run.last, sizeof(std::int32_t) * static_cast<std::size_t>(rows(plan)));
    if constexpr (resident) {
      move(w.theta, run.theta, parameters);
      if (plan.adam) move(w.m, run.m, parameters);
      if (plan.adam) move(w.v, run.v, parameters);
    }
  };
  move_state(true);
  if (plan.linear) b.threads(plan.row_width, [&](int i) { w.gradient[i] = 0; });
  run_steps(b, w, first, end);
  move_state(false);
}

}  // namespace odrpo::lane
