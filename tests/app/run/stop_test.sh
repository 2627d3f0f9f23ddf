#!/usr/bin/env bash
# Interruptions: a signal saves and exits 75, a second Ctrl-C leaves with 130, and the continued file equals the undisturbed one.
# Usage: stop_test.sh PATH/TO/odrpo-bench
set -uo pipefail
program=$(readlink -f "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
fail() { echo "FAILED: $*"; failed=1; }
digest() { grep -oE '[0-9a-f]{64}' | head -n 1; }
# waits until the running program has made such a file
until_there() {
  until compgen -G "$1" >nothing.txt; do
    kill -0 "$pid" 2>nothing.txt || { fail "$1 never came:"; cat err.txt; return; }
    sleep 0.02
  done
}

cat >slow.toml <<'TOML'
# sixty runs of some 90 ms, committed soon after the first of them is done
[suite]
name = "slow"
seed = 3
seeds = 10
[grid]
env = ["bandit"]
rater = ["mixed"]
policy = ["linear"]
estimator = ["grpo", "maxrl", "odrpo-gini-median(grpo)"]
votes = [1, 8]
[learn]
steps = 8000
TOML

"$program" run slow.toml --jobs 2 -o whole.h5 --json >whole.json 2>err.txt || { fail "the undisturbed run"; cat err.txt; }
whole=$(digest <whole.json)
[[ -n $whole ]] || fail "no digest in the summary"

# one signal: exit 75, a note how to go on, and a second call that resumes
for signal in INT TERM HUP XCPU USR1; do
  rm -rf slow.h5 slow.h5.work
  "$program" run slow.toml --jobs 1 >out.txt 2>err.txt &
  pid=$!
  until_there 'slow.h5.work/shard-*.runs'
  kill -"$signal" "$pid"
  wait "$pid"; code=$?
  [[ $code == 75 ]] || fail "SIG$signal: exit $code, expected 75"
  grep -q '^stopping when the steps under way are done; Ctrl-C' err.txt || { fail "SIG$signal: not acknowledged:"; cat err.txt; }
  grep -q 'same command' err.txt || { fail "SIG$signal: no word on how to go on:"; cat err.txt; }
  [[ ! -e slow.h5 && -d slow.h5.work ]] || fail "SIG$signal: a work folder and no output were expected"
  "$program" run slow.toml --jobs 2 --json >out.txt 2>err.txt || fail "SIG$signal: the second call failed"
  grep -qE 'resumed: [1-9][0-9]* of 60 runs were already done' err.txt || { fail "SIG$signal: nothing was resumed:"; cat err.txt; }
  [[ $(digest <out.txt) == "$whole" ]] || fail "SIG$signal: another digest after the resumption"
done

# signals that are ignored at the start stay ignored (nohup), but for those that ask for the end; two signals are one stop
rm -rf slow.h5 slow.h5.work
(trap '' HUP XCPU USR1; exec "$program" run slow.toml --jobs 1 >out.txt 2>err.txt) &
pid=$!
until_there 'slow.h5.work/shard-*.runs'
for signal in HUP XCPU USR1; do kill -"$signal" "$pid"; done
until_there "slow.h5.work/shard-00000$(compgen -G 'slow.h5.work/shard-*.runs' | wc -l)-*.runs"  # it goes on
grep -q '^stopping' err.txt && { fail "a signal that was ignored is acknowledged:"; cat err.txt; }
kill -0 "$pid" || fail "a signal that was ignored ended the program"
kill -TERM "$pid"
wait "$pid"; code=$?
[[ $code == 75 ]] || fail "SIGTERM where others are ignored: exit $code, expected 75"
rm -rf slow.h5 slow.h5.work
"$program" run slow.toml --jobs 1 >out.txt 2>err.txt &
pid=$!
until_there 'slow.h5.work/shard-*.runs'
kill -USR1 "$pid"; kill -XCPU "$pid"; kill -TERM "$pid"
wait "$pid"; code=$?
[[ $code == 75 && $(grep -c '^stopping' err.txt) == 1 ]] || { fail "three signals: exit $code, expected 75 and one line:"; cat err.txt; }

# --force begins from nothing, so the way on is without it, and without the output that it would replace
rm -rf slow.h5 slow.h5.work
cp whole.h5 slow.h5
"$program" run slow.toml --jobs 1 --force >out.txt 2>err.txt &
pid=$!
until_there 'slow.h5.work/shard-*.runs'
kill -INT "$pid"
wait "$pid"; code=$?
[[ $code == 75 ]] || fail "--force, stopped: exit $code, expected 75"
grep -q 'the same command without --force continues, once slow.h5 is moved away' err.txt || { fail "--force, stopped: no word on how to go on:"; cat err.txt; }
rm -f slow.h5
"$program" run slow.toml --jobs 2 --json >out.txt 2>err.txt || fail "after a stopped --force: the second call failed"
grep -qE 'resumed: [1-9]' err.txt || { fail "after a stopped --force: nothing was resumed:"; cat err.txt; }
[[ $(digest <out.txt) == "$whole" ]] || fail "after a stopped --force: another digest"

# nothing kept: no folder is named; then supervised steps alone
cat >start.toml <<'TOML'
[suite]
name = "start"
[grid]
env = "toy-lm"
rater = "mixed"
policy = "p"
estimator = "grpo"
[env.toy-lm]
vocabulary = 40
[policy.p]
base = "transformer"
warm_steps = 20000
[learn]
steps = 40
TOML
: >start.h5  # an empty output holds nothing either
"$program" run start.toml -o start.h5 --set policy.p.warm_steps=0 --set learn.batch=64 --set learn.rollouts=64 --jobs 1 >out.txt 2>err.txt &
pid=$!
until_there start.h5.work/lock
kill -TERM "$pid"
wait "$pid"; code=$?
if grep -q 'half-way' err.txt; then rm -rf start.h5.work  # a machine that was fast enough for a step
else
  [[ $code == 75 && ! -e start.h5.work ]] || { fail "stopped before the first step: exit $code, or a folder that holds nothing"; cat err.txt; }
  grep -q 'stopped: none of 1 run ' err.txt && ! grep -q 'work' err.txt || { fail "a folder was named that is gone:"; cat err.txt; }
fi
# stopped in the supervised steps, twice: they go on where they were
for again in '' "continued supervised steps at step "; do
  before=$(ls -i start.h5.work/start-* 2>nothing.txt)
  "$program" run start.toml --jobs 1 --checkpoint 0 >out.txt 2>err.txt &
  pid=$!
  until_there 'start.h5.work/start-*'
  while [[ $(ls -i start.h5.work/start-* 2>nothing.txt) == "$before" ]] && kill -0 "$pid" 2>nothing.txt; do sleep 0.02; done  # it stores another step
  kill -TERM "$pid"
  wait "$pid"; code=$?
  [[ $code == 75 && -d start.h5.work ]] || { fail "stopped in the supervised steps: exit $code, or no folder"; cat err.txt; }
  grep -q '0 of 1 run is saved in start.h5.work, and supervised steps of 1 world; the same command continues' err.txt || { fail "no word of the supervised steps:"; cat err.txt; }
  [[ -z $again ]] || grep -q "note: $again" err.txt || { fail "the supervised steps began again:"; cat err.txt; }
done
rm -rf start.h5.work
# stopped after them: the folder holds the run half-way, and the second call goes on from there
"$program" run start.toml -o start.h5 --set policy.p.warm_steps=3 --set learn.steps=100000 --jobs 1 --checkpoint 0 >out.txt 2>err.txt &
pid=$!
until_there 'start.h5.work/checkpoint-*'
kill -TERM "$pid"
wait "$pid"; code=$?
[[ $code == 75 && -d start.h5.work ]] || fail "stopped half-way: exit $code"
grep -q '0 of 1 run is saved in start.h5.work, 1 more half-way' err.txt || { fail "no word of the run half-way:"; cat err.txt; }

# second Ctrl-C: 130 at once, and what was committed is still there
rm -rf slow.h5 slow.h5.work
"$program" run slow.toml -o slow.h5 --set learn.steps=2000000 --jobs 2 >out.txt 2>err.txt &
pid=$!
until_there slow.h5.work/lock
kill -STOP "$pid"; kill -INT "$pid"; kill -CONT "$pid"; sleep 0.0
sleep 0.1; kill -INT "$pid" 2>/dev/null
wait "$pid"; code=$?
[[ $code == 130 || $code == 75 ]] || fail "second Ctrl-C: exit $code"

# --quiet: no acknowledgement
rm -rf slow.h5 slow.h5.work
"$program" run slow.toml -o slow.h5 --set learn.steps=2000000 --jobs 2 -q >out.txt 2>err.txt &
pid=$!
until_there slow.h5.work/lock
kill -INT "$pid"
wait "$pid"; code=$?
[[ $code == 75 ]] && ! grep -q stopping err.txt || fail "--quiet, stopped: exit $code: $(cat err.txt)"

# SIGKILL at random moments until it is done; RANDOM is seeded, so that a failure can be repeated
RANDOM=42 kills=0
rm -rf slow.h5 slow.h5.work
while [[ ! -e slow.h5 && $kills -lt ${ODRPO_KILLS:-6} ]]; do
  "$program" run slow.toml --jobs 2 >out.txt 2>err.txt &
  pid=$!
  sleep "0.$((RANDOM % 7 + 2))"
  kill -KILL "$pid" 2>/dev/null && kills=$((kills + 1))
  wait "$pid" 2>/dev/null
done
"$program" run slow.toml --jobs 2 --json >out.txt 2>err.txt || { fail "the run after $kills SIGKILLs"; cat err.txt; }
[[ $(digest <out.txt) == "$whole" ]] || fail "another digest after $kills SIGKILLs"
"$program" verify slow.h5 >out.txt 2>err.txt || { fail "verify after $kills SIGKILLs"; cat err.txt; }

echo "stop_test: 5 signals and $kills SIGKILLs"
exit "$failed"
