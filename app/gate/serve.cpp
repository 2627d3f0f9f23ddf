// Answers a gate's requests as its worker: reads JSON lines, times the named cases, and writes CPU times.
#include "app/gate/serve.hpp"

#include <fmt/format.h>

#include <cmath>
#include <exception>
#include <istream>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "kernels/shared/clock.hpp"
#include "kernels/subnormals.hpp"

namespace odrpo::app {
namespace {

nlohmann::json error(const std::string& text) { return {{"error", text}}; }

class Server {
 public:
  explicit Server(std::span<const WorkCase> cases) : cases_(cases) {}

  nlohmann::json answer(const std::string& line) {
    const nlohmann::json request = nlohmann::json::parse(line, nullptr, false);
    if (!request.is_object()) return error("a request is a JSON object on one line");
    if (request.value("list", nlohmann::json()) == true) {
      nlohmann::json names = nlohmann::json::array();
      for (const WorkCase& c : cases_) names.push_back(c.name);
      return {{"cases", names}};
    }
    if (!request.contains("case") || !request["case"].is_string() || !request.contains("repeat") || !request["repeat"].is_number_integer())
      return error(R"(a request is {"list": true} or {"case": "name", "repeat": n})");
    const long long n = request["repeat"].get<long long>();
    if (n < 1 || n > 1'000'000'000) return error("repeat is not in 1..1000000000");
    const std::string name = request["case"].get<std::string>();
    for (const WorkCase& c : cases_)
      if (c.name == name) return measure(c, n);
    return error(fmt::format("there is no case \"{}\"", name));
  }

 private:
  nlohmann::json measure(const WorkCase& c, long long n) {
    auto found = made_.find(c.name);
    if (found == made_.end()) found = made_.emplace(c.name, c.make()).first;
    const TimedWork& work = found->second;
    work.reset();
    const double begin = thread_cpu_ns();
    work.run(n);
    const double ns = std::round(thread_cpu_ns() - begin);  // whole ns, so that the length of answers, and their allocations, hardly vary
    const std::string sum = work.checksum();
    return {{"ns", ns}, {"checksum", sum.empty() ? nlohmann::json() : nlohmann::json(sum)}};
  }

  std::span<const WorkCase> cases_;
  std::map<std::string, TimedWork> made_;
};

}  // namespace

std::string byte_checksum(const void* bytes, std::size_t count) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < count; ++i) hash = (hash ^ static_cast<const unsigned char*>(bytes)[i]) * 0x100000001b3u;
  return fmt::format("{:016x}", hash);
}

void serve(std::span<const WorkCase> cases, std::istream& in, std::ostream& out) {
  const FlushSubnormals flush;  // treats subnormal numbers as 0, as training does
  Server server(cases);
  for (std::string line; std::getline(in, line);) {
    nlohmann::json answer;
    try {
      answer = server.answer(line);
    } catch (const std::exception& failure) {
      answer = error(failure.what());
    }
    out << answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
  }
}

}  // namespace odrpo::app
