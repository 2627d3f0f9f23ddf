// Prepares the command lines that a gate starts: splits them into words, finds them in PATH, and pads them to equal length.

#include <fmt/format.h>

#include <algorithm>

#include "gate/measure/child.hpp"

namespace odrpo {
namespace {

constexpr const char* pad_name = "ODRPO_GATE_PAD";

/// Bytes of strings on the stack, their ends included; the kernel puts the file's name there too.
std::size_t stack_bytes(const Command& c) {
  std::size_t bytes = c.file.size() + 1;
  for (const auto& word : c.arguments) bytes += word.size() + 1;
  for (const auto& word : c.environment) bytes += word.size() + 1;
  return bytes;
}
std::size_t stack_pointers(const Command& c) { return c.arguments.size() + c.environment.size(); }

}  // namespace

Command gate_command(std::string_view flag, std::vector<std::string> words) {
  Command c = find_command(flag, std::move(words));
  std::erase_if(c.environment, [](const std::string& variable) { return variable.starts_with(pad_name); });
  return c;
}

void make_equally_long(std::span<Command*> commands) {
  std::size_t pointers = 0, bytes = 0;
  for (const Command* c : commands) pointers = std::max(pointers, stack_pointers(*c));
  for (Command* c : commands) {
    // every command gets a variable, also without missing pointers: the last one takes the bytes
    for (int i = 0; stack_pointers(*c) < pointers + 1; ++i) c->environment.push_back(fmt::format("{}{}=", pad_name, i));
    bytes = std::max(bytes, stack_bytes(*c));
  }
  for (Command* c : commands) c->environment.back().append(bytes - stack_bytes(*c), 'x');
}

}  // namespace odrpo
