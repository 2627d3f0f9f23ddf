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

# --- the command line itself: exit 2 and a hint
expect 2 'Usage'
expect 2 'unknown command "rum"; did you mean "run"?' rum tiny.toml
expect 2 'unknown command "tabel"; did you mean "table"?' tabel x.h5
expect 2 'unknown command "frobnicate"' frobnicate
expect 2 'unknown flag "--jbos"; did you mean "--jobs"?' run tiny.toml --jbos 2
expect 2 'unknown flag "--outptu=x"; did you mean "--output"?' run tiny.toml --outptu=x
expect 2 'unknown flag "--frob"' check tiny.toml --frob
expect 2 'unknown flag "--versoin"; did you mean "--version"?' --versoin
expect 2 '--set' run tiny.toml --set
expect 2 '--set' run tiny.toml --set --jobs 1
expect 2 '--only' run tiny.toml --only
expect 2 '--jobs' run tiny.toml --jobs 0
expect 2 '--jobs' run tiny.toml --jobs many
expect 2 '--jobs' run tiny.toml --jobs -3
for seconds in -1 soon nan 0.5 1000001 ''; do expect 2 '--checkpoint' run tiny.toml --checkpoint "$seconds"; done
expect 2 '--device' run tiny.toml --device abacus
expect 2 '--format' table x.h5 --format docx
expect 2 'SUITE.toml is required: the suite file' run
expect 2 'FILE.h5 is required: a result file' table
expect 2 'FILE.h5 is required: result files' verify
expect 2 '--rewards is required' explain
for word in many 1.5 0x10 1e3 ' 4'; do
  expect 2 "--jobs: \"$word\" is not a whole number" run tiny.toml --jobs "$word"
  expect 2 "--checkpoint: \"$word\" is not a whole number" run tiny.toml --checkpoint "$word"
done
expect 2 '--jobs: 5000 is not in 1..4096' run tiny.toml --jobs 5000
expect 2 '--jobs is given twice' run tiny.toml --jobs 1 -j 2
expect 2 '--output is given 3 times' run tiny.toml -o a.h5 -o b.h5 --output c.h5
expect 2 '--json takes no value' check tiny.toml --json=3
expect 2 '--json takes no value' check tiny.toml --json=false
expect_quiet_out
absent tiny.h5 tiny.h5.work

# --- help and version go to stdout
expect 0 '' --help; expect_out 'run'; expect_out 'suites/quickstart.toml'
for command in run check list table plot report export stats diff compute verify explain export-estimator doctor; do expect 0 '' "$command" --help; expect_out 'Example'; done
expect 0 '' judge --help; expect_out 'analyze'
mkdir -p examples/suites
{ sed 's/"tiny"/"quickstart"/' tiny.toml; printf '[table]\nbaseline = "grpo"\n'; } >examples/suites/quickstart.toml
odrpo-bench() { "$program" "$@"; }
(cd examples && odrpo-bench run suites/quickstart.toml -q >../out.txt) || fail 'the run before the examples'
printf '%s\n' seed,estimator,votes,gain 0,grpo,1,70 1,grpo,1,72 0,maxrl,1,69 1,maxrl,1,73 >examples/runs.csv
{ echo prompt_id,response_id,sample_id,score; for p in 1 2 3; do for r in 1 2 3; do for n in 1 2; do echo "$p,$r,$n,$(((p + r * n) % 5 + 1))"; done; done; done; } >examples/scores.csv
(cd examples && odrpo-bench judge fit scores.csv -o judge.toml >../out.txt) || fail 'the judge of the examples'
drawing=(); command -v gnuplot >/dev/null && drawing=(plot 'judge analyze')
for command in run check list table report export stats compute verify explain export-estimator doctor "${drawing[@]}"; do  # what --help shows works as it stands
  while read -r line; do
    (cd examples && eval "$line") >out.txt 2>err.txt || fail "the example \"$line\": $(cat err.txt)"
    [[ $command != compute ]] || expect_out '"out"'
    cases=$((cases + 1))
  done < <("$program" $command --help | sed -n '/^Example/,$ { /^  /p }')
done
expect 0 '' --version; expect_out 'odrpo-bench'; cp out.txt version.txt
for words in version -v; do expect 0 '' $words; cmp -s out.txt version.txt || fail "$words prints something else than --version"; done
for words in '--version --json' 'version --json' '-v --json'; do
  read -ra words <<<"$words"
  expect 0 '' "${words[@]}"
  for key in version revision compiler build_type isa cuda hdf5 schema_version; do expect_out "\"$key\""; done
done
expect 2 'unknown flag "--jsno"; did you mean "--json"?' version --jsno
for words in '' run 'judge' 'judge fit' version help; do  # help COMMAND is COMMAND --help
  read -ra words <<<"$words"
  expect 0 '' "${words[@]}" --help; cp out.txt help.txt
  expect 0 '' help "${words[@]}"; cmp -s out.txt help.txt || fail "help ${words[*]} is something else than ${words[*]} --help"
done
expect 0 '' help --help; expect_out 'help judge fit'
expect 2 'unknown command "rum"; did you mean "run"?' help rum
expect 2 'unknown command "fti"; did you mean "fit"?' help judge fti
expect 2 'there is no command "odrpo-bench run fast"' help run fast
expect 2 'unknown flag "--jsno"' help --jsno

# --- shipped suites by name, from any folder; a file of that name comes first
expect 0 '' check quickstart; expect_out 'suite quickstart: '; cp out.txt named.txt
expect 0 '' check quickstart.toml; cmp -s out.txt named.txt || fail 'quickstart.toml is another suite than quickstart'
expect 0 '' check paper/results --json; expect_out '"suite": "results"'
expect 0 'wrote quickstart.h5: ' run quickstart --set suite.seeds=1 --set learn.steps=2; expect_out 'grpo'
expect 0 '' theory curl smoke; expect_out 'mac_all'
echo '{"list": true}' | "$program" worker smoke >out.txt 2>err.txt || fail "worker smoke: $(cat err.txt)"
rm -f quickstart.h5
cp tiny.toml quickstart; expect 0 '' check quickstart; expect_out 'suite tiny: 8 runs'; rm quickstart
expect 5 'quickstrat: No such file or directory; did you mean "quickstart"?' run quickstrat
expect 5 'no/quickstart.toml: No such file or directory; did you mean "quickstart"?' check no/quickstart.toml
expect 5 'results: No such file or directory; did you mean "paper/results"?' check results
expect 5 'Shipped suites: advise, ' run frobnicate; grep -q ', quickstart, ' err.txt || fail 'the shipped suites lack quickstart'
expect 5 'missing.toml' run missing.toml; ! grep -q Shipped err.txt || fail 'a missing file is answered with the shipped suites'
expect 2 '--set needs key=value' run quickstrat --set x

# --- the vocabulary: in 80 columns, whole and by parts
expect 0 '' list
[[ -z $(LC_ALL=C.UTF-8 awk 'length > 80' out.txt) ]] || fail "list has lines beyond 80 columns"
for part in envs raters noise estimators weights norms policies suite grid learn record table limits aggregates ties parse medians whiten dead_groups compat; do
  grep -q "^$part: " out.txt || fail "list lacks $part"
done
expect 0 '' list compat
for words in 'verl' 'gdpo' 'sigma with ddof 1' 'over tokens' 'max_rl at every level'; do expect_out "$words"; done
expect 0 '' list dead-groups; expect_out 'it is left out of all three'
expect 0 '' list estimator; expect_out 'odrpo-gini-median(maxrl)'
expect 0 '' list ties --json; expect_out '"median-low"'
expect 2 'did you mean "raters"?' list ratres
for page in keys noise estimators curves functions; do expect 0 '' list --markdown "$page"; expect_out '<!-- `odrpo-bench list --markdown '"$page"; done
expect 2 'it knows keys, noise, estimators, curves or functions' list --markdown pages; expect_quiet_out
expect 2 'takes neither KIND nor --json' list ties --markdown keys
expect 2 'takes neither KIND nor --json' list --markdown keys --json
expect 2 'neither KIND, --json nor --markdown' list --schema --markdown keys

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
expect 3 'did you mean `suite.seeds`?' run tiny.toml --set seeds=3
expect 5 'missing.toml' run missing.toml
expect 5 'missing.toml' check missing.toml
expect 5 'missing.h5' table missing.h5
expect 5 'missing.h5' verify missing.h5
expect 3 'directory' run .
expect 5 'no/such/folder' run tiny.toml -o no/such/folder/x.h5
expect 5 '/proc/x.h5' run tiny.toml -o /proc/x.h5
mkdir folder.h5; expect 5 'folder.h5' run tiny.toml -o folder.h5; rmdir folder.h5
expect 3 '--set' run tiny.toml --set nonsense=1
expect 3 '--set' run tiny.toml --set learn.steps=-1
expect 3 '--only' run tiny.toml --only 'no/such/run'
echo 'not a result' >text.h5
expect 8 'text.h5' table text.h5
absent tiny.h5 tiny.h5.work

# --- devices: bad lists are exit 2; whether one is there is asked for only when somebody wants it (a machine with one: tests/app/run/device_choice_test.cpp)
for list in , 0, ,0 0,,1 a 0x1 1.5 '0 1' 12345; do expect 2 '--devices takes numbers' run tiny.toml --devices "$list"; done
for list in -1 -0,1; do expect 2 '--devices takes numbers' run tiny.toml --devices="$list"; done
expect 2 'names device 1 twice' run tiny.toml --devices 0,1,1
expect 2 '--devices' run tiny.toml --devices
expect 2 'the value is empty' run tiny.toml --devices ''
for other in cpu auto; do for command in run check; do
  expect 2 "leave --device $other out" "$command" tiny.toml --device "$other" --devices 0
done; done
expect 2 '--devices takes numbers' check tiny.toml --devices a
expect 2 '--devices takes numbers' run missing.toml --devices a
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
for command in run check worker 'theory curl'; do  # a result file is no suite
  read -ra words <<<"$command"
  expect 3 'error: tiny.h5: is a result file: odrpo-bench table tiny.h5 prints it' "${words[@]}" tiny.h5
done
expect 0 '' table tiny.h5 --format csv; expect_out 'grpo'
expect 0 '' table tiny.h5 --format latex; expect_out '\toprule'; expect_out '% formula of '; expect_out '\mathbf{'
expect 0 '' table tiny.h5 --format latex --siunitx --legend none; expect_out '{\bfseries\num{'
expect 0 '' table tiny.h5 --legend short; expect_out 'cells: mean over'; ! grep -q 'raters:' out.txt || fail 'a short legend tells raters'
expect 0 '' table tiny.h5 --legend none; ! grep -q 'cells:' out.txt || fail 'no legend, and yet cells are explained'
expect 0 '' diff tiny.h5 tiny.h5; expect_out 'equal: runs, values and curves have the same digest'
expect 0 '' run tiny.toml --set learn.lr=0.07 -o other.h5 --quiet
expect 10 '' diff tiny.h5 other.h5; expect_out '  learn.lr'; expect_out 'final_gain'
expect 10 '' diff tiny.h5 other.h5 --json; expect_out '"equal": false'
expect 5 'missing.h5' diff tiny.h5 missing.h5
expect 2 'B.h5 is required' diff tiny.h5
rm other.h5
expect 2 '--legend: "long" is not one of none, short, full' table tiny.h5 --legend long
expect 2 '--legend: csv has everything' table tiny.h5 --format csv --legend short
expect 2 '--siunitx: only --format latex' table tiny.h5 --siunitx
several=(--columns value --value gain,regret --value seconds)
expect 0 '' table tiny.h5 "${several[@]}" --baseline grpo --compare percent; expect_out 'regret [levels]  vs grpo [%]'; expect_out 'votes=8'
expect 0 '' table tiny.h5 "${several[@]}" --format csv; expect_out ',seconds,us,median and quartiles,'
expect 2 'rows or columns "value"' table tiny.h5 --value gain,regret
expect 2 '"gain" is named twice' table tiny.h5 --columns value --value gain --value gain
expect 2 'a word is missing in "gain,"' table tiny.h5 --columns value --value gain,
expect 2 'no value "gian"' table tiny.h5 --columns value --value gain,gian; expect 2 'did you mean "gain"?' table tiny.h5 --value gian
expect 2 'did you mean "votes"?' table tiny.h5 --columns vote
expect 2 'did you mean "grpo"?' table tiny.h5 --baseline grop
expect 0 '' table tiny.h5 --baseline 'odrpo_gini(maxrl)'; expect_out '- odrpo-gini(maxrl)'  # another way to write the row
expect 0 '' table tiny.h5 --rows votes --columns estimator --baseline '1=8'; expect_out '- votes=1'
expect 2 'several baselines are each ROW=ROW,ROW' table tiny.h5 --baseline grpo --baseline maxrl
expect 2 'is not among the rows' table tiny.h5 --baseline 'grpo=nothing'
expect 2 'a word is missing' table tiny.h5 --baseline 'grpo='
expect 2 '--compare' table tiny.h5 --compare ratio
expect 0 '' table tiny.h5; expect_out 'raters:'; expect_out '  mixed: noise: gaussian sigma'; expect_out 'formulas:'
expect 0 '' table tiny.h5 --value final-quality; expect_out 'final_quality: the file'
expect 0 '' table tiny.h5 --rows votes --columns estimator --baseline 8e0; expect_out '- votes=8'
expect 2 'cannot stand beside --format csv' table tiny.h5 --format csv --json
expect 2 'cannot stand beside --format text' table tiny.h5 --json --format text
expect 0 '' table tiny.h5 --format json --json; expect_out '"raters": {'
expect 2 'there is nothing to choose' table tiny.h5 --tune-seeds 1
expect 2 '--tune-seeds' table tiny.h5 --tune-seeds 100001; expect 2 '--tune-seeds' table tiny.h5 --tune-seeds -1
expect 2 'there is no baseline' table tiny.h5 --baseline none --compare percent
expect 0 '' table tiny.h5 --max-seconds 60 --max-memory 300; expect 0 '' verify tiny.h5 --max-seconds 60 --max-memory 300
expect 2 'is not above 0' table tiny.h5 --max-memory 0; expect 2 '"x" is not a number' verify tiny.h5 --max-seconds x
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
(ulimit -f 16; exec "$program" run tiny.toml --jobs 1 -o large.h5) >out.txt 2>err.txt; got=$?
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
expect 2 'did you mean "grpo"?' "${runs[@]}" --baseline grop
expect 2 '--value is required' stats examples/runs.csv --unit seed --cell estimator
expect 2 'is not in 1000..1000000' "${runs[@]}" --resamples 10
expect 2 'not in {expanded,bca,percentile,t}' "${runs[@]}" --interval exact
expect 5 'missing.csv' stats missing.csv --unit seed --cell estimator --value gain
expect 5 'it is the input itself' "${runs[@]}" -o examples/runs.csv
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
expect_out '2 ± 0              baseline   640 ± 0     baseline'
expect 0 '' verify paid.h5
expect 0 '' table paid.h5 --format csv --value modelled-seconds --columns estimator
expect_out 'bandit,mixed,linear,5,8,grpo,modelled-seconds,s,median and quartiles,2,'
sed 's/learn.steps/learn.stesp/g' paid.toml >wrong.toml
expect 3 'error: unknown key `stesp` in [learn]' check wrong.toml
expect 3 'wrong.toml:12:21: ' check wrong.toml

echo "cli_test: $cases command lines"
exit "$failed"
