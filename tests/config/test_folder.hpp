// A folder for the files of one test.
#pragma once
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "tests/catch.hpp"

namespace odrpo {

/// Goes, with what is in it, when the test ends.
struct TestFolder {
  std::filesystem::path path;
  TestFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "odrpo-suites-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
    return (path / name).string();
  }
};

}  // namespace odrpo
