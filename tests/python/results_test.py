#!/usr/bin/env python3
"""Results: frames against `table --format json` digit by digit, arrays against the file, which runs are chosen.

Usage: results_test.py PROGRAM SAMPLE SUITES SCHEMA-3.h5, where SAMPLE FILE.h5 KIND writes a result file
"""
import json
import os
import subprocess

import package
from checks import call, check, digest, finish, paths, suite

package.need("pandas", "xarray", "h5py")
import h5py
import numpy as np
import odrpo_bench
from package import refused

sample, suites, schema_3 = paths

# --- what a frame says is what the program says, for five suites and other tables of them
FEW = ["suite.seeds=3", "table.tune_seeds=1"]
SUITES = {
    "quickstart": ["suite.seeds=3"],
    "calibrated": [*FEW, 'grid.rater=["veto","wide"]', 'grid.estimator=["grpo","maxrl","odrpo-gini(maxrl)"]', "learn.steps=20"],
    "votes-mean": [*FEW, 'grid.rater=["mode","veto-mean"]', "learn.steps=5"],
    "equal-cost": [*FEW, 'grid.estimator=["grpo","maxrl"]'],
    "posterior": [*FEW, 'grid.rater=["mixed","s2"]', 'grid.estimator=["grpo","posterior(grpo)"]', "learn.steps=5"],
}


def same(got, wanted):
    """A number of a frame and one of JSON: equal to the last digit, NaN for null; numbers that are texts in JSON are compared as numbers."""
    if wanted is None:
        return got != got
    return float(got) == float(wanted) if isinstance(wanted, str) and not isinstance(got, str) else got == wanted


def compare(frame, table, what):
    cells = [(block["fixed"], cell) for block in table["blocks"] for cell in block["cells"]]
    check(len(frame) == len(cells) > 0, f"{what}: {len(frame)} rows for {len(cells)} cells")
    flat = frame.reset_index()
    check(frame.columns.intersection(frame.index.names).empty, f"{what}: a column is called like a level")
    wrong = []
    for (fixed, cell), (_, row) in zip(cells, flat.iterrows()):
        wanted = {**{k: v for k, v in fixed.items() if k in flat}, table["rows"]["dimension"]: cell["row"], table["columns"]["dimension"]: cell["column"],
                  **{k: cell[k] for k in ("n", "failed", "undefined", "mean", "sd", "lo", "hi", "median", "q1", "q3", "among_best") if k in cell},
                  **cell.get("chosen", {}), **cell.get("followed", {}), **{f"{axis}_at_edge": edge for axis, edge in cell.get("at_edge", {}).items()}}
        compared = cell.get("difference", cell.get("percent"))
        if compared:
            wanted.update({"difference": compared["mean"], **{f"difference_{k}": compared[k] for k in ("sd", "lo", "hi")},
                           **{k: compared[k] for k in ("pairs", "p", "p_holm", "star")}})
        elif "difference" in flat:
            wanted["difference"] = None
        wrong += [(name, row[name], value) for name, value in wanted.items() if not (same(row[name], value) or row[name] is value is None)]
    check(not wrong, f"{what}: {wrong[:5]}")
    for key in ("digest", "unit", "baseline", "notes", "formulas", "raters"):
        check(frame.attrs.get(key) == table.get(key), f"{what}: attrs[{key!r}]")
    check(all(frame.attrs["everywhere"].get(k) == v for fixed, _ in cells for k, v in fixed.items() if k not in flat), f"{what}: what all cells share")


for name, sets in SUITES.items():
    call("run", os.path.join(suites, f"{name}.toml"), "-q", "-o", f"{name}.h5", *(part for one in sets for part in ("--set", one)))
    results = odrpo_bench.load(f"{name}.h5")
    compare(results.table(), json.loads(call("table", f"{name}.h5", "--format", "json")), name)
    check(results.digest == digest(f"{name}.h5") and results.name == name, f"{name}: digest and name")
    check(results.suite.encode() == open(os.path.join(suites, f"{name}.toml"), "rb").read(), f"{name}: the suite's text")
    if name == "votes-mean":  # flags of every shape
        for options, flags in (({"value": ["quality", "seconds"], "columns": "value"}, ["--value", "quality,seconds", "--columns", "value"]),
                               ({"compare": "percent", "correction": "none"}, ["--compare", "percent", "--correction", "none"]),
                               ({"curve": "quality", "where": {"votes": 1}}, ["--curve", "quality", "--where", "votes=1"]),
                               ({"power": "2%"}, ["--power", "2%"])):
            compare(results.table(**options), json.loads(call("table", f"{name}.h5", "--format", "json", *flags)), f"{name} {options}")
        check({"seeds_needed_alone", "seeds_needed_in_family"} <= {*results.table(power="2%")}, "seeds that are needed")
quickstart = odrpo_bench.load("quickstart.h5")
for one in (np.array([1, 8]), range(1, 9, 7), {1: None, 8: None}.keys(), (n for n in (1, 8))):
    check(quickstart.table(where={"votes": one}).equals(quickstart.table(where={"votes": [1, 8]})), f"an iterable as a list: {one}")
check(len(quickstart.table(where={"votes": np.int64(8), "estimator": np.array("grpo")})) == 1, "a number and a text of numpy")
families = quickstart.table(baseline={"grpo": ["odrpo(grpo)"], "maxrl": "odrpo-gini-median(maxrl)"})
compare(families, json.loads(call("table", "quickstart.h5", "--format", "json", "--baseline", "grpo=odrpo(grpo)", "--baseline",
                                  "maxrl=odrpo-gini-median(maxrl)")), "families of baselines")
check(families.loc[("odrpo(grpo)", 8), "pairs"] == 3, "a cell by its estimator and votes")
check(repr(quickstart) == call("table", "quickstart.h5") and "maxrl" in quickstart._repr_html_() and "<pre" in quickstart._repr_html_(), "what a notebook shows")
check(quickstart.table_text(format="latex") == call("table", "quickstart.h5", "--format", "latex"), "a table as text")
refused(odrpo_bench.results.program.InputError, 'no dimension "x"', quickstart.table, rows="x")
refused(ValueError, 'no value "colour"', quickstart.table, value="colour")

# --- runs: every column of the file, in words, axes and values
with h5py.File("calibrated.h5") as file:
    runs = odrpo_bench.load("calibrated.h5").runs
    for column in (name for name, data in file.items() if isinstance(data, h5py.Dataset) and name != "run"):
        data = file[column].asstr()[()] if h5py.check_string_dtype(file[column].dtype) else file[column][()]
        check(np.array_equal(runs[column].to_numpy(), data, equal_nan=data.dtype.kind == "f"), f"runs: {column}")
    check(list(runs.index) == list(file["run"][()]) and list(runs.columns[:8]) == ["id", "env", "rater", "policy", "estimator", "votes", "seed", "lr"], "the order of columns")

# --- learning rates: chosen per cell, none averaged; the chosen runs' means are the table's
CELL = ["estimator", "rater"]
table = odrpo_bench.load("calibrated.h5").table()
check(table.index.names == CELL, f"the table's index: {table.index.names}")
check(len(runs.lr.unique()) == 4 and 0 < runs.chosen.sum() < len(runs), "some runs are chosen")
cells = runs[runs.chosen].groupby(CELL).lr
check((cells.nunique() == 1).all() and (cells.first().reindex(table.index) == table.lr).all(), "each cell's one rate")
means = 100 * runs[runs.chosen & ~runs.tuning].groupby(CELL).final_gain.mean()
check((means - table["mean"]).abs().max() < 1e-10, "means of chosen runs on reported seeds are the table's")
check(set(runs[runs.tuning].seed) == {0} and set(runs[~runs.tuning].seed) == {1, 2}, "seeds that choose")
check(quickstart.runs.chosen.all() and not quickstart.runs.tuning.any(), "where nothing chooses, all are chosen")
call("run", suite("rates", seeds=2, **{"steps": "10\nlr = [0.1, 1.0]"}), "-q", "-o", "rates.h5")
rates = odrpo_bench.load("rates.h5").table()
check("lr" in rates.index.names and set(rates.index.get_level_values("lr")) == {0.1, 1.0} and (rates.n == 2).all(), f"without `best` each rate has cells of its own: {rates.index.names}")

# --- curves: the file's numbers, labelled
with h5py.File("calibrated.h5") as file:
    group = file["curves/bandit"]
    curves = odrpo_bench.load("calibrated.h5").curves("quality")
    check(curves.dims == ("run", "step") and np.array_equal(curves.values, group["quality"][()], equal_nan=True), "a curve's numbers")
    check(np.array_equal(curves.run, group["run"]) and np.array_equal(curves.step, group["step"]), "its runs and steps")
    check(list(curves.id.values) == list(runs.id) and list(curves.lr.values) == list(runs.lr) and list(curves.chosen.values) == list(runs.chosen), "its labels")
header = call("export", "calibrated.h5", "--what", "curves").splitlines()[0].split(",")
exported = [name for name in header[header.index("step") + 1 :] if not name.startswith("seconds_")]
check(odrpo_bench.load("calibrated.h5").curve_names == sorted(exported), "names of curves")
refused(KeyError, "has no curve 'nothing'; it has advantage_max", quickstart.curves, "nothing")

# two worlds whose runs recorded other steps
two = suite("two", more='[env.other]\nbase = "bandit"\nprompts = 16\nactions = 8\n', env='["bandit", "other"]', seeds=2)
call("run", two, "-q", "-o", "two.h5", "--set", "learn.steps=[20, 30]")
both = odrpo_bench.load("two.h5").curves("quality")
with h5py.File("two.h5") as file:
    for env in ("bandit", "other"):
        group = file[f"curves/{env}"]
        check(np.array_equal(both.sel(run=group["run"][()], step=group["step"][()]).values, group["quality"][()], equal_nan=True), f"two worlds: {env}")
check(both.run.values.tolist() == list(range(len(both))) and np.isnan(both.sel(step=30).values).sum() == (both.steps == 20).sum(), "the union of steps")

# --- odd files
check(subprocess.run([sample, "hostile.h5", "texts"]).returncode == 0, "a sample file")
hostile = odrpo_bench.load("hostile.h5")
check("<script" in repr(hostile) and "&lt;script" in hostile._repr_html_() and "<script" not in hostile._repr_html_(), "hostile names are escaped in a page")
call("run", suite("dies", estimator='["grpo", "dies"]', more='\n[estimator.dies]\ncommand = "sh -c \'exit 9\'"\n'), "-q", "-o", "dies.h5", code=7)
dies = odrpo_bench.load("dies.h5")
check(((dies.runs.estimator == "dies") == (dies.runs.status == "failed")).all() and dies.runs.final_gain.isna().sum() == 6, "failed runs")
check(dies.table().loc[("dies", 1), "failed"] == 3 and "exit code 9" in dies.runs.error.iloc[-1], "failed runs in tables")
check((dies.curves("quality").isnull().all("step").values == (dies.runs.status == "failed")).all(), "their curves are undefined")
call("run", "dies.toml", "-q", "-o", "none.h5", "--set", 'grid.estimator=["dies"]', "--set", 'table.baseline=""', code=7)
none = odrpo_bench.load("none.h5")
check(none.curve_names == [] and len(none.runs) == 6, f"all failed: {none!r}")
call("run", "dies.toml", "-q", "-o", "best.h5", "--set", "learn.lr=[0.1,1]", "--set", 'table.best=["lr"]', code=7)
best = odrpo_bench.load("best.h5").runs
check((best[best.chosen].groupby(["estimator", "votes"]).lr.nunique() == 1).all() and best.chosen.sum() == 12, "one rate in each cell, where all its runs failed too")
call("run", "dies.toml", "-q", "-o", "none-best.h5", "--set", 'grid.estimator=["dies"]', "--set", 'table.baseline=""', "--set", "learn.lr=[0.1,1]", "--set", 'table.best=["lr"]',
     "--set", "table.tune_seeds=1", code=7)
none_best = odrpo_bench.load("none-best.h5").runs
check(not none_best.chosen.any() and (none_best.tuning == (none_best.seed == 0)).all() and (none_best.status == "failed").all(), "where all fail, none is chosen")
refused(KeyError, "it has none", none.curves, "quality")
old = odrpo_bench.load(schema_3)
with h5py.File(schema_3) as file:
    group = file["curves/bandit-small"]
    check(np.array_equal(old.curves("quality").sel(run=group["run"][()], step=group["step"][()]).values, group["quality"][()], equal_nan=True), "a file of schema 3")
    check("learn.lr" in old.runs and "seconds" not in old.curve_names, "its axes have their full names, and curves are of runs and steps")
check(subprocess.run([sample, "rollouts.h5", "rollouts"]).returncode == 0, "a file with rollouts")
kept = odrpo_bench.load("rollouts.h5").rollouts
lines = [json.loads(line) for line in call("export", "rollouts.h5", "--what", "rollouts").splitlines()]
shown = [{k: None if v != v else v for k, v in row.items() if k != "length" or v == v} for row in kept.to_dict("records")]
check(shown == lines and len(lines) == 11 * 6 + 12 * 8 and kept.step.dtype == "int64", "rollouts are those of export")
refused(KeyError, "`[record] rollouts = k`", lambda: old.rollouts)
refused(OSError, "no.h5", odrpo_bench.load, "no.h5")
with open("text.h5", "w") as file:
    file.write("no HDF5")
refused(ValueError, "text.h5 is no result file", odrpo_bench.load, "text.h5")
h5py.File("other.h5", "w").close()
refused(ValueError, "no result file", odrpo_bench.load, "other.h5")
loaded = odrpo_bench.load("rates.h5")
os.replace("two.h5", "rates.h5")
for call_of, arguments in ((loaded.curves, ("quality",)), (loaded.table, ()), (loaded.table_text, ())):
    refused(RuntimeError, "has changed since it was loaded", call_of, *arguments)
check("has changed" in repr(loaded), "and a notebook shows no other table")
finish()
