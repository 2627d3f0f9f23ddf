#!/usr/bin/env python3
# Three of the paper's suites (youden, random-rewards, w-conjecture) written again in numpy, after docs/ alone: worlds, calls, advantages, gradients and Adam share no
# code with the program, nor random numbers. Prints both means beside each other, and their difference in standard errors.
#   odrpo-bench run paper/youden -o youden.h5        (or random-rewards, w-conjecture)
#   docs/lab/suites_in_numpy.py youden.h5 [SEEDS]    default 10 seeds; ODRPO_BENCH is the program
import csv, io, math, os, statistics, subprocess, sys

import numpy as np

PROGRAM = os.environ.get("ODRPO_BENCH", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/release/odrpo-bench"))
GINI_MEDIAN = "odrpo-gini-median"


def eighths():
    """Eight equally likely values in place of a normal one: the mean of each eighth, at a standard deviation of 1."""
    normal = statistics.NormalDist()
    density = [0.0, *(normal.pdf(normal.inv_cdf(i / 8)) for i in range(1, 8)), 0.0]
    mean = np.array([8 * (density[i] - density[i + 1]) for i in range(8)])
    return mean / np.sqrt((mean**2).mean())


def world(rng, prompts, actions, features, profile, levels=10, integer=False):
    """Features [prompts, actions, features] of unit length on average, and quality: half of its spread is explained by a hidden direction of the features."""
    mean, mean_sd, spread, spread_sd = profile
    explained, x = 0.0, None
    rest = rng.standard_normal((prompts, actions))
    if features:
        x = rng.standard_normal((prompts, actions, features), dtype=np.float32) / np.float32(math.sqrt(features))
        signal = x @ rng.standard_normal(features, dtype=np.float32)
        explained, rest = math.sqrt(0.5) * signal / signal.std(), math.sqrt(0.5) * rest
    centre = mean + mean_sd * rng.standard_normal((prompts, 1))
    quality = np.clip(centre + spread * np.exp(spread_sd * rng.standard_normal((prompts, 1))) * (explained + rest), 1, levels)
    grid = 1 if integer else 16
    return x, np.floor(quality * grid + 0.5) / grid


def noisy_judge(rng, quality, sigma, spread, high=0.0, veto=0.0, low=0.0):
    """Normal errors whose size differs between prompts, then stray 10s, vetoes of ambiguous responses, stray 1s."""
    errors = sigma * np.exp(spread * eighths()[rng.integers(8, size=len(quality))])
    vetoes = np.where(rng.random(quality.shape) < veto, (2 * rng.integers(8, size=quality.shape) + 1) / 16, 0.0)

    def scores(prompt, action):
        score = np.clip(np.floor(quality[prompt[:, None], action] + errors[prompt][:, None] * rng.standard_normal(action.shape) + 0.5), 1, 10)
        score[rng.random(action.shape) < high] = 10
        score[rng.random(action.shape) < vetoes[prompt[:, None], action]] = 1
        score[rng.random(action.shape) < low] = 1
        return score
    return scores


def binary_judge(rng, quality, false_positive, true_positive):
    return lambda prompt, action: 1.0 + (rng.random(action.shape) < np.where(quality[prompt[:, None], action] == 2, true_positive, false_positive))


def advantages(score, estimator):
    """Of whole scores [..., group]."""
    mean = score.mean(-1, keepdims=True)
    if estimator == "maxrl":
        return (score - mean) / mean
    if estimator == "grpo":
        sd = score.std(-1, keepdims=True)
        return np.divide(score - mean, sd, out=np.zeros_like(score), where=sd > 0)
    group = score.shape[-1]
    median = np.sort(score, -1)[..., (group - 1) // 2, None]
    total = np.zeros_like(score)
    for k in range(2, int(score.max()) + 1):
        reaches = score >= k
        share = reaches.mean(-1, keepdims=True)
        norm = share if estimator.endswith("(maxrl)") else np.sqrt(share * (1 - share))
        weight = math.sqrt(k) * (0.1 + 4 * share * (1 - share) * np.exp(-np.maximum(median - k, 0) / 2))
        total += np.divide(weight * (reaches - share), norm, out=np.zeros_like(score), where=(share > 0) & (share < 1))
    return total


def softmax(logits):
    e = np.exp(logits - logits.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def train_linear(rng, x, quality, judge, estimator, lr, cosine, kl, steps=300, batch=64, rollouts=8):
    """Gain of a linear policy after Adam's steps: the share of the possible improvement."""
    prompts, actions, features = x.shape
    theta, m, v = np.zeros(features), np.zeros(features), np.zeros(features)
    warm = round(0.08 * steps) if cosine else 0
    rows, at = np.arange(batch)[:, None], prompts
    for t in range(steps):
        if at + batch > prompts:
            order, at = rng.permutation(prompts), 0
        prompt, at = order[at:at + batch], at + batch
        pi = softmax(x[prompt].astype(float) @ theta)
        action = np.minimum((rng.random((batch, rollouts))[:, :, None] >= pi.cumsum(1)[:, None, :]).sum(-1), actions - 1)
        a = advantages(judge(prompt, action), estimator)
        a = (a - a.mean()) / a.std() if a.std() > 0 else a
        a = a - kl * (1 - 1 / actions / pi[rows, action])
        by_logits = -pi * a.sum(1, keepdims=True)
        np.add.at(by_logits, (rows, action), a)
        g = by_logits.ravel() @ x[prompt].reshape(-1, features) / (batch * rollouts)
        rate = lr * (t + 1) / warm if t < warm else lr * 0.5 * (1 + math.cos(math.pi * (t - warm) / (steps - warm))) if cosine else lr
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        theta = theta + rate * m / (1 - 0.9**(t + 1)) / (np.sqrt(v / (1 - 0.999**(t + 1))) + 1e-8)
    reached = (softmax(x.astype(float) @ theta) * quality).sum(1).mean()
    return (reached - quality.mean()) / (quality.max(1).mean() - quality.mean())


MIXED_WORLD = (7.2, 1.8, 0.8, 0.4)  # mean, mean_sd, spread, spread_sd


def youden(seeds):
    judges = {"minus-0.4-low": (.52, .12), "minus-0.4-high": (.88, .48), "zero-low": (.2, .2), "zero-middle": (.5, .5), "zero-high": (.8, .8), "plus-0.4-low": (.12, .52), "plus-0.4-high": (.48, .88), "plus-1": (0, 1)}
    for name, rates in judges.items():
        for estimator in ("grpo", "maxrl", f"{GINI_MEDIAN}(maxrl)"):
            values = []
            for seed in range(seeds):
                rng = np.random.default_rng([1, seed, *name.encode(), *estimator.encode()])
                x, quality = world(rng, 256, 32, 24, (1.4, 0.3, 0.4, 0.4), levels=2, integer=True)
                values.append(train_linear(rng, x, quality, binary_judge(rng, quality, *rates), estimator, 0.3, False, 0))
            yield {"rater": name, "estimator": estimator}, "final_gain", values


def w_conjecture(seeds):
    for name in ("even-0.05", "even-0.54", "outliers-0.05", "outliers-0.54"):
        kind, sigma = name.split("-")
        for estimator in ("maxrl", f"{GINI_MEDIAN}(maxrl)"):
            values = []
            for seed in range(seeds):
                rng = np.random.default_rng([2, seed, *name.encode(), *estimator.encode()])
                x, quality = world(rng, 4800, 32, 24, MIXED_WORLD)
                judge = noisy_judge(rng, quality, float(sigma), 0.25) if kind == "even" else noisy_judge(rng, quality, float(sigma), 0.2, 0.002, 0.03, 0.01)
                values.append(train_linear(rng, x, quality, judge, estimator, 1.0, True, 0.001))
            yield {"rater": name, "estimator": estimator}, "final_gain", values


def random_rewards(seeds, steps=300, prompts=64, rollouts=8, lr=30.0):
    for epochs, clip in ((1, 0), (4, 0), (4, 0.2)):
        for estimator in ("grpo", f"{GINI_MEDIAN}(grpo)", "maxrl", f"{GINI_MEDIAN}(maxrl)"):
            rng = np.random.default_rng([3, epochs, int(10 * clip), *estimator.encode()])
            start = np.stack([world(rng, prompts, 2, 0, MIXED_WORLD)[1] for _ in range(seeds)])
            logits = start.copy()
            for _ in range(steps):
                old = softmax(logits)
                action = (rng.random((seeds, prompts, rollouts)) >= old[..., :1]).astype(int)
                a = advantages(rng.integers(1, 11, size=action.shape).astype(float), estimator)
                a = (a - a.mean((1, 2), keepdims=True)) / a.std((1, 2), keepdims=True)
                for _ in range(epochs):
                    pi = softmax(logits)
                    ratio = np.take_along_axis(pi, action, -1) / np.maximum(np.take_along_axis(old, action, -1), 2.0**-48)
                    kept = np.where(((a > 0) & (ratio > 1 + clip)) | ((a < 0) & (ratio < 1 - clip)), 0, a * ratio) if clip else a * ratio
                    second, whole = (kept * action).sum(-1), kept.sum(-1)
                    logits = logits + lr * np.stack([whole - second - pi[..., 0] * whole, second - pi[..., 1] * whole], -1) / (prompts * rollouts)
            best = start.argmax(-1)[..., None]
            apart = lambda z: (np.take_along_axis(z, best, -1) - np.take_along_axis(z, 1 - best, -1))[..., 0]
            rise = apart(logits) - apart(start)
            at = {"epochs": str(epochs), "ratio_clip": f"{clip:g}", "estimator": estimator}
            yield at, "logit_shift", rise.mean(1)
            yield at, "logit_spread", rise.std(1)


def main():
    path, seeds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10
    runs = list(csv.DictReader(io.StringIO(subprocess.run([PROGRAM, "export", path], check=True, capture_output=True, text=True).stdout)))
    suite = {"youden": youden, "w-conjecture": w_conjecture, "random-rewards": random_rewards}[os.path.basename(path).split(".")[0]]
    square, cells = 0.0, 0
    for at, value, theirs in suite(seeds):
        ours = [float(r[value]) for r in runs if all(r[k] == v or k == "ratio_clip" and float(r[k]) == float(v) for k, v in at.items())]
        error = math.sqrt(statistics.variance(ours) / len(ours) + statistics.variance(theirs) / len(theirs))
        z = (statistics.mean(ours) - statistics.mean(theirs)) / error
        square, cells = square + z * z, cells + 1
        print(f"{' '.join(at.values()):40} {value:13} {statistics.mean(ours):8.4f} (n {len(ours)}) {statistics.mean(theirs):8.4f} (n {len(theirs)}) {z:+.1f}", flush=True)
    print(f"{cells} cells, sum of squares {square:.1f}")


if __name__ == "__main__":
    main()
