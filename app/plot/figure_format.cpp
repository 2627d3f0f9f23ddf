// Which format of figure a file's ending asks for.
#include "app/plot/figure_format.hpp"

#include <fmt/format.h>

#include "app/printable.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo::app {

FigureFormat figure_format(std::string_view flag, const std::string& path) {
  for (const auto& format : figure_formats)
    if (path.ends_with("." + std::string(format.word))) return format.value;
  throw Failure(Exit::usage, fmt::format("{}: \"{}\" does not end in .svg, .pdf or .png", printable_line(flag), printable_line(path)));
}

}  // namespace odrpo::app
