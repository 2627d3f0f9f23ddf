// A gate's report as JSON: everything, so that its decisions can be computed again. What is not finite is written as null.
#include <nlohmann/json.hpp>

#include "gate/report/report.hpp"
#include "gate/report/report_words.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {
namespace {

using Json = nlohmann::ordered_json;

Json text(const std::string& x) { return x.empty() ? Json() : Json(x); }

Json estimate_json(const GateEstimate& e) {
  if (e.blocks == 0) return {};
  return {{"ratio", e.ratio()}, {"lo", e.ratio_lo()}, {"hi", e.ratio_hi()}, {"alpha", e.alpha},
          {"p", e.p},           {"log_mean", e.mean}, {"log_sd", e.sd},     {"log_error", e.error},
          {"freedom", e.freedom}, {"blocks", e.blocks}};
}

Json case_json(const GateReport& r, std::size_t i) {
  const GateCase& c = r.decisions[i];
  const GateMeasurement& m = r.measured[i];
  Json json = {{"case", c.name},
               {"verdict", c.verdict ? Json(verdict_word(r, i)) : Json()},
               {"fails", fails(r, i)},
               {"sentence", case_sentence(r, i)}};
  json["change"] = estimate_json(c.estimate);
  json["control"] = estimate_json(c.control_estimate);
  json["smallest_found"] = c.estimate.blocks > 0 ? Json(smallest_found(c.estimate, r.rules)) : Json();
  json["repeat"] = m.repeat;
  json["baseline_ns"] = m.baseline_ns;
  json["clock"] = m.clock;
  json["checksum"] = {
      {"baseline", text(m.checksum)}, {"candidate", text(m.candidate_checksum)}, {"differs", c.differs}, {"varies", m.checksum_varies}};
  json["counts"] = Json::array();
  for (const GateCount& count : m.counts)
    json["counts"].push_back({{"what", count.what},
                              {"baseline", count.baseline},
                              {"candidate", count.candidate},
                              {"change", count.change()},
                              {"exact", count.exact},
                              {"reported", count.reported()}});
  json["blocks"] = {{"change", c.change}, {"control", c.control}};
  if (!m.cpu.empty()) json["blocks"]["cpu"] = m.cpu;
  if (!c.stored.empty()) json["blocks"]["stored"] = c.stored;
  return json;
}

}  // namespace

std::string gate_json(const GateReport& r) {
  Json json = {{"kind", r.kind},
               {"baseline", r.baseline},
               {"candidate", r.candidate},
               {"host", r.host},
               {"seed", r.seed},
               {"seconds", r.seconds},
               {"timed", r.timed},
               {"out_of_time", r.out_of_time},
               {"exit", gate_exit(r)},
               {"outcome", outcome_text(r)},
               {"rules",
                {{"limit", r.rules.limit},
                 {"same", r.rules.same},
                 {"alpha", r.rules.alpha},
                 {"looks", r.rules.looks},
                {"drift", r.rules.drift},
                 {"pairs_per_block", pairs_per_block}}}};
  json["fail_on"] = Json::array();
  for (const GateVerdict v : r.fail_on.verdicts)
    json["fail_on"].push_back(word_of(std::span<const Word<GateVerdict>>(gate_verdict_words), v));
  if (r.fail_on.counts) json["fail_on"].push_back("counts");
  json["instructions_by"] = r.counted_by;
  json["allocations_by"] = r.allocations_by;
  json["cases"] = Json::array();
  for (const std::size_t i : worst_first(r)) json["cases"].push_back(case_json(r, i));
  json["left_out"] = Json::array();
  for (const GateLeftOut& left : r.left_out) json["left_out"].push_back({{"case", left.name}, {"why", left.why}});
  return ci_safe_json(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace odrpo
