// Reads values of flags that several commands have: lists of numbers, raters, how files of scores are read.
#include "app/flags/flag_values.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "config/catalogue/catalogue.hpp"
#include "config/plan/rater_file.hpp"
#include "config/read/read_file.hpp"
#include "envs/bandit/world.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/csv.hpp"

namespace odrpo::app {
namespace {

constexpr std::size_t most_listed = 1000;

}  // namespace

void refuse_word(const std::string& refusal, std::string_view word, std::span<const std::string_view> words) {
  fail(Exit::usage, "{}{}\nAllowed: {}", refusal, did_you_mean(word, words), one_of(words));
}

std::vector<std::string> list_items(std::string_view flag, const std::vector<std::string>& words) {
  std::vector<std::string> items;
  for (const std::string& word : words)
    for (std::string& item : split(word, ',')) {
      if (item.empty()) fail(Exit::usage, "{}: a number is missing in \"{}\"", flag, shown(word));
      items.push_back(std::move(item));
    }
  if (items.size() > most_listed) fail(Exit::usage, "{}: at most {} numbers", flag, most_listed);
  return items;
}

double flag_number(std::string_view flag, const std::string& item, Quoting quoted) {
  const auto value = number_of(item);
  if (!value || !std::isfinite(*value)) fail(Exit::usage, "{}: \"{}\" is not a number", flag, quoted(item));
  return *value;
}

std::vector<double> read_numbers(std::string_view flag, const std::vector<std::string>& words) {
  std::vector<double> out;
  for (const std::string& item : list_items(flag, words)) out.push_back(flag_number(flag, item));
  return out;
}

// Word or path.

RaterConfig rater_named(const std::string& name, bool quiet) {
  if (is_rater_file(name)) {
    std::vector<std::string> notes;
    RaterConfig rater = load_rater_file(name, notes);
    for (const std::string& note : notes)
      if (!quiet) print_note("note: " + printable_line(note));
    return rater;
  }
  using Raters = CatalogueOf<RaterConfig>;
  if (const auto preset = Raters::find(name)) return preset->config;
  fail(Exit::usage, "there is no rater \"{}\": a word of `list raters`, or a judge's file (.toml){}", name,
       did_you_mean(name, Raters::words()));
}

int simulated_levels(const RaterConfig& rater, int asked) {
  const int own = rater_levels(rater);
  if (own > 0 && asked > 0 && asked != own) fail(Exit::usage, "--levels {}: this judge has {} levels", asked, own);
  return own > 0 ? own : asked > 0 ? asked : BanditConfig{}.levels;
}

// Column names, judges and scale from the command line.

namespace {

constexpr const char* no_column = "none";

}  // namespace

void set_reading(const ReadingFlags& flags, ScoreReading& how) {
  for (const ReadingOption& option : reading_options()) {
    const auto given = flags.find(std::string(option.key));
    if (given == flags.end() || given->second.empty()) continue;
    const std::string flag = "--" + std::string(option.key);
    const bool list = option.type == "list";
    if (!list && given->second.size() > 1) fail(Exit::usage, "{} is given twice", flag);
    const std::string wrong = option.set(how, list ? list_items(flag, given->second) : given->second);
    if (!wrong.empty()) fail(Exit::usage, "{} {}", flag, wrong);
  }
  if (how.round > 0 && how.bins > 0) fail(Exit::usage, "--round and --bins both make levels of continuous scores: keep one");
}

ScoreReading score_reading(const ScoreOptions& o) {
  ScoreReading how;
  struct Flag {
    const char* name;
    const std::string& text;
    std::string& column;
    bool may_be_none;
  };
  ScoreColumns& c = how.columns;
  const std::array<Flag, score_fields> flags = {{{"--prompt", o.prompt, c.prompt, true},
                                                 {"--response", o.response, c.response, false},
                                                 {"--sample", o.sample, c.sample, true},
                                                 {"--score", o.score, c.score, false},
                                                 {"--rater", o.rater, c.rater, true},
                                                 {"--gold", o.gold, c.gold, true}}};
  c.named_by = "--";
  for (const Flag& flag : flags)
    if (!flag.text.empty()) flag.column = flag.may_be_none && flag.text == no_column ? "" : flag.text;
  for (const Flag& flag : flags)
    for (const Flag& other : flags) {
      // one column serves two purposes only where a judge is a quotient of samples
      const bool quotient = parse_quotient(flag.column).divisor != 0 || parse_quotient(other.column).divisor != 0;
      const bool judge_and_sample = &flag.column == &c.sample && &other.column == &c.rater;
      if (&flag < &other && !quotient && !judge_and_sample && !flag.column.empty() && flag.column == other.column &&
          (!flag.text.empty() || !other.text.empty()))
        fail(Exit::usage, "{} and {} both name the column \"{}\"", flag.name, other.name, flag.column);
    }
  if (o.levels > 0 && !o.scale.empty()) fail(Exit::usage, "--scale and --levels both say what the levels are: keep one");
  if (o.levels > 0) how.scale = scale_of_levels(o.levels);
  if (!o.scale.empty()) {
    const auto scale = parse_scale(o.scale);
    if (!scale)
      fail(Exit::usage, "--scale: \"{}\" states no scale; such as \"0..10\" or \"0..5 by 0.5\", 2 to {} values", o.scale, most_levels);
    how.scale = *scale;
  }
  set_reading(o.reading, how);
  return how;
}

std::string file_flag(const ScoreOptions& o) {
  for (const auto& [flag, text] : {std::pair<const char*, const std::string&>{"--prompt", o.prompt},
                                   {"--response", o.response},
                                   {"--sample", o.sample},
                                   {"--score", o.score},
                                   {"--rater", o.rater},
                                   {"--gold", o.gold},
                                   {"--scale", o.scale}})
    if (!text.empty()) return flag;
  for (const auto& [key, given] : o.reading)
    if (!given.empty()) return "--" + key;
  return "";
}

ScoreTable read_score_table(const std::string& path, const ScoreReading& how) {
  std::vector<NamedText> files = read_score_files(path);
  if (files.size() == 1) return parse_scores(files[0].text, files[0].name, how);
  return parse_scores(std::move(files), printable_line(path), how);
}

}  // namespace odrpo::app
