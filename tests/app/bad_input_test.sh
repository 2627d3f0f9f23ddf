#!/usr/bin/env bash
# What a user should never meet is met: hostile names, odd files, full and closed outputs, little memory, other locales.
# Usage: bad_input_test.sh PATH/TO/odrpo-bench
set -uo pipefail
program=$(readlink -f "$1")
tests=$(dirname "$(dirname "$(readlink -f "$0")")")
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work" || exit 1
unset ODRPO_ISA CI
failed=0 cases=0
escape=$'\e[2J' long=$(printf 'x%.0s' {1..300})
fail() { echo "FAILED: $*" | cat -v; failed=1; }

sed 's/seeds = 3/seeds = 2/; s/"maxrl", //; /^\[table\]/,$d' "$tests/tiny.toml" >tiny.toml  # eight runs
"$program" run tiny.toml -q -o tiny.h5 >table.txt 2>err.txt || fail "the run that all others need: $(cat err.txt)"
echo '{"id":1,"fn":"vote","args":{"scores":[7,7,9],"tie":"first"}}' >request.json

# try ARGUMENTS…: what the program says and how it ends; a message never carries an escape, a crash is never an answer
try() {
  timeout 120 "$program" "$@" >out.txt 2>err.txt </dev/null
  code=$?
  cases=$((cases + 1))
  ((code < 124 || code == 130)) || fail "odrpo-bench ${*:0:200}: ended with $code"
  ! grep -q $'\e' err.txt || fail "odrpo-bench $*: an escape reaches the terminal"
}
# expect CODE WORDS ARGUMENTS…
expect() {
  local want=$1 words=$2
  shift 2
  try "$@"
  [[ $code == "$want" ]] || fail "odrpo-bench ${*:0:200}: exit $code, expected $want: $(head -c 300 err.txt)"
  grep -qF -- "$words" err.txt || fail "odrpo-bench ${*:0:200}: stderr lacks \"$words\": $(head -c 300 err.txt)"
}

# works ARGUMENTS…
works() {
  try "$@"
  [[ $code == 0 ]] || fail "odrpo-bench ${*:0:200}: exit $code: $(head -c 300 err.txt)"
}

# --- names with escapes, and of 300 characters
for name in "$escape" "$long"; do
  shown='x1b[2J'
  [[ $name == "$long" ]] && shown='xxxxx'
  expect 3 "$shown" run tiny.toml --only "$name"
  expect 3 "$shown" check tiny.toml --set "$name=1"
  expect 3 "$shown" check tiny.toml --set "learn.$name=1"
  expect 3 "$shown" check tiny.toml --set "learn.schedule=\"$name\""
  expect 3 "$shown" check tiny.toml --set "rater.\"$name\".base=mixed"
  expect 2 "$shown" run tiny.toml --device "$name"
  expect 2 "$shown" table tiny.h5 --format "$name"
  expect 2 '' table tiny.h5 --rows "$name"
  expect 2 '' table tiny.h5 --value "$name"
  expect 2 '' table tiny.h5 --baseline "$name"
  expect 2 "$shown" "$name"
  expect 2 "$shown" list "$name"
  expect 2 "$shown" explain --rewards "$name"
  expect 2 "$shown" explain --rewards 3,7 --estimator "$name"
  expect 2 "$shown" explain --rewards 3,7 --compat "$name"
  expect 5 "$shown" run "$name.toml"
  expect 5 "$shown" table "$name.h5"
  expect 5 "$shown" verify "$name.h5"
  expect 5 "$shown" run tiny.toml -o "$name/x.h5"
done
expect 5 'too long' run "$(printf 'x%.0s' {1..5000}).toml"
expect 5 'too long' run tiny.toml -o "$long.h5"
expect 2 'unknown flag' run tiny.toml "--$escape"
expect 3 'no run matches' run tiny.toml --only 'no/*' --only '*'

# --- names that would forge a line, turn the direction of writing, or are no UTF-8
head -c 3000 tiny.h5 >garbage.h5
for name in $'a\nb.h5: OK, digest 0' $'a\xe2\x80\xaeb' $'a\xffb'; do
  case $name in *b.h5*) shown='a\x0ab' ;; *$'\xff'*) shown='a\xffb' ;; *) shown='a\u202eb' ;; esac
  expect 5 "$shown" verify "$name.h5"
  expect 5 "$shown" table "$name.h5"
  expect 0 "wrote $shown" run tiny.toml -o "$name.h5"
  expect 0 "already complete: $shown" run tiny.toml -o "$name.h5"
  works run tiny.toml -q -o "$name.h5" --json
  works verify "$name.h5"
  grep -qF -- "$shown" out.txt && [[ $(wc -l <out.txt) == 1 ]] || fail "verify $name: $(cat out.txt)"
  works verify --json "$name.h5"
  cp garbage.h5 "$name.h5"
  for command in verify table; do
    expect 8 "$shown" $command "$name.h5"
    [[ $(wc -l <err.txt) == 1 ]] || fail "$command $name: more than one line: $(cat err.txt)"
  done
  rm "$name.h5"
done

# --- paths that are no files, and files that are no suites
mkdir folder; mkfifo fifo; ln -s nowhere dangling; ln -s loop loop
head -c 4096 /dev/urandom | tr -d '\0' >garbage
printf '[suite]\nname = "a"\xff\n' >latin.toml
for command in run check; do
  expect 3 'directory' $command folder
  expect 3 '' $command fifo
  expect 5 'dangling' $command dangling
  expect 5 'loop' $command loop
  expect 3 '' $command garbage
  expect 3 '' $command latin.toml
  expect 3 '' $command /dev/null
  expect 3 '' $command /dev/zero
  expect 5 '' $command tiny.toml/x
  try $command /proc/self/mem
  [[ $code == 3 || $code == 5 ]] || fail "$command /proc/self/mem: exit $code"
done
for command in table verify; do
  for path in folder fifo garbage /dev/null /dev/zero /proc/self/mem tiny.toml; do
    try $command $path
    [[ $code == 5 || $code == 8 ]] || fail "$command $path: exit $code"
    [[ -s err.txt && ! -s out.txt ]] || fail "$command $path: says nothing, or something on stdout"
  done
  expect 5 'dangling' $command dangling
done
expect 5 'folder' run tiny.toml -o folder
expect 5 'no/such' run tiny.toml -o no/such/x.h5
try run tiny.toml -o fifo
[[ $code == 5 && -p fifo ]] || fail "run -o FIFO: exit $code"
expect 5 '/proc' run tiny.toml -o /proc/x.h5
expect 5 '/dev/full' run tiny.toml -o /dev/full/x.h5
if [[ $(id -u) != 0 ]]; then # root writes everywhere
  mkdir locked; chmod a-w locked
  expect 5 'locked' run tiny.toml -o locked/x.h5
  (cd locked && "$program" doctor | grep 'NOT writable' >/dev/null) || fail "doctor in a folder that cannot be written"
fi
(cd /proc && "$program" doctor >"$work/out.txt" 2>"$work/err.txt") || fail "doctor in /proc: exit $?"
grep -q 'NOT writable' out.txt || fail "doctor does not see that nothing can be written"
mkdir gone
(cd gone && rmdir ../gone && timeout 120 "$program" doctor >"$work/out.txt" 2>"$work/err.txt")
(($? == 0)) || fail "doctor in a folder that is gone: $(cat err.txt)"

# --- outputs that are full or closed: exit 5 and a line, for every command
while read -r line; do
  read -ra words <<<"$line"
  "$program" "${words[@]}" >/dev/full 2>err.txt <request.json
  [[ $? == 5 && -s err.txt ]] || fail "$line >/dev/full: exit is not 5, or it is silent"
  "$program" "${words[@]}" >&- 2>err.txt <request.json
  [[ $? == 5 && -s err.txt ]] || fail "$line >&-: exit is not 5, or it is silent"
  "$program" "${words[@]}" 2>/dev/full >out.txt <request.json
  [[ $? == 0 && -s out.txt ]] || fail "$line 2>/dev/full: exit is not 0"
  cases=$((cases + 3))
done <<'LINES'
run tiny.toml
run tiny.toml --dry-run
check tiny.toml
check tiny.toml --json
list
list --json
list --schema
table tiny.h5
table tiny.h5 --json
verify tiny.h5
verify tiny.h5 --json
explain --rewards 3,7,7,9
explain --rewards 3,7,7,9 --json
doctor
doctor --json
compute
--version
--version --json
--help
run --help
LINES

# --- little memory: an answer or a line, never a crash. From what the program needs to start at all
least=20000
until (ulimit -v $least; "$program" --version >out.txt 2>err.txt) || ((least > 200000)); do least=$((least + 2000)); done
rooms=(0 1000 2000 4000 8000 16000 30000 50000) starved=0 told=0
((least > 200000)) && rooms=() # a sanitizer's shadow does not fit below any limit
for room in "${rooms[@]}"; do
  for line in 'check tiny.toml' 'list' 'list --schema' 'table tiny.h5' 'explain --rewards 3,7,7,9' \
    'check tiny.toml --set suite.seeds=50000' "check tiny.toml --set env.bandit.prompts=65536" 'run tiny.toml --force -j1 -o starved.h5'; do
    read -ra words <<<"$line"
    (ulimit -v $((least + room)); exec timeout 120 "$program" "${words[@]}" >out.txt 2>err.txt </dev/null)
    code=$?
    cases=$((cases + 1))
    case $code in
      0) [[ -s out.txt ]] || fail "$line in $((least + room)) KiB: no answer" ;;
      1) grep -q 'no worker thread\|no thread to keep the lock' err.txt || fail "$line in $((least + room)) KiB: exit 1, $(cat err.txt)" ;;
      4 | 5) starved=$((starved + 1)); [[ $line != run* ]] || ! grep -q 'needs less' err.txt || told=$((told + 1)); grep -qi 'memory' err.txt || fail "$line in $((least + room)) KiB: exit $code, $(cat err.txt)" ;;
      8) grep -q 'HDF5 refused\|lacks memory' err.txt || fail "$line in $((least + room)) KiB: exit 8, $(cat err.txt)" ;; # HDF5 does not say why
      127) ;; # the loader itself
      *) fail "$line in $((least + room)) KiB: ended with $code: $(cat err.txt)" ;;
    esac
  done
done
((told > 0 || ${#rooms[@]} == 0)) || fail "run without memory never says how to go on"
((starved > 0 || ${#rooms[@]} == 0)) || fail "nothing ran out of memory: the limits are too wide to test anything"

# --- a locale with decimal commas: numbers are read and written with points all the same
german=C.UTF-8
if command -v localedef >out.txt && localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 2>err.txt; then
  german=de_DE.UTF-8
  export LOCPATH=$work
fi
LC_ALL=$german "$program" check tiny.toml --set learn.lr=0.03 >german.txt 2>err.txt || fail "check in a German locale: $(cat err.txt)"
grep -q 'lr = 0\.03' german.txt || fail "check in a German locale lost a point"
LC_ALL=$german "$program" explain --rewards 7.25,8 >german.txt 2>err.txt || fail "explain in a German locale: $(cat err.txt)"
LC_ALL=C "$program" explain --rewards 7.25,8 >plain.txt 2>err.txt
cmp -s german.txt plain.txt || fail "explain differs in a German locale"
LC_ALL=$german "$program" table tiny.h5 --format csv >german.txt 2>err.txt
LC_ALL=C "$program" table tiny.h5 --format csv >plain.txt 2>err.txt
cmp -s german.txt plain.txt || fail "table differs in a German locale"
LC_ALL=$german "$program" list --schema >german.txt && LC_ALL=C "$program" list --schema >plain.txt
cmp -s german.txt plain.txt || fail "the schema differs in a German locale"
LC_ALL=$german "$program" compute <request.json >german.txt || fail "compute in a German locale"

echo "bad_input_test: $cases command lines, $starved of them without memory; locale $german"
exit "$failed"
