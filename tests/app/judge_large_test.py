#!/usr/bin/env python3
# Ten million scores: written, read and analysed within bounds of memory. Usage: judge_large_test.py PROGRAM
import json, os, resource

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
print(f"text {size / 1e6:.0f} MB, peak {peak / 1e6:.0f} MB")
checks.finish()
