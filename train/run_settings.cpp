// Reports what a call that ended early leaves on disk, and how to go on.
#include "train/run_settings.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "kernels/shared/utf8.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {

std::string saved_text(const RunReport& report, const RunSettings& settings) {
  const auto holds_something = [](const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored) && !std::filesystem::is_empty(path, ignored);
  };
  std::string where, how = "the same command continues";
  for (const std::string& path : {settings.output, settings.output + ".work"}) {
    if (settings.force && path == settings.output) continue;  // --force replaces what it holds
    if (holds_something(path)) where += (where.empty() ? " in " : " and ") + printable_text(path);
  }
  const bool runs = report.saved + report.half_way > 0;
  if (where.empty() || (!runs && report.starts == 0))
    return fmt::format("none of {} is saved; the same command begins again", runs_text(report.total));
  if (settings.force)  // --force would begin again
    how = "the same command without --force continues" +
          (holds_something(settings.output) ? ", once " + printable_text(settings.output) + " is moved away" : "");
  const std::string half_way = report.half_way > 0 ? fmt::format(", {} more half-way", report.half_way)
                               : !runs ? ", and supervised steps of " + counted(report.starts, "world")
                                       : "";
  return fmt::format("{} of {} {} saved{}{}; {}", report.saved, runs_text(report.total), report.total == 1 ? "is" : "are", where, half_way, how);
}

Failure with_saved_runs(const Failure& why, const RunReport& report, const RunSettings& settings) {
  return {why.code, fmt::format("{}; {}{}", why.what(), saved_text(report, settings), why.code == Exit::device ? ", with --device cpu too" : "")};
}

}  // namespace odrpo
