"""`odrpo-bench gate FILE.h5` as a user starts it: limits of [gate], stored in a result file or given by --suite.

Usage: limits_test.py PROGRAM SUITES"""
import json, os, re
import xml.etree.ElementTree as xml

import checks
from checks import checked as check, gate, near
from reference import mean, table_of

suites = checks.paths[0]


def suite(name, limits):
    text = f'[suite]\nname = "{name}"\nseeds = 5\n[grid]\nestimator = ["grpo", "odrpo(grpo)"]\nvotes = [1, 8]\n[learn]\nsteps = 20\nbatch = 16\n{limits}'
    open(name + ".toml", "w").write(text)
    return name + ".toml"


limits = """[gate]
step_time = [{ row = "odrpo(grpo)", over = "grpo", at_most = 100 }, { axis = "votes", row = 8, over = 1, at_most = 1e-3 }]
quality = [{ row = "grpo", at_least = 1, where = "votes=8" }, { row = "grpo", at_most = 1.5 }]
gain = [{ row = "odrpo(grpo)", over = "grpo", at_least = -0.017, at_most = 1 }]
"""
checks.call("run", suite("judged", limits), "-q", "-o", "judged.h5")
checks.call("run", suite("free", ""), "-q", "-o", "free.h5")
r = gate("judged.h5", "--junit", "l.xml", "--markdown", "l.md", environment={"GITHUB_ACTIONS": "true"})
text = r.stdout.decode()
check("limits: two fail, worst first, exit 10", r.returncode == 10 and re.search(r"^5 limits: 2 fail, 1 inconclusive, 2 pass \(exit 10\)$", text, re.M), text)
check("80 columns", all(len(line) <= 80 for line in text.splitlines()), text)
check("an error each for what fails, a warning for the rest", r.stderr.count(b"::error title=gate%3A ") == 2, r.stderr)
check("JUnit: two failures of five", xml.parse("l.xml").getroot().get("failures") == "2" and xml.parse("l.xml").getroot().get("tests") == "5", open("l.xml").read())
check("Markdown: a row a limit", open("l.md").read().count("\n| ") == 6 and "**fail**" in open("l.md").read(), open("l.md").read())
j = json.loads(gate("judged.h5", "--json").stdout)
by_name = {x["limit"]: x for x in j["limits"]}
times = by_name["step_time votes 8 / 1 <= 0.001"]
check("JSON: numbers and intervals", times["verdict"] == "fail" and times["lo"] < times["measured"] < times["hi"] and times["seeds"] == 5 and times["cells"] == 2, j)
check("--fail-on nothing", gate("judged.h5", "--fail-on", "nothing").returncode == 0)
check("--fail-on inconclusive: 11", gate("judged.h5", "--fail-on", "inconclusive").returncode == 11)

# means by the program's own export
quality = [float(x["final_quality"]) for x in table_of(checks.call("export", "judged.h5")) if x["estimator"] == "grpo" and x["votes"] == "8"]
near(by_name["quality grpo >= 1 (votes=8)"]["measured"], mean(quality), "a mean is that of the runs")

# limits of another suite file; none
other = suite("other", '[gate]\nquality = [{ row = "grpo", at_least = 9.9 }]\n')
r = gate("judged.h5", "--suite", other)
check("--suite: its limits instead", r.returncode == 10 and b"1 limit: 1 fail (exit 10)" in r.stdout and b"other.toml" in r.stdout, r)
r = gate("free.h5")
check("no limits: 12", r.returncode == 12 and b"its suite sets no limits in [gate]" in r.stderr and r.stdout == b"", r)
digest = {name: json.loads(checks.call("verify", name, "--json"))[0]["computed"] for name in ("judged.h5", "free.h5")}
check("limits change no run", digest["judged.h5"] == digest["free.h5"] != "", digest)
for arguments, code, says in ((["judged.h5", "--suite", "missing.toml"], 5, "missing.toml"), (["judged.h5", "--suite", suite("bad", "[gate]\nquality = 3\n")], 3, "bad.toml:11:11"),
                              (["missing.h5"], 5, "missing.h5"), (["judged.h5", "free.h5"], 2, "--science compares two"), (["judged.h5", "--kind", "self"], 2, "no effect"),
                              (["judged.h5", "--fail-on", "moved"], 2, "unknown word"), (["judged.h5", "--limit", "2%"], 2, "no effect"), (["judged.h5", "--trials", "3"], 2, "self-test")):
    r = gate(*arguments)
    check(f"{arguments}: {code}", r.returncode == code and says in r.stderr.decode() and r.stdout == b"", r)

# our own limits: they are measured, all of them
checks.call("run", os.path.join(suites, "gate.toml"), "-q", "--set", "suite.seeds=3", "--set", "learn.steps=20", "-o", "own.h5")
j = json.loads(gate("own.h5", "--json", "--fail-on", "nothing").stdout)
check("suites/gate.toml: every limit is measured", len(j["limits"]) >= 4 and all(x["measured"] is not None for x in j["limits"]), j)
checks.finish()
