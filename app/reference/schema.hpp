// The JSON Schema of suite files, for editors: completion, help and errors while one types.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "config/write/field_list.hpp"

namespace odrpo::app {

/// The default of a number as JSON; null where it is unset.
nlohmann::ordered_json number_default(const FieldInfo& field);

/// Draft-07, made of the catalogues and descriptions that the program itself reads suites with (config/write/field_list.hpp).
std::string suite_schema();

}  // namespace odrpo::app
