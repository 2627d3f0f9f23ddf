#!/usr/bin/env python3
"""docs/python.md: every block of Python, in its order, in a folder that has a file of scores and one of TRL's completions.

Usage: docs_test.py PROGRAM SOURCE
"""
import contextlib
import os
import re

import package
from checks import call, check, finish, paths

package.need("pandas", "xarray", "h5py", "matplotlib")
with open("scores.csv", "w") as file:
    file.write(call("judge", "simulate", "mixed", "--prompts", "60", "--samples", "4"))
with contextlib.suppress(ImportError):
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table({"prompt": ["a", "a"], "completion": ["b", "c"], "judge": [7.0, 8.0]}), "completions_00001.parquet")

OPTIONAL = {"pyarrow", "odrpo_bench._numerics"}  # packages and modules that need not be here
names = {"__name__": "__main__"}
with open(os.path.join(paths[0], "docs", "python.md"), encoding="utf-8") as file:
    page = file.read()
blocks = [(page[: found.start()].count("\n") + 2, found.group(1)) for found in re.finditer(r"^```python\n(.*?)^```", page, re.M | re.S)]
check(len(blocks) >= 8, f"{len(blocks)} blocks")
for line, block in blocks:
    try:
        exec(compile("\n" * (line - 1) + block, "docs/python.md", "exec"), names)
    except ImportError as why:
        if why.name not in OPTIONAL:
            raise
        print(f"docs/python.md:{line}: left out, no {why.name} here")
for made in ("judge.toml", "mine.h5", "forest.pdf", "small.h5", "own.h5", "curves.png"):
    check(os.path.getsize(made) > 0, f"{made} is made")
check(set(names["results"].runs.estimator) >= {"centred", "grpo"} and names["table"].attrs["baseline"] == "maxrl", "what the blocks leave")
check("quickstart" in names["figure"].axes[0].get_title() and names["report"]["kendall_w"]["median"]["value"] > 0, "a figure and a report")
finish()
