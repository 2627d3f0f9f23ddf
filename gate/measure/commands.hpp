// The command lines that a gate starts: split into words, found in PATH, and padded to equal length.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace odrpo {

/// A program to be started: nothing is left to a shell.
struct ChildCommand {
  std::string file;                      ///< that is executed
  std::vector<std::string> arguments;    ///< argv, the program's name first
  std::vector<std::string> environment;  ///< "NAME=value"
};

/// The words of a command line as a POSIX shell splits it: quotes, backslashes, $NAME, ~ and globs; no pipes and no commands inside.
/// Failure usage, which names the flag.
std::vector<std::string> command_words(std::string_view flag, const std::string& text);

/// The program of the words, found in PATH, with this process's environment and PYTHONHASHSEED=0 where that is unset (Python's sets and
/// dictionaries then have one order). Failure io where there is no such program, with the flag.
ChildCommand find_command(std::string_view flag, std::vector<std::string> words);

/// Makes the strings and pointers that the kernel puts on a new process's stack equally many bytes, by variables that mean nothing: the
/// place of the stack changes times by some percent (Mytkowicz et al. 2009, "Producing Wrong Data Without Doing Anything Obviously
/// Wrong!").
void make_equally_long(std::span<ChildCommand*> commands);

}  // namespace odrpo
