#!/usr/bin/env python3
# The simulator of judges against closed forms: what levels, outliers, panels and errors that last must look like. Usage: simulated_judges_test.py
# (exit 77 without numpy)
import math, os, subprocess, sys, tempfile
from statistics import NormalDist

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import simulated_judges as judges
from checks import check, finish

SEED = 11
below = NormalDist().cdf


def near(got, expected, sd, what):
    """Within 4.5 standard errors."""
    check(abs(got - expected) <= 4.5 * sd, f"{what}: {got}, expected {expected} +- {sd}")


def share(hits, expected, n, what):
    near(hits, expected, math.sqrt(expected * (1 - expected) / n) + 1e-12, what)


def fresh(name, **parameters):
    return judges.make(name, **parameters), np.random.default_rng(SEED)


def at(judge, place, count, rng):
    """Responses that all have this place."""
    return judge.world(1, count, rng, np.full((1, count), float(place)))


N = 200_000

# rounding of a normal error: the share of each level; beyond the ends of the scale
judge, rng = fresh("gauss", sigma=0.7, hardness_of_prompts=0.0)
for place in (1.3, 5.5, 9.8):
    scores = judge.calls(at(judge, place, N, rng), [0], rng)
    for k in range(1, 11):
        upper = 1 if k == 10 else below((k + 0.5 - place) / 0.7)
        lower = 0 if k == 1 else below((k - 0.5 - place) / 0.7)
        share(np.mean(scores == k), upper - lower, N, f"gauss at {place}: level {k}")

# outliers of a judge that hears 7 without error
clean = dict(sigma=0.0, high=0.0, low=0.0, veto=0.0, uniform=0.0, mirror=0.0)
for outliers, expected in [
    (dict(low=0.2), {1: 0.2, 7: 0.8}),
    (dict(high=0.1), {10: 0.1, 7: 0.9}),
    (dict(uniform=0.1), {**{k: 0.01 for k in range(1, 11)}, 7: 0.91}),
    (dict(mirror=0.1), {4: 0.1, 7: 0.9}),
    (dict(veto=0.4), {1: 0.2, 7: 0.8}),
    (dict(high=0.5, low=0.5), {1: 0.5, 10: 0.25, 7: 0.25}),
]:
    judge, rng = fresh("mixed", **{**clean, **outliers})
    scores = judge.calls(at(judge, 7, N, rng), [0], rng)
    for k in range(1, 11):
        share(np.mean(scores == k), expected.get(k, 0), N, f"{outliers}: level {k}")

# an ambiguous response keeps its probability: two calls are both 1 with probability share x E[U^2]
judge, rng = fresh("veto", **{**clean, "veto": 0.5})
scores = judge.calls(at(judge, 7, N, rng), [0, 1], rng)
share(np.mean((scores == 1).all(axis=-1)), 0.5 / 3, N, "veto: both of two calls")
share(judges.far_pairs(scores), 2 * 0.5 * (1 / 2 - 1 / 3), N, "veto: pairs far apart")

# the world of a preset
judge, rng = fresh("gauss", mean=5.0, mean_sd=0.5, spread=0.4, spread_sd=0.0)
place = judge.world(20_000, 4, rng).place
near(place.mean(), 5, 0.5 / math.sqrt(20_000), "world: mean")
near(place.mean(axis=1).var(), 0.25 + 0.04, 0.29 * math.sqrt(2 / 20_000), "world: variance between prompts")
near(place.var(axis=1, ddof=1).mean(), 0.16, 0.16 * math.sqrt(2 / 60_000), "world: variance between responses")

# a latent scale: frequencies of levels, quality = the mean score, correlation of two calls on a fine scale
judge, rng = fresh("latent", levels=5, sigma=0.5, spread=0.0, skew=1.0)
scores = judge.calls(judge.world(N, 1, rng), [0], rng)
weight = np.exp(np.arange(5) / 4)
for k in range(5):
    share(np.mean(scores == k + 1), weight[k] / weight.sum(), N, f"latent: level {k + 1}")
judge, rng = fresh("latent", levels=5, sigma=0.5, spread=0.3, lasting=0.4)
world = at(judge, 0.3, N, rng)
scores = judge.calls(world, [0], rng)
near(scores.mean(), world.quality[0, 0], scores.std() / math.sqrt(N), "latent: quality is the mean score")
judge, rng = fresh("latent", levels=100, sigma=0.6, spread=0.0, lasting=0.5, prompt_share=0.2)
world = judge.world(N, 1, rng)
normal = NormalDist(0, math.sqrt(1 + 0.36 + 0.25))
cells = [normal.inv_cdf((k + 0.5) / 100) for k in range(100)]  # a score of 100 levels back on the scale
heard = np.array(cells)[judge.calls(world, [0, 0], rng) - 1]
r = (1 + 0.25) / (1 + 0.25 + 0.36)
near(np.corrcoef(heard[..., 0].ravel(), heard[..., 1].ravel())[0, 1], r, (1 - r * r) / math.sqrt(N) + 0.002, "latent: calls of one judge")
world = judge.world(N, 2, rng)
near(np.corrcoef(world.place[:, 0], world.place[:, 1])[0, 1], 0.2, 1 / math.sqrt(N), "latent: two responses of a prompt")

# panels: who answers, severity, errors that last, what calls are worth
fine = dict(levels=100, mean=50.0, mean_sd=5.0, spread=5.0, spread_sd=0.0, sigma=3.0, hardness_of_prompts=0.0)
blocks, rng = fresh("panel", judges=3, block=2, severity=4.0, stretch=0.0, unequal=0.0, lasting=2.0, **fine)
turn = judges.make("panel", judges=3, block=0, **fine)
check([blocks.member_of(c) for c in range(8)] == [0, 0, 1, 1, 2, 2, 0, 0], "panel in blocks: members")
check([turn.member_of(c) for c in range(5)] == [0, 1, 2, 0, 1], "panel in turn: members")
check([blocks.column_of(j) for j in range(3)] == [0, 2, 4] and [turn.column_of(j) for j in range(3)] == [0, 1, 2], "panel: columns")
check(blocks.members == judges.make("panel", judges=3, severity=4.0, stretch=0.0, unequal=0.0, lasting=2.0).members, "panel: one draw")
check(blocks.members != judges.make("panel", judges=3, severity=4.0, stretch=0.0, unequal=0.0, lasting=2.0, draw=2).members, "panel: two draws")
scores = blocks.calls(blocks.world(N, 1, rng), range(6), rng)
step = scores[..., 2].mean() - scores[..., 0].mean()
near(step, blocks.members[1].severity - blocks.members[0].severity, math.sqrt(2 * (9 + 4) / N), "panel: severity")
deviation, r = judges.halves(scores[..., [0, 1]])
near(deviation, 3 * math.sqrt(2), 3 / math.sqrt(N) + 0.03, "panel: two calls of one judge")
near(r, 54 / (54 + 9), (1 - r * r) / math.sqrt(N) + 0.001, "panel: correlation of its calls")
deviation, r = judges.halves(scores[..., [0, 2]])
near(deviation, math.sqrt(2 * (9 + 4)), 4 / math.sqrt(N) + 0.03, "panel: calls of two judges")
for calls, expected in ((2, 2.0), (3, 3.0), (6, 13 / (4 / 3 + 9 / 6))):
    got = judges.worth(blocks, calls, rng)
    near(got, expected, 0.012 * expected, f"panel: {calls} calls are worth")
# an ambiguous judge: variance of one call v = E[p (1 - p)] + var p of the probability of a 1, of N calls E[p (1 - p)] / N + var p
judge, rng = fresh("veto", **{**clean, "veto": 1.0})
got = judges.worth(judges.replace(judge, mean=7.0, mean_sd=0.0, spread=0.0), 8, rng)
near(got, (1 / 6 + 1 / 12) / (1 / 48 + 1 / 12), 0.03, "veto: 8 calls are worth")

# a judge that drifts, one that is replaced, one that changes midway through the prompts
judge, rng = fresh("drift", slope=2.0, **fine)
scores = judge.calls(judge.world(N, 1, rng), range(3), rng)
for c in (1, 2):
    near(scores[..., c].mean() - scores[..., 0].mean(), 2.0 * c, 3 * math.sqrt(2 / N), f"drift: column {c}")
judge, rng = fresh("replaced", after=2, late_severity=-5.0, **fine)
check([judge.member_of(c) for c in range(4)] == [0, 0, 1, 1], "replaced: members")
scores = judge.calls(judge.world(N, 1, rng), range(4), rng)
near(scores[..., 2:].mean() - scores[..., :2].mean(), -5, 0.05, "replaced: severity")
judge, rng = fresh("midway", late_severity=-5.0, late_sigma=2.0, **{**fine, "mean_sd": 0.0, "spread": 0.0})
scores = judge.calls(judge.world(N, 1, rng), [0], rng)
early, late = scores[:N // 2], scores[N // 2:]
near(late.mean() - early.mean(), -5, 7 / math.sqrt(N / 2), "midway: severity")
near(late.std() / early.std(), 2, 0.02, "midway: sigma")

# Student's t with 2 degrees of freedom: P(|t| > 4.303) = .05
judge, rng = fresh("heavy", tails=2.0, **{**fine, "sigma": 2.0})
scores = judge.calls(at(judge, 50, N, rng), [0], rng)
share(np.mean(np.abs(scores - 50) > 8), 1 - 4.25 / math.sqrt(2 + 4.25 ** 2), N, "heavy: beyond 8.5")

# length: responses of twice the median length half as often as the longest
judge, rng = fresh("length", most=0.4, **{**fine, "sigma": 0.0})
world = at(judge, 50, N, rng)
world.length[:] = 2
share(np.mean(judge.calls(world, [0], rng) == 1), 0.2, N, "length: twice the median")
world.length[:] = 0.5
check(np.mean(judge.calls(world, [0], rng) == 1) < 0.01, "length: short responses")

# files: one seed one file, columns, refusals
with tempfile.TemporaryDirectory() as folder:
    def start(*arguments):
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "simulated_judges.py")
        return subprocess.run([sys.executable, program, *arguments], capture_output=True, text=True, cwd=folder)

    size = ("--prompts", "3", "--responses", "2", "--samples", "4")
    ran = start("panel", "judges=2", *size, "--seed", "5", "--rater", "--truth", "-o", "a.csv")
    check(ran.returncode == 0, f"panel: {ran.stderr}")
    rows = [line.split(",") for line in open(os.path.join(folder, "a.csv")).read().splitlines()]
    check(rows[0] == ["prompt_id", "response_id", "sample_id", "rater_id", "score", "gold"], f"header {rows[0]}")
    check([r[:4] for r in rows[1:5]] == [["0", "0", str(c), str(c // 2)] for c in range(4)], "panel: rater_id")
    check(len(rows) == 1 + 3 * 2 * 4 and all(1 <= int(r[4]) <= 10 for r in rows[1:]), "panel: rows")
    one, again, other = (start("mixed", *size, "--seed", s).stdout for s in ("5", "5", "6"))
    check(one == again != other and one.startswith("prompt_id,response_id,sample_id,score\n0,0,0,"), "one seed, one file")
    for bad in (("nobody",), ("mixed", "sigma"), ("mixed", "nothing=3"), ("drift", "base=nobody")):
        check(start(*bad).returncode == 2, f"{bad} is refused")

finish()
