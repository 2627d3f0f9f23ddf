// Splits command lines into words, and finds their programs.
#include <wordexp.h>

#include <algorithm>
#include <filesystem>

#include "kernels/system/fail.hpp"
#include "kernels/system/process.hpp"

namespace odrpo {

std::vector<std::string> command_words(std::string_view who, const std::string& text) {
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
    fail(Exit::usage, "{}: \"{}\" {}", who, text, why);
  }
  std::vector<std::string> out(words.we_wordv, words.we_wordv + words.we_wordc);
  wordfree(&words);
  if (out.empty() || out[0].empty()) fail(Exit::usage, "{}: the command is empty", who);
  return out;
}

Command find_command(std::string_view who, std::vector<std::string> words, const std::string& folder) {
  Command c;
  c.arguments = std::move(words);
  const std::string& name = c.arguments[0];
  const bool path = name.find('/') != std::string::npos;
  c.file = find_program(path && name[0] != '/' && !folder.empty() ? folder + "/" + name : name);
  if (c.file.empty()) fail(Exit::io, "{}: there is no program \"{}\"{}", who, name, path ? " that can be executed" : " in PATH");
  if (!folder.empty()) c.file = std::filesystem::absolute(c.file).string();  // it is started from there
  c.environment = steady_environment();
  return c;
}

}  // namespace odrpo
