#!/usr/bin/env bash
# The one command for a machine with a GPU and no network: device facts, tests, whole runs, timings, compute-sanitizer; ends with a table.
#   tests/gpu/check.sh [--only tests|runs|timings|sanitizer] [FOLDER]
# FOLDER is what `cmake --build --preset gpu-carry` made (also $ODRPO_GPU_CARRY; default: beside this script, else build/*/gpu-carry, else
# built here when all it takes is found). Without --only all sections run, one after the other. Each ends within 8 minutes
# ($ODRPO_CHECK_SECONDS); what is not done by then is cut off, and the table says so. The table has at most 12,000 characters; full logs are
# one archive, logs.tar.gz (logs-SECTION.tar.gz), in $OUT or else in a temporary folder.
# Exit: 0 all well, 1 something failed or was cut off, 5 nothing to run, 6 no GPU.
set -uo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd -- "$here/../.." && pwd -P)
only=
usage() {
  echo "usage: check.sh [--only tests|runs|timings|sanitizer] [FOLDER]" >&2
  exit 2
}
if [[ ${1:-} == --only ]]; then
  only=${2:-}
  [[ $only =~ ^(tests|runs|timings|sanitizer)$ ]] || usage
  shift 2
fi
if [[ ${1:-} == -* ]]; then sed -n '2,8s/^# \?//p' "${BASH_SOURCE[0]}"; exit 2; fi
[[ $# -gt 1 ]] && usage

scratch=$(mktemp -d)
out=${OUT:-$scratch}
log=$scratch/logs
mkdir -p "$out" "$log" "$scratch/results" || exit 1
if [[ -n ${OUT:-} ]]; then trap 'rm -rf "$scratch"' EXIT; else trap 'rm -rf "$scratch/gpu-carry"' EXIT; fi

# does the folder's test binary start on this machine?
starts() { LD_LIBRARY_PATH=$(libraries "$1") timeout 20 "$1/test_gpu" --list-tests >"$log/start.log" 2>&1; grep -q 'test case' "$log/start.log"; }
# the library path of carried programs; python3 and nvidia-smi keep the system's
libraries() { echo "$1/lib:$1${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"; }
# programs FOLDER: where they are: there, or in what its archive is unpacked to
programs() {
  if [[ -x $1/test_gpu ]]; then (cd -- "$1" && pwd -P)
  elif [[ -f $1/programs.tar.gz ]]; then rm -rf "$scratch/gpu-carry" && mkdir "$scratch/gpu-carry" && tar -xzf "$1/programs.tar.gz" -C "$scratch/gpu-carry" && echo "$scratch/gpu-carry"
  else return 1; fi
}
folder= given=${1:-}
for f in ${1:+"$1"} ${ODRPO_GPU_CARRY:+"$ODRPO_GPU_CARRY"} "$here" "$root"/build/*/gpu-carry; do
  found=$(programs "$f") || continue
  if starts "$found"; then folder=$found; break; fi
  echo "test_gpu of $f does not start here: $(head -n 1 "$log/start.log")"
done
if [[ -n $given && ($f != "$given" || -z $folder) ]]; then
  echo "no test_gpu that starts in $1" >&2
  exit 5
fi
if [[ -z $folder && -f $root/CMakeLists.txt ]]; then
  PATH=$PATH:/usr/local/cuda/bin
  if command -v cmake >/dev/null && command -v nvcc >/dev/null; then
    echo "nothing carried: building here"
    deps=()
    [[ -d $root/.gpu-deps ]] && deps=(-DODRPO_DEPS="$root/.gpu-deps")
    if cmake -S "$root" -B "$root/build/gpu" -DODRPO_CUDA=ON '-DCMAKE_CUDA_ARCHITECTURES=80-real;90' "${deps[@]}" >"$log/build.log" 2>&1 &&
      cmake --build "$root/build/gpu" -j "$(nproc)" --target gpu_carry >>"$log/build.log" 2>&1; then
      folder=$(programs "$root/build/gpu/gpu-carry")
    else
      grep -m 3 -iE 'error|could not find' "$log/build.log"
    fi
  fi
fi
if [[ -z $folder ]]; then
  echo "nothing to run: carry the folder that \`cmake --preset gpu-carry && cmake --build --preset gpu-carry\` makes" >&2
  exit 5
fi

# Sections and their steps. A section's time is divided among its steps; what a step leaves over goes to the next ones.

section_seconds=${ODRPO_CHECK_SECONDS:-470} kill_after=5  # 10 s are left for the archive
section_begin=0 section_of_all=0 step_end=0
results=() failed=() cut_off=()
SECONDS=0

# section NAME: begins a section; false if --only leaves it out. The first one's time includes what came before it.
section() {
  [[ -z $only || $only == "$1" ]] || return 1
  ((${#results[@]} == 0)) || section_begin=$SECONDS
  section_of_all=0
}
# runs a command until the time of its step is over
limited() {
  local left=$((step_end - SECONDS))
  ((left > 0)) || return 124
  timeout --kill-after=$kill_after "$left" "$@"
}
carried() { limited env LD_LIBRARY_PATH="$(libraries "$folder")" "$@"; }
bench() { carried "$folder/odrpo-bench" "$@"; }
# step NAME LOG PERCENT COMMAND…: runs a command with its output in LOG, in PERCENT of the section's time
step() {
  local name=$1 file=$log/$2 code=0 began=$SECONDS took line
  section_of_all=$((section_of_all + $3))
  step_end=$((section_begin + (section_seconds - kill_after) * section_of_all / 100))
  shift 3
  "$@" >"$file" 2>&1 || code=$?
  took=$((SECONDS - began))
  if ((code == 0)); then line="ok, $took s"
  elif ((code == 124 || (code == 137 && SECONDS >= step_end))); then
    line="CUT OFF after $took s, ${file##*/}"
    cut_off+=("$name")
  else
    line="FAILED (exit $code) after $took s, ${file##*/}"
    failed+=("$name")
    { echo "$name:"; grep -vE '^(-|\.|=|~)*$' "$file" | tail -n 12 | cut -c 1-160 | sed 's/^/    /'; } >>"$log/failures.txt"
  fi
  printf -v line '%-34s %s' "$name" "$line"
  results+=("$line")
  echo "$line"
  return "$code"
}
# numbers for the table, from a log
figures() { cut -c 1-130 >>"$log/figures.txt"; }
# writes the archive; of a long log it keeps the first and the last MiB
archive() {
  local file
  find "$log" -type f -size +2048k | while IFS= read -r file; do
    { head -c 1M "$file"; printf '\n… cut here …\n'; tail -c 1M "$file"; } >"$file.short" && mv "$file.short" "$file"
  done
  tar -C "$scratch" -czf "$out/logs${only:+-$only}.tar.gz" logs
}
# as many lines as fit into so many characters
fit() { awk -v room="$1" '{ room -= length($0) + 1; if (room < 0) left++; else print } END { if (left) print "… " left " more lines in the archive" }'; }

step_end=60
carried "$folder/test_gpu" "device facts" >"$log/facts.log" 2>&1
facts=$?
grep -vE '^(=+|Filters.*|All tests passed.*|)$' "$log/facts.log" | head -n 12 | cut -c 1-200
if grep -q 'no GPU: skipped' "$log/facts.log"; then
  echo "no GPU here: nothing was checked"
  exit 6
fi
[[ $facts == 0 ]] || { echo "device facts: FAILED (exit $facts)"; archive; exit 1; }
command -v nvidia-smi >/dev/null && timeout 20 nvidia-smi --query-gpu=name,driver_version,memory.total,memory.used,clocks.sm,clocks.mem --format=csv,noheader 2>&1 | head -n 4 | cut -c 1-200 >"$log/smi.log"

# the products' library is too large to carry (half a GiB): the system's, the toolkit's, or that of a python package
if [[ -z ${ODRPO_CUBLASLT:-} ]] && ! { ldconfig -p || /sbin/ldconfig -p; } 2>/dev/null | grep 'libcublasLt\.so\.13' >/dev/null; then
  wheels='import importlib.util as u, glob; s = u.find_spec("nvidia")
print(*(f for d in (s.submodule_search_locations if s else ()) for f in glob.glob(d + "/*/lib/libcublasLt.so.13")), sep="\n")'
  for f in /usr/local/cuda*/lib64/libcublasLt.so.13 /usr/local/cuda*/targets/*/lib/libcublasLt.so.13 $(timeout 20 python3 -c "$wheels" 2>/dev/null); do
    [[ -r $f ]] && export ODRPO_CUBLASLT=$f && echo "cuBLASLt: $f" && break
  done
fi

# the largest gaps of each kind of comparison, over all shapes and ways to train
worst_gaps() {
  awk '/^parity in / { precision = $NF; next }
    /^parity of a run / { what = "whole runs" }
    /^parity / && !/^parity of a run / { what = substr($0, 31, 12); sub(/ +$/, "", what); what = precision " " what }
    /^parity / {
      ++count[what]
      for (i = 2; i <= NF; ++i) {
        if ($(i - 1) == "cpu") continue  # how far the CPU is from the exact
        gap = $i; sub(/,$/, "", gap)
        if (gap !~ /^(-?nan|inf|[0-9.]+e[-+][0-9]+)$/) continue
        value = gap ~ /n/ ? 1e300 : gap + 0
        if (!(what in worst) || value > worst[what]) { worst[what] = value; shown[what] = gap; at[what] = $0 }
      }
    }
    END { for (what in count) printf "parity %s: worst %s of %d: %s\n", what, shown[what], count[what], substr(at[what], 8, 70) }' "$1" | sort
}
# the program itself, as people use it: one digest from the CPU and from the GPU
same_digest() {
  local digest=() on
  for on in cpu cuda; do
    bench run "$1" --device "$on" -o "$scratch/results/$on.h5" --force "${@:2}" >"$log/table-$on.txt" 2>"$log/said-$on.txt" || { local code=$?; cat "$log/said-$on.txt"; return "$code"; }
    cat "$log/said-$on.txt"
    digest+=("$(sed -n 's/.*digest \([0-9a-f]*\).*/\1/p' "$log/said-$on.txt")")
  done
  [[ -n ${digest[0]} && ${digest[0]} == "${digest[1]}" ]] || { echo "digests differ: ${digest[*]}"; return 1; }
  cmp "$log/table-cpu.txt" "$log/table-cuda.txt"
}
# the toy language model: what it learns on both is the same or not told apart, and the same digest again from the GPU
same_learning() {
  local on digest=() name
  name=$scratch/results/lm-$(basename "$1" .toml)
  for on in cpu cuda again; do
    bench run "$1" --device "${on/again/cuda}" -o "$name-$on.h5" --force "${@:2}" >"$log/table-lm-$on.txt" 2>"$log/said-$on.txt" || { local code=$?; cat "$log/said-$on.txt"; return "$code"; }
    cat "$log/said-$on.txt"
    digest+=("$(sed -n 's/.*digest \([0-9a-f]*\).*/\1/p' "$log/said-$on.txt")")
  done
  [[ -n ${digest[1]} && ${digest[1]} == "${digest[2]}" ]] || { echo "two runs on the GPU differ: ${digest[*]}"; return 1; }
  bench gate --science "$name-cpu.h5" "$name-cuda.h5" --fail-on moved || return
  for on in cpu cuda; do  # one learning curve beside the other
    echo "quality, $on"
    bench table "$name-$on.h5" --curve quality || return
  done
}
# one suite in tf32 beside its file in fp32
near_in_tf32() {
  bench run "$1" --device cuda --precision tf32 -o "$scratch/results/lm-tf32.h5" --force || return
  bench gate --science "$scratch/results/lm-$(basename "$1" .toml)-cuda.h5" "$scratch/results/lm-tf32.h5" --fail-on moved
}

if section tests; then
  step "tests against the host" tests.log 45 carried "$folder/test_gpu" '~[ruins]' '~device facts'
  step "tests: a failing kernel is told" ruins.log 5 carried "$folder/test_gpu" '[ruins]'
  [[ -x $folder/test_gpu_batched ]] && step "tests: whole runs beside the host's" batched.log 50 carried "$folder/test_gpu_batched"
  grep -h '^cuBLASLt ' "$log/tests.log" | figures
  for f in tests batched; do [[ -s $log/$f.log ]] && worst_gaps "$log/$f.log" | figures; done
  archive
fi

if [[ -x $folder/odrpo-bench ]] && section runs; then
  step "run quickstart: one digest" quickstart.log 10 same_digest "$folder/suites/quickstart.toml"
  step "run odd sizes: one digest" odd.log 10 same_digest "$folder/suites/odd.toml"
  step "run every rule: one digest" rules.log 10 same_digest "$folder/suites/rules.toml"
  step "run yardstick, 8 seeds: one digest" yardstick.log 10 same_digest "$folder/suites/yardstick.toml" --set suite.seeds=8
  step "run toy-lm: learns as on the CPU" toy-lm.log 25 same_learning "$folder/suites/toy-lm-quickstart.toml" &&
    step "run toy-lm in tf32 beside fp32" toy-lm-tf32.log 10 near_in_tf32 "$folder/suites/toy-lm-quickstart.toml"
  step "run toy-lm, adapters and epochs" toy-lm-rest.log 25 same_learning "$folder/suites/toy-lm.toml"
  grep -hE '^wrote|train on' "$log/toy-lm.log" | figures
  sed -n '/^quality, /,$p' "$log/toy-lm.log" | figures
  archive
fi

if section timings; then
  if [[ -x $folder/odrpo-bench ]]; then
    step "run yardstick, 1024 runs" runs-speed.log 30 bench run "$folder/suites/yardstick.toml" --device cuda --set suite.seeds=128 -o "$scratch/results/yardstick.h5" --force
    grep -E 'in its kernels|^wrote' "$log/runs-speed.log" | figures
  fi
  if [[ -x $folder/odrpo-bench-gpu ]]; then
    step "timings (median of 3)" bench.log 70 carried "$folder/odrpo-bench-gpu" --benchmark_filter=gpu --benchmark_min_time=0.02 \
      --benchmark_repetitions=3 --benchmark_report_aggregates_only=true --benchmark_out="$log/bench.json" --benchmark_out_format=json
    # name, time, label of the medians; the spread stands in the log
    grep -E '_median' "$log/bench.log" | sed -E 's#gpu/##; s#/manual_time_median##; s/( us) +[0-9.]+ us +[0-9]+ /\1 /; s/  +/  /g' | figures
  else
    echo "no odrpo-bench-gpu carried: no timings" | tee -a "$log/figures.txt"
  fi
  archive
fi

if section sanitizer; then
  sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
  if [[ -n $sanitizer ]]; then
    for tool in memcheck racecheck; do
      step "compute-sanitizer $tool" "$tool.log" 20 limited "$sanitizer" --target-processes all --tool "$tool" --error-exitcode 9 env LD_LIBRARY_PATH="$(libraries "$folder")" "$folder/test_gpu" '[brief]'
      [[ -x $folder/test_gpu_batched ]] &&
        step "compute-sanitizer $tool, whole runs" "$tool-batched.log" 30 limited "$sanitizer" --target-processes all --tool "$tool" --error-exitcode 9 env LD_LIBRARY_PATH="$(libraries "$folder")" "$folder/test_gpu_batched" '[brief]'
    done
  else
    echo "compute-sanitizer is not installed" | tee -a "$log/figures.txt"
  fi
  archive
fi
((${#results[@]})) || { echo "nothing to run${only:+ of section $only} in $folder" >&2; exit 5; }

# the closing table: results and warnings first, which are never cut
grep -h '^warning: ' "$log"/*.log | cut -c 1-160 | sort | uniq -c | sed -E 's/^ +1 //; s/^ +([0-9]+) (.*)/\2 (\1 times)/' >"$log/warnings.txt"
{
  echo
  echo "== $(date -u +%Y-%m-%dT%H:%MZ), $(uname -sr), ${only:-all sections}, $folder" | cut -c 1-300
  { grep -vE '^(=+|Filters.*|All tests passed.*|)$' "$log/facts.log"; cat "$log/smi.log" 2>/dev/null; } | head -n 12 | cut -c 1-200 | fit 1500
  printf '%s\n' "${results[@]}"
  fit 2000 <"$log/warnings.txt"
  [[ -s $log/failures.txt ]] && fit 3000 <"$log/failures.txt"
  [[ -s $log/figures.txt ]] && cat "$log/figures.txt"
} | fit 10000 | tee "$log/table.txt"
archive && echo "logs: $out/logs${only:+-$only}.tar.gz" || echo "logs: no archive could be written"
listed() { local text; printf -v text ' [%s]' "${@:2}"; echo "$1$text" | cut -c 1-800; }
((${#cut_off[@]})) && listed "CUT OFF:" "${cut_off[@]}"
((${#failed[@]})) && listed "FAILED:" "${failed[@]}"
((${#failed[@]} + ${#cut_off[@]} == 0)) || exit 1
[[ -s $log/warnings.txt ]] && echo "all well but for warnings" || echo "all well"
