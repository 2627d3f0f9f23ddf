// Formats the help of a command in the columns of the terminal.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "app/completion/command_text.hpp"

namespace odrpo::app {

/// The words that call a command: "odrpo-bench judge analyze".
std::string full_name(const CLI::App& app);

/// The text of a command and of those below it.
CommandText command_text(const CLI::App& app);

/// Writes the help of a command: what it does, its usage, its arguments, options and commands, and its footer. Lines of the footer that
/// begin with two blanks are commands: they are broken only at a blank, with a backslash at the end, so that they can be pasted.
class HelpPage : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

}  // namespace odrpo::app
