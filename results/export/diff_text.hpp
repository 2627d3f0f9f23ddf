// What differs between two result files, as parts of a page.
#pragma once
#include <string>
#include <vector>

#include "results/export/file_diff.hpp"

namespace odrpo {

/// "key", then what A and B have, each in lines of its own; empty without settings.
std::string settings_page(const char* title, const std::vector<SettingDiff>& list);
/// Runs that only one file has: the first ids, and how many more; empty without runs.
std::string ids_page(const char* which, const std::vector<std::string>& ids, std::size_t count);
/// The columns of numbers that differ, B - A; empty where the files have no run in common.
std::string values_page(const FileDiff& diff);

}  // namespace odrpo
