#!/usr/bin/env python3
# Trains linear and tabular policies of the bandit under a judge of tests/app/judge/simulated_judges.py, with numpy alone: worlds, calls, rules, advantages, gradients
# and Adam share no code with the program. Many seeds and learning rates at once. advice_truth.py holds `judge advise` against it,
# rivals_truth.py the page "Which estimator for my judge?".
import os
import sys
from dataclasses import dataclass, fields

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/app/judge"))
import simulated_judges as judges

PROMPTS, RESPONSES, FEATURES, BATCH = 256, 32, 24, 64


@dataclass(frozen=True)
class Choice:
    """How a training spends its calls."""
    rollouts: int   # answers to a prompt
    votes: int      # calls about an answer, with rule "stop" at most
    rule: str       # single, mean, mode, stop
    stop: int
    estimator: str
    steps: int


def worlds(judge, seeds, rng):
    """The judge's world of each seed: arrays [seeds, prompts, responses] beside the features [seeds, prompts, responses, FEATURES]."""
    made, features = [], []
    for _ in range(seeds):
        x = rng.normal(size=(PROMPTS, RESPONSES, FEATURES)) / np.sqrt(FEATURES)
        signal = x @ rng.normal(size=FEATURES)
        e = np.sqrt(.5) * signal / signal.std() + np.sqrt(.5) * rng.normal(size=signal.shape)
        b = rng.normal(size=(PROMPTS, 1))
        if judge.thresholds:
            places = np.sqrt(judge.prompt_share) * b + np.sqrt(1 - judge.prompt_share) * e
        else:
            places = np.clip(judge.mean + judge.mean_sd * b + judge.spread * np.exp(judge.spread_sd * rng.normal(size=b.shape)) * e, 1, judge.levels)
        made.append(judge.world(PROMPTS, RESPONSES, rng, places))
        features.append(x.astype(np.float32))
    stacked = {f.name: np.stack([getattr(w, f.name) for w in made]) for f in fields(judges.World)}
    return stacked, np.stack(features)


def answers_of(world, seed, prompt, response):
    """The World of the answers [rows, G] to prompt [rows] of seed [rows]."""
    s, p = seed[:, None], prompt[:, None]
    picked = {name: of[s, p, response] for name, of in world.items() if name != "late"}
    return judges.World(late=world["late"][seed, prompt], **picked)


def ranks(x):
    return (x[:, :, None] > x[:, None, :]).sum(2) + .5 * (x[:, :, None] == x[:, None, :]).sum(2)


def first_mode(scores, levels):
    """Of scores [calls, ...] the most frequent; of several the one that came first."""
    counts = np.stack([(scores == k).sum(0) for k in range(1, levels + 1)])
    most = counts.max(0)
    out = np.zeros(scores.shape[1:], int)
    for call in scores[::-1]:
        out = np.where(np.take_along_axis(counts, call[None] - 1, 0)[0] == most, call, out)
    return out


def first_to(scores, times, levels):
    """Of scores [calls, ...] the first that came so many times; where none did, their mode."""
    out = np.zeros(scores.shape[1:], int)
    seen = np.zeros((levels,) + scores.shape[1:], int)
    for call in scores:
        place = call[None] - 1
        np.put_along_axis(seen, place, np.take_along_axis(seen, place, 0) + 1, 0)
        out = np.where((out == 0) & (np.take_along_axis(seen, place, 0)[0] == times), call, out)
    return np.where(out == 0, first_mode(scores, levels), out)


def rewards(judge, choice, asked, rng):
    """[rows, G]; the members of a panel answer in turn from a first one of the prompt."""
    count = len(judge.members)
    if count == 1:
        scores = judge.calls(asked, [0] * choice.votes, rng)
    else:
        all_members = judge.calls(asked, [judge.column_of(m) for m in range(count)] * -(-choice.votes // count), rng)
        first = rng.integers(count, size=(asked.place.shape[0], 1, 1))
        turn = (first + np.arange(choice.votes)) % count + count * (np.arange(choice.votes) // count)
        scores = np.take_along_axis(all_members, np.broadcast_to(turn, asked.place.shape + (choice.votes,)), 2)
    scores = np.moveaxis(scores, 2, 0)
    if choice.rule == "mean":
        return scores.mean(0)
    if choice.rule == "mode":
        return first_mode(scores, judge.levels)
    return first_to(scores, choice.stop, judge.levels) if choice.rule == "stop" else scores[0]


def advantages(r, estimator, levels):
    """[rows, G] of rewards [rows, G], before the normalization over the batch, by docs/estimators.md; real-valued rewards by steps."""
    r = r.astype(float)
    if estimator == "rank-grpo":
        r, estimator = ranks(r), "grpo"
    d = r - r.mean(1, keepdims=True)
    equal = r.max(1, keepdims=True) == r.min(1, keepdims=True)
    if estimator == "reinforce":
        return d
    if estimator == "grpo":
        return np.where(equal, 0, d / np.where(equal, 1, np.sqrt((d * d).mean(1, keepdims=True))))
    if estimator == "maxrl":
        return np.where(equal, 0, d / r.mean(1, keepdims=True))
    form, norm = estimator.rstrip(")").split("(")
    rows, count = r.shape
    order = np.argsort(r, 1, kind="stable")
    s = np.take_along_axis(r, order, 1)
    mu = 1 - np.arange(1, count) / count                     # share of the group that reaches a threshold in gap j, between s[j] and s[j+1]
    k = np.arange(1, levels + 1)
    if form == "odrpo":
        plain, gini = np.ones((rows, levels)), np.zeros((rows, levels))
    else:
        below = np.exp(-np.maximum(s[:, [(count - 1) // 2]] - k, 0) / 2) if form == "odrpo-gini-median" else 1.0
        plain, gini = np.broadcast_to(.1 * np.sqrt(k), (rows, levels)), np.sqrt(k) * below * np.ones((rows, 1))

    def up_to(step):                                         # integral from 0 to s of step(ceil(x))
        whole = np.concatenate([np.zeros((rows, 1)), np.cumsum(step, 1)], 1)
        floor = np.floor(s).astype(int)
        return np.take_along_axis(whole, floor, 1) + (s - floor) * np.take_along_axis(step, np.minimum(floor, levels - 1), 1)

    gap = np.diff(up_to(plain), axis=1) + 4 * mu * (1 - mu) * np.diff(up_to(gini), axis=1)
    gap = gap / (np.sqrt(mu * (1 - mu)) if norm == "grpo" else mu)
    above = np.concatenate([np.zeros((rows, 1)), np.cumsum(gap, 1)], 1)
    out = np.empty_like(r)
    np.put_along_axis(out, order, above - (gap * mu).sum(1, keepdims=True), 1)
    return out


def train(judge, choice, policy, rates, seeds, seed):
    """Final gains [rates, seeds], percent of the headroom. All rates see the same worlds."""
    rng = np.random.Generator(np.random.SFC64(seed))
    world, x = worlds(judge, seeds, rng)
    n, lr = len(rates), np.asarray(rates, np.float32)[:, None, None]
    theta = np.zeros((n, seeds, FEATURES) if policy == "linear" else (n, seeds, PROMPTS * RESPONSES), np.float32)
    m, v = np.zeros_like(theta), np.zeros_like(theta)
    rows = n * seeds * BATCH
    seed_of = np.broadcast_to(np.arange(seeds)[None, :, None], (n, seeds, BATCH)).ravel()
    for t in range(choice.steps):
        if t % (PROMPTS // BATCH) == 0:
            epoch = rng.permuted(np.tile(np.arange(PROMPTS), (seeds, 1)), axis=1)
        batch = epoch[:, t % (PROMPTS // BATCH) * BATCH:][:, :BATCH]
        prompt = np.broadcast_to(batch, (n, seeds, BATCH)).ravel()
        if policy == "linear":
            xb = x[np.arange(seeds)[:, None], batch].reshape(seeds, BATCH * RESPONSES, FEATURES)
            z = np.einsum("sbf,nsf->nsb", xb, theta, optimize=True).reshape(rows, RESPONSES)
        else:
            tables = theta.reshape(n, seeds, PROMPTS, RESPONSES)
            z = tables[:, np.arange(seeds)[:, None], batch].reshape(rows, RESPONSES)
        p = np.exp(z - z.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        below = np.cumsum(p, 1)[:, :-1]
        u = rng.random((rows, choice.rollouts), dtype=np.float32)
        response = np.zeros(u.shape, int)
        for a in range(RESPONSES - 1):
            response += u >= below[:, [a]]
        r = rewards(judge, choice, answers_of(world, seed_of, prompt, response), rng)
        a = advantages(r, choice.estimator, judge.levels).reshape(n, seeds, -1)
        sd = a.std(2, keepdims=True)
        a = np.where(sd > 0, (a - a.mean(2, keepdims=True)) / np.where(sd > 0, sd, 1), 0).reshape(rows, -1)
        g = np.bincount((np.arange(rows)[:, None] * RESPONSES + response).ravel(), a.ravel(), rows * RESPONSES).reshape(rows, RESPONSES)
        g = (g - p * a.sum(1, keepdims=True)).astype(np.float32) / (BATCH * choice.rollouts)
        if policy == "linear":
            grad = np.einsum("nsb,sbf->nsf", g.reshape(n, seeds, -1), xb, optimize=True)
        else:
            grad = np.zeros((n, seeds, PROMPTS, RESPONSES), np.float32)
            grad[:, np.arange(seeds)[:, None], batch] = g.reshape(n, seeds, BATCH, RESPONSES)
            grad = grad.reshape(theta.shape)
        m += .1 * (grad - m)
        v += .001 * (grad * grad - v)
        theta += lr * (m / (1 - .9 ** (t + 1))) / (np.sqrt(v / (1 - .999 ** (t + 1))) + 1e-8)
    q = world["quality"].astype(np.float32)
    z = np.einsum("sprf,nsf->nspr", x, theta, optimize=True) if policy == "linear" else theta.reshape(n, seeds, PROMPTS, RESPONSES)
    p = np.exp(z - z.max(3, keepdims=True))
    final = ((p * q).sum(3) / p.sum(3)).mean(2)
    start = q.mean((1, 2))
    return 100 * (final - start) / (q.max(2).mean(1) - start)
