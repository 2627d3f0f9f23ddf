// Adam on rows that are visited now and then. Between visits a row's gradient is zero: its moments only decay, and the steps it missed
// are applied at the next visit, two at a time over one division. Included by stage_table.cpp.

static void catch_up(const TableRows& rows, const RowVisit* visits, int count, float eps, float* out) {
  for (int i = 0; i < count; ++i) {
    const RowVisit& visit = visits[i];
    const std::size_t at = static_cast<std::size_t>(visit.row) * rows.width;
    float* theta = rows.theta + at;
    const float *m = rows.m + at, *v = rows.v + at;
    float* to = out ? out + static_cast<std::size_t>(i) * rows.width : theta;
    for (int a = 0; a < rows.width; a += 8) {
      f32x8 x = load(theta + a);
      if (visit.n > 0) {
        const f32x8 moment = load(m + a), root = sqrt(load(v + a));
        int j = 0;
        for (; j + 1 < visit.n; j += 2) {
          // decay1 (decay0 x + r0 m / d0) + r1 m / d1, with d = sqrt(v) scale + eps
          const PendingStep &s0 = visit.steps[j], &s1 = visit.steps[j + 1];
          const f32x8 d0 = root * s0.scale + eps, d1 = root * s1.scale + eps;
          x = (s0.decay * s1.decay) * x + moment * ((s0.rate * s1.decay) * d1 + s1.rate * d0) / (d0 * d1);
        }
        if (j < visit.n) x = visit.steps[j].decay * x + moment * visit.steps[j].rate / (root * visit.steps[j].scale + eps);
      }
      store(to + a, x);
    }
  }
}

static void accumulate(const TableRows& rows, const RowVisit* visits, int count, float rest1, float rest2, const float* gradient) {
  for (int i = 0; i < count; ++i) {
    const std::size_t at = static_cast<std::size_t>(visits[i].row) * rows.width;
    float *m = rows.m + at, *v = rows.v + at;
    const f32x8 keep1 = splat(visits[i].keep1), keep2 = splat(visits[i].keep2);
    const float* g = gradient ? gradient + static_cast<std::size_t>(i) * rows.width : nullptr;
    for (int a = 0; a < rows.width; a += 8) {
      const f32x8 x = g ? load(g + a) : splat(0);
      store(m + a, keep1 * load(m + a) + rest1 * x);
      store(v + a, keep2 * load(v + a) + rest2 * (x * x));
    }
  }
}

static void ascend(const TableRows& rows, const RowVisit* visits, int count, float rate, const float* gradient) {
  for (int i = 0; i < count; ++i) {
    float* theta = rows.theta + static_cast<std::size_t>(visits[i].row) * rows.width;
    const float* g = gradient + static_cast<std::size_t>(i) * rows.width;
    for (int a = 0; a < rows.width; a += 8) store(theta + a, load(theta + a) + rate * load(g + a));
  }
}
