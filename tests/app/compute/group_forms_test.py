#!/usr/bin/env python3
# gopo, arena, dgae, qae, grpo-passk and corpo of `compute` against formulas of this script's own: rationals, and roots of 40 digits. Groups of 1..64
# members: whole scores with ties, constants, real rewards, missing scores, values of levels. Also what verl's own functions answer: grpo, Dr. GRPO, rloo, grpo-passk, opo, reinforce++_baseline.
# Usage: group_forms_test.py PROGRAM ADVANTAGES_OF_VERL.csv
import csv, json, random, subprocess
from decimal import Decimal, getcontext
from fractions import Fraction

import checks
from checks import check

getcontext().prec = 40
rng = random.Random(20261127)


def decimal(x):
    return Decimal(x.numerator) / Decimal(x.denominator)


def mean(r):
    return sum(r) / len(r)


def deviation(r, ddof, eps):
    """sigma + eps."""
    m = mean(r)
    return decimal(sum((x - m) ** 2 for x in r) / (len(r) - ddof)).sqrt() + decimal(eps)


def places(r):
    """1 = best; equal rewards share the mean of their places."""
    return [sum(y > x for y in r) + Fraction(sum(y == x for y in r) + 1, 2) for x in r]


def gopo(r, **_):
    return [decimal(2 - 4 * (p - 1) / (len(r) - 1)) for p in places(r)]


def arena(r, ddof, eps, **_):
    q = [(len(r) - p) / (len(r) - 1) for p in places(r)]
    return [decimal(x - mean(q)) / deviation(q, ddof, eps) for x in q]


def dgae(r, eps, **_):
    m = mean(r)
    return [decimal(len(r) * (x - m) / (sum(abs(y - m) for y in r) + eps)) for x in r]


def qae(r, ddof, eps, kappa, **_):
    quantile = min(x for x in r if Fraction(sum(y <= x for y in r), len(r)) >= kappa)
    return [decimal(x - quantile) / deviation(r, ddof, eps) for x in r]


def grpo_passk(r, ddof, eps, **_):
    best = max(r)
    second = sorted(r)[-2]
    return [decimal(best - second) / deviation(r, ddof, eps) if x == best else Decimal(0) for x in r]


def corpo(r, r_min, **_):
    return [decimal(x - max(mean(r), r_min)) for x in r]


FORMS = {"corpo": corpo, "gopo": gopo, "arena": arena, "dgae": dgae, "qae": qae, "grpo-passk": grpo_passk}


def worth(score, values):
    """Linear between the values of the levels, and from 0 at the score 0."""
    at = [Fraction(0), *map(Fraction, values)]
    level = min(int(score), len(values) - 1)
    return at[level] + (Fraction(score) - level) * (at[level + 1] - at[level])


def expected(word, rewards, keys):
    there = [Fraction(x) if "values" not in keys else worth(x, keys["values"]) for x in rewards if x is not None]
    numbers = {k: Fraction(str(v)) for k, v in keys.items() if k in ("eps", "kappa", "r_min")}
    dead = len(set(there)) < (1 if word == "corpo" else 2)
    out = iter([Decimal(0)] * len(there) if dead else FORMS[word](there, ddof=keys["ddof"], **numbers))
    return [Decimal(0) if x is None else next(out) for x in rewards]


def groups(size):
    yield [rng.randint(1, 10) for _ in range(size)]
    yield [rng.randint(1, 3) for _ in range(size)]
    yield [rng.randint(0, 1) for _ in range(size)]
    yield [7] * size
    yield [1] * (size - 1) + [10]
    yield [10] * (size - 1) + [1]
    yield list(range(1, size + 1))
    yield [rng.uniform(-5, 5) for _ in range(size)]
    yield [rng.randint(0, 40) / 4 for _ in range(size)]
    yield [None if rng.random() < 0.3 else rng.randint(1, 10) for _ in range(size)]
    yield [None if rng.random() < 0.5 else rng.uniform(0, 10) for _ in range(size)]


requests = []
for size in range(1, 65):
    for word in FORMS:
        for rewards in groups(size):
            own = word in ("arena", "grpo-passk")
            keys = {"eps": rng.choice([1e-6, 1e-4, 0, 0.25]) if word not in ("gopo", "corpo") else 0, "ddof": rng.randint(0, 1) if own or word == "qae" else 0}
            if word == "qae":
                keys["kappa"] = rng.choice([0, 0.1, 0.25, 0.4, 0.5, 0.55, 0.7, 0.75, 0.9, 1])
            if word == "corpo":
                keys["r_min"] = rng.choice([-3, 1, 1, 4.5, 5, 8])
            if word in ("corpo", "dgae", "qae", "grpo-passk") and rng.random() < 0.3 and all(x is None or 0 <= x <= 10 for x in rewards):
                keys["values"] = [0.5, 2, 3, 3.25, 7, 20, 20.5, 31, 60, 100]
            requests.append({"id": len(requests), "fn": "advantage", "args": {"rewards": rewards, "est": word, **keys}})
ran = subprocess.run([checks.program, "compute"], input="".join(json.dumps(r) + "\n" for r in requests), capture_output=True, text=True)
answers = [json.loads(line) for line in ran.stdout.splitlines()]
check(len(answers) == len(requests) > 3000, f"{len(answers)} answers to {len(requests)} requests")
worst = Decimal(0)
for request, answer in zip(requests, answers):
    args = request["args"]
    if "out" not in answer:
        check(False, f"{args}: {answer}")
        continue
    wanted = expected(args["est"], args["rewards"], args)
    largest = max([1, *map(abs, wanted)])
    off = max(abs(Decimal(a) - b) for a, b in zip(answer["out"], wanted)) / largest
    worst = max(worst, off)
    check(off <= Decimal("1e-13") and len(wanted) == len(answer["out"]), f"{args}: {answer['out']}, expected {list(map(float, wanted))}")
print(f"{len(requests)} groups: largest difference {worst:.1e}")

# --- verl's figures, which are floats: one group at a time, and the whole batch of a step where a function needs it
batches = {}
for row in csv.DictReader(open(checks.paths[0])):
    batches.setdefault(row["step"], {}).setdefault(row["prompt"], []).append(row)
check([len(b) for b in batches.values()] == [4, 4, 4], f"groups of verl: {[len(b) for b in batches.values()]}")


def ask(fn, **args):
    line = json.dumps({"id": 1, "fn": fn, "args": args}) + "\n"
    [answer] = [json.loads(x) for x in subprocess.run([checks.program, "compute"], input=line, capture_output=True, text=True).stdout.splitlines()]
    return answer.get("out", answer)


def column(batch, name, kind=float):
    return [[kind(row[name]) for row in group] for group in batch.values()]


for step, batch in batches.items():
    scores, tokens = column(batch, "score"), column(batch, "length", int)
    got = {name: [ask("advantage", rewards=group, est=est, compat="verl") for group in scores]
           for name, est in {"grpo": "grpo", "dr-grpo": "reinforce", "rloo": "rloo", "grpo_passk": "grpo-passk"}.items()}
    got["opo"] = ask("batch_advantage", groups=scores, lengths=tokens, est="opo", compat="verl")
    got["reinforce_plus_plus_baseline"] = ask("whiten", groups=got["dr-grpo"], est="reinforce", compat="verl", tokens=tokens)
    for name, groups in got.items():
        for prompt, (have, wanted) in enumerate(zip(groups, column(batch, name), strict=True)):
            for x, y in zip(have, wanted, strict=True):
                check(abs(x - y) <= 2e-6 * max(1, abs(y)), f"verl, {name}, step {step}, prompt {prompt}: {x}, verl has {y}")
checks.finish()
