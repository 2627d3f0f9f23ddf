// Prints the completion scripts of shells, which ask this program for words, and writes man pages: `odrpo-bench completion`.
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "app/completion/command_text.hpp"
#include "app/flags/flag_values.hpp"
#include "kernels/system/output_file.hpp"
#include "kernels/system/terminal.hpp"

namespace odrpo::app {
namespace {

constexpr std::string_view bash = R"sh(# Completes odrpo-bench in bash: the program prints the words. Made by `odrpo-bench completion bash`.
_odrpo_bench() {
  local line=${COMP_LINE:0:COMP_POINT} words=() word current before candidate file i
  # bash splits words at ':' and '=' too: what no blank separates is one word
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if ((i == 0)) || [[ $line == [[:blank:]]* ]]; then
      words+=('')
      line=${line#"${line%%[![:blank:]]*}"}
    fi
    ((i < COMP_CWORD)) || word=$line
    words[-1]+=$word
    line=${line#"$word"}
  done
  words=("${words[@]//[\\\"\']/}")
  # readline replaces only the part after the last of its own word breaks
  current=${word//[\\\"\']/}
  [[ $current == [:=\(]* ]] && current=
  before=${words[-1]%"$current"}
  COMPREPLY=()
  while IFS=$'\t' read -r candidate _; do
    if [[ $candidate == :files* ]]; then
      while read -r file; do
        if [[ -d ${file/#\~\//$HOME/} ]]; then COMPREPLY+=("$file/")
        elif [[ $file == *"${candidate#:files}" ]]; then COMPREPLY+=("$file"); fi
      done < <(compgen -f -- "$current")
    else
      COMPREPLY+=("${candidate#"$before"}")
    fi
  done < <(command "${words[0]/#\~\//$HOME/}" completion words -- "${words[@]:1}" 2>/dev/null)
  if [[ $word != [\'\"]* ]]; then
    for i in "${!COMPREPLY[@]}"; do
      printf -v word %q "${COMPREPLY[i]}"
      COMPREPLY[i]=${word/#\\~/\~}
    done
  fi
  [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[=:/] ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -F _odrpo_bench odrpo-bench
)sh";

constexpr std::string_view zsh = R"sh(#compdef odrpo-bench
# Completes odrpo-bench in zsh: the program prints the words. Made by `odrpo-bench completion zsh`.
_odrpo_bench() {
  local line word help files=no
  local -a plain plain_shown open open_shown
  for line in "${(@f)$(command ${~words[1]} completion words -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
    word=${line%%$'\t'*} help=${${line#$word}#$'\t'}
    if [[ -z $word ]]; then continue
    elif [[ $word == :files* ]]; then files=${word#:files}
    elif [[ $word == *[=:] ]]; then open+=("$word") open_shown+=("$word${help:+  -- $help}")
    else plain+=("$word") plain_shown+=("$word${help:+  -- $help}"); fi
  done
  (( $#plain )) && compadd -l -d plain_shown -a plain
  (( $#open )) && compadd -S '' -l -d open_shown -a open
  if [[ $files != no ]]; then
    compset -P '*='
    if [[ -n $files ]]; then _files -g "*$files(-.)"; else _files; fi
  fi
}
if [[ ${funcstack[1]} == _odrpo-bench ]]; then _odrpo_bench "$@"; else compdef _odrpo_bench odrpo-bench; fi
)sh";

constexpr std::string_view fish = R"sh(# Completes odrpo-bench in fish: the program prints the words. Made by `odrpo-bench completion fish`.
function __odrpo_bench_words
    set -l words (commandline -opc)
    set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
    set -e words[1]
    set -l current (string replace -ra '[\\\\\'"]' '' -- (commandline -ct))
    for line in (command $program completion words -- $words "$current" 2>/dev/null)
        if string match -q ':files*' -- $line
            set -l ending (string escape --style=regex -- (string replace ':files' '' -- $line))
            set -l file (string replace -r '^.*=' '' -- $current)
            set -l before (string match -r '^.*=' -- $current)
            for path in (__fish_complete_path "$file" | string match -re -- "(?:/|$ending)(?:\t|\$)")
                echo "$before$path"
            end
        else
            echo $line
        end
    end
end
complete -c odrpo-bench -f -a '(__odrpo_bench_words)'
)sh";

struct Shell {
  std::string_view word, script;
};
constexpr Shell shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}, {"man", ""}};

/// Today, or the day of SOURCE_DATE_EPOCH, so that builds can be repeated.
std::string day_of_pages() {
  const char* given = std::getenv("SOURCE_DATE_EPOCH");
  const std::time_t time = given == nullptr ? std::time(nullptr) : static_cast<std::time_t>(std::strtoll(given, nullptr, 10));
  std::tm day{};
  char text[32];
  ::gmtime_r(&time, &day);
  std::strftime(text, sizeof text, "%Y-%m-%d", &day);
  return text;
}

void write_man_pages(const CommandText& command, const std::filesystem::path& folder, const std::string& day) {
  write_output(folder / (page_name(command.name) + ".1"), man_page(command, day));
  for (const CommandText& below : command.commands) write_man_pages(below, folder, day);
}

}  // namespace

std::vector<std::string_view> completion_words() { return words_in(shells); }

int completion(const CompletionOptions& options, const CommandText& program) {
  for (const Shell& shell : shells) {
    if (!same_word(shell.word, options.what)) continue;
    if ((shell.word == "man") == options.output.empty())
      fail(Exit::usage, "completion {}", shell.word == "man" ? "man needs -o FOLDER, where it writes the pages" : fmt::format("{} prints its script: -o FOLDER is for man pages", shell.word));
    if (shell.word == "man") {
      std::error_code error;
      std::filesystem::create_directories(options.output, error);
      if (error) fail(Exit::io, "cannot make the folder {}: {}", printable_line(options.output), error.message());
      write_man_pages(program, options.output, day_of_pages());
    }
    put(shell.script);
    return 0;
  }
  refuse_word(fmt::format("completion knows no \"{}\"", shown(options.what)), options.what, words_in(shells));
}

}  // namespace odrpo::app
