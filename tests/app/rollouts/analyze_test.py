#!/usr/bin/env python3
# `rollouts analyze` and `rollouts estimate` against formulas of this script's own, on random dumps: groups of unequal size and of one, missing rewards, ties,
# several scales; and advantages that trainers logged, whose convention, whitening and weights of rewards must be found.
# Usage: analyze_test.py PROGRAM tests/golden/verl_advantages.csv tests/results/scores/rollouts/dumps
import csv, json, math, os, random, struct

import checks
from checks import call, check, checked, near

rng = random.Random(20261151)

def mean(x):
    return sum(x) / len(x)


def sd(x, ddof=0):
    return math.sqrt(sum((v - mean(x)) ** 2 for v in x) / (len(x) - ddof))


def ranks(x):
    return [sum(v < w for v in x) + (sum(v == w for v in x) + 1) / 2 for w in x]


# --- the estimators, of one group of rewards that are there; R = the values of the levels, for those of levels
def reinforce(r, R):
    return [x - mean(r) for x in r]


def grpo(r, R, ddof=0, eps=0.0):
    return [0.0 if len(set(r)) == 1 else (x - mean(r)) / (sd(r, ddof) + eps) for x in r]


def maxrl(r, R):
    return [0.0 if len(set(r)) == 1 or mean(r) <= 1e-9 else (x - mean(r)) / mean(r) for x in r]


def rank_grpo(r, R):
    return grpo(ranks(r), R)


def odrpo(r, R, weight=lambda k, mu, med: 1.0, norm="grpo"):
    if len(set(r)) == 1:
        return [0.0] * len(r)
    level = [R.index(x) + 1 for x in r]
    med, out = sorted(level)[(len(r) - 1) // 2], [0.0] * len(r)
    for k in range(2, len(R) + 1):
        mu = mean([l >= k for l in level])
        if mu in (0, 1):
            continue
        by = (R[k - 1] - R[k - 2]) * weight(k, mu, med) / (math.sqrt(mu * (1 - mu)) if norm == "grpo" else mu)
        out = [a + by * ((l >= k) - mu) for a, l in zip(out, level)]
    return out


def gini_median(k, mu, med):
    return math.sqrt(k) * (0.1 + 4 * mu * (1 - mu) * math.exp(-max(med - k, 0) / 2))


FORMS = {"reinforce": reinforce, "grpo": grpo, "maxrl": maxrl, "rank-grpo": rank_grpo, "odrpo(grpo)": odrpo,
         "odrpo-gini-median(grpo)": lambda r, R: odrpo(r, R, gini_median), "odrpo-gini-median(maxrl)": lambda r, R: odrpo(r, R, gini_median, "maxrl")}


def write(name, rows):
    with open(name, "w") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")


class Dump:
    """Rows of a training: `steps` of `prompts` each."""

    def __init__(self, R, steps, prompts, missing=0.1, most=9, gaps=True):
        self.R, self.rows, self.groups = R, [], []
        for step in range(steps):
            for p in rng.sample(range(3 * prompts), prompts):
                few, length, group = rng.randint(1, len(R)), rng.randint(5, 60), []
                for i in range(rng.randint(1, most) if gaps else most):
                    reward = None if rng.random() < missing else R[rng.choice([rng.randrange(few), rng.randrange(few), rng.randrange(len(R))])]
                    tokens = length + rng.randint(0, 30) + (0 if reward is None else round(4 * R.index(reward) / len(R)))
                    group.append({"step": 10 * step + 3, "prompt": f"p{p}", "reward": reward, "length": tokens})
                self.rows += group
                self.groups.append((10 * step + 3, [g["reward"] for g in group], [g["length"] for g in group]))


def present(group):
    return [r for r in group[1] if r is not None]


def advantages(form, group, R):
    r = present(group)
    made = iter(FORMS[form](r, R) if len(r) > 1 else [0.0] * len(r))
    return [0.0 if x is None else next(made) for x in group[1]]


def outlier(r, R, above):
    """One reward 40 % of the scale or more from all others, which are at most one level and a quarter of the scale apart."""
    r = sorted(r) if above else sorted((-x for x in r))
    levels, span = (R if above else sorted(-x for x in R)), R[-1] - R[0]
    rest = r[:-1]
    return levels.index(rest[-1]) - levels.index(rest[0]) <= 1 and rest[-1] - rest[0] <= 0.25 * span + 1e-9 and r[-1] - rest[-1] >= 0.4 * span - 1e-9


def period(groups, R):
    """What the report says of a part of the training."""
    rewards = [x for g in groups for x in present(g)]
    two, three = [present(g) for g in groups if len(present(g)) > 1], [present(g) for g in groups if len(present(g)) > 2]
    means = [mean(present(g)) for g in groups if present(g)]
    live = lambda r: R.index(max(r)) - R.index(min(r))
    pairs = [[(x, n) for x, n in zip(g[1], g[2]) if x is not None] for g in groups if len(present(g)) > 1]

    def correlation(change):
        xy = [(a - mean(change(x)), b - mean(change(y))) for x, y in ([list(z) for z in zip(*g)] for g in pairs) for a, b in zip(change(x), change(y))]
        both, xx, yy = (sum(f(a, b) for a, b in xy) for f in (lambda a, b: a * b, lambda a, b: a * a, lambda a, b: b * b))
        return (both / math.sqrt(xx * yy) if xx * yy else None), both / yy if yy else None

    pearson, slope = correlation(lambda x: x)
    return {
        "groups": len(groups), "rows": sum(len(g[1]) for g in groups), "missing": sum(len(g[1]) - len(present(g)) for g in groups), "groups_of_two": len(two),
        "groups_of_three": len(three), "mean": mean(rewards), "sd_between": sd(means, 1) if len(means) > 1 else None,
        "sd_within": math.sqrt(sum((x - mean(r)) ** 2 for r in two for x in r) / sum(len(r) - 1 for r in two)),
        "dead_groups": mean([len(set(r)) == 1 for r in two]), "dead_levels": mean([(len(R) - 1 - live(r)) / (len(R) - 1) for r in two]),
        "outlier_above": mean([outlier(r, R, True) for r in three]), "outlier_below": mean([outlier(r, R, False) for r in three]),
        "length_pearson": pearson, "length_spearman": correlation(ranks)[0], "reward_per_length": slope, "levels": [rewards.count(x) for x in R]}


def check_analysis(name, dump, *flags):
    write(name, dump.rows)
    got = json.loads(call("rollouts", "analyze", name, "--json", *flags))
    R = dump.R
    near(got["scale"], R, f"{name}: scale")
    steps = sorted({g[0] for g in dump.groups})
    quarters = min(4, len(steps))
    check(len(got["periods"]) == quarters, f"{name}: {len(got['periods'])} periods")
    for p, found in enumerate(got["periods"] + [got["all"]]):
        own = [g for g in dump.groups if p == quarters or steps.index(g[0]) * quarters // len(steps) == p]
        for key, value in period(own, R).items():
            shown = found[key]["value"] if isinstance(found[key], dict) else found[key]
            if value is None:
                check(shown is None, f"{name}: {key} is {shown}, expected none")
            else:
                near(shown, value, f"{name}: period {p}: {key}", 1e-9)
            if isinstance(found[key], dict) and found[key]["lo"] is not None:
                check(found[key]["lo"] <= found[key]["value"] + 1e-12 and found[key]["value"] <= found[key]["hi"] + 1e-12 or key.startswith("outlier"), f"{name}: {key} {found[key]}")
    names = [e["name"] for e in got["estimators"]]
    check(names == list(FORMS), f"{name}: {names}")
    A = {n: [advantages(n, g, R) for g in dump.groups] for n in names}
    flat = {n: [a for g in A[n] for a in g] for n in names}
    zero = {n: [abs(a) <= 1e-9 * max(map(abs, g)) for g in A[n] for a in g] for n in names}
    there = sum(len(present(g)) for g in dump.groups)
    for e in got["estimators"]:
        of = A[e["name"]]
        squares = sum(a * a for a in flat[e["name"]])
        near(e["leverage"]["value"], sum(max(map(abs, g)) ** 2 for g in of) / squares, f"{name}: leverage of {e['name']}", 1e-9)
        near(e["rms"]["paper"]["value"], math.sqrt(squares / there), f"{name}: RMS of {e['name']}", 1e-9)
        size, bins = sum(map(abs, flat[e["name"]])), [0.0] * 5
        for g, a in zip(dump.groups, of):
            if present(g):
                bins[min(4, int((mean(present(g)) - R[0]) / (R[-1] - R[0]) * 5))] += sum(map(abs, a)) / size
        near([w["value"] for w in e["weight"]], bins, f"{name}: weight of {e['name']}", 1e-9)
    for pair in got["agreement"]:
        a, b = (flat[n] for n in pair["estimators"])
        near(pair["cosine"]["value"], sum(x * y for x, y in zip(a, b)) / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b)), f"{name}: cosine of {pair['estimators']}", 1e-9)
        both = [x * y < 0 for x, y, p, q in zip(a, b, *(zero[n] for n in pair["estimators"])) if not p and not q]
        near(pair["turned"]["value"], mean(both), f"{name}: turned signs of {pair['estimators']}")
        check(pair["rows"] == len(both), f"{name}: {pair['rows']} rows of {pair['estimators']}, expected {len(both)}")
    by = {"reinforce": {"verl": reinforce}, "grpo": {"verl": lambda r, R: grpo(r, R, 1, 1e-6), "trl": lambda r, R: grpo(r, R, 1, 1e-4), "tinker": reinforce}}
    for word, systems in by.items():
        rms = next(e for e in got["estimators"] if e["name"] == word)["rms"]
        for system, form in systems.items():
            squares = 0.0
            for r in map(present, dump.groups):
                squares += sum(a * a for a in form(r, R)) if len(r) > 1 else sum(x * x for x in r) if system == "verl" else 0
            near(rms[system]["value"], math.sqrt(squares / there), f"{name}: RMS of {word} under {system}", 1e-9)
    return got


R10 = list(range(1, 11))
check_analysis("ten.jsonl", Dump(R10, 21, 6))
check_analysis("few.jsonl", Dump(R10, 3, 20))
check_analysis("one.jsonl", Dump(R10, 1, 40), "--seed", "9")
check_analysis("binary.jsonl", Dump([0, 1], 8, 10))
check_analysis("signed.jsonl", Dump([-1, -0.5, 0, 0.5, 1], 8, 12))
check_analysis("zero-ten.jsonl", Dump([k for k in range(11)], 9, 10), "--scale", "0..10")
check_analysis("share.jsonl", Dump([k / 10 for k in range(11)], 9, 10))

# --- the rows of `estimate` for every word that needs scores alone, against `compute`, which reads levels 1..K and their values
listed = [e["word"] for e in json.loads(call("list", "estimators", "--json"))["estimators"]["entries"]]
known = [w for w in checks.of_one_group(listed) if w not in ("command", "library")]
check(len(known) > 20, f"words of the catalogue: {known}")
USUAL = {"arena": {"eps": 1e-6, "ddof": 1}, "grpo-passk": {"eps": 1e-6, "ddof": 1}, "dgae": {"eps": 1e-4, "ddof": 0}}
for R in ([1, 2, 3, 4, 5], [0, 0.25, 0.5, 0.75, 1]):
    dump = Dump(R, 6, 5)
    write("rows.jsonl", dump.rows)
    flags = [x for w in known for x in ("--estimator", w)]
    rows = [json.loads(line) for line in call("rollouts", "estimate", "rows.jsonl", *flags).splitlines()]
    check(len(rows) == len(dump.rows), f"{len(rows)} rows of {len(dump.rows)}")
    requests = []
    for w in known:
        for _, rewards, _ in dump.groups:
            levels = w.startswith(("odrpo", "convex", "max-at-k"))
            args = {"rewards": [None if r is None else R.index(r) + 1 if levels else r for r in rewards], "est": w, **USUAL.get(w, {"eps": 0, "ddof": 0})}
            if levels and R != [1, 2, 3, 4, 5] and not w.startswith("odrpo-bitwise"):
                args["values"] = R
            requests.append(json.dumps({"id": 0, "fn": "advantage", "args": args}) + "\n")
    answers = [json.loads(line) for line in checks.call_with("".join(requests)).splitlines()]
    check(all("out" in a for a in answers), str([(q, a) for q, a in zip(requests, answers) if "out" not in a][:2]))
    at, by_place = 0, {}
    for row in rows:
        by_place[row["line"]] = row
    for w in known:
        line = 1
        for step, rewards, _ in dump.groups:
            for i, (reward, want) in enumerate(zip(rewards, answers[at]["out"])):
                row = by_place[line]
                check((row["step"], row["reward"]) == (step, reward), f"line {line}: {row}")
                near(row[f"advantage:{w}"], 0.0 if reward is None else want, f"{w}: line {line}", 1e-9)
                line += 1
            at += 1

# the same as CSV, one column, with a system's convention and the whitening of suites
dump = Dump(R10, 5, 6)
write("rows.jsonl", dump.rows)
call("rollouts", "estimate", "rows.jsonl", "--estimator", "grpo", "--compat", "verl", "--whiten", "response", "-o", "out.csv")
with open("out.csv") as file:
    rows = list(csv.DictReader(file))
for step in {g[0] for g in dump.groups}:
    own = [g for g in dump.groups if g[0] == step]
    made = [[a for r in [present(g)] for a in (grpo(r, None, 1, 1e-6) if len(r) > 1 else r)] for g in own]
    flat = [a for g in made for a in g]
    white = [(a - mean(flat)) / sd(flat) for a in flat]
    found = [float(r["advantage"]) for r in rows if int(r["step"]) == step and r["reward"]]
    near(found, white, f"whitened step {step}", 1e-9)
checked("missing rewards get 0", all(float(r["advantage"]) == 0 for r in rows if not r["reward"]))

# --- advantages that a trainer logged: verl's own functions (float32), joined to their rows
with open(checks.paths[0]) as file:
    golden = list(csv.DictReader(file))
EXPECTED = {"grpo": ("grpo", "verl"), "dr-grpo": ("reinforce", "verl"), "rloo": ("rloo", "verl"), "grpo_passk": ("grpo-passk", "verl"), "opo": ("opo", "verl"),
            "reinforce_plus_plus_baseline": ("reinforce", "verl")}
for column, (word, system) in EXPECTED.items():
    write("verl.jsonl", [{"step": int(r["step"]), "prompt": r["prompt"], "score": float(r["score"]), "advantage": float(r[column]), "length": int(r["length"])} for r in golden])
    logged = json.loads(call("rollouts", "analyze", "verl.jsonl", "--reward", "score", "--json"))["logged"]
    best = logged["fits"][0]
    names = [(f["estimator"], f["compat"]) for f in logged["fits"]]
    check((word, system) in names and (best["fitting"], best["groups"], best["equal_fitting"], best["equal_groups"]) == (11, 11, 1, 1), f"{column}: {best}, {names}")
    check(best["largest_difference"] < 2e-6, f"{column}: {best}")
    check((best["whitening"] is not None) == (column == "reinforce_plus_plus_baseline"), f"{column}: {best}")
    if column == "reinforce_plus_plus_baseline":
        check(best["whitening"]["unit"] == "token" and best["whitening"]["ddof"] == 1 and len(names) == 1, f"{column}: {logged['fits']}")

# TRL's own trainer (float32), whose dumps have two rewards without their weights, 1 and 1/2
for name, word, groups in (("group", "grpo", 12), ("none", "reinforce", 12), ("twice", "grpo", 8), ("three-iterations", "reinforce", 4), ("equal-prompts", "grpo", 16)):
    found = json.loads(call("rollouts", "analyze", os.path.join(checks.paths[1], f"trl-{name}.jsonl"), "--json"))
    best = found["logged"]["fits"][0]
    check((best["estimator"], best["compat"], best["fitting"], best["groups"], best["whitening"]) == (word, "trl", groups, groups, None), f"{name}: {best}")
    check({f["compat"] for f in found["logged"]["fits"]} == {"trl", "gdpo"} or word == "reinforce", f"{name}: {found['logged']['fits']}")
    check(best["largest_difference"] < 2e-6 and found["weights"] == [1, 0.5], f"{name}: {best}, {found['weights']}")

# weights of several rewards, missing ones, found up to a factor; and a group that does not fit
def two_rewards(convention, weights=(1.0, 0.5), spoil=None):
    rows = []
    for step in range(1, 13):
        for p in range(4):
            group = [(rng.randint(1, 10), None if rng.random() < 0.1 else -rng.randint(0, 40) / 8) for _ in range(6)]
            total = [weights[0] * a + weights[1] * (b or 0) for a, b in group]
            made = convention(total)
            if spoil == (step, p):
                made[2] += 0.01
            rows += [{"step": step, "prompt": f"q{p}", "judge": a, "brevity": b, "advantage": m} for (a, b), m in zip(group, made)]
    return rows


write("two.jsonl", two_rewards(lambda r: grpo(r, None, 1, 1e-4)))
logged = json.loads(call("rollouts", "analyze", "two.jsonl", "--reward", "judge,brevity", "--json"))["logged"]
near(logged["weights"], [1, 0.5], "weights found")
check(logged["weights_found"] and logged["fits"][0]["fitting"] == 48 and ("grpo", "trl") in [(f["estimator"], f["compat"]) for f in logged["fits"]], f"{logged}")
write("two.jsonl", two_rewards(reinforce_of := (lambda r: reinforce(r, None)), (0.3, 0.15)))
logged = json.loads(call("rollouts", "analyze", "two.jsonl", "--reward", "judge,brevity", "--json"))["logged"]
near(logged["weights"], [0.3, 0.15], "weights and their factor, of a trainer that divides by nothing")
check(logged["fits"][0]["fitting"] == 48, f"{logged}")


def fit_of(rows, *flags):
    """The comparison of the rows' advantages, and the best fit: [estimator, system, groups that fit, groups, the same of groups of equal rewards]."""
    write("two.jsonl", rows)
    logged = json.loads(call("rollouts", "analyze", "two.jsonl", "--json", "--estimator", "grpo", *flags))["logged"]
    best = logged["fits"][0]
    return logged, [best[key] for key in ("estimator", "compat", "fitting", "groups", "equal_fitting", "equal_groups")]


# the first weight need not be 1: eps of trl shows the factor
TWO = ("--reward", "judge,brevity")
for weights in ((2, 1), (0.5, 0.5), (0.1, 0.2), (0.2, 0.8), (3, -1)):
    logged, best = fit_of(two_rewards(lambda r: grpo(r, None, 1, 1e-4), weights), *TWO)
    near(logged["weights"], list(weights), f"weights {weights} found")
    check(logged["weights_found"] and best == ["grpo", "trl", 48, 48, 0, 0] and logged["notes"] == [], f"{weights}: {best}, {logged['notes']}")
# columns that others give: their weights cannot be told apart
for factor, weights in ((1, (1, 1)), (2, (1, 1)), (0.5, (1, 0.3)), (3, (0.4, 0.1))):
    rows = two_rewards(lambda r: r)
    for at in range(0, len(rows), 6):
        for row in rows[at:at + 6]:
            row["brevity"] = factor * row["judge"] + at
        made = grpo([weights[0] * row["judge"] + weights[1] * row["brevity"] for row in rows[at:at + 6]], None, 1, 1e-4)
        for row, m in zip(rows[at:at + 6], made):
            row["advantage"] = m
    logged, best = fit_of(rows, *TWO)
    check(best == ["grpo", "trl", 48, 48, 0, 0], f"dependent rewards of {weights}: {best}")
    check("the weights cannot be told apart" in logged["notes"][0] and not any("explain most" in note for note in logged["notes"]), f"{logged['notes']}")
    check(logged["weights_found"] == (weights != (1, 1)), f"{logged}")
# levels are those of --round also while weights are searched
rows = two_rewards(lambda r: odrpo([math.copysign(math.floor(abs(x) / 2 + 0.5) * 2, x) for x in r], [2.0 * k for k in range(-30, 31)]), (1, 1))
logged, best = fit_of(rows, *TWO, "--round", "2")
check(best[0].startswith("odrpo") and best[2] + best[4] == best[3] + best[5] == 48, f"rounded: {best}")
# groups of equal rewards fit by 1e-6 or by one rounding of the mean, and are counted apart
FEW = [[1, 2, 4], [0.25, 0.5, 0.125]]
for logged_of_equal, fits in (([0.3, -0.3, 0], 0), ([0.05] * 3, 1), ([0.5] * 3, 0), ([0.0] * 3, 1), ([1e-7, 0, -1e-7], 1)):
    groups = [(r, grpo(r, None, 1, 1e-6)) for r in FEW] + [([0.7] * 3, logged_of_equal)]
    _, best = fit_of([{"step": 1, "prompt": f"p{g}", "reward": r, "advantage": a} for g, group in enumerate(groups) for r, a in zip(*group)])
    check(best == ["grpo", "verl", 2, 2, fits, 1], f"equal rewards with {logged_of_equal}: {best}")
write("two.jsonl", two_rewards(lambda r: grpo(r, None, 1, 1e-4), spoil=(5, 2)))
found = json.loads(call("rollouts", "analyze", "two.jsonl", "--reward", "judge,brevity", "--reward-weights", "1,0.5", "--json"))
logged = found["logged"]
check(logged["fits"][0]["fitting"] == 47 and [(g["step"], g["prompt"], g["place"]) for g in logged["not_fitting"]] == [(5, "q2", "two.jsonl:109")], f"{logged['not_fitting']}")
check(not logged["weights_found"] and found["weights"] == [1, 0.5], f"{found['weights']}")
write("two.jsonl", [{k: v for k, v in row.items() if k != "advantage"} for row in two_rewards(reinforce_of)])
found = json.loads(call("rollouts", "analyze", "two.jsonl", "--reward", "judge,brevity", "--json"))
check(found["weights"] == [1, 1] and found["logged"] is None and any("each counts 1" in note for note in found["notes"]), f"{found['notes']}")
write("noise.jsonl", [{**row, "advantage": rng.gauss(0, 1)} for row in two_rewards(reinforce_of)])
logged = json.loads(call("rollouts", "analyze", "noise.jsonl", "--reward", "judge", "--json"))["logged"]
check(logged["fits"][0]["fitting"] == 0 and len(logged["fits"]) == 1, f"{logged['fits']}")

# --- rewards that are equal up to rounding are equal: dead groups, ranks and levels read the same numbers
single = lambda x: struct.unpack("f", struct.pack("f", x))[0]
for name, change in (("doubles", float), ("floats", single)):
    parts = [(0.1, 0.2), (0.3, 0.0), (0.4, -0.1), (1.1, -0.8)]
    write("round.jsonl", [{"step": s, "prompt": f"p{p}", "a": change(a), "b": change(b), "whole": change(a + b)} for s in range(3) for p in range(4) for a, b in (parts if p < 3 else [(0.5, 0.0)] + parts)])
    for flags in (("--reward", "a,b", "--reward-weights", "1,1"),) + ((("--reward", "whole"),) if change is float else ()):
        found = json.loads(call("rollouts", "analyze", "round.jsonl", "--json", *flags))
        near(found["all"]["dead_groups"]["value"], 0.75, f"{name} {flags}: dead groups")
        near(found["all"]["dead_levels"]["value"], 0.75, f"{name} {flags}: dead levels")
        near(found["scale"], [0.3, 0.5], f"{name} {flags}: scale")
        rows = [json.loads(line) for line in call("rollouts", "estimate", "round.jsonl", "--estimator", "rank-grpo", *flags).splitlines()]
        near([abs(row["advantage"]) for row in rows if row["prompt"] == "p0"], [0] * 12, f"{name} {flags}: no rank differs")

# --- large rewards do not cancel; two groups of one prompt stay two; the row without a length is named
write("huge.jsonl", [{"step": s, "prompt": f"p{p}", "reward": 9e8 + (p + i) % 4} for s in range(3) for p in range(4) for i in range(3)])
write("small.jsonl", [{"step": s, "prompt": f"p{p}", "reward": (p + i) % 4} for s in range(3) for p in range(4) for i in range(3)])
huge, small = (json.loads(call("rollouts", "analyze", f"{name}.jsonl", "--json", "--estimator", "reinforce"))["all"] for name in ("huge", "small"))
near(huge["sd_between"]["value"], small["sd_between"]["value"], "sd between of large rewards", 1e-6)
write("twice.jsonl", [{"step": 1, "prompt": "p", "group": g, "reward": r} for g in "xy" for r in (1, 2, 3, 3)[:3 + (g == "y")]])
for end in ("jsonl", "csv"):
    call("rollouts", "estimate", "twice.jsonl", "--estimator", "grpo", "-o", f"again.{end}")
    again = json.loads(call("rollouts", "analyze", f"again.{end}", "--json"))
    check(again["all"]["groups"] == 2 and again["logged"]["fits"][0]["fitting"] == 2, f"two groups of one prompt, {end}: {again['all']}")
write("short.jsonl", [{"step": 1, "prompt": "p", "reward": r, "length": n} for r, n in ((1, 5), (2, None), (3, 4))])
call("rollouts", "estimate", "short.jsonl", "--estimator", "opo", code=8, words="short.jsonl:2:1: error: opo needs the length of every completion, 1 or more; that of this one is missing")
call("rollouts", "analyze", "short.jsonl", "--estimator", "opo", code=8, words="short.jsonl:2:1: error: opo needs")
call("rollouts", "estimate", "short.jsonl", "--estimator", "grpo", "--whiten", "token", code=8, words="short.jsonl:2:1: error: whitening over tokens needs")
call("rollouts", "analyze", "twice.jsonl", "--reward-weights", "1,2", code=2, words="2 weights, but 1 column")

# --- dumps at the edge: all rewards equal, groups of one, real rewards without levels
write("equal.jsonl", [{"step": s, "prompt": f"p{p}", "reward": 3.5} for s in range(4) for p in range(3) for _ in range(4)])
found = json.loads(call("rollouts", "analyze", "equal.jsonl", "--json"))
near(found["all"]["dead_groups"]["value"], 1, "all groups are dead")
checked("equal rewards have no scale", found["scale"] == [] and found["no_scale"] == "all rewards are equal" and found["agreement"][0]["cosine"]["value"] is None)
write("lone.jsonl", [{"step": s, "prompt": f"p{p}", "reward": p % 3} for s in range(4) for p in range(3)])
found = json.loads(call("rollouts", "analyze", "lone.jsonl", "--json"))
checked("groups of one compare nothing", found["groups_of_one"] == 12 and found["all"]["groups_of_two"] == 0 and found["all"]["dead_groups"]["value"] is None)
write("real.jsonl", [{"step": s, "prompt": f"p{p}", "reward": rng.random()} for s in range(8) for p in range(4) for _ in range(8)])
found = json.loads(call("rollouts", "analyze", "real.jsonl", "--json"))
checked("real rewards have no levels", found["scale"] == [] and "256 different rewards" in found["no_scale"], found["no_scale"])
checked("estimators of levels are left out", [e["name"] for e in found["estimators"]] == ["reinforce", "grpo", "maxrl", "rank-grpo"])
found = json.loads(call("rollouts", "analyze", "real.jsonl", "--json", "--round", "0.1"))
near(found["scale"], [k / 10 for k in range(11)], "rounded rewards")
found = json.loads(call("rollouts", "analyze", "real.jsonl", "--json", "--bins", "5"))
checked("bins", len(found["scale"]) == 5 and len(found["estimators"]) == 7)
call("rollouts", "analyze", "real.jsonl", "--estimator", "odrpo(grpo)", code=4, words="--round or --bins make one")
call("rollouts", "analyze", "ten.jsonl", "--estimator", "posterior(grpo)", code=4, words="--judge")
call("rollouts", "analyze", "ten.jsonl", "--estimator", "opo", "--length", "none", code=4, words="length of every completion")
call("rollouts", "analyze", "ten.jsonl", "--scale", "1..9", code=8, words="is off the scale 1..9, and so are ")
write("far.jsonl", [{"step": 1, "prompt": "a", "reward": r} for r in (1, 2, 1e308)])
call("rollouts", "analyze", "far.jsonl", code=8, words="far.jsonl:3:1: error: the reward 1e+308 is beyond")
write("wide.jsonl", [{"step": 1, "prompt": "a", "reward": i % 7} for i in range(4097)])
call("rollouts", "analyze", "wide.jsonl", code=4, words="a group of 4097 completions: at most 4096 are compared")
call("rollouts", "estimate", "ten.jsonl", code=2, words="--estimator is missing")
call("rollouts", "estimate", "ten.jsonl", "--estimator", "maxrl", "--compat", "trl", code=4, words='compat "trl" has no maxrl')
call("rollouts", "estimate", "ten.jsonl", "--estimator", "grpo", "-o", "x.txt", code=2, words=".csv or .jsonl")

# --- posterior estimators: a judge without outliers never turns an order; of grpo's form a group's deviation divides; units of rewards do not matter
judged = [{"step": step, "prompt": f"p{p}", "reward": rng.choice([None, 4, 5, 6, 6, 7, 7, 8, 9])} for step in range(12) for p in range(6) for _ in range(6)] + [{"step": 12, "prompt": "alone", "reward": 7}]
write("judged.jsonl", judged)
write("tenths.jsonl", [dict(row, reward=row["reward"] and row["reward"] / 10) for row in judged])
both = ("--estimator", "posterior(reinforce)", "--estimator", "posterior(grpo)", "--estimator", "grpo")
rows = [json.loads(line) for line in call("rollouts", "estimate", "judged.jsonl", "--judge", "gauss", *both).splitlines()]
tenths = [json.loads(line) for line in call("rollouts", "estimate", "tenths.jsonl", "--judge", "gauss", "--judge-scale", "0.1..1 by 0.1", *both).splitlines()]
plain = [json.loads(line) for line in call("rollouts", "estimate", "judged.jsonl", "--estimator", "grpo").splitlines()]
checked("a row for each row", len(rows) == len(judged) and [r["reward"] for r in rows] == [r["reward"] for r in judged])
checked("plain estimators beside posterior ones", [r["advantage:grpo"] for r in rows] == [r["advantage"] for r in plain])
kept = {}
for row, tenth in zip(rows, tenths):
    near(tenth["advantage:posterior(reinforce)"] * 10, row["advantage:posterior(reinforce)"], "rewards in tenths, reinforce", 1e-9)
    near(tenth["advantage:posterior(grpo)"], row["advantage:posterior(grpo)"], "rewards in tenths, grpo", 1e-9)
    if row["reward"] is None or row["prompt"] == "alone":
        checked("a row that is missing or alone gets 0", row["advantage:posterior(grpo)"] == 0, row)
    else:
        kept.setdefault((row["step"], row["prompt"]), []).append((row["reward"], row["advantage:posterior(reinforce)"], row["advantage:posterior(grpo)"]))
for group in kept.values():
    near(sum(a for _, a, _ in group), 0, "a group sums to 0", 1e-9)
    checked("a judge without outliers turns no order", all((x[0] > y[0]) <= (x[1] > y[1] - 1e-9) and (x[0] == y[0]) <= (abs(x[1] - y[1]) < 1e-9) for x in group for y in group), group)
    ratios = [b / a for _, a, b in group if abs(a) > 1e-3]
    checked("grpo's form divides by one number", not ratios or max(ratios) - min(ratios) < 1e-6 * max(ratios), ratios)
    checked("shrunk towards the group", max(a for _, a, _ in group) - min(a for _, a, _ in group) <= max(r for r, _, _ in group) - min(r for r, _, _ in group) + 1e-9, group)
call("rollouts", "estimate", "judged.jsonl", "--judge", "gauss", "--estimator", "grpo", code=2, words="--judge has no effect")
call("rollouts", "estimate", "tenths.jsonl", "--judge", "gauss", "--estimator", "posterior(grpo)", code=8, words="is not on the scale 1..10")

# --- figures are drawn, and name what they show
for kind in ("dead", "levels", "cosine"):
    call("rollouts", "analyze", "ten.jsonl", "--figure", f"{kind}={kind}.svg", words=f"{kind}.svg: ")
    with open(f"{kind}.svg") as file:
        checked(f"figure {kind}", "<svg" in file.read())
markdown = call("rollouts", "analyze", "ten.jsonl", "--markdown")
checked("Markdown has every table", markdown.count("\n### ") == 7 and markdown.count("\n|---|") == 7, markdown)
checks.finish()
