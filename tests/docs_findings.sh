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
ODRPO_BENCH=$program python3 "$root/docs/lab/findings.py" "$work" >page.md
# as many findings as docs/findings.md has, under the same headings and claims, each with a verdict
diff <(grep '^## ' page.md) <(grep '^## ' "$root/docs/findings.md")
[[ $(grep -c '^The paper: ' page.md) == $(grep -c '^The paper: ' "$root/docs/findings.md") ]]
! grep -n 'nan\|None' page.md
# small runs cannot say what the page says: its figures come from the files
! cmp -s page.md "$root/docs/findings.md"
# and a folder without them is an error
mkdir empty
! ODRPO_BENCH=$program python3 "$root/docs/lab/findings.py" empty >/dev/null 2>err.txt
grep -q 'results.h5' err.txt
# the verdicts: rows are (cell, mean, lo, hi, p, n)
PYTHONDONTWRITEBYTECODE=1 python3 - "$root/docs/lab" <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
from findings import holm, verdict
row = lambda mean, half, p: (None, mean, mean - half, mean + half, p, 20)
up, down, flat = row(3, 1, .001), row(-3, 1, .001), row(.1, 1, .8)
assert verdict([up, up]) == "replicates in every cell"
assert verdict([up, up], 5) == "replicates in every cell, but every estimate is smaller"
assert verdict([up, row(6, 1, .001)], 5) == "replicates in every cell"
assert verdict([up, flat]).startswith("partly: 1 of 2")
assert verdict([up, down]) == "partly: 1 of 2 cells as claimed, 1 reversed"
assert verdict([down, flat]).startswith("reverses in 1 of 2 cells; the other cannot")
assert verdict([down, down]).endswith("none holds")
assert verdict([flat, flat]) == "cannot be told here"
assert verdict([flat, flat], 0.5) == "cannot be told here"  # the claimed size lies in the interval
assert verdict([flat, up], 5).startswith("does not at the claimed size")
assert verdict([flat, down], 5).startswith("reverses")
assert [round(r[4], 9) for r in holm([row(1, 1, .01), row(1, 1, .04), row(1, 1, .03), row(1, 1, .005)])] == [.03, .06, .06, .02]
PY
