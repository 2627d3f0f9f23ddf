// The command lines that a gate starts: split into words, found in PATH, and padded to equal length.
#include "gate/measure/child.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wordexp.h>

#include <algorithm>
#include <cstdlib>

#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"

namespace odrpo {
namespace {

constexpr const char* pad_name = "ODRPO_GATE_PAD";

bool is_program(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

/// Of `name` in the folders of PATH; empty where none has it.
std::string find_in_path(const std::string& name) {
  const char* path = getenv("PATH");
  std::string_view folders = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (true) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    const std::string folder(folders.substr(0, end));
    const std::string file = (folder.empty() ? "." : folder) + "/" + name;
    if (is_program(file)) return file;
    if (end == folders.size()) return "";
    folders.remove_prefix(end + 1);
  }
}

/// Bytes of strings on the stack, their ends included; the kernel puts the file's name there too.
std::size_t stack_bytes(const ChildCommand& c) {
  std::size_t bytes = c.file.size() + 1;
  for (const auto& word : c.arguments) bytes += word.size() + 1;
  for (const auto& word : c.environment) bytes += word.size() + 1;
  return bytes;
}
std::size_t stack_pointers(const ChildCommand& c) { return c.arguments.size() + c.environment.size(); }

}  // namespace

std::vector<std::string> command_words(std::string_view flag, const std::string& text) {
  wordexp_t words{};
  const int error = wordexp(text.c_str(), &words, WRDE_NOCMD | WRDE_UNDEF);
  if (error != 0) {
    if (error == WRDE_NOSPACE) wordfree(&words);
    const char* why = error == WRDE_BADCHAR
                          ? "holds one of | & ; < > ( ) { } or a line end outside quotes; no shell runs it: sh -c '…' does"
                      : error == WRDE_BADVAL  ? "names a variable that is not set"
                      : error == WRDE_CMDSUB  ? "holds a command inside; no shell runs it: sh -c '…' does"
                      : error == WRDE_NOSPACE ? "is too long"
                                              : "has a quote or a bracket without its end";
    throw Failure(Exit::usage, fmt::format("{}: \"{}\" {}", flag, printable_line(text), why));
  }
  std::vector<std::string> out(words.we_wordv, words.we_wordv + words.we_wordc);
  wordfree(&words);
  if (out.empty() || out[0].empty()) throw Failure(Exit::usage, fmt::format("{}: the command is empty", flag));
  return out;
}

ChildCommand find_command(std::string_view flag, std::vector<std::string> words) {
  ChildCommand c;
  c.arguments = std::move(words);
  const std::string& name = c.arguments[0];
  c.file = name.find('/') == std::string::npos ? find_in_path(name) : name;
  if (c.file.empty() || !is_program(c.file))
    throw Failure(Exit::io, fmt::format("{}: there is no program \"{}\"{}", flag, printable_line(name),
                                        name.find('/') == std::string::npos ? " in PATH" : " that can be executed"));
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (!text.starts_with(std::string(pad_name))) c.environment.emplace_back(text);
  }
  if (getenv("PYTHONHASHSEED") == nullptr) c.environment.emplace_back("PYTHONHASHSEED=0");
  return c;
}

void make_equally_long(std::span<ChildCommand*> commands) {
  std::size_t pointers = 0, bytes = 0;
  for (const ChildCommand* c : commands) pointers = std::max(pointers, stack_pointers(*c));
  for (ChildCommand* c : commands) {
    // also where none is missing: the last one takes the bytes
    for (int i = 0; stack_pointers(*c) < pointers + 1; ++i) c->environment.push_back(fmt::format("{}{}=", pad_name, i));
    bytes = std::max(bytes, stack_bytes(*c));
  }
  for (ChildCommand* c : commands) c->environment.back().append(bytes - stack_bytes(*c), 'x');
}

}  // namespace odrpo
