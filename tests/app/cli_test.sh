#!/usr/bin/env bash
# The command line as a user meets it: exit codes, messages, and what is left on disk. Usage: cli_test.sh PATH/TO/odrpo-bench
set -uo pipefail
program=$(readlink -f "$1")
tests=$(dirname "$(dirname "$(readlink -f "$0")")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset ODRPO_ISA CI
failed=0 cases=0

sed 's/seeds = 3/seeds = 2/; s/"maxrl", //; /^\[table\]/,$d' "$tests/tiny.toml" >tiny.toml  # eight runs
sed 's/"tiny"/"other"/; s/seed = 7/seed = 8/' tiny.toml >other.toml

fail() { echo "FAILED: $*"; failed=1; }

# expect CODE WORDS ARGUMENTS…: exit code, and words that stderr must hold ("" = stderr must be empty)
expect() {
  local code=$1 words=$2 got
  shift 2
  "$program" "$@" >out.txt 2>err.txt </dev/null
  got=$?
  cases=$((cases + 1))
  [[ $got == "$code" ]] || { fail "odrpo-bench $*: exit $got, expected $code"; cat err.txt; }
  if [[ -n $words ]]; then
    grep -qF -- "$words" err.txt || { fail "odrpo-bench $*: stderr lacks \"$words\":"; cat err.txt; }
  else
    [[ ! -s err.txt ]] || { fail "odrpo-bench $*: stderr should be empty:"; cat err.txt; }
  fi
}
expect_out() { grep -qF -- "$1" out.txt || { fail "stdout lacks \"$1\":"; cat out.txt; }; }
expect_quiet_out() { [[ ! -s out.txt ]] || { fail "stdout should be empty:"; cat out.txt; }; }
absent() { for f; do [[ ! -e $f ]] || fail "$f should not exist"; done; }

# --- the command line itself: exit 2 and a hint; further ones on pages/command-lines.txt
expect 2 'Usage'
expect_quiet_out
absent tiny.h5 tiny.h5.work

# --- help and version go to stdout
expect 0 '' --help; expect_out 'run'; expect_out 'odrpo-bench run quickstart'
for command in run check list table plot report export stats diff compute verify explain export-estimator doctor; do expect 0 '' "$command" --help; expect_out 'Example'; done
expect 0 '' judge --help; expect_out 'analyze'
mkdir -p examples/suites
{ sed 's/"tiny"/"quickstart"/' tiny.toml; printf '[table]\nbaseline = "grpo"\n'; } >examples/suites/quickstart.toml
odrpo-bench() { "$program" "$@"; }
(cd examples && odrpo-bench run suites/quickstart.toml -q >../out.txt) || fail 'the run before the examples'
printf '%s\n' seed,estimator,votes,gain 0,grpo,1,70 1,grpo,1,72 0,maxrl,1,69 1,maxrl,1,73 >examples/runs.csv
{ echo prompt_id,response_id,sample_id,score; for p in 1 2 3; do for r in 1 2 3; do for n in 1 2; do echo "$p,$r,$n,$(((p + r * n) % 5 + 1))"; done; done; done; } >examples/scores.csv
(cd examples && odrpo-bench judge fit scores.csv -o judge.toml >../out.txt) || fail 'the judge of the examples'
mkdir -p examples/rollout_data
for p in 1 2; do for r in 1 2 3; do printf '{"input": "q%s", "output": "a", "score": %s, "step": 1}\n' $p $(((p * r) % 4 + 1)); done; done >examples/rollout_data/1.jsonl
{ echo id,step,score; for p in 1 2; do for r in 1 2 3; do echo "$p,1,$(((p * r) % 4 + 1))"; done; done; } >examples/dump.csv
for p in 1 2; do for r in 1 2 3; do printf '{"step": 1, "prompt": "%s", "reward": %s}\n' $p $r; done; done >examples/dump.jsonl
drawing=(); command -v gnuplot >/dev/null && drawing=(plot 'judge analyze' 'rollouts analyze')
for command in run check list table report export stats compute verify explain export-estimator doctor 'rollouts estimate' "${drawing[@]}"; do  # what --help shows works as it stands
  while read -r line; do
    (cd examples && eval "$line") >out.txt 2>err.txt || fail "the example \"$line\": $(cat err.txt)"
    [[ $command != compute ]] || expect_out '"out"'
    cases=$((cases + 1))
  done < <("$program" $command --help | sed -n '/^Example/,$ { :more /\\$/ { N; s/ \\\n */ /; b more }; /^  /p }')
done
expect 0 '' --version; expect_out 'odrpo-bench'; cp out.txt version.txt
for words in version -v; do expect 0 '' $words; cmp -s out.txt version.txt || fail "$words prints something else than --version"; done
for words in '--version --json' 'version --json' '-v --json'; do
  read -ra words <<<"$words"
  expect 0 '' "${words[@]}"
  for key in version revision compiler build_type isa cuda hdf5 schema_version; do expect_out "\"$key\""; done
done
for words in '' run 'judge' 'judge fit' version help; do  # help COMMAND is COMMAND --help
  read -ra words <<<"$words"
  expect 0 '' "${words[@]}" --help; cp out.txt help.txt
  expect 0 '' help "${words[@]}"; cmp -s out.txt help.txt || fail "help ${words[*]} is something else than ${words[*]} --help"
done
expect 0 '' help --help; expect_out 'help judge fit'

# --- shipped suites by name, from any folder; a file of that name comes first
expect 0 '' check quickstart; expect_out 'suite quickstart: '; cp out.txt named.txt
expect 0 '' check quickstart.toml; cmp -s out.txt named.txt || fail 'quickstart.toml is another suite than quickstart'
expect 0 '' check paper/results --json; expect_out '"suite": "results"'
expect 0 'wrote quickstart.h5: ' run quickstart --set suite.seeds=1 --set learn.steps=2 -o quickstart.h5; expect_out 'grpo'
expect 0 '' theory curl smoke; expect_out 'mac_all'
echo '{"list": true}' | "$program" worker smoke >out.txt 2>err.txt || fail "worker smoke: $(cat err.txt)"
rm -f quickstart.h5
cp tiny.toml quickstart; expect 0 '' check quickstart; expect_out 'suite tiny: 8 runs'; rm quickstart
expect 5 'Shipped suites: advise, ' run frobnicate; grep -qw quickstart err.txt || fail 'the shipped suites lack quickstart'
expect 5 'missing.toml' run missing.toml; ! grep -q Shipped err.txt || fail 'a missing file is answered with the shipped suites'

# --- the vocabulary: in 80 columns, whole and by parts
expect 0 '' list
[[ -z $(LC_ALL=C.UTF-8 awk 'length > 80' out.txt) ]] || fail "list has lines beyond 80 columns"
for part in envs raters noise estimators weights norms policies suite grid learn record table label limits aggregates ties parse medians whiten dead_groups compat; do
  grep -q "^$part: " out.txt || fail "list lacks $part"
done
for page in keys noise estimators curves functions; do expect 0 '' list --markdown "$page"; expect_out '<!-- `odrpo-bench list --markdown '"$page"; done

# --- what the machine is like: always exit 0
expect 0 '' doctor
for words in timing 'waited for a core' 'n = ' 'cores usable' 'instruction set' memory 'free, writable' 'no CUDA device' HDF5 locale; do
  expect_out "$words"
done
expect 0 '' doctor --json
for key in verdict decided_by reason spread_percent cpu_spread_percent waiting_percent load_per_core measurements work_ms work_cpu_ms \
  model cores_usable isa_available load available_bytes free_bytes writable devices driver_supports built_with hdf5; do
  expect_out "\"$key\""
done
devices=yes; ! grep -qF '"devices": []' out.txt || devices=none
[[ -z $(ls odrpo-bench-doctor-* 2>/dev/null) ]] || fail "doctor leaves a file"

# --- paths: exit 5 for what is missing or cannot be written, 3 for what is no suite
expect 5 '/proc/x.h5' run tiny.toml -o /proc/x.h5
mkdir folder.h5; expect 5 'folder.h5' run tiny.toml -o folder.h5; rmdir folder.h5
echo 'not a result' >text.h5
expect 8 'text.h5' table text.h5
absent tiny.h5 tiny.h5.work

# --- devices: bad lists are exit 2; whether one is there is asked for only when somebody wants it (a machine with one: tests/app/run/device_choice_test.cpp)
if [[ $devices == none ]]; then
  for asked in '--device cuda' '--devices 0' '--device cuda --devices 0,1'; do
    read -ra asked <<<"$asked"
    expect 6 'no CUDA device' run tiny.toml "${asked[@]}"
    expect 6 'use --device cpu' run tiny.toml --dry-run "${asked[@]}"
    expect 6 'no CUDA device' check tiny.toml "${asked[@]}"
    unset asked
  done
  expect 0 '' check tiny.toml --device auto; expect_out 'CPU: '
  expect 0 '' check tiny.toml --device auto --json; expect_out '"on_cpu"'
  expect 0 'CPU: ' run tiny.toml --device auto -o auto.h5
fi
expect 0 '' check tiny.toml --device cpu; ! grep -q '^device' out.txt || fail 'check --device cpu speaks of devices'
expect 0 '' check tiny.toml --json; ! grep -q '"on_cpu"' out.txt || fail 'check speaks of devices without being asked'
rm -f auto.h5
absent tiny.h5 tiny.h5.work

# --- --quiet: no notes either
printf '[suite]\nname = "judged"\n[grid]\nestimator = "grpo"\nrater = "judge"\n[rater.judge]\nscores = "examples/scores.csv"\nworld = "resample"\n[learn]\nsteps = 5\nbatch = 3\n[env.bandit]\nprompts = 8\n' >judged.toml
expect 0 'note: judge: examples/scores.csv' run judged.toml --dry-run
expect 0 '' run judged.toml --dry-run --quiet
expect 0 '' run judged.toml -q; rm judged.h5

# --- a dry run trains and writes nothing
expect 0 '' run tiny.toml --dry-run; expect_out 'tiny'
expect 0 '' run tiny.toml --dry-run --jobs 3; expect_out 'of memory with 3 jobs'
expect 0 '' check tiny.toml --jobs 3; expect_out 'of memory with 3 jobs'
# what is too much for eight at a time, in two worlds, may do for one
big=(--set env.bandit.prompts=65536 --set limits.memory_gib=0.35)
expect 0 '' check tiny.toml "${big[@]}" --jobs 1
for jobs in 8 4096; do expect 4 'memory' check tiny.toml "${big[@]}" --jobs $jobs; expect 4 'memory' run tiny.toml "${big[@]}" --jobs $jobs; done
absent tiny.h5 tiny.h5.work

# --- a run, and the same again
expect 0 'noted.h5' run tiny.toml --checkpoint 5 -o noted.h5; rm -f noted.h5
expect 0 'tiny.h5' run tiny.toml --jobs 2; expect_out 'grpo'
! grep -q -- --checkpoint err.txt || fail 'a note on a flag that was not given'
[[ -f tiny.h5 ]] || fail "tiny.h5 was not made"
absent tiny.h5.work
sum=$(sha256sum <tiny.h5)
expect 0 'already complete' run tiny.toml; expect_out 'grpo'
[[ $sum == "$(sha256sum <tiny.h5)" ]] || fail "a complete result file was rewritten"
expect 0 '' verify tiny.h5
several=(--columns value --value gain,regret --value seconds)
expect 0 '' table tiny.h5 "${several[@]}" --baseline grpo --compare percent; expect_out 'regret [levels]  vs grpo [%]'; expect_out 'votes=8'
expect 0 '' table tiny.h5 "${several[@]}" --format csv; expect_out ',seconds,us,median and quartiles,'
expect 0 '' table tiny.h5 --max-seconds 60 --max-memory 300; expect 0 '' verify tiny.h5 --max-seconds 60 --max-memory 300
expect 0 '' run tiny.toml --json --quiet; expect_out '"digest"'; expect_out '"device": {'; expect_out '"already_complete": true'

"$program" run tiny.toml -o both.h5 >both.txt 2>&1
grep -qE '^wrote both\.h5: 8 runs in [0-9.]+ m?s; digest' both.txt || { fail "the table is not followed by a line of its own:"; cat both.txt; }

# --- a link is followed, and what is no result file is never replaced, not even by force
mkdir big; ln -s big/linked.h5 linked.h5
for force in '' --force; do
  expect 0 'wrote big/linked.h5: 8 runs' run tiny.toml -o linked.h5 ${force:+$force}
  [[ -L linked.h5 && -f big/linked.h5 && ! -L big/linked.h5 ]] || fail 'a link given as output is gone'
done
expect 0 'already complete: big/linked.h5' run tiny.toml -o linked.h5
cp tiny.toml precious.toml; ln precious.toml hard.h5; ln -s precious.toml soft.h5; echo precious >notes.txt; ln -s round.h5 round.h5
for force in '' --force; do
  for output in precious.toml ./precious.toml hard.h5 soft.h5; do
    expect 5 "'$output' is the suite itself; choose another -o" run precious.toml -o "$output" ${force:+$force}
  done
  expect 5 "'notes.txt' is not a result file; choose another -o" run tiny.toml -o notes.txt ${force:+$force}
  ! grep -q -- --force err.txt || fail '--force is recommended for what it does not replace'
  for output in /dev/null /dev/full /dev/stdout round.h5 big; do expect 5 "$output" run tiny.toml -o "$output" ${force:+$force}; done
  expect 5 "cannot write 'nofolder/x.h5': its folder 'nofolder'" run tiny.toml -o nofolder/x.h5 ${force:+$force}
done
cmp -s tiny.toml precious.toml || fail 'the suite was overwritten'
[[ $(cat notes.txt) == precious && -c /dev/null ]] || fail 'a file or device was replaced'
absent nofolder *.work

# --- names of files are taken as they are
for name in '[a]' '[a,b]' '[[a]]' '[' '{x}'; do
  cp tiny.h5 "$name"
  expect 0 '' verify "$name" tiny.h5 "$name"; expect_out "$name: OK"; expect_out 'tiny.h5: OK'
  [[ $(wc -l <out.txt) == 3 ]] || fail "verify takes $name apart"
  expect 0 '' table "$name"
done
expect 5 "cannot read '[a'" verify '[a'
expect 2 'unknown flag "--jsno"' verify '[a]' --jsno

# --- another suite's output is refused, and replaced on demand only
expect 5 'tiny.h5' run other.toml -o tiny.h5
[[ $sum == "$(sha256sum <tiny.h5)" ]] || fail "a refused run changed the file"
expect 0 'tiny.h5' run other.toml -o tiny.h5 --force

# --- overrides and subsets
expect 0 'sub.h5' run tiny.toml --only '*/grpo/n1/*' --set learn.steps=10 -o sub.h5
one=(--set suite.seeds=1 --only '*/grpo/n1/*' -o one.h5)
expect 0 'wrote one.h5: 1 run in' run tiny.toml "${one[@]}"
expect 0 'holds all 1 run, nothing' run tiny.toml "${one[@]}"
expect 0 '' verify one.h5; expect_out ', 1 run'
expect 0 '' check tiny.toml --set suite.seeds=1 --only '*/grpo/n1/*'; expect_out 'suite tiny: 1 run'
! grep -q '1 runs' out.txt err.txt || fail '1 is not many'
expect 0 '' verify sub.h5

# --- runs that diverge: recorded, told, exit 7, now and when asked again
wild=(--set 'learn.optimizer="adamw"' --set learn.weight_decay=1 --set learn.steps=60)
expect 7 'some.h5' run tiny.toml "${wild[@]}" --set 'learn.lr=[0.1, 1000000]' -o some.h5; expect_out 'grpo'
grep -q '^failed: bandit/' err.txt || fail "no failed run is named"
expect 7 'resumed: 8 of 16' run tiny.toml "${wild[@]}" --set 'learn.lr=[0.1, 1000000]' -o some.h5; expect_out 'grpo'
expect 7 'failed' run tiny.toml "${wild[@]}" --set learn.lr=1000000 -o none.h5
expect 7 '' run tiny.toml "${wild[@]}" --set learn.lr=1000000 -o none.h5 --json --quiet; expect_out '"table": null'
expect 0 '' verify some.h5 none.h5

# --- a complete result in a folder that cannot be written is read all the same
ordinary=()
[[ $(id -u) != 0 ]] || ordinary=(setpriv --reuid=65534 --regid=65534 --clear-groups --)  # root writes everywhere
if [[ $(id -u) != 0 ]] || "${ordinary[@]}" true 2>err.txt; then
  mkdir reading; "$program" run tiny.toml -q -o reading/tiny.h5 >out.txt 2>err.txt || fail "the run before: $(cat err.txt)"
  chmod a+rx . reading; chmod a-w reading; chmod a+r reading/tiny.h5 tiny.toml
  (cd reading && "${ordinary[@]}" "$program" run ../tiny.toml) >out.txt 2>err.txt; got=$?
  if [[ $got != 126 ]]; then  # an ordinary user may start the program
    [[ $got == 0 ]] || fail "complete in a folder that cannot be written: exit $got: $(cat err.txt)"
    grep -q 'already complete' err.txt && grep -q grpo out.txt || fail 'complete in a folder that cannot be written: no table'
  fi
  chmod u+w reading
fi

# --- few descriptors, or a limit on the size of files, say nothing about a file
descriptors=(4 5 6 7)
grep -aqE '__(a|t|ub)san_' "$program" && descriptors=()  # a sanitizer reads files of its own
for n in "${descriptors[@]}"; do
  for words in 'verify sub.h5' 'table sub.h5' 'run tiny.toml -o few.h5'; do
    read -ra words <<<"$words"
    rm -rf few.h5 few.h5.work
    (exec 3>&- 4>&- 5>&- 6>&-; ulimit -n $n; exec "$program" "${words[@]}") >out.txt 2>err.txt; got=$?  # 3 to 6: of whoever runs this
    [[ $got == 0 ]] || { [[ $got == 5 ]] && grep -q 'Too many open files' err.txt; } || fail "${words[*]} with $n descriptors: exit $got: $(cat err.txt)"
    ((n > 4 || got == 5)) || fail "${words[*]} with $n descriptors: exit $got, and none is left to read with"
  done
done
rm -rf few.h5 few.h5.work
(ulimit -f 1; exec "$program" run tiny.toml --jobs 1 -o large.h5) >out.txt 2>err.txt; got=$?
[[ $got == 5 ]] && grep -q 'File too large' err.txt || fail "a limit on the size of files: exit $got: $(cat err.txt)"
absent large.h5 large.h5.work

# --- stdout that is full, closed or left by its reader
"$program" list >/dev/full 2>err.txt; [[ $? == 5 ]] || fail "list >/dev/full: exit is not 5"
grep -qF 'standard output' err.txt || fail "list >/dev/full says nothing"
"$program" list >&- 2>err.txt; [[ $? == 5 ]] || fail "list with stdout closed: exit is not 5"
rm -f tiny.h5
"$program" run tiny.toml >&- 2>err.txt; [[ $? == 5 ]] || fail "run with stdout closed: exit is not 5"
"$program" verify tiny.h5 >out.txt 2>err.txt || fail "run with stdout closed left a bad file"
rm -f tiny.h5
"$program" run tiny.toml 2>&- >out.txt || fail "run with stderr closed failed"
"$program" list | head -n 1 >out.txt; [[ ${PIPESTATUS[0]} == 0 ]] || fail "list | head: exit ${PIPESTATUS[0]}"
rm -f tiny.h5
"$program" run tiny.toml 2>err.txt | true; [[ ${PIPESTATUS[0]} == 0 ]] || fail "run | true: exit is not 0"
"$program" verify tiny.h5 >out.txt 2>err.txt || fail "run | true left a bad file"

# --- stats: what the file of runs says (stats_test.py checks the numbers)
runs=(stats examples/runs.csv --unit seed --cell estimator,votes --value gain)
expect 0 '' "${runs[@]}" --baseline grpo; expect_out 'warning: n = 2 is below 16'; expect_out '- grpo'
expect 0 'warning: n = 2' "${runs[@]}" --format csv; expect_out 'estimator,votes,value,n,runs,tasks,mean,mean_lo,mean_hi'
expect 0 '' "${runs[@]}" --format json; expect_out '"family_size": 0'
expect 8 'is given twice; first on line 2' stats examples/runs.csv --unit votes --cell estimator --value gain
"$program" "${runs[@]}" >/dev/full 2>err.txt; [[ $? == 5 ]] || fail "stats >/dev/full: exit is not 5"

# --- what verify finds is its exit code, whoever listens; its errors look like those of table
head -c 3000 tiny.h5 >trunc.h5
for command in table verify; do
  expect 8 "error: 'trunc.h5' is not a result file" $command trunc.h5
  expect 5 "error: cannot read 'missing.h5'" $command missing.h5
done
mkfifo left
exec 8<>left 9>left 8<&-  # a pipe without a reader
for case in '8 trunc.h5' '5 missing.h5' '8 missing.h5 trunc.h5' '8 tiny.h5 trunc.h5' '8 trunc.h5 tiny.h5' '8 --json trunc.h5' '0 tiny.h5'; do
  read -r code words <<<"$case"; read -ra words <<<"$words"
  "$program" verify "${words[@]}" >&9 2>&9; got=$?; [[ $got == "$code" ]] || fail "verify ${words[*]}, without a reader: exit $got, expected $code"
  "$program" verify "${words[@]}" >out.txt 2>/dev/full; got=$?; [[ $got == "$code" ]] || fail "verify ${words[*]} 2>/dev/full: exit $got"
done
"$program" verify tiny.h5 trunc.h5 >/dev/full 2>err.txt; got=$?; [[ $got == 8 ]] || fail "verify tiny.h5 trunc.h5 >/dev/full: exit $got"
"$program" verify tiny.h5 >/dev/full 2>err.txt; got=$?; [[ $got == 5 ]] || fail "verify tiny.h5 >/dev/full: exit $got"
exec 9>&-

# --- bench: a list that does not arrive, and words that name no benchmark
if [[ -x ${program%/*}/odrpo-bench-perf ]]; then
  expect 0 '' bench --benchmark_list_tests; expect_out 'grpo'
  "$program" --version --json >version.txt || fail '--version --json'
  one=(--benchmark_filter='^advantage/grpo,nemo/G8/K10/groups64$' --benchmark_min_time=0.001)
  expect 0 'odrpo_revision: ' bench "${one[@]}"
  "$program" bench "${one[@]}" --benchmark_format=json >out.txt 2>err.txt || fail "bench as JSON: exit $?"
  value=$(sed -n 's/^ *"build_type": \(".*"\),*/\1/p' version.txt)
  expect_out "\"odrpo_build_type\": ${value:-none}"
  expect_out '"odrpo_revision": "'  # the microbenchmarks may have been built before the program
  expect 2 'Could not compile' bench '--benchmark_filter=['
  expect 2 'Failed to match' bench --benchmark_filter=abacus
  for closed in '>&-' '>/dev/full'; do
    eval '"$program" bench --benchmark_list_tests' "$closed" '2>err.txt'; got=$?
    [[ $got == 5 ]] && grep -q 'standard output' err.txt || fail "bench --benchmark_list_tests $closed: exit $got"
  done
  "$program" bench --benchmark_list_tests | true; [[ ${PIPESTATUS[0]} == 0 ]] || fail 'bench | true: exit is not 0'
fi

# --- what a file of scores holds is told by check and run, not under -q
{ echo prompt_id,response_id,sample_id,score
  for p in 1 2 3 4; do for r in 1 2 3 4 5 6; do for k in 1 2; do echo "$p,$r,$k,$(((p + r + k) % 5 + 1))"; done; done; done; } >scores.csv
sed 's/"tiny"/"scored"/; s/"mixed"/"judge"/' tiny.toml >scored.toml
printf '[rater.judge]\nscores = "scores.csv"\n' >>scored.toml
expect 0 'note: judge: scores.csv: 4 prompts x 6 responses x 2 samples' check scored.toml
expect 0 'note: judge: scores.csv: 4 prompts x 6 responses x 2 samples' run scored.toml
expect 0 '' run scored.toml -q
for force in '' --force; do expect 5 "'scores.csv' is not a result file; choose another -o" run scored.toml -o scores.csv ${force:+$force}; done
[[ $(wc -l <scores.csv) == 49 ]] || fail 'the file of scores was overwritten'

# --- what a judge costs, and zipped keys: said by check, stored, and in the table
sed 's/"tiny"/"paid"/; s/^votes = .*/zip = [{ votes = 1, "learn.steps" = 40 }, { votes = 8, "learn.steps" = 5 }]/; /^steps = /d' tiny.toml >paid.toml
printf '[rater.mixed]\nseconds_per_call = 0.5\nparallel = 16\nprice_per_call = 0.25\n[table]\nrows = "votes"\ncolumns = "value"\n' >>paid.toml
printf 'value = ["gain", "judge-seconds", "judge-cost"]\nbaseline = "1"\n' >>paid.toml
expect 0 '' check paid.toml
expect_out 'judge, as its raters model it: 20,480 calls, 0.1778 h one run after the other, price 5120'  # 8 runs of 2,560 calls, 80 s
expect 0 '' run paid.toml -q
expect_out 'steps follows votes: 1: 40, 8: 5'
expect_out '2 ± 0              baseline'; expect_out '640 ± 0     baseline'
expect 0 '' verify paid.h5
expect 0 '' table paid.h5 --format csv --value modelled-seconds --columns estimator
expect_out 'bandit,mixed,linear,5,8,grpo,modelled-seconds,s,median and quartiles,2,'
sed 's/learn.steps/learn.stesp/g' paid.toml >wrong.toml
expect 3 'error: unknown key `stesp` in [learn]' check wrong.toml
expect 3 'wrong.toml:12:21: ' check wrong.toml

echo "cli_test: $cases command lines"
exit "$failed"
