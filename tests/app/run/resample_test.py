#!/usr/bin/env python3
# dead_groups = "resample" as a user runs it: rollouts and judge calls in tables and files, stopped runs that go on to the same digest; the error of a run
# whose groups are all constant. Usage: resample_test.py PROGRAM
import csv, io, signal, subprocess

import checks
from checks import call, check, digest, program

SUITE = """[suite]
name = "resample"
seed = 3
seeds = 2
[grid]
estimator = ["grpo", "corpo"]
votes = [1, 3]
policy = ["tabular", "linear"]
[env.bandit]
prompts = 400
[learn]
steps = {steps}
batch = 16
rollouts = 4
dead_groups = {dead}
max_batches = {most}
"""


def written(name, steps=60, dead='["keep", "resample"]', most=40, more=""):
    with open(f"{name}.toml", "w") as file:
        file.write(SUITE.format(steps=steps, dead=dead, most=most) + more)
    return f"{name}.toml"


call("run", written("both"), "-o", "both.h5")
runs = list(csv.DictReader(io.StringIO(call("export", "both.h5"))))
check(len(runs) == 32, f"{len(runs)} runs")
least = 60 * 16 * 4
more = 0
for run in runs:
    votes, calls, rollouts = int(run["votes"]), float(run["judge_calls"]), run["drawn_rollouts"]
    if run["dead_groups"] == "keep":
        check(calls == least * votes and rollouts in ("", "nan"), f"a run that keeps dead groups: {run}")
    else:
        check(float(rollouts) >= least and float(rollouts) % 64 == 0 and calls == float(rollouts) * votes, f"a run that resamples: {run}")
        more += float(rollouts) > least
check(more > 8, f"{more} of 16 runs drew more than a batch")
curve = list(csv.DictReader(io.StringIO(call("export", "both.h5", "--what", "curves", "--curve", "drawn_rollouts"))))
curve = [row for row in curve if row["drawn_rollouts"]]
grows = [float(a["drawn_rollouts"]) < float(b["drawn_rollouts"]) for a, b in zip(curve, curve[1:]) if a["id"] == b["id"] and int(b["step"]) < 60]
check(len(grows) == 16 * 5 and all(grows), f"rollouts so far grow: {grows}")
table = call("table", "both.h5", "--value", "drawn-rollouts", "--legend", "full")
check("drawn-rollouts: rollouts of the whole training, those of dropped groups too" in checks.flowed(table), table)
check("3840" in call("table", "both.h5", "--value", "judge-calls", "--where", "dead_groups=keep"), "a table of judge calls")
call("check", written("none", dead='"keep"', most=10, more='[table]\nvalue = "drawn-rollouts"\n'), code=3, words='no run has the value "drawn-rollouts"')

# a run that is stopped goes on to the same digest
long = written("long", steps=4000, dead='"resample"')
call("run", long, "-o", "whole.h5")
job = subprocess.Popen([program, "run", long, "-o", "stopped.h5", "--jobs", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
checks.wait_until(lambda: checks.cpu_seconds(job) > 0.6, job)
job.send_signal(signal.SIGINT)
errors = job.communicate()[1].decode()
check(job.returncode not in (0, None), f"a stopped suite: exit {job.returncode} {errors}")
said = call("run", long, "-o", "stopped.h5") if job.returncode else ""
check(digest("stopped.h5") == digest("whole.h5"), "a stopped suite has another digest")

# a run that finds no groups that differ
text = open(written("never", dead='"resample"', most=2, more="[policy.tabular]\ntilt = 1000\n")).read()
for old, new in (('["grpo", "corpo"]', '"grpo"\nrater = "clean"'), ("votes = [1, 3]\n", ""), ('["tabular", "linear"]', '"tabular"')):
    text = text.replace(old, new)
open("never.toml", "w").write(text)
call("run", "never.toml", "-o", "never.h5", code=7, words="step 0: the scores of 32 of 32 groups are all equal, and a batch needs 16 others: max_batches = 2")

checks.finish()
