#!/usr/bin/env python3
# Values of levels as a user meets them: explain, compute, theory, suites and training, against arithmetic of its own.
# Usage: level_values_test.py PROGRAM; exit status 77 = skipped, because h5py is missing.
import json, subprocess, sys

from checks import call, check, finish, flowed, near, program, suite
from reference import advantages, texts

try:
    import h5py
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

VALUES = [1, 2, 12]
SCORES = [1, 2, 2, 3]


# --- explain
answer = json.loads(call("explain", "--rewards", "1,2,2,3", "--values", "1,2,12", "--compat", "paper", "--json"))
check(answer["values"] == VALUES and answer["levels"] == 3, f"explain --json: {answer['values']}, {answer['levels']}")
found = {e["estimator"]: e["conventions"][0] for e in answer["estimators"]}
for word in ("grpo", "maxrl", "odrpo(grpo)", "odrpo(maxrl)"):
    near(found[word]["advantages"], advantages(word, SCORES, VALUES), f"explain {word}", 1e-10)
check([p["gap"] for p in found["odrpo(grpo)"]["levels"]] == [1, 1, 10], "explain: Delta_k")
check("R = 1, 2, 12" in found["grpo"]["formula"] and "Delta_k" in found["odrpo(grpo)"]["formula"], "explain: formulas")
text = call("explain", "--rewards", "1,2,2,3", "--values", "1,2,12", "--estimator", "odrpo(grpo)", "--compat", "paper")
check("Delta_k" in text and "3 -> 12" in text and max(map(len, text.splitlines())) <= 80, f"explain: {text}")
call("explain", "--rewards", "1,4", "--values", "1,2,12", code=2, words="largest reward is the level 4")
call("explain", "--rewards", "1,2", "--values", "1,1", code=2, words="ascend")
call("explain", "--rewards", "1,2", "--values", "1,2", "--levels", "3", code=2, words="2 values")
call("explain", "--rewards", "1,2", "--values", "1,5", "--estimator", "rank-grpo", code=2, words="--values")

# --- compute
questions = [
    ("advantage", {"rewards": SCORES, "est": "grpo", "eps": 0, "ddof": 0, "values": VALUES}, advantages("grpo", SCORES, VALUES)),
    ("advantage", {"rewards": [0, 1.5, 2.25, 3], "est": "grpo", "eps": 0, "ddof": 0, "values": [2, 3, 13]},
     advantages("grpo", [0, 1.5, 2.25, 3], [2, 3, 13])),
    ("advantage", {"rewards": SCORES, "est": "maxrl", "eps": 0, "ddof": 0, "values": VALUES, "origin": 0},
     advantages("maxrl", SCORES, [0, 1, 11])),
    ("odrpo", {"rewards": SCORES, "K": 3, "norm": "grpo", "weights": "gini", "eps": 0, "median_rule": "lower", "median_value": None,
               "values": VALUES}, advantages("odrpo-gini(grpo)", SCORES, VALUES)),
    ("odrpo_continuous", {"rewards": SCORES, "norm": "maxrl", "weights": "uniform", "eps": 0, "median_rule": "lower",
                          "median_value": None, "values": VALUES}, advantages("odrpo(maxrl)", SCORES, VALUES)),
    # all levels cost the same: the scores are their own values, and a failure stands one level lower
    ("odrpo", {"rewards": [0, 1, 3], "K": 3, "norm": "grpo", "weights": "uniform", "eps": 0, "median_rule": "lower", "median_value": None,
               "values": [0.5, 1, 1.5]}, advantages("odrpo(grpo)", [0, 1, 3], [0.5, 1, 1.5])),
]
asked = "".join(json.dumps({"id": i, "fn": fn, "args": args}) + "\n" for i, (fn, args, _) in enumerate(questions))
told = subprocess.run([program, "compute"], input=asked, capture_output=True, text=True)
for line, (fn, _, wanted) in zip(told.stdout.splitlines(), questions, strict=True):
    near(json.loads(line).get("out") or [], wanted, f"compute {fn}: {line}", 1e-10)
refused = [{"rewards": [1, 4], "est": "grpo", "eps": 0, "ddof": 0, "values": VALUES}, {"rewards": [1, 2], "est": "rank-grpo", "eps": 0, "ddof": 0, "values": VALUES},
           {"rewards": [1, 2], "est": "grpo", "eps": 0, "ddof": 0, "values": [3, 2]}]
told = subprocess.run([program, "compute"], input="".join(json.dumps({"id": 0, "fn": "advantage", "args": a}) + "\n" for a in refused),
                      capture_output=True, text=True)
for line, args in zip(told.stdout.splitlines(), refused, strict=True):
    check("error" in json.loads(line), f"compute takes {args}: {line}")

# --- theory says the values in its formulas
text = call("theory", "field", "--p", ".2,.3,.5", "--values", "1,2,12", "--estimator", "odrpo(grpo)")
check("R = 1, 2, 12" in text, f"theory field: {text}")

# --- training: spacings as variants; 1..10 written out is the run without values
suite("spaced", """[rater.mode]
base = "veto"
[rater.mean]
base = "veto"
aggregate = "mean"
parse_failure = 0.1
parse_policy = "zero"
[estimator.written]
base = "grpo"
values = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
[estimator.tops]
base = "grpo"
values = [1, 2, 3, 4, 5, 6, 7, 8, 20, 40]
[estimator.odrpo-tops]
base = "odrpo(maxrl)"
values = [1, 2, 3, 4, 5, 6, 7, 8, 20, 40]
""", seeds=2, rater='["mode", "mean"]', policy='"tabular"', estimator='["grpo", "written", "tops", "odrpo(maxrl)", "odrpo-tops"]', votes=4, prompts=32,
      actions=12, steps="200\nlr = 0.1", batch=16)
call("run", "spaced.toml", "--jobs", "2")
shown = flowed(call("table", "spaced.h5", "--legend", "full"))
check("R = 1, 2, 3, 4, 5, 6, 7, 8, 20, 40" in shown and "Delta_k" in shown, f"the table does not say the values: {shown}")
with h5py.File("spaced.h5") as f:
    final = dict(zip(zip(texts(f, "rater"), texts(f, "estimator"), f["seed"][:]), f["final_quality"][:]))
for rater in ("mode", "mean"):
    for seed in (0, 1):
        check(final[rater, "written", seed] == final[rater, "grpo", seed], f"1..10 written out is another run: {rater} {seed}")
        check(final[rater, "tops", seed] != final[rater, "grpo", seed], f"values without effect on grpo: {rater} {seed}")
        check(final[rater, "odrpo-tops", seed] != final[rater, "odrpo(maxrl)", seed], f"values without effect on odrpo: {rater} {seed}")
text = call("run", "spaced.toml", "--jobs", "1", "-o", "again.h5")
check(call("verify", "again.h5") and call("diff", "spaced.h5", "again.h5", "--json") is not None, "runs by one worker")

# --- on the toy language model
suite("texts", """[estimator.tops]
base = "grpo"
values = [1, 2, 3, 4, 5, 6, 7, 8, 20, 40]
[policy.transformer]
warm_steps = 2
""", seeds=1, env='"toy-lm"', policy='"transformer"', estimator='["grpo", "tops"]', votes=1, steps="2\nrollouts = 4", batch=4)
call("run", "texts.toml")

# --- suites that are refused, at the place
HEAD = '[suite]\nname = "bad"\n[grid]\nestimator = "e"\n'
cases = [
    ('[estimator.e]\nbase = "grpo"\nvalues = [1, 2, 12]\n', "7:10", "3 values, and the scores of rater mixed in env bandit have 10 levels"),
    ('[estimator.e]\nbase = "grpo"\nvalues = [1, 3, 2]\n', "7:17", "2 stands after 3"),
    ('[estimator.e]\nbase = "grpo"\nvalues = [1, 1]\n', "7:14", "1 stands after 1"),
    ('[estimator.e]\nbase = "grpo"\nvalues = []\n', "7:10", "not an empty list"),
    ('[estimator.e]\nbase = "grpo"\nvalues = [1]\n', "7:10", "two levels at least"),
    ('[estimator.e]\nbase = "grpo"\nvalues = 3\n', "7:10", "must be a list of numbers, not 3"),
    ('[estimator.e]\nbase = "grpo"\nvalues = [1, inf]\n', "7:14", "which is no number of"),
    ('[estimator.e]\nbase = "grpo"\nvalues = [1, nan]\n', "7:14", "which is no number of"),
    ('[estimator.e]\nbase = "grpo"\nvalues = [[1, 2], [1, 3]]\n', "7:11", "has a list, which is no number"),
    ('[estimator.e]\nbase = "rank-grpo"\nvalues = [1, 2, 3, 4, 5, 6, 7, 8, 9, 19]\n', "7:1", "`values` has no effect on rank-grpo"),
    ('rater = "r"\n[rater.r]\nbase = "mixed"\nparse_failure = 0.1\nparse_policy = ["drop", "zero"]\n[estimator.e]\nbase = "grpo"\n'
     'values = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n', "12:10", "a failure would not be worth less"),
]
for lines, place, words in cases:
    with open("bad.toml", "w") as file:
        file.write(HEAD + lines)
    ran = subprocess.run([program, "check", "bad.toml"], capture_output=True, text=True)
    check(ran.returncode == 3 and f"bad.toml:{place}: error: " in ran.stderr and words in flowed(ran.stderr),
          f"{lines!r}: exit {ran.returncode}: {ran.stderr}")
finish()
