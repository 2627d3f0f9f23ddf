// Fails with a message that quotes what users and files say: whatever it quotes stays in its line.
#pragma once
#include <fmt/format.h>

#include <string_view>
#include <type_traits>

#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"

namespace odrpo {

/// Text as a message quotes it, in one line and printable; other values as they are.
template <typename T>
decltype(auto) as_quoted(const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) return printable_line(value);
  else return (value);
}

/// Throws Failure(code) with a message in fmt's format; text among the values is made printable here. Text that is lines itself is for Failure.
template <typename... Values>
[[noreturn]] void fail(Exit code, fmt::format_string<Values...> message, Values&&... values) {
  throw Failure(code, fmt::vformat(message, fmt::make_format_args(as_quoted(values)...)));
}

}  // namespace odrpo
