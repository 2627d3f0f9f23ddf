// Globs over run ids, as --only takes them.
#pragma once
#include <string_view>

namespace odrpo {

/// Does the glob match the whole text? '*' any characters, '/' too; '?' one; [abc], [a-z], [!a] one of a set.
bool glob_match(std::string_view glob, std::string_view text);

/// Has the glob a '[' without its ']'? It then stands for itself.
bool has_open_bracket(std::string_view glob);

}  // namespace odrpo
