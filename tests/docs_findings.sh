#!/usr/bin/env bash
# docs/lab/findings.py makes whole pages and figures of small versions of its suites. Usage: docs_findings.sh PROGRAM
set -euo pipefail
program=$(realpath "$1")
export ODRPO_BENCH=$program PYTHONDONTWRITEBYTECODE=1
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
findings=$root/docs/lab/findings.py
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cd "$work"
fail() { echo "$1" >&2; exit 1; }  # a `!` before a command would hide its failure from set -e
small() {
  local suite=$1
  shift
  "$program" run "$root/suites/$suite.toml" -q -o "${suite##*/}.h5" "${@/#/--set=}" >/dev/null
}
short=(learn.steps=60 record.every=20)
for suite in results tuning; do small paper/$suite suite.seeds=12 "${short[@]}" env.small.prompts=256 env.large.prompts=256; done
for suite in votes training-curves w-conjecture gini-constants step-time; do small paper/$suite suite.seeds=6 "${short[@]}" env.bandit.prompts=256; done
small paper/repeated-prompts suite.seeds=12 "${short[@]}"
small stress suite.seeds=7 "${short[@]}"
small paper/reasoning-judge suite.seeds=7 env.bandit.prompts=64 record.every=2400
small paper/random-rewards suite.seeds=3 learn.steps=20 record.gradient=4
small paper/youden suite.seeds=3 learn.steps=40
"$findings" write . --root "$work/bandit"
for suite in tuning results votes step-time; do
  small paper/$suite-toy-lm suite.seeds=4 learn.steps=4 learn.batch=4 record.every=4 env.paper.evaluated_prompts=40 policy.small.warm_steps=30 policy.small.lora_rank=4
done
"$findings" write . --root "$work/both"
for pages in bandit both; do
  page=$pages/docs/findings.md tables=$pages/docs/lab/findings-tables.md
  # each claim has its row in a table on top, its section, its verdict with a command, its tables; each figure is there
  diff <(grep '^## ' $page | grep -v '^## Commands') <(grep '^## ' $tables)
  [[ $(grep -c '^|\[' $page) == $(grep -c '^## ' $tables) ]] || fail "$page: not a row for each claim"
  [[ $(grep -c '^\* .*\*\*.*\.\*\*' $page) -ge $(grep -c '^## ' $tables) ]] || fail "$page: not a verdict for each claim"
  sed -n 's/^## //p' $page | sed "s/.*/\L&/; s/ /-/g; s/[^a-z0-9_-]//g" >headings.txt
  grep '^|\[' $page | grep -o '](#[^)]*)' | tr -d ']()#' >links.txt
  while read -r link; do grep -qxF -- "$link" headings.txt || fail "no heading #$link"; done <links.txt
  grep -o 'figures/findings/[^)]*' $page | while read -r figure; do [[ -s $pages/docs/$figure ]] || fail "no figure $figure"; done
  [[ $(grep -c 'figures/findings' $page) == $(grep -c '^## ' $tables) ]] || fail "$page: a claim has no figure"
  if grep -n '\bnan\b\|None' $page $tables; then fail "a figure is missing"; fi
  [[ $(wc -w <$page) -le 3100 ]] || fail "$page has $(wc -w <$page) words"
done
# the page of the repository has the same claims, with other numbers
same=both
grep -q 'Toy LM:' "$root/docs/findings.md" || same=bandit
diff <(grep '^## ' $same/docs/findings.md) <(grep '^## ' "$root/docs/findings.md")
[[ $(wc -w <"$root/docs/findings.md") -le 3000 ]] || fail "docs/findings.md has $(wc -w <"$root/docs/findings.md") words"
if cmp -s $same/docs/findings.md "$root/docs/findings.md"; then fail "small runs make the same page"; fi
"$findings" show 'Sampling error of the paper' . | grep '^2 of 16 differences cannot' >shown.txt
if "$findings" show nothing . 2>err.txt; then fail "a claim that there is not"; fi
grep -q "no claim is called 'nothing'; there are" err.txt
mkdir empty
if "$findings" write empty --root "$work/none" 2>err.txt; then fail "an empty folder makes a page"; fi
grep -q 'results.h5' err.txt
# running: what is there is kept, a call that ends too early stops within a suite, the next one goes on
mkdir few
for suite in tuning results votes training-curves repeated-prompts stress w-conjecture gini-constants reasoning-judge random-rewards youden; do : >few/$suite.h5; done
"$findings" run few --world bandit --minutes 0 | grep 'stopped within paper/step-time' >shown.txt
[[ ! -e few/step-time.h5 ]] || fail "a suite that was stopped has a file"
"$findings" run few --world bandit | tail -n 1 | grep -qx 'findings: all is done'
[[ -s few/step-time.h5 && ! -s few/results.h5 ]] || fail "not only what was missing was run"
# the verdicts
python3 - "$root/docs/lab" <<'PY'
import math, sys
sys.path.insert(0, sys.argv[1])
from findings import Row, holm, least_error, verdict
row = lambda mean, half, p, told=True: Row("", mean, mean - half, mean + half, p, 20, None, told)
up, down, flat = row(3, 1, .001), row(-3, 1, .001), row(.1, 1, .8)
assert verdict([up, up]) == ("yes", "yes, in every cell")
assert verdict([up, up], (2, 4)) == ("yes", "yes, in every cell; of the claimed size")
# estimates below and above the claimed size are said alike
assert verdict([up, row(6, 1, .001)], (5, 7)) == ("yes, of another size", "yes, in every cell; 1 of 2 smaller than claimed (1 by their intervals)")
assert verdict([up, row(6, 1, .001)], (2, 4)) == ("yes, of another size", "yes, in every cell; 1 of 2 larger (1 by their intervals)")
assert verdict([up, row(6, 3, .001)], (2, 4)) == ("yes", "yes, in every cell; 1 of 2 larger (0 by their intervals)")
assert verdict([up, flat]) == ("partly", "1 of 2 cells, the others open")
assert verdict([up, down]) == ("partly", "1 of 2 cells as claimed, 1 reversed")
assert verdict([down, flat]) == ("partly reversed", "reversed in 1 of 2 cells, the others open")
assert verdict([down, down]) == ("reversed", "reversed in 2 of 2 cells")
assert verdict([flat, flat]) == ("open", "open in 2 of 2 cells")
assert verdict([flat, flat], (.5, 1)) == ("open", "open in 2 of 2 cells; 2 of 2 smaller than claimed (0 by their intervals)")
# what is not asked counts nowhere
assert verdict([row(3, 1, .001, False)]).word == "not asked"
assert verdict([up, row(-3, 1, .001, False)]) == ("yes", "yes")
assert [round(r.p, 9) for r in holm([row(1, 1, .01), row(1, 1, .04), row(1, 1, .03), row(1, 1, .005)])] == [.03, .06, .06, .02]
assert [r.p for r in holm([row(0, 0, None), row(1, 1, .02)])] == [None, .02]
# the least error by definition: the variance of items of which a share changed by one step each
for d, items, step in ((.01, 800, .5), (.004, 500, .25)):
    changed = d / step
    assert abs(least_error(d, items, step) - 1.96 * math.sqrt((changed * step ** 2 - d * d) / items)) < 1e-12
PY
