// Attention by tiles, forward and backward, against its definition in double.
#include "tests/policies/transformer/tile_samples.hpp"

using namespace odrpo;
using namespace odrpo::host_backend;

namespace {

// Attention's definition in double over fixed rows of one head: chances and what they mix.
template <class See>
void attend_exactly(const Sizes& z, const Values& qkv, See see) {
  const FixedRows rows = z.rows();
  const int hw = z.width / z.heads, stride = 3 * z.width;
  for (int row = 0; row < rows_of(rows); ++row) {
    const RowPlace place = place_of(rows, row);
    for (int h = 0; h < z.heads; ++h) {
      std::vector<double> p(place.at + 1);
      double top = -1e300, total = 0;
      for (int j = 0; j <= place.at; ++j) {
        const float *q = &qkv[row * stride + h * hw], *k = &qkv[row_at(rows, place, j) * stride + z.width + h * hw];
        for (int c = 0; c < hw; ++c) p[j] += static_cast<double>(q[c]) * k[c];
        p[j] /= std::sqrt(hw);
        top = std::fmax(top, p[j]);
      }
      for (double& x : p) total += x = std::exp(x - top);
      for (double& x : p) x /= total;
      see(row, h, place, p, top + std::log(total));
    }
  }
}

template <class F>
void by_parts(const Sizes& z, F f) {
  TransformerShape s;
  s.width = z.width;
  s.heads = z.heads;
  device::by_head_width(s, f);
}

}  // namespace

TEST_CASE("attention of tiles, forward and backward, is its definition for every head width and length", "[transformer]") {
  for (const Sizes& z : sizes)
    for (const double spread : {1.0, 4.0}) {
      const FixedRows rows = z.rows();
      const int n = rows_of(rows), d = z.width, hw = d / z.heads, stride = 3 * d;
      Values qkv = normals(static_cast<std::size_t>(n) * stride, 21);
      for (float& x : qkv) x *= static_cast<float>(spread);
      const Values dmixed = normals(static_cast<std::size_t>(n) * d, 22);
      std::vector<double> mixed_sum(n * d), dqkv_sum(n * stride), log_sum(n * z.heads);
      attend_exactly(z, qkv, [&](int row, int h, const RowPlace& place, const std::vector<double>& p, double log_total) {
        log_sum[row * z.heads + h] = log_total;
        double along = 0;
        std::vector<double> dp(p.size());
        for (std::size_t j = 0; j < p.size(); ++j) {
          const int key = row_at(rows, place, static_cast<int>(j));
          for (int c = 0; c < hw; ++c) {
            const double v = qkv[key * stride + 2 * d + h * hw + c], out = dmixed[row * d + h * hw + c];
            mixed_sum[row * d + h * hw + c] += p[j] * v;
            dqkv_sum[key * stride + 2 * d + h * hw + c] += p[j] * out;
            dp[j] += out * v;
          }
          along += p[j] * dp[j];
        }
        for (std::size_t j = 0; j < p.size(); ++j) {
          const int key = row_at(rows, place, static_cast<int>(j));
          const double ds = p[j] * (dp[j] - along) / std::sqrt(hw);
          for (int c = 0; c < hw; ++c) {
            dqkv_sum[row * stride + h * hw + c] += ds * qkv[key * stride + d + h * hw + c];
            dqkv_sum[key * stride + d + h * hw + c] += ds * qkv[row * stride + h * hw + c];
          }
        }
      });
      const Values want_mixed(mixed_sum.begin(), mixed_sum.end()), want_dqkv(dqkv_sum.begin(), dqkv_sum.end()),
          want_log(log_sum.begin(), log_sum.end());
      Values mixed(want_mixed.size(), NAN), log_total(want_log.size(), NAN), along(log_total.size(), NAN), dqkv(want_dqkv.size(), NAN);
      const device::HeadRows in{rows, d, z.heads, qkv.data()};
      by_parts(z, [&](auto constant) {
        constexpr int parts = decltype(constant)::value;
        const auto items = static_cast<std::size_t>(n) * z.heads;
        in_any_order(mixed, [&](HostBackend& q) { q.tiles(items, device::Attend<parts>{in, 0, mixed.data(), log_total.data()}); });
        in_any_order(dqkv, [&](HostBackend& q) {
          q.tiles(items, device::AttendBackwardQuery<parts>{in, mixed.data(), dmixed.data(), log_total.data(), along.data(), dqkv.data()});
          q.tiles(items, device::AttendBackwardKey<parts>{in, dmixed.data(), log_total.data(), along.data(), dqkv.data()});
        });
      });
      INFO("width " << d << " heads " << z.heads << " prompt " << z.prompt << " response " << z.response << " spread " << spread);
      // scores of size up to spread^2 sqrt(hw) have roundings of 6e-8 each, which the exponential hands on
      const double scores = spread * spread * std::sqrt(hw);
      CHECK(gap(mixed, want_mixed) < 1e-6 * (1 + scores));
      CHECK(gap(log_total, want_log) < 1e-6);
      CHECK(gap(dqkv, want_dqkv) < 1e-6 * (1 + scores));
    }
}
