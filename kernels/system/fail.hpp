// Throws failures whose messages quote users and files, with control characters and line ends in quoted text escaped.
#pragma once
#include <fmt/format.h>

#include <string_view>
#include <type_traits>

#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"

namespace odrpo {

/// Returns text in one line with control characters escaped (printable_line()), and values of other types unchanged.
template <typename T>
decltype(auto) as_quoted(const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) return printable_line(value);
  else return (value);
}

/// Throws Failure(code) with a message in fmt's format; applies as_quoted() to the values. For messages of several lines throw a Failure.
template <typename... Values>
[[noreturn]] void fail(Exit code, fmt::format_string<Values...> message, Values&&... values) {
  throw Failure(code, fmt::vformat(message, fmt::make_format_args(as_quoted(values)...)));
}

}  // namespace odrpo
