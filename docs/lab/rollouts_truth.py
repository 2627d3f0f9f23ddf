#!/usr/bin/env python3
"""Does `rollouts analyze --judge` predict what advantages have to do with true quality? Simulates trainings whose true qualities are known, writes their
dumps, and compares the program's numbers with the true ones. Shares no code with the program.

    python3 docs/lab/rollouts_truth.py --program build/release/odrpo-bench --dumps 40 [--judge mixed] [--policy world|learning|learned|repeating]

Prints for each estimator, number and count of votes: mean prediction, mean truth, mean difference with its standard error, and in how many dumps the
95 % interval holds the true number."""
import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np

# world: centre and its sd over prompts, median spread and its log sd; judge: sigma and its log sd over prompts, share of ambiguous responses, low, high
judges = {
    "mixed": dict(mean=7.2, mean_sd=1.8, spread=0.8, spread_sd=0.40, sigma=0.47, sigma_sd=0.20, veto=0.03, low=0.010, high=0.002),
    "veto": dict(mean=7.4, mean_sd=1.7, spread=0.7, spread_sd=0.40, sigma=0.39, sigma_sd=0.20, veto=0.08, low=0.010, high=0.0),
    "gauss": dict(mean=6.9, mean_sd=1.8, spread=0.8, spread_sd=0.45, sigma=0.52, sigma_sd=0.25, veto=0.0, low=0.0, high=0.0),
    "wide": dict(mean=6.8, mean_sd=2.6, spread=1.6, spread_sd=0.40, sigma=0.92, sigma_sd=0.20, veto=0.03, low=0.010, high=0.005),
}
levels = 10
numbers = ("sign", "pairs", "cosine")


def training(j, policy, steps, batch, group, prompts, random):
    """Groups of a training: prompt[G], step[G], quality[G][n], and what lasts: sigma[G][1] of the prompt, veto[G][n] of the response.
    A policy that has learned so far (0 = not at all, 1 = at the end) draws new responses of the quality N(b + 2 far s^2, (1 - far / 2)^2 s^2), where the world
    has N(b, s^2). The policy `repeating` chooses among 32 responses of a prompt instead, with probability proportional to exp(2 far quality), so that a
    group holds a response several times."""
    responses = 32
    centre = j["mean"] + j["mean_sd"] * random.standard_normal(prompts)
    spread = j["spread"] * np.exp(j["spread_sd"] * random.standard_normal(prompts))
    sigma = j["sigma"] * np.exp(j["sigma_sd"] * random.standard_normal(prompts))
    fixed = centre[:, None] + spread[:, None] * random.standard_normal((prompts, responses))
    vetoes = lambda shape: np.where(random.random(shape) < j["veto"], random.random(shape), 0)
    fixed_veto = vetoes(fixed.shape)
    out = []
    for step in range(steps):
        far = {"world": 0, "learning": step / steps, "learned": 1, "repeating": step / steps}[policy]
        for p in random.choice(prompts, batch, replace=False):
            if policy == "repeating":
                weight = np.exp(2 * far * (fixed[p] - fixed[p].max()))
                chosen = random.choice(responses, group, p=weight / weight.sum())
                quality, veto = fixed[p, chosen], fixed_veto[p, chosen]
            else:
                quality, veto = centre[p] + 2 * far * spread[p] ** 2 + (1 - far / 2) * spread[p] * random.standard_normal(group), vetoes(group)
            out.append((step, p, np.floor(np.clip(quality, 1, levels) * 16 + 0.5) / 16, sigma[p], veto))
    step, prompt, quality, sigma, veto = (np.array([g[i] for g in out]) for i in range(5))
    return step, prompt, quality, sigma[:, None], veto


def calls(j, quality, sigma, veto, votes, random):
    """Scores of so many calls, [votes][G][n]."""
    shape = (votes, *quality.shape)
    score = np.clip(np.floor(quality + sigma * random.standard_normal(shape) + 0.5), 1, levels)
    score = np.where(random.random(shape) < j["high"], levels, score)
    score = np.where(random.random(shape) < veto, 1, score)
    return np.where(random.random(shape) < j["low"], 1, score)


def mode(scores):
    """The most frequent of the votes; the first drawn of those that are equally frequent."""
    count = (scores[:, None] == scores[None]).sum(1)
    return np.take_along_axis(scores, count.argmax(0)[None], 0)[0]


def grpo(r):
    sd = r.std(1, keepdims=True)
    return np.where(sd > 0, (r - r.mean(1, keepdims=True)) / np.where(sd > 0, sd, 1), 0)


def maxrl(r):
    return r / r.mean(1, keepdims=True) - 1


def rank_grpo(r):
    return grpo((r[:, :, None] > r[:, None]).sum(2) + 0.5 * (r[:, :, None] == r[:, None]).sum(2))


def odrpo_gini_median_maxrl(r):
    median = np.sort(r, axis=1)[:, (r.shape[1] - 1) // 2]
    out = np.zeros_like(r)
    for k in range(1, levels + 1):
        reached = (r >= k).astype(float)
        mu = reached.mean(1)
        weight = np.sqrt(k) * (0.1 + 4 * mu * (1 - mu) * np.exp(-np.maximum(median - k, 0) / 2))
        alive = (mu > 0) & (mu < 1)
        out += np.where(alive, weight / np.where(alive, mu, 1), 0)[:, None] * (reached - mu[:, None])
    return out


estimators = {"grpo": grpo, "maxrl": maxrl, "rank-grpo": rank_grpo, "odrpo-gini-median(maxrl)": odrpo_gini_median_maxrl}


def truth(advantage, quality):
    t = quality - quality.mean(1, keepdims=True)
    advantage = np.where(np.abs(advantage) < 1e-9, 0, advantage)
    t = np.where(np.abs(t) < 1e-9, 0, t)
    signs = advantage * t
    later, earlier = np.triu_indices(quality.shape[1], 1)
    of_a, of_t = np.sign((advantage[:, later] - advantage[:, earlier]).round(9)), np.sign(t[:, later] - t[:, earlier])
    wrong = np.where(of_a == 0, 0.5, of_a != of_t)[of_t != 0]
    return {"sign": (signs < 0).sum() / (signs != 0).sum(), "pairs": wrong.mean(),
            "cosine": (advantage * t).sum() / np.sqrt((advantage**2).sum() * (t**2).sum())}


def one_dump(args, j, seed, folder):
    random = np.random.default_rng(seed)
    step, prompt, quality, sigma, veto = training(j, args.policy, args.steps, args.batch, args.group, args.prompts, random)
    score = calls(j, quality, sigma, veto, 1, random)[0]
    path = Path(folder) / f"dump{seed}.jsonl"
    with open(path, "w") as file:
        for g in range(len(step)):
            for i in range(args.group):
                print(json.dumps({"step": int(step[g]), "prompt": f"p{prompt[g]}", "reward": score[g, i]}), file=file)
    found = {}
    for votes in (1, 2, 4, 8):
        given = score if votes == 1 else mode(calls(j, quality, sigma, veto, votes, random))
        for name, estimator in estimators.items():
            found[name, votes] = truth(estimator(given), quality)
    command = [args.program, *args.command.split(), str(path), "--judge", args.judge, *args.flags.split()]
    for name in estimators:
        command += ["--estimator", name]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["judge"]
    predicted = {(e["estimator"], s["votes"]): s for e in told["estimators"] for s in e["scores"]}
    return found, predicted


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/odrpo-bench")
    parser.add_argument("--command", default="rollouts analyze --json")
    parser.add_argument("--flags", default="")
    parser.add_argument("--judge", choices=judges, default="mixed")
    parser.add_argument("--world", choices=judges, help="of the truth, if it is not the judge's")
    parser.add_argument("--policy", choices=("world", "learning", "learned", "repeating"), default="learning")
    for name, value in dict(dumps=40, seed=1, steps=10, batch=64, group=8, prompts=512).items():
        parser.add_argument("--" + name, type=int, default=value)
    args = parser.parse_args()
    j = judges[args.world or args.judge]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for d in range(args.dumps):
            rows.append(one_dump(args, j, args.seed + d, folder))
    print(f"judge {args.judge}, policy {args.policy}: {args.dumps} dumps of {args.steps} x {args.batch} groups of {args.group}, seeds {args.seed}..")
    print(f"{'estimator':<26}{'votes':>5}  {'number':<8}{'predicted':>10}{'true':>9}{'difference':>21}{'intervals that hold it':>25}")
    held_all = total = 0
    for name in estimators:
        for votes in (1, 2, 4, 8):
            for number in numbers:
                true = np.array([found[name, votes][number] for found, _ in rows])
                told = [predicted[name, votes][number] for _, predicted in rows]
                value = np.array([t["value"] for t in told])
                held = sum(t["low"] <= x <= t["high"] for t, x in zip(told, true))
                difference = value - true
                error = difference.std(ddof=1) / np.sqrt(len(rows))
                print(f"{name:<26}{votes:>5}  {number:<8}{value.mean():>10.4f}{true.mean():>9.4f}{difference.mean():>+11.4f} +- {error:.4f}{held:>16} of {len(rows)}")
                held_all += held
                total += len(rows)
    print(f"all: {held_all} of {total} intervals hold the true number ({100 * held_all / total:.1f} %)")


if __name__ == "__main__":
    main()
