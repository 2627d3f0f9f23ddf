// Formats the help of a command: its arguments, options and commands in two columns, and its examples.
#include "app/options/help_page.hpp"

#include <fmt/format.h>

#include <vector>

#include "kernels/shared/utf8.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"

namespace odrpo::app {
namespace {

using Rows = std::vector<std::vector<std::string>>;

/// What help calls the value of an option; empty for a flag. CLI11 appends the words that a check allows, ":{a,b}".
std::string value_name(const CLI::Option& option) {
  const std::string name = option.get_type_size_max() > 0 ? option.get_type_name() : "";
  return name.substr(0, name.find(":{"));
}

/// The words that a check allows; empty where it has none.
std::vector<std::string> allowed_words(const CLI::Option& option) {
  const std::string name = option.get_type_size_max() > 0 ? option.get_type_name() : "";
  const std::size_t at = name.find(":{"), end = name.find('}', at);
  return at == std::string::npos || end == std::string::npos ? std::vector<std::string>{} : split(name.substr(at + 2, end - at - 2), ',');
}

OptionText option_text(const CLI::Option& option) {
  std::string help = option.get_description();
  if (option.get_required() && option.nonpositional()) help += " (required)";
  for (const CLI::Option* other : option.get_needs()) help += "; needs " + other->get_name();
  for (const CLI::Option* other : option.get_excludes()) help += "; excludes " + other->get_name();
  return {option.nonpositional() ? option.get_name(false, true) : "", value_name(option), help, allowed_words(option), option.get_required(), option.get_items_expected_max() > 1};
}

/// Names and value of options, "-o,--output FILE.h5", and what they do.
Rows option_rows(const std::vector<OptionText>& options) {
  Rows rows;
  for (const OptionText& o : options) rows.push_back({o.with_value(), o.help});
  return rows;
}

std::string section(const char* heading, const Rows& rows) {
  return rows.empty() ? "" : fmt::format("\n{}:\n", heading) + rows_text(rows, 2);
}

/// Breaks a command at blanks outside of quotes; every line but the last ends with a backslash.
std::string command_lines(const std::string& line, std::size_t width) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (const char c : line) {
    quoted ^= c == '\'';
    if (c == ' ' && !quoted) words.emplace_back();
    else words.back() += c;
  }
  std::string out = "  ", indent = "      ", at = out;
  for (const std::string& word : words) {
    if (word.empty() && at == "  ") continue;
    if (at.find_first_not_of(' ') != std::string::npos && columns_of(at) + 1 + columns_of(word) + 2 > width) {
      out += " \\\n" + indent;
      at = indent;
    }
    const std::string part = (at.find_first_not_of(' ') == std::string::npos ? "" : " ") + word;
    out += part;
    at += part;
  }
  return out + '\n';
}

}  // namespace

std::string full_name(const CLI::App& app) { return (app.get_parent() != nullptr ? full_name(*app.get_parent()) + " " : "") + app.get_name(); }

CommandText command_text(const CLI::App& app) {
  CommandText text{full_name(app), app.get_description(), full_name(app), app.get_footer(), {}, {}, {}};
  for (const CLI::Option* option : app.get_options([](const CLI::Option* o) { return !o->get_group().empty(); }))
    (option->nonpositional() ? text.flags : text.arguments).push_back(option_text(*option));
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) text.commands.push_back(command_text(*command));
  if (!text.commands.empty()) text.usage += " COMMAND";
  for (const OptionText& o : text.arguments) {
    const std::string value = o.value + (o.several ? " ..." : "");
    text.usage += o.required ? ' ' + value : " [" + value + ']';
  }
  text.usage += " [OPTIONS]";
  return text;
}

std::string HelpPage::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
  const CommandText command = command_text(*app);
  Rows commands;
  for (const CommandText& below : command.commands) commands.push_back({below.last_word(), below.help});

  std::string out = paragraph(command.help, 0) + '\n' + paragraph("Usage: " + command.usage, 0, 4);
  out += section("Arguments", option_rows(command.arguments)) + section("Options", option_rows(command.flags)) + section("Commands", commands);
  for (const std::string& line : lines_of('\n' + command.footer))
    out += !line.starts_with("  ") ? (line.empty() ? "\n" : paragraph(line, 0)) : columns_of(line) <= page_width() ? line + '\n' : command_lines(line, page_width());
  return out;
}

}  // namespace odrpo::app
