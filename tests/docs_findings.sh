#!/usr/bin/env bash
# docs/lab/findings.py makes a whole page of small versions of its suites. Usage: docs_findings.sh PROGRAM
set -euo pipefail
program=$(realpath "$1")
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cd "$work"
small=(--set suite.seeds=12 --set learn.steps=60 --set record.every=60 -q)
for suite in results weight-ablation tuning; do
  "$program" run "$root/suites/paper/$suite.toml" "${small[@]}" --set env.small.prompts=256 --set env.large.prompts=256 >/dev/null
done
"$program" run "$root/suites/paper/repeated-prompts.toml" "${small[@]}" >/dev/null
for suite in votes training-curves step-time; do
  "$program" run "$root/suites/paper/$suite.toml" "${small[@]}" --set env.bandit.prompts=256 >/dev/null
done
ODRPO_BENCH=$program python3 "$root/docs/lab/findings.py" "$work" >bandit.md
for suite in tuning results weight-ablation votes training-curves step-time; do
  sizes=(--set policy.small.warm_steps=30 --set policy.small.lora_rank=4)
  [[ $suite == @(tuning|results|step-time) ]] && sizes+=(--set policy.large.warm_steps=10 --set policy.large.lora_rank=4)
  "$program" run "$root/suites/paper/$suite-toy-lm.toml" --set suite.seeds=4 --set learn.steps=4 --set learn.batch=4 --set record.every=4 \
    --set env.hard.evaluated_prompts=40 "${sizes[@]}" -q >/dev/null
done
ODRPO_BENCH=$program python3 "$root/docs/lab/findings.py" "$work" >page.md
# each finding of the bandit's page has its verdict, in both pages; docs/findings.md is one of the two, of the real suites
same=page.md
grep -q '^## .*, toy language model' "$root/docs/findings.md" || same=bandit.md
diff <(grep '^## ' $same) <(grep '^## ' "$root/docs/findings.md")
for page in bandit.md page.md; do [[ $(grep -c '^\(The paper\|We ask\): ' $page) == $(($(grep -c '^## ' $page) - 1)) ]]; done
[[ $(grep -c '^## .*, toy language model' page.md) -ge 14 ]]
diff <(grep '^## ' bandit.md) <(grep '^## ' page.md | grep -v ', toy language model')
fail() { echo "$1" >&2; exit 1; }  # a `!` before a command would hide its failure from set -e
sed -n 's/^## //p' page.md | sed 's/.*/\L&/; s/ /-/g; s/[^a-z0-9_-]//g' >headings.txt
grep '^| ' page.md | grep -o '](#[^)]*)' | tr -d ']()#' | sort -u >links.txt
[[ $(wc -l <links.txt) -ge 30 ]] || fail "$(wc -l <links.txt) links"
while read -r link; do grep -qxF -- "$link" headings.txt || fail "no heading #$link"; done <links.txt
if grep -n '\bnan\b\|None' page.md bandit.md; then fail "a figure is missing"; fi
# small runs cannot say what the page says: its figures come from the files
if cmp -s bandit.md "$root/docs/findings.md" || cmp -s page.md "$root/docs/findings.md"; then fail "small runs make the same page"; fi
# and a folder without them is an error
mkdir empty
if ODRPO_BENCH=$program python3 "$root/docs/lab/findings.py" empty >/dev/null 2>err.txt; then fail "an empty folder makes a page"; fi
grep -q 'results.h5' err.txt
# the verdicts: rows are (cell, mean, lo, hi, p, n)
PYTHONDONTWRITEBYTECODE=1 python3 - "$root/docs/lab" <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
from findings import holm, verdict
row = lambda mean, half, p: (None, mean, mean - half, mean + half, p, 20)
up, down, flat = row(3, 1, .001), row(-3, 1, .001), row(.1, 1, .8)
assert verdict([up, up]) == "replicates in every cell"
assert verdict([up, up], 2.5) == "replicates in every cell"
assert verdict([up, row(6, 1, .001)], 3.5) == "replicates in every cell, 1 of 2 estimates smaller than claimed"
assert verdict([up, row(6, 1, .001)], 5) == "the direction replicates in every cell, the claimed size does not: 1 of 2 estimates are smaller, 1 of 2 intervals lie below it"
assert verdict([up, flat]).startswith("partly: 1 of 2")
assert verdict([up, down]) == "partly: 1 of 2 cells as claimed, 1 reversed"
assert verdict([down, flat]).startswith("reverses in 1 of 2 cells; the other cannot")
assert verdict([down, down]).endswith("none holds")
assert verdict([flat, flat]) == "cannot be told here"
assert verdict([flat, flat], 0.5) == "cannot be told here"  # the claimed size lies in the interval
assert verdict([flat, up], 5).startswith("does not at the claimed size")
assert verdict([flat, down], 5).startswith("reverses")
assert [round(r[4], 9) for r in holm([row(1, 1, .01), row(1, 1, .04), row(1, 1, .03), row(1, 1, .005)])] == [.03, .06, .06, .02]
assert [r[4] for r in holm([row(0, 0, None), row(1, 1, .02)])] == [None, .02]
PY
