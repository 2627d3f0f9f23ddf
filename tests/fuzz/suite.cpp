// Fuzz target: the text of a suite file, from its bytes on disk to its runs.
#include <cstdint>
#include <fstream>

#include "tests/fuzz/suite_folder.hpp"

using namespace odrpo;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::SuiteFolder folder;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (!fuzz::stays_in_folder(text)) return -1;
  std::ofstream(folder.suite(), std::ios::binary) << text;
  fuzz::check_suite(folder.suite(), [&] { return load_suite(folder.suite(), {fuzz::few_runs}, {}); });
  return 0;
}
