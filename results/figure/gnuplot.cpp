// Starts gnuplot on a script and takes the figure from it.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"
#include "results/figure/figure.hpp"
#include "results/figure/script.hpp"
#include "results/scores/csv.hpp"

extern char** environ;

namespace odrpo {
namespace {

[[noreturn]] void cannot_draw(const std::string& why) { throw Failure(Exit::io, "cannot draw the figure: " + why); }

/// A file in memory: what a program reads or writes is there at once, and neither side waits for the other.
class MemoryFile {
 public:
  MemoryFile() : file_(::memfd_create("figure", MFD_CLOEXEC)) {
    if (file_ < 0) cannot_draw(std::strerror(errno));
  }
  ~MemoryFile() { ::close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  int descriptor() const { return file_; }
  void write(std::string_view text) {
    while (!text.empty()) {
      const auto n = ::write(file_, text.data(), text.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) cannot_draw(std::strerror(errno));
      text.remove_prefix(static_cast<std::size_t>(n));
    }
    ::lseek(file_, 0, SEEK_SET);
  }
  std::string read() const {
    struct stat info {};
    ::fstat(file_, &info);
    std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
    std::size_t at = 0;
    while (at < bytes.size()) {
      const auto n = ::pread(file_, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      at += static_cast<std::size_t>(n);
    }
    bytes.resize(at);
    return bytes;
  }

 private:
  int file_;
};

/// Runs gnuplot; its exit status as waitpid gives it.
int run_gnuplot(const MemoryFile& in, const MemoryFile& out, const MemoryFile& messages) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in.descriptor(), 0);
  ::posix_spawn_file_actions_adddup2(&actions, out.descriptor(), 1);
  ::posix_spawn_file_actions_adddup2(&actions, messages.descriptor(), 2);
  std::string program = "gnuplot", no_settings_of_the_user = "-d", from_stdin = "-";
  char* const arguments[] = {program.data(), no_settings_of_the_user.data(), from_stdin.data(), nullptr};
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) cannot_draw("gnuplot is not there (Debian: apt-get install gnuplot-nox); --data writes the numbers without it");
  if (error != 0) cannot_draw(std::string("gnuplot does not start: ") + std::strerror(error));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) cannot_draw(std::strerror(errno));
  return status;
}

/// The line of gnuplot's messages that says what is wrong: the last that is not blank.
std::string reason(const std::string& messages) {
  std::string last;
  for (std::size_t from = 0; from < messages.size();) {
    const std::size_t end = std::min(messages.find('\n', from), messages.size());
    if (messages.find_first_not_of(" \t", from) < end) last = messages.substr(from, end - from);
    from = end + 1;
  }
  return last.empty() ? "gnuplot did not succeed" : "gnuplot: " + printable_text(last);
}

}  // namespace

std::string draw_figure(const Figure& figure, FigureFormat format, FigureSize size) {
  MemoryFile in, out, messages;
  in.write(figure_script(figure, format, size));
  const int status = run_gnuplot(in, out, messages);
  std::string bytes = out.read();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || bytes.empty()) cannot_draw(reason(messages.read()));
  return bytes;
}

// The numbers of a figure as CSV, for those who draw it themselves.

std::string figure_csv(const Figure& figure) {
  std::string out = "panel,title,series,x_label,x,x_name,y_label,y,lo,hi,filled,caption\n";
  for (std::size_t p = 0; p < figure.panels.size(); ++p) {
    const FigurePanel& panel = figure.panels[p];
    const bool forest = panel.kind == PanelKind::forest, named = panel.kind == PanelKind::bars || panel.kind == PanelKind::heatmap;
    const auto add = [&](const std::string& series, const FigurePoint& point, const std::string& y_label) {
      const auto line = static_cast<std::size_t>(forest ? point.y : point.x);
      const std::string name = forest && line < panel.y_names.size()  ? panel.y_names[line]
                               : named && line < panel.x_names.size() ? panel.x_names[line]
                                                                      : "";
      // a forest's numbers lie along x
      out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", p + 1, csv_field(panel.title), csv_field(series),
                         csv_field(panel.x_label), exact_text(point.x), csv_field(name), csv_field(y_label),
                         forest ? "" : exact_text(point.y), exact_text(point.lo), exact_text(point.hi),
                         !forest        ? ""
                         : point.filled ? "true"
                                        : "false",
                         csv_field(figure.caption));
    };
    for (const FigureSeries& series : panel.series)
      for (const FigurePoint& point : series.points) add(series.name, point, panel.y_label);
    for (const FigurePoint& point : panel.background) add("", point, panel.background_label);
  }
  return out;
}

}  // namespace odrpo
