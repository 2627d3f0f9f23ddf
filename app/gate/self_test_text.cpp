// What `gate --self-test` found, as text and as JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/gate/self_test.hpp"
#include "app/printable.hpp"
#include "results/stats/statistics.hpp"

namespace odrpo::app {
namespace {

std::string percent(const std::vector<double>& yes) { return fmt::format("{:.1f}", 100 * mean_interval(yes).mean); }

/// "99.3 % [97.6, 99.8]"
std::string share_text(const std::vector<double>& yes) {
  const MeanInterval m = share_interval(yes);
  return fmt::format("{:.1f} % [{:.1f}, {:.1f}]", 100 * m.mean, 100 * m.lo, 100 * m.hi);
}

std::vector<double> either(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> out(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) out[i] = a[i] != 0 || b[i] != 0;
  return out;
}

std::string added_text(double added) { return added == 0 ? "none (A/A)" : fmt::format("+{:g} %", 100 * added); }

}  // namespace

std::string self_test_text(const SelfTest& test, const std::string& host) {
  const std::size_t trials = test.rows[0].slower.size();
  std::string out =
      fmt::format("odrpo-bench gate --self-test: {} trials of each row, {:.0f} s\n{}\n\n", trials, test.seconds, printable_line(host));
  out += "             this gate                          two means, 5 %  U test, .05\n";
  out += "added work  slower, %  faster, %  void, %  seconds  paired  turns  paired  turns\n";
  for (const SelfTestRow& row : test.rows)
    out += fmt::format("{:<10}  {:>9}  {:>9}  {:>7}  {:>7.2f}  {:>6}  {:>5}  {:>6}  {:>5}\n", added_text(row.added), percent(row.slower),
                       percent(row.faster), percent(row.void_control), row.seconds, percent(row.interleaved.two_means),
                       percent(row.in_sequence.two_means), percent(row.interleaved.u_test), percent(row.in_sequence.u_test));
  const SelfTestRow &none = test.rows[0], &five = test.rows[2];
  out += fmt::format("\nfalse alarms: {} of equal work called slower or faster\n", share_text(either(none.slower, none.faster)));
  out += fmt::format("power: {} of 5 % more work found\n", share_text(five.slower));
  out += fmt::format("n = {} trials; 95 % intervals (Wilson). seconds: of a case until its verdict.\n", trials);
  out += "Two means, U test: % of alarms by the recordings of the first ten blocks;\n";
  out += "paired: by all; turns: by the baseline's of five and the candidate's of five.\n";
  return out;
}

std::string self_test_json(const SelfTest& test, const std::string& host) {
  using Json = nlohmann::ordered_json;
  const auto share = [](const std::vector<double>& yes) {
    const MeanInterval m = share_interval(yes);
    return Json{{"share", m.mean}, {"lo", m.lo}, {"hi", m.hi}, {"n", m.n}};
  };
  Json json = {{"host", printable_line(host)}, {"load", test.load < 0 ? Json() : Json(test.load)}, {"seconds", test.seconds}};
  for (const SelfTestRow& row : test.rows)
    json["rows"].push_back({{"added", row.added},
                            {"slower", share(row.slower)},
                            {"faster", share(row.faster)},
                            {"void", share(row.void_control)},
                            {"inconclusive", share(row.inconclusive)},
                            {"two_means_paired", share(row.interleaved.two_means)},
                            {"two_means_in_turn", share(row.in_sequence.two_means)},
                            {"u_test_paired", share(row.interleaved.u_test)},
                            {"u_test_in_turn", share(row.in_sequence.u_test)},
                            {"seconds", row.seconds}});
  return json.dump(2) + "\n";
}

}  // namespace odrpo::app
