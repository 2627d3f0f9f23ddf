// Writes the description of a command as a man page in roff.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "app/completion/command_text.hpp"
#include "kernels/shared/exit_words.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"

namespace odrpo::app {
namespace {

/// A text of any characters. What stands in `backticks` becomes bold.
std::string roff(std::string_view text) {
  std::string out = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  bool bold = false;
  for (const char c : text) {
    if (c == '`') out += (bold = !bold) ? "\\fB" : "\\fR";
    else if (c == '\\') out += "\\e";
    else if (c == '-') out += "\\-";
    else if (c == '\'') out += "\\(aq";
    else out += c;
  }
  return out;
}

/// A paragraph whose first line hangs: a name, and what it means.
std::string item(const std::string& name, const std::string& value, std::string_view meaning) {
  std::string names;
  for (const std::string& one : split(name, ',')) add_item(names, "\\fB" + roff(one) + "\\fR");
  return fmt::format(".TP\n{}{}{}\n{}\n", name.empty() ? "" : names, name.empty() || value.empty() ? "" : " ", value.empty() ? "" : "\\fI" + roff(value) + "\\fR", roff(meaning));
}

/// The examples of a footer, or its other lines.
std::string footer_lines(const CommandText& command, bool examples) {
  std::string out;
  for (const std::string& line : lines_of(command.footer))
    if (line.starts_with("  ")) out += examples ? roff(line.substr(2)) + '\n' : "";
    else if (!line.empty() && !line.ends_with(':')) out += examples ? "" : ".PP\n" + roff(line) + '\n';
  return out;
}

}  // namespace

std::string page_name(std::string command) {
  std::replace(command.begin(), command.end(), ' ', '-');
  return command;
}

std::string man_page(const CommandText& command, std::string_view date) {
  const std::string title = page_name(command.name), program = command.name.substr(0, command.name.find(' '));
  std::string out = fmt::format(".TH {} 1 {} {}\n.SH NAME\n{} \\- {}\n", roff(title), date, program, roff(title), roff(command.help));
  out += fmt::format(".SH SYNOPSIS\n\\fB{}\\fR{}\n", roff(command.name), roff(command.usage.substr(command.name.size())));
  out += ".SH DESCRIPTION\n" + roff(command.help) + (command.help.ends_with('?') ? "\n" : ".\n") + footer_lines(command, false);
  if (!command.commands.empty()) out += ".SH COMMANDS\n";
  for (const CommandText& below : command.commands) out += item(below.last_word(), "", below.help);
  out += ".SH OPTIONS\n";
  for (const auto* options : {&command.arguments, &command.flags})
    for (const OptionText& o : *options) out += item(o.name, o.value, o.help);
  if (const std::string examples = footer_lines(command, true); !examples.empty()) out += ".SH EXAMPLES\n.EX\n" + examples + ".EE\n";
  out += ".SH EXIT STATUS\n";
  for (const ExitText& exit : exit_texts) out += item(std::to_string(static_cast<int>(exit.code)), "", exit.meaning);
  std::string others;
  for (const CommandText& below : command.commands) add_item(others, fmt::format(".BR {} (1)", roff(page_name(below.name))), " ,\n");
  if (command.name != program) others = fmt::format(".BR {} (1)", roff(page_name(command.name.substr(0, command.name.rfind(' ')))));
  return out + ".SH SEE ALSO\n" + others + '\n';
}

}  // namespace odrpo::app
