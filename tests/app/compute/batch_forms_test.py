#!/usr/bin/env python3
# opo, bnpo and shrunk of `compute` against formulas of this script's own, literally as the docs have them: rationals, and decimals of 40 digits. Batches
# of 1..12 prompts of 1..8 rewards: whole scores with ties, constants, real rewards, missing scores, values of levels. shrunk is also unbiased, by an
# exact sum over all outcomes of a small world; bnpo and plain l of shrunk are not.
# Usage: batch_forms_test.py PROGRAM
import itertools, json, random, subprocess
from decimal import Decimal, getcontext
from fractions import Fraction

import checks
from checks import check

getcontext().prec = 40
rng = random.Random(20261128)
PI = Decimal("3.1415926535897932384626433832795028841972")


def decimal(x):
    return Decimal(x.numerator) / Decimal(x.denominator)


def mean(r):
    return sum(r) / len(r)


def variance(r):
    """With ddof 1."""
    return sum((x - mean(r)) ** 2 for x in r) / (len(r) - 1)


def log_gamma(x):
    """ln Gamma(x) of a decimal x > 0: Stirling's series beyond 60, with Bernoulli's numbers."""
    below = Decimal(1)
    while x < 60:
        below *= x
        x += 1
    numbers = [Fraction(1, 6), Fraction(-1, 30), Fraction(1, 42), Fraction(-1, 30), Fraction(5, 66), Fraction(-691, 2730), Fraction(7, 6)]
    series = sum(decimal(b) / (2 * n * (2 * n - 1)) / x ** (2 * n - 1) for n, b in enumerate(numbers, 1))
    return (x - Decimal("0.5")) * x.ln() - x + (2 * PI).ln() / 2 + series - below.ln()


def beta_density(a, b, p):
    """Of decimals a, b >= 1 and p in 0..1."""
    if p == 0 or p == 1:
        edge = a if p == 0 else b
        return Decimal(0) if edge > 1 else (b if p == 0 else a)
    return ((a - 1) * p.ln() + (b - 1) * (1 - p).ln() + log_gamma(a + b) - log_gamma(a) - log_gamma(b)).exp()


def opo(batch, lengths, lone, **_):
    out = []
    for r, length in zip(batch, lengths):
        there = [(x, n) for x, n in zip(r, length) if x is not None]
        centre = sum(x * n for x, n in there) / Fraction(sum(n for _, n in there)) if len(there) > 1 else 0
        out.append([Decimal(0) if x is None or (len(there) == 1 and not lone) else decimal(x - centre) for x in r])
    return out


def bnpo(batch, low, high, **_):
    batch = [[None if x is None else min(max((x - low) / (high - low), Fraction(0)), Fraction(1)) for x in r] for r in batch]
    groups = [[x for x in r if x is not None] for r in batch]
    p = [mean(g) for g in groups if len(g) > 1]
    a = b = Decimal(1)
    if len(set(p)) > 1:
        m, v = mean(p), variance(p)
        size = m * (1 - m) / v - 1
        a, b = (max(Decimal(1), 1 + decimal(size * share) / 3) for share in (m, 1 - m))
    out = []
    for r, g in zip(batch, groups):
        if len(g) < 2:
            out.append([Decimal(0)] * len(r))
            continue
        weight = min(Decimal(10) ** 6, 1 / max(Decimal(10) ** -9, beta_density(a, b, decimal(mean(g)))))
        out.append([Decimal(0) if x is None else weight * decimal(x - mean(g)) for x in r])
    return out


def shrunk(batch, **_):
    groups = [[x for x in r if x is not None] for r in batch]
    out = []
    for at, (r, g) in enumerate(zip(batch, groups)):
        others = [h for i, h in enumerate(groups) if i != at and len(h) > 1]
        if len(g) == 1:
            share = Fraction(len(others) > 0)
        elif len(others) < 2 or not any(variance(h) for h in others):
            share = Fraction(0)
        else:
            noise = mean([variance(h) for h in others]) / (len(g) - 1) if len(g) > 1 else 1
            spread = max(Fraction(0), variance([mean(h) for h in others]) - mean([variance(h) / len(h) for h in others]))
            share = noise / (noise + spread)
        row = []
        for x in r:
            own = (sum(g) - x) / Fraction(len(g) - 1) if x is not None and len(g) > 1 else x
            prompts = mean([mean(h) for h in others]) if others else Fraction(0)
            row.append(Decimal(0) if x is None else decimal(x - (1 - share) * own - share * prompts))
        out.append(row)
    return out


FORMS = {"opo": opo, "bnpo": bnpo, "shrunk": shrunk}


def worth(score, values):
    """Linear between the values of the levels, and from 0 at the score 0."""
    at = [Fraction(0), *map(Fraction, values)]
    level = min(int(score), len(values) - 1)
    return at[level] + (Fraction(score) - level) * (at[level + 1] - at[level])


KINDS = [lambda: rng.randint(1, 10), lambda: rng.randint(1, 3), lambda: rng.randint(0, 1), lambda: 7, lambda: rng.randint(4, 40) / 4, lambda: rng.uniform(1, 10)]
VALUES = [0.5, 2, 3, 3.25, 7, 20, 20.5, 31, 60, 100]


def a_batch():
    kinds, missing, batch = rng.choice([KINDS[:1], KINDS[1:4], KINDS[4:5], KINDS[5:], KINDS[:4], KINDS[3:4]]), rng.choice([0, 0, 0.3, 0.6]), []
    for _ in range(rng.choice([1, 2, 3, 3, 4, 8, 12])):
        kind = rng.choice(kinds)
        batch.append([None if rng.random() < missing else kind() for _ in range(rng.choice([4, 4, 4, 2, 8, 1]))])
    return batch


def ask(requests):
    ran = subprocess.run([checks.program, "compute"], input="".join(json.dumps({"id": 0, **r}) + "\n" for r in requests), capture_output=True, text=True)
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    check(len(answers) == len(requests), f"{len(answers)} answers to {len(requests)} requests")
    return answers


requests, wanted = [], []
for _ in range(400):
    batch = a_batch()
    for word, form in FORMS.items():
        args = {"groups": batch, "est": word}
        keys = {"low": Fraction(1), "high": Fraction(10), "lone": False}
        exact = [[None if x is None else Fraction(x) for x in r] for r in batch]
        if word == "opo":
            args["lengths"] = keys["lengths"] = [[rng.choice([1, 1, 2, 7, 40]) for _ in r] for r in batch]
            if rng.random() < 0.3:
                args["compat"], keys["lone"] = "verl", True
        if word == "bnpo" and rng.random() < 0.3:
            args["K"] = rng.choice([10, 11, 24])
            keys["high"] = Fraction(args["K"])
        elif rng.random() < 0.3:
            args["values"] = VALUES
            exact = [[None if x is None else worth(x, VALUES) for x in r] for r in exact]
            keys["low"], keys["high"] = Fraction(VALUES[0]), Fraction(VALUES[-1])
        requests.append({"fn": "batch_advantage", "args": args})
        wanted.append(form(exact, **keys))
worst = Decimal(0)
for request, answer, want in zip(requests, ask(requests), wanted):
    if "out" not in answer or [len(r) for r in answer["out"]] != [len(r) for r in want]:
        check(False, f"{request}: {answer}")
        continue
    off = max(abs(Decimal(x) - y) / max(1, abs(y)) for r, s in zip(answer["out"], want) for x, y in zip(r, s))
    worst = max(worst, off)
    check(off <= Decimal("1e-12"), f"{request}: {answer['out']}, expected {[list(map(float, r)) for r in want]}")
print(f"{len(requests)} batches: largest difference {worst:.1e}")


# --- the expected update of one prompt, (1/G) sum_i A_i d ln pi(a_i) / d logit, over all outcomes of a world of three prompts; under exact advantages
# it is the gradient of the prompt's mean reward. l of shrunk does not depend on r_i, so shrunk is unbiased for every number of rollouts.
def bias(word, policies, rollouts):
    """Largest component of expected update - gradient, over all prompts."""
    levels = range(len(policies[0]))
    outcomes = list(itertools.product(itertools.product(levels, repeat=rollouts), repeat=len(policies)))
    answers = ask([{"fn": "batch_advantage", "args": {"groups": [[k + 1 for k in g] for g in batch], "est": word, **({"K": 3} if word == "bnpo" else {})}} for batch in outcomes])
    worst = 0
    for prompt, p in enumerate(policies):
        expected = [0.0] * len(p)
        for batch, answer in zip(outcomes, answers):
            chance = 1.0
            for pi, g in zip(policies, batch):
                for k in g:
                    chance *= pi[k]
            for k, advantage in zip(batch[prompt], answer["out"][prompt]):
                for j in levels:
                    expected[j] += chance * advantage * ((k == j) - p[j]) / rollouts
        value = sum((k + 1) * x for k, x in enumerate(p))
        worst = max(worst, max(abs(expected[j] - p[j] * (j + 1 - value)) for j in levels))
    return worst


policies = [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.25, 0.5, 0.25]]
for rollouts in (2, 3):
    check(bias("shrunk", policies, rollouts) < 1e-12, f"shrunk with {rollouts} rollouts: the expected update is off by {bias('shrunk', policies, rollouts)}")
check(bias("bnpo", policies, 2) > 0.01, "the same sum finds the bias of bnpo")

# --- what is refused
for args, code, text in (
    ({"groups": [[1, 2]], "est": "grpo"}, "out_of_range", "est: grpo reads one group at a time: `advantage` takes it"),
    ({"groups": [[1, 2]], "est": "opo"}, "missing_argument", "lengths: opo needs the length of every response, and only opo reads it"),
    ({"groups": [[1, 2]], "est": "bnpo", "lengths": [[1, 1]]}, "out_of_range", "lengths: opo needs the length of every response, and only opo reads it"),
    ({"groups": [[1, 2]], "est": "opo", "lengths": [[1]]}, "wrong_shape", "lengths: one number for every advantage of `groups` is needed"),
    ({"groups": [[1, 2]], "est": "opo", "lengths": [[1, 0]]}, "out_of_range", "lengths: a response has one token or more"),
    ({"groups": [[1, 2]], "est": "shrunk", "K": 10}, "out_of_range", "K: only bnpo without `values` reads it"),
    ({"groups": [[1, 2]], "est": "bnpo", "compat": "verl"}, "out_of_range", "compat \"verl\" has no bnpo; it has"),
):
    [answer] = ask([{"fn": "batch_advantage", "args": args}])
    check("error" in answer and answer["error"]["code"] == code and answer["error"]["message"].startswith(text), f"{args}: {answer}")
[answer] = ask([{"fn": "advantage", "args": {"rewards": [1, 2], "est": "bnpo", "eps": 0, "ddof": 0}}])
check(answer.get("error", {}).get("message") == "est: bnpo reads the scores of the whole batch; `batch_advantage` takes a batch", f"{answer}")
[answer] = ask([{"fn": "batch_advantage", "args": {"groups": [], "est": "shrunk"}}])
check(answer.get("out") == [], f"a batch of no groups: {answer}")
checks.finish()
