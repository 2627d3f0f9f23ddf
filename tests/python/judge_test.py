#!/usr/bin/env python3
"""Judges: arrays, frames and files give what the commands print; fits, simulations and advice.

Usage: judge_test.py PROGRAM
"""
import csv
import json
import os
import re
import subprocess
import sys

import package
from checks import call, check, finish, near

package.need("pandas", "h5py")
import numpy as np
import odrpo_bench
import pandas
from package import refused

judge = odrpo_bench.judge
FEW = ("--resamples", "1000")
random = np.random.default_rng(17)
quality = random.normal(7, 1.5, (30, 6, 1))
scores = np.clip(np.rint(quality + random.normal(0, 0.9, (30, 6, 4))), 1, 10)
scores[0, 0, 0] = scores[3, 2, 1] = np.nan
with open("scores.csv", "w") as file:
    writer = csv.writer(file)
    writer.writerow(("prompt_id", "response_id", "sample_id", "score"))
    for place, score in np.ndenumerate(scores):
        writer.writerow((place[0], place[1] + 6 * place[0], place[2], "" if np.isnan(score) else int(score)))


def same(got, wanted, what):
    got = json.loads(re.sub("a Python (ndarray|list|DataFrame|MaskedArray)", "scores.csv", json.dumps(got)))
    check(got == wanted, f"{what}: {[k for k in wanted if got.get(k) != wanted[k]]}")


wanted = json.loads(call("judge", "analyze", "scores.csv", "--json", *FEW))
same(judge.analyze("scores.csv", resamples=1000), wanted, "a file")
same(judge.analyze(scores, resamples=1000), wanted, "an array [prompts, responses, calls]")
same(judge.analyze(scores.reshape(-1, 4), prompts=np.repeat(np.arange(30), 6), resamples=1000), wanted, "an array [items, calls] with prompts")
same(judge.analyze([[[None if s != s else s for s in r] for r in p] for p in scores.tolist()], resamples=1000), wanted, "lists")
same(judge.analyze(np.ma.masked_array(np.where(np.isnan(scores), 9, scores), np.isnan(scores)), resamples=1000), wanted, "a masked array")
same(judge.analyze(pandas.read_csv("scores.csv"), resamples=1000), wanted, "a frame")
check(wanted["missing"] == 2 and judge.analyze(scores, resamples=1000)["file"] == "a Python ndarray", "missing scores, and what was read")
items = judge.analyze(scores.reshape(-1, 4), resamples=1000)
check(items["prompts"] == 180 and items["kendall_w"]["median"]["value"] is None and items["icc1"]["value"] is not None, "items of prompts of their own have no order")
one = judge.analyze(scores.reshape(-1, 4), prompts=0, resamples=1000)
check(one["prompts"] == 1 and one["kendall_w"]["median"]["value"] > 0.5, "items that answer one prompt")
named = pandas.read_csv("scores.csv").rename(columns={"prompt_id": "q", "score": "rating"})
same(judge.analyze(named, prompt="q", score="rating", resamples=1000), wanted, "flags of columns")
same(judge.analyze(scores, rater="sample_id / 2", resamples=1000), json.loads(call("judge", "analyze", "scores.csv", "--json", "--rater", "sample_id / 2", *FEW)), "two judges")
same(judge.analyze("mixed", resamples=1000), json.loads(call("judge", "analyze", "mixed", "--json", *FEW)), "a rater")

# --- a fit, and what is made of it
fitted = judge.fit(scores, output="judge.toml", name="mine")
same({k: v for k, v in fitted.items() if k != "toml"}, json.loads(call("judge", "fit", "scores.csv", "--json", "-o", "wanted.toml", "--name", "mine")), "a fit")
check(fitted["toml"] == open("judge.toml").read() == open("wanted.toml").read().replace("scores.csv", "a Python ndarray"), "the judge's file")
suite = {"suite": {"name": "judged", "seeds": 1}, "grid": {"rater": "mine", "estimator": ["grpo"]}, "rater": {"mine": {"file": "judge.toml"}}, "learn": {"steps": 5}}
check(set(odrpo_bench.run(suite, progress=False).runs.rater) == {"mine"}, "it trains")
rows = list(csv.DictReader(call("judge", "simulate", "judge.toml", "--truth", "--prompts", "5", "--responses", "3", "--samples", "2", "--seed", "4").splitlines()))
for rater in (fitted, "judge.toml"):
    simulated = judge.simulate(rater, prompts=5, responses=3, samples=2, seed=4)
    near(simulated.scores.ravel().tolist(), [float(r["score"]) for r in rows], "simulated scores", 0)
    near(np.repeat(simulated.gold.ravel(), 2).tolist(), [float(r["gold"]) for r in rows], "their gold", 0)
check(simulated.scores.shape == (5, 3, 2) and simulated.gold.shape == (5, 3), "shapes")
panel = judge.simulate("panel-essays", prompts=4, responses=2, samples=8)
rows = list(csv.DictReader(call("judge", "simulate", "panel-essays", "--prompts", "4", "--responses", "2", "--samples", "8").splitlines()))
near(panel.scores.ravel().tolist(), [float(r["score"]) for r in rows], "a panel", 0)

# --- advice
small = {"seeds": 8, "tuning_seeds": 8, "drawn_judges": 0, "estimators": "grpo", "policies": "linear", "votes": "1,4", "rollouts": "8"}
flags = ["--seeds", "8", "--tuning-seeds", "8", "--drawn-judges", "0", "--estimators", "grpo", "--policies", "linear", "--votes", "1,4", "--rollouts", "8"]
wanted = json.loads(call("judge", "advise", "judge.toml", "--calls", "20000", "--json", "-q", *flags))
advised = judge.advise(fitted, 20000, **small)
check({k: v for k, v in advised.items() if k not in ("input", "seconds")} == {k: v for k, v in wanted.items() if k not in ("input", "seconds")}, "advice of a fit")

# --- errors
refused(ValueError, "these have 1 dimensions", judge.analyze, scores[0, 0])
refused(ValueError, "these have 3 dimensions", judge.analyze, scores, prompts=0)
refused(ValueError, "is not in 1000..", judge.analyze, scores, resamples=5)
refused(ValueError, "unknown flag", judge.analyze, scores, colour="red")
refused(ValueError, "", judge.fit, np.full((4, 3, 2), 7.0))
refused(RuntimeError, "no.csv: No such file", judge.fit, "no.csv")
refused(ValueError, "", judge.simulate, "mixed", prompts=10**6)
refused(RuntimeError, "nobody", judge.simulate, "nobody")
refused(ValueError, "", judge.advise, fitted, 1)
for given in ("scores.csv", pandas.read_csv("scores.csv")):
    refused(TypeError, "prompts belong to an array", judge.analyze, given, prompts=0)
refused(TypeError, "prompts belong to an array", judge.advise, fitted, 1000, prompts=0)
refused(TypeError, "calls is a number, and not 'x'", judge.advise, fitted, "x")
for call_of, more in ((judge.analyze, {}), (judge.fit, {}), (judge.advise, {"calls": 1000})):
    why = refused(ValueError, "scores", call_of, pandas.DataFrame({"a": [1]}), **more)
    check("/scores.csv" not in str(why), f"{call_of.__name__}: an error names a temporary file: {why}")
os.replace("scores.csv", "-scores.csv")
check(judge.analyze("-scores.csv", resamples=1000)["missing"] == 2, "a name like a flag")
alone = subprocess.run([sys.executable, "-c", "import sys\nsys.modules['h5py'] = sys.modules['pandas'] = None\nimport odrpo_bench\nodrpo_bench.judge.simulate('mixed', prompts=2)"],
                       capture_output=True, text=True)
check(alone.returncode == 0, f"judges need no h5py: {alone.stderr}")
finish()
