"""Posterior scores in numpy, independent of the program: tables of a judge's model, values of a group's scores, and trials against grpo.

Usage: posterior.py values | votes | trial RATER POLICY [seeds] [first seed]"""
import sys

import numpy as np
from math import erfc
from statistics import NormalDist
from numpy.polynomial.hermite_e import hermegauss

K = 10
# world: mu_b, s_b, s_r, tau; rater: sigma, spread of log sigma, share of vetoes, p_low, p_high
profiles = {
    "mixed": dict(mu=7.2, sb=1.8, sr=0.8, tau=0.40, sigma=0.47, ts=0.20, veto=0.03, low=0.01, high=0.002),
    "veto": dict(mu=7.4, sb=1.7, sr=0.7, tau=0.40, sigma=0.39, ts=0.20, veto=0.08, low=0.01, high=0.0),
}
base = dict(profiles["mixed"], veto=0.0, low=0.0, high=0.0)
profiles["low20"] = dict(base, low=0.2)
profiles["high10"] = dict(base, high=0.1)
profiles["s2"] = dict(base, sigma=2.0)
profiles["hack"] = dict(base, high=0.0, hack=0.1, hack_high=0.3, penalty=2.5)

upper = np.vectorize(lambda x: 0.5 * erfc(x / np.sqrt(2)))  # P(z > x)


def intervals(edges):
    """P(edges[i] < z < edges[i + 1]) along the last axis, from below the first to above the last; each from the tail that is nearer."""
    far = np.full(edges.shape[:-1] + (1,), np.inf)
    low, high = np.concatenate([-far, edges], -1), np.concatenate([edges, far], -1)
    return np.where(low > 0, upper(low) - upper(high), upper(-high) - upper(-low))


def call_law(q, sigma):
    """P(k | q) of round(q + sigma z) clipped to 1..K: [..., K]."""
    q = np.asarray(q)[..., None]
    edges = np.arange(1, K) + 0.5
    return intervals((edges - q) / sigma)


def outliers(law, p, veto):
    """veto: the response's own probability of a 1."""
    one, top = np.eye(K)[0], np.eye(K)[K - 1]
    law = (1 - p["high"]) * law + p["high"] * top
    law = (1 - veto) * law + veto * one
    return (1 - p["low"]) * law + p["low"] * one


def tables(p, scales=(1.0,), nodes=(41, 5, 61, 5)):
    """Prior weights [C], likelihood L [C][K], expected quality E [C][K] of a rater's model."""
    zb, wb = hermegauss(nodes[0])
    zs, ws = hermegauss(nodes[1])
    ze, we = hermegauss(nodes[2])
    zn, wn = hermegauss(nodes[3])
    wb, ws, we, wn = (w / w.sum() for w in (wb, ws, we, wn))
    prior, L, E = [], [], []
    for scale in scales:
        for b, pb in zip(p["mu"] + p["sb"] * zb, wb):
            for s, ps in zip(scale * p["sr"] * np.exp(p["tau"] * zs), ws):
                q = np.clip(b + s * ze, 1, K)
                law = sum(w * call_law(q, p["sigma"] * np.exp(p["ts"] * z)) for z, w in zip(zn, wn))
                vetoed = np.mean([outliers(law, p, v) for v in (np.arange(8) + 0.5) / 8], axis=0)
                law = (1 - p["veto"]) * outliers(law, p, 0) + p["veto"] * vetoed
                mass = we[:, None] * law
                L.append(mass.sum(0))
                E.append((mass * q[:, None]).sum(0) / np.maximum(mass.sum(0), 1e-300))
                prior.append(pb * ps / len(scales))
    return np.array(prior), np.array(L), np.array(E)


qualities = 1 + np.arange(16 * (K - 1) + 1) / 16


def exact_laws(p):
    """As the program has it: laws of a call about each quality (on 1/16 level), and their probabilities: log sigma in 8 classes of equal
    probability (their means, scaled to variance 1), a veto's probability in 8 classes (their middles) or none."""
    normal = NormalDist()
    density = lambda z: np.exp(-z * z / 2)
    edges = [density(normal.inv_cdf(i / 8)) if 0 < i < 8 else 0.0 for i in range(9)]
    classes = -np.diff(edges)
    classes = classes / np.sqrt(np.mean(classes**2))
    laws, weights = [], []
    for z in classes:
        law = call_law(qualities, p["sigma"] * np.exp(p["ts"] * z))
        laws.append(outliers(law, p, 0))
        weights.append((1 - p["veto"]) / 8)
        for v in (np.arange(8) + 0.5) / 8:
            laws.append(outliers(law, p, v))
            weights.append(p["veto"] / 64)
    return np.array(laws), np.array(weights)


def even_nodes(p, scale, members, votes):
    """Nodes z of b and of log s with their weights, as docs/posterior.md has them: as far apart as the posterior of a group allows."""
    n, error = max(members, 8), (1 / 12 + (p["sigma"] * np.exp(-1.7 * p["ts"])) ** 2) / votes
    small, large = (scale * p["sr"] * np.exp(p["tau"] * z) for z in (-1, 2))
    clear = large**2 / (large**2 + error)
    made = []
    for sd, reach, step, information in ((p["sb"], 4, 1.25, n / (small**2 + error)), (p["tau"], 4.5, 1.2, 2 * (n - 1) * clear**2)):
        intervals = int(np.ceil(2 * reach * sd * np.sqrt(1 / sd**2 + information) / step))
        z = np.linspace(-reach, reach, intervals + 1)
        made += [z, np.exp(-z * z / 2) / np.exp(-z * z / 2).sum()]
    return made


def exact_states(p, scales=(1.0,), members=8, votes=1):
    """Prior weights [C], and P(quality | state) [C][Q], for groups of so many members with so many votes each."""
    prior, mass = [], []
    between = (qualities[:-1] + qualities[1:]) / 2
    for scale in scales:
        zb, wb, zs, ws = even_nodes(p, scale, members, votes)
        for b, pb in zip(p["mu"] + p["sb"] * zb, wb):
            for s, ps in zip(p["sr"] * np.exp(p["tau"] * zs), ws):
                mass.append(intervals((between - b) / (scale * s)))
                prior.append(pb * ps / len(scales))
    return np.array(prior), np.array(mass)


def exact_tables(p, scales=(1.0,), members=8):
    """The same tables from these."""
    laws, weight = exact_laws(p)
    law = np.tensordot(weight, laws, 1)
    prior, mass = exact_states(p, scales, members)
    L = mass @ law
    return prior, L, (mass * qualities) @ law / np.maximum(L, 1e-300)


def values_of_votes(p, votes, scales=(1.0,)):
    """E[quality | own votes, all votes] of each response of a group: votes = a list of scores for each."""
    laws, weight = exact_laws(p)
    prior, mass = exact_states(p, scales, len(votes), max(map(len, votes)))
    with np.errstate(divide="ignore"):
        log_laws = np.log(laws)
        log_w = np.log(prior)
    log_likelihood, expected = [], []
    for scores in votes:
        of_quality = np.tensordot(weight, np.exp(sum(log_laws[:, :, k - 1] for k in scores)), 1)
        L = mass @ of_quality
        log_likelihood.append(np.log(np.maximum(L, 1e-300)))
        expected.append((mass * qualities) @ of_quality / np.maximum(L, 1e-300))
    log_w = log_w + sum(log_likelihood)
    w = np.exp(log_w - log_w.max())
    return np.array(expected) @ (w / w.sum())


def weights(counts, prior, L):
    """[groups][C] posterior weights of the states."""
    with np.errstate(divide="ignore"):
        log = np.log(prior)[None, :] + counts @ np.maximum(np.log(L), -700).T
    log -= log.max(1, keepdims=True)
    w = np.exp(log)
    return w / w.sum(1, keepdims=True)


def standardised(x):
    spread = x.max(1, keepdims=True) - x.min(1, keepdims=True)
    sd = x.std(1, keepdims=True)
    return np.where(spread > 1e-9, (x - x.mean(1, keepdims=True)) / np.where(sd > 0, sd, 1), 0)


def world(p, prompts, random):
    A, F = 32, 24
    X = random.normal(0, np.sqrt(1 / F), (prompts, A, F))
    sig = X @ random.normal(size=F)
    e = np.sqrt(0.5) * sig / sig.std() + np.sqrt(0.5) * random.normal(size=sig.shape)
    q = np.clip(p["mu"] + p["sb"] * random.normal(size=(prompts, 1)) + p["sr"] * np.exp(p["tau"] * random.normal(size=(prompts, 1))) * e, 1, K)
    hack = np.zeros(q.shape, bool)
    if p.get("hack"):
        hack = random.random(q.shape) < p["hack"]
        q = np.where(hack, np.clip(q - p["penalty"], 1, K), q)
        X[..., 0] += hack
    sigma = p["sigma"] * np.exp(p["ts"] * random.normal(size=(prompts, 1)))
    veto = np.where(random.random(q.shape) < p["veto"], random.random(q.shape), 0)
    return X, q, np.broadcast_to(sigma, q.shape), veto, hack


def train(p, policy, estimator, lr, seed, steps=300, model=None):
    """Gain of one run; `estimator`: a function (scores [64][8]) -> advantages."""
    random = np.random.default_rng([seed, 1])
    prompts = 256 if policy == "linear" else 64
    X, q, sigma, veto, hack = world(p, prompts, random)
    draws = np.random.default_rng([seed, 2])
    theta = np.zeros(24 if policy == "linear" else q.shape)
    m, v = np.zeros_like(theta), np.zeros_like(theta)

    def probabilities(ids):
        z = X[ids] @ theta if policy == "linear" else theta[ids]
        z = np.exp(z - z.max(1, keepdims=True))
        return z / z.sum(1, keepdims=True)

    everyone = np.arange(prompts)
    start = q.mean()
    for t in range(1, steps + 1):
        ids = draws.permutation(prompts)[:64]
        pi = probabilities(ids)
        u = draws.random((64, 8))
        a = np.minimum((pi.cumsum(1)[:, None, :] < u[:, :, None]).sum(2), 31)
        at = (ids[:, None], a)
        score = np.clip(np.floor(q[at] + sigma[at] * draws.normal(size=a.shape) + 0.5), 1, K)
        high = np.where(hack[at], p.get("hack_high", 0), p["high"])
        score = np.where(draws.random(a.shape) < high, K, score)
        score = np.where(draws.random(a.shape) < veto[at], 1, score)
        score = np.where(draws.random(a.shape) < p["low"], 1, score).astype(int)
        adv = estimator(score)
        sd = adv.std()
        adv = (adv - adv.mean()) / sd if sd > 0 else 0 * adv
        coefficient = np.zeros((64, 32))
        np.add.at(coefficient, (np.arange(64)[:, None], a), adv)
        slope = (coefficient - coefficient.sum(1, keepdims=True) * pi) / adv.size
        if policy == "linear":
            g = np.einsum("pa,paf->f", slope, X[ids])
        else:
            g = np.zeros_like(theta)
            g[ids] = slope
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g * g
        theta = theta + lr * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    final = (probabilities(everyone) * q).sum(1).mean()
    return 100 * (final - start) / (q.max(1).mean() - start)


def grpo():
    return lambda score: standardised(score.astype(float))


def posterior(p, following=False, scales=(1.0,), form=standardised):
    prior, L, E = tables(p, scales)
    state = [prior.copy()]

    def estimate(score):
        counts = np.stack([(score == k).sum(1) for k in range(1, K + 1)], 1)
        w = weights(counts, state[0], L)
        values = w @ E
        if following:
            state[0] = 0.95 * state[0] + 0.05 * w.mean(0)
        return form(np.take_along_axis(values, score - 1, 1))

    return estimate


def centred(x):
    return np.where(x.max(1, keepdims=True) - x.min(1, keepdims=True) > 1e-9, x - x.mean(1, keepdims=True), 0)


def trial(rater, policy, seeds, first):
    p = profiles[rater]
    rates = (0.3, 1, 3) if policy == "linear" else (0.03, 0.1, 0.3)
    own = p if rater != "hack" else base
    made = {
        "grpo": lambda: grpo(),
        "posterior(grpo)": lambda: posterior(own),
        "posterior(reinforce)": lambda: posterior(own, form=centred),
        "following(grpo)": lambda: posterior(own, True, (1.0, 0.5, 0.25)),
    }
    best = {}
    for name, make in made.items():
        gains = np.array([[train(p, policy, make(), lr, s) for s in range(first, first + seeds)] for lr in rates])
        best[name] = gains[gains.mean(1).argmax()]
    for name in list(made)[1:]:
        d = best[name] - best["grpo"]
        print(f"{rater} {policy} {name} - grpo: {d.mean():+.2f} +- {2.093 * d.std(ddof=1) / np.sqrt(seeds):.2f}", flush=True)


if sys.argv[1] == "values":
    for rater in ("mixed", "veto", "low20", "s2"):
        for prior_rule, scales in (("fixed", (1.0,)), ("following", (1.0, 0.5, 0.25))):
            prior, L, E = exact_tables(profiles[rater], scales)
            for scores in ([1, 7, 8, 8, 7, 8, 9, 7], [5, 5, 6, 5, 10, 6, 5, 4], [10, 10, 10, 9, 10, 10, 1, 10], [4, 4, 4, 4]):
                counts = np.bincount(scores, minlength=K + 1)[1:][None]
                value = (weights(counts, prior, L) @ E)[0]
                print(rater, prior_rule, scores, [round(float(value[k - 1]), 9) for k in scores])
elif sys.argv[1] == "votes":
    cases = ([[7, 7, 8], [1, 8, 8], [1, 1, 7], [9, 9, 8]], [[5], [6, 6, 6, 6, 6, 5, 6, 6], [10, 5], [5, 5, 4]], [[8] * 32, [8] * 31 + [1], [7] * 16 + [8] * 16, [1] * 12 + [8] * 20])
    for rater in ("mixed", "veto", "low20", "s2"):
        for prior_rule, scales in (("fixed", (1.0,)), ("following", (1.0, 0.5, 0.25))):
            for votes in cases:
                print(rater, prior_rule, votes, [round(float(x), 9) for x in values_of_votes(profiles[rater], votes, scales)])
elif sys.argv[1] == "trial":
    trial(sys.argv[2], sys.argv[3], int(sys.argv[4]) if len(sys.argv) > 4 else 20, int(sys.argv[5]) if len(sys.argv) > 5 else 100)
