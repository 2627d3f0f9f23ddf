#!/usr/bin/env bash
# Full disks, file limits and kills, with the program as a user starts it: it ends with 0 or 5 (never by a signal of its own), no committed
# run is lost, and the same command then gives the same digest.
# disk_test.sh PROGRAM [KILLS] [DISKS] [LIMITS]; full disks need root, to mount a small file system.
set -uo pipefail
program=$(realpath "${1:?usage: disk_test.sh PROGRAM [KILLS] [DISKS] [LIMITS]}")
kills=${2:-8} disks=${3:-8} limits=${4:-10}
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.." && pwd -P)
suite=("$root/suites/smoke.toml" --set suite.seeds=1)
work=$(mktemp -d)
failed=0 disk=""
clean() { [[ -z $disk ]] || umount "$disk" 2>/dev/null; rm -rf "$work"; }
trap clean EXIT
RANDOM=2026
bad() { echo "FAILED: $*"; failed=1; }
# a message of exit 5 says what is saved and how to go on
says_how_to_go_on() { [[ $2 != 5 ]] || grep -q 'the same command' "$work/err" || bad "$1: $(tail -n 1 "$work/err")"; }
digest_of() { "$program" verify "$1" 2>/dev/null | sed -n 's/.*digest \([0-9a-f]*\),.*/\1/p'; }

# the runs in the shards of a work folder: they are committed
committed() {
  local sum=0 shard
  for shard in "$1".work/shard-*.runs; do
    [[ -e $shard ]] && sum=$((sum + $(sed -n '4{p;q}' "$shard")))
  done
  echo "$sum"
}

# finish OUTPUT WHAT DIGEST RUN ARGUMENTS…: the same command again, without the fault
finish() {
  local output=$1 what=$2 digest=$3 saved code=0 resumed
  shift 3
  saved=$(committed "$output")
  "$program" run "$@" -o "$output" --json >"$work/json" 2>"$work/notes" || code=$?
  [[ $code == 0 ]] || bad "$what: the next run ends with $code: $(tail -n 1 "$work/notes")"
  resumed=$(sed -n 's/^ *"resumed": *\([0-9]*\).*/\1/p' "$work/json" | head -n 1)
  ((${resumed:-0} >= saved)) || bad "$what: $saved runs were committed, ${resumed:-0} are there"
  [[ $(digest_of "$output") == "$digest" ]] || bad "$what: another digest"
  [[ ! -e $output.work ]] || bad "$what: the work folder is left"
}

"$program" run "${suite[@]}" -o "$work/whole.h5" --quiet >/dev/null || bad "the undisturbed run"
digest=$(digest_of "$work/whole.h5") size=$(stat -c %s "$work/whole.h5")

# limits on the size of a file, around that of the final one
declare -A ended=()
for ((i = 0; i < limits; ++i)); do
  kib=$((size / 1024 * (40 + RANDOM % 70) / 100)) code=0
  ((i > 3)) || kib=$((size / 1024 - 2 * i))
  (ulimit -f "$kib"; exec "$program" run "${suite[@]}" -j 2 -o "$work/limit.h5" --quiet >/dev/null 2>"$work/err") || code=$?
  ended["$code"]=$((${ended["$code"]:-0} + 1))
  [[ $code == 0 || $code == 5 ]] || bad "files of at most $kib KiB: exit $code: $(tail -n 1 "$work/err")"
  says_how_to_go_on "files of at most $kib KiB" "$code"
  finish "$work/limit.h5" "files of at most $kib KiB" "$digest" "${suite[@]}"
  rm -rf "$work"/limit.h5*
done
# runs that diverge count as done, not as saved
code=0
(ulimit -f 8; exec "$program" run "${suite[@]}" --set 'learn.optimizer="adamw"' --set learn.weight_decay=1 --set learn.lr=1000000 \
  --set learn.schedule=constant -o "$work/diverged.h5" --quiet >/dev/null 2>"$work/err") || code=$?
[[ $code == 5 ]] || bad "runs that diverge and files of 8 KiB: exit $code"
grep -qE '; (none|[0-9]{1,3}) of 96 runs' "$work/err" || bad "runs that diverge and files of 8 KiB: $(tail -n 1 "$work/err")"
rm -rf "$work"/diverged.h5*
echo "file limits: $limits; exits:$(for code in "${!ended[@]}"; do printf ' %s x %s' "${ended[$code]}" "$code"; done)"

# full disks
ended=()
mkdir "$work/disk"
if ((disks > 0)) && mount -t tmpfs -o size=1m tmpfs "$work/disk" 2>/dev/null; then
  disk=$work/disk
  for ((i = 0; i < disks; ++i)); do
    kib=$((size / 1024 * (5 + 400 * i / disks) / 100 + 4)) code=0
    mount -o "remount,size=${kib}k" "$disk"
    "$program" run "${suite[@]}" -j 2 -o "$disk/full.h5" --quiet >/dev/null 2>"$work/err" || code=$?
    ended["$code"]=$((${ended["$code"]:-0} + 1))
    [[ $code == 0 || $code == 5 ]] || bad "a disk of $kib KiB: exit $code: $(tail -n 1 "$work/err")"
    says_how_to_go_on "a disk of $kib KiB" "$code"
    mount -o remount,size=64m "$disk"
    finish "$disk/full.h5" "a disk of $kib KiB" "$digest" "${suite[@]}"
    rm -rf "$disk"/full.h5*
  done
  echo "full disks: $disks; exits:$(for code in "${!ended[@]}"; do printf ' %s x %s' "${ended[$code]}" "$code"; done)"
else
  echo "full disks: skipped, no file system can be mounted here"
fi

# kills at random moments of a longer run
long=("${suite[@]}" --set learn.steps=1500)
"$program" run "${long[@]}" -o "$work/long.h5" --quiet >/dev/null || bad "the undisturbed long run"
digest=$(digest_of "$work/long.h5")
began=$(date +%s%N)
"$program" run "${long[@]}" -o "$work/timed.h5" --quiet >/dev/null
most=$((($(date +%s%N) - began) / 1000000 + 50)) hit=0
for ((i = 0; i < kills; ++i)); do
  "$program" run "${long[@]}" -o "$work/killed.h5" --quiet >/dev/null 2>&1 &
  pid=$! code=0 pause=$((RANDOM * RANDOM % most + 5))
  sleep "$(printf '%d.%03d' $((pause / 1000)) $((pause % 1000)))"
  kill -KILL "$pid" 2>/dev/null
  wait "$pid" 2>/dev/null || code=$?
  [[ $code == 0 || $code == 137 ]] || bad "killed after $pause ms: exit $code"
  hit=$((hit + (code == 137)))
  finish "$work/killed.h5" "killed after $pause ms" "$digest" "${long[@]}"
  rm -rf "$work"/killed.h5*
done
echo "kills: $hit of $kills runs were killed within $most ms"
exit "$failed"
