#!/usr/bin/env python3
"""docs/python.md: every block of Python, in its order, in a folder that has a file of scores and one of TRL's completions.

Usage: docs_test.py PROGRAM SOURCE
"""
import contextlib
import os
import re

import package
from checks import call, check, finish, near, paths

package.need("pandas", "xarray", "h5py", "matplotlib")
import odrpo_bench

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
# the recipe of the curves behind the table, where the table chooses a rate and where it does not
recipe = next(block for _, block in blocks if "of_cell" in block)
for settings in ({}, {"table.best": [], "table.tune_seeds": 0}):
    results = odrpo_bench.run({
        "suite": {"name": "recipe", "seeds": 3}, "grid": {"rater": "mixed", "estimator": ["grpo", "maxrl"], "votes": [1, 4]},
        "env": {"bandit": {"prompts": 16, "actions": 8}}, "learn": {"steps": 20, "batch": 8, "lr": [0.1, 1.0]},
        "table": {"baseline": "grpo", "best": ["lr"], "tune_seeds": 1}}, set=settings, output=f"recipe-{len(settings)}.h5", progress=False)
    space = {"results": results, "runs": results.runs, "curves": results.curves("quality"), "table": results.table()}
    exec(recipe, space)
    cells = results.table(curve="quality").reset_index()
    cells = cells[cells.step == cells.step.max()]
    check(len(space["means"]) == len(cells) == (8 if settings else 4), f"curves of cells: {len(space['means'])}, {len(cells)}")
    for (_, _, _, estimator, votes, lr), curve in space["means"].items():
        cell = cells[(cells.estimator == estimator) & (cells.votes == votes) & (cells.lr == lr)]
        check(len(cell) == 1, f"one cell at {estimator}, {votes}, {lr}")
        near(float(curve[-1]), float(cell["mean"].iloc[0]), f"{settings}: the last of the curve of {estimator}, {votes}, {lr}")
finish()
