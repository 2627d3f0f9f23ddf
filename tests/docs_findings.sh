#!/usr/bin/env bash
# docs/lab/findings.py makes a whole page of small versions of its suites. Usage: docs_findings.sh PROGRAM
set -euo pipefail
program=$(realpath "$1")
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cd "$work"
small=(--set suite.seeds=12 --set learn.steps=60 --set record.every=60 -q)
for suite in results weight-ablation; do
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
