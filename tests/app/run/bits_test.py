#!/usr/bin/env python3
# odrpo-bitwise as a user meets it: catalogue, explain, compute, theory, training, and suites that are refused; arithmetic of its own.
# Usage: bits_test.py PROGRAM; exit status 77 = skipped, because h5py is missing.
import json, math, subprocess, sys

from checks import call, check, finish, flowed, near, program, suite
from reference import advantages, log_objective, mean, texts

try:
    import h5py
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

SCORES = [3, 7, 7, 9]  # r - 1 = 0010, 0110, 0110, 1000


listed = json.loads(call("list", "estimators", "--json"))
words = [e["word"] for e in listed["estimators"]["entries"]] if "estimators" in listed else []
check({"odrpo-bitwise(grpo)", "odrpo-bitwise(maxrl)"} <= set(words) or not words, f"list estimators: {words}")
check("odrpo-bitwise(maxrl)" in call("list", "estimators"), "list estimators lacks odrpo-bitwise(maxrl)")

# --- explain, by bit and under conventions
answer = json.loads(call("explain", "--rewards", "3,7,7,9", "--estimator", "odrpo-bitwise(grpo)", "--estimator", "odrpo-bitwise(maxrl)", "--json"))
rows = {e["estimator"]: {s: c for c in e["conventions"] for s in c["compat"]} for e in answer["estimators"]}
for norm, system in (("grpo", "paper"), ("maxrl", "paper"), ("grpo", "verl"), ("maxrl", "maxrl-reference")):
    word = f"odrpo-bitwise({norm})"
    near(rows[word][system]["advantages"], advantages(word, SCORES, system=system), f"explain, norm {norm}, {system}", 1e-10)
parts = rows["odrpo-bitwise(grpo)"]["paper"]["bits"]
check([p["bit"] for p in parts] == [0, 1, 2, 3] and [p["count"] for p in parts] == [0, 3, 2, 1], f"explain: bits {parts}")
check([p["weight"] for p in parts] == [0, 2, 4, 8], f"explain: weights {parts}")
text = call("explain", "--rewards", "3,7,7,9", "--estimator", "odrpo-bitwise(grpo)", "--compat", "paper")
check("bit of r - 1" in text and max(map(len, text.splitlines())) <= 80, f"explain: {text}")
call("explain", "--rewards", "3,7.5", "--estimator", "odrpo-bitwise(grpo)", code=2, words="whole scores")

# --- compute
ask = lambda rewards, **more: {"id": 0, "fn": "advantage", "args": {"rewards": rewards, "est": "odrpo-bitwise(grpo)", "eps": 0, "ddof": 0, **more}}
told = subprocess.run([program, "compute"], input="".join(json.dumps(q) + "\n" for q in [ask([0, 4, 5, 5]), ask([1, 2.5]), ask([1, 2], values=[1, 3])]),
                      capture_output=True, text=True).stdout.splitlines()
near(json.loads(told[0])["out"], advantages("odrpo-bitwise(grpo)", [0, 4, 5, 5]), "compute", 1e-10)
check("whole scores" in told[1] and "values" in told[2] and "error" in told[2], f"compute takes what has no bits: {told[1:]}")

# --- theory: no curl; the objective is the sum of 2^b H(Q_b)
curl = json.loads(call("theory", "curl", "--levels", "3..6", "--group-size", "5", "--estimator", "odrpo-bitwise(grpo)", "--json"))["rows"]
check(all(r["mac_all"] < 1e-12 for r in curl), f"theory curl: {curl}")
p = [0.1, 0.2, 0.3, 0.4]
[row] = json.loads(call("theory", "objective", "--p", ".1,.2,.3,.4", "--estimator", "odrpo-bitwise(maxrl)", "--json"))["rows"]
near(row["objective"], log_objective(0.6, 8) + 2 * log_objective(0.7, 8), "theory objective", 1e-10)
near(row["limit"], math.log(0.6) + 2 * math.log(0.7), "theory objective, limit", 1e-10)
call("theory", "leverage", "--group", "1,4,5,5,9", "--estimator", "odrpo-bitwise(grpo)")
call("theory", "field", "--p", ".2,.3,.5", "--values", "1,2,12", "--estimator", "odrpo-bitwise(grpo)", code=4, words="bits")

# --- training
suite("bits", """[rater.mode]
base = "veto"
[rater.drops]
base = "veto"
aggregate = "median"
parse_failure = 0.3
parse_policy = "drop"
[rater.zeros]
base = "veto"
parse_failure = 0.3
parse_policy = "zero"
[estimator.verl]
base = "odrpo-bitwise(grpo)"
compat = "verl"
""", seeds=2, rater='["mode", "drops", "zeros"]', policy='"tabular"', estimator='["odrpo(grpo)", "odrpo-bitwise(grpo)", "odrpo-bitwise(maxrl)", "verl"]',
      votes="[1, 4]", prompts=32, actions=12, steps="200\nlr = 0.1", batch=16, baseline='"odrpo(grpo)"')
call("run", "bits.toml", "--jobs", "2")
shown = flowed(call("table", "bits.h5", "--legend", "full"))
check("2^b (bit_b(r-1) - mu_b)" in shown, f"the table lacks the formula: {shown}")
with h5py.File("bits.h5") as f:
    names = texts(f, "estimator")
    check(all(g == g for g in f["final_gain"][:]), "a run failed")
    mean = {name: mean([g for g, n in zip(f["final_gain"][:], names) if n == name]) for name in set(names)}
check(mean["odrpo-bitwise(grpo)"] > 0, f"odrpo-bitwise(grpo) learns nothing: {mean}")
call("run", "bits.toml", "--jobs", "1", "-o", "again.h5")

# --- what has no bits is refused, at the place
HEAD = '[suite]\nname = "bad"\n[grid]\nestimator = "e"\nvotes = 4\nrater = "r"\n[rater.r]\nbase = "mixed"\n'
cases = [
    ('aggregate = "mean"\n[estimator.e]\nbase = "odrpo-bitwise(grpo)"\n', "9:1", "writes whole scores in bits"),
    ('aggregate = ["mode", "expected"]\n[estimator.e]\nbase = "odrpo-bitwise(grpo)"\n', "9:1", '"expected" here'),
    ('aggregate = "fraction"\n[estimator.e]\nbase = "odrpo-bitwise(grpo)"\n', "9:1", "has no levels that a share of the votes could reach"),
    ('[estimator.e]\nbase = "odrpo-bitwise(maxrl)"\nvalues = [1, 2, 3, 4, 5, 6, 7, 8, 9, 19]\n', "11:1",
     "`values` has no effect on odrpo-bitwise(maxrl)"),
]
for lines, place, wanted in cases:
    with open("bad.toml", "w") as file:
        file.write(HEAD + lines)
    ran = subprocess.run([program, "check", "bad.toml"], capture_output=True, text=True)
    check(ran.returncode == 3 and f"bad.toml:{place}: error: " in ran.stderr and wanted in flowed(ran.stderr),
          f"{lines!r}: exit {ran.returncode}: {ran.stderr}")
finish()
