// Column names, judges and scale from the command line.
#include "app/flags/score_options.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "config/read/read_file.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"

namespace odrpo::app {
namespace {

constexpr const char* no_column = "none";

}  // namespace

ScoreReading score_reading(const ScoreOptions& o) {
  ScoreReading how;
  struct Flag {
    const char* name;
    const std::string& text;
    std::string& column;
    bool may_be_none;
  };
  ScoreColumns& c = how.columns;
  const std::array<Flag, score_fields> flags = {{{"--prompt", o.prompt, c.prompt, false},
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
        throw Failure(Exit::usage,
                      fmt::format("{} and {} both name the column \"{}\"", flag.name, other.name, printable_line(flag.column)));
    }
  if (o.levels > 0 && !o.scale.empty()) throw Failure(Exit::usage, "--scale and --levels both say what the levels are: keep one");
  if (o.levels > 0) how.scale = scale_of_levels(o.levels);
  if (!o.scale.empty()) {
    const auto scale = parse_scale(o.scale);
    if (!scale)
      throw Failure(Exit::usage, fmt::format("--scale: \"{}\" states no scale; such as \"0..10\" or \"0..5 by 0.5\", 2 to {} values",
                                             printable_line(o.scale), most_levels));
    how.scale = *scale;
  }
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
  return "";
}

ScoreTable read_score_table(const std::string& path, const ScoreReading& how) {
  const std::string text = read_scores_file(path);
  return parse_scores(text, printable_line(path), how.columns, how.scale);
}

}  // namespace odrpo::app
