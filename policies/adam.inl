// Adam on rows that are visited now and then. Between visits a row's gradient is zero: its moments only decay, and the steps it missed
// are applied at the next visit. Included by stage_table.cpp.

// Pending steps of a row, to[a] from from[a]: x <- decay_j x + rate_j m / d_j with d_j = root scale_j + eps. Two steps share one division,
// or four where the product of four d's can neither underflow nor overflow. Each returns how many steps it took.

ODRPO_HD int four_steps(const float* from, const float* m, const float* root, int width, const PendingStep* s, float eps, float* to) {
  const float k3 = s[3].decay, k23 = s[2].decay * k3, k123 = s[1].decay * k23, k0123 = s[0].decay * k123;
  const float r0 = s[0].rate * k123, r1 = s[1].rate * k23, r2 = s[2].rate * k3, r3 = s[3].rate;
  for (int a = 0; a < width; a += 8) {
    const f32x8 v = load(root + a);
    const f32x8 d0 = v * s[0].scale + eps, d1 = v * s[1].scale + eps, d2 = v * s[2].scale + eps, d3 = v * s[3].scale + eps;
    const f32x8 d01 = d0 * d1, d23 = d2 * d3, first = r0 * d1 + r1 * d0, second = r2 * d3 + r3 * d2;
    store(to + a, k0123 * load(from + a) + load(m + a) * ((first * d23 + second * d01) / (d01 * d23)));
  }
  return 4;
}

ODRPO_HD int two_steps(const float* from, const float* m, const float* root, int width, const PendingStep* s, float eps, float* to) {
  const float k1 = s[1].decay, k01 = s[0].decay * k1, r0 = s[0].rate * k1, r1 = s[1].rate;
  for (int a = 0; a < width; a += 8) {
    const f32x8 v = load(root + a), d0 = v * s[0].scale + eps, d1 = v * s[1].scale + eps;
    store(to + a, k01 * load(from + a) + load(m + a) * ((r0 * d1 + r1 * d0) / (d0 * d1)));
  }
  return 2;
}

ODRPO_HD int one_step(const float* from, const float* m, const float* root, int width, const PendingStep* s, float eps, float* to) {
  for (int a = 0; a < width; a += 8) store(to + a, s->decay * load(from + a) + load(m + a) * (s->rate / (load(root + a) * s->scale + eps)));
  return 1;
}

static void catch_up(const TableRows& rows, const RowVisit* visits, int count, float eps, float* out) {
  const int width = rows.width;
  for (int i = 0; i < count; ++i) {
    const RowVisit& visit = visits[i];
    const std::size_t at = static_cast<std::size_t>(visit.row) * width;
    const float *from = rows.theta + at, *m = rows.m + at, *root = rows.root + at;
    float* to = out ? out + static_cast<std::size_t>(visit.place) * width : rows.theta + at;
    f32x8 largest = load(root);
    for (int a = 8; a < width; a += 8) largest = max(largest, load(root + a));
    const bool in_range = eps >= 1e-9f && count_true(largest < 1e6f) == 8;
    if (visit.n == 0 && out)
      for (int a = 0; a < width; a += 8) store(to + a, load(from + a));
    for (int j = 0; j < visit.n; from = to) {
      const PendingStep* s = visit.steps + j;
      if (in_range && j + 3 < visit.n) j += four_steps(from, m, root, width, s, eps, to);
      else if (j + 1 < visit.n) j += two_steps(from, m, root, width, s, eps, to);
      else j += one_step(from, m, root, width, s, eps, to);
    }
    // weight decay must not wake an action that does not exist
    if (visit.n > 0 && visit.steps->decay != 1.0f)
      for (int a = rows.used; a < width; ++a) to[a] = rows.unused;
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
