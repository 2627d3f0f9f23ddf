// Measures a program alone and saves it as a baseline: `gate --save FILE.json`.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <optional>

#include "gate/prepare.hpp"
#include "gate/programs.hpp"
#include "gate/report/report.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/output_file.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {
namespace {

constexpr int blocks_of_session = 20;

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

/// Why no session can be added to what the file holds; empty: it can.
std::string another(const StoredBaseline& old, const StoredBaseline& now) {
  if (old.kind != now.kind) return fmt::format("its kind is {}", old.kind);
  if (old.command != now.command) return fmt::format("its command is {}", short_text(old.command, 200));
  if (!old.timed()) return "it holds no times";
  const std::string differ = differing_conditions(old.conditions, now.conditions, {"stored", "here"}, true);
  return differ.empty() ? "" : "it was saved under other conditions" + differ;
}

[[noreturn]] void refuse(const GateOptions& o, const std::string& why) {
  throw Failure(Exit::io,
                fmt::format("'{}' is there already, and no session can be added: {}\n--force replaces it", printable_line(o.save), why));
}

/// Adds the new session to the old ones, and keeps their counts.
void add_session(const GateOptions& o, const StoredBaseline& old, StoredBaseline& now, const std::vector<GateLeftOut>& left_out) {
  if (old.cases.size() != now.cases.size())
    refuse(o, fmt::format("it has {} cases, and this program {}{}", old.cases.size(), now.cases.size(),
                          left_out.empty() ? "" : fmt::format("; \"{}\": {}", short_text(left_out[0].name, 80), left_out[0].why)));
  for (std::size_t i = 0; i < now.cases.size(); ++i) {
    const StoredCase& was = old.cases[i];
    if (was.name != now.cases[i].name || was.checksum != now.cases[i].checksum || was.varies != now.cases[i].varies)
      refuse(o, fmt::format("case \"{}\" is another one, or computes something else", short_text(was.name, 80)));
    if (was.repeat != now.cases[i].repeat)
      refuse(o, fmt::format("case \"{}\" was measured with {} units at a time, and here with {}: another gate has saved meanwhile", short_text(was.name, 80), was.repeat,
                            now.cases[i].repeat));
    now.cases[i].sessions.insert(now.cases[i].sessions.begin(), was.sessions.begin(), was.sessions.end());
  }
  now.sessions.insert(now.sessions.begin(), old.sessions.begin(), old.sessions.end());
  now.conditions = old.conditions;
  now.counts = old.counts;
  now.counted_by = old.counted_by;
  now.allocations_by = old.allocations_by;
}

/// The existing file, to which a session can be added. None if there is no file, or it is to be replaced.
std::optional<StoredBaseline> earlier(const GateOptions& o, const StoredBaseline& now) {
  if (o.force || !exists(o.save)) return std::nullopt;
  StoredBaseline old = read_stored(o.save);
  const std::string why = now.timed() ? another(old, now) : "a file without times has no sessions";
  if (!why.empty()) refuse(o, why);
  return old;
}

/// Lets one gate at a time read and write in a folder, where the file system has flock.
class OneAtATime {
 public:
  explicit OneAtATime(const std::string& path) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    file_ = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int tries = 0; file_ >= 0 && ::flock(file_, LOCK_EX | LOCK_NB) != 0 && (errno == EWOULDBLOCK || errno == EINTR); ++tries) {
      if (tries == most_tries) fail(Exit::io, "another process holds a lock on the folder of '{}'", path);
      ::usleep(10'000);
    }
  }
  ~OneAtATime() {
    if (file_ >= 0) ::close(file_);
  }
  OneAtATime(const OneAtATime&) = delete;
  OneAtATime& operator=(const OneAtATime&) = delete;

 private:
  static constexpr int most_tries = 1000;  ///< ten seconds
  int file_ = -1;
};

}  // namespace

int save_gate(const GateOptions& o) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const ComparedKind kind = word_or_refuse<ComparedKind>("--kind", compared_kind_words, o.kind);
  check_flags_of_kind(o, kind);
  const CountWish wish = o.counts.empty() ? CountWish::automatic : word_or_refuse<CountWish>("--counts", count_words, o.counts);
  check_output(o.save, "");
  GateProcesses processes(o);
  const CountTools tools = find_count_tools(wish);
  const bool timed = !o.only_counts;
  StoredBaseline stored;
  stored.kind = word_of(std::span<const Word<ComparedKind>>(compared_kind_words), kind);
  stored.command = o.baseline.empty() ? quoted_word(this_program()) : o.baseline;
  Prepared p(gate_commands(baseline, stored.command, words_of_kind(kind, o), processes.rules()));
  stored.conditions = conditions_of(kind, p.commands, timed, true, processes);
  if (timed) stored.sessions = {now_text()};
  std::optional<StoredBaseline> old = earlier(o, stored);
  std::vector<GateLeftOut> left_out;
  {
    ProgressLine line(o.quiet);
    line.show("looking at the cases");
    prepare(p, kind, o, processes.keeper, processes.seed, left_out, old ? &*old : nullptr);
    stored.clock = p.kind.clock;
    Counts counts = count_cases(p, kind, old ? CountWish::off : wish, tools, processes.keeper, line);
    const GateSession session = measure_alone(p.kind, timed ? blocks_of_session : 1, o.max_seconds, [&](const GateProgress& at) {
      line.show(fmt::format("block {} of {}", at.block + 1, at.next_look));
    });
    for (const auto& [i, refusals] : session.refused)
      left_out.push_back({p.kind.cases[i], fmt::format("{}: {}", verdict_word(*refusals.verdict()), refusals.text())});
    if (session.refused.size() == p.kind.cases.size()) no_case_left(p, o, false, left_out);
    GateReport counted;  // for its words
    for (std::size_t i = 0; i < p.kind.cases.size(); ++i) {
      if (session.refused.contains(i)) continue;
      const Checksums& sums = session.checksums[i];
      stored.cases.push_back({p.kind.cases[i], p.kind.repeat[i], sums.of_baseline(), sums.varies(), {}});
      if (timed) stored.cases.back().sessions = {session.ns[i]};
      counted.measured.emplace_back();
      counted.measured.back().counts = counts.of_case[i];
      stored.counts.push_back(std::move(counts.of_case[i]));
    }
    say_counted_by(counted, counts.no_instructions, counts.no_allocations);
    if (const std::string why = why_nothing_counted(counted); !timed && !why.empty()) throw Failure(Exit::no_baseline, why);
    stored.counted_by = counted.counted_by;
    stored.allocations_by = counted.allocations_by;
  }
  {
    const OneAtATime turn(o.save);
    const bool counted = !old;
    old = earlier(o, stored);  // again: another gate may have saved a session meanwhile
    if (!old && !counted && !o.force) refuse(o, "it went away while this gate measured");
    if (old) add_session(o, *old, stored, left_out);
    write_output(o.save, stored_json(stored));
  }
  if (o.quiet) return static_cast<int>(Exit::ok);
  std::string out = fmt::format(
      "saved {}: {}, {}\n", short_text(o.save, 50), counted(stored.cases.size(), "case"),
      timed ? counted(stored.sessions.size(), "session") + " of times" : "no times");
  for (const Condition& c : stored.conditions) out += paragraph(fmt::format("{}: {}", c.name, short_text(c.value, 200)), 2, 4);
  for (const GateLeftOut& left : left_out)
    out += paragraph(fmt::format("left out: {}: {}", short_text(left.name, 40), short_text(left.why, 200)), 0, 2);
  out += paragraph(fmt::format("Instructions counted by: {}. Allocations: {}.", stored.counted_by, stored.allocations_by), 0);
  put(without_ci_commands(out + fmt::format("{:.0f} s\n", std::chrono::duration<double>(Clock::now() - begin).count())));
  return static_cast<int>(Exit::ok);
}

}  // namespace odrpo
