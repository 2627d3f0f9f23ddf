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

/// Names and value of an option, "-o,--output FILE.h5", and what it does.
std::vector<std::string> option_row(const CLI::Option& option) {
  const std::string value = value_name(option);
  std::string name = option.nonpositional() ? option.get_name(false, true) + (value.empty() ? "" : " " + value) : value, help = option.get_description();
  if (option.get_required() && option.nonpositional()) help += " (required)";
  for (const CLI::Option* other : option.get_needs()) help += "; needs " + other->get_name();
  for (const CLI::Option* other : option.get_excludes()) help += "; excludes " + other->get_name();
  return {name, help};
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

std::string HelpPage::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
  Rows arguments, options, commands;
  std::string usage = "Usage: " + full_name(*app);
  const std::vector<const CLI::App*> subcommands = app->get_subcommands([](const CLI::App*) { return true; });
  const std::vector<const CLI::Option*> all = app->get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
  for (const CLI::Option* option : all) (option->nonpositional() ? options : arguments).push_back(option_row(*option));
  if (!subcommands.empty()) usage += " COMMAND";
  for (const CLI::Option* option : all)
    if (!option->nonpositional()) {
      const std::string value = value_name(*option) + (option->get_items_expected_max() > 1 ? " ..." : "");
      usage += option->get_required() ? ' ' + value : " [" + value + ']';
    }
  usage += " [OPTIONS]";
  for (const CLI::App* command : subcommands) commands.push_back({command->get_name(), command->get_description()});

  std::string out = paragraph(app->get_description(), 0) + '\n' + paragraph(usage, 0, 4);
  out += section("Arguments", arguments) + section("Options", options) + section("Commands", commands);
  for (const std::string& line : lines_of('\n' + app->get_footer()))
    out += !line.starts_with("  ") ? (line.empty() ? "\n" : paragraph(line, 0)) : columns_of(line) <= page_width() ? line + '\n' : command_lines(line, page_width());
  return out;
}

}  // namespace odrpo::app
