// The table of functions that `compute` offers.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "app/compute/texts.hpp"

namespace odrpo::app {

/// One function: its name, its words (app/compute/texts.hpp), and how it answers with JSON text.
struct ComputeFunction {
  std::string_view name;
  FunctionText text;
  std::string (*answer)(const Arguments&);
};

/// Every function, in the order of docs/reference/functions.md.
std::span<const ComputeFunction> compute_functions();

}  // namespace odrpo::app
