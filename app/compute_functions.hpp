// The table of functions that `compute` offers.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "app/compute_arguments.hpp"

namespace odrpo::app {

/// One function: its name, the names of its arguments (all needed), how it answers with JSON text, and what else it takes.
struct ComputeFunction {
  std::string_view name;
  std::span<const std::string_view> arguments;
  std::string (*answer)(const Arguments&);
  std::span<const std::string_view> optional = {};
};

/// Every function, in the order of docs/compute.md.
std::span<const ComputeFunction> compute_functions();

}  // namespace odrpo::app
