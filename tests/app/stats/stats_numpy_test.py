#!/usr/bin/env python3
# `stats` and `plot profile` of a result file whose tasks share seeds, recomputed with numpy alone: intervals by units, P(row > baseline), and
# rows that chose their learning rates. Usage: stats_numpy_test.py PROGRAM (exit 77 without numpy)
import itertools, json, math, statistics, sys

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import checks
from checks import call, check, suite
from reference import holm, inverse, iqm, p_above, picks, t_factor, t_interval, table_of

TUNING, SEEDS, RESAMPLES = 3, 15, 1000
largest = {}


def close(got, want, what, tolerance=1e-9):
    apart = abs(got - want) / max(1, abs(want))
    name = what.split(":")[0]
    largest[name] = max(largest.get(name, 0), apart)
    check(apart <= tolerance, f"{what}: {got}, expected {want}")


def gamma_share(a, x):
    """Regularised lower incomplete gamma function, by its series."""
    term = total = 1 / a
    for n in range(1, 10000):
        term *= x / (a + n)
        total += term
        if term < 1e-18 * total:
            break
    return total * math.exp(a * math.log(x) - x - math.lgamma(a))


def chi_quantile(p, freedom):
    return 2 * inverse(lambda x: gamma_share(freedom / 2, x), p, 1e-9, 1e3)


def expanded(x, statistic):
    """Interval of a statistic of x (units x tasks), whose units are resampled with all their tasks."""
    n = len(x)
    phi = statistics.NormalDist()
    tail = phi.cdf(-math.sqrt(n / (n - 1)) * t_factor(n - 1))
    estimate, found = statistic(x), np.sort([statistic(x[p]) for p in picks(n, RESAMPLES)])
    tie = 1e-13 * max(abs(found[0]), abs(found[-1]))
    bias = phi.inv_cdf(((found < estimate - tie).sum() + (found <= estimate + tie).sum()) / (2 * RESAMPLES))
    without = np.array([statistic(np.delete(x, i, axis=0)) for i in range(n)])
    u = (n - 1) * (without.mean() - without)
    a = (u**3).sum() / (6 * (u**2).sum() ** 1.5)
    at = lambda z: phi.cdf(bias + (bias + z) / (1 - a * (bias + z)))
    return np.quantile(found, [at(phi.inv_cdf(tail)), at(-phi.inv_cdf(tail))])


# --- the file
suite("tuned", 'best = "lr"\ntune_seeds = 3\n', seed=5, seeds=15, steps="20\nlr = [0.1, 0.3, 1]")
call("run", "tuned.toml", "-q", "-j", "1", "-o", "tuned.h5")
gain = {}
for r in table_of(call("export", "tuned.h5")):
    gain[r["estimator"], int(r["votes"]), float(r["lr"]), int(r["seed"])] = 100 * float(r["final_gain"])
rates, votes, rows = (0.1, 0.3, 1.0), (1, 8), ("grpo", "maxrl", "odrpo-gini(maxrl)")
at = lambda e, v, lr: np.array([gain[e, v, lr, s] for s in range(TUNING, SEEDS)])
chosen = {(e, v): max(rates, key=lambda lr: np.mean([gain[e, v, lr, s] for s in range(TUNING)])) for e in rows for v in votes}
runs = {e: np.stack([at(e, v, chosen[e, v]) for v in votes], axis=1) for e in rows}  # units x tasks
n = SEEDS - TUNING

flags = ("tuned.h5", "--task", "votes", "--resamples", str(RESAMPLES), "--format", "json")
found, student = json.loads(call("stats", *flags)), json.loads(call("stats", *flags, "--interval", "t"))
check([c["cell"]["estimator"] for c in found["cells"]] == list(rows) and found["cells"][0]["tasks"] == 2, "cells")
for e, c, t in zip(rows, found["cells"], student["cells"]):
    x = runs[e]
    for name, statistic in (("mean", np.mean), ("iqm", lambda x: iqm(x.ravel())), ("median", lambda x: np.median(x.mean(axis=0)))):
        close(c[name]["value"], statistic(x), f"{name}: of {e}")
        for side, want in zip(("lo", "hi"), expanded(x, statistic)):
            close(c[name][side], want, f"interval of {name}: {side} of {e}")
    for side, want in zip(("lo", "hi"), t_interval(x.mean(axis=1))):
        close(t["mean"][side], want, f"t interval: {e}")
    s = np.cov(x.T)
    freedom = (n - 1) * np.trace(s) ** 2 / (s**2).sum()
    sd = math.sqrt(np.trace(s) / 2)
    close(c["sd"]["value"], sd, f"sd: {e}")
    close(c["sd"]["lo"], sd * math.sqrt(freedom / chi_quantile(0.975, freedom)), f"interval of sd: lo of {e}")
    close(c["sd"]["hi"], sd * math.sqrt(freedom / chi_quantile(0.025, freedom)), f"interval of sd: hi of {e}")


def improvement(x, y):
    """P(x > y) with its interval."""
    wins = (x[:, None, :] > y[None, :, :]) + (x[:, None, :] == y[None, :, :]) / 2
    w = (wins.mean(axis=1) + wins.mean(axis=0)).mean(axis=1)
    p = w.mean() / 2
    half = t_factor(n - 1) * w.std(ddof=1) / math.sqrt(n) / (p * (1 - p))
    return [p, *(1 / (1 + math.exp(-(math.log(p / (1 - p)) + side * half))) for side in (-1, 1))]


def leads(terms):
    """Of each combination of rates of the terms with a minus: the paired differences. A term: sign, estimator, votes; several tasks are halved."""
    free = [i for i, (sign, _, _) in enumerate(terms) if sign < 0]
    for combination in itertools.product(rates, repeat=len(free)):
        rate = dict(zip(free, combination))
        yield sum(sign * at(e, v, rate.get(i, chosen[e, v])) for i, (sign, e, v) in enumerate(terms))


def tested(terms, count):
    """Two-sided p, and the interval at an alpha."""
    sides = [[d / count for d in leads([(side * sign, e, v) for sign, e, v in terms])] for side in (1, -1)]
    p = min(1, 2 * min(max(map(p_above, side)) for side in sides))
    least = lambda side, alpha: min(t_interval(d, 1 - alpha)[0] for d in side)
    return p, lambda alpha: (least(sides[0], alpha), -least(sides[1], alpha))


def check_family(family, terms, counts, what):
    """Holm's correction, stars and intervals of a family."""
    wanted = [tested(t, c) for t, c in zip(terms, counts)]
    p = [w[0] for w in wanted]
    m, order = len(p), sorted(range(len(p)), key=p.__getitem__)
    stars = sum(adjusted < 0.05 for adjusted in holm(p))
    for rank, i in enumerate(order):
        d, alpha = family[i], 0.05 / (m - min(rank, stars))
        close(d["p"], p[i], f"p of {what}: {d['cell']}")
        lo, hi = wanted[i][1](alpha)
        close(d["t"]["lo"], lo, f"interval of {what}: lo of {d['cell']}", 1e-8)
        close(d["t"]["hi"], hi, f"interval of {what}: hi of {d['cell']}", 1e-8)
        check(d["star"] == (rank < stars) == (lo > 0 or hi < 0), f"star of {what}")
        check(d["bootstrap"]["lo"] is None, "no bootstrap of a row that chose")


others = rows[1:]
for e, d in zip(others, found["differences"], strict=True):
    close(d["mean"], (runs[e] - runs["grpo"]).mean(), f"difference over tasks: {e}")
    for name, want in zip(("value", "lo", "hi"), improvement(runs[e], runs["grpo"])):
        close(d["probability_of_improvement"][name], want, f"P(row > baseline): {name} of {e}")
check_family(found["differences"], [[(sign, name, v) for v in votes for sign, name in ((1, e), (-1, "grpo"))] for e in others], [2, 2],
             "differences over tasks")

# --- bands of a profile: columns are tasks
profile = table_of(call("plot", "profile", "tuned.h5", "--data"))
check(len(profile) == 3 * 61, "61 scores of each row")
for r in profile[::4]:
    x, tau = runs[r["series"]], float(r["x"])
    close(float(r["y"]), (x > tau).mean(), f"profile: {r['series']}")
    if r["lo"]:
        for side, want in zip(("lo", "hi"), expanded(x, lambda v: (v > tau).mean())):
            close(float(r[side]), want, f"band of profile: {side} of {r['series']} at {tau}")
check(sum(bool(r["lo"]) for r in profile) > 90, "bands of a profile")

between = json.loads(call("stats", "tuned.h5", "--contrast", "votes=1:8", "--resamples", "1000", "--format", "json"))
differences = [(d["cell"]["estimator"], int(d["cell"]["votes"])) for d in between["differences"]]
terms = [[(1, e, v), (-1, "grpo", v)] for e, v in differences]
terms += [[(1, e, 1), (-1, "grpo", 1), (-1, e, 8), (1, "grpo", 8)] for e in others]
check(len(between["contrasts"]) == 2, "differences of differences")
check_family(between["differences"] + between["contrasts"], terms, [1] * len(terms), "differences of differences")

print("largest relative difference:", ", ".join(f"{name} {apart:.1e}" for name, apart in sorted(largest.items())))
checks.finish()
