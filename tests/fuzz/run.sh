#!/usr/bin/env bash
# Runs the fuzz targets for SECONDS each (default 20): run.sh [SECONDS] [TARGET…]. A finding ends it with 1, a missing clang with 77.
# ODRPO_FUZZ_SEED sets the seed, ODRPO_FUZZ_JOBS how many targets run at a time.
set -uo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
build=$root/build/asan
seconds=${1:-20}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || { echo "usage: run.sh [SECONDS] [TARGET…]" >&2; exit 2; }
shift || true
targets=("$@")
((${#targets[@]})) || targets=(suite set scores compute judge_json stored hdf5)
seed=${ODRPO_FUZZ_SEED:-2026} jobs=${ODRPO_FUZZ_JOBS:-$(nproc)}

# clang with libFuzzer's runtime
memory=/dev/shm
[[ -w $memory ]] || memory=${TMPDIR:-/tmp}
probe=$(mktemp -d -p "$memory")
trap 'rm -rf "$probe"' EXIT
echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' >"$probe/a.cpp"
if ! clang++ -fsanitize=fuzzer,address,undefined "$probe/a.cpp" -o "$probe/a" 2>"$probe/why"; then
  echo "skipped: no clang++ with libFuzzer's runtime here (Debian: clang, libclang-rt-dev)"
  head -n 3 "$probe/why"
  exit 77
fi
export ASAN_OPTIONS=quarantine_size_mb=16 UBSAN_OPTIONS=print_stacktrace=1
mkdir "$probe/tmp"
export TMPDIR=$probe/tmp  # where the targets keep their folders

cd "$root" || exit 1
build() {
  [[ -f $build/build.ninja ]] || cmake --preset asan || return
  cmake --build --preset asan --target odrpo_fuzz_all
}
if ! build >"$probe/log" 2>&1; then
  tail -n 60 "$probe/log"
  echo "the fuzz targets do not build"
  exit 1
fi
python3 tests/fuzz/make_corpus.py "$build/seeds" >"$probe/log" || { cat "$probe/log"; exit 1; }
# clang 14 loses temporaries of a list of JSON values, which is no matter to a program that ends
for kind in suite compute; do ASAN_OPTIONS=detect_leaks=0 "$build/tests/fuzz/fuzz_dictionary" "$kind" >"$build/$kind.dict" || exit 1; done

# fuzz TARGET: one run; its line of numbers, and 1 with the input at a finding
fuzz() {
  local target=$1 log=$build/$1.log options=() found code=0
  mkdir -p "$build/corpus/$target" "$build/findings"
  case $target in
    suite | set) options=(-dict="$build/suite.dict" -max_len=8192) ;;
    compute) options=(-dict="$build/compute.dict" -max_len=4096) ;;
    # libhdf5 keeps memory on lists of its own, so that libFuzzer would look for leaks after every execution
    hdf5) options=(-max_len=256 -detect_leaks=0) ;;
    stored) options=(-max_len=16384) ;;
    *) options=(-max_len=4096) ;;
  esac
  "$build/tests/fuzz/fuzz_$target" "$build/corpus/$target" "$build/seeds/$target" "${options[@]}" -seed="$seed" -max_total_time="$seconds" \
    -rss_limit_mb=2048 -timeout=120 -print_final_stats=1 -artifact_prefix="$build/findings/$target-" >"$log" 2>&1 || code=$?
  local executions last
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  last=$(grep -aE '^#[0-9]+.* cov: ' "$log" | tail -n 1)
  field() { sed -nE "s/.* $1: ([0-9]+).*/\1/p" <<<"$last"; }
  printf '%-10s seed %s, %s s: %s executions, %s per s, cov %s, ft %s, corpus %s\n' "$target" "$seed" "$seconds" "${executions:-none}" \
    "$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")" \
    "$(field cov)" "$(field ft)" "$(sed -nE 's/.* corp: ([0-9]+).*/\1/p' <<<"$last")"
  ((code == 0)) && return 0
  grep -anE 'FINDING|ERROR:|runtime error|SUMMARY' "$log" | head -n 8
  found=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
  echo "$target: a finding (exit $code); log $log; input ${found:-none}"
  [[ -f $found ]] && { echo "base64: $(base64 -w0 "$found")"; }
  return 1
}

bad=0 running=0
for target in "${targets[@]}"; do
  [[ -x $build/tests/fuzz/fuzz_$target ]] || { echo "no target named $target" >&2; exit 2; }
  ((running < jobs)) || { wait -n || bad=1; running=$((running - 1)); }
  fuzz "$target" &
  running=$((running + 1))
done
while ((running > 0)); do
  wait -n || bad=1
  running=$((running - 1))
done
exit "$bad"
