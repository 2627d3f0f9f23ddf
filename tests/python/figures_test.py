#!/usr/bin/env python3
"""Figures: the numbers of `plot --json` and of what matplotlib holds against `plot --data`, for every kind.

Usage: figures_test.py PROGRAM SAMPLE, where SAMPLE FILE.h5 hostile writes a result file
"""
import csv
import io
import re
import subprocess

import package
from checks import call, check, finish, paths, suite

package.need("pandas", "h5py", "matplotlib")
import numpy as np
import odrpo_bench
from matplotlib import pyplot
from odrpo_bench import figures
from package import refused

call("run", suite("tiny", seeds=4, votes="[1, 8, 32]"), "-q", "-o", "tiny.h5")
call("run", suite("rates", "best = [\"lr\"]\ntune_seeds = 1\n", seeds=3, rater='["mixed", "veto"]', **{"steps": "20\nlr = [0.1, 1.0]"}), "-q", "-o", "rates.h5")
subprocess.run([paths[0], "hostile.h5", "hostile"], check=True)


def number(text):
    return float(text) if text else np.nan


def same(got, wanted, what):
    got, wanted = np.asarray(got, dtype=float), np.asarray(wanted, dtype=float)
    check(got.shape == wanted.shape and np.array_equal(got, wanted, equal_nan=True), f"{what}: {got} instead of {wanted}")


def points_of(rows):
    """Of the lines of --data (series, x, y, lo, hi, filled) of each panel and series, in their order; a forest has its numbers along x."""
    out = {}
    for row in rows:
        out.setdefault(row["panel"], {}).setdefault(row["series"], []).append(row)
    return out


def drawn_points(axes, panel, series, s):
    """x and y that matplotlib holds for a series."""
    if panel["kind"] == "bars":
        bars = [c for c in axes.containers if hasattr(c, "patches")][s]
        return series["x"], [bar.get_height() for bar in bars.patches]
    if panel["kind"] == "forest":
        line = [c for c in axes.containers if not hasattr(c, "patches")][s].lines[0]
        return line.get_xdata(), line.get_ydata()
    line = next(line for line in axes.lines if line.get_label() == series["name"])
    return line.get_xdata(), line.get_ydata()


FIGURES = [("curves", {}), ("curves", {"curve": "kl", "where": {"votes": 8}}), ("votes", {}), ("votes", {"value": "quality"}), ("bars", {}),
           ("bars", {"value": ["quality", "regret"], "columns": "value"}), ("forest", {}), ("forest", {"compare": "percent", "baseline": "maxrl"}), ("heatmap", {}),
           ("histogram", {}), ("profile", {})]
for file in ("tiny.h5", "rates.h5"):
    results = odrpo_bench.load(file)
    for kind, flags in FIGURES:
        what = f"{kind} {flags} of {file}"
        rows = list(csv.DictReader(io.StringIO(call("plot", kind, file, "--data", *odrpo_bench.program.flags({**flags, "value": figures._joined(flags.get("value"))})))))
        data = figures.figure_data(results, kind, **flags)
        figure = odrpo_bench.plot(results, kind, **flags)
        check(figure.caption == data["caption"] == rows[0]["caption"], f"{what}: caption")
        wanted = points_of(rows)
        check(len(data["panels"]) == len(wanted), f"{what}: {len(data['panels'])} panels")
        for (_, of_series), panel, axes in zip(sorted(wanted.items(), key=lambda p: int(p[0])), data["panels"], figure.axes):
            forest = panel["kind"] == "forest"
            flat = [row for one in of_series.values() for row in one] if not forest else [row for row in rows if row["panel"] == next(iter(of_series.values()))[0]["panel"]]
            of_json = [(x, y, lo, hi) for s in panel["series"] for x, y, lo, hi in zip(s["x"], s["y"], s["lo"], s["hi"])]
            same([[p[0], np.nan if forest else p[1], p[2], p[3]] for p in of_json], [[number(r["x"]), number(r["y"]), number(r["lo"]), number(r["hi"])] for r in flat], f"{what}: --json")
            check([axes.get_title(loc="left"), axes.get_xlabel()] == [flat[0]["title"], flat[0]["x_label"]], f"{what}: labels")
            if forest:
                names = panel["y_names"]  # a line without a point is a heading
                headings = [line not in [s["y"][0] for s in panel["series"]] for line in range(len(names))]
                above = {s["y"][0]: [name for line, name in enumerate(names) if headings[line] and line < s["y"][0]][-1:] for s in panel["series"]}
                check([", ".join([names[int(y)], *heading]) for y, heading in above.items()] == [r["x_name"] for r in flat], f"{what}: names")
                check([t.get_text() for t in axes.get_yticklabels()] == names and [s["filled"][0] for s in panel["series"]] == [r["filled"] == "true" for r in flat],
                      f"{what}: names and fills")
            elif panel["kind"] != "heatmap":
                check(axes.get_ylabel() == flat[0]["y_label"], f"{what}: y label")
            if panel["kind"] == "heatmap":
                same(np.ma.filled(axes.images[0].get_array(), np.nan).ravel(), [number(r["y"]) for r in flat], f"{what}: cells")
                check(len(axes.texts) == len(flat), f"{what}: numbers in cells")
                continue
            for s, series in enumerate(panel["series"]):
                x, y = drawn_points(axes, panel, series, s)
                same(x, series["x"], f"{what}: x of {series['name']}")
                same(y, series["y"], f"{what}: y of {series['name']}")
        if file == "rates.h5":  # has panels of every kind: layout and texts can be drawn
            figure.canvas.draw()
        check(pyplot.get_fignums() == [], f"{what}: pyplot keeps a figure")

# --- histograms of more than three rows: one below the other, on one scale
call("run", suite("four", estimator='["grpo", "maxrl", "reinforce", "rloo"]', votes="[1]", seeds=4), "-q", "-o", "four.h5")
(panel,) = figures.figure_data("four.h5", "histogram")["panels"]
axes = odrpo_bench.plot("four.h5", "histogram").axes[0]
most = max(max(s["y"]) for s in panel["series"])
check(panel["kind"] == "ridges" and [t.get_text() for t in axes.get_yticklabels()] == panel["y_names"] and len(axes.collections) == 4, "ridges")
for row, (series, ridge) in enumerate(zip(panel["series"], axes.collections)):
    y = ridge.get_paths()[0].vertices[:, 1]
    check(np.isclose(max(y), row + 0.4) and np.isclose(min(y), row + 0.4 - 0.85 * max(series["y"]) / most), f"ridge {row}: {y}")

# --- looks, scales, axes of one's own
both = ["gain", "seconds"]
votes = figures.figure_data("tiny.h5", "votes", value=both)["panels"]
check([p["y_label"] for p in votes] == ["gain [%]", "step time [us]"] and all(p["log_x"] and p["x_ticks"] == [1, 8, 32] for p in votes), f"votes: {votes}")
figure = odrpo_bench.plot("tiny.h5", "votes", value=both)
check(figure.axes[0].get_xscale() == "log" and [t.get_text() for t in figure.axes[0].get_xticklabels()] == ["1", "8", "32"], "a scale of powers of 2")
looks = {s["name"]: (s["colour"], s["dash"], s["symbol"]) for s in votes[0]["series"]}
check(looks == {"grpo": ("#000000", "solid", "circle"), "maxrl": ("#000000", "dashed", "circle"), "odrpo-gini(maxrl)": ("#0072B2", "dashed", "square")}, f"{looks}")
check([t.get_text() for t in figure.legends[0].get_texts()] == list(looks), "the legend")
colours = re.findall(r"#[0-9A-F]{6}", str(looks))
check([line.get_color() for line in figure.axes[0].lines if not line.get_label().startswith("_")] == colours, "colours")
figure.axes[0].set_ylim(0, 100)
figure.axes[0].set_title("mine")
check(figure._repr_png_().startswith(b"\x89PNG"), "what a notebook shows")
figure.savefig("mine.pdf")
_, own = pyplot.subplots(2, 1, squeeze=False)
check(odrpo_bench.plot("tiny.h5", "votes", value=both, axes=own) is own[0, 0].figure and odrpo_bench.plot("tiny.h5", "votes", value=both, axes=[[own[0, 0]], [own[1, 0]]]).axes[0] is own[0, 0], "nested axes")
check(odrpo_bench.plot("tiny.h5", "bars", axes=own[0, 0]) is own[0, 0].figure, "lone axes")
_, own = pyplot.subplots(1, 2)
check(odrpo_bench.plot("tiny.h5", "votes", value=both, axes=own) is own[0].figure and len(own[1].lines) > 0 and own[1].get_legend() is not None, "axes of one's own")
refused(ValueError, "has 2 panels, and there are 1 axes", odrpo_bench.plot, "tiny.h5", "votes", value=both, axes=own[0])
pyplot.close("all")

# --- weights, which are of no file
weights = odrpo_bench.plot(None, "weights", rewards=[[3, 7, 7, 9], [1, 1, 2]], estimator=["odrpo-gini(grpo)", "odrpo(maxrl)"], levels=10)
rows = list(csv.DictReader(io.StringIO(call("plot", "weights", "--data", "--rewards", "3,7,7,9", "--rewards", "1,1,2", "--estimator", "odrpo-gini(grpo)", "--estimator",
                                            "odrpo(maxrl)", "--levels", "10"))))
for p, axes in enumerate(weights.axes[:2]):
    for line, name in zip(axes.lines, ("odrpo-gini(grpo)", "odrpo(maxrl)")):
        same(line.get_ydata(), [number(r["y"]) for r in rows if r["series"] == name and r["panel"] == str(p + 1)], f"weights: {name}, group {p}")
    same([bar.get_height() for bar in weights.axes[2 + p].patches], [number(r["y"]) for r in rows if r["series"] == "" and r["panel"] == str(p + 1)], f"weights: shares of group {p}")
pyplot.close("all")
check(len(odrpo_bench.plot(None, "weights").axes) == 8, "four shapes and their shares")

# --- hostile names are texts; what cannot be drawn is refused in the program's words
odrpo_bench.plot("hostile.h5", "bars", where={"learn.steps": 50, "learn.lr": 0.1}).savefig("hostile.svg")
check("pwned" in open("hostile.svg").read() and not subprocess.os.path.exists("pwned"), "a name with dollar signs is drawn as it is")
refused(ValueError, 'there is no figure "pie"', odrpo_bench.plot, "tiny.h5", "pie")
refused(ValueError, "--curve has no effect on the figure bars", odrpo_bench.plot, "tiny.h5", "bars", curve="quality")
refused(ValueError, "FILE.h5 is required", odrpo_bench.plot, None, "bars")
refused(ValueError, "weights is of no file", odrpo_bench.plot, "tiny.h5", "weights")
refused(ValueError, "", odrpo_bench.plot, "tiny.h5", "forest", baseline="none")
subprocess.os.link("tiny.h5", "-dash.h5")
check(figures.figure_data("-dash.h5", "bars") == figures.figure_data("tiny.h5", "bars"), "a name like a flag")
loaded = odrpo_bench.load("tiny.h5")
subprocess.os.replace("rates.h5", "tiny.h5")
refused(RuntimeError, "has changed since it was loaded", odrpo_bench.plot, loaded, "bars")
call("plot", "bars", "tiny.h5", "--data", "--json", code=2, words="--data excludes --json")
call("plot", "bars", "tiny.h5", "--json", "-o", "x.svg", code=2, words='--json writes JSON, and "x.svg" is the name of a figure')
call("plot", "bars", "tiny.h5", "--json", "--width", "3", code=2, words="no effect on --json")
finish()
