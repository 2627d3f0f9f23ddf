// `odrpo-bench bench`: starts the microbenchmark program, which stands beside this one, with the arguments as they are.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "app/command.hpp"

namespace odrpo::app {

int bench(const std::vector<std::string>& arguments) {
  std::error_code error;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  const auto program = (here / "odrpo-bench-perf").string();
  if (access(program.c_str(), X_OK) != 0)
    throw Failure(
        Exit::io,
        program + " is not there: configure with -DODRPO_BENCH=ON (needs libbenchmark-dev) and build again, or use ./bootstrap.sh bench");
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  throw Failure(Exit::io, "cannot start " + program + ": " + std::strerror(errno));
}

}  // namespace odrpo::app
