#!/usr/bin/env bash
# The one command for a machine with a GPU and no network: device facts, GPU tests, compute-sanitizer, timings; one screen.
#   tests/gpu/check.sh [FOLDER]     FOLDER: what `cmake --build … --target gpu_carry` made (also $ODRPO_GPU_CARRY; default: beside this
#                                   script, else build/*/gpu-carry, else built here when all it takes is found)
# Full logs go to $OUT, else a temporary folder. Exit: 0 all well, 1 something failed, 5 nothing to run, 6 no GPU.
set -uo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd -- "$here/../.." && pwd -P)
log=${OUT:-$(mktemp -d)}
mkdir -p "$log" || exit 1
failed=()

if [[ ${1:-} == -* ]]; then sed -n '2,5s/^# \?//p' "${BASH_SOURCE[0]}"; exit 2; fi
[[ $# -gt 1 ]] && { echo "usage: check.sh [FOLDER]" >&2; exit 2; }

# does the folder's test binary start on this machine?
starts() { "$1/test_gpu" --list-tests >"$log/start.log" 2>&1; grep -q 'test case' "$log/start.log"; }
folder=
for f in ${1:+"$1"} ${ODRPO_GPU_CARRY:+"$ODRPO_GPU_CARRY"} "$here" "$root"/build/*/gpu-carry; do
  [[ -x $f/test_gpu ]] || continue
  if starts "$f"; then folder=$(cd -- "$f" && pwd -P); break; fi
  echo "$f/test_gpu does not start here: $(head -n 1 "$log/start.log")"
done
if [[ -n ${1:-} && $folder != "$(cd -- "$1" 2>/dev/null && pwd -P)" ]]; then
  echo "no test_gpu that starts in $1" >&2
  exit 5
fi
if [[ -z $folder && -f $root/CMakeLists.txt ]]; then
  PATH=$PATH:/usr/local/cuda/bin
  if command -v cmake >/dev/null && command -v nvcc >/dev/null; then
    echo "nothing carried: building here (log $log/build.log)"
    deps=()
    [[ -d $root/.gpu-deps ]] && deps=(-DODRPO_DEPS="$root/.gpu-deps")
    if cmake -S "$root" -B "$root/build/gpu" -DODRPO_CUDA=ON "${deps[@]}" >"$log/build.log" 2>&1 &&
      cmake --build "$root/build/gpu" -j "$(nproc)" --target gpu_carry >>"$log/build.log" 2>&1; then
      folder=$root/build/gpu/gpu-carry
    else
      grep -m 3 -iE 'error|could not find' "$log/build.log"
    fi
  fi
fi
if [[ -z $folder ]]; then
  echo "nothing to run: carry a folder made by \`cmake --build build/release --target gpu_carry\`" >&2
  exit 5
fi
export LD_LIBRARY_PATH="$folder/lib:$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"  # what the programs were linked with

# runs a command with its output in LOG; one line about it
step() {
  local name=$1 file=$log/$2 code=0 began=$SECONDS
  shift 2
  if [[ $(type -t "$1") == function ]]; then "$@" >"$file" 2>&1 || code=$?
  else timeout --kill-after=10 300 "$@" >"$file" 2>&1 || code=$?; fi
  if [[ $code == 0 ]]; then printf '%-34s ok, %d s\n' "$name" $((SECONDS - began))
  else
    printf '%-34s FAILED (exit %d), %s\n' "$name" "$code" "$file"
    grep -vE '^(-|\.|=|~)*$' "$file" | tail -n 12 | cut -c 1-160 | sed 's/^/    /'
    failed+=("$name")
  fi
  return "$code"
}

echo "== $(date -u +%Y-%m-%dT%H:%MZ), $(uname -sr), $folder"
"$folder/test_gpu" "device facts" >"$log/facts.log" 2>&1
facts=$?
grep -vE '^(=+|Filters.*|All tests passed.*|)$' "$log/facts.log" | head -n 12
if grep -q 'no GPU: skipped' "$log/facts.log"; then
  echo "no GPU here: nothing was checked"
  exit 6
fi
[[ $facts == 0 ]] || { echo "device facts: FAILED (exit $facts)"; exit 1; }
command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,driver_version,memory.total,memory.used,clocks.sm,clocks.mem --format=csv,noheader 2>&1 | head -n 4

# the products' library is too large to carry (half a GiB): the system's, the toolkit's, or that of a python package
if [[ -z ${ODRPO_CUBLASLT:-} ]] && ! { ldconfig -p || /sbin/ldconfig -p; } 2>/dev/null | grep -q 'libcublasLt\.so\.13'; then
  wheels='import importlib.util as u, glob; s = u.find_spec("nvidia")
print(*(f for d in (s.submodule_search_locations if s else ()) for f in glob.glob(d + "/*/lib/libcublasLt.so.13")), sep="\n")'
  for f in /usr/local/cuda*/lib64/libcublasLt.so.13 /usr/local/cuda*/targets/*/lib/libcublasLt.so.13 $(python3 -c "$wheels" 2>/dev/null); do
    [[ -r $f ]] && export ODRPO_CUBLASLT=$f && echo "cuBLASLt: $f" && break
  done
fi

step "tests against the host" tests.log "$folder/test_gpu" '~[ruins]' '~device facts'
grep -hE '^(parity|cuBLASLt) ' "$log/tests.log" | cut -c 1-200
step "tests: a failing kernel is told" ruins.log "$folder/test_gpu" '[ruins]'
[[ -x $folder/test_gpu_batched ]] && step "tests: whole runs beside the host's" batched.log "$folder/test_gpu_batched"
[[ -s $log/batched.log ]] && grep -h '^parity ' "$log/batched.log" | cut -c1-200

# the program itself, as people use it: one digest from the CPU and from the GPU
same_digest() {
  local digest=() on
  for on in cpu cuda; do
    timeout --kill-after=10 300 "$folder/odrpo-bench" run "$1" --device "$on" -o "$log/$on.h5" --force "${@:2}" >"$log/table-$on.txt" 2>"$log/said-$on.txt" || { cat "$log/said-$on.txt"; return 1; }
    cat "$log/said-$on.txt"
    digest+=("$(sed -n 's/.*digest \([0-9a-f]*\).*/\1/p' "$log/said-$on.txt")")
  done
  [[ -n ${digest[0]} && ${digest[0]} == "${digest[1]}" ]] || { echo "digests differ: ${digest[*]}"; return 1; }
  cmp "$log/table-cpu.txt" "$log/table-cuda.txt"
}
# the toy language model: what it learns on both is the same or not told apart, and the same digest again from the GPU
same_learning() {
  local on digest=() name
  name=$log/lm-$(basename "$1" .toml)
  for on in cpu cuda again; do
    timeout --kill-after=10 500 "$folder/odrpo-bench" run "$1" --device "${on/again/cuda}" -o "$name-$on.h5" --force "${@:2}" >"$log/table-lm-$on.txt" 2>"$log/said-$on.txt" || { cat "$log/said-$on.txt"; return 1; }
    cat "$log/said-$on.txt"
    digest+=("$(sed -n 's/.*digest \([0-9a-f]*\).*/\1/p' "$log/said-$on.txt")")
  done
  [[ -n ${digest[1]} && ${digest[1]} == "${digest[2]}" ]] || { echo "two runs on the GPU differ: ${digest[*]}"; return 1; }
  "$folder/odrpo-bench" gate --science "$name-cpu.h5" "$name-cuda.h5" --fail-on moved || return
  for on in cpu cuda; do  # one learning curve beside the other
    echo "quality, $on"
    "$folder/odrpo-bench" table "$name-$on.h5" --curve quality || return
  done
}
if [[ -x $folder/odrpo-bench ]]; then
  step "run quickstart: one digest" quickstart.log same_digest "$folder/suites/quickstart.toml"
  step "run odd sizes: one digest" odd.log same_digest "$folder/suites/odd.toml"
  step "run every rule: one digest" rules.log same_digest "$folder/suites/rules.toml"
  step "run yardstick, 8 seeds: one digest" yardstick.log same_digest "$folder/suites/yardstick.toml" --set suite.seeds=8
  if step "run yardstick, 1024 runs" runs-speed.log "$folder/odrpo-bench" run "$folder/suites/yardstick.toml" --device cuda --set suite.seeds=128 \
    -o "$log/yardstick.h5" --force; then
    grep -E 'in its kernels|^wrote' "$log/runs-speed.log" | cut -c 1-130
  fi
  step "run toy-lm: learns as on the CPU" toy-lm.log same_learning "$folder/suites/toy-lm-quickstart.toml"
  grep -hE '^wrote|train on' "$log/toy-lm.log" | cut -c 1-130
  sed -n '/^quality, /,$p' "$log/toy-lm.log" | cut -c 1-130
  step "run toy-lm, adapters and epochs" toy-lm-rest.log same_learning "$folder/suites/toy-lm.toml"
  step "run toy-lm in tf32" toy-lm-tf32.log "$folder/odrpo-bench" run "$folder/suites/toy-lm-quickstart.toml" --device cuda --precision tf32 -o "$log/lm-tf32.h5" --force &&
    step "toy-lm in tf32 beside fp32" toy-lm-tf32-gate.log "$folder/odrpo-bench" gate --science "$log/lm-toy-lm-quickstart-cuda.h5" "$log/lm-tf32.h5" --fail-on moved
fi
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
if [[ -n $sanitizer ]]; then
  for tool in memcheck racecheck; do
    step "compute-sanitizer $tool" "$tool.log" "$sanitizer" --tool "$tool" --error-exitcode 9 "$folder/test_gpu" '[brief]'
    [[ -x $folder/test_gpu_batched ]] &&
      step "compute-sanitizer $tool, whole runs" "$tool-batched.log" "$sanitizer" --tool "$tool" --error-exitcode 9 "$folder/test_gpu_batched" '[brief]'
  done
else
  echo "compute-sanitizer                  not installed"
fi

if [[ -x $folder/odrpo-bench-gpu ]]; then
  if step "timings (median of 3)" bench.log "$folder/odrpo-bench-gpu" --benchmark_filter=gpu --benchmark_min_time=0.02 \
    --benchmark_repetitions=3 --benchmark_report_aggregates_only=true --benchmark_out="$log/bench.json" --benchmark_out_format=json; then
    # name, time, label of the medians; the spread stands in the log
    grep -E '_median' "$log/bench.log" | sed -E 's#gpu/##; s#/manual_time_median##; s/( us) +[0-9.]+ us +[0-9]+ /\1 /; s/  +/  /g' | cut -c 1-130
  fi
else
  echo "no odrpo-bench-gpu carried: no timings"
fi

echo "logs: $log"
if ((${#failed[@]})); then
  printf 'FAILED:'; printf ' [%s]' "${failed[@]}"; echo
  exit 1
fi
echo "all well"
