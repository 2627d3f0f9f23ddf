#!/usr/bin/env python3
# Is `judge advise` right? Its advices, one file of --json for each seed, against every choice simulated in full; and against each other.
#   odrpo-bench run suites/advise.toml --set suite.seeds=50 --set limits.runs=1000000 -o all.h5
#   for s in $(seq 20); do odrpo-bench judge advise mixed --calls 153600 --seed $s --json -o advice$s.json; done
#   python3 docs/lab/advice.py all.h5 advice*.json          # or: - advice*.json, against each other alone
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
    x = np.linspace(t, t + 400, 4_000_001)
    y = (1 + x * x / f) ** (-(f + 1) / 2)
    whole = np.linspace(0, 400, 4_000_001)
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
    """{choice: [seed] mean gain over policies in points}, of the seeds that did not choose learning rates."""
    import h5py

    with h5py.File(path) as file:
        text = lambda key: np.array([s.decode() for s in file[key][:]])
        rule = np.where(file["stop"][:] > 0, "stop", text("aggregate"))
        votes, stop = file["votes"][:], file["stop"][:]
        columns = (file["rollouts"][:], votes, stop, rule, text("estimator"), text("policy"), file["lr"][:], file["seed"][:], file["final_gain"][:])
    gains = {}
    for g, n, k, r, estimator, policy, lr, seed, gain in zip(*columns):
        word = "single" if n == 1 else f"stop {k}" if r == "stop" else str(r)
        gains.setdefault((int(g), int(n), word, str(estimator)), {}).setdefault(str(policy), {}).setdefault(float(lr), {})[int(seed)] = gain
    seeds = sorted({s for s in columns[7]})
    tuning, fresh = seeds[: len(seeds) // 3], seeds[len(seeds) // 3 :]
    means = {}
    for choice, policies in gains.items():
        best = []
        for rates in policies.values():
            chosen = max(rates, key=lambda lr: np.nan_to_num([rates[lr][s] for s in tuning]).mean())
            best.append([np.nan_to_num(rates[chosen][s]) for s in fresh])
        means[choice] = 100 * np.mean(best, axis=0)
    return means


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
        against_all(exhaustive(sys.argv[1]), advices)
    against_each_other(advices)
