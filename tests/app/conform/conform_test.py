#!/usr/bin/env python3
"""`conform` against programs of its own: estimators by the book conform, planted mistakes do not and are named; exported modules conform; the expected gradient.

Usage: conform_test.py PROGRAM MUTANTS.py
"""
import itertools, json, math, shlex, subprocess, sys, xml.etree.ElementTree as xml
from concurrent.futures import ThreadPoolExecutor

import checks
from checks import call, check, finish, near, paths, program

mutants = paths[0]


def command(name):
    return shlex.join([sys.executable, mutants, name])


def conform(how, *arguments):
    ran = subprocess.run([program, "conform", "--command", how, *arguments, "--json"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    check(ran.returncode in (0, 10) and not ran.stderr, f"{how} {arguments}: exit {ran.returncode}: {ran.stderr}")
    found = json.loads(ran.stdout)
    check(found["conforms"] == (ran.returncode == 0), f"{how}: exit code")
    return found


# --- what a mistake is called: a part of a cause
NAMED = {
    "grpo-ddof-0": "ddof 0, not 1", "grpo-ddof-1": "ddof 1, not 0", "grpo-eps-trl": "eps 0.0001 added, not 1e-06", "grpo-eps-large": "eps 0.01 added, not 0.0001",
    "grpo-eps-in-root": "eps 0.0001 inside the root", "grpo-one-in-root": "eps 1 inside the root", "grpo-floor": "a deviation of at least 0.5", "grpo-variance": "divided by the variance of the group",
    "grpo-mean-distance": "divided by the mean distance from the mean", "grpo-deviation-of-others": "divided by the standard deviation of the other members",
    "nemo-group-deviation": "divided by the standard deviation of the group", "nemo-float-moments": "close scores get other advantages", "grpo-no-deviation": "divided by nothing",
    "grpo-mean-of-others": "the mean of the other members is subtracted", "nemo-group-mean": "the mean of the group is subtracted, not the mean of the other members",
    "rloo-group-mean": "the mean of the group is subtracted, not", "reinforce-mean-of-others": "the mean of the other members is subtracted", "grpo-no-centre": "nothing is subtracted",
    "grpo-median": "the group's lower median is subtracted", "reinforce-best": "the best score of the group is subtracted", "grpo-batch-mean": "the mean of the batch is subtracted",
    "grpo-batch-deviation": "divided by the standard deviation of the batch", "grpo-own-group": "every member is compared with itself alone", "grpo-merged": "groups with the same prompt are taken for one",
    "grpo-across-prompts": "depend on the other groups", "grpo-in-order-of-score": "depend on the order of members", "grpo-next-row": "depend on the order of groups",
    "grpo-constant-nan": "no answer to equal scores", "grpo-constant-noise": "groups of equal reals get", "grpo-constant-huge": "groups of equal reals get", "grpo-constant-reward": "groups of equal scores get",
    "grpo-single-zero": "a group of one gets 0, not r", "grpo-single-reward": "a group of one gets r, not 0", "grpo-single-nan": "no answer to groups of one", "maxrl-single-zero": "a group of one gets 0, not r",
    "grpo-missing-zero": "a missing score counts as 0", "reinforce-missing-lowest": "a missing score counts as 1", "odrpo-missing-zero": "a missing score counts as 0",
    "grpo-partial-zero": "a group with a missing score gets zeros", "grpo-missing-in-size": "groups with missing scores", "grpo-clipped": "clipped to -1.5..1.5", "odrpo-clipped": "clipped to -5..5",
    "grpo-sign": "the opposite sign", "grpo-double": "multiplied by 2", "maxrl-times-size": "multiplied by G", "grpo-bfloat16": "the answers are rounded", "grpo-kalman": "depend on the order of members",
    "corpo-mean": "groups of equal scores get 0, not -", "gopo-by-position": "depend on the order of members", "arena-ddof-0": "ddof 0, not 1", "dgae-eps": "eps 0.01, not 0.0001", "qae-median": "kappa 0.5, not 0.4", "passk-ddof-0": "ddof 0, not 1",
    "rank-gopo": "depend on the order of members", "reinforce-running-baseline": "the program remembers", "grpo-running-deviation": "the program remembers",
    "rank-by-position": "of equal scores the earlier one ranks higher", "rank-lowest": "share their lowest rank", "rank-highest": "share their highest rank", "rank-dense": "ranks count different scores alone",
    "rank-ddof-1": "ddof 1, not 0", "maxrl-origin": "scores 0..K-1, not 1..K", "maxrl-deviation": "divided by the standard deviation", "maxrl-eps": "eps 0.01, not 1e-06",
    "odrpo-strict": "reached by scores above it", "odrpo-no-top": "the top level is left out", "odrpo-upper-median": "the upper median", "odrpo-mid-median": "the mid median",
    "odrpo-no-weight": "the weight uniform, not gini", "odrpo-weight-squared": "the square of each weight", "odrpo-variance": "divided by the variance", "odrpo-mean-of-others": "the mean of the other members",
    "odrpo-eps": "eps 0.01 added", "odrpo-mean-over-levels": "multiplied by 0.1", "whiten-per-response": "whitened over responses, not over tokens", "whiten-missing": "the batch is not whitened",
    "whiten-per-token": "whitened over tokens, not over responses", "whiten-ddof-1": "whitened with ddof 1", "whiten-ddof-0": "whitened with ddof 0", "whiten-no-eps": "whitened with eps 0",
    "whiten-eps": "whitened with a deviation of at least 1",
}
rows = json.loads(subprocess.run([sys.executable, mutants, "--list"], capture_output=True, text=True, check=True).stdout)
check({row["name"] for row in rows} >= NAMED.keys(), "every named mistake is there")
check(len(rows) > 140, "mutants and estimators by the book")


def try_row(row):
    found = conform(command(row["name"]), "--as", row["as"], *(["--whitened"] if row["whiten"] else []))
    if not row["broken"]:
        check(found["conforms"], f"{row['name']} is {row['as']}: {found['causes']}")
    else:
        check(not found["conforms"], f"{row['name']} ({row['broken']}) conforms to {row['as']}")
        check(any(NAMED.get(row["name"], "") in cause for cause in found["causes"]), f"{row['name']} ({row['broken']}): {found['causes']}")
    return found


with ThreadPoolExecutor(2) as pool:
    found = dict(zip((row["name"] for row in rows), pool.map(try_row, rows)))

# --- any word: estimators by the book are found; so are mistakes
for name, word in (("grpo-verl", "grpo:verl"), ("odrpo-gini-median-grpo-paper", "odrpo-gini-median(grpo):paper"), ("reinforce-verl-whitened", "reinforce:verl --whitened"), ("max-at-2-paper", "max-at-k:paper")):
    any_word = conform(command(name), "--as", "any")
    check(any_word["conforms"] and word in any_word["same_as"], f"{name}: {any_word['same_as']}")
for name, word in (("grpo-eps-in-root", "grpo:trl"), ("odrpo-upper-median", "odrpo-gini-median(grpo):paper"), ("rank-lowest", "rank-grpo:paper"), ("whiten-ddof-0", "odrpo(grpo):trl --whitened"), ("grpo-sign", "grpo:paper")):
    any_word = conform(command(name), "--as", "any")
    check(any_word["as"] == word and any(NAMED[name] in cause for cause in any_word["causes"]), f"{name}: {any_word['as']}: {any_word['causes']}")
check(found["maxrl-deviation"]["same_as"] == ["grpo:verl", "grpo:skyrl"], "what it is instead")

# --- the expected gradient: a sum over all qualities and scores of a group
right, wrong = found["grpo-verl"]["gradients"], found["grpo-deviation-of-others"]["gradients"]
check([(g["judge"], g["policy"]) for g in right] == [(g["judge"], g["policy"]) for g in wrong] and len(right) == 6, "judges and policies")
levels = range(5)


def grpo(scores):
    mean = sum(scores) / 4
    deviation = math.sqrt(sum((s - mean) ** 2 for s in scores) / 3)
    return [(s - mean) / (deviation + 1e-6) for s in scores]


def brute(p, channel):
    gradient = [0.0] * 5
    for scores in itertools.product(levels, repeat=4):
        advantages = grpo(scores)
        seen = [sum(p[q] * channel[q][s] for q in levels) for s in scores]
        weight = math.prod(seen) / 4
        for i, s in enumerate(scores):
            for q in levels:
                gradient[q] += weight * advantages[i] * (p[q] * channel[q][s] / seen[i] - p[q])
    return gradient


policies = {"even": [0.2] * 5, "mostly low": [2.0**-j / (2 - 2.0**-4) for j in levels]}
channels = {"exact": [[float(q == s) for s in levels] for q in levels], "30 % of the scores random": [[0.7 * (q == s) + 0.06 for s in levels] for q in levels],
            "half the scores a level higher": [[0.5 * (q == s) + 0.5 * (min(q + 1, 4) == s) for s in levels] for q in levels]}
for g, other in zip(right, wrong):
    want = brute(policies[g["policy"]], channels[g["judge"]])
    near(g["expected"], want, f"expected gradient, {g['judge']}, {g['policy']}", 1e-9)
    near(g["answered"], want, f"gradient of the answers, {g['judge']}, {g['policy']}", 1e-9)
    check(g["difference"] < 1e-9 and other["difference"] > 0.05 and abs(other["expected"][0] - want[0]) < 1e-9, "difference")

# --- JUnit: a case for each check
call("conform", "--command", command("grpo-single-zero"), "--as", "grpo:verl", "--junit", "report.xml", code=10)
report = xml.parse("report.xml").getroot().find("testsuite")
failed = [case.get("name") for case in report.findall("testcase") if case.find("failure") is not None]
check(failed == ["groups of one", "missing scores", "mixed batch"] and report.get("tests") == str(len(found["grpo-verl"]["checks"])), f"JUnit: {failed}")

texts = [e.get("message") for e in report.iter("failure")]
check(texts[0] == "10 of 11 groups differ: a group of one gets 0, not r" and not any(t.endswith(": ") for t in texts), f"JUnit: {texts}")

# --- keys of the word are part of its name; a wrong program is shown under any of them
for keys, word in ((["--ddof", "1"], "grpo:paper --ddof 1"), (["--eps", "0.5"], "grpo:paper --eps 0.5"), (["--values", "1,2,4,8,16"], "grpo:paper --values 1,2,4,8,16")):
    other = conform(command("grpo-paper"), "--as", "grpo", *keys)
    check(other["as"] == word and not other["conforms"] and ("--values" in keys or other["same_as"] == ["grpo:paper"]), f"{keys}: {other['as']}, {other['same_as']}")
    text = call("conform", "--command", command("grpo-paper"), "--as", "grpo", *keys, code=10)
    check("A group that differs" in text, text)
call("conform", "--command", command("grpo-paper"), "--as", "max-at-k", "--k", "3", code=10)
zero = "import json, sys\nfor line in sys.stdin:\n    r = json.loads(line)\n    print(json.dumps({'id': r['id'], 'advantages': [[0] * len(row) for row in r.get('scores', [])]}), flush=True)\n"
with open("zero.py", "w") as file:
    file.write(zero)
nothing = conform(shlex.join([sys.executable, "zero.py"]), "--as", "grpo")
check(nothing["causes"] == ["all advantages are 0"] and nothing["gradients"][0]["cosine"] is None, nothing["causes"])
check(" - " in call("conform", "--command", shlex.join([sys.executable, "zero.py"]), "--as", "grpo", code=10).replace("       -", " - "), "no cosine of a gradient of 0")

# --- programs that do not answer, or no longer
with open("hangs.py", "w") as file:
    file.write(zero.replace("print(", "r.get('step', 0) < 3 or sys.stdin.read()\n    print("))
hangs = conform(shlex.join([sys.executable, "hangs.py"]), "--as", "grpo", "--deadline", "0.5")
check(sum("not asked" in c.get("failure", "") for c in hangs["checks"]) > 10, f"a program that hangs is not asked on: {hangs['causes']}")
for name, source, words in (("silent", "import time; time.sleep(60)", "after 1 s"), ("dead", "raise SystemExit(3)", "exit code 3"), ("talks", "print('hello', flush=True)\ninput()", "no JSON")):
    with open(f"{name}.py", "w") as file:
        file.write(source)
    call("conform", "--command", shlex.join([sys.executable, f"{name}.py"]), "--as", "grpo", "--deadline", "1", code=7, words=words)

# --- every form under every convention, as `export-estimator` writes it
try:
    import numpy  # noqa: F401
except ImportError:
    print("not here, so not tried: numpy")
else:
    catalogue = [e["word"] for e in json.loads(call("list", "estimators", "--json"))["estimators"]["entries"] if not e["word"].startswith(("posterior", "corrected"))]
    systems = [e["word"] for e in json.loads(call("list", "compat", "--json"))["compat"]["entries"]]

    def try_export(pair):
        word, system = pair
        file = f"{word}_{system}.py"
        if subprocess.run([program, "export-estimator", "--estimator", word, "--compat", system, "-o", file], capture_output=True).returncode == 2:
            return 0
        exported = conform(shlex.join([sys.executable, file]), "--as", f"{word}:{system}")
        check(exported["conforms"], f"{word}:{system} exported: {exported['causes']}")
        return 1

    with ThreadPoolExecutor(2) as pool:
        exports = sum(pool.map(try_export, itertools.product(catalogue, systems)))
    check(exports > 60, f"{exports} exported modules")
    print(f"{exports} exported modules")

finish()
