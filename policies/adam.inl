// Adam on rows that are visited now and then. Between visits a row's gradient is zero: its moments only decay, and the steps it missed
// are applied at the next visit. Included by stage_table.cpp.

// x after `n` pending steps: x <- decay_j x + rate_j m / d_j with d_j = root scale_j + eps. Four steps share one division, then two, then one;
// a product of four d's must not underflow, so it is taken only when eps is not tiny.
ODRPO_HD f32x8 pending_steps(f32x8 x, f32x8 moment, f32x8 root, const PendingStep* s, int n, float eps) {
  int j = 0;
  if (eps >= 1e-9f) {
    for (; j + 3 < n; j += 4) {
      const f32x8 d0 = root * s[j].scale + eps, d1 = root * s[j + 1].scale + eps, d2 = root * s[j + 2].scale + eps, d3 = root * s[j + 3].scale + eps;
      const float k3 = s[j + 3].decay, k23 = s[j + 2].decay * k3, k123 = s[j + 1].decay * k23;
      const f32x8 d01 = d0 * d1, d23 = d2 * d3;
      const f32x8 first = (s[j].rate * k123) * d1 + (s[j + 1].rate * k23) * d0, second = (s[j + 2].rate * k3) * d3 + s[j + 3].rate * d2;
      x = (s[j].decay * k123) * x + moment * (first * d23 + second * d01) / (d01 * d23);
    }
  }
  for (; j + 1 < n; j += 2) {
    const f32x8 d0 = root * s[j].scale + eps, d1 = root * s[j + 1].scale + eps;
    const float k1 = s[j + 1].decay;
    x = (s[j].decay * k1) * x + moment * ((s[j].rate * k1) * d1 + s[j + 1].rate * d0) / (d0 * d1);
  }
  if (j < n) x = s[j].decay * x + moment * s[j].rate / (root * s[j].scale + eps);
  return x;
}

static void catch_up(const TableRows& rows, const RowVisit* visits, int count, float eps, float* out) {
  for (int i = 0; i < count; ++i) {
    const RowVisit& visit = visits[i];
    const std::size_t at = static_cast<std::size_t>(visit.row) * rows.width;
    float* theta = rows.theta + at;
    float* to = out ? out + static_cast<std::size_t>(visit.place) * rows.width : theta;
    for (int a = 0; a < rows.width; a += 8)
      store(to + a, pending_steps(load(theta + a), load(rows.m + at + a), load(rows.root + at + a), visit.steps, visit.n, eps));
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
      const f32x8 square = keep2 * load(v + a) + rest2 * (x * x);
      store(v + a, square);
      store(rows.root + at + a, sqrt(square));
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
