#!/usr/bin/env python3
# A suite with aggregate = "fraction" as a user runs it: results, digests, resumption, one vote, and what is refused.
# Usage: fraction_test.py PROGRAM; exit status 77 = skipped, because h5py is missing.
import sys

from checks import call, check, finish, flowed, suite
from reference import texts

try:
    import h5py
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

suite("apart", """rows = "rater"
[rater.mode]
base = "veto"
[rater.mean]
base = "veto"
aggregate = "mean"
[rater.apart]
base = "veto"
aggregate = "fraction"
[record]
gradient = 2
""", seed=3, seeds=4, rater='["mode", "mean", "apart"]', policy='"tabular"', estimator='["odrpo(grpo)", "odrpo-gini-median(maxrl)"]', votes="[1, 4]",
      prompts=32, actions=12, steps="300\nlr = 0.1", batch=16, baseline='""')
shown = call("check", "apart.toml")
check("48 runs" in shown and "fraction" in shown, f"check: {shown}")
call("run", "apart.toml", "--jobs", "2")
shown = flowed(call("table", "apart.h5", "--legend", "full"))
check("N votes: fraction, of N draws" in shown, f"the table does not say how votes are used: {shown}")
with h5py.File("apart.h5") as f:
    runs = list(zip(texts(f, "rater"), texts(f, "estimator"), f["votes"][:], f["seed"][:]))
    at = {run: i for i, run in enumerate(runs)}
    gain = f["final_gain"][:]
    check(all(x.decode() == "ok" if isinstance(x, bytes) else True for x in f["status"][:]), "a run failed")
    calls = f["judge_calls"][:]
    for (rater, estimator, votes, seed), i in at.items():
        check(calls[i] == 300 * 16 * 8 * votes, f"{runs[i]}: {calls[i]} calls")
        same = gain[i] == gain[at["mode", estimator, votes, seed]]
        if votes == 1:
            check(same, f"{runs[i]} is not the run of one vote")
        elif rater == "apart":
            check(not same, f"{runs[i]} is the run of the mode")
    mean = {r: np.mean([gain[i] for run, i in at.items() if run[0] == r and run[2] == 4]) for r in ("mode", "mean", "apart")}
    check(mean["apart"] > 0.3 and abs(mean["apart"] - mean["mean"]) < 0.1, f"gains of 4 votes: {mean}")
call("verify", "apart.h5")

# the same runs in other places and pieces
call("run", "apart.toml", "--jobs", "1", "--only", "*/apart/*", "-o", "alone.h5")
with h5py.File("apart.h5") as f, h5py.File("alone.h5") as g:
    check(list(g["final_quality"][:]) == [q for q, r in zip(f["final_quality"][:], f["rater"][:]) if r == b"apart"],
          "runs alone differ from runs of the whole suite")

# what is refused, at its place
call("check", "apart.toml", "--set", "grid.estimator=[grpo, \"odrpo(grpo)\"]", code=3,
     words='apart.toml:33:1: error: `aggregate` cannot be "fraction" here: estimator grpo has no levels')
call("check", "apart.toml", "--set", "grid.votes=600", code=3, words="8 responses x 600 votes are more than 4096")
call("check", "apart.toml", "--set", "rater.apart.stop=2", code=3, words="only aggregate = \"mode\" waits for equal scores")
call("run", "apart.toml", "--dry-run", "--set", "grid.votes=512", "--set", "grid.rater=apart")
finish()
