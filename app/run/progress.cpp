// Draws the progress of a suite on stderr. Ignores errors there, since a closed terminal must not stop a run.
#include "app/run/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "kernels/system/host.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"
#include "train/run_settings.hpp"
#include "train/schedule/workload.hpp"

namespace odrpo::app {
namespace {

/// "making 2 worlds (34 %)", with the share of steps done where the steps of worlds are counted; empty where no world is being made.
std::string worlds_text(const Work& work) {
  if (work.worlds_in_making == 0) return "";
  const std::string share = work.world_steps_total > 0 ? fmt::format(" ({} %)", 100 * work.world_steps_done / work.world_steps_total) : "";
  return fmt::format("making {}{}", counted(work.worlds_in_making, "world"), share);
}

/// "310 steps/s", "2.4 steps/s" of this call; empty before it has trained for a second.
std::string speed_text(const Tally& tally) {
  if (tally.stepping < 1 || tally.work.steps_trained == 0) return "";
  const double speed = static_cast<double>(tally.work.steps_trained) / tally.stepping;
  if (speed < 0.05) return "";
  return (speed < 10 ? fmt::format("{:.1f}", speed) : count_text(std::round(speed))) + " steps/s";
}

/// "evaluating 2 runs"; empty if none is being evaluated.
std::string evaluating_text(const Work& work) {
  return work.evaluations > 0 ? "evaluating " + runs_text(static_cast<std::size_t>(work.evaluations)) : "";
}

std::string between(const char* blanks, const std::string& text) { return text.empty() ? "" : blanks + text; }

void draw(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

ProgressStyle progress_style(bool quiet) {
  ProgressStyle style;
  style.show = !quiet;
  const char* term = std::getenv("TERM");
  style.bar = isatty(STDERR_FILENO) && term && std::string_view(term) != "dumb" && !is_set("CI");
  style.colour = style.bar && coloured(stderr);
  return style;
}

std::string duration_text(double seconds) {
  const auto s = static_cast<long long>(std::ceil(std::clamp(seconds, 0.0, 3.6e8)));
  const long long min = (s + 59) / 60, h = min / 60;
  if (s < 60) return fmt::format("{} s", s);
  if (s < 600) return fmt::format("{} min {:02} s", s / 60, s % 60);
  if (min < 60) return fmt::format("{} min", min);
  if (h < 48) return fmt::format("{} h {:02} min", h, min % 60);
  return fmt::format("{} d {:02} h", h / 24, h % 24);
}

std::string bar_text(const Tally& tally, int width) {
  const auto steps_done = static_cast<double>(tally.work.steps_done), steps_total = static_cast<double>(tally.work.steps_total);
  const double left = seconds_to_go(tally.work, tally.elapsed);
  const std::string worlds = worlds_text(tally.work);
  const std::string runs = fmt::format("{}/{}", tally.resumed + tally.trained, runs_text(tally.total)),
                    steps = fmt::format("  {}/{} step{}", count_text(steps_done), count_text(steps_total), steps_total == 1 ? "" : "s"),
                    speed = between("  ", speed_text(tally)), evaluating = between("  ", evaluating_text(tally.work)),
                    making = worlds.empty() || (left >= 0 && tally.work.world_steps_total == 0) ? "" : "  " + worlds,
                    rest = making + (left >= 0 ? "  ETA " + duration_text(left) : "") +
                           (tally.failed > 0 ? fmt::format("  {} failed", count_text(static_cast<double>(tally.failed))) : "");
  const auto room = [&](const std::string& text) { return width - static_cast<int>(text.size()); };
  const auto with_bar = [&](const std::string& text) {
    const int cells = std::min(room(text) - 3, 40);
    const int filled = steps_total > 0 ? std::clamp(static_cast<int>(cells * (steps_done / steps_total)), 0, cells) : cells;
    return fmt::format("[{:#<{}}{:.<{}}] {}", "", filled, "", cells - filled, text);
  };
  constexpr int shortest_bar = 3 + 5;
  if (const std::string all = runs + steps + speed + evaluating + rest; room(all) >= shortest_bar) return with_bar(all);
  for (const std::string& text : {runs + steps + rest, runs + rest}) {  // with the bar if it fits; else the text alone; else without steps
    if (room(text) >= shortest_bar) return with_bar(text);
    if (room(text) >= 0) return text;
  }
  return (runs + rest).substr(0, static_cast<std::size_t>(std::max(width, 0)));
}

std::string plain_text(const Tally& tally) {
  const double left = seconds_to_go(tally.work, tally.elapsed);
  const std::string worlds = tally.work.world_steps_total > 0 ? worlds_text(tally.work) + ", " : "";
  std::string now;  // speed and evaluations
  for (const std::string& text : {speed_text(tally), evaluating_text(tally.work)})
    if (!text.empty()) now += text + ", ";
  return fmt::format("{} of {} and {} of {} step{} done, {}{}{} left{}", tally.resumed + tally.trained, runs_text(tally.total),
                     count_text(static_cast<double>(tally.work.steps_done)), count_text(static_cast<double>(tally.work.steps_total)),
                     tally.work.steps_total == 1 ? "" : "s", now, worlds, left >= 0 ? "about " + duration_text(left) : "unknown time",
                     tally.failed > 0 ? fmt::format(", {} failed", count_text(static_cast<double>(tally.failed))) : "");
}

ProgressBar::ProgressBar(ProgressStyle style) : style_(style), last_(Clock::now()) {}

void ProgressBar::show(const Tally& tally) {
  if (!style_.show) return;
  const auto now = Clock::now();
  const double since = std::chrono::duration<double>(now - last_).count();
  if (!style_.bar) {  // not a terminal: a plain line at intervals
    if (tally.over || since < style_.plain_seconds) return;
    last_ = now;
    draw(plain_text(tally) + '\n');
    return;
  }
  if (tally.over) {  // erase the bar
    if (drawn_) draw("\r\x1b[K");
    return;
  }
  if (drawn_ && since < 0.1) return;
  last_ = now, drawn_ = true;
  const std::size_t columns = terminal_columns(STDERR_FILENO);
  const std::string text = bar_text(tally, columns > 0 ? static_cast<int>(columns) : 80);
  draw(style_.colour ? fmt::format("\r\x1b[36m{}\x1b[0m\x1b[K", text) : fmt::format("\r{}\x1b[K", text));
}

}  // namespace odrpo::app
