#!/usr/bin/env python3
# Weights and norms written as formulas, as a user meets them: compute against Python's own evaluation of the same text and of the Paper's
# Gini-Median formula, explain, theory, figures, training, and result files read back.
# Usage: level_formulas_test.py PROGRAM; exit status 77 = skipped, because h5py is missing.
import json, math, random, subprocess, sys

from checks import call, check, digest, finish, flowed, near, program, suite
from reference import texts

try:
    import h5py
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

GINI = "sqrt(k)*(0.1 + 4*mu*(1 - mu))"
GINI_MEDIAN = "sqrt(k) * (0.1 + 4*mu*(1-mu) * exp(-max(med-k, 0)/2))"
rng = random.Random(20261127)


def advantages(scores, weight, norm, levels):
    """A_i = sum over levels of w_k (1[r_i >= k] - mu_k) / N_k of whole scores that are there; `weight` and `norm` are functions of a level."""
    there = [r for r in scores if r is not None]
    size = len(there)
    med = sorted(there)[(size - 1) // 2] if there else None
    total = {r: 0.0 for r in there}
    for k in range(1, levels + 1):
        count = sum(r >= k for r in there)
        if count in (0, size):
            continue
        point = dict(k=k, mu=count / size, med=med, G=size, K=levels)
        for r in total:
            total[r] += weight(point) * ((r >= k) - count / size) / norm(point)
    return [0.0 if r is None else total[r] for r in scores]


def of_text(text):
    names = {"sqrt": math.sqrt, "exp": math.exp, "log": math.log, "abs": abs, "min": min, "max": max}
    code = compile(text.replace("^", "**"), text, "eval")
    return lambda point: eval(code, {"__builtins__": {}}, {**names, **point})


def gini_median(p):
    """The Paper's weight, written anew."""
    return math.sqrt(p["k"]) * (0.1 + 4 * p["mu"] * (1 - p["mu"]) * math.exp(-max(p["med"] - p["k"], 0) / 2))


def compute(requests):
    asked = "".join(json.dumps({"id": i, "fn": "advantage", "args": args}) + "\n" for i, args in enumerate(requests))
    lines = subprocess.run([program, "compute"], input=asked, capture_output=True, text=True).stdout.splitlines()
    check(len(lines) == len(requests), f"{len(lines)} answers to {len(requests)} requests")
    return [json.loads(line) for line in lines]


# --- compute: random groups with missing scores; the built-in Gini-Median, its formula, and the Paper's formula agree
requests, wanted = [], []
for size in list(range(2, 17)) * 4:
    scores = [rng.choice([None] + list(range(1, 11)) * 2) for _ in range(size)]
    if len([r for r in scores if r is not None]) < 2:
        continue
    for norm, own in (("grpo", lambda p: math.sqrt(p["mu"] * (1 - p["mu"]))), ("maxrl", lambda p: p["mu"])):
        right = advantages(scores, gini_median, own, 10)
        for more in ({"est": f"odrpo-gini-median({norm})"}, {"est": f"odrpo({norm})", "weight": GINI_MEDIAN},
                     {"est": "odrpo(maxrl)", "weight": GINI_MEDIAN, "norm": {"grpo": "sqrt(mu*(1-mu))", "maxrl": "mu"}[norm]}):
            requests.append({"rewards": scores, "eps": 0, "ddof": 0, **more})
            wanted.append(right)
# formulas of every kind against Python's evaluation of their text
for weight, norm in (("k^1.5 - 2*k", "mu^0.5"), ("max(k - med, 1, mu)", "1 + abs(med - k)/K"), ("-2^2 + k^2^0.5", "G*mu"), ("log(1 + k)/exp(mu)", "min(mu, 1 - mu)"),
                     ("2^-k", "sqrt(mu)*sqrt(1 - mu) + 1e-2")):
    for size in range(2, 12):
        scores = [rng.choice([None] + list(range(11))) for _ in range(size)]
        needs = {"K": 10} if "K" in weight + norm else {}
        requests.append({"rewards": scores, "est": "odrpo(grpo)", "eps": 0, "ddof": 0, "weight": weight, "norm": norm, **needs})
        wanted.append(advantages(scores, of_text(weight), of_text(norm), 10))
listed = [3, 0.5, 2, 2, 7]
requests.append({"rewards": [1, 5, 2, 2, 3], "est": "odrpo(grpo)", "eps": 0, "ddof": 0, "weight": str(listed)})
wanted.append(advantages([1, 5, 2, 2, 3], lambda p: listed[p["k"] - 1], of_text("sqrt(mu*(1-mu))"), 5))
# with values K is their number, and level k counts its step
requests.append({"rewards": [1, 2, 3], "est": "odrpo(grpo)", "eps": 0, "ddof": 0, "weight": "k/K", "values": [1, 4, 9]})
wanted.append(advantages([1, 2, 3], lambda p: p["k"] / 3 * (0, 1, 3, 5)[p["k"]], of_text("sqrt(mu*(1-mu))"), 3))
for answer, args, right in zip(compute(requests), requests, wanted):
    near(answer.get("out") or [], right, f"compute {args}: {answer}", 1e-12)

for args, words in ((dict(weight="k*x"), "weight: column 3: `x` is no variable"), (dict(weight="k +"), "weight: column 4: a number, a name or ( is missing"),
                    (dict(norm="k/K"), "norm reads K"), (dict(weight="k", K=4), "K: no formula reads it"), (dict(weight="1/(k-2)"), "no finite number at k = 2, which 2 of 3 reach"),
                    (dict(est="grpo", weight="k"), "est = \"odrpo(NORM)\" takes it, not grpo"), (dict(est="odrpo-gini(grpo)", weight="k"), "takes it, not odrpo-gini(grpo)"),
                    (dict(norm="mu", compat="verl"), "sets what levels are divided by"), (dict(weight="[1, 2]"), "finite")):
    answer = compute([{"rewards": [1, 2, 3], "est": "odrpo(grpo)", "eps": 0, "ddof": 0, **args}])[0]
    check(answer.get("error", {}).get("code") == "out_of_range", f"compute {args}: {answer}")
    check(words in json.dumps(answer).replace('\\"', '"') and "error" in answer, f"compute {args}: {answer}")

# --- explain, theory, figures: an estimator's word and its formulas after it
mine = "odrpo(grpo); weight = sqrt(k)*(a + b*mu*(1-mu)); norm = mu; a = .1; b = 4"
text = call("explain", "--rewards", "1,4,4,9", "--estimator", mine, "--estimator", "odrpo-gini(maxrl)", "--compat", "paper")
check("w_k = sqrt(k)*(a + b*mu*(1 - mu)), a = 0.1, b = 4" in flowed(text) and "N_k = mu" in text, f"explain: {text}")
told = {e["estimator"]: e["conventions"][0] for e in json.loads(call("explain", "--rewards", "1,4,4,9", "--estimator", mine, "--estimator", "odrpo-gini(maxrl)", "--compat",
                                                                  "paper", "--json"))["estimators"]}
name = "odrpo(grpo); weight = sqrt(k)*(a + b*mu*(1 - mu)); norm = mu; a = 0.1; b = 4"
near(told[name]["advantages"], told["odrpo-gini(maxrl)"]["advantages"], "explain: the formula of gini", 1e-12)
near([p["norm"] for p in told[name]["levels"] if p["reached"]], [p["norm"] for p in told["odrpo-gini(maxrl)"]["levels"] if p["reached"]], "explain: N_k of a formula", 1e-12)
call("explain", "--rewards", "1,4", "--estimator", "odrpo(grpo); weight = a*k", code=2, words="the formula reads `a`, which nothing sets")
call("explain", "--rewards", "1,4", "--estimator", "odrpo(grpo); weight = k k", code=2, words="column 25 of")
call("explain", "--rewards", "1,4", "--estimator", "odrpo(grpo); b = 2", code=2, words="\"b\" is neither weight nor norm")
call("explain", "--rewards", "1,4", "--estimator", "grpo; weight = k", code=2, words="weight has no effect on grpo")
call("explain", "--rewards", "1,4", "--estimator", "odrpo(grpo); gini_floor = 1", code=2, words="gini_floor has no effect on odrpo(grpo)")
call("explain", "--rewards", "1,4", "--estimator", "odrpo(grpo); weight", code=2, words="KEY = VALUE is wanted")
call("explain", "--rewards", "1,4", "--estimator", "odrpo(grpo); weight = a*k; a = 1; a = 2", code=2, words="a is set already")
call("explain", "--rewards", "1,4", "--estimator", "odrpo(grpo); weight = " + "k" + "+0*k" * 249)  # 997 characters: the canonical text has blanks more
call("explain", "--rewards", "1,4", "--estimator", "odrpo(grpo); weight = 1/(k-2)", code=4, words="no finite number at k = 2")
for verb, *more in (("curl", "--levels", "3,4", "--group-size", "2,4"), ("field", "--p", ".2,.3,.5"), ("objective", "--p", ".2,.3,.5")):
    built, written = (json.loads(call("theory", verb, *more, "--estimator", e, "--json"))["rows"] for e in ("odrpo-gini(maxrl)", f"odrpo(grpo); weight = {GINI}; norm = mu"))
    check(len(built) == len(written) > 0, f"theory {verb}: {written}")
    for a, b in zip(built, written):
        same = [(x, y) for key, x in a.items() for y in [b[key]] if isinstance(x, float) and y is not None]
        near([y for _, y in same], [x for x, _ in same], f"theory {verb}", 1e-10)
check("mac_all" in call("theory", "curl", "--levels", "3", "--group-size", "4", "--estimator", "odrpo(grpo); weight = 1 + med"), "theory: a formula with the median has a curl")
call("theory", "curl", "--levels", "3", "--group-size", "4", "--estimator", "odrpo(grpo); weight = [1, 2]", code=4, words="2 numbers for 3 levels")
call("theory", "bound", "--batches", "0", "--estimator", "odrpo(grpo); weight = sqrt(k - 5)", code=4, words="odrpo(grpo): weight is")
built, written = (call("plot", "weights", "--data", "--rewards", "1,4,4,9", "--estimator", e).splitlines() for e in ("odrpo-gini-median(grpo)", f"odrpo(grpo); weight = {GINI_MEDIAN}"))
check(len(built) == len(written) > 10, "plot weights")
for a, b in zip(built, written):
    for x, y in zip(a.rsplit(",", 4)[1:], b.rsplit(",", 4)[1:]):
        check(x == y or abs(float(x) - float(y)) < 1e-9, f"plot weights: {a} and {b}")
call("export-estimator", "--estimator", "odrpo(grpo); weight = k", "-o", "x.py", code=2, words="no formulas")
call("conform", "--command", "true", "--as", "odrpo(grpo); weight = k", code=2, words="not with formulas")

# --- training: the formula of a built-in weight learns the same; numbers are axes; result files are read back
MORE = f"""[rater.gaps]
base = "veto"
parse_failure = 0.2
parse_policy = "drop"
[rater.mean]
base = "veto"
aggregate = "mean"
[estimator.mine]
base = "odrpo(grpo)"
weight = "sqrt(k) * (a + b*mu*(1-mu) * exp(-max(med-k,0)/2))"
norm = "mu"
a = [0.1, 1]
b = 4
[estimator.running]
base = "odrpo(maxrl)"
weight = "{GINI_MEDIAN}"
median = "running"
[estimator.old]
base = "odrpo-gini-median(maxrl)"
median = "running"
"""
suite("formulas", MORE, seeds=2, rater='["veto", "gaps", "mean"]', policy='"tabular"', estimator='["odrpo-gini-median(maxrl)", "mine", "running", "old"]', votes=4,
      prompts=32, actions=12, steps="60\nlr = 0.1", batch=16, baseline='""')
call("run", "formulas.toml", "--jobs", "2")
shown = flowed(call("table", "formulas.h5", "--legend", "full"))
check("w_k = sqrt(k)*(a + b*mu*(1 - mu)*exp(-max(med - k, 0)/2)), a = 1, b = 4, med lower" in shown, f"the table does not say the formula: {shown}")
with h5py.File("formulas.h5") as f:
    axis = [float(x) for x in f["a"][:]] if "a" in f else None
    rows = list(zip(texts(f, "rater"), texts(f, "estimator"), f["seed"][:], texts(f, "id"), f["final_quality"][:]))
final = {(rater, estimator + ("/a=1" if "/a=1/" in run else ""), seed): value for rater, estimator, seed, run, value in rows}
check(len(final) == 3 * 5 * 2, f"runs: {sorted(final)}")
for rater in ("veto", "gaps", "mean"):
    for seed in (0, 1):
        near(final[rater, "mine", seed], final[rater, "odrpo-gini-median(maxrl)", seed], f"the formula of gini-median learns something else: {rater} {seed}", 1e-5)
        near(final[rater, "running", seed], final[rater, "old", seed], f"a running median in a formula learns something else: {rater} {seed}", 1e-5)
        check(final[rater, "mine/a=1", seed] != final[rater, "mine", seed], f"the axis a has no effect: {rater} {seed}")
call("run", "formulas.toml", "--jobs", "1", "-o", "again.h5")
check(digest("formulas.h5") == digest("again.h5"), "runs by one worker")
table = call("table", "formulas.h5", "--rows", "a", "--columns", "rater", "--where", "estimator=mine", "--legend", "full")
check("0.1" in table and flowed("N_k = mu") in flowed(table), f"table by the axis a: {table}")
call("run", "formulas.toml", "--set", "estimator.mine.norm=\"mu + 1\"", "--set", "estimator.mine.a=0.3", "-o", "set.h5", "--only", "*/mine/*")
check("N_k = mu + 1, w_k" in flowed(call("table", "set.h5", "--legend", "full")), "--set of a formula")

# --- a number whose name is a column of the result file, and lists of another length
suite("columns", """[estimator.mine]
base = "odrpo(grpo)"
weight = "k^regret"
regret = [0.5, 1]
""", seeds=1, estimator='["mine"]', votes=1, steps="10\nrollouts = [4, 8]\ndead_groups = [\"keep\", \"resample\"]", baseline='""')
call("run", "columns.toml")
check("regret=1" in call("export", "columns.h5") and call("verify", "columns.h5"), "a number of the name of a final value, and a grid over rollouts that resamples")
call("explain", "--rewards", "1,2", "--levels", "10", "--estimator", "odrpo(grpo); weight = [1, 2]", code=2, words="2 numbers for 10 levels")
call("theory", "objective", "--p", ".5,.3,.2", "--estimator", "odrpo(grpo); weight = 1/(k-2)", code=4, words="no finite value at level 2")

# --- on the toy language model
suite("texts", """[estimator.mine]
base = "odrpo(grpo)"
weight = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
[policy.transformer]
warm_steps = 2
""", seeds=1, env='"toy-lm"', policy='"transformer"', estimator='["odrpo-linear(grpo)", "mine"]', votes=1, steps="2\nrollouts = 4", batch=4, baseline='""')
call("run", "texts.toml")
finish()
