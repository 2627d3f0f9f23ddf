// The JSON Schema of suite files, for editors: completion, help and errors while one types.
#pragma once
#include <string>

namespace odrpo::app {

/// Draft-07, made of the catalogues and descriptions that the program itself reads suites with (suites/field_list.hpp).
std::string suite_schema();

}  // namespace odrpo::app
