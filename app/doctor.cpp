// Runs `odrpo-bench doctor` (reports the machine, how steady timings on it are, and what is missing) and starts `odrpo-bench bench`.
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "app/command.hpp"
#include "gate/conditions.hpp"
#include "kernels/device/devices.hpp"
#include "kernels/isa.hpp"
#include "kernels/shared/json.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/host.hpp"
#include "kernels/system/process.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"

namespace odrpo::app {
namespace {

namespace fs = std::filesystem;
/// The first line of a small system file, such as one in /proc; empty when there is no such file.
std::string first_line(const char* path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

/// Number of cores that the Linux control group allows; nothing without a limit. Version 2 has quota and period in one file, version 1 in
/// two.
std::optional<double> granted_cores() {
  double quota = 0, period = 0;
  std::istringstream two(first_line("/sys/fs/cgroup/cpu.max"));
  if (two >> quota >> period && quota > 0 && period > 0) return quota / period;
  std::istringstream q(first_line("/sys/fs/cgroup/cpu/cpu.cfs_quota_us")), p(first_line("/sys/fs/cgroup/cpu/cpu.cfs_period_us"));
  if (q >> quota && p >> period && quota > 0 && period > 0) return quota / period;
  return std::nullopt;
}

/// Bytes that the line of this key in /proc/meminfo states, for example "MemAvailable:  123 kB"; 0 without the line.
double meminfo(std::string_view key) {
  std::ifstream in("/proc/meminfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(key)) return std::strtod(line.c_str() + key.size() + 1, nullptr) * 1024;
  return 0;
}

std::optional<double> granted_memory() {
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    double bytes = 0;
    std::istringstream in(first_line(path));
    if (in >> bytes && bytes > 0 && bytes < 1e15) return bytes;
  }
  return std::nullopt;
}

/// Why no file can be made in the current folder; empty when one can. Tries it, since access rights say nothing about read-only mounts and
/// quotas.
std::string why_not_writable() {
  std::string name = "odrpo-bench-doctor-XXXXXX";
  const int file = mkstemp(name.data());
  if (file < 0) return std::strerror(errno);
  close(file);
  unlink(name.c_str());
  return "";
}

/// Facts about the CUDA devices, or why there is none, and the versions of driver and CUDA.
Json cuda_facts() {
  const Devices found = find_devices(true);
  Json out;
  out["devices"] = Json::array();
  for (const DeviceFacts& d : found.all) {
    Json device = {{"name", d.name},
                   {"compute_capability", fmt::format("{}.{}", d.major, d.minor)},
                   {"multiprocessors", d.multiprocessors},
                   {"memory_bytes", d.memory_bytes},
                   {"free_bytes", d.free_bytes},
                   {"cache_bytes", d.cache_bytes}};
    if (!d.trouble.empty()) device["trouble"] = d.trouble;
    out["devices"].push_back(std::move(device));
  }
  if (found.all.empty()) out["why_none"] = found.why_none;
  const auto version = [](int v) { return v > 0 ? Json(cuda_version_text(v)) : Json(); };
  out["driver_supports"] = version(found.driver);
  out["built_with"] = version(found.runtime);
  if (const std::string driver = first_line("/proc/driver/nvidia/version"); !driver.empty()) out["driver"] = shown(driver, 200);
  return out;
}

/// The locale that the environment asks for. The program itself stays in the C locale.
std::string locale_words() {
  for (const char* name : {"LC_ALL", "LC_NUMERIC", "LANG"})
    if (const char* value = std::getenv(name); value && *value) return fmt::format("{}={}", name, value);
  return "none";
}

Json timing_facts(const HostNoise& n) {
  const auto per_core = n.load_per_core();
  return {{"verdict", n.verdict()},
          {"decided_by", n.decided_by()},
          {"reason", n.reason()},
          {"advice", n.advice()},
          {"spread_percent", n.wall_spread},
          {"cpu_spread_percent", n.cpu_spread},
          {"worst_pair_percent", n.worst_pair},
          {"waiting_percent", n.waiting},
          {"load_per_core", per_core ? Json(*per_core) : Json()},
          {"measurements", n.units},
          {"work_ms", n.wall_ms},
          {"work_cpu_ms", n.cpu_ms}};
}

Json diagnosis() {
  const BuildFacts b = build_facts();
  const HostFacts h = host_facts();
  std::array<double, 3> load{};
  const bool has_load = getloadavg(load.data(), 3) == 3;  // before measure_noise(), which would add to the load
  const auto granted = granted_cores();
  const double cores = std::min<double>(h.cores, granted.value_or(h.cores));
  const HostNoise noise = measure_noise(has_load ? std::optional(HostLoad{load[0], cores}) : std::nullopt);
  Json out;
  out["timing"] = timing_facts(noise);
  out["cpu"] = {{"model", h.cpu}, {"cores_usable", h.cores}, {"cores_online", sysconf(_SC_NPROCESSORS_ONLN)}};
  if (granted) out["cpu"]["cores_granted"] = *granted;
  out["cpu"]["load"] = has_load ? Json(load) : Json();
  out["cpu"]["isa"] = h.isa;
  for (const Isa isa : {Isa::portable, Isa::avx2, Isa::avx512})
    if (has_isa(isa)) out["cpu"]["isa_available"].push_back(isa_name(isa));
  out["memory"] = {{"total_bytes", meminfo("MemTotal:")}, {"available_bytes", meminfo("MemAvailable:")}};
  if (const auto granted = granted_memory()) out["memory"]["granted_bytes"] = *granted;
  std::error_code error;
  const auto space = fs::space(".", error);
  out["folder"] = {{"path", shown(fs::current_path(error).string(), 4096)}, {"free_bytes", error ? Json() : Json(space.available)}};
  const std::string why = why_not_writable();
  out["folder"]["writable"] = why.empty();
  if (!why.empty()) out["folder"]["why_not"] = why;
  out["cuda"] = cuda_facts();
  out["versions"] = {
      {"odrpo-bench", b.version},
      {"revision", b.revision},
      {"compiler", b.compiler},
      {"build_type", b.build_type},
      {"hdf5", b.hdf5},
      {"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
      {"json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH)},
      {"libc", gnu_get_libc_version()},
      {"system", h.system}};
  out["locale"] = locale_words();
  return out;
}

/// Prints a line of the page, broken for the terminal: its name, then the text from column 11 on.
void line(std::string_view name, const std::string& text) {
  std::string lines = paragraph(text, 11);
  put(lines.replace(0, name.size(), name));
}

void print_cuda(const Json& c) {
  const auto text = [](const Json& value) { return value.get<std::string>(); };
  if (c["devices"].empty()) line("cuda", "no CUDA device: " + text(c["why_none"]));
  std::string_view name = "cuda";
  for (const auto& d : c["devices"]) {
    line(std::exchange(name, ""), fmt::format("{}, compute capability {}, {} multiprocessors, {} free of {}", text(d["name"]),
                                              text(d["compute_capability"]), d["multiprocessors"].get<int>(),
                                              bytes_text(d["free_bytes"].get<double>()), bytes_text(d["memory_bytes"].get<double>())));
    if (d.contains("trouble")) line("", "cannot be used: " + text(d["trouble"]));
  }
  if (c["built_with"].is_null()) return;
  line("", fmt::format("built with CUDA {}, {}", text(c["built_with"]),
                       c["driver_supports"].is_null() ? "no driver" : "the driver knows CUDA " + text(c["driver_supports"])));
  if (c.contains("driver")) line("", text(c["driver"]));
}

void print_text(const Json& d) {
  const auto text = [](const Json& value) { return value.get<std::string>(); };
  const Json &t = d["timing"], &c = d["cpu"], &m = d["memory"], &f = d["folder"];
  const auto number = [&](const char* key) { return t[key].get<double>(); };
  const std::string reason = text(t["reason"]);
  line("timing", fmt::format("{}: {}", text(t["verdict"]), reason.empty() ? text(t["advice"]) : reason));
  if (!reason.empty()) line("", text(t["advice"]));
  line("", fmt::format("spread {:.2f} % (CPU time {:.2f} %), worst neighbours {:.2f} % apart", number("spread_percent"),
                       number("cpu_spread_percent"), number("worst_pair_percent")));
  std::string others = fmt::format("waited for a core {:.2f} % of the time", number("waiting_percent"));
  if (!t["load_per_core"].is_null()) others += fmt::format("; load {:.2f} per core", number("load_per_core"));
  line("", others);
  line("", fmt::format("n = {} times the same work of {:.2f} ms, CPU time {:.2f} ms", t["measurements"].get<int>(), number("work_ms"),
                       number("work_cpu_ms")));
  line("cpu", text(c["model"]));
  std::string cores = fmt::format("{} of {} cores usable", c["cores_usable"].get<int>(), c["cores_online"].get<long>());
  if (c.contains("cores_granted")) cores += fmt::format(", {:.3g} granted by the control group", c["cores_granted"].get<double>());
  line("", cores);
  if (!c["load"].is_null()) {
    const auto load = c["load"].get<std::array<double, 3>>();
    line("", fmt::format("load {:.2f}, {:.2f}, {:.2f} (1, 5, 15 minutes)", load[0], load[1], load[2]));
  }
  line("", fmt::format("instruction set {} (available: {})", text(c["isa"]), joined(c["isa_available"], text)));
  std::string memory =
      fmt::format("{} free of {}", bytes_text(m["available_bytes"].get<double>()), bytes_text(m["total_bytes"].get<double>()));
  if (m.contains("granted_bytes")) memory += fmt::format(", {} granted by the control group", bytes_text(m["granted_bytes"].get<double>()));
  line("memory", memory);
  const std::string free = f["free_bytes"].is_null() ? "unknown" : bytes_text(f["free_bytes"].get<double>());
  line("folder", text(f["path"]));
  line("", fmt::format("{} free, {}", free,
                       f["writable"].get<bool>() ? "writable" : "NOT writable: " + text(f["why_not"]) + " (run needs -o elsewhere)"));
  print_cuda(d["cuda"]);
  line("locale", text(d["locale"]) + "; numbers have a point whatever it says");
  const Json& v = d["versions"];
  line("versions", fmt::format("odrpo-bench {} (revision {})", text(v["odrpo-bench"]), text(v["revision"])));
  line("", fmt::format("{} ({}), libc {}, HDF5 {}", text(v["compiler"]), text(v["build_type"]), text(v["libc"]), text(v["hdf5"])));
  line("", fmt::format("fmt {}, JSON {}; {}", text(v["fmt"]), text(v["json"]), text(v["system"])));
}

}  // namespace

int doctor(bool as_json) {
  const Json d = diagnosis();
  if (as_json) std::cout << d.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  else print_text(d);
  return 0;
}

// Runs `odrpo-bench bench`: replaces this process by the microbenchmark program in the same folder, with the arguments as given.

int bench(const std::vector<std::string>& arguments) {
  std::error_code error;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  const auto program = (here / "odrpo-bench-perf").string();
  if (access(program.c_str(), X_OK) != 0)
    throw Failure(
        Exit::io,
        program + " is not there: configure with -DODRPO_BENCH=ON (needs libbenchmark-dev) and build again, or use ./bootstrap.sh bench");
  Command command{program, arguments, own_environment()};
  command.arguments.insert(command.arguments.begin(), program);
  throw Failure(Exit::io, "cannot start " + program + ": " + std::strerror(exec_program(command)));
}

}  // namespace odrpo::app
