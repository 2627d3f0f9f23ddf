// Prints failures and notes, flushes stdout, breaks text into lines and aligns it in columns.
#include "kernels/system/terminal.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <numeric>
#include <string>

#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/host.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {

namespace {

constexpr std::size_t least_columns = 40;  // a narrower terminal breaks lines itself
constexpr std::string_view red = "\x1b[1;31m", green = "\x1b[32m", yellow = "\x1b[33m", plain = "\x1b[0m";

ColourUse& colour_use() {
  static ColourUse use = ColourUse::automatic;
  return use;
}

std::string in_colour(std::string_view text, std::string_view colour) { return std::string(colour).append(text).append(plain); }

/// Writes the lines of a message to stderr: broken for a terminal, with the words "error:" and "note:" in colour. Without a terminal lines that say what is
/// wrong stay whole, so that a log can be searched; lists below them have 80 columns.
void write_message(std::string_view text) {
  const std::size_t columns = terminal_columns(STDERR_FILENO), width = columns > 0 ? std::max(columns, least_columns) : 80;
  const bool colour = coloured(stderr);
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const bool quoted = line.starts_with(' ');
    std::string lines(line);
    const bool whole = columns == 0 && (out.empty() || line.find(": error: ") != std::string_view::npos);
    if (!whole && !quoted && columns_of(line) > width) lines = joined(broken(line, width - 2), {}, "\n  ");
    if (colour)
      for (const std::string_view word : {"error:", "failed:", "note:"})
        if (const std::size_t at = lines.find(word); !quoted && (at == 0 || (at != std::string::npos && word == "error:" && lines[at - 1] == ' '))) {
          lines.replace(at, word.size(), in_colour(word, word == "note:" ? yellow : red));
          break;
        }
    out.append(lines).append("\n");
  }
  std::fwrite(out.data(), 1, out.size(), stderr);
}

}  // namespace

void print_error(std::string_view message) {
  const bool placed = message.substr(0, message.find('\n')).find(": error: ") != std::string_view::npos;
  write_message((placed ? "" : "error: ") + printable(message));
}

void print_note(std::string_view text) { write_message(printable_line(text)); }

std::size_t terminal_columns(int descriptor) {
  winsize size{};
  return isatty(descriptor) != 0 && ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::size_t stdout_width() {
  const std::size_t columns = terminal_columns(STDOUT_FILENO);
  return columns == 0 ? 80 : std::max(columns, least_columns);
}

void use_colour(ColourUse use) { colour_use() = use; }

bool coloured(std::FILE* stream) {
  if (colour_use() != ColourUse::automatic) return colour_use() == ColourUse::always;
  const char* term = std::getenv("TERM");
  return isatty(fileno(stream)) != 0 && !is_set("NO_COLOR") && term != nullptr && std::string_view(term) != "dumb";
}

std::string painted(std::string_view text, Paint paint) {
  if (!coloured(stdout)) return std::string(text);
  return in_colour(text, paint == Paint::good ? green : paint == Paint::bad ? red : yellow);
}

void put(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void flush_stdout() {
  errno = 0;
  std::cout.flush();
  const bool arrived = std::fflush(stdout) == 0 && !std::ferror(stdout) && std::cout;
  if (arrived) return;
  const int why = errno;
  pollfd reader{STDOUT_FILENO, 0, 0};
  if (why == EPIPE || (poll(&reader, 1, 0) > 0 && (reader.revents & POLLERR))) return;
  throw Failure(Exit::io, std::string("cannot write to standard output") + (why ? std::string(": ") + std::strerror(why) : ""));
}

// Lines and columns.

std::size_t page_width() { return std::min<std::size_t>(stdout_width(), 80); }

namespace {

constexpr std::size_t widest_cell = 28;  // a longer cell does not widen its column
constexpr std::size_t least = 30;   // the last cell of a row has at least so many terminal columns

void end_line(std::string& out, std::string& line) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + '\n';
}

}  // namespace

std::vector<std::string> broken(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(" \n"), text.size());
    const auto word = text.substr(0, end);
    if (!lines.back().empty() && columns_of(lines.back()) + 1 + columns_of(word) > width) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
    if (end < text.size() && text[end] == '\n') lines.emplace_back();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string rows_text(const std::vector<std::vector<std::string>>& rows, std::size_t indent) {
  if (rows.empty()) return "";
  const std::size_t last = rows[0].size() - 1;
  std::vector<std::size_t> width(last, 0);
  for (const auto& row : rows)
    for (std::size_t i = 0; i < last; ++i)
      if (code_points(row[i]) <= widest_cell) width[i] = std::max(width[i], code_points(row[i]));
  const std::size_t width_of_page = page_width();
  std::size_t at = indent;
  for (const auto w : width) at += w + 2;
  const auto too_long = [&](const std::vector<std::string>& row) { return at + columns_of(row[last]) > width_of_page; };
  // where too little is left for long last cells, they get lines of their own
  const bool stacked = last > 0 && at + least > width_of_page && std::any_of(rows.begin(), rows.end(), too_long);
  if (stacked) at = indent + 4;
  std::string out;
  for (const auto& row : rows) {
    std::string line(indent, ' ');
    std::size_t column = indent;
    for (std::size_t i = 0; i < last; ++i) {
      column += width[i] + 2;
      line += row[i] + "  ";
      if (code_points(line) < column) line.append(column - code_points(line), ' ');
    }
    // too wide a cell pushes the cells after it to the right; the last cell then begins on the next line
    if (!stacked && code_points(line) > at) {
      for (const auto& part : broken(std::string_view(line).substr(indent), width_of_page - indent)) {
        std::string whole = std::string(indent, ' ') + part;
        end_line(out, whole);
      }
      line.assign(at, ' ');
    }
    if (stacked) end_line(out, line);
    if (stacked) line.assign(at, ' ');
    for (const auto& text : broken(row[last], width_of_page > at ? width_of_page - at : least)) {
      line += text;
      end_line(out, line);
      line.assign(at, ' ');
    }
  }
  return out;
}

std::size_t widest(const TextColumn& column) {
  std::size_t most = columns_of(column.heading);
  for (const std::string& cell : column.rows) most = std::max(most, columns_of(cell));
  return most;
}

std::string side_by_side(const std::vector<TextColumn>& columns, std::size_t width, std::size_t together) {
  std::vector<std::size_t> widths;
  for (const TextColumn& column : columns) widths.push_back(widest(column));
  std::string out;
  for (std::size_t from = 1, to = 1; from < columns.size(); from = to) {
    const auto taken = [&] { return std::accumulate(&widths[to], &widths[to] + together, 2 * together); };
    for (std::size_t total = widths[0]; to < columns.size() && (to == from || total + taken() <= width); to += together) total += taken();
    const auto add_line = [&](auto cell) {
      std::string line;
      for (std::size_t c = 0; c < to; c = c == 0 ? from : c + 1) {
        const std::string text = cell(columns[c]), blanks(widths[c] - columns_of(text), ' ');
        line += (c == 0 ? "" : "  ") + (columns[c].right ? blanks + text : text + blanks);
      }
      end_line(out, line);
    };
    if (from > 1) out += '\n';
    add_line([](const TextColumn& column) { return column.heading; });
    for (std::size_t r = 0; r < columns[0].rows.size(); ++r) add_line([r](const TextColumn& column) { return column.rows[r]; });
  }
  return out;
}

std::string paragraph(std::string_view text, std::size_t indent, std::size_t hanging) {
  std::string out;
  for (const auto& part : broken(text, page_width() - indent - hanging)) {
    out.append(indent + (out.empty() ? 0 : hanging), ' ').append(part).append("\n");
  }
  return out;
}

}  // namespace odrpo
