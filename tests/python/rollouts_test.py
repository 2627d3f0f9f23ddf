#!/usr/bin/env python3
"""Dumps of trainings from Python: what the program prints, and the exception for what it refuses.

Usage: rollouts_test.py PROGRAM
"""
import json
import pathlib

import package
from checks import call, check, finish

import odrpo_bench
from package import refused

rows = [{"step": s, "prompt": f"p{p}", "reward": (3 * s + 5 * p + i * i) % 7 + 1} for s in range(3) for p in range(4) for i in range(4)]
for s in range(3):
    pathlib.Path(f"{s}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows if row["step"] == s))
files = [pathlib.Path(f"{s}.jsonl") for s in range(3)]
report = odrpo_bench.rollouts.analyze(files, estimator=["grpo", "maxrl"], seed=3)
check(report == json.loads(call("rollouts", "analyze", *map(str, files), "--json", "--estimator", "grpo", "--estimator", "maxrl", "--seed", "3")), "analyze is the command")
check(report["rows"] == 48 and [e["name"] for e in report["estimators"]] == ["grpo", "maxrl"], f"{report['rows']} rows")
made = odrpo_bench.rollouts.estimate(files, "reinforce", whiten="response")
check([r["reward"] for r in made] == [r["reward"] for r in rows] and abs(sum(r["advantage"] for r in made)) < 1e-9, "estimate has a row for each")
check(set(odrpo_bench.rollouts.estimate("0.jsonl", ["grpo", "maxrl"])[0]) >= {"advantage:grpo", "advantage:maxrl"}, "a column for each estimator")
refused(ValueError, "the reward 7 is off the scale 1..6", odrpo_bench.rollouts.analyze, files, levels=6)
finish()
