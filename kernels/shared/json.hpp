// Defines the JSON type that this program writes for other programs: it keeps keys in the order in which they are set.
#pragma once
#include <nlohmann/json.hpp>

namespace odrpo {

/// JSON with keys in insertion order; numbers that are not finite become null.
using Json = nlohmann::ordered_json;

}  // namespace odrpo
