// Schedules at their corners, and Adam's pending steps against its dense definition.
#include "policies/optimizer.hpp"

#include <cmath>

#include "tests/catch.hpp"
#include "tests/policies/adam_definition.hpp"

using namespace odrpo;

TEST_CASE("schedules: warm-up, constant, linear, cosine") {
  OptimizerConfig c;
  c.lr = 0.1;
  c.warmup = 0.08;
  c.schedule = ScheduleKind::cosine;
  CHECK(learning_rate(c, 0, 1000) == Approx(0.1 / 80));
  CHECK(learning_rate(c, 79, 1000) == Approx(0.1));
  CHECK(learning_rate(c, 80, 1000) == Approx(0.1));
  CHECK(learning_rate(c, 540, 1000) == Approx(0.05));
  CHECK(learning_rate(c, 999, 1000) == Approx(0.05 * (1 + std::cos(3.14159265358979 * 919.0 / 920))));
  c.schedule = ScheduleKind::linear;
  CHECK(learning_rate(c, 540, 1000) == Approx(0.05));
  CHECK(learning_rate(c, 999, 1000) == Approx(0.1 / 920));
  c.schedule = ScheduleKind::constant;
  CHECK(learning_rate(c, 999, 1000) == 0.1);
  c.warmup = 0;
  CHECK(learning_rate(c, 0, 1000) == 0.1);
  c.warmup = 1;
  CHECK(learning_rate(c, 499, 1000) == Approx(0.05));
  c.warmup = 1e-9;  // some warm-up is at least one step
  CHECK(learning_rate(c, 0, 10) == 0.1);
}

TEST_CASE("pending steps reproduce dense Adam on a parameter whose gradient is zero between visits") {
  for (OptimizerKind kind : {OptimizerKind::adam, OptimizerKind::adamw}) {
    OptimizerConfig c;
    c.kind = kind;
    c.weight_decay = kind == OptimizerKind::adamw ? 0.1 : 0;
    const int steps = 40;
    AdamScalars scalars(c, steps, 7);
    double theta = 0.3, m = 0, v = 0;   // dense
    double lazy = 0.3, lm = 0, lv = 0;  // visited at steps 0, 1, 8, 9, 15, …
    int last = -1;
    const auto catch_up = [&](int t) {
      if (last < 0) return;
      for (int j = 0; j < t - last; ++j) {
        const PendingStep& s = scalars.pending(last)[j];
        lazy = s.decay * lazy + s.rate * lm / (std::sqrt(lv) * s.scale + c.eps);
      }
    };
    for (int t = 0; t < steps; ++t) {
      const bool visit = t % 7 == 1 || t == 0;
      const double g = visit ? 0.01 * (t % 5 - 2) + 0.003 : 0;
      if (kind == OptimizerKind::adamw && last < 0 && !visit) continue;
      scalars.begin_step(t);
      if (visit) {
        catch_up(t);
        const int n = last < 0 ? 0 : t - last;
        lm = scalars.beta1_power(n) * lm + (1 - c.beta1) * g;
        lv = scalars.beta2_power(n) * lv + (1 - c.beta2) * g * g;
        last = t;
      }
      adam_definition(c, t, learning_rate(c, t, steps), 1, &g, &theta, &m, &v);
    }
    catch_up(steps);
    CHECK(lazy == Approx(theta).epsilon(1e-5));
  }
}
