// Adam on rows that are visited now and then. Between visits a row's gradient is zero: its moments only decay, and the steps it missed
// are applied at the next visit. Included by softmax_stage.cpp.

static void catch_up(const TableRows& rows, const RowVisit* visits, int count, float eps, float* out) {
  const int width = rows.width;
  for (int i = 0; i < count; ++i) {
    const RowVisit& visit = visits[i];
    const std::size_t at = static_cast<std::size_t>(visit.row) * width;
    const float *from = rows.theta + at, *m = rows.m + at, *root = rows.root + at;
    float* to = out ? out + static_cast<std::size_t>(visit.place) * width : rows.theta + at;
    f32x8 largest = load(root);
    for (int a = 8; a < width; a += 8) largest = max(largest, load(root + a));
    const bool four_at_once = row_math::eps_allows_four(eps) && count_true(largest < row_math::highest_root) == 8;
    if (visit.n == 0 && out)
      for (int a = 0; a < width; a += 8) store(to + a, load(from + a));
    row_math::take_pending(visit.steps, visit.n, four_at_once, [&](const auto& some) {
      for (int a = 0; a < width; a += 8) store(to + a, row_math::taken(some, load(from + a), load(m + a), load(root + a), eps));
      from = to;
    });
    // weight decay must not wake an action that does not exist
    if (visit.n > 0 && visit.steps->decay != 1.0f)
      for (int a = rows.used; a < width; ++a) to[a] = rows.unused;
  }
}

static void accumulate(const TableRows& rows, const RowVisit* visits, int count, float rest1, float rest2, const float* gradient) {
  for (int i = 0; i < count; ++i) {
    const std::size_t at = static_cast<std::size_t>(visits[i].row) * rows.width;
    float *m = rows.m + at, *v = rows.v + at;
    const float keep1 = visits[i].keep1, keep2 = visits[i].keep2;
    const float* g = gradient ? gradient + static_cast<std::size_t>(i) * rows.width : nullptr;
    for (int a = 0; a < rows.width; a += 8) {
      const f32x8 x = g ? load(g + a) : splat(0);
      store(m + a, row_math::first_moment(keep1, load(m + a), rest1, x));
      const f32x8 square = row_math::second_moment(keep2, load(v + a), rest2, x);
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
