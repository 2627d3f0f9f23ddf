#!/usr/bin/env bash
# Measures again what docs/lab/measurements.md shows, and writes the page. Usage: docs/lab/measure.sh [SECTION…]
#
# Without a section: all of them, some 40 minutes on two cores. The other sections stay as they are. A section is replaced when all of its
# commands have succeeded; when one fails, the page keeps the old section and the call ends with an error. After a stop (Ctrl-C, a kill, a
# failure) the same call continues where it stopped: its files are in build/measure, which it removes when all is done. With another
# program, other suites or other sections it begins anew.
#
#   ODRPO_BENCH          the program; default build/release/odrpo-bench
#   ODRPO_JUDGE_SCORES   files of scores for judge-scores, with : between; without it that section is skipped
set -euo pipefail
shopt -s inherit_errexit
export LC_ALL=C.UTF-8
unset CDPATH

sections=(quickstart yardstick calibrated stress gradient-cosine votes-mean compat judge-scores toy-lm toy-lm-lora seeds-needed aa speed peers)

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
page=$root/docs/lab/measurements.md
work=$root/build/measure
now=   # the section at work
part=  # the part of it, where it trains one suite several times

say() { printf 'measure: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }
ended() {
  local status=$?
  rm -f -- "$page.new"
  [[ $status -eq 0 || -z $now ]] || say "$now: stopped with exit code $status; the page keeps its old section, the same call continues"
}
trap ended EXIT

# --- what sections are made of; all but timed and train write to stdout, which becomes the section

# title HEADING, with its prose on stdin
title() {
  printf '## %s\n\n' "$1"
  cat
  printf '\n'
}

# command WORD…: as a reader would type it, indented
command_line() {
  local word text=
  for word; do
    [[ $word =~ ^[A-Za-z0-9_./:,=%+-]+$ ]] || word="'$word'"
    text+=" $word"
  done
  printf '    odrpo-bench%s\n\n' "$text"
}

# timed COMMAND…: adds its CPU seconds to those of the section; its messages are shown when it fails
timed() {
  local TIMEFORMAT='%3U %3S' status=0
  { time "$@" 2>&3; } 3>"$work/messages" 2>>"$work/$now.cpu" || status=$?
  ((status == 0)) || { cat -- "$work/messages" >&2; return "$status"; }
}

# train SUITE [ARGUMENT…]: runs suites/SUITE.toml into $result; its numbers go to $work/facts. A stopped one continues.
train() {
  local suite=$1 folder
  shift
  folder=$work/$now${part:+-$part}
  mkdir -p -- "$folder"
  result=$folder/${suite##*/}.h5
  say "$now: run suites/$suite.toml $*"
  timed "$bench" run "suites/$suite.toml" "$@" -o "$result" --json --quiet >"$work/summary"
  local digest runs
  digest=$(sed -n 's/^ *"digest": *"\([0-9a-f]\{12\}\).*/\1/p' "$work/summary" | head -n 1)
  runs=$(sed -n 's/^ *"total": *\([0-9]*\).*/\1/p' "$work/summary" | head -n 1)
  [[ -n $digest && -n $runs ]] || fail "$now: no digest in the summary of suites/$suite.toml"
  printf '%s runs, digest %s. ' "$runs" "$digest" >>"$work/facts"
}

# show [ARGUMENT…]: a table of $result as Markdown, without its lines on raters and formulas; the command where it is not the suite's own
show() {
  if (($# > 0)); then command_line table "${result##*/}" "$@"; fi
  timed "$bench" table "$result" "$@" --format md >"$work/table"
  grep -v -e '^\*\*suite ' -e '^- rater ' -e '^- formula of ' "$work/table" | cat -s | sed '1{/^$/d}'
  printf '\n'
}

# suite NAME [ARGUMENT…]: trains and shows the suite's own table
suite() {
  train "$@"
  command_line run "suites/$1.toml" "${@:2}"
  show
}

# acceptance CASE: what the acceptance program prints about it, where it is built
acceptance() {
  local program
  program=$(find "$(dirname -- "$bench")" -name test_acceptance -type f -perm -u+x 2>"$work/messages" | head -n 1)
  [[ -n $program ]] || { say "$now: test_acceptance is not built: its part is left out"; return 0; }
  say "$now: test_acceptance $1"
  timed "$program" "$1" >"$work/accepted"
  printf '    test_acceptance "%s"\n\n```\n' "$1"
  grep -v -e '^=*$' -e '^All tests passed' -e '^Filters:' -e '^Randomness' "$work/accepted"
  printf '```\n\n'
}

# facts: runs, digest, CPU seconds, when, which program and machine
facts() {
  local cpu
  cpu=$(awk '{ s += $1 + $2 } END { printf s < 10 ? "%.1f" : "%.0f", s }' "$work/$now.cpu")
  [[ ! -s $work/facts ]] || cat -- "$work/facts"
  printf '%s s of CPU. %s, revision %s, %s.\n' "$cpu" "$(date -u +%F)" "$revision" "$machine"
}

# --- the sections

section_quickstart() {
  title Quickstart <<'END'
Six estimators on the bandit, one vote or eight. Five seeds at one learning rate are a demonstration: read the intervals, not the means.
END
  suite quickstart
  facts
}

section_yardstick() {
  title 'The yardstick: the same final regret as an independent program' <<'END'
The tabular bandit of an independent numpy program, 64 seeds. The second table has that program's regret beside this one's (required:
within 0.006 levels). Each program deals its own worlds, but all cells of one program share its 64 worlds: the signs of the differences
are not independent.
END
  suite yardstick
  acceptance 'yardstick*'
  facts
}

section_calibrated() {
  title Calibrated <<'END'
Every estimator under four judges of the same median Kendall W, at its best learning rate. The rates are chosen on seeds that are not
reported. The last table compares with a published difference (required: that the intervals overlap).
END
  suite calibrated
  acceptance 'calibrated*'
  facts
}

section_stress() {
  title Stress <<'END'
Which kind of noise helps or breaks an estimator? The same learning as in [Calibrated](#calibrated). `low20` and `easylow` have low
outliers, `high10` and `hardhigh` high ones; `flip10` mirrors scores; `hack` gives some bad responses the highest score. [Published
figures](measured-by-hand.md#published-figures-against-this-program) stand on another page.
END
  suite stress
  facts
}

section_gradient-cosine() {
  title 'Gradients at fixed policies' <<'END'
Which estimator's gradient points along the exact one? The policies do not learn, so that all estimators of a seed meet the same responses and
scores. `linear-3` and `tabular-3` start tilted towards the true quality. [What is measured, and what it says](../gradients.md). The second
table has the signal-to-noise ratio of one batch.
END
  suite gradient-cosine
  show --value gradient-snr
  facts
}

section_votes-mean() {
  title 'Mode, median or mean of N votes' <<'END'
What should become of N scores under grpo? Each column is compared with its own single vote. The mode and the median of many votes lose
the noise that tells responses of one rounded level apart; the mean keeps it. Other estimators behave differently: [the mode of 32
votes](measured-by-hand.md#the-mode-of-32-votes-against-one-vote).
END
  suite votes-mean
  facts
}

section_compat() {
  title 'Conventions of eight trainers' <<'END'
The same estimators as eight systems compute them, each with what that system does to the batch afterwards, under Adam and SGD. Compare
conventions at a learning rate of their own: where nothing is whitened, advantages are small and SGD wants much larger rates.
END
  suite compat
  facts
}

section_judge-scores() {
  title 'Judges learned from scores' <<'END'
A judge and a world learned from each file of real scores ([raters.md](../raters.md#judges-from-scores)). A channel learned from whole levels
cannot tell responses of one level apart, so that the mean of N scores has no advantage over their mode by construction.
END
  local file
  for file in "${scores[@]}"; do
    part=$(basename -- "$file" .csv)
    printf '### %s\n\n' "$part"
    train judge-scores --set "rater.judge.scores=$file"
    command_line run suites/judge-scores.toml --set "rater.judge.scores=${file##*/}"
    show
  done
  part=
  facts
}

section_toy-lm() {
  title 'The toy language model' <<'END'
A small transformer learns from a rubric judge: the quality of its responses to prompts that it never trains on. It starts between 2 and
4.
END
  suite toy-lm-quickstart
  facts
}

section_toy-lm-lora() {
  title 'LoRA against full fine-tuning' <<'END'
Adapters of two ranks and all weights, from one warm start, each at its best of several learning rates. Seconds are of a machine that had
other work too.
END
  suite toy-lm-lora
  facts
}

# paired VALUE…: sd of the paired differences, from the table as CSV
paired() {
  local value
  printf '| estimator, minus the baseline | value | pairs | difference | sd of a pair |\n|---|---|---|---|---|\n'
  for value; do
    timed "$bench" table "$result" --value "$value" --format csv >"$work/csv"
    python3 - "$work/csv" <<'END'
import csv, sys

for row in csv.DictReader(open(sys.argv[1], encoding="utf-8")):
    if row["difference_sd"]:
        difference, sd = float(row["difference"]), float(row["difference_sd"])
        print(f"| {row['estimator']} | {row['value']} | {row['pairs']} | {difference:+.2f} | {sd:.2f} |")
END
  done
  printf '\n'
}

section_seeds-needed() {
  title 'Seeds needed' <<'END'
How much do differences vary from seed to seed, at the last step (gain) and as the mean over training (auc)? The seeds needed for a given
half-width grow with the square of the sd of a pair.
END
  part=calibrated
  train calibrated --only '*/mixed/*'
  command_line run suites/calibrated.toml --only '*/mixed/*'
  paired gain auc
  part=toy-lm
  train toy-lm-quickstart --set suite.seeds=16
  command_line run suites/toy-lm-quickstart.toml --set suite.seeds=16
  paired gain auc
  local value
  for value in gain auc; do show --value "$value" --power 2%; done
  part=
  facts
}

section_aa() {
  title 'Stars where nothing differs' <<'END'
How often does a table show a star when the truth is no difference at all? One judge under two names, sampled by the distribution of its votes and by
its draws; both arms choose among five learning rates on a plateau. A star is that of [tables.md](../tables.md#the-best-axis-value).
END
  acceptance 'tables of equal trained rows*'
  facts
}

section_speed() {
  title Speed <<'END'
Microbenchmarks on one thread: CPU time of one step of a run of the yardstick, and of the advantages of a million groups of 8 scores on 10
levels (all of them together). Median, least and most of repeats that are interleaved.
END
  local filter='^(run_step/.*/law/n(1|32)|advantage(_table)?/(grpo|odrpo-gini.*\(grpo\)|rank-grpo)/G8/K10/groups1000000)$'
  local arguments=(bench "--benchmark_filter=$filter" --benchmark_repetitions=9 --benchmark_enable_random_interleaving=true
                   --benchmark_min_time=0.05 --benchmark_format=json)
  command_line "${arguments[@]}"
  say "$now: bench"
  timed "$bench" "${arguments[@]}" >"$work/json"
  python3 - "$work/json" <<'END'
import json, statistics, sys

times, unit = {}, {}
for row in json.load(open(sys.argv[1], encoding="utf-8"))["benchmarks"]:
    if row["run_type"] != "iteration" or row.get("error_occurred"):  # such as a form that has no table
        continue
    times.setdefault(row["name"], []).append(row["cpu_time"])
    unit[row["name"]] = row["time_unit"]
print("| benchmark | median | least, most | repeats |\n|---|---|---|---|")
for name, t in times.items():
    micro = {"ns": 1e-3, "us": 1, "ms": 1e3}[unit[name]]
    shown = [f"{x * micro:.3g}" if x * micro < 100 else f"{x * micro:.0f}" for x in (statistics.median(t), min(t), max(t))]
    print(f"| `{name}` | {shown[0]} us | {shown[1]}, {shown[2]} us | {len(t)} |")
END
  printf '\n'
  facts
}

section_peers() {
  title 'Regret and speed beside numpy, JAX and torch' <<'END'
The [yardstick](#the-yardstick-the-same-final-regret-as-an-independent-program)'s problem as one would write it with each library
([bandit_peers.py](bandit_peers.py)): many seeds at once, the vote drawn from its exact distribution, the gradient written out without automatic
differentiation. numpy steps in place; JAX compiles all steps as one `scan`; torch is eager, with the fused Adam of `torch.optim`
(`torch.compile` of the gradient took three times as long). Regrets must agree within 0.006 levels before anything is timed. Then the programs
take turns on one processor, one thread each.

The whole process of odrpo-bench has its start, worlds, an exact evaluation every 10 steps and the result file; the median step has none of these.
Times of the libraries are of 240 steps without evaluations, start and compilation.
END
  local python=$root/build/peers/bin/python
  printf '    docs/lab/measure.sh peers\n\n'
  if ! "$python" -c 'import numpy, jax, torch' 2>"$work/messages"; then
    say "$now: installs numpy, jax and torch (some gigabytes) in build/peers"
    python3 -m venv "$root/build/peers"
    "$python" -m pip install -q numpy 'jax[cpu]' torch >&2
  fi
  say "$now: speed.py"
  timed "$python" docs/lab/speed.py "$bench" "$python"
  facts
}

# --- the page

preamble() {
  cat <<'END'
# Measurements

`docs/lab/measure.sh` runs the commands and writes this page; edit the script, not the page. A difference is paired by seed, an interval is a
95 % interval, and `@0.3` is the learning rate of a cell ([tables.md](../tables.md)). The tables leave out what raters
and estimators compute; `odrpo-bench list` shows it. Digests of the bandit hold on every machine, those of the toy language model for one
build and kind of processor. Stars and bold of tables that choose a learning rate were made by an older rule than that of [tables.md](../tables.md#the-best-axis-value), unless the revision below them is of 26 November 2026 or later. What the script cannot measure again stands in [measured-by-hand.md](measured-by-hand.md).

END
}

# old_section NAME: as it stands in the page, with its markers
old_section() {
  [[ -f $page ]] || return 0
  awk -v begin="<!-- measured: $1 -->" '
    $0 == begin { inside = 1 }
    inside { print }
    inside && $0 == "<!-- end -->" { print ""; exit }' "$page"
}

# write_page NAME: with $work/block as its section
write_page() {
  local section
  {
    preamble
    for section in "${sections[@]}"; do
      if [[ $section == "$1" ]]; then
        printf '<!-- measured: %s -->\n' "$section"
        cat -- "$work/block"
        printf '<!-- end -->\n\n'
      else
        old_section "$section"
      fi
    done
  } >"$page.new"
  sed -i '${/^$/d}' "$page.new"
  mv -- "$page.new" "$page"
}

# why_not NAME: why the section cannot be measured here; nothing when it can
why_not() {
  case $1 in
    judge-scores) ((${#scores[@]} > 0)) || echo 'ODRPO_JUDGE_SCORES names no file' ;;
    aa) [[ -n $(find "$(dirname -- "$bench")" -name test_acceptance -type f -perm -u+x | head -n 1) ]] || echo 'test_acceptance is not built' ;;
    speed) [[ -x $(dirname -- "$bench")/odrpo-bench-perf ]] || echo 'odrpo-bench-perf is not built (-DODRPO_BENCH=ON)' ;;
    peers) python3 -c 'import tomllib, venv' || echo 'python3 is older than 3.11, or lacks venv' ;;
  esac
}

# --- the call, a function: bash has read it whole before it starts, so that an edit of this file does not disturb a call at work

main() {
  bench=$(realpath -- "${ODRPO_BENCH:-$root/build/release/odrpo-bench}")
  [[ -x $bench ]] || fail "there is no program $bench: ./bootstrap.sh --version builds it, ODRPO_BENCH names another"
  scores=()
  if [[ -n ${ODRPO_JUDGE_SCORES:-} ]]; then
    IFS=: read -r -a given <<<"$ODRPO_JUDGE_SCORES"
    for file in "${given[@]}"; do
      [[ -f $file ]] || fail "ODRPO_JUDGE_SCORES: there is no file $file"
      scores+=("$(realpath -- "$file")")
    done
  fi
  for name; do
    [[ " ${sections[*]} " == *" $name "* ]] || fail "there is no section $name; there are: ${sections[*]}"
  done
  "$bench" --version --json >/dev/null || fail "$bench does not start"
  fact() { "$bench" --version --json | sed -n "s/^ *\"$1\": *\"\([^\"]*\).*/\1/p" | head -n 1; }
  revision=$(fact revision)
  processor=$(sed -n 's/^model name[[:space:]]*: *//p' /proc/cpuinfo | head -n 1)
  machine="$(nproc) cores of ${processor:-$(uname -m)}, $(fact isa), $(fact compiler)"
  [[ -n $revision ]] || fail "$bench does not say its revision"
  cd -- "$root"

  mkdir -p -- "$root/build"
  exec 9>"$work.lock"
  flock -n 9 || fail "another call is at work in $work"
  asked="$revision ${*:-all} ${scores[*]} $(cat -- "$bench" docs/lab/measure.sh suites/*.toml suites/paper/*.toml "${scores[@]}" | sha256sum | cut -c1-16)"
  if [[ -f $work/asked && $(<"$work/asked") == "$asked" ]]; then
    mapfile -t todo <"$work/todo"
    say "continues with ${todo[*]}"
  else
    rm -rf -- "$work"
    mkdir -- "$work"
    todo=("$@")
    ((${#todo[@]} > 0)) || todo=("${sections[@]}")
    printf '%s\n' "${todo[@]}" >"$work/todo"
    printf '%s\n' "$asked" >"$work/asked"
  fi

  while ((${#todo[@]} > 0)); do
    now=${todo[0]}
    reason=$(why_not "$now")
    if [[ -n $reason ]]; then
      say "$now: skipped: $reason"
    else
      rm -f -- "$work/facts" "$work/$now.cpu"
      "section_$now" >"$work/block"
      write_page "$now"
      say "$now: written"
    fi
    todo=("${todo[@]:1}")
    printf '%s\n' "${todo[@]}" >"$work/todo.new"
    mv -- "$work/todo.new" "$work/todo"
  done
  now=
  rm -rf -- "$work"
}

main "$@"
