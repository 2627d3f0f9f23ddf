#!/usr/bin/env python3
# Tables and curves of several files, against differences of what h5py reads; outputs that --set and --name name; labels in all forms.
# Usage: files_test.py PROGRAM; exit status 77 = skipped, because h5py is missing.
import csv, io, json, os, subprocess, sys

from checks import call, check, finish, near, program, suite
from reference import deviation, mean, texts

try:
    import h5py
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

suite("both", "[label]\n\"votes=8\" = \"8 votes\"\n", seeds=4, estimator='["grpo", "maxrl"]', steps="15\nlr = 0.1", votes="[1, 8]")
call("run", "both.toml", "-q")
call("run", "both.toml", "-q", "--set", "learn.lr=0.3", "--set", "suite.seeds=6")
call("run", "both.toml", "-q", "--name", "more", "--set", "learn.lr=0.2", "--only", "*/grpo/*")
old, new, more = "both.h5", "both-lr=0.3-seeds=6.h5", "both-more.h5"
for name in (old, new, more):
    check(os.path.exists(name), f"{name} is not there: {os.listdir()}")
refused = call("run", "both.toml", "-q", "--only", "*/grpo/*", code=5)  # what --only leaves is another suite of the same name

gains = {}
for path in (old, new, more):
    with h5py.File(path) as file:
        for i, (e, v, s) in enumerate(zip(texts(file, "estimator"), file["votes"][:], file["seed"][:])):
            gains[path, e, int(v), int(s)] = 100 * float(file["final_gain"][i])

name = {old: "both", new: "both-lr=0.3-seeds=6", more: "both-more"}
cells = {(c["row"], c["column"], b["fixed"]["estimator"]): c
         for b in json.loads(call("table", old, new, "--format", "json"))["blocks"] for c in b["cells"]}
check(len(cells) == 8, f"cells: {list(cells)}")
for e in ("grpo", "maxrl"):
    for votes in (1, 8):
        for path, seeds in ((old, 4), (new, 6)):
            cell = cells[name[path], str(votes), e]
            near(cell["mean"], mean([gains[path, e, votes, s] for s in range(seeds)]), f"mean of {path}, {e}, {votes}")
            check(cell["n"] == seeds, f"n of {path}: {cell['n']}")
        pairs = [gains[new, e, votes, s] - gains[old, e, votes, s] for s in range(4)]  # seeds that both files have
        found = cells[name[new], str(votes), e]["difference"]
        near(found["mean"], mean(pairs), f"paired difference of {e}, {votes}")
        near(found["sd"], deviation(pairs), f"its deviation, {e}, {votes}", 1e-6)
        check(found["pairs"] == 4, f"pairs: {found['pairs']}")

# a file that lacks an estimator has no cell of it; three files
three = {(c["row"], b["fixed"]["estimator"]): c["n"] for b in json.loads(call("table", old, new, more, "--format", "json"))["blocks"]
         for c in b["cells"] if c["column"] == "1"}
check(three == {("both", "grpo"): 4, ("both-lr=0.3-seeds=6", "grpo"): 6, ("both-more", "grpo"): 4,
                ("both", "maxrl"): 4, ("both-lr=0.3-seeds=6", "maxrl"): 6, ("both-more", "maxrl"): 0}, f"three files: {three}")

# curves: the last recorded point of each file's line is the mean of the final quality
points = list(csv.DictReader(io.StringIO(call("plot", "curves", old, new, "--rows", "file", "--where", "votes=1", "--where", "estimator=grpo", "--curve", "quality", "--data"))))
for path, seeds in ((old, 4), (new, 6)):
    line = [p for p in points if p["series"] == name[path]]
    with h5py.File(path) as file:
        final = mean([float(q) for q, e, v in zip(file["final_quality"][:], texts(file, "estimator"), file["votes"][:]) if e == "grpo" and v == 1])
    check(line, f"no line of {path}: {points[:3]}")
    near(float(max(line, key=lambda p: float(p["x"]))["y"]), final, f"last point of {path}", 1e-6)

# names
text = call("table", old, new, "--label", "both=before", "--label", f"{name[new]}=after", "--label", "votes=1=one vote")
check("before" in text and "after" in text and "8 votes" in text and "one vote" in text and "votes=" not in text, text)
check("\\texttt" not in call("table", old, "--label", "grpo=R & D", "--format", "latex") and "R \\& D" in call("table", old, "--label", "grpo=R & D", "--format", "latex"), "a label in LaTeX")
call("table", old, "--label", "grpo", code=2, words='--label wants NAME=LABEL')
call("table", old, "--label", "grpo=maxrl", code=2, words='--label: two rows are called "maxrl"')
call("table", old, "--label", "votes=1=8 votes", code=2, words='--label: two columns are called "8 votes"')
call("table", old, "--label", "grop=GRPO", words='note: --label: the table has no "grop"; did you mean "grpo"?')
call("plot", "curves", old, "--label", "grop=GRPO", "-o", "labelled.svg", words='note: --label: the table has no "grop"')
told = subprocess.run([program, "table", old, "--label", "votes=1=one", "--label", "bandit=B"], capture_output=True, text=True)
check(told.returncode == 0 and "--label" not in told.stderr, f"labels of a column and of what holds everywhere: {told.stderr}")
call("table", old, "--label", "gain=G", words='note: --label: the table has no "gain"')  # values have no labels

# other worlds: a note says that pairs share nothing; a key that is set twice names the output once
call("run", "both.toml", "-q", "--set", "learn.lr=0.3", "--set", "suite.seed=8", "--set", "learn.lr=0.1")
other = "both-seed=8-lr=0.1.h5"
check(os.path.exists(other), f"{other} is not there: {os.listdir()}")
note = " ".join(call("table", old, other).split())
check("suite.seed is 7 in both and 8 in both-seed=8-lr=0.1: their runs share no worlds" in note, note)
check("share no worlds" not in call("table", old, new), "files of one seed")
call("table", old, old, code=2, words="a file is named twice")
os.makedirs("sub")
os.rename(new, "sub/both.h5")
check("sub/both.h5" in call("table", old, "sub/both.h5"), "equal names keep their folders")
call("run", "both.toml", "--name", "a/b", code=2, words="a name has no '/'")
call("run", "both.toml", "--name", "x", "-o", "y.h5", code=2)
finish()
