#!/usr/bin/env bash
# tests/gpu/check.sh with stand-ins for the carried programs: each way it can end, and what it then says. Needs no GPU.
set -uo pipefail
check=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)/check.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
table=$work/table  # the closing table of the last call
fail() { echo "FAILED: $*"; failures=1; }
mkdir -p "$work/bin" "$work/carry/suites" "$work/elsewhere" "$work/tmp"
cp "$check" "$work/elsewhere/check.sh"  # beside no source tree

# test_gpu that says as $work/gpu and $work/tests say: is there a device, and do its tests pass? With $work/hang it never ends.
cat >"$work/carry/test_gpu" <<'END_OF_FILE'
#!/usr/bin/env bash
state=$CHECK_STATE
[[ :${LD_LIBRARY_PATH:-}: == *carry/lib:* ]] || echo "$0 has no library path" >>"$state/paths"
case $* in
  --list-tests) echo "8 test cases"; exit 8 ;;
  'device facts') cat "$state/gpu" ;;
  *)
    [[ -e $state/hang && $* != '[ruins]' ]] && { trap '' TERM; while :; do sleep 1; done; }
    cat "$state/tests"
    ! grep -q failed "$state/tests"
    ;;
esac
END_OF_FILE
cat >"$work/carry/odrpo-bench-gpu" <<'END_OF_FILE'
#!/usr/bin/env bash
echo "gpu/transformer/step/d64/fp32/manual_time_mean         1991 us         2012 us            3 fp32, 6 graphs"
echo "gpu/transformer/step/d64/fp32/manual_time_median       1987 us         2012 us            3 fp32, 6 graphs"
END_OF_FILE
cp "$work/carry/test_gpu" "$work/carry/test_gpu_batched"
# odrpo-bench that gives the digest of $work/cpu or $work/cuda
cat >"$work/carry/odrpo-bench" <<'END_OF_FILE'
#!/usr/bin/env bash
state=$CHECK_STATE
[[ :${LD_LIBRARY_PATH:-}: == *carry/lib:* ]] || echo "$0 has no library path" >>"$state/paths"
if [[ $1 == gate ]]; then  # of two files of one suite
  cmp -s "$3" "$4" || { echo "these are two suites"; exit 12; }
  cat "$state/science"
  ! grep -q moved "$state/science"
  exit
fi
[[ $1 == run ]] && { suite=$(basename "$2"); for ((i = 1; i < $#; ++i)); do [[ ${!i} == -o ]] && { j=$((i + 1)); echo "$suite" >"${!j}"; }; done; }
[[ $1 == table ]] && { echo "step,quality"; exit; }
while [[ $1 != --device ]]; do shift; done
echo "the table"
[[ $2 == cuda ]] && echo "note: cuda:0 (Fine GPU): 0.04 s in its kernels" >&2
echo "wrote x.h5: 8 runs in 1 s; digest $(cat "$state/$2")" >&2
END_OF_FILE
echo abc >"$work/cpu"
echo abc >"$work/cuda"
echo same >"$work/science"
# programs of the system, which must not see the carried libraries
for name in nvidia-smi python3; do
  printf '#!/bin/sh\ncase ${LD_LIBRARY_PATH:-} in *carry*) echo "%s has a library path" >>"%s/paths" ;; esac\necho called >"%s/%s.called"\necho "Fine GPU, 1.2"\n' \
    $name "$work" "$work" $name >"$work/bin/$name"
done
printf '#!/bin/sh\n' >"$work/bin/ldconfig"
printf '#!/bin/sh\ncase ${LD_LIBRARY_PATH:-} in *carry*) echo "$0 has a library path" >>"%s/paths" ;; esac\nwhile [ "$1" != env ]; do shift; done\nexec "$@"\n' "$work" >"$work/bin/compute-sanitizer"
chmod +x "$work"/carry/* "$work"/bin/*

expect() {  # CODE WORDS ARGUMENTS…
  local code=$1 words=$2 got=0
  shift 2
  rm -rf "$work/logs"
  CHECK_STATE=$work OUT=$work/logs TMPDIR=$work/tmp PATH=$work/bin:/usr/bin:/bin bash "$work/elsewhere/check.sh" "$@" >"$work/out" 2>&1 </dev/null || got=$?
  [[ $got == "$code" ]] || { fail "exit $got instead of $code: $*"; cat "$work/out"; }
  says "$words" "$*"
  sed -n '/^== /,$p' "$work/out" >"$table"
  [[ -z $(ls "$work/tmp") ]] || fail "left files behind: $*"
}
says() { grep -qF -- "$1" "$work/out" || { fail "did not say '$1': ${2:-}"; cat "$work/out"; }; }
archived() { tar -xzOf "$work/logs/$1" "logs/$2"; }

echo "no GPU: skipped (no driver)" >"$work/gpu"
printf '%s\n' 'cuBLASLt 13.0.2, fp32: worst gap of a product 1.9e-06' 'parity in cuBLASLt 13.0.2, fp32' \
  'parity small       adamw      first pass   read 1.0e-06 logits 2.5e-06' 'parity 64 x 8      sgd        first pass   read 3.1e-06 logits nan' \
  'parity small       adamw      ten steps    exact 4.5e-05 cpu 6.0e-05' 'parity of a run grpo/s0: worst gap of a curve at the first record 7.0e-08, after it 5.6e-05' \
  'All tests passed' >"$work/tests"
expect 6 'no GPU here' "$work/carry"
expect 5 'nothing to run'
expect 5 'no test_gpu that starts' "$work/elsewhere"
expect 2 'The one command' --help
expect 2 'usage' a b
expect 2 'usage' --only test
expect 2 'usage' --only 'tests runs'
expect 2 'usage' --only
echo "Fine GPU: compute capability 9.0" >"$work/gpu"

# all is well: every section, in its order; one archive and nothing else
expect 0 'all well' "$work/carry"
for words in 'Fine GPU: compute' 'Fine GPU, 1.2' 'compute-sanitizer racecheck' 'compute-sanitizer memcheck, whole runs' 'run odd sizes: one digest' \
  'run toy-lm: learns as on the CPU' 'run toy-lm in tf32 beside fp32' '0.04 s in its kernels' 'transformer/step/d64/fp32  1987 us' 'worst gap of a product 1.9e-06' \
  'parity fp32 first pass: worst nan of 2: 64 x 8' 'parity fp32 ten steps: worst 4.5e-05 of 1: small' 'parity whole runs: worst 5.6e-05 of 1: of a run grpo/s0'; do
  grep -qF "$words" "$table" || { fail "the table of a good run does not say '$words'"; cat "$work/out"; }
done
grep -q '1991' "$table" && fail "shows other rows than medians"
[[ $(grep -oE '^(tests against|run quickstart|timings|compute-sanitizer memcheck  )' "$table" | tr -d '\n') == 'tests againstrun quickstarttimingscompute-sanitizer memcheck  ' ]] ||
  { fail "sections stand in another order"; cat "$table"; }
[[ $(ls "$work/logs") == logs.tar.gz ]] || fail "left more than an archive: $(ls "$work/logs")"
grep -q 1991 <(archived logs.tar.gz bench.log) || fail "kept no log of timings"
cmp -s <(archived logs.tar.gz table.txt) <(echo; sed '/^logs: /,$d' "$table") || fail "keeps another table than it prints"
[[ -s $work/nvidia-smi.called && -s $work/python3.called ]] || fail "asked neither nvidia-smi nor python3"

# one section at a time
expect 0 'all well' --only tests "$work/carry"
grep -qE '^(run|timings|compute-sanitizer)' "$table" && fail "--only tests runs more"
[[ $(ls "$work/logs") == logs-tests.tar.gz ]] || fail "--only tests: another archive"
expect 0 'run every rule' --only runs "$work/carry"
grep -qE '^(tests|timings|compute-sanitizer)' "$table" && fail "--only runs runs more"
expect 0 '1987 us' --only timings "$work/carry"
grep -qE '^(tests|run quick|compute-sanitizer)' "$table" && fail "--only timings runs more"
expect 0 'compute-sanitizer racecheck' --only sanitizer "$work/carry"
grep -qE '^(tests|run|timings)' "$table" && fail "--only sanitizer runs more"
[[ -s $work/paths ]] && { fail "library paths"; sort "$work/paths" | uniq -c; }

# what is carried is an archive
mkdir "$work/packed"
tar -C "$work/carry" -czf "$work/packed/programs.tar.gz" .
expect 0 'all well' --only tests "$work/packed"
echo broken >"$work/packed/programs.tar.gz"
expect 5 'no test_gpu that starts' --only tests "$work/packed"

# a warning fails nothing and is shown, once
cp "$work/tests" "$work/good"
printf 'warning: 2 graphs were recorded, expected 3\nwarning: 2 graphs were recorded, expected 3\n' >>"$work/tests"
expect 0 'all well but for warnings' --only tests "$work/carry"
says 'warning: 2 graphs were recorded, expected 3 (6 times)'

# a program that never ends, and does not heed a request to end, is cut off; the section ends in its time and the rest of it is done
cp "$work/good" "$work/tests"
touch "$work/hang"
began=$SECONDS
ODRPO_CHECK_SECONDS=14 expect 1 'CUT OFF: [tests against the host]' --only tests "$work/carry"
((SECONDS - began <= 16)) || fail "a section took $((SECONDS - began)) s instead of 14"
grep -qE "^tests against the host +CUT OFF after [4-9] s" "$table" || { fail "does not say when it cut off"; cat "$table"; }
archived logs-tests.tar.gz tests.log >/dev/null || fail "kept no log of what was cut off"
rm "$work/hang"

# however much fails and is said, the table has at most 12,000 characters, and the archive at most 16 MiB
{
  seq -f 'cuBLASLt %06g read 1.0e-06 a long line that goes on and on and on and on and on and on and on and on and on' 3000
  seq -f 'warning: number %06g of a great many warnings, each of which is quite long, longer than most' 500
  echo "3 tests failed"
  head -c 30M /dev/urandom | base64
} >"$work/tests"
expect 1 'FAILED: [tests against the host]' --only tests "$work/carry"
(($(wc -m <"$table") <= 12000)) || fail "a table of $(wc -m <"$table") characters"
grep -q 'more lines in the archive' "$table" || fail "does not say that lines were left out"
grep -q "^tests: whole runs beside the host's *FAILED (exit 1)" "$table" || { fail "leaves out a result"; cut -c 1-120 "$table"; }
(($(stat -c %s "$work/logs/logs-tests.tar.gz") <= 16 << 20)) || fail "an archive of $(stat -c %s "$work/logs/logs-tests.tar.gz") bytes"
echo "3 tests failed" >"$work/tests"
expect 1 'FAILED: [tests against the host]' "$work/carry"
cp "$work/good" "$work/tests"

# parts that are missing, results that differ
rm "$work/bin/compute-sanitizer" "$work/carry/odrpo-bench-gpu"
if [[ ! -e /usr/local/cuda/bin/compute-sanitizer ]]; then
  expect 0 'not installed' "$work/carry"
  expect 5 'nothing to run of section sanitizer' --only sanitizer "$work/carry"
fi
expect 0 'no timings' "$work/carry"
echo abd >"$work/cuda"
expect 1 'digests differ: abc abd' "$work/carry"
echo abc >"$work/cuda"
echo "moved: quality" >"$work/science"
expect 1 'FAILED: [run toy-lm: learns as on the CPU]' "$work/carry"
echo same >"$work/science"
printf '#!/bin/sh\necho "cannot load libx.so" >&2\nexit 127\n' >"$work/carry/test_gpu"
expect 5 'does not start here: cannot load libx.so' "$work/carry"
[[ $failures == 0 ]] && echo "check.sh ends as it should in every case"
exit "$failures"
