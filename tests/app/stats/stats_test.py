#!/usr/bin/env python3
# `stats` against arithmetic of its own: means, pairs, Holm's correction, tasks; output, bad input. Usage: stats_test.py PROGRAM
import csv, json, os, random, subprocess

import checks
from checks import check, near, paths, program
from reference import deviation, holm, iqm, mean, t_factor, t_interval, table_of

sample = paths[0] if paths else ""  # writes a result file
SEED = 14


def call(*arguments, **how):
    return checks.call("stats", *arguments, **how)


def write(name, rows, header=("seed", "estimator", "votes", "gain")):
    with open(name, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def wins(x, y):
    return sum((a > b) + (a == b) / 2 for a in x for b in y) / (len(x) * len(y))


BASE = ("--unit", "seed", "--cell", "estimator,votes", "--value", "gain")
rng = random.Random(SEED)
gain = {}
for s in range(20):
    world = rng.gauss(70, 4)
    for e, better in (("grpo", 0), ("maxrl", -1.5), ("odrpo(grpo)", 0.2)):
        for v in (1, 8):
            gain[s, e, v] = round(world + better + (2 if v == 8 else 0) + (3 if e == "maxrl" and v == 8 else 0) + rng.gauss(0, 1), 3)
write("runs.csv", [(s, e, v, g) for (s, e, v), g in gain.items()])


def cell(e, v):
    return [gain[s, e, v] for s in range(20)]


# --- numbers, as JSON
flags = (*BASE, "--baseline", "grpo", "--contrast", "votes=8:1", "--gamma", "72", "--thresholds", "68,72")
found = json.loads(call("runs.csv", *flags, "--format", "json"))
check(len(found["cells"]) == 6 and len(found["differences"]) == 4 and len(found["contrasts"]) == 2, "numbers of rows")
check(found["family_size"] == 6 and found["resamples"] == 2000 and found["seed"] == 1 and found["interval"] == "expanded", "method")
for c in found["cells"]:
    v = cell(c["cell"]["estimator"], int(c["cell"]["votes"]))
    near(c["mean"]["value"], mean(v), "mean", 1e-12)
    near(c["sd"]["value"], deviation(v), "sd", 1e-12)
    near(c["median"]["value"], (sorted(v)[9] + sorted(v)[10]) / 2, "median", 1e-12)
    near(c["iqm"]["value"], iqm(v), "IQM", 1e-12)
    near(c["optimality_gap"]["value"], 72 - mean([min(x, 72) for x in v]), "optimality gap", 1e-12)
    near(c["run_score_distribution"][0]["value"], mean([x > 68 for x in v]), "profile", 1e-12)
    check(all(c[k]["lo"] <= c[k]["value"] <= c[k]["hi"] for k in ("mean", "sd", "iqm")), "an interval holds its number")
near(t_factor(19), 2.0930240544082634, "a table of Student's t, 19 degrees of freedom", 1e-12)
p = []
for d in found["differences"] + found["contrasts"]:
    e, v = d["cell"]["estimator"], int(d["cell"]["votes"])
    pairs = [a - b for a, b in zip(cell(e, v), cell("grpo", v))]
    if "probability_of_improvement" not in d:
        pairs = [x - (a - b) for x, a, b in zip(pairs, cell(e, 1), cell("grpo", 1))]
    else:
        near(d["probability_of_improvement"]["value"], wins(cell(e, v), cell("grpo", v)), "P(row > baseline)", 1e-12)
    near(d["mean"], mean(pairs), "difference", 1e-12)
    near(d["sd"], deviation(pairs), "sd of differences")
    lo, hi = t_interval(pairs)
    near([d["t"]["lo"], d["t"]["hi"]], [lo, hi], "t interval")
    check(abs(d["bootstrap"]["lo"] - lo) < (hi - lo) / 4 and abs(d["bootstrap"]["hi"] - hi) < (hi - lo) / 4, "BCa is near t")
    p.append(d["p"])
for d, want in zip(found["differences"] + found["contrasts"], holm(p)):
    near(d["p_holm"], want, "Holm", 1e-12)
    check(d["star"] == (want < 0.05), "star")
check(found["contrasts"][0]["star"], "maxrl gains from votes")
check(found["notes"] == [], "20 units need no warning")

# --- one seed, one answer: whatever the order of rows
lines = open("runs.csv").read().splitlines()
shuffled = lines[1:]
rng.shuffle(shuffled)
open("other.csv", "w").write("\n".join([lines[0], *shuffled]) + "\n")
same = json.loads(call("other.csv", *flags, "--format", "json"))
key = lambda c: sorted(c["cell"].items())
for part in ("cells", "differences", "contrasts"):
    check(sorted(same[part], key=key) == sorted(found[part], key=key), f"the order of rows changes {part}")
check(call("runs.csv", *flags) == call("runs.csv", *flags), "two calls")
check(call("runs.csv", *flags) != call("runs.csv", *flags, "--seed", "2"), "another seed")

# --- the same runs as JSON lines, as a list, with keys in an object, as shares of one whole, and as words
objects = [{"seed": s, "how": {"estimator": e}, "votes": v, "gain": g, "more": [1]} for (s, e, v), g in gain.items()]
nested = [arg.replace("estimator", "how.estimator") for arg in flags]
for name, text in (("runs.jsonl", "\n".join(map(json.dumps, objects))), ("list.json", json.dumps(objects, indent=1)), ("runs.txt", json.dumps(objects))):
    open(name, "w").write(text)
    check(json.loads(call(name, *nested, "--format", "json").replace("how.estimator", "estimator").replace(name, "runs.csv")) == found, name)
write("shares.csv", [(s, e, v, f"{g}/100") for (s, e, v), g in gain.items()])
shares = json.loads(call("shares.csv", *flags, "--format", "json"))
check(shares["cells"] == found["cells"] and shares["notes"] == ["note: 120 scores are written as N/100 and read as N"], f"shares: {shares['notes']}")
write("passed.csv", [(s, e, v, "pass" if g > 70 else "fail") for (s, e, v), g in gain.items()])
for c in json.loads(call("passed.csv", *BASE, "--map", "pass=1,fail=0", "--format", "json"))["cells"]:
    near(c["mean"]["value"], mean([g > 70 for g in cell(c["cell"]["estimator"], int(c["cell"]["votes"]))]), "words as values", 1e-12)
write("wholes.csv", [(0, "a", 1, "8/10"), (1, "a", 1, "3/5")])
call("wholes.csv", *BASE, code=8, words='wholes.csv:2:7: error: gain "8/10": a number is wanted, or N/M with one M in the whole file and no value above it')
write("above.csv", [(0, "a", 1, "8/10"), (1, "a", 1, 11)])
call("above.csv", *BASE, code=8, words="no value above it")
for text, words in (('{"seed": 1, "estimator": "a", "votes": 1, "gain": 2}\n{"seed": 2, "estimator": "a", "votes": 1}', 'bad.jsonl:2:1: error: no key "gain"'),
                    ('{"seed": 1, "estimator": "a", "votes": 1, "gain": [2]}', "bad.jsonl:1:43: error: gain is a list: a number or a text is wanted"),
                    ('{"seed": 1, "estimator": "a", "votes": 1, "gain": 2', "bad.jsonl:1:"),
                    ('[{"seed": 1, "estimator": "a", "votes": 1, "gain": 2}', "the file is cut off"),
                    ('{"seed": 1, "estimator": "a", "votes": 1, "gain": 2, "gain": 3}', 'key "gain" stands twice'),
                    ("", "nothing in it"), ("[]", "nothing in it"), ("[3]", "an object is wanted")):
    open("bad.jsonl", "w").write(text)
    call("bad.jsonl", *BASE, code=8, words=words)
# numbers of cells in the file's spelling, a first run without a value, many runs in one line
spelled = [{"seed": s, "tau": t, "gain": s * t} for s in range(3) for t in (1.0, 0.5)]
open("spelled.json", "w").write(json.dumps(spelled))
for baseline in ("tau=1.0", "tau=1"):
    check(len(json.loads(call("spelled.json", "--unit", "seed", "--cell", "tau", "--value", "gain", "--baseline", baseline, "--format", "json"))["differences"]) == 1, baseline)
call("spelled.json", "--unit", "seed", "--cell", "tau", "--value", "loss", code=2, words='--value: spelled.json has no column "loss"')
open("late.jsonl", "w").write('{"seed": 1, "arm": "a"}\n{"seed": 2, "arm": "a", "gain": 2}\n')
call("late.jsonl", "--unit", "seed", "--cell", "arm", "--value", "gain", code=8, words='late.jsonl:1:1: error: no key "gain"')
open("late.jsonl", "w").write('{"seed": 1, "arm": "a", "m": null}\n{"seed": 2, "arm": "a", "m": {"gain": 2}}\n')
call("late.jsonl", "--unit", "seed", "--cell", "arm", "--value", "m.gain", code=8, words='late.jsonl:1:1: error: no key "m.gain"')
open("bracket.json", "w").write('[{"seed": 1, "arm": "a", "gain": 1}}, {"seed": 2, "arm": "a", "gain": 2}]')
call("bracket.json", "--unit", "seed", "--cell", "arm", "--value", "gain", code=8, words="bracket.json:1:36: error: this line is no JSON object")
open("rates.csv", "w").write("seed,lr,gain\n1,1e-3,1\n1,0.002,2\n2,0.001,3\n")
call("rates.csv", "--unit", "seed", "--cell", "lr", "--value", "gain", code=8, words='lr has "1e-3" and "0.001": one id or two?')
check(len(json.loads(call("rates.csv", "--unit", "seed", "--cell", "lr", "--value", "gain", "--ids", "number", "--format", "json"))["cells"]) == 2, "1e-3 is 0.001")
open("bad.jsonl", "w").write('{"seed": 1, "a": {"estimator": 1}, "votes": 1, "gain": 2}')
call("bad.jsonl", *BASE, code=2, words='--cell: bad.jsonl has no column "estimator"')

# --- tasks: rliable's aggregates
tasks = json.loads(call("runs.csv", "--unit", "seed", "--cell", "estimator", "--task", "votes", "--value", "gain", "--baseline", "grpo",
                        "--interval", "percentile", "--resamples", "1000", "--level", "0.9", "--format", "json"))
one = tasks["cells"][1]
check(one["n"] == 20 and one["runs"] == 40 and one["tasks"] == 2, "runs and tasks")
near(one["median"]["value"], mean([mean(cell("maxrl", 1)), mean(cell("maxrl", 8))]), "median of two tasks", 1e-12)
near(one["iqm"]["value"], iqm(cell("maxrl", 1) + cell("maxrl", 8)), "IQM over tasks", 1e-12)
d = tasks["differences"][0]
near(d["mean"], mean([(gain[s, "maxrl", v] - gain[s, "grpo", v]) for s in range(20) for v in (1, 8)]), "difference over tasks", 1e-12)
check(d["pairs"] == 20 and d["tasks"] == 2, "a unit is one pair, whatever its tasks")
near(d["probability_of_improvement"]["value"], mean([wins(cell("maxrl", v), cell("grpo", v)) for v in (1, 8)]), "P over tasks", 1e-12)

# --- CSV has the same numbers
rows = table_of(call("runs.csv", *flags, "--format", "csv"))
header = call("runs.csv", *flags, "--format", "csv").splitlines()[0].split(",")
check(len(header) == len(set(header)), "a column of the CSV stands twice")
for r, c in zip(rows, found["cells"], strict=True):
    check(float(r["mean_lo"]) == c["mean"]["lo"] and float(r["runs_above_72"]) == c["run_score_distribution"][1]["value"], "CSV, cells")
check([float(r["difference"]) for r in rows if r["difference"]] == [d["mean"] for d in found["differences"]], "CSV, differences")
check([float(r["contrast_p_holm"]) for r in rows if r["contrast"]] == [d["p_holm"] for d in found["contrasts"]], "CSV, contrasts")

# --- text: 80 columns, stars, one warning, names that a terminal must not obey
text = call("runs.csv", *flags)
check(max(map(len, text.splitlines())) <= 80, "text is wider than 80 columns")
check(" *" in text and "difference of differences" in text and "> 68" in text and "gap to 72" in text, "parts of the text")
check("warning" not in text, "a warning at n = 20")
few = [(s, "a\x1b[2J" + "x" * 90, 1, s / 7) for s in range(5)] + [(s, "=cmd()", 1, s / 5) for s in range(5)]
write("few.csv", few)
text = call("few.csv", *BASE, "--baseline", "=cmd()")
check(text.count("warning") == 1 and "n = 5 is below 16" in text.replace("\n  ", " "), "one warning at n = 5")
check("\x1b" not in text and "\\x1b" in text and max(map(len, text.splitlines())) <= 80, "names are escaped and cut")
text = call("few.csv", *BASE, "--format", "csv", words="warning: n = 5")
check("'=cmd()" in text and "\x1b" not in text, "CSV that no spreadsheet obeys")
json.loads(call("few.csv", *BASE, "--format", "json"))

# --- what is missing is told
write("gaps.csv", [(0, "a", 1, ""), (1, "a", 1, 2), (2, "a", 1, "nan"), (3, "a", 1, 5), (1, "b", 1, 1), (3, "b", 1, 3), (4, "b", 1, 3)])
text = call("gaps.csv", *BASE, "--baseline", "b").replace("\n  ", " ")
for words in ("1 run left out: the value is blank", "1 run left out: the value is NaN, NA, null or None, or named by --missing", "1 difference leaves out units"):
    check(words in text, f"gaps: {words}")
write("single.csv", [(0, "a", 1, 3), (0, "b", 1, 4)])
text = call("single.csv", *BASE, "--baseline", "b", "--thresholds", "1")
check("3.000 [n/a]" in text and "neither a spread nor an interval" in text, "one unit")

# --- small and long things
write("two.csv", [(s, c, 1, s * 2 + (c == "a")) for s in range(2) for c in "ab"] + [(0, "c", 1, 9)])
two = json.loads(call("two.csv", *BASE, "--baseline", "b", "--format", "json"))
check(two["cells"][0]["mean"]["lo"] == 1 and two["cells"][0]["mean"]["hi"] == 3, "two units: the interval of the extremes")
check(two["differences"][0]["p"] == 0.5 and not two["differences"][0]["star"], "a difference that is equal twice: the sign test")
text = call("two.csv", *BASE).replace("\n  ", " ")
check("n = 2 is below 16" in text and "neither a spread nor an interval" in text, "a cell of one run hides no warning")
long = [(s, "estimator-with-a-long-name-and-many-settings-of-learn.lr=" + lr, 1, s + float(lr)) for s in range(20) for lr in ("0.1", "0.3")]
write("long.csv", long)
text = call("long.csv", *BASE, "--baseline", long[0][1])
check("=0.1" in text and "=0.3" in text, "long names keep their ends")
check(max(map(len, text.splitlines())) <= 80, "long names keep to 80 columns")
write("named.csv", [(s, n, "x", s + n) for s in range(3) for n in (1, 2)], ("seed", "n", "mean", "gain"))
head = call("named.csv", "--unit", "seed", "--cell", "n,mean", "--value", "gain", "--format", "csv").split("\n")[0].split(",")
check(len(set(head)) == len(head) and head[:2] == ["cell_n", "cell_mean"], f"a name of CSV twice: {head}")

# --- output files: whole or not at all
call("runs.csv", *flags, "-o", "out.txt")
check(open("out.txt").read() == call("runs.csv", *flags), "-o writes what stdout gets")
os.chmod("out.txt", 0o600)
call("runs.csv", *flags, "-o", "out.txt", "--format", "json")
json.load(open("out.txt"))
check(os.stat("out.txt").st_mode & 0o777 == 0o600, "the mode of a file that is replaced stays")
os.symlink("out.txt", "link")
call("runs.csv", *flags, "-o", "link")
check(os.path.islink("link") and open("out.txt").read().startswith("gain of"), "-o follows a link")
for path, why in (("runs.csv", "the input itself"), (".", "a directory"), ("/dev/null", "not a regular file"), ("no/such", "cannot write")):
    call("runs.csv", *flags, "-o", path, code=5, words=why)
check(not [n for n in os.listdir() if n.endswith(".tmp")], "a file is left beside the output")

# --- bad input
write("twice.csv", [(0, "a", 1, 3), (0, "a", 1, 4)])
open("empty.csv", "w")
open("text.csv", "w").write("seed,estimator,votes,gain\n1,a,1,x\n2,a,1,inf\n3,,1,2\n")
call("twice.csv", *BASE, code=8, words='twice.csv:3:1: error: unit "0" of cell "a, 1" is given twice; first on line 2')
call("empty.csv", *BASE, code=8, words="nothing in it")
for words in ('text.csv:2:7: error: gain "x"', "text.csv:3:7: error", 'text.csv:4:3: error: column "estimator" is empty'):
    call("text.csv", *BASE, code=8, words=words)
call("missing.csv", *BASE, code=5, words="missing.csv")
call("missing.h5", code=5, words="missing.h5")
for junk in (b"", b"hello\n", b"\x89HDF\r\n\x1a\n" + bytes(500), b"unit,cell,value\n0,a,1\n"):
    open("junk.h5", "wb").write(junk)
    call("junk.h5", code=8, words="'junk.h5' is not a result file of odrpo-bench, or is damaged")
call(".", *BASE, code=8, words="directory")
call("runs.csv", "--unit", "sede", "--cell", "estimator", "--value", "gian", code=2, words='no column "gian"; did you mean "gain"?')
call("runs.csv", "--unit", "seed", "--cell", "seed", "--value", "gain", code=2, words='"seed" is named twice')
for words, flags in (('did you mean "grpo"?', ["--baseline", "grop"]), ("no cell has votes", ["--baseline", "grpo,4"]),
                     ("more texts than a cell has columns", ["--baseline", "grpo,1,1"]), ("no baseline", ["--contrast", "votes=1:8"]),
                     ("has no colon", ["--baseline", "grpo", "--contrast", "votes=1"]),
                     ('did you mean "votes"?', ["--baseline", "grpo", "--contrast", "vote=1:8"]),
                     ("cancel out", ["--baseline", "grpo,1", "--contrast", "votes=1:8"]),
                     ("are the same", ["--baseline", "grpo", "--contrast", "votes=1:1"]), ("--level", ["--level", "95"]),
                     ("--gamma", ["--gamma", "inf"]), ("--thresholds", ["--thresholds", "1,,2"]), ("--resamples", ["--resamples", "999"]),
                     ("--interval", ["--interval", "bayes"]), ("--format", ["--format", "md"]), ("--seed", ["--seed", "-1"])):
    call("runs.csv", *BASE, *flags, code=2, words=words)

# a result file: the same numbers as its runs written to a CSV file
if sample:
    subprocess.run([sample, "runs.h5", "plain"], check=True, stdout=subprocess.DEVNULL)
    some = ["--where", "env=bandit", "--where", "learn.steps=50"]
    table = json.loads(subprocess.run([program, "table", "runs.h5", *some, "--best", "lr", "--json"], check=True, capture_output=True).stdout)
    write("runs.csv", [(seed, cell["row"], cell["column"], value) for block in table["blocks"] for cell in block["cells"]
                       for seed, value in zip(cell["seeds"], cell["values"])])
    csv_text = call("runs.csv", "--unit", "seed", "--cell", "estimator,votes", "--value", "gain", "--baseline", "maxrl", "--contrast", "votes=8:1",
                    "--format", "json")
    options = ["runs.h5", "--where", "env=bandit", "--where", "learn.steps=50", "--contrast", "votes=8:1", "--format", "json"]
    a, b = json.loads(csv_text), json.loads(call(*options, "--where", "lr=1"))
    chosen = {c["chosen"]["learn.lr"] for block in table["blocks"] for c in block["cells"]}
    check(chosen == {"1"}, f"the sample's best rate is 1: {chosen}")
    for part in ("cells", "differences", "contrasts"):
        check(len(a[part]) == len(b[part]) > 0 and a[part] == b[part], f"{part} of a result file and of its CSV differ: {a[part]} {b[part]}")
    tasks = json.loads(call("runs.h5", "--task", "env", "--where", "lr=1", "--cell", "estimator,votes", "--format", "json", "--baseline", "none"))
    check(not tasks["differences"] and tasks["cells"], "no baseline, and no differences")
    call("runs.h5", "--where", "votes", code=2, words="AXIS=VALUE")
    call("runs.h5", "--task", "nothing", code=2, words="no dimension")
    call("runs.h5", "--unit", "run", code=2, words="paired by seed")
    call("runs.h5", "--value", "gian", code=2, words="did you mean")
    call("runs.csv", "--unit", "seed", "--cell", "estimator", "--value", "gain", "--where", "votes=1", code=2, words="--where")

print(f"random rows with seed {SEED}")
checks.finish()
