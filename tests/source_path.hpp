// Says where a file of the source tree is, for tests that read suites, pages or golden figures.
#pragma once
#include <string>

/// The absolute path of PATH, which is relative to the root of the sources. The root is compiled into source_path.cpp alone, so that the objects of
/// all other tests are the same in every clone and a compiler cache finds them.
std::string source_path(const std::string& path);
