#!/usr/bin/env python3
# Does a dump of rollouts predict which estimator trains best? Runs suites/rollouts-toy-lm.toml twice: steps at rate 0, whose rollouts it reads, and the training.
# From the rollouts it computes, with numpy alone, the pooled cosine of each estimator's advantages A with T = q - mean q of the group, q the true quality:
# sum <A, T> / sqrt(sum |A|^2 sum |T|^2), A before whitening. It prints cosines and gains (means over seeds) and, for each judge, Spearman's correlation of the two over estimators.
# The same cosine is predicted by `rollouts analyze --judge`, which reads the scores alone: one dump for each judge and seed, sums over seeds.
# Interval: percentiles of 10,000 bootstrap samples of the seeds. Posterior forms know the judge: the correlation without them is printed too.
# Usage: rollouts_order.py FOLDER [--seeds N] [--jobs N] [--set KEY=VALUE ...]     files in FOLDER are kept and used again; ODRPO_BENCH names the program
import argparse
import csv
import io
import json
import os
import subprocess
import sys

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("ODRPO_BENCH", os.path.join(ROOT, "build/release/odrpo-bench"))
DUMP = ["learn.lr=0", "learn.whiten=none", "learn.steps=10", "record.rollouts=1", "record.every=10"]


def call(*words):
    return subprocess.run([PROGRAM, *words], check=True, stdout=subprocess.PIPE, text=True).stdout


def ranks(x):
    """Ranks from 0, [..., n]; equal values share their mean rank."""
    return ((x[..., None, :] < x[..., :, None]).sum(-1) + (x[..., None, :] <= x[..., :, None]).sum(-1) - 1) / 2


def spearman(x, y):
    """Spearman's correlation along the last axis; NaN where one side is constant."""
    a, b = ranks(x), ranks(y)
    a, b = a - a.mean(-1, keepdims=True), b - b.mean(-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        return (a * b).sum(-1) / np.sqrt((a * a).sum(-1) * (b * b).sum(-1))


def sums_of(dump):
    """[<A, T>, |A|^2, |T|^2] of each run of a file: {(rater, estimator, seed): sums}. Rollouts of a prompt are neighbours."""
    runs = {int(r["run"]): (r["rater"], r["estimator"], int(r["seed"])) for r in csv.DictReader(io.StringIO(call("export", dump)))}
    groups = {}
    for line in call("export", dump, "--what", "rollouts").splitlines():
        row = json.loads(line)
        groups.setdefault((row.get("run", 0), row["step"], row["prompt"]), []).append((row["advantage"], row["quality"]))
    sums = {key: np.zeros(3) for key in runs.values()}
    for (run, _, _), rows in groups.items():
        a, q = np.array(rows).T
        t = q - q.mean()
        sums[runs[run]] += [a @ t, a @ a, t @ t]
    return sums


def predicted(dump, raters, estimators, seeds, folder):
    """[cosine] that the program predicts from the scores of the first estimator's rollouts, {(rater, estimator, seed): cosine}; at rate 0 all have these."""
    found = {}
    for rater in raters:
        for seed in range(seeds):
            path = os.path.join(folder, f"{rater}-{seed}.jsonl")
            with open(path, "w") as out:
                out.write(call("export", dump, "--what", "rollouts", "--only", f"*/{rater}/*/{estimators[0]}/*/s{seed}"))
            report = json.loads(call("rollouts", "analyze", path, "--judge", rater, "--json", *(w for e in estimators for w in ("--estimator", e))))
            for e in report["judge"]["estimators"]:
                found[rater, e["estimator"], seed] = e["scores"][0]["cosine"]["value"]
    return found


def gains_of(path):
    return {(r["rater"], r["estimator"], int(r["seed"])): float(r["final_gain"] or "nan") for r in csv.DictReader(io.StringIO(call("export", path)))}


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("folder")
    flags.add_argument("--seeds", type=int, default=10)
    flags.add_argument("--jobs", type=int, default=os.cpu_count())
    flags.add_argument("--set", action="append", default=[])
    o = flags.parse_args()
    suite = os.path.join(ROOT, "suites/rollouts-toy-lm.toml")
    paths = {}
    for name, more in (("dump", DUMP), ("trained", [])):
        paths[name] = os.path.join(o.folder, f"{name}.h5")
        values = [word for value in (*o.set, f"suite.seeds={o.seeds}", *more) for word in ("--set", value)]
        subprocess.run([PROGRAM, "run", suite, *values, "-o", paths[name], "--jobs", str(o.jobs)], check=True, stdout=subprocess.DEVNULL)
    sums, gains = sums_of(paths["dump"]), gains_of(paths["trained"])
    if sums.keys() != gains.keys():
        sys.exit("rollouts_order: the two files hold other runs")
    estimators = list(dict.fromkeys(key[1] for key in sums))
    model = predicted(paths["dump"], list(dict.fromkeys(key[0] for key in sums)), estimators, o.seeds, o.folder)
    random = np.random.default_rng(1)
    samples = random.integers(o.seeds, size=(10_000, o.seeds))
    for rater in dict.fromkeys(key[0] for key in sums):
        estimators = list(dict.fromkeys(key[1] for key in sums if key[0] == rater))
        s = np.array([[sums[rater, e, seed] for seed in range(o.seeds)] for e in estimators])  # [estimators][seeds][3]
        g = np.array([[gains[rater, e, seed] for seed in range(o.seeds)] for e in estimators])
        failed = np.isnan(g).any(0)
        if failed.any():
            sys.exit(f"rollouts_order: runs of seeds {np.flatnonzero(failed)} failed or have no gain")

        def cosine(of):
            return of[..., 0] / np.sqrt(of[..., 1] * of[..., 2])

        c, one = cosine(s.sum(1)), cosine(s)
        m = np.array([[model[rater, e, seed] for seed in range(o.seeds)] for e in estimators])
        print(f"\nrater={rater}, {o.seeds} seeds\n{'estimator':26}{'cosine':>8}{'sd':>7}{'predicted':>11}{'sd':>7}{'gain [%]':>10}{'sd':>6}")
        for i in np.argsort(-c):
            print(f"{estimators[i]:26}{c[i]:8.3f}{one[i].std(ddof=1) if o.seeds > 1 else np.nan:7.3f}{m[i].mean():11.3f}{m[i].std(ddof=1) if o.seeds > 1 else np.nan:7.3f}{100 * g[i].mean():10.1f}{100 * g[i].std(ddof=1) if o.seeds > 1 else np.nan:6.1f}")
        for what, keep in (("all", range(len(estimators))), ("without posterior forms", [i for i, e in enumerate(estimators) if not e.startswith("posterior(")])):
            gain, sampled = g[keep].mean(1), g[keep][:, samples].mean(2).T
            for of, x, drawn in (("true cosine", c[keep], cosine(s[keep][:, samples].sum(2)).T), ("predicted cosine", m[keep].mean(1), m[keep][:, samples].mean(2).T)):
                lo, hi = np.nanpercentile(spearman(drawn, sampled), [2.5, 97.5])
                print(f"Spearman's correlation of gain and {of}, {what}, {len(keep)} estimators: {spearman(x, gain):+.2f} [{lo:+.2f}, {hi:+.2f}]")


main()
