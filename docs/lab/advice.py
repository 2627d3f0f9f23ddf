#!/usr/bin/env python3
# Is `judge advise` right? Its advices, one file of --json for each seed, against every choice simulated in full; and against each other.
#   odrpo-bench run suites/advise.toml --set suite.seeds=50 --set limits.runs=1000000 -o all.h5
#   for s in $(seq 20); do odrpo-bench judge advise mixed --calls 153600 --seed $s --json -o advice$s.json; done
#   python3 docs/lab/advice.py all.h5 advice*.json       # all.h5 alone: votes against rollouts; - advice*.json: against each other alone
# Of the simulated seeds a third chooses each choice's learning rate, for each policy; the others are compared. Needs h5py and numpy, no more.
import json
import sys

import numpy as np


def t_p(differences):
    """Two-sided p of a paired t test, by numerical integration of Student's density."""
    n = len(differences)
    sd = differences.std(ddof=1)
    if sd == 0:
        return 1.0 if differences.mean() == 0 else 0.0
    t = abs(differences.mean()) / (sd / np.sqrt(n))
    f = n - 1
    x = np.linspace(t, t + 200, 400_001)
    y = (1 + x * x / f) ** (-(f + 1) / 2)
    whole = np.linspace(0, 200, 400_001)
    z = (1 + whole * whole / f) ** (-(f + 1) / 2)
    return float(np.trapz(y, x) / (2 * np.trapz(z, whole))) * 2


def holm(p):
    order, adjusted, worst = np.argsort(p), np.empty(len(p)), 0.0
    for rank, i in enumerate(order):
        worst = max(worst, min(1.0, (len(p) - rank) * p[i]))
        adjusted[i] = worst
    return adjusted


def name(choice):
    rule = choice["rule"] if choice["rule"] != "stop" else f"stop {choice['stop']}"
    return (choice["rollouts"], choice["votes"], rule, choice["estimator"])


def exhaustive(path):
    """{choice: [seed] mean gain over policies in points}, of the seeds that chose the learning rates and of the others."""
    import h5py

    with h5py.File(path) as file:
        text = lambda key: np.array([s.decode() for s in file[key][:]])
        rule = np.where(file["stop"][:] > 0, "stop", text("aggregate"))
        votes, stop = file["votes"][:], file["stop"][:]
        columns = (file["rollouts"][:], votes, stop, rule, text("estimator"), text("policy"))
        columns += (file["lr"][:], file["seed"][:], file["final_gain"][:])
    gains = {}
    for g, n, k, r, estimator, policy, lr, seed, gain in zip(*columns):
        word = "single" if n == 1 else f"stop {k}" if r == "stop" else str(r)
        gains.setdefault((int(g), int(n), word, str(estimator)), {}).setdefault(str(policy), {}).setdefault(float(lr), {})[int(seed)] = gain
    seeds = sorted({s for s in columns[7]})
    tuning, fresh = seeds[: len(seeds) // 3], seeds[len(seeds) // 3 :]
    tuned, means = {}, {}
    for choice, policies in gains.items():
        of = lambda rates, lr, seeds: np.nan_to_num([rates[lr][s] for s in seeds])
        best = [(rates, max(rates, key=lambda lr: of(rates, lr, tuning).mean())) for rates in policies.values()]
        tuned[choice] = 100 * np.mean([of(rates, lr, tuning) for rates, lr in best], axis=0)
        means[choice] = 100 * np.mean([of(rates, lr, fresh) for rates, lr in best], axis=0)
    return tuned, means


def table(tuned, means):
    """Votes against rollouts against steps: the best rule and estimator of each G and N, chosen on the tuning seeds."""
    half = lambda x: t_factor(len(x)) * x.std(ddof=1) / np.sqrt(len(x))
    numbers = sorted({c[0] for c in means}), sorted({c[1] for c in means})
    best = {(g, n): max((c for c in means if c[:2] == (g, n)), key=lambda c: tuned[c].mean()) for g in numbers[0] for n in numbers[1]}
    print("| N | " + " | ".join(f"G = {g}" for g in numbers[0]) + " |\n|---|" + "---|" * len(numbers[0]))
    for n in numbers[1]:
        cells = []
        for g in numbers[0]:
            c = best[g, n]
            rule = "" if c[2] == "single" else c[2] + ", "
            cells.append(f"{means[c].mean():.1f} ± {half(means[c]):.1f} ({rule}{c[3]})")
        print(f"| {n} | " + " | ".join(cells) + " |")


def t_factor(n):
    """Half of a 95 % interval over its standard error, by bisection."""
    low, high = 1.9, 13.0
    for _ in range(60):
        middle = (low + high) / 2
        fake = np.array([-1.0, 1.0] * (n // 2) + [0.0] * (n % 2))
        fake += middle * fake.std(ddof=1) / np.sqrt(n)
        low, high = (middle, high) if t_p(fake) > 0.05 else (low, middle)
    return middle


def against_all(means, advices):
    best = max(means, key=lambda c: means[c].mean())
    others = [c for c in means if c != best]
    p = np.array([t_p(means[c] - means[best]) for c in others])
    adjusted = dict(zip(others, holm(p)))
    same = [best] + [c for c in others if adjusted[c] >= 0.05]
    print(f"{len(means)} choices, {len(means[best])} seeds: best {best}, {means[best].mean():.2f} points; not distinguishable from it: {len(same)}")
    for c in sorted(same, key=lambda c: -means[c].mean()):
        print(f"  {c}  {means[c].mean():.2f}  {(means[c] - means[best]).mean():+.2f}")
    right = 0
    for a in advices:
        c = name(a["advised"])
        good = c in same
        right += good
        print(f"seed {a['seed']}: {c}: {(means[c] - means[best]).mean():+.2f} points{'' if good else '  DISTINGUISHABLE'}")
    print(f"{right} of {len(advices)} advices are the best choice or one not distinguishable from it")


def against_each_other(advices):
    """Pairs of choices of which one is starred as worse than the other, the best, in one advice, and the other way in another."""
    starred = {}
    for a in advices:
        best = name(a["choices"][0])
        for c in a["choices"]:
            if c["worse"]:
                starred.setdefault((best, name(c)), []).append(a["seed"])
    opposite = [(pair, starred[pair], starred[pair[::-1]]) for pair in starred if pair[::-1] in starred and pair < pair[::-1]]
    print(f"{len(advices)} advices, {len(starred)} starred pairs, {len(opposite)} starred in opposite directions")
    for pair, one, other in opposite:
        print(f"  {pair[0]} over {pair[1]} with seeds {one}, the other way with seeds {other}")


if __name__ == "__main__":
    advices = sorted((json.load(open(path)) for path in sys.argv[2:]), key=lambda a: a["seed"])
    if sys.argv[1] != "-":
        tuned, means = exhaustive(sys.argv[1])
        table(tuned, means)
        if advices:
            against_all(means, advices)
    if advices:
        against_each_other(advices)
