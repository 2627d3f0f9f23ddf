// From the text of a CSV file to a table of scores, or to the list of its mistakes.
#include "results/score_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <span>
#include <tuple>

#include "kernels/failure.hpp"
#include "results/csv.hpp"

namespace odrpo {
namespace {

constexpr std::array<std::string_view, 4> names = {"prompt_id", "response_id", "sample_id", "score"};
constexpr std::string_view wanted = "prompt_id,response_id,sample_id,score";

/// One row of the file.
struct Cell {
  std::int64_t prompt, response, sample;
  std::uint32_t line;
  std::uint8_t score;
  auto place() const { return std::tie(prompt, response, sample); }
};

[[noreturn]] void refuse(const CsvErrors& errors) { throw Failure(Exit::bad_input, errors.text()); }

std::string name(std::string_view column) { return "column \"" + std::string(column) + "\""; }

bool same_letter(char a, char b) { return a == b || ((a ^ b) == 32 && (a | 32) >= 'a' && (a | 32) <= 'z'); }

/// Where each of the four columns stands.
struct Header {
  std::array<std::size_t, 4> place;
  std::size_t columns;
  long line;
};

Header read_header(const std::vector<CsvField>& fields, CsvErrors& errors) {
  const long line = fields[0].line;
  Header header{{}, fields.size(), line};
  check_csv_header(fields, "the first line must name the columns " + std::string(wanted), errors);
  if (errors.any()) refuse(errors);
  std::string found;
  for (const CsvField& field : fields) found += (found.empty() ? "" : ", ") + shown_cell(field.text);
  if (found.size() > 400) found = std::to_string(fields.size()) + " other columns";
  for (std::size_t c = 0; c < names.size(); ++c) {
    std::size_t times = 0;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].text != names[c]) continue;
      if (++times > 1) errors.add(line, fields[i].column, name(names[c]) + " stands twice");
      else header.place[c] = i;
    }
    if (times > 0) continue;
    const bool capitals = std::any_of(fields.begin(), fields.end(), [&](const CsvField& f) {
      return std::equal(f.text.begin(), f.text.end(), names[c].begin(), names[c].end(), same_letter);
    });
    errors.add(line, 1, "no " + name(names[c]) + "; found " + found + (capitals ? " (names are written in small letters)" : ""));
  }
  if (errors.any()) refuse(errors);
  return header;
}

/// A whole number from a field, or a mistake.
bool read_whole(const CsvField& field, std::string_view column, std::int64_t& value, CsvErrors& errors) {
  const char *first = field.text.data(), *last = first + field.text.size();
  const auto [end, error] = std::from_chars(first, last, value);
  if (end == last && error == std::errc() && !field.text.empty()) return true;
  if (field.text.empty()) errors.add(field.line, field.column, std::string(column) + " is empty: a whole number is wanted");
  else if (end == last && error == std::errc::result_out_of_range)
    errors.add(field.line, field.column, std::string(column) + " " + shown_cell(field.text) + " is too large");
  else errors.add(field.line, field.column, std::string(column) + " " + shown_cell(field.text) + ": a whole number is wanted");
  return false;
}

/// All rows that can be read; stops at the 21st mistake.
std::vector<Cell> read_cells(CsvReader& reader, const Header& header, std::size_t lines, std::size_t bytes, int levels, CsvErrors& errors) {
  std::vector<Cell> cells;
  cells.reserve(std::min(lines, bytes / std::string_view("1,1,1,1\n").size()) + 1);
  std::vector<CsvField> fields;
  for (std::size_t before = errors.size(); !errors.enough() && reader.next(fields, errors); before = errors.size()) {
    if (errors.size() > before) continue;  // already told what is wrong with it
    if (fields.size() != header.columns) {
      const CsvField& at = fields[std::min(header.columns, fields.size() - 1)];
      errors.add(at.line, at.column,
                 std::to_string(fields.size()) + (fields.size() == 1 ? " field" : " fields") + ", but the header has " +
                     std::to_string(header.columns));
      continue;
    }
    std::array<std::int64_t, 4> value{};
    bool good = true;
    for (std::size_t c = 0; c < names.size(); ++c) good &= read_whole(fields[header.place[c]], names[c], value[c], errors);
    if (!good) continue;
    if (value[3] < 1 || value[3] > max_score) {
      const CsvField& at = fields[header.place[3]];
      errors.add(at.line, at.column, "score " + std::to_string(value[3]) + " is outside of 1.." + std::to_string(max_score));
      continue;
    }
    if (levels > 0 && value[3] > levels) {  // told once: the others are above it for the same reason
      const CsvField& at = fields[header.place[3]];
      errors.add(at.line, at.column, "score " + std::to_string(value[3]) + " is above the judge's `levels`, " + std::to_string(levels));
      levels = 0;
    }
    cells.push_back({value[0], value[1], value[2], static_cast<std::uint32_t>(fields[0].line), static_cast<std::uint8_t>(value[3])});
  }
  return cells;
}

void check_twice(const std::vector<Cell>& cells, CsvErrors& errors) {
  const Cell* first = nullptr;
  for (const Cell& cell : cells) {
    if (errors.enough()) return;
    if (!first || first->place() != cell.place()) {
      first = &cell;
      continue;
    }
    errors.add(cell.line, 1,
               "prompt " + std::to_string(cell.prompt) + ", response " + std::to_string(cell.response) + ", sample " +
                   std::to_string(cell.sample) + " is given twice; first on line " + std::to_string(first->line));
  }
}

/// The cells of one response, in order of sample_id.
using Response = std::span<const Cell>;

/// Tells of the first response that has another number of samples than most of its prompt's.
void check_samples(const std::vector<Response>& responses, CsvErrors& errors) {
  std::map<std::size_t, std::size_t> times;
  for (const Response& r : responses) ++times[r.size()];
  if (times.size() == 1) return;
  std::size_t usual = responses[0].size();  // also where none is the most frequent
  for (const auto& [samples, n] : times)
    if (n > times[usual]) usual = samples;
  const auto is_usual = [&](const Response& r) { return r.size() == usual; };
  const Response odd = *std::find_if_not(responses.begin(), responses.end(), is_usual);
  const Response other = *std::find_if(responses.begin(), responses.end(), is_usual);
  const auto earlier = [](const Cell& a, const Cell& b) { return a.line < b.line; };
  // the one too many is rather the last
  const Cell& at =
      odd.size() > usual ? *std::max_element(odd.begin(), odd.end(), earlier) : *std::min_element(odd.begin(), odd.end(), earlier);
  errors.add(at.line, 1,
             "prompt " + std::to_string(at.prompt) + ": response " + std::to_string(at.response) + " has " + std::to_string(odd.size()) +
                 (odd.size() == 1 ? " sample" : " samples") + ", but response " + std::to_string(other[0].response) + " has " +
                 std::to_string(usual) + " (line " + std::to_string(other[0].line) + ")");
}

/// The matrices of the prompts; a prompt whose responses differ in their number of samples is a mistake, told once.
ScoreTable make_table(const std::vector<Cell>& cells, CsvErrors& errors) {
  ScoreTable table;
  table.smallest = max_score;
  std::vector<Response> responses;
  for (std::size_t at = 0; at < cells.size() && !errors.enough();) {
    const Cell& first = cells[at];
    ScoreTable::Prompt prompt{first.prompt, 0, 0, {}};
    responses.clear();
    while (at < cells.size() && cells[at].prompt == first.prompt) {
      const std::size_t begin = at;
      for (; at < cells.size() && cells[at].prompt == first.prompt && cells[at].response == cells[begin].response; ++at) {
        prompt.score.push_back(cells[at].score);
        table.largest = std::max<int>(table.largest, cells[at].score);
        table.smallest = std::min<int>(table.smallest, cells[at].score);
      }
      responses.push_back(Response(cells).subspan(begin, at - begin));
    }
    check_samples(responses, errors);
    prompt.responses = static_cast<int>(responses.size());
    prompt.samples = static_cast<int>(responses[0].size());
    table.prompts.push_back(std::move(prompt));
  }
  return table;
}

}  // namespace

ScoreTable parse_scores(std::string_view text, const std::string& file, int levels) {
  CsvErrors errors(file);
  CsvReader reader(text);
  std::vector<CsvField> fields;
  if (text.size() > max_scores_bytes) errors.add(1, 1, "larger than " + std::to_string(max_scores_bytes >> 20) + " MiB");
  else check_csv_format(text, errors);
  if (!errors.any() && !reader.next(fields, errors))
    errors.add(1, 1, "nothing in it; wanted a header " + std::string(wanted) + " and rows of whole numbers");
  if (errors.any()) refuse(errors);
  const Header header = read_header(fields, errors);

  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  std::vector<Cell> cells = read_cells(reader, header, lines, text.size(), levels, errors);
  const auto before = [](const Cell& a, const Cell& b) {
    return std::tie(a.prompt, a.response, a.sample, a.line) < std::tie(b.prompt, b.response, b.sample, b.line);
  };
  if (!errors.enough() && !std::is_sorted(cells.begin(), cells.end(), before)) std::sort(cells.begin(), cells.end(), before);
  if (!errors.enough()) check_twice(cells, errors);
  if (errors.any()) refuse(errors);
  if (cells.empty()) {
    errors.add(header.line, 1, "no scores below the header");
    refuse(errors);
  }
  ScoreTable table = make_table(cells, errors);
  if (errors.any()) refuse(errors);
  return table;
}

}  // namespace odrpo
