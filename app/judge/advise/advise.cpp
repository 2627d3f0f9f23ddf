// `odrpo-bench judge advise INPUT --calls C`: how many calls about an answer, how many answers to a prompt, which estimator.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "app/judge/advise/advice_question.hpp"
#include "app/build_facts.hpp"
#include "app/command.hpp"
#include "app/judge/advise/advice_text.hpp"
#include "app/judge/input.hpp"
#include "app/flags/named_rater.hpp"
#include "app/output_file.hpp"
#include "app/printable.hpp"
#include "app/run/progress.hpp"
#include "app/flags/score_options.hpp"
#include "app/signals.hpp"
#include "app/usage.hpp"
#include "kernels/shared/failure.hpp"
#include "results/store/digest.hpp"
#include "config/write/canonical_fields.hpp"
#include "config/catalogue/learned_judge.hpp"
#include "config/read/read_file.hpp"
#include "train/advice/judges.hpp"
#include "train/run_settings.hpp"

namespace odrpo::app {
namespace {

// Where an advice that was stopped is kept: named by what it asks and of whom.
std::string saved_name(const AdviceQuestion& q, const JudgeWorld& judge) {
  std::string text =
      canonical_fields(judge.rater) + fmt::format("{} {} {} {} {}", q.calls, q.batch, q.seed, q.tuning_seeds, q.report_seeds);
  if (q.prices) text += fmt::format(" price {} {}", q.prices->call, q.prices->rollout);
  if (q.times) text += fmt::format(" time {} {}", q.times->seconds, q.times->parallel);
  return fmt::format("judge-advice-{}.saved", sha256_hex(text).substr(0, 12));
}

// Takes over what an earlier call has saved, if it can be read and is whole.
void load_saved(const std::string& path, Trials& trials) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return;
  try {
    if (trials.load(read_scores_file(path), build_name())) {
      print_note(fmt::format("note: goes on with {} trainings of {}", trials.known(), path));
      return;
    }
  } catch (const Failure&) {
  }
  print_note(fmt::format("note: {} is damaged or another build's: ignored", path));
}

// Nothing else that may have that name is touched.
void remove_saved(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(std::filesystem::symlink_status(path, ignored))) std::filesystem::remove(path, ignored);
}

Tally tally_of(const AdviceProgress& at, double elapsed) {
  Tally tally;
  tally.total = static_cast<std::size_t>(at.runs_total);
  tally.trained = static_cast<std::size_t>(at.runs_done);
  tally.elapsed = elapsed;
  tally.work.steps_total = static_cast<std::uint64_t>(at.steps_total), tally.work.steps_done = static_cast<std::uint64_t>(at.steps_done);
  tally.work.seconds_seen = at.seconds_done, tally.work.seconds_left = at.seconds_total - at.seconds_done;
  return tally;
}

}  // namespace

int judge_advise(const JudgeAdviseOptions& o) {
  AdviceQuestion question = advice_question(o);
  const ScoreReading how = score_reading(o.scores);
  const bool file = is_score_file(o.path);
  if (const std::string flag = file_flag(o.scores); !file && !flag.empty())
    throw Failure(Exit::usage, fmt::format("{} says how a file of scores is read, and {} is none", flag, printable_line(o.path)));
  if (!o.output.empty()) check_output(o.output, o.path);
  if (!o.figure.empty()) check_advice_figure(o.figure, o.path);
  std::atomic<bool> stop{false};
  const int jobs = jobs_or_cores(o.jobs);
  const auto start = std::chrono::steady_clock::now();
  const StopOnSignal signals(stop, o.quiet);

  // the judge, and others that it might be
  AdviceInput input{printable_line(o.path), "", {}};
  std::optional<FileJudges> judges;
  if (file) {
    question.fit_error = usual_fit_error;
    const ScoreTable table = read_score_table(o.path, how);
    input.found = table_text(table) + besides_text(table);
    input.columns = column_finding(table, o.scores, question.seed);
    judges = judges_of(table, input.name, o.drawn, question.seed, jobs, stop);
    if (!judges) {
      print_note("stopped before anything was trained; the same command begins again");
      return static_cast<int>(Exit::stopped);
    }
  } else {
    const RaterConfig rater = rater_named(o.path, o.quiet);
    if (rater.text != TextJudge{})
      throw Failure(Exit::usage, fmt::format("rater {} looks at the text of responses, which the bandit's have not", input.name));
    question.levels = simulated_levels(rater, o.scores.levels);
    judges = FileJudges{{"judge", rater}, {}, {}, {}};
  }
  input.notes = judges->notes;

  // the race, unless it was begun before
  Trials trials(jobs, stop);
  const std::string saved = saved_name(question, judges->fitted);
  load_saved(saved, trials);
  const ProgressStyle style = progress_style(o.quiet);
  ProgressBar bar(style);
  AdviceWork work([&](const AdviceProgress& at) {
    StopOnSignal::line_begun(style.show && style.bar);
    bar.show(tally_of(at, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()));
  });
  const auto save = [&] {
    write_output(saved, trials.saved(build_name()));
    return fmt::format("{} trainings are saved in {}; the same command continues", trials.known(), saved);
  };
  try {
    auto advice = advise(question, judges->fitted, judges->others, trials, work);
    Tally over;
    over.over = true;
    bar.show(over);
    StopOnSignal::line_begun(false);
    if (!advice) {
      print_note("stopped: " + save());
      return static_cast<int>(Exit::stopped);
    }
    advice->doubts = judges->doubts;
    input.runs = trials.known();
    if (const std::string warning = columns_warning(input.columns); !warning.empty())
      advice->doubts.insert(advice->doubts.begin(), warning + " The advice and its checks below are those of one judge; for several they may be the opposite.");
    input.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const std::string text = o.json ? advice_json(*advice, question, input) : advice_text(*advice, question, input);
    if (o.output.empty()) put(text);
    else write_output(o.output, text);
    if (!o.figure.empty()) draw_advice_figure(*advice, question, input, o.figure);
  } catch (const Failure& failure) {
    if (trials.trained() == 0) throw;
    throw Failure(failure.code, fmt::format("{}; {}", failure.what(), save()));
  }
  remove_saved(saved);
  return static_cast<int>(Exit::ok);
}

}  // namespace odrpo::app
