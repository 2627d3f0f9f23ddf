// The definition of sampling, of the objective and its gradient by the logits, and of LoRA.
#include <algorithm>
#include <numeric>

#include "kernels/math.hpp"
#include "tests/policies/transformer/definition.hpp"

namespace odrpo::definition {

Numbers log_probabilities(int vocabulary, const double* logits, double temperature) {
  Numbers l(vocabulary);
  double largest = logits[0], total = 0;
  for (int a = 0; a < vocabulary; ++a) largest = std::max(largest, logits[a]);
  for (int a = 0; a < vocabulary; ++a) total += math::exp((logits[a] - largest) / temperature);
  for (int a = 0; a < vocabulary; ++a) l[a] = (logits[a] - largest) / temperature - math::log(total);
  return l;
}

int pick(const Numbers& log_probability, double top_p, std::uint32_t word) {
  const int n = static_cast<int>(log_probability.size());
  Numbers p(n);
  for (int a = 0; a < n; ++a) p[a] = math::exp(log_probability[a]);
  if (top_p < 1) {
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return p[a] > p[b]; });
    double held = 0;
    for (int a : order) {
      const bool in = held < top_p;
      held += p[a];
      if (!in) p[a] = 0;
    }
  }
  const double total = std::accumulate(p.begin(), p.end(), 0.0), target = total * ((word >> 8) + 0.5) * 0x1p-24;
  double sum = 0;
  int last = 0;
  for (int a = 0; a < n; ++a) {
    if (p[a] == 0) continue;
    sum += p[a];
    last = a;
    if (sum > target) return a;
  }
  return last;
}

namespace {

// the sequence that a response's log-probabilities need: all but its last token
Trace run(const TransformerShape& s, const Numbers& weights, const Response& r) {
  std::vector<int> tokens = r.prompt;
  tokens.insert(tokens.end(), r.tokens.begin(), r.tokens.end() - 1);
  return forward(s, weights, std::move(tokens));
}

}  // namespace

std::vector<double> response_log_probabilities(const TransformerShape& s, const Numbers& weights, double temperature, const Response& r) {
  const Trace t = run(s, weights, r);
  std::vector<double> l;
  for (std::size_t i = 0; i < r.tokens.size(); ++i)
    l.push_back(log_probabilities(s.vocabulary, &t.logits[(r.prompt.size() - 1 + i) * s.vocabulary], temperature)[r.tokens[i]]);
  return l;
}

double objective(const TransformerShape& s, const Numbers& weights, double temperature, const TransformerLoss& loss,
                 std::span<const Response> responses, Numbers* gradient) {
  double kept = 0, tokens = 0, value = 0;
  for (const Response& r : responses)
    if (r.kept) kept += 1, tokens += static_cast<double>(r.tokens.size());
  if (gradient) gradient->assign(weights.size(), 0.0);
  for (const Response& r : responses) {
    if (!r.kept) continue;
    const double length = static_cast<double>(r.tokens.size());
    const double weight = loss.mean == TokenMean::token_mean      ? 1.0 / tokens
                          : loss.mean == TokenMean::sequence_mean ? 1.0 / (kept * length)
                                                                  : 1.0 / kept;
    const Trace t = run(s, weights, r);
    Numbers dlogits(t.logits.size());
    for (std::size_t i = 0; i < r.tokens.size(); ++i) {
      const std::size_t row = r.prompt.size() - 1 + i;
      const Numbers l = log_probabilities(s.vocabulary, &t.logits[row * s.vocabulary], temperature);
      const double now = l[r.tokens[i]], ratio = r.old_log.empty() ? 1.0 : math::exp(now - r.old_log[i]);
      // the surrogate, and its derivative by l; at ratio 1 with l_old = l its value is A and its derivative A
      double surrogate = ratio * r.coefficient, slope = surrogate;
      if (loss.ratio_clip > 0) {
        const double held = std::clamp(ratio, 1.0 - loss.ratio_clip, 1.0 + loss.ratio_clip) * r.coefficient;
        if (held < surrogate) surrogate = held, slope = 0;
      }
      if (!r.reference.empty()) {
        const double gap = r.reference[i] - now, e = math::exp(gap);
        surrogate -= loss.kl * (e - 1.0 - gap);
        slope -= loss.kl * (1.0 - e);
      }
      double entropy = 0;
      for (int a = 0; a < s.vocabulary; ++a) entropy -= math::exp(l[a]) * l[a];
      value += weight * (surrogate + loss.entropy * entropy);
      for (int a = 0; a < s.vocabulary; ++a) {
        const double p = math::exp(l[a]);
        dlogits[row * s.vocabulary + a] += weight / temperature * (slope * ((a == r.tokens[i]) - p) - loss.entropy * p * (l[a] + entropy));
      }
    }
    if (gradient) backward(s, weights, t, dlogits, *gradient);
  }
  return value;
}

Numbers merge(const AdapterTable& table, const Numbers& base, const Numbers& adapters) {
  Numbers w = base;
  for (const Adapter& x : table.adapters)
    for (int i = 0; i < x.rows; ++i)
      for (int j = 0; j < x.columns; ++j)
        for (int r = 0; r < table.rank; ++r)
          w[x.weight + i * x.stride + x.column + j] += table.scale * adapters[x.a + i * table.rank + r] * adapters[x.b + r * x.columns + j];
  return w;
}

Numbers adapter_gradient(const AdapterTable& table, const Numbers& adapters, const Numbers& weight_gradient) {
  Numbers g(table.count);
  for (const Adapter& x : table.adapters)
    for (int i = 0; i < x.rows; ++i)
      for (int j = 0; j < x.columns; ++j) {
        const double dw = table.scale * weight_gradient[x.weight + i * x.stride + x.column + j];
        for (int r = 0; r < table.rank; ++r) {
          g[x.a + i * table.rank + r] += dw * adapters[x.b + r * x.columns + j];
          g[x.b + r * x.columns + j] += dw * adapters[x.a + i * table.rank + r];
        }
      }
  return g;
}

}  // namespace odrpo::definition
