// Under which conditions a program was measured.
#include "gate/conditions.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>

#include "gate/host_noise.hpp"
#include "gate/measure/child.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/host.hpp"

namespace odrpo {
namespace {

constexpr double most_waiting_when_quiet = 5, most_waiting_when_shared = 30;  // percent
constexpr const char *unknown = "unknown", *load_name = "load";

std::string or_unknown(std::string text) { return text.empty() ? unknown : text; }

/// "Debian GNU/Linux 12 (bookworm)".
std::string distribution() {
  std::ifstream file("/etc/os-release");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("PRETTY_NAME=")) {
      std::string name = line.substr(line.find('=') + 1);
      std::erase(name, '"');
      return name;
    }
  return unknown;
}

/// Of the first core; virtual machines have none.
std::string governor() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  std::string name;
  file >> name;
  return or_unknown(name);
}

}  // namespace

std::string load_class(double waiting) {
  return waiting < most_waiting_when_quiet ? "quiet" : waiting < most_waiting_when_shared ? "shared" : "busy";
}

std::vector<Condition> conditions_here(bool times, bool load) {
  const HostFacts host = host_facts();
  std::vector<Condition> out = {{"instruction set", or_unknown(host.isa), true}, {"operating system", distribution(), true}};
  if (!times) return out;
  utsname name{};
  const bool named = uname(&name) == 0;
  out.push_back({"host", named ? or_unknown(name.nodename) : unknown, false});
  out.push_back({"kernel", or_unknown(host.system), false});
  out.push_back({"cpu", or_unknown(host.cpu), false});
  out.push_back({"cores", fmt::format("{}", host.cores), false});
  out.push_back({"governor", governor(), false});
  if (load) out.push_back({load_name, load_class(measure_noise(std::nullopt).waiting), false});
  return out;
}

std::vector<Condition> conditions_of_build(const std::string& program, const ChildRules& rules, ChildKeeper& keeper) {
  const RunOutput said = run_output("odrpo-bench --version", {program, "--version", "--json"}, rules, keeper);
  const nlohmann::json facts = nlohmann::json::parse(said.output, nullptr, false);
  std::vector<Condition> out;
  if (!facts.is_object()) return out;
  for (const auto& [key, name] : {std::pair{"compiler", "compiler"}, {"flags", "flags"}, {"build_type", "build type"}})
    if (facts.contains(key) && facts[key].is_string()) out.push_back({name, facts[key].get<std::string>(), true});
  return out;
}

std::string differing_conditions(const std::vector<Condition>& one, const std::vector<Condition>& other,
                                 const std::array<const char*, 2>& names, bool times) {
  std::string out;
  const auto find = [](const std::vector<Condition>& in, const std::string& name) {
    return std::find_if(in.begin(), in.end(), [&](const Condition& x) { return x.name == name; });
  };
  const auto compare = [&](const std::string& name) {
    const auto a = find(one, name), b = find(other, name);
    const std::string left = a == one.end() ? "nothing" : a->value, right = b == other.end() ? "nothing" : b->value;
    if (left != right)
      out += fmt::format("\n  {}: {} {}, {} {}", printable_line(name), printable_line(left), names[0], printable_line(right), names[1]);
  };
  for (const Condition& c : one)
    if (times || c.counts) compare(c.name);
  for (const Condition& c : other)
    if ((times || c.counts) && c.name != load_name && find(one, c.name) == one.end()) compare(c.name);
  return out;
}

}  // namespace odrpo
