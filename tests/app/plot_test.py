#!/usr/bin/env python3
# `plot` and `table --curve` as a user calls them: every figure in every format, its numbers against h5py, hostile names, bad input.
# Usage: plot_test.py PROGRAM SAMPLE, where SAMPLE FILE.h5 hostile writes a result file
import json, math, os, re, shutil, struct, subprocess, sys
import xml.etree.ElementTree as xml

try:
    import h5py
except ImportError:
    print("skipped: no h5py")
    sys.exit(77)
import checks
from checks import call, check, finish, flowed, paths, suite
from reference import level_weight, mean, t_interval, table_of, texts

sample = paths[0]


def with_path(path):
    return dict(os.environ, PATH=path)


def svg_texts(path):
    root = xml.parse(path).getroot()
    return root, [flowed("".join(t.itertext())) for t in root.iter("{http://www.w3.org/2000/svg}text")]


for kind in ("plain", "hostile"):
    subprocess.run([sample, f"{kind}.h5", kind], check=True, stdout=subprocess.DEVNULL)
kinds = ["curves", "votes", "bars", "forest", "heatmap", "histogram", "profile"]

# numbers: the curve of each cell is the mean over its runs
with h5py.File("plain.h5") as f:
    world = f["curves/bandit"]
    rows, steps, quality = world["run"][:], world["step"][:], world["quality"][:]
    estimator, votes, rate = texts(f, "estimator"), f["votes"][:], f["learn_lr"][:]
    budget = f["learn_steps"][:]
    expected = {}
    for at, run in enumerate(rows):
        if rate[run] == 1 and votes[run] == 8 and budget[run] == 50:
            for s, step in enumerate(steps):
                if not math.isnan(quality[at][s]):
                    expected.setdefault((estimator[run], float(step)), []).append(quality[at][s])
data = call("plot", "curves", "plain.h5", "--data", "--curve", "quality", "--where", "env=bandit", "--where", "votes=8", "--where", "lr=1", "--where", "learn.steps=50")
lines = table_of(data)
shown = {(r["series"], float(r["x"])): r for r in lines}
check(len(lines) == len(expected) == 12, "two rows of six steps")
for (series, x), row in shown.items():
    check(abs(float(row["y"]) - mean(expected[series, x])) < 1e-12, f"curve {series} at {x}")
table = json.loads(call("table", "plain.h5", "--where", "env=bandit", "--where", "votes=8", "--where", "lr=1", "--where", "learn.steps=50",
                        "--curve", "quality", "--json"))
for block in table["blocks"]:
    for cell in block["cells"]:
        row = shown.get((cell["row"], float(cell["column"])))
        check(row is None or float(row["y"]) == cell["mean"], "the table of a curve and its figure differ")
check(len(call("table", "plain.h5", "--curve", "quality").splitlines()) > 5, "a curve as text")

# differences from a baseline: paired by seed at each step, with Student-t intervals; the baseline is a line at 0
here = ["--where", "env=bandit", "--where", "votes=8", "--where", "lr=1", "--where", "learn.steps=50"]
with h5py.File("plain.h5") as f:
    seed = f["seed"][:]
    at_step = {(estimator[run], seed[run], float(step)): quality[at][s] for at, run in enumerate(rows) for s, step in enumerate(steps)
               if rate[run] == 1 and votes[run] == 8 and budget[run] == 50 and not math.isnan(quality[at][s])}
names = sorted({name for name, _, _ in at_step})
drawn = table_of(call("plot", "curves", "plain.h5", "--data", "--curve", "quality", "--baseline", names[0], *here))
check(len(drawn) == 12, "a line for the baseline, a line of differences")
for row in drawn:
    x = float(row["x"])
    pairs = [at_step[row["series"], s, x] - at_step[names[0], s, x] for s in sorted({s for _, s, _ in at_step}) if (row["series"], s, x) in at_step]
    for key, wanted in zip(("y", "lo", "hi"), (mean(pairs), *t_interval(pairs))):
        check(abs(float(row[key]) - wanted) < 1e-9, f"difference of {row['series']} at {x}: {key} is {row[key]}, wanted {wanted}")
values = table_of(call("plot", "votes", "plain.h5", "--data", "--best", "lr", "--where", "env=bandit", "--baseline", names[0]))
check({row["series"] for row in values} >= set(names) and all(float(row["y"]) == 0 for row in values if row["series"] == names[0]), "differences over votes")
check("step time" not in call("plot", "votes", "plain.h5", "--data", "--best", "lr", "--where", "env=bandit"), "seconds only where they are asked for")
check("step time [us]" in call("plot", "votes", "plain.h5", "--data", "--best", "lr", "--where", "env=bandit", "--value", "gain,seconds"), "two values side by side")

# levels: the mean over seeds of each level's curve, a panel for each kind and row; of other files a reason
suite("levels", estimator='["grpo", "maxrl"]', votes="[1]", policy='"tabular"', steps=20, more="[record]\nevery = 5\nlevels = 1\n")
call("run", "levels.toml", "-o", "levels.h5", "-q")
drawn = table_of(call("plot", "levels", "levels.h5", "--data"))
with h5py.File("levels.h5") as f:
    words = texts(f, "estimator")
    for kind in ("quality_at_least_", "reward_at_least_", "advantage_share_"):
        for k in range(2, 11):
            values = f["curves/bandit"][f"{kind}{k}"][:]
            for name in ("grpo", "maxrl"):
                mine = [values[i] for i, word in enumerate(words) if word == name]
                shown = [float(r["y"]) for r in drawn if r["y_label"] == kind + "k" and r["title"] == name and r["series"] == f"k={k}"]
                check(len(shown) == 5 and all(abs(y - mean([row[s] for row in mine])) < 1e-9 for s, y in enumerate(shown)), f"{kind}{k} of {name}")
check(len(drawn) == 2 * 3 * 9 * 5, f"{len(drawn)} points of levels")
call("plot", "levels", "plain.h5", code=2, words="has no curves of levels")
call("plot", "levels", "levels.h5", "--value", "gain", code=2, words="--value has no effect")

# without --curve: the curve of the table's value
check(call("plot", "curves", "plain.h5", "--data", "--where", "lr=1") == call("plot", "curves", "plain.h5", "--data", "--where", "lr=1", "--curve", "gain"),
      "the curve of a table of gains")
suite("valued", estimator='["grpo", "maxrl"]', votes="[1]", policy='"tabular"', steps=40)
for value, curve in (("reward", "reward"), ("quality", "quality"), ("auc", "gain"), ("regret", "quality"), ("seconds", "quality")):
    call("run", "valued.toml", "--set", f"table.value={value}", "-q", "-j", "1", "-o", f"{value}.h5")
    shown = call("plot", "curves", f"{value}.h5", "--data")
    check(shown == call("plot", "curves", f"{value}.h5", "--data", "--curve", curve) and f",{curve}" in shown, f"the curve of a table of {value}")

if not shutil.which("gnuplot"):
    print("skipped: no gnuplot")
    sys.exit(77 if checks.failed == 0 else 1)

where = ["--where", "env=bandit", "--where", "learn.steps=50"]
regret = ["--value", "regret"]  # near 0, unlike gains
for kind in kinds:
    for file in ("plain", "hostile"):
        arguments = ["plot", kind, f"{file}.h5", *where] + (["--best", "lr"] if kind != "curves" else ["--where", "lr=1"]) + regret * (kind == "bars")
        for form, width in (("svg", "3.25"), ("svg", "5.5"), ("pdf", "5.5"), ("png", "3.25")):
            name = f"{kind}-{file}.{form}"
            call(*arguments, "-o", name, "--width", width, words=f"{name}: ")
            bytes = open(name, "rb").read()
            if form == "svg":
                root, texts = svg_texts(name)
                check(root.get("width") == str(round(96 * float(width))), f"{name}: width {root.get('width')}")
                check(not [e for e in root.iter() if e.tag.endswith("script") or any(k.startswith("on") for k in e.attrib)], f"{name}: a script")
                check("href" not in bytes.decode().replace("xlink:href='#", ""), f"{name}: a link")
            elif form == "pdf":
                box = re.search(rb"/MediaBox \[ ?([\d. ]+)", bytes)
                check(box and abs(float(box.group(1).split()[2]) - 72 * float(width)) < 1, f"{name}: page {box and box.group(1)}")
            else:
                check(bytes[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">I", bytes[16:20])[0] == 975, f"{name}: not 975 dots wide")
left = sorted(os.listdir("."))
check(not [n for n in left if "pwned" in n], "a name of the file ran a command")
_, texts = svg_texts("bars-hostile.svg")
check(any("$(touch pwned)" in t for t in texts), f"the hostile name is not shown: {texts}")

call("plot", "weights", "-o", "weights.svg")
profile = table_of(call("plot", "weights", "--rewards", "3,7,7,9", "--estimator", "odrpo-gini(grpo)", "--data"))
for row in profile:
    if not row["series"]:
        continue
    k = float(row["x"])
    check(abs(float(row["y"]) - level_weight("gini", k, mean([r >= k for r in (3, 7, 7, 9)]))) < 1e-12, f"weight of level {k}")
check(sum(1 for r in profile if r["series"]) == 10, "ten levels")

# the default output, and a file that is replaced
call("plot", "bars", "plain.h5", *where, "--best", "lr", *regret)
check(os.path.exists("bars.svg"), "no bars.svg")
before = open("bars.svg").read()
call("plot", "bars", "plain.h5", *where, "--best", "lr", *regret, "-o", "bars.svg")
check(open("bars.svg").read() == before, "the same figure twice")

# bars of rewards, which are far from 0, would look alike; their numbers are written all the same
call("run", "levels.toml", "--set", "suite.seeds=8", "-o", "eight.h5", "-q")
call("plot", "bars", "eight.h5", "--value", "reward", "-o", "alike.svg", code=2, words="would look alike: `plot forest` shows differences")
check(not os.path.exists("alike.svg"), "a refused figure")
call("plot", "bars", "eight.h5", "--value", "reward", "--data")

# without --rewards: the four shapes; the two weights differ in the second by a third of the largest weight
shapes = table_of(call("plot", "weights", "--data"))
peak = {(r["series"], r["x"]): float(r["y"]) for r in shapes if r["title"] == "half a peak at 8, half uniform" and r["series"]}
apart = [abs(peak["odrpo-gini(grpo)", str(k)] - peak["odrpo-gini-median(grpo)", str(k)]) for k in range(1, 11)]
check(len(peak) == 20 and max(apart) > 0.33 * max(peak.values()), f"weights at the peak differ by {apart}")

# mistakes
call("plot", code=2)
call("plot", "barz", "plain.h5", code=2, words='did you mean "bars"')
call("plot", "bars", code=2, words="FILE.h5 is required")
call("plot", "bars", "missing.h5", code=5, words="missing.h5")
call("plot", "bars", "plain.h5", "-o", "x.jpg", code=2, words="does not end in .svg, .pdf or .png")
call("plot", "bars", "plain.h5", "-o", "nowhere/x.svg", code=5)
call("plot", "bars", "plain.h5", "-o", "plain.h5", code=2)
call("plot", "bars", "plain.h5", "--width", "0.5", code=2, words="--width")
call("plot", "bars", "plain.h5", "--width", "wide", code=2, words="--width")
call("plot", "bars", "plain.h5", "--curve", "kl", code=2, words="--curve has no effect")
call("plot", "bars", "plain.h5", "--rewards", "1,2", code=2, words="--rewards has no effect")
call("plot", "curves", "plain.h5", "--curve", "qualty", code=2, words='did you mean "quality"')
call("plot", "curves", "plain.h5", "--value", "gain", code=2, words="--value has no effect")
call("plot", "curves", "plain.h5", "--baseline", "none", "--data", code=2, words="no baseline to differ from")
for kind in kinds:
    for flag, value in (("--baseline", "maxrl"), ("--compare", "percent"), ("--correction", "none")):
        if kind != "forest" and not (flag == "--baseline" and kind in ("curves", "votes")):
            call("plot", kind, "plain.h5", "--data", flag, value, code=2, words=f"{flag} has no effect on the figure {kind}")
call("plot", "weights", "--data", "--max-seconds", "9", code=2, words="--max-seconds has no effect")
call("plot", "weights", "--data", "--max-memory", "9", code=2, words="--max-memory has no effect")
call("plot", "weights", "plain.h5", code=2, words="of no file")
call("plot", "weights", "--where", "votes=1", code=2, words="--where has no effect")
call("plot", "weights", "--estimator", "grpo", code=2, words="has no weights")
call("plot", "weights", "--estimator", "odrpo-ginni(grpo)", code=2, words="did you mean")
call("plot", "weights", "--rewards", "3,x", code=2)
call("plot", "weights", "--rewards", "3,12", "--levels", "10", code=2, words="less than the largest reward")
call("plot", "votes", "plain.h5", "--columns", "estimator", "--rows", "votes", code=2, words="no number")
call("plot", "forest", "plain.h5", "--baseline", "none", code=2, words="baseline")
call("plot", "bars", "plain.h5", "--where", "votes", code=2, words="AXIS=VALUE")
call("plot", "bars", "plain.h5", "--where", "votes=3", code=2, words="no run has votes")
call("table", "plain.h5", "--curve", "quality", "--value", "gain", code=2, words="--curve takes the place")
# without gnuplot: a clear message, and the numbers all the same
os.mkdir("empty")
call("plot", "bars", "plain.h5", *regret, "-o", "none.svg", code=5, words="gnuplot is not there", env=with_path(os.path.realpath("empty")))
check(not os.path.exists("none.svg"), "half a figure")
call("plot", "bars", "plain.h5", "--data", env=with_path(os.path.realpath("empty")))
# a gnuplot that fails
os.mkdir("broken")
with open("broken/gnuplot", "w") as file:
    file.write("#!/bin/sh\necho 'line 3: unknown terminal' >&2\nexit 1\n")
os.chmod("broken/gnuplot", 0o755)
call("plot", "bars", "plain.h5", *regret, "-o", "none.svg", code=5, words="unknown terminal", env=with_path(os.path.realpath("broken") + ":" + os.environ["PATH"]))

finish()
