// Describes the command line as plain text, for help, completion, man pages and docs/reference/commands.md. app/options/ makes it from the parser.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace odrpo::app {

/// A flag or an argument of a command.
struct OptionText {
  std::string name;                ///< as help shows it, without its value: "-o,--output"; empty for an argument
  std::string value;               ///< what help calls the value: "FILE.h5"; empty for a flag without one
  std::string help;
  std::vector<std::string> words;  ///< all values that the parser allows; empty = it does not know them
  bool required = false, several = false;  ///< several: an argument that may be given more than once
  std::string with_value() const { return name + (name.empty() || value.empty() ? "" : " ") + value; }  ///< "-o,--output FILE.h5"
};

/// A command, or the program with all its commands.
struct CommandText {
  std::string name;  ///< "odrpo-bench judge fit"
  std::string help, usage;
  std::string footer;  ///< below the flags, in help: examples are the lines that begin with two blanks
  std::vector<OptionText> arguments, flags;
  std::vector<CommandText> commands;
  std::string last_word() const { return name.substr(name.rfind(' ') + 1); }  ///< "fit"
};

/// A word that may stand at the cursor, and one line about it.
struct Candidate {
  std::string word, help;
};
struct Candidates {
  std::vector<Candidate> words;
  std::optional<std::string> files;  ///< names of files with this ending may stand there too; "" = of all files
};

/// What may stand for the last of `words`, of which the cursor is at the end. `words` follow the program's name; nothing is refused.
Candidates candidates(const CommandText& program, std::vector<std::string> words);

/// Prints candidates(): one a line, its help after a tab. A last line ":files" or ":files.h5" stands for names of files. Shell scripts read this.
int print_candidates(const CommandText& program, const std::vector<std::string>& words);

/// `odrpo-bench completion`: what it prints, or of man pages the folder that they are written to.
struct CompletionOptions {
  std::string what;    ///< word of completion_words()
  std::string output;  ///< folder of man pages
};
int completion(const CompletionOptions& options, const CommandText& program);
std::vector<std::string_view> completion_words();

/// The name of a command's man page: "odrpo-bench-judge-fit".
std::string page_name(std::string command);
/// The man page of a command, in roff; `date` as 2026-11-29.
std::string man_page(const CommandText& command, std::string_view date);

}  // namespace odrpo::app
