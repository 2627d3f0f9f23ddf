// Json: what this program writes for other programs, keys in the order in which they are set.
#pragma once
#include <nlohmann/json.hpp>

namespace odrpo {

/// Numbers that are not finite are written as null.
using Json = nlohmann::ordered_json;

}  // namespace odrpo
