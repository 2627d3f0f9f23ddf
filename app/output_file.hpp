// Where -o writes text: a whole file, or none.
#pragma once
#include <string>
#include <string_view>

namespace odrpo::app {

/// Refuses, before any work is done, an output that is `input` itself, no regular file, or in a folder that is not there. Failure io.
void check_output(const std::string& path, const std::string& input);

/// Writes the text beside the file under another name, then puts it in its place; follows a link. Failure io; an old file stays then.
void write_output(const std::string& path, std::string_view text);

}  // namespace odrpo::app
