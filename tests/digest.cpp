// Trains a suite and prints the digest of its results: odrpo-digest SUITE.toml OUT.h5 JOBS [KEY=VALUE]…. Small, so that CI can build it with every compiler.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "config/read/parse.hpp"
#include "train/schedule/run_suite.hpp"

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: odrpo-digest SUITE.toml OUT.h5 JOBS [KEY=VALUE]...\n", stderr);
    return 2;
  }
  try {
    const odrpo::Suite suite = odrpo::load_suite(argv[1], std::vector<std::string>(argv + 4, argv + argc), {});
    odrpo::RunSettings settings;
    settings.output = argv[2];
    settings.jobs = std::atoi(argv[3]);
    settings.force = true;
    const odrpo::RunReport report = odrpo::run_suite(suite, odrpo::suite_facts(suite, "digest"), settings);
    std::printf("%s\n", report.digest.c_str());
    return report.failed == 0 ? 0 : 7;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
