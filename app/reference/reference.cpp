// Writes the pages of docs/reference from the catalogues and the descriptions of keys in the code.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/completion/command_text.hpp"
#include "app/compute/functions.hpp"
#include "app/flags/flag_values.hpp"
#include "app/reference/schema.hpp"
#include "config/write/field_list.hpp"
#include "estimators/compat.hpp"
#include "estimators/formula_text.hpp"
#include "kernels/shared/exit_words.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"
#include "results/store/record.hpp"
#include "train/curves.hpp"
#include "train/level_curves.hpp"

namespace odrpo::app {
namespace {

std::string code_text(std::string_view text) { return text.empty() ? "" : fmt::format("`{}`", text); }

// Plain text as Markdown: asterisks would make it slanted.
std::string plain_text(std::string_view text) {
  std::string out;
  for (const char c : text) out.append(c == '*' ? "\\" : "").append(1, c);
  return out;
}

// One row of a Markdown table. Escapes pipes in the text, since a pipe would end the cell.
std::string row(std::initializer_list<std::string> cells) {
  std::string text = "|";
  for (const std::string& cell : cells) {
    text += ' ';
    for (const char c : cell) text.append(c == '|' ? "\\" : "").append(1, c);
    text += " |";
  }
  return text + '\n';
}

std::string header(std::initializer_list<std::string> cells) {
  std::string rule = "|";
  for (std::size_t i = 0; i < cells.size(); ++i) rule += "---|";
  return '\n' + row(cells) + rule + '\n';
}

const Listing& part_of(const std::vector<Listing>& parts, std::string_view name) {
  const auto found = std::find_if(parts.begin(), parts.end(), [&](const Listing& p) { return p.name == name; });
  if (found == parts.end()) fail(Exit::internal, "the vocabulary has no part {}", name);
  return *found;
}

std::string heading(const Listing& part) {
  std::string title = part.title;
  if (title[0] >= 'a' && title[0] <= 'z') title[0] = static_cast<char>(title[0] - 'a' + 'A');
  return fmt::format("\n## {}\n\n{}.\n", part.name, title);
}

// The Markdown list item "* `word`: help". Further lines of the help become items below it.
std::string bullet(std::string_view word, std::string_view help) {
  std::string text = fmt::format("* `{}`: ", word);
  for (const char c : help) {
    if (c == '\n') text += "\n  * ";
    else text += c;
  }
  return text + '\n';
}

std::string bullets(const std::vector<Listed>& entries) {
  std::string text = "\n";
  for (const Listed& entry : entries) text += bullet(entry.word, entry.help);
  return text;
}

std::string key_table(const std::vector<FieldInfo>& keys) {
  if (keys.empty()) return "";
  std::string text = header({"key", "default", "allowed", "meaning"});
  for (const FieldInfo& key : keys) text += row({code_text(key.key), key.value, key.allowed(), key.meaning()});
  for (const FieldInfo& key : keys) {
    const auto has_help = [](const Choice& w) { return !w.help.empty(); };
    if (std::none_of(key.words.begin(), key.words.end(), has_help)) continue;
    text += fmt::format("\nWords of `{}`:\n\n", key.key);
    for (const Choice& w : key.words) text += bullet(w.word, w.help);
  }
  return text;
}

std::string keys_page() {
  std::string text = "Every key of a suite file, its default and what it may be. [suites.md](../suites.md) says how they work together.\n";
  for (const Listing& part : vocabulary()) {
    if (part.keys.empty()) continue;
    text += heading(part);
    if (part.name == "raters") text += "\nIts words are on the page [noise.md](noise.md#raters).\n";
    else if (part.name == "estimators") text += "\nIts words are on the page [estimators.md](estimators.md#estimators).\n";
    else if (!part.entries.empty()) text += bullets(part.entries);
    text += key_table(part.keys);
  }
  return text;
}

std::string noise_page() {
  const auto parts = vocabulary();
  std::string text = "Noise models, and the raters that are made of them. [raters.md](../raters.md) says how they work together.\n";
  const Listing& noise = part_of(parts, "noise");
  text += heading(noise);
  for (const Listed& model : noise.entries) text += fmt::format("\n### {}\n\n{}\n", model.word, model.help) + key_table(model.keys);
  const Listing& raters = part_of(parts, "raters");
  return text + heading(raters) + bullets(raters.entries);
}

// A table of all systems and their forms: formula, what a group of one gets, whitening of the batch afterwards, source.
std::string conventions_table() {
  std::string text = header({"system", "estimator", "formula", "group of one", "whitening afterwards", "source"});
  const auto add = [&](const EstimatorConfig& config, std::string_view source) {
    const Whitening after = whitening_after(config);
    text += row({code_text(word_of<Compat>(compat_words, config.compat)), code_text(estimator_word(config)), code_text(estimator_formula(config)),
                 code_text(single_text(config)), after.on ? code_text(whitening_text(after)) : "none", std::string(source)});
  };
  for (const Convention& convention : conventions()) {
    EstimatorConfig config = estimator_named(row_of(convention.form).word);
    config.compat = convention.system;
    add(config, convention.source);
    if (convention.levels_source.empty()) continue;
    config.form = Form::odrpo;
    config.norm = convention.form == Form::maxrl ? Norm::maxrl : Norm::grpo;
    add(config, convention.levels_source);
  }
  return text;
}

// The formula of a form for readers: its text has {X} for X + eps, and [k], [kappa], [r_min] for the keys.
std::string general_formula(std::string_view formula) {
  std::string text;
  for (const char c : formula) {
    if (c == '{') text += '(';
    else if (c == '}') text += " + eps)";
    else text += c;
  }
  for (const std::string_view key : {"k", "kappa", "r_min"})
    if (const std::size_t at = text.find(fmt::format("[{}]", key)); at != std::string::npos) text.replace(at, key.size() + 2, key);
  return text;
}

// The keys that a form reads, in Markdown: "`ddof`, `eps`".
std::string keys_text(Form form) {
  std::string text;
  for (const auto& key : form_key_words)
    if (reads_key(form, key.value)) add_item(text, code_text(key.word));
  return text;
}

std::string estimators_page() {
  const auto parts = vocabulary();
  const auto words = word_parts();
  std::string text =
      "r = reward, mu and sigma = mean and standard deviation of the group, G = its size, mu_k = share of the group with r >= k. "
      "[estimators.md](../estimators.md) explains them; the keys are on the page [keys.md](keys.md#estimators).\n";
  text += "\n## forms\n\nThe forms of the advantage A, with the keys of [estimator.NAME] that each reads besides `compat`.\n";
  text += header({"form", "A", "keys", "source", "note"});
  for (const FormRow& form : form_rows)
    text += row({code_text(form.word), code_text(general_formula(form.formula)), keys_text(form.form), std::string(form.source),
                 std::string(form.note)});
  const Listing& estimators = part_of(parts, "estimators");
  text += heading(estimators) + "\nFormulas have the defaults of the keys.\n" + header({"word", "formula"});
  for (const Listed& entry : estimators.entries) text += row({code_text(entry.word), code_text(entry.help)});
  for (const std::string_view name : {"weights", "norms"}) {
    const Listing& part = part_of(parts, name);
    text += heading(part) + header({"word", "formula"});
    for (const Listed& entry : part.entries) text += row({code_text(entry.word), code_text(entry.help)});
  }
  const Listing& formulas = part_of(parts, "formulas");
  text += heading(formulas) + bullets(formulas.entries);
  const Listing& systems = part_of(words, "compat");
  text += heading(systems) + '\n';
  for (const Listed& system : systems.entries) text += bullet(system.word, system.help.substr(0, system.help.find('\n')));
  text +=
      "\nA row of `odrpo` holds for every weight; where a group of one gets r, it gets the sum of w_k over k <= r. Sources are names and "
      "lines of the systems' code, read mid to late 2026: TRL 1.16.0, OpenRLHF 0.11.2, SkyRL 0.3.0, NeMo RL 7ea279a, prime-rl 559b447, "
      "tinker-cookbook 9dfcc3a and Relax 7a346d3 among them.\n";
  return text + conventions_table();
}

std::string curves_page() {
  std::string text =
      "The curves of `/curves/ENV` in a result file, in the order in which they are stored. A value belongs to the policy after `step` "
      "updates. [training.md](../training.md#what-is-recorded) says when they are taken.\n";
  text += header({"curve", "unit", "meaning", "runs that have it"});
  for (int id = 0; id < all_curves; ++id) {
    const CurveText curve = curve_text(static_cast<CurveId>(id));
    text += row({code_text(curve.name), *curve.unit == '\0' ? "-" : curve.unit, curve.meaning, curve.runs});
  }
  text += "\nWith `[record] levels = 1` each level k = 2..K has these curves besides; values are shares:\n";
  text += header({"curve", "meaning"});
  for (const LevelCurveKind& kind : level_curve_kinds) text += row({code_text(std::string(kind.name) + "k"), std::string(kind.meaning)});
  return text +
         fmt::format("\n`/seconds/ENV` holds seconds per training step and stage since the record before. Its stages are {}.\n",
                     joined(stage_names, code_text));
}

std::string functions_page() {
  std::string text =
      "The functions of `odrpo-bench compute`. A request names every argument that is not optional, and no other. "
      "[compute.md](../compute.md) has the protocol and the errors.\n";
  for (const ComputeFunction& f : compute_functions()) {
    text += fmt::format("\n## {}\n\n{}\n\n* Answer: {}\n* Source: {}\n", f.name, f.text.help, f.text.out, f.text.source);
    text += header({"argument", "meaning"});
    for (const Argument& a : f.text.arguments) {
      const std::string optional = a.optional ? "optional; " : a.beside.empty() ? "" : fmt::format("optional beside {}; ", code_text(a.beside));
      text += row({code_text(a.name), optional + std::string(a.help)});
    }
  }
  return text;
}

// A command and those below it: usage, flags, and examples.
void add_command(std::string& text, const CommandText& command) {
  text += fmt::format("\n## {}\n\n{}\n\n```\n{}\n```\n", command.name.substr(command.name.find(' ') + 1), command.help, command.usage);
  if (!command.arguments.empty() || !command.flags.empty()) text += header({"flag", "meaning"});
  for (const auto* options : {&command.arguments, &command.flags})
    for (const OptionText& o : *options) text += row({code_text(o.with_value()), plain_text(o.help)});
  std::string examples;
  for (const std::string& line : lines_of(command.footer))
    if (line.starts_with("  ")) examples += line.substr(2) + '\n';
  if (!examples.empty()) text += fmt::format("\n```sh\n{}```\n", examples);
  for (const CommandText& below : command.commands) add_command(text, below);
}

std::string commands_page(const CommandText& program) {
  std::string text = "Every command with its flags, as `odrpo-bench help COMMAND` prints them. [run.md](../run.md) says what happens when a suite stops.\n";
  add_command(text, program);
  text += "\n## Exit codes\n" + header({"code", "meaning"});
  for (const ExitText& exit : exit_texts) text += row({std::to_string(static_cast<int>(exit.code)), std::string(exit.meaning)});
  return text;
}

struct Page {
  std::string_view word, title;
  std::string (*text)(const CommandText& program);
};
constexpr Page pages[] = {
    {"keys", "Keys of suite files", [](const CommandText&) { return keys_page(); }},
    {"noise", "Noise models and raters", [](const CommandText&) { return noise_page(); }},
    {"estimators", "Estimators and conventions", [](const CommandText&) { return estimators_page(); }},
    {"curves", "Curves", [](const CommandText&) { return curves_page(); }},
    {"functions", "Functions of compute", [](const CommandText&) { return functions_page(); }},
    {"commands", "Commands and flags", commands_page},
};
constexpr auto page_words = [] {
  std::array<std::string_view, std::size(pages)> words;
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = pages[i].word;
  return words;
}();

}  // namespace

std::span<const std::string_view> reference_pages() { return page_words; }

std::string reference_page(std::string_view page, const CommandText& program) {
  for (const Page& p : pages)
    if (p.word == page)
      return fmt::format("# {}\n\n<!-- `odrpo-bench list --markdown {}` prints this page; change the descriptions in the code. -->\n\n{}",
                         p.title, page, p.text(program));
  refuse_word(fmt::format("list --markdown knows no page \"{}\"", shown(page)), page, page_words);
}

}  // namespace odrpo::app
