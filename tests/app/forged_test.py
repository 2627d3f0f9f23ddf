"""Result files that contradict themselves, with checksums and a digest that go with their content: every command that shows what is wrong
refuses them and names it.

Usage: forged_test.py PROGRAM SUITES"""
import shutil, subprocess

import h5py
import numpy as np

import checks
from checks import call, check, program, suite
from digest import reseal

suite("small", """rows = "estimator"
columns = "votes"
value = "gain"
best = ["lr"]
tune_seeds = 2
[record]
every = 10
""", seeds=6, policy='"tabular"', estimator='["grpo", "maxrl"]', steps="60\nlr = [0.1, 0.3]")
call("run", "small.toml", "-q", "-o", "good.h5")

of_columns = [["verify"], ["table"], ["table", "--json"], ["stats"], ["report", "-o", "x.html"], ["plot", "bars", "--data"], ["export", "-o", "x.csv"],
              ["diff", "good.h5"], ["gate", "--science", "good.h5"], ["merge", "-o", "merged.h5", "--force"]]
of_curves = [["verify"], ["report", "-o", "x.html"], ["export", "--what", "curves", "-o", "x.csv"], ["plot", "curves", "--curve", "%", "--data"],
             ["gate", "--science", "good.h5"], ["merge", "-o", "merged.h5", "--force"]]


def put(column, row, value):
    return lambda f: f[column].__setitem__(row, value)


def swap(column, one, other):
    def change(f):
        a, b = f[column][one], f[column][other]
        f[column][one], f[column][other] = b, a
    return change


def same_run(f):
    for column in ("id", "seed", "key"):
        f[column][1] = f[column][0]


kinds = [
    ("all seeds are 0", lambda f: f["seed"].__setitem__(slice(None), 0), "its id is not made of"),
    ("labels of two estimators", swap("estimator", 0, -1), "its id is not made of"),
    ("another judge", put("rater", 3, b"veto"), "its id is not made of"),
    ("another policy", put("policy", 3, b"linear"), "its id is not made of"),
    ("no policy", put("policy", 3, b""), "its policy has no name"),
    ("another world", put("env", 3, b"other"), "its id is not made of|not its own"),
    ("votes swapped", lambda f: f["votes"].__setitem__(slice(None), 9 - f["votes"][:]), "its id is not made of"),
    ("no votes", put("votes", 3, 0), "it has 0 votes"),
    ("a seed below 0", put("seed", 3, -1), "'seed' has a refused value"),
    ("another learning rate", put("lr", 3, 0.7), "its lr is not that of its id"),
    ("an axis that is not there", put("id", 0, b"bandit/mixed/tabular/grpo/n1/kl=1/s0"), "its id names an axis that it does not have"),
    ("a run twice", same_run, "two runs have the id"),
    ("a gain of 5", put("final_gain", 3, 5), "its final_gain is 5, its qualities make"),
    ("an infinite gain", put("final_gain", 3, np.inf), "its final_gain is inf"),
    ("another quality", lambda f: f["final_quality"].__setitem__(3, f["final_quality"][3] + 1e-9), "its regret is"),
    ("a quality of 1e308", put("final_quality", 3, 1e308), "its final_quality is 1e+308"),
    ("a regret turned round", lambda f: f["regret"].__setitem__(3, -f["regret"][3]), "its regret is"),
    ("a mean gain", put("auc_gain", 3, 0.99), "its auc_gain is 0.99, its qualities make"),
    ("a best quality", put("best_quality", 3, 20), "its regret is"),
    ("a gain without a headroom", lambda f: (f["best_quality"].__setitem__(3, np.nan), f["regret"].__setitem__(3, np.nan), f["final_gain"].__setitem__(3, 5)), "without qualities"),
    ("calls below 0", put("judge_calls", 3, -1280), "its judge_calls is -1280, below 0"),
    ("endless calls", put("judge_calls", 3, np.inf), "its judge_calls is inf"),
    ("time below 0", put("step_time_median", 3, -1), "its step_time_median is -1, below 0"),
    ("endless time", put("step_time_median", 3, np.inf), "its step_time_median is inf"),
    ("half collapsed twice", put("collapsed", 3, 3), "its collapsed is 3, not in 0..1"),
    ("an error of a run that ended well", put("error", 3, b"diverged"), "it ended well and has an error"),
    ("a suite elsewhere", lambda f: f.attrs.modify("suite", "../../etc/x"), "the name of its suite is not valid"),
    ("a hidden suite", lambda f: f.attrs.modify("suite", ".x"), "the name of its suite is not valid"),
    ("a suite without a name", lambda f: f.attrs.modify("suite", ""), "the name of its suite is not valid"),
]
for curve, value, words in [("quality", 1e308, "its quality is 1e+308"), ("quality", np.inf, "its quality is inf"), ("kl", -np.inf, "its kl is -inf"),
                            ("dead_groups", 2, "its dead_groups is 2, not in 0..1"), ("advantage_rms", -1, "its advantage_rms is -1, below 0")]:
    kinds.append((f"a curve {curve} of {value:g}", lambda f, c=curve, v=value: f["curves/bandit"][c].__setitem__((3, 4), v), words))

for what, change, words in kinds:
    shutil.copy("good.h5", "forged.h5")
    with h5py.File("forged.h5", "r+") as f:
        change(f)
    reseal("forged.h5")
    for command in of_curves if what.startswith("a curve") else of_columns:
        curve = what.split()[2] if what.startswith("a curve") else ""
        if ("%" in command and curve not in ("quality", "kl")) or (command[0] in ("gate", "report") and curve not in ("", "quality")):
            continue  # it does not read that curve
        command = [curve if word == "%" else word for word in command]
        shutil.rmtree("merged.h5.work", ignore_errors=True)
        arguments = [command[0], "forged.h5", *command[1:]]
        if command[:2] == ["gate", "--science"]:
            arguments = ["gate", "--science", "good.h5", "forged.h5"]
        if command[0] == "plot":
            arguments = ["plot", command[1], "forged.h5", *command[2:]]
        ran = subprocess.run([program, *arguments], capture_output=True, stdin=subprocess.DEVNULL)
        errors = ran.stderr.decode()
        # a digest of words alone may be refused before: two runs of one id have none
        left_out = command[0] == "report" and curve  # a page without the figure, which says why
        check(ran.returncode == (0 if left_out else 8) and any(w in errors for w in words.split("|")), f"{what}: {' '.join(arguments)}: exit {ran.returncode}: {errors[:300]}")

# what is right stays right
for command in (["verify"], ["table"], ["stats"]):
    call(command[0], "good.h5", *command[1:])
checks.finish()
