// Advises on calls about an answer, answers to a prompt, and the estimator: `odrpo-bench judge advise INPUT --calls C`.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>

#include "app/command.hpp"
#include "app/flags/flag_values.hpp"
#include "app/judge/advise/advice_text.hpp"
#include "app/judge/analysis.hpp"
#include "app/run/progress.hpp"
#include "config/catalogue/catalogue.hpp"
#include "config/catalogue/learned_judge.hpp"
#include "config/read/parse.hpp"
#include "config/read/read_file.hpp"
#include "config/write/canonical.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/host.hpp"
#include "kernels/system/output_file.hpp"
#include "kernels/system/signals.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"
#include "results/store/digest.hpp"
#include "train/advice/advice.hpp"
#include "train/advice/question.hpp"
#include "train/run_settings.hpp"

namespace odrpo::app {

// Turns the flags of `judge advise` into a question (AdviceQuestion).

/// Failure `usage` for invalid words and numbers, for an estimator that groups of these sizes do not allow, and if all prices are 0.
AdviceQuestion advice_question(const JudgeAdviseOptions& o);

namespace {

constexpr const char* advised_estimators[] = {
    "grpo", "rank-grpo", "maxrl", "odrpo(grpo)", "odrpo-gini-median(grpo)", "odrpo-gini-median(maxrl)"};

// Splits the values of a flag at commas: "a,b" and "c" give a, b, c. Failure `usage` for an empty word, or a word given twice.
std::vector<std::string> words_of(const std::vector<std::string>& given, const char* flag) {
  std::vector<std::string> words;
  for (const std::string& text : given) {
    for (const std::string& word : split(text, ',')) {
      if (word.empty()) fail(Exit::usage, "{}: \"{}\" has an empty word", flag, text);
      if (std::find(words.begin(), words.end(), word) != words.end()) fail(Exit::usage, "{}: {} is named twice", flag, word);
      words.push_back(word);
    }
  }
  return words;
}

std::vector<int> numbers_of(const std::vector<std::string>& given, const char* flag, int least, int most) {
  std::vector<int> numbers;
  for (const std::string& word : words_of(given, flag)) {
    const auto n = number_from<int>(word, least, most);
    if (!n) fail(Exit::usage, "{}: \"{}\" is no whole number from {} to {}", flag, word, least, most);
    numbers.push_back(*n);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// The estimator that `word` names. Failure `usage`, with a suite's message, if a suite with these group sizes and votes would refuse it.
NamedEstimator estimator_named(const std::string& word, const AdviceQuestion& question) {
  using Estimators = CatalogueOf<EstimatorConfig>;
  const auto found = Estimators::find(word);
  if (!found) fail(Exit::usage, "--estimators: there is no estimator \"{}\"{}", word, did_you_mean(word, Estimators::words()));
  if (found->config.corrected) fail(Exit::usage, "--estimators: {}: no advice trains corrected scores, which have another channel for each rule and number of votes; `run` does", found->word);
  const std::string suite = fmt::format(
      "[suite]\nname = \"advise\"\nseed = 1\nseeds = 1\n[grid]\nrater = [\"a\", \"b\"]\nestimator = [\"{}\"]\nvotes = [{}]\n"
      "[rater.a]\nbase = \"mixed\"\n[rater.b]\nbase = \"mixed\"\naggregate = \"mean\"\n[learn]\nrollouts = [{}]\n",
      found->word, fmt::join(question.votes, ", "), fmt::join(question.rollouts, ", "));
  try {
    load_suite_text("--estimators " + found->word, suite, {}, {});
  } catch (const Failure& failure) {
    throw Failure(Exit::usage, failure.what());
  }
  return {found->word, found->config};
}

}  // namespace

AdviceQuestion advice_question(const JudgeAdviseOptions& o) {
  AdviceQuestion q;
  q.calls = o.calls;
  if (o.price_call) {
    q.prices = {*o.price_call, *o.price_rollout};
    if (*o.price_call + *o.price_rollout == 0) fail(Exit::usage, "--price-call 0 --price-rollout 0: every choice would be free");
  }
  if (o.seconds_call) q.times = {*o.seconds_call, o.parallel.value_or(1)};
  q.batch = o.batch;
  if (!o.rollouts.empty()) q.rollouts = numbers_of(o.rollouts, "--rollouts", 2, 255);
  if (!o.votes.empty()) q.votes = numbers_of(o.votes, "--votes", 1, 1024);
  if (!o.rules.empty()) {
    q.rules.clear();
    for (const std::string& word : words_of(o.rules, "--rules"))
      q.rules.push_back(word_or_refuse("--rules", vote_rule_words, word, printable_line));
  }
  if (!o.policies.empty()) {
    q.policies.clear();
    for (const std::string& word : words_of(o.policies, "--policies")) {
      const PolicyKind kind = word_or_refuse("--policies", policy_words, word, printable_line);
      if (kind == PolicyKind::transformer) fail(Exit::usage, "--policies: a transformer is what --thorough trains");
      q.policies.push_back(kind);
    }
  }
  std::vector<std::string> names = words_of(o.estimators, "--estimators");
  if (names.empty()) names.assign(std::begin(advised_estimators), std::end(advised_estimators));
  for (const std::string& name : names) q.estimators.push_back(estimator_named(name, q));
  q.report_seeds = o.seeds, q.tuning_seeds = o.tuning_seeds;
  q.thorough = o.thorough;
  q.seed = static_cast<std::uint64_t>(o.seed);
  return q;
}

namespace {

// Name of the file in which a stopped call keeps its finished trainings. It contains a hash of the question and the judge.
std::string saved_name(const AdviceQuestion& q, const JudgeWorld& judge) {
  std::string text =
      canonical_fields(judge.rater) + fmt::format("{} {} {} {} {}", q.calls, q.batch, q.seed, q.tuning_seeds, q.report_seeds);
  if (q.prices) text += fmt::format(" price {} {}", q.prices->call, q.prices->rollout);
  if (q.times) text += fmt::format(" time {} {}", q.times->seconds, q.times->parallel);
  return fmt::format("judge-advice-{}.saved", sha256_hex(text).substr(0, 12));
}

// Loads the trainings that an earlier call saved at `path`. Ignores a file that is damaged or that another build wrote, and says so.
void load_saved(const std::string& path, Trials& trials) {
  if (!exists(path)) return;
  try {
    if (trials.load(read_scores_file(path), build_name())) {
      print_note(fmt::format("note: goes on with {} trainings of {}", trials.known(), path));
      return;
    }
  } catch (const Failure&) {
  }
  print_note(fmt::format("note: {} is damaged or another build's: ignored", path));
}

// Removes the file of saved trainings if it is a regular file; leaves anything else of that name.
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
    fail(Exit::usage, "{} says how a file of scores is read, and {} is none", flag, o.path);
  if (!o.output.empty()) check_output(o.output, o.path);
  if (!o.figure.empty()) check_advice_figure(o.figure, o.path);
  std::atomic<bool> stop{false};
  const int jobs = jobs_or_cores(o.jobs);
  const auto start = std::chrono::steady_clock::now();
  const StopOnSignal signals(stop, o.quiet);

  // the judge, and alternatives to it
  AdviceInput input{printable_line(o.path), "", {}};
  std::optional<FileJudges> judges;
  std::vector<std::string> warnings;  // warnings about the file of scores
  if (file) {
    question.fit_error = usual_fit_error;
    const ScoreTable table = read_score_table(o.path, how);
    input.found = table_text(table) + besides_text(table);
    input.columns = column_finding(table, o.scores, question.seed);
    warnings = table.warnings;
    judges = judges_of(table, input.name, o.drawn, question.seed, jobs, stop);
    if (!judges) {
      print_note("stopped before anything was trained; the same command begins again");
      return static_cast<int>(Exit::stopped);
    }
  } else {
    const RaterConfig rater = rater_named(o.path, o.quiet);
    if (rater.text != TextJudge{}) fail(Exit::usage, "rater {} looks at the text of responses, which the bandit's have not", input.name);
    question.levels = simulated_levels(rater, o.scores.levels);
    judges = FileJudges{{"judge", rater}, {}, {}, {}};
  }
  input.notes = judges->notes;

  // train the choices; goes on with the trainings that an earlier call has saved
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
    advice->doubts = warnings;
    advice->doubts.insert(advice->doubts.end(), judges->doubts.begin(), judges->doubts.end());
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
