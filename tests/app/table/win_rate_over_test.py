#!/usr/bin/env python3
# Win rates over an estimator's final policies, by every command, against arithmetic of its own on what h5py reads.
# Usage: win_rate_over_test.py PROGRAM SAMPLE; exit status 77 = skipped, because h5py is missing.
import json, math, subprocess, sys
from statistics import NormalDist

import checks
from checks import call, check, paths, suite
from reference import table_of

try:
    import h5py
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

SIGMA, TIE, SLOPE, RIDGE = 1.0, 0.25, 0.05, 1e-3  # PairwiseConfig and control_ridge (docs/toy-lm.md)


normal = NormalDist().cdf


def win_rate(quality, length):
    """Expected preferences, then the logistic regression on tanh(length difference / sd) by plain Newton steps; in 0..1."""
    seen = quality + SLOPE * length
    y = np.array([normal((d - TIE) / SIGMA) + (normal((TIE - d) / SIGMA) - normal((-TIE - d) / SIGMA)) / 2 for d in seen])
    sd = math.sqrt(((length - length.mean()) ** 2).mean())
    x = np.column_stack([np.ones(len(y)), np.tanh(length / sd) if sd > 0 else np.zeros(len(y))])
    b = np.zeros(2)
    for _ in range(200):
        p = 1 / (1 + np.exp(-x @ b))
        b -= np.linalg.solve((x.T * (p * (1 - p))) @ x + RIDGE * np.eye(2), x.T @ (p - y) + RIDGE * b)
    return 1 / (1 + math.exp(-b[0]))


suite("wins", """columns = "value"
value = ["quality", "win-rate-over-grpo"]
best = ["lr"]
[env.toy-lm]
vocabulary = 40
[policy.p]
base = "transformer"
warm_steps = 60
eval_temperature = 1
[record]
every = 3
""", seed=5, env='"toy-lm"', policy='"p"', estimator='["grpo", "maxrl", "odrpo(grpo)"]', votes=1, steps="6\nrollouts = 4\nlr = [1e-3, 1e-2]", batch=8)
shown = call("run", "wins.toml", "--jobs", "2")
check("win-rate-over-grpo [%]" in shown, f"run shows no win rate: {shown}")

expected = {}
with h5py.File("wins.h5") as f:
    check(f.attrs["schema_version"] == 4, "the file is not of schema 4")
    world = f["evaluated/toy-lm"]
    check(world["quality"].shape == (18, 256) and list(world["run"]) == list(range(18)), "evaluations of another shape")
    mean = world["quality"][:].mean(axis=1)
    check(np.allclose(mean, f["final_quality"][:], rtol=1e-12), "the mean of the evaluations is not the final quality")
    runs = [(e.decode(), lr, s) for e, lr, s in zip(f["estimator"][:], f["lr"][:], f["seed"][:])]
    at = {run: i for i, run in enumerate(runs)}
    for e, lr, s in runs:
        for other in ("grpo", "odrpo(grpo)"):
            a, b = at[e, lr, s], at[other, lr, s]
            rate = win_rate(world["quality"][a] - world["quality"][b], world["length"][a] - world["length"][b])
            expected[other, e, lr, s] = 50.0 if a == b else 100 * rate

for other in ("grpo", "odrpo(grpo)"):
    for spelled in (f"win-rate-over-{other}", f"win_rate_over-{other}"):
        flags = ("--rows", "estimator", "--columns", "lr", "--value", spelled, "--format", "json")
        table = json.loads(call("table", "wins.h5", *flags))
        for cell in table["blocks"][0]["cells"]:
            lr = float(cell["column"])
            want = np.mean([expected[other, cell["row"], lr, s] for s in range(3)])
            check(abs(cell["mean"] - want) < 1e-6, f"{spelled} of {cell['row']} at {lr}: {cell['mean']}, expected {want}")
            if cell["row"] == other:
                check(cell["mean"] == 50 and cell["sd"] == 0, f"{spelled} of itself is not exactly 50 %: {cell}")
check(any(abs(v - 50) > 1 for v in expected.values()), "the runs hardly differ: this test shows nothing")

# the suite's own table, formats, runs that were chosen, the best rate by this value, several values
check("win-rate-over-grpo" in call("table", "wins.h5"), "the suite's own table lacks the value")
for form in ("md", "latex", "csv"):
    check("win-rate-over-grpo" in call("table", "wins.h5", "--format", form), f"--format {form} lacks the value")
rows = table_of(call("table", "wins.h5", "--where", "estimator=maxrl", "--where", "lr=0.001", "--columns", "lr", "--value", "win-rate-over-grpo",
                     "--baseline", "none", "--format", "csv"))
check(len(rows) == 1 and abs(float(rows[0]["centre"]) - np.mean([expected["grpo", "maxrl", 1e-3, s] for s in range(3)])) < 1e-6,
      f"--where hides the opponent: {rows}")
text = call("table", "wins.h5", "--columns", "lr", "--value", "win-rate-over-odrpo_uniform(grpo)")
check("win-rate-over-odrpo_uniform(grpo)" in text and "50.0" in text, f"another word for the estimator: {text}")
call("table", "wins.h5", "--columns", "votes", "--value", "win-rate-over-grpo", "--best", "lr", code=2, words="nothing can be chosen by")
text = call("table", "wins.h5", "--columns", "value", "--value", "quality,win-rate-over-grpo", "--best", "lr")
check("win-rate-over-grpo" in text and "50.0" in text, f"chosen by another value: {text}")
data = call("plot", "bars", "wins.h5", "--value", "win-rate-over-grpo", "--columns", "lr", "--data")
check("maxrl" in data, f"plot has no bars: {data}")
call("plot", "forest", "wins.h5", "--value", "win-rate-over-grpo", "--columns", "lr", "--data")
check("maxrl" in call("stats", "wins.h5", "--value", "win-rate-over-grpo", "--cell", "estimator", "--task", "lr"), "stats")
call("report", "wins.h5", "-o", "wins.html")
check("win-rate-over-grpo" in open("wins.html").read(), "the report lacks the value")
call("report", "wins.h5", "-o", "two.html", "--columns", "value", "--value", "quality,win-rate-over-maxrl")
check("win-rate-over-maxrl" in open("two.html").read(), "the report lacks a second value")
call("verify", "wins.h5")
check("win-rate-over-" in call("list", "table"), "list does not say what a table can show")

# an opponent that was left out: nothing to show, no mistake; a word that names none: a mistake
call("run", "wins.toml", "--jobs", "2", "--only", "*/maxrl/*", "-o", "alone.h5")
check("n/a" in call("table", "alone.h5"), "a win rate over nobody")
call("table", "alone.h5", "--value", "win-rate-over-grpo", "--columns", "votes", code=2, words="the results have no estimator")
call("table", "wins.h5", "--value", "win-rate-over-grop", "--columns", "votes", code=2, words='did you mean "grpo"?')
call("table", "wins.h5", "--value", "win-rate-over-", "--columns", "votes", code=2, words="no value")
subprocess.run([paths[0], "plain.h5", "plain"], check=True, capture_output=True)
call("table", "plain.h5", "--value", "win-rate-over-maxrl", code=2, words="no evaluations per prompt")

# digests: what a policy wrote counts
with h5py.File("wins.h5", "r+") as f:
    f["evaluated/toy-lm/quality"][0, 0] += 1
call("verify", "wins.h5", code=8, words="evaluated/toy-lm/quality")
call("table", "wins.h5", code=8, words="evaluated/toy-lm/quality")
checks.finish()
