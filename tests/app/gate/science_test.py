"""`odrpo-bench gate --science` as a user starts it: files of one suite that are equal, that differ, and that cannot be compared.

Usage: science_test.py PROGRAM SUITES"""
import json, os, re, shutil, subprocess
import xml.etree.ElementTree as xml

import checks
from checks import checked as check, gate, program

suites = checks.paths[0]


def run(file, *arguments, only="small/*/tabular/*", suite="smoke.toml"):
    words = [program, "run", os.path.join(suites, suite), "-q", "--force", "-o", file, "--only", only, *arguments]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)


def science(*arguments, **how):
    return gate("--science", *arguments, **how)


run("old.h5")
shutil.copy("old.h5", "copy.h5")
r = science("old.h5", "copy.h5")
check("equal digests: same at once", r.returncode == 0 and b"same: equal digests (exit 0)" in r.stdout, r)
check("and in JSON", json.loads(science("old.h5", "copy.h5", "--json").stdout)["equal_digests"] is True)

# other seeds: nothing to see, and not enough to say that there is nothing
run("seed.h5", "--set", "suite.seed=2")
r = science("old.h5", "seed.h5")
text = r.stdout.decode()
check("another seed: inconclusive, which is no failure", r.returncode == 0 and re.search(r"^24 cells: 24 inconclusive \(exit 0\)$", text, re.M), text)
check("80 columns", all(len(line) <= 80 for line in text.splitlines()), text)
check("says what a pair shares, what it could have found, and how many seeds are needed", all(re.sub(r"\s+", " ", words) in re.sub(r"\s+", " ", text) for words in
      ("a pair shares its settings and nothing else", "Power: with these runs a true difference of gain of", "n = 2 seeds;")), text)
check("values that differ, as diff has them", "values, B - A" in text and "largest in small/" in text, text)
check("unless asked for: 11", science("old.h5", "seed.h5", "--fail-on", "inconclusive").returncode == 11)
j = json.loads(science("old.h5", "seed.h5", "--json").stdout)
check("JSON: pairs, tests, verdicts", j["pairs"] == 48 and len(j["cells"]) == 24 and j["other_seed"] and j["verdict"] == "inconclusive" and j["exit"] == 0, j)
check("JSON: no steps where seeds differ", all(c["measures"]["steps"]["n"] == 0 for c in j["cells"]) and "seeds" in j["steps_left_out"], j)
wide = ["--margin", "quality=5", "--margin", "gain=500%", "--margin", "steps=500%"]
check("within wide margins everything is the same", json.loads(science("old.h5", "seed.h5", "--json", "--margin", "quality=50", "--margin", "gain=50").stdout)["verdict"] == "same")

# settings that differ
run("rate.h5", "--set", "learn.lr=0.31")
r = science("old.h5", "rate.h5")
check("another learning rate: 12, with what differs", r.returncode == 12 and b"learn.lr: 0.3 in OLD, 0.31 in NEW" in r.stderr and r.stdout == b"", r)
run("other.h5", suite="yardstick.toml", only="*/s0")
r = science("old.h5", "other.h5")
check("another suite: 12", r.returncode == 12 and b'OLD is of suite "smoke", NEW of "yardstick"' in r.stderr, r)
run("elsewhere.h5", only="whole/*")
r = science("old.h5", "elsewhere.h5")
check("no run in common: 12", r.returncode == 12 and b"no run in common" in r.stderr, r)

# runs of one file alone, and how a table is shown, which changes no run
run("more.h5", "--set", "suite.seeds=3", "--set", "table.baseline=maxrl", only="small/*/tabular/maxrl/*")
r = science("old.h5", "more.h5")
text = r.stdout.decode()
check("equal runs of other lists: same, with the runs that are left out", r.returncode == 0 and "6 cells: 6 same (exit 0)" in text and "only in OLD: 36 runs" in text
      and "only in NEW: 6 runs" in text, text)
r = science("old.h5", "more.h5", "--junit", "s.xml", "--markdown", "s.md", environment={"GITHUB_ACTIONS": "true"})
root = xml.parse("s.xml").getroot()
check("JUnit: cells, and the runs left out as skipped", root.get("failures") == "0" and len(root.findall(".//testcase/skipped")) == 17, open("s.xml").read())
check("Markdown: a row a cell, no figure", open("s.md").read().count("| same |") == 6 and not os.path.exists("s.svg"), open("s.md").read())
check("no annotation where nothing fails", r.stderr == b"", r.stderr)

# files that are none
for arguments, code, says in ((["old.h5"], 2, "there are 1"), (["old.h5", "copy.h5", "seed.h5"], 2, "there are 3"), ([], 2, "there are 0"),
                              (["old.h5", "missing.h5"], 5, "missing.h5"), (["old.h5", os.path.join(suites, "smoke.toml")], 8, "smoke.toml"),
                              (["old.h5", "copy.h5", "--margin", "regret=1"], 2, "does not begin with"), (["old.h5", "copy.h5", "--margin", "gain=x"], 2, "share"),
                              (["old.h5", "copy.h5", "--margin", "quality=2%"], 2, "levels"), (["old.h5", "copy.h5", "--margin", "gain=-1%"], 2, "above 0"),
                              (["old.h5", "copy.h5", "--fail-on", "slower"], 2, "unknown word"), (["old.h5", "copy.h5", "--kind", "self"], 2, "no effect"),
                              (["old.h5", "copy.h5", "--counts", "off"], 2, "no effect"), (["old.h5", "copy.h5", "--self-test"], 2, "gate of its own"),
                              (["old.h5", "copy.h5", "--junit", "no/x.xml"], 5, "no/x.xml")):
    r = science(*arguments)
    check(f"{arguments}: {code}", r.returncode == code and says in r.stderr.decode() and r.stdout == b"", r)
checks.call("gate", "old.h5", "copy.h5", code=2, words="--science compares two")
checks.call("gate", "--margin", "gain=1%", code=2, words="no effect without --science")
with open("old.h5", "rb") as file:
    data = file.read()
open("damaged.h5", "wb").write(data[:len(data) // 2])
r = science("old.h5", "damaged.h5")
check("a damaged file: 8", r.returncode == 8 and b"damaged.h5" in r.stderr, r)
checks.finish()
