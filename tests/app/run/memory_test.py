"""The memory that `check` names against the most that `run` had resident, within 15 %: small and large worlds, records, judges, models. Runs side by
side need not be largest at one moment, so two jobs may take less: up to 35 %.

Usage: memory_test.py PROGRAM SUITES [--long]. Suites of a few seconds, or the long ones."""
import json, os, subprocess, sys

long = "--long" in sys.argv
if long:
    sys.argv.remove("--long")
from checks import call, check, finish, paths, program, suite

(suites,) = paths
tolerance = {"1": 0.15, "2": 0.35}  # by jobs: named above taken; named below taken is .15 for both
MIB = 1 << 20
# `check` counts the records of one second as waiting for the thread that writes them. On a machine that does other work it is late, by so many MiB here.
late = {"every step recorded, 80 runs": 16 * MIB}


def most_resident(*arguments):
    """Bytes; the command must succeed."""
    job = subprocess.Popen([program, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = job.stderr.read().decode()
    _, status, usage = os.wait4(job.pid, 0)
    job.returncode = os.waitstatus_to_exitcode(status)
    check(job.returncode == 0, f"{' '.join(arguments)}: exit {job.returncode}: {errors}")
    return 1024 * usage.ru_maxrss


if most_resident("--version") > 25 * MIB:
    print("the program itself takes more than it does in a release build (a sanitizer?): skipped")
    sys.exit(77)

usual = dict(seed=1, seeds=1, policy='"linear"', estimator='"grpo"', votes=1, prompts=256, actions=32, batch=64, steps=300, baseline='""')


def in_bandit(name, more="", every=10, **values):
    return suite(name, f"[record]\nevery = {every}\n{more}", **{**usual, **values})


call("judge", "simulate", "mixed", "--prompts", "300", "--samples", "8", "-o", "scores.csv")
one_seed = ("--set", "suite.seeds=1")
four = '["grpo", "maxrl", "rloo", "odrpo(grpo)"]'
tiny = suite("tiny", '[policy.small]\nbase = "transformer"\nwarm_steps = 20\n[record]\nevery = 5\n',
             **{**usual, "env": '"toy-lm"', "policy": '"small"', "steps": "10\nrollouts = 4\nlr = 1e-3", "batch": 8})
cases = [
    ("quickstart", (f"{suites}/quickstart.toml", *one_seed)),
    ("smoke", (f"{suites}/smoke.toml", *one_seed)),
    ("a tiny toy language model", (tiny,)),
    ("every step recorded, 80 runs", (in_bandit("every", seeds=20, estimator=four, steps=1000, every=1),)),
    ("65,536 prompts, tabular", (in_bandit("tabular", policy='"tabular"', prompts=65536, steps=20),)),
    ("a judge of a file", (in_bandit("file", '[rater.own]\nscores = "scores.csv"\n', rater='"own"', seeds=2, votes=8),)),
    ("a judge of a file, resampled", (in_bandit("resampled", '[rater.own]\nscores = "scores.csv"\nworld = "resample"\n', rater='"own"', seeds=2, votes=8),)),
    ("a panel with 128 votes", (in_bandit("panel", rater='"panel-essays"', votes=128),)),
]
if long:
    cases = [
        ("toy-lm-quickstart", (f"{suites}/toy-lm-quickstart.toml", *one_seed, "--set", "learn.steps=20", "--set", "policy.small.warm_steps=100")),
        ("posterior-votes", (f"{suites}/posterior-votes.toml", *one_seed, "--set", "table.tune_seeds=0", "--set", "learn.steps=30")),
        ("65,536 prompts x 64 actions", (in_bandit("large", prompts=65536, actions=64, steps=20),)),
    ]
for name, arguments in cases:
    for jobs in ("1",) if name == "posterior-votes" else ("2",) if long else ("1", "2"):  # long ones once
        named = json.loads(call("check", *arguments, "--json", "--jobs", jobs))["cost"]["memory_bytes"]
        took = most_resident("run", *arguments, "-o", "out.h5", "--force", "-q", "--jobs", jobs)
        print(f"{name}, {jobs} job(s): {named / MIB:.1f} MiB named, {took / MIB:.1f} MiB taken, ratio {named / took:.2f}")
        check(0.85 * took <= named + late.get(name, 0) and named / took <= 1 + tolerance[jobs], f"{name}, {jobs} job(s): check names {named / MIB:.1f} MiB, run took {took / MIB:.1f} MiB")
finish()
