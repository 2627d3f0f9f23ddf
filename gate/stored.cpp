// Writes a stored baseline as JSON, and reads it back.
#include "gate/stored.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <set>

#include "gate/flags.hpp"
#include "kernels/shared/json.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "results/export/json_text.hpp"
#include "results/store/digest.hpp"

namespace odrpo {
namespace {

constexpr const char* format_name = "odrpo-bench gate baseline";
constexpr int format_version = 2;  // 2: with sha256
constexpr std::size_t most_stored_bytes = std::size_t{64} << 20, most_stored_cases = 10'000, most_sessions = 1000;
constexpr int most_nested = 16;

[[noreturn]] void refuse_file(const std::string& path, const std::string& what) { fail(Exit::bad_input, "{}: {}", path, what); }

std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(Exit::io, "cannot read '{}'", path);
  std::string text;
  char part[65536];
  while (file.read(part, sizeof part), file.gcount() > 0) {
    text.append(part, static_cast<std::size_t>(file.gcount()));
    if (text.size() > most_stored_bytes) refuse_file(path, "the file is longer than 64 MiB");
  }
  if (file.bad()) fail(Exit::io, "cannot read '{}'", path);
  return text;
}

/// A value of the file with its place in it: "cases[3].repeat".
class Value {
 public:
  Value(const Json& json, std::string at, const std::string& path) : json_(json), at_(std::move(at)), path_(path) {}

  [[noreturn]] void wrong(const std::string& what) const { refuse_file(path_, fmt::format("`{}` {}", at_, what)); }
  Value member(const char* key) const {
    if (!json_.is_object()) wrong("is no object");
    if (!json_.contains(key)) refuse_file(path_, fmt::format("`{}{}{}` is missing", at_, at_.empty() ? "" : ".", key));
    return {json_[key], at_.empty() ? key : at_ + "." + key, path_};
  }
  std::vector<Value> items(std::size_t most) const {
    if (!json_.is_array()) wrong("is no list");
    if (json_.size() > most) wrong(fmt::format("has more than {} entries", most));
    std::vector<Value> out;
    for (std::size_t i = 0; i < json_.size(); ++i) out.push_back({json_[i], fmt::format("{}[{}]", at_, i), path_});
    return out;
  }
  std::string text() const {
    if (!json_.is_string()) wrong("is no text");
    return json_.get<std::string>();
  }
  bool truth() const {
    if (!json_.is_boolean()) wrong("is neither true nor false");
    return json_.get<bool>();
  }
  double number() const {
    if (!json_.is_number() || !std::isfinite(json_.get<double>())) wrong("is no number");
    return json_.get<double>();
  }
  long long whole(long long least, long long most) const {
    if (!json_.is_number_integer() || !(number() >= static_cast<double>(least) && number() <= static_cast<double>(most)))
      wrong(fmt::format("is no whole number from {} to {}", least, most));
    return json_.get<long long>();
  }

 private:
  const Json& json_;
  std::string at_;
  const std::string& path_;
};

GateCount read_count(const Value& v) {
  GateCount count;
  count.what = v.member("what").text();
  count.by = v.member("by").text();
  count.baseline = count.candidate = v.member("count").number();
  count.exact = v.member("exact").truth();
  return count;
}

/// Units are 0 for a benchmark whose library takes only a time.
StoredCase read_case(const Value& v, std::size_t sessions, long long least_units) {
  StoredCase c;
  c.name = v.member("case").text();
  if (c.name.empty()) v.member("case").wrong("is empty");
  c.repeat = v.member("repeat").whole(least_units, 1'000'000'000'000);
  c.checksum = v.member("checksum").text();
  c.varies = v.member("varies").truth();
  const Value times = v.member("ns");
  for (const Value& session : times.items(most_sessions)) {
    c.sessions.emplace_back();
    for (const Value& ns : session.items(10'000)) {
      if (!is_time(ns.number())) ns.wrong("is no time between 0.001 and 1e18 ns");
      c.sessions.back().push_back(ns.number());
    }
    if (c.sessions.back().size() < 2) session.wrong("has fewer than two blocks");
  }
  if (c.sessions.size() != sessions) times.wrong(fmt::format("has {} sessions where the file has {}", c.sessions.size(), sessions));
  return c;
}

/// Parses the text. Refuses a key that is twice in an object, and nesting deeper than that of a stored baseline.
Json parse(const std::string& text, const std::string& path) {
  const auto keys = unique_keys<Json>([&](const std::string& key) { refuse_file(path, fmt::format("`{}` is there twice in one object", key)); });
  const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > most_nested) refuse_file(path, "lists or objects are nested too deeply");
    return keys(depth, event, value);
  };
  try {
    return Json::parse(text, watch);
  } catch (const Json::parse_error& error) {
    const std::string what = error.what();
    const auto [line, column] = place_of(text, error.byte);
    fail(Exit::bad_input, "{}:{}:{}: {}", path, line, column,
         what.substr(what.find("syntax error") == std::string::npos ? 0 : what.find("syntax error")));
  } catch (const Json::exception& error) {  // a number that no double holds
    refuse_file(path, error.what());
  }
}

/// SHA-256 of all members but `sha256`, as this program writes them without spaces.
std::string checksum_of(Json json) {
  json.erase("sha256");
  return sha256_hex(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

std::string stored_json(const StoredBaseline& stored) {
  Json json = {{"format", format_name},
               {"version", format_version},
               {"kind", stored.kind},
               {"command", stored.command},
               {"clock", stored.clock},
               {"sessions", stored.sessions},
               {"counted_by", stored.counted_by},
               {"allocations_by", stored.allocations_by}};
  json["conditions"] = Json::array();
  for (const Condition& c : stored.conditions) json["conditions"].push_back({{"name", c.name}, {"value", c.value}, {"counts", c.counts}});
  json["cases"] = Json::array();
  for (std::size_t i = 0; i < stored.cases.size(); ++i) {
    const StoredCase& c = stored.cases[i];
    Json counts = Json::array();
    for (const GateCount& count : stored.counts[i])
      counts.push_back({{"what", count.what}, {"by", count.by}, {"count", count.baseline}, {"exact", count.exact}});
    json["cases"].push_back({{"case", c.name},
                             {"repeat", c.repeat},
                             {"checksum", c.checksum},
                             {"varies", c.varies},
                             {"counts", std::move(counts)},
                             {"ns", c.sessions}});
  }
  json["sha256"] = checksum_of(json);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

StoredBaseline read_stored(const std::string& path) { return parse_stored(text_of_file(path), path); }

StoredBaseline parse_stored(const std::string& text, const std::string& path) {
  const Json json = parse(text, path);
  const Value root(json, "", path);
  if (!json.is_object() || !json.contains("format") || json["format"] != format_name)
    refuse_file(path, "is no stored baseline: gate --save writes one");
  if (root.member("version").whole(1, 1'000'000) != format_version)
    refuse_file(path, fmt::format("has version {} of its format; this program reads {}: save it anew", json["version"].get<long long>(), format_version));
  StoredBaseline out;
  out.kind = root.member("kind").text();
  if (!find_word(std::span<const Word<ComparedKind>>(compared_kind_words), out.kind)) root.member("kind").wrong("is no kind of gate");
  out.command = root.member("command").text();
  out.clock = root.member("clock").text();
  out.counted_by = root.member("counted_by").text();
  out.allocations_by = root.member("allocations_by").text();
  for (const Value& session : root.member("sessions").items(most_sessions)) out.sessions.push_back(session.text());
  std::set<std::string> conditions;
  for (const Value& c : root.member("conditions").items(100)) {
    out.conditions.push_back({c.member("name").text(), c.member("value").text(), c.member("counts").truth()});
    if (!conditions.insert(out.conditions.back().name).second) c.member("name").wrong("is the name of two conditions");
  }
  std::set<std::string> names;
  for (const Value& c : root.member("cases").items(most_stored_cases)) {
    out.cases.push_back(read_case(c, out.sessions.size(), out.kind == "benchmark" ? 0 : 1));
    if (!names.insert(out.cases.back().name).second) c.member("case").wrong("is the name of two cases");
    out.counts.emplace_back();
    for (const Value& count : c.member("counts").items(100)) out.counts.back().push_back(read_count(count));
  }
  if (out.cases.empty()) root.member("cases").wrong("is empty");
  if (root.member("sha256").text() != checksum_of(json))
    refuse_file(path, "was changed after it was saved: its sha256 is another; save it anew, times and counts are not written by hand");
  return out;
}

}  // namespace odrpo
