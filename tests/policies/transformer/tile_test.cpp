// The functors that a device runs for the transformer, item by item on the host, against the CPU's stages and the definition.
#include <array>
#include <cstdio>

#include "kernels/device/product.hpp"
#include "tests/policies/transformer/tile_samples.hpp"

using namespace odrpo;
using namespace odrpo::host_backend;

TEST_CASE("norms of tiles are those of the stages, over rows and over sites", "[transformer]") {
  for (const Sizes& z : sizes) {
    const FixedRows rows = z.rows();
    const int n = rows_of(rows), sites = sites_of(rows), d = z.width;
    const Values x = normals(static_cast<std::size_t>(n) * d, 1), gain = normals(d, 2), dy = normals(x.size(), 3);
    for (const bool by_site : {false, true}) {
      const int count = by_site ? sites : n;
      // what the stages see: rows gathered in the sites' order
      Values gathered(static_cast<std::size_t>(count) * d);
      for (int i = 0; i < count; ++i)
        for (int j = 0; j < d; ++j) gathered[i * d + j] = x[(by_site ? row_of_site(rows, i) : i) * d + j];
      Values inverse(count), y(gathered.size()), want_inverse(count), want_y(y.size());
      stages().norm(count, d, gathered.data(), gain.data(), want_inverse.data(), want_y.data());
      const device::NormRows of{rows, by_site, d, x.data(), gain.data()};
      in_any_order(y, [&](HostBackend& q) { q.tiles(count, device::Norm{of, 0, inverse.data(), y.data()}); });
      CHECK(gap(y, want_y) < 1e-6);
      CHECK(gap(inverse, want_inverse) < 1e-6);

      Values dx(x.size(), 0.5f), want_dx(gathered.size(), 0.5f), dgain(d, 0.25f), want_dgain = dgain, again(y.size());
      Values parts(static_cast<std::size_t>(gain_part_count) * d, NAN);
      stages().norm_backward(count, d, gathered.data(), gain.data(), want_inverse.data(), dy.data(), want_dx.data());
      stages().gain_backward(count, d, 0, d, gathered.data(), want_inverse.data(), dy.data(), want_dgain.data());
      in_any_order(dx, [&](HostBackend& q) {
        q.tiles(count, device::NormBackward{of, inverse.data(), dy.data(), dx.data(), again.data()});
      });
      in_any_order(dgain, [&](HostBackend& q) {
        q.tiles(gain_part_count * d / 8, device::GainParts{of, count, gain_part_count, inverse.data(), dy.data(), parts.data()});
        q.tiles(d / 8, device::AddParts{gain_part_count, static_cast<std::size_t>(d), parts.data(), dgain.data()});
      });
      Values got(gathered.size());
      for (int i = 0; i < count; ++i)
        for (int j = 0; j < d; ++j) got[i * d + j] = dx[(by_site ? row_of_site(rows, i) : i) * d + j];
      CHECK(gap(got, want_dx) < 2e-6);
      CHECK(gap(dgain, want_dgain) < 5e-6);
      CHECK(gap(again, want_y) < 1e-6);
    }
  }
}

TEST_CASE("GELU, Adam and the clip of tiles are those of the stages", "[transformer]") {
  const std::size_t n = 8 * 700;
  Values x = normals(n, 11), d = normals(n, 12), y(n), want_y(n), want_d = d;
  for (std::size_t i = 0; i < 64; ++i) x[i] = static_cast<float>(i) - 32.0f;  // far tails
  stages().gelu(n, x.data(), want_y.data());
  in_any_order(y, [&](HostBackend& q) { q.tiles(n / 8, device::Gelu{x.data(), y.data()}); });
  CHECK(gap(y, want_y) < 5e-7);
  stages().gelu_backward(n, x.data(), want_d.data(), want_y.data());
  in_any_order(d, [&](HostBackend& q) { q.tiles(n / 8, device::GeluBackward{x.data(), d.data(), y.data()}); });
  CHECK(gap(d, want_d) < 1e-6);
  CHECK(gap(y, want_y) < 5e-7);

  for (const float clip : {0.0f, 3.0f, 1e6f}) {
    Values norm(2), theta = normals(n, 13), m = normals(n, 14), v = normals(n, 15), parts((n + 2047) / 2048);
    for (float& one : v) one = one * one;
    Values want_theta = theta, want_m = m, want_v = v, ascent = theta;
    const double exact = std::sqrt(stages().square_sum(n, x.data()));
    in_any_order(norm, [&](HostBackend& q) {
      q.tiles(parts.size(), device::SquareParts{n, x.data(), parts.data()});
      q.tiles(1, device::ClipFactor{static_cast<int>(parts.size()), clip, parts.data(), norm.data()});
    });
    CHECK(std::fabs(norm[0] - exact) < 1e-6 * exact);
    CHECK(norm[1] == (clip > 0 && clip < norm[0] ? clip / norm[0] : 1.0f));
    const AdamStep s{norm[1], 0.9f, 0.99f, 1e-8f, {0.02f, 0.7f, 0.999f}};
    stages().adam(n, s, x.data(), want_theta.data(), want_m.data(), want_v.data());
    HostBackend q{Order::shuffled};
    const device::UpdateScalars adam{s.step.rate, s.step.scale, s.step.decay, s.eps}, ascend{0.1f, 0, 0, 0};
    q.tiles(n / 8, device::Adam{s.beta1, s.beta2, &adam, norm.data(), x.data(), theta.data(), m.data(), v.data()});
    CHECK(gap(theta, want_theta) < 1e-6);
    CHECK(gap(m, want_m) < 1e-6);
    CHECK(gap(v, want_v) < 1e-6);
    q.tiles(n / 8, device::Ascend{&ascend, norm.data(), x.data(), ascent.data()});
    Values start = normals(n, 13);
    for (std::size_t i = 0; i < n; ++i) start[i] += 0.1f * norm[1] * x[i];
    CHECK(gap(ascent, start) < 1e-6);
  }
}

TEST_CASE("tiles pick the definition's tokens and know their chances", "[transformer]") {
  int differ = 0, picks = 0;
  for (const int v : {2, 6, 13, 64, 100, 1024})
    for (const double temperature : {1.0, 0.6})
      for (const double top_p : {1.0, 0.8, 0.3}) {
        const FixedRows rows{3, 40, 2, 4};
        const int sequences = sequences_of(rows), sites = sites_of(rows), longest = rows.response, end = 1;
        Values logits = normals(static_cast<std::size_t>(sites) * v, 31 + v);
        for (float& x : logits) x = std::round(4 * x) / 2;  // equals among them
        Values log_total(sites), entropy(sites), want_total(sites), want_entropy(sites), log_probability(sequences * longest, NAN);
        const float inverse = static_cast<float>(1 / temperature);
        stages().probabilities(sites, v, logits.data(), inverse, want_total.data(), want_entropy.data());
        in_any_order(log_total, [&](HostBackend& q) {
          q.tiles(sites, device::Probabilities{v, inverse, logits.data(), log_total.data(), entropy.data()});
        });
        CHECK(gap(log_total, want_total) < 1e-6);
        CHECK(gap(entropy, want_entropy) < 2e-6);

        std::mt19937 g(32);
        std::vector<std::uint32_t> word(sequences * longest);
        for (auto& w : word) w = static_cast<std::uint32_t>(g());
        std::vector<std::uint16_t> token(sequences * longest), again;
        std::vector<int> length(sequences);
        for (const Order order : {Order::forward, Order::reversed}) {
          HostBackend q{order, order == Order::forward ? 0 : 1, true};
          q.tiles(sequences, device::BeginPicks{rows, end, token.data(), log_probability.data(), length.data()});
          for (int t = 0; t < longest; ++t)
            q.tiles(sequences, device::Pick{rows, v, t, end, inverse, static_cast<float>(top_p), logits.data(), word.data(),
                                            log_total.data(), entropy.data(), token.data(), log_probability.data(), length.data()});
          if (again.empty()) again = token;
          REQUIRE(again == token);
        }
        Values noted(log_probability.size(), NAN);
        HostBackend q{Order::shuffled};
        q.tiles((noted.size() + 7) / 8,
                device::NoteProbabilities{rows, v, inverse, logits.data(), log_total.data(), token.data(), length.data(), noted.data()});
        REQUIRE(noted == log_probability);
        for (int s = 0; s < sequences; ++s) {
          bool ended = false;
          for (int t = 0; t < longest; ++t) {
            const int i = s * longest + t, site = site_of(rows, s, t);
            if (ended) {
              REQUIRE(token[i] == end);
              REQUIRE(log_probability[i] == 0);
              continue;
            }
            std::vector<double> row(logits.begin() + site * v, logits.begin() + (site + 1) * v);
            const auto l = definition::log_probabilities(v, row.data(), temperature);
            differ += token[i] != definition::pick(l, top_p, word[i]);
            picks += 1;
            REQUIRE(std::fabs(log_probability[i] - l[token[i]]) < 4e-6 / temperature);
            ended = token[i] == end;
            REQUIRE((!ended || length[s] == t + 1));
          }
          REQUIRE((ended || length[s] == longest));
        }
      }
  // a word may fall within float's rounding of a boundary between tokens
  std::printf("picks that differ from double's: %d of %d\n", differ, picks);
  CHECK(differ <= picks / 2000);
}

TEST_CASE("the logits' gradient of tiles is that of the stage with what the chosen tokens add", "[transformer]") {
  for (const int v : {6, 13, 64})
    for (const double temperature : {1.0, 0.7}) {
      const FixedRows rows{3, 4, 2, 5};
      const int sequences = sequences_of(rows), sites = sites_of(rows), longest = rows.response;
      const Values logits = normals(static_cast<std::size_t>(sites) * v, 41);
      Values log_total(sites), entropy(sites), sum = normals(sites, 42), bonus = normals(sites, 43),
                                               coefficient = normals(sequences * longest, 44);
      const float inverse = static_cast<float>(1 / temperature);
      stages().probabilities(sites, v, logits.data(), inverse, log_total.data(), entropy.data());
      std::mt19937 g(45);
      std::vector<std::uint16_t> token(sequences * longest);
      for (auto& w : token) w = static_cast<std::uint16_t>(g() % v);
      Values d(logits.size(), NAN), want(logits.size());
      stages().logit_gradient(sites, v, logits.data(), inverse, log_total.data(), entropy.data(), sum.data(), bonus.data(), want.data());
      for (int s = 0; s < sequences; ++s)
        for (int t = 0; t < longest; ++t) want[site_of(rows, s, t) * v + token[s * longest + t]] += inverse * coefficient[s * longest + t];
      in_any_order(d, [&](HostBackend& q) {
        q.tiles(sites, device::LogitGradient{rows, v, inverse, logits.data(), log_total.data(), entropy.data(), sum.data(), bonus.data(),
                                             coefficient.data(), token.data(), d.data()});
      });
      CHECK(gap(d, want) < 1e-6);
    }
}

TEST_CASE("embeddings and their gradients of tiles add up what stands in each row", "[transformer]") {
  for (const Sizes& z : sizes) {
    const FixedRows rows = z.rows();
    const int n = rows_of(rows), d = z.width, v = 9, context = z.prompt + z.response, sequences = sequences_of(rows);
    std::mt19937 g(51);
    std::vector<std::uint16_t> prompt(prompt_rows_of(rows)), chosen(sequences * z.response);
    std::vector<int> length(sequences);
    for (auto& w : prompt) w = static_cast<std::uint16_t>(g() % v);
    for (auto& w : chosen) w = static_cast<std::uint16_t>(g() % v);
    for (int& l : length) l = 1 + static_cast<int>(g() % z.response);
    const Values token = normals(v * d, 52), position = normals(context * d, 53);
    Values dx = normals(static_cast<std::size_t>(n) * d, 54), x(dx.size(), NAN), want_x(dx.size());
    std::vector<double> dtoken(v * d), dposition(context * d);
    for (int row = 0; row < n; ++row) {
      const RowPlace p = place_of(rows, row);
      REQUIRE(row_at(rows, p, p.at) == row);
      const int t = p.at - z.prompt;
      const bool gone = t >= 0 && t + 1 >= length[p.s];
      const int id = t < 0 ? prompt[row] : gone ? 0 : chosen[p.s * z.response + t];
      for (int j = 0; j < d; ++j) {
        if (gone) dx[row * d + j] = 0;  // as their coefficients make it
        want_x[row * d + j] = token[id * d + j] + position[p.at * d + j];
        dtoken[id * d + j] += dx[row * d + j];
        dposition[p.at * d + j] += dx[row * d + j];
      }
    }
    in_any_order(x, [&](HostBackend& q) {
      q.tiles(n, device::Embed{rows, d, 0, prompt.data(), chosen.data(), length.data(), token.data(), position.data(), x.data()});
    });
    REQUIRE(x == want_x);
    Values all((v + context) * d, 0.0f), token_parts(static_cast<std::size_t>(token_part_count) * v * d),
        position_parts(static_cast<std::size_t>(position_part_count) * context * d, NAN);
    in_any_order(all, [&](HostBackend& q) {
      q.zero(token_parts.data(), token_parts.size());
      q.tiles(token_part_count * d / 8,
              device::TokenParts{rows, d, v, token_part_count, prompt.data(), chosen.data(), length.data(), dx.data(), token_parts.data()});
      q.tiles(position_part_count * context * d / 8, device::PositionParts{rows, d, position_part_count, dx.data(), position_parts.data()});
      q.tiles(v * d / 8, device::AddParts{token_part_count, static_cast<std::size_t>(v) * d, token_parts.data(), all.data()});
      q.tiles(context * d / 8,
              device::AddParts{position_part_count, static_cast<std::size_t>(context) * d, position_parts.data(), all.data() + v * d});
    });
    dtoken.insert(dtoken.end(), dposition.begin(), dposition.end());
    CHECK(gap(all, Values(dtoken.begin(), dtoken.end())) < 2e-6);
  }
}

TEST_CASE("a product of rows is what a library of columns makes of its description") {
  for (const auto way : {Product::Way::plain, Product::Way::transposed, Product::Way::by_transposed})
    for (const bool add : {false, true})
      for (const auto& [m, n, k] : {std::array{5, 7, 3}, {1, 4, 2}, {6, 1, 9}}) {
        const bool turn_a = way == Product::Way::transposed, turn_b = way == Product::Way::by_transposed;
        const int lda = (turn_a ? m : k) + 2, ldb = (turn_b ? k : n) + 3, ldc = n + 1;
        const Values a = normals((turn_a ? k : m) * lda, 61), b = normals((turn_b ? n : k) * ldb, 62), plus = normals(m * ldc, 63);
        Values want = plus, got = plus;
        const Product p{way, m, n, k, a.data(), lda, b.data(), ldb, add ? plus.data() : nullptr, want.data(), ldc, 0.5f};
        HostBackend{}.product(p);
        // as the library's manual defines it: element (i, j) of a column-major matrix stands at i + j stride
        const ColumnMajorProduct as = column_major(p);
        const auto element = [](const ColumnMajorFactor& f, int i, int j) {
          return f.turned ? f.at[j + i * f.stride] : f.at[i + j * f.stride];
        };
        const int sums = as.first.turned ? as.first.rows : as.first.columns;
        REQUIRE(sums == k);
        REQUIRE((as.second.turned ? as.second.columns : as.second.rows) == k);
        for (int i = 0; i < as.rows; ++i)
          for (int j = 0; j < as.columns; ++j) {
            double sum = 0;
            for (int l = 0; l < k; ++l) sum += static_cast<double>(element(as.first, i, l)) * element(as.second, l, j);
            const int at = i + j * as.stride;
            got[at] = static_cast<float>(0.5 * sum + (add ? plus[at] : 0.0f));
          }
        CHECK(gap(got, want) < 1e-6);
      }
}

namespace {

// Attention's definition in double over fixed rows of one head: probabilities and what they mix.
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
