// The table of functions that `compute` offers.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "app/compute_arguments.hpp"

namespace odrpo::app {

/// One function: its name, the names of its arguments (all needed), and how it answers with JSON text.
struct ComputeFunction {
  std::string_view name;
  std::span<const std::string_view> arguments;
  std::string (*answer)(const Arguments&);
};

/// Every function, in the order of docs/compute.md.
std::span<const ComputeFunction> compute_functions();

}  // namespace odrpo::app
