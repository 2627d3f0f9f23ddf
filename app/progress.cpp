// How progress is drawn. Errors on stderr are ignored: a closed terminal must not stop a run.
#include "app/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "app/usage.hpp"
#include "spec/text.hpp"

namespace odrpo::app {
namespace {

bool set(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value;
}

int terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

void draw(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

ProgressStyle progress_style(bool quiet) {
  ProgressStyle style;
  style.show = !quiet;
  const char* term = std::getenv("TERM");
  style.bar = isatty(STDERR_FILENO) && term && std::string_view(term) != "dumb" && !set("CI");
  style.colour = style.bar && !set("NO_COLOR");
  return style;
}

std::string duration_text(double seconds) {
  const auto s = static_cast<long long>(std::ceil(std::clamp(seconds, 0.0, 3.6e8)));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {:02} s", s / 60, s % 60);
  return fmt::format("{} h {:02} min", s / 3600, s % 3600 / 60);
}

std::string bar_text(const Tally& tally, double elapsed_seconds, int width) {
  const std::size_t done = tally.resumed + tally.trained;
  const double rate = elapsed_seconds > 0 ? static_cast<double>(tally.trained) / elapsed_seconds : 0;
  std::string tail = fmt::format(" {}/{}", done, runs_text(tally.total));
  if (rate > 0)
    tail += fmt::format("  {:.{}f} runs/s  ETA {}", rate, rate < 10 ? 1 : 0, duration_text(static_cast<double>(tally.total - done) / rate));
  if (tally.failed > 0) tail += fmt::format("  {} failed", tally.failed);
  const int room = std::min(width - static_cast<int>(tail.size()) - 3, 40);
  if (room < 5) return tail.substr(1, static_cast<std::size_t>(std::max(width - 1, 0)));
  const auto cells = static_cast<std::size_t>(room);
  const std::size_t filled = tally.total ? std::min(cells * done / tally.total, cells) : cells;
  return fmt::format("[{}{}]{}", std::string(filled, '#'), std::string(cells - filled, '.'), tail);
}

ProgressBar::ProgressBar(ProgressStyle style) : style_(style), start_(Clock::now()), last_(start_) {}

void ProgressBar::show(const Tally& tally) {
  if (!style_.show) return;
  const auto now = Clock::now();
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double since = std::chrono::duration<double>(now - last_).count();
  if (!style_.bar) {  // a plain line now and then
    if (tally.over || since < style_.plain_seconds) return;
    last_ = now;
    const double rate = static_cast<double>(tally.trained) / elapsed;
    const std::size_t done = tally.resumed + tally.trained;
    const double left = rate > 0 ? static_cast<double>(tally.total - done) / rate : 0;
    draw(fmt::format("{} of {} done, {:.2f} runs/s, {} left{}\n", done, runs_text(tally.total), rate,
                     rate > 0 ? "about " + duration_text(left) : "unknown time",
                     tally.failed ? fmt::format(", {} failed", tally.failed) : ""));
    return;
  }
  if (tally.over) {  // leave a clean line behind
    if (drawn_) draw("\r\x1b[K");
    return;
  }
  if (drawn_ && since < 0.1) return;
  last_ = now, drawn_ = true;
  const std::string text = bar_text(tally, elapsed, terminal_width());
  draw(style_.colour ? fmt::format("\r\x1b[36m{}\x1b[0m\x1b[K", text) : fmt::format("\r{}\x1b[K", text));
}

}  // namespace odrpo::app
