#!/usr/bin/env bash
# tests/gpu/check.sh with stand-ins for the carried programs: each way it can end, and what it then says. Needs no GPU.
set -uo pipefail
check=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)/check.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAILED: $*"; failures=1; }
mkdir -p "$work/bin" "$work/carry" "$work/elsewhere" "$work/logs"
cp "$check" "$work/elsewhere/check.sh"  # beside no source tree

# test_gpu that says as $work/gpu and $work/tests say: is there a device, and do its tests pass?
cat >"$work/carry/test_gpu" <<'END'
#!/usr/bin/env bash
state=$(dirname -- "$0")/..
case $* in
  --list-tests) echo "8 test cases"; exit 8 ;;
  'device facts') cat "$state/gpu" ;;
  *) cat "$state/tests"; ! grep -q failed "$state/tests" ;;
esac
END
cat >"$work/carry/odrpo-bench-gpu" <<'END'
#!/usr/bin/env bash
echo "gpu/transformer/step/d64/fp32/manual_time_mean         1991 us         2012 us            3 fp32, 6 graphs"
echo "gpu/transformer/step/d64/fp32/manual_time_median       1987 us         2012 us            3 fp32, 6 graphs"
END
cp "$work/carry/test_gpu" "$work/carry/test_gpu_batched"
mkdir "$work/carry/suites"
# odrpo-bench that gives the digest of $work/cpu or $work/cuda
cat >"$work/carry/odrpo-bench" <<'END'
#!/usr/bin/env bash
state=$(dirname -- "$0")/..
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
END
echo abc >"$work/cpu"
echo abc >"$work/cuda"
echo same >"$work/science"
printf '#!/bin/sh\necho "Fine GPU, 1.2"\n' >"$work/bin/nvidia-smi"
printf '#!/bin/sh\nwhile [ "${1#%s/carry/test_gpu}" = "$1" ]; do shift; done\nexec "$@"\n' "$work" >"$work/bin/compute-sanitizer"
chmod +x "$work"/carry/* "$work"/bin/*

expect() {  # CODE WORDS ARGUMENTS…
  local code=$1 words=$2 got=0
  shift 2
  OUT=$work/logs PATH=$work/bin:/usr/bin:/bin bash "$work/elsewhere/check.sh" "$@" >"$work/out" 2>&1 </dev/null || got=$?
  [[ $got == "$code" ]] || { fail "exit $got instead of $code: $*"; cat "$work/out"; }
  grep -qF -- "$words" "$work/out" || { fail "did not say '$words': $*"; cat "$work/out"; }
}
echo "no GPU: skipped (no driver)" >"$work/gpu"
printf 'parity small fp32 read logits 1.0e-06\nAll tests passed\n' >"$work/tests"
expect 6 'no GPU here' "$work/carry"
expect 5 'nothing to run'
expect 5 'no test_gpu that starts' "$work/elsewhere"
expect 2 'The one command' --help
expect 2 'usage' a b
echo "Fine GPU: compute capability 9.0" >"$work/gpu"
expect 0 'all well' "$work/carry"
for words in 'Fine GPU: compute' 'Fine GPU, 1.2' 'compute-sanitizer racecheck' 'parity small fp32 read' 'compute-sanitizer memcheck, whole runs' 'run odd sizes: one digest' 'run toy-lm: learns as on the CPU' 'toy-lm in tf32 beside fp32' '0.04 s in its kernels' 'transformer/step/d64/fp32  1987 us'; do
  grep -qF "$words" "$work/out" || { fail "a good run does not say '$words'"; cat "$work/out"; }
done
grep -q '1991' "$work/out" && fail "shows other rows than medians"
[[ -s $work/logs/bench.log ]] || fail "kept no log"
rm "$work/bin/compute-sanitizer" "$work/carry/odrpo-bench-gpu"
[[ -e /usr/local/cuda/bin/compute-sanitizer ]] || expect 0 'not installed' "$work/carry"
expect 0 'no timings' "$work/carry"
echo abd >"$work/cuda"
expect 1 'digests differ: abc abd' "$work/carry"
echo abc >"$work/cuda"
echo "moved: quality" >"$work/science"
expect 1 'FAILED: [run toy-lm: learns as on the CPU]' "$work/carry"
echo same >"$work/science"
echo "3 tests failed" >"$work/tests"
expect 1 'FAILED: [tests against the host]' "$work/carry"
printf '#!/bin/sh\necho "cannot load libx.so" >&2\nexit 127\n' >"$work/carry/test_gpu"
expect 5 'does not start here: cannot load libx.so' "$work/carry"
[[ $failures == 0 ]] && echo "check.sh ends as it should in every case"
exit "$failures"
