// Writes the sample result file (argument 1), for the Python checks of the layout.
#include <iostream>

#include "tests/results/sample.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto runs = odrpo::sample::runs();
  runs[4].status = odrpo::RunStatus::failed;
  runs[4].error = "made to fail";
  std::cout << odrpo::sample::write_file(argv[1], runs) << "\n";
}
