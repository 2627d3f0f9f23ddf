// A command that a gate starts for what it prints.
#include "gate/measure/run_output.hpp"

namespace odrpo {

RunOutput run_output(const std::string& flag, const std::vector<std::string>& words, const ChildRules& rules, ChildKeeper& keeper) {
  constexpr std::size_t most_output = std::size_t{1} << 16;
  const ChildCommand command = find_command(flag, words);
  RunOutput out;
  {
    Child child(words[0], command, rules, {.reads_requests = false});
    const ChildEnd end = child.finish(
        [&](std::string_view bytes) {
          out.output += bytes;
          if (out.output.size() > 2 * most_output) out.output.erase(0, out.output.size() - most_output);
        },
        words[0]);
    out.good = end.good();
    out.said = end.text() + child.last_words();
  }
  keeper.no_orphans(words[0]);
  return out;
}

}  // namespace odrpo
