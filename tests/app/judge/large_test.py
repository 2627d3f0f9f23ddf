#!/usr/bin/env python3
# Ten million scores: written, read and analysed within bounds of memory. Usage: large_test.py PROGRAM
import json, os, resource, subprocess

import checks
from checks import check

checks.call("judge", "simulate", "mixed", "--prompts", "62500", "--responses", "10", "--samples", "16", "-o", "large.csv")
size = os.path.getsize("large.csv")
found = json.loads(checks.call("judge", "analyze", "large.csv", "--resamples", "1000", "--json"))
check(found["prompts"] == 62500 and found["scores"] == 10_000_000 and found["missing"] == 0, "every row is counted")
median = found["kendall_w"]["median"]["value"]
check(0.59 < median < 0.63, f"W of mixed: {median}")
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
check(peak < size + 700e6, f"{peak / 1e6:.0f} MB for a text of {size / 1e6:.0f} MB")
checks.call("judge", "fit", "large.csv", "-o", "large.toml")
check("sigma" in open("large.toml").read(), "a fit of a random choice of prompts")


# one line or cell of 100 MB, a million and a half judges: 2 minutes of CPU and 3 GB are there for what takes seconds and 400 MB
def bounded():
    resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
    resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))


long = "a" * 100_000_000
open("line.jsonl", "w").write('{"prompt_id": "p", "response_id": "r", "sample_id": 0, "score": 1, "x": "' + long + '"}\n')
open("bad.jsonl", "w").write('{"prompt_id": "p", "response_id": "r", "sample_id": 0, "score": "' + long + '"}\n')
open("cell.csv", "w").write('prompt_id,response_id,sample_id,score\n"' + long + '",1,0,1\n')
open("bad.csv", "w").write('prompt_id,response_id,sample_id,score\n1,1,0,"' + long + '"\n')
with open("judges.csv", "w") as judges:
    judges.write("prompt_id,response_id,judge_id,score\n")
    judges.writelines(f"p,r,j{j},{1 + j % 5}\n" for j in range(1_500_000))
for name in ("line.jsonl", "cell.csv", "judges.csv"):
    check("1 prompt, 1 response" in checks.call("judge", "analyze", name, preexec_fn=bounded), name)
for name in ("bad.jsonl", "bad.csv"):
    ran = subprocess.run([checks.program, "judge", "analyze", name], capture_output=True, preexec_fn=bounded)
    check(len(ran.stdout) + len(ran.stderr) < 10_000, f"{name}: {len(ran.stdout)} and {len(ran.stderr)} bytes are printed")
print(f"text {size / 1e6:.0f} MB, peak {peak / 1e6:.0f} MB")
checks.finish()
