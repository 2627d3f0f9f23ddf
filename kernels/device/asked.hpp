// The source line that asked for something of a device, for messages.
#pragma once

namespace odrpo {

/// The source line that asked. Not std::source_location, which clang 14 cannot use.
struct Asked {
  const char* file;
  unsigned line;
  static constexpr Asked current(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) { return {file, line}; }
};

}  // namespace odrpo
