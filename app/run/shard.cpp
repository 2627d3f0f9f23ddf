// Parses --shard, and reads the environment variables that number the tasks or ranks of a job.
#include "app/run/shard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "kernels/shared/utf8.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/text.hpp"

namespace odrpo::app {
namespace {

using Variable = std::function<const char*(const char*)>;
constexpr std::size_t most_parts = PartOfSuite::most;

[[noreturn]] void refuse(const std::string& text, const std::string& why) { fail(Exit::usage, "--shard {}: {}", text, why); }

// The value of an environment variable that must be an integer; nothing if it is not set. `text` = --shard, for messages.
std::optional<long long> task_number(const char* name, const std::string& text, const Variable& variable) {
  const char* value = variable(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  constexpr long long most = 1'000'000'000'000;
  const auto number = number_from(value, -most, most);
  if (!number)
    refuse(text, fmt::format("{} is \"{}\", not a whole number that tasks have", name, printable_line(value)));
  return number;
}

// Names of environment variables by which MPI launchers tell a process its rank and the number of ranks.
struct LauncherVariables {
  const char *rank, *size;
};
constexpr LauncherVariables launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMIX_RANK", "SLURM_STEP_NUM_TASKS"}, {"PMI_RANK", "PMI_SIZE"}};

// The number of this task in a batch job or MPI job, and the environment variable that says so.
struct Told {
  long long index = 0;
  std::string by;
  std::optional<long long> tasks;  // number of tasks, where a variable says so
};
Told told_by_environment(const std::string& text, long long count, const Variable& variable) {
  if (const auto id = task_number("SLURM_ARRAY_TASK_ID", text, variable)) {
    if (const long long step = task_number("SLURM_ARRAY_TASK_STEP", text, variable).value_or(1); step != 1)
      refuse(text, fmt::format("the Slurm array has step {}, which leaves parts out; submit it with step 1", step));
    const auto least = task_number("SLURM_ARRAY_TASK_MIN", text, variable), most = task_number("SLURM_ARRAY_TASK_MAX", text, variable);
    Told told{*id - least.value_or(0), fmt::format("SLURM_ARRAY_TASK_ID={}", *id), std::nullopt};
    if (least) told.by += fmt::format(" less SLURM_ARRAY_TASK_MIN={}", *least);
    if (most) told.tasks = *most - least.value_or(0) + 1;
    if (least && told.tasks && *told.tasks < count)
      refuse(text, fmt::format("the Slurm array has {} task{} ({}-{}), which leaves parts out; submit 0-{} again, or write --shard I/{} for one part",
                               *told.tasks, *told.tasks == 1 ? "" : "s", *least, *most, count - 1, count));
    return told;
  }
  for (const char* name : {"JOB_COMPLETION_INDEX", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"})
    if (const auto index = task_number(name, text, variable)) {
      Told told{*index, fmt::format("{}={}", name, *index), std::nullopt};
      if (std::string_view(name) == "OMPI_COMM_WORLD_RANK") told.tasks = task_number("OMPI_COMM_WORLD_SIZE", text, variable);
      return told;
    }
  refuse(text, "no variable tells which part this is: SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX, PMIX_RANK or OMPI_COMM_WORLD_RANK");
}

}  // namespace

ChosenPart choose_part(const std::string& text, const Variable& variable) {
  const auto slash = text.find('/');
  const std::string_view all = text, first = all.substr(0, slash), second = slash == std::string::npos ? "" : all.substr(slash + 1);
  const auto count = number_from<long long>(second, 1, most_parts);
  if (!count)
    refuse(text, fmt::format("a part is I/N or auto/N, such as 0/8 and auto/8, with N in 1..{}", most_parts));
  ChosenPart chosen;
  chosen.part.count = static_cast<std::size_t>(*count);
  Told told;
  if (first == "auto") {
    told = told_by_environment(text, *count, variable);
    chosen.note = fmt::format("part {}/{} ({})", told.index, *count, told.by);
    if (told.tasks && *told.tasks != *count)
      chosen.note += fmt::format("; the job has {}, and the suite {}", counted(*told.tasks, "task"), counted(*count, "part"));
  } else {
    const auto index = number_from<long long>(first);
    if (!index) refuse(text, "a part is I/N or auto/N, such as 0/8 and auto/8");
    told.index = *index;
  }
  if (told.index < 0 || told.index >= *count)
    refuse(text, fmt::format("part {}{} is not in 0..{}", told.index, told.by.empty() ? "" : " (" + told.by + ")", *count - 1));
  chosen.part.index = static_cast<std::size_t>(told.index);
  return chosen;
}

ChosenPart choose_part(const std::string& text) {
  return choose_part(text, [](const char* name) -> const char* { return std::getenv(name); });
}

int launched_ranks(const Variable& variable) {
  for (const auto& [rank, size] : launchers) {
    if (variable(rank) == nullptr) continue;
    const char* count = variable(size);
    return std::max(1, static_cast<int>(number_from<long long>(count != nullptr ? count : "").value_or(1)));
  }
  return 1;
}

int launched_ranks() {
  return launched_ranks([](const char* name) -> const char* { return std::getenv(name); });
}

bool is_first_rank() {
  for (const LauncherVariables& launcher : launchers)
    if (const char* rank = std::getenv(launcher.rank); rank != nullptr && launched_ranks() > 1)
      return number_from<long long>(rank).value_or(0) == 0;
  return true;
}

}  // namespace odrpo::app
