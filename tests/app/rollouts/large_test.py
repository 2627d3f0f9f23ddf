#!/usr/bin/env python3
# `rollouts analyze` and `rollouts estimate` of a million rows: the counts are right, and memory is below 500 MB. Usage: large_test.py PROGRAM
import json, random, resource, subprocess

import checks
from checks import check, near

rng = random.Random(511)
counts = [0] * 11
with open("large.jsonl", "w") as file:
    for step in range(1000):
        for _ in range(125):
            prompt, base = rng.randrange(20000), rng.randint(2, 9)
            for _ in range(8):
                reward = min(10, max(1, base + rng.randint(-2, 2)))
                counts[reward] += 1
                file.write(f'{{"step": {step}, "prompt": "prompt-{prompt}", "reward": {reward}, "length": {rng.randint(50, 500)}}}\n')
found = json.loads(subprocess.run([checks.program, "rollouts", "analyze", "large.jsonl", "--json"], capture_output=True, check=True).stdout)
check(found["all"]["rows"] == 10**6 and found["all"]["levels"] == counts[1:], f"levels {found['all']['levels']}, expected {counts[1:]}")
near(found["all"]["mean"]["value"], sum(k * n for k, n in enumerate(counts)) / 10**6, "mean")
subprocess.run([checks.program, "rollouts", "estimate", "large.jsonl", "--estimator", "grpo", "-o", "large.csv"], check=True, capture_output=True)
with open("large.csv") as file:
    check(sum(1 for _ in file) == 10**6 + 1, "a row for each row")
most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000
check(most < 500, f"{most:.0f} MB")
checks.finish()
