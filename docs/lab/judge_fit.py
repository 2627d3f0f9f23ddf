#!/usr/bin/env python3
# How well `judge fit` knows judges whose truth is known: files of tests/app/judge/simulated_judges.py, which shares no code with the program.
# Of each file: statistics of fresh scores of the fitted judge against fresh scores of the true one, inside the tolerance that the fit's page names plus two
# sampling errors of the file's halves; what 2, 4 and 8 calls are worth against the ratio of variances. Usage: judge_fit.py PROGRAM [SEEDS [KIND[,PARAMETER=VALUE…]…]]
import json, os, subprocess, sys, tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/app/judge"))
import simulated_judges as judges

program, seeds = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 4
kinds = sys.argv[3:] or ["mixed", "veto", "low5", "low20", "high10", "uniform10", "mirror10", "gauss16", "drift", "panel",
                         "latent,levels=8,veto=0.05", "latent,levels=8,uniform=0.1"]
SHAPE = (300, 8, 8)


def call(*arguments):
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


def scores_of(path, shape):
    rows = [line.split(",") for line in open(path) if line[0].isdigit()]
    return np.array([int(row[-1]) for row in rows]).reshape(shape)


def kurtosis(scores):
    d = np.concatenate([(scores[..., a] - scores[..., b]).ravel() for a in range(scores.shape[-1]) for b in range(a)]).astype(float)
    return np.mean(d**4) / np.mean(d**2)**2 - 3


def skewness(scores):
    d = scores - scores.mean(axis=-1, keepdims=True)
    return np.mean(d**3) / np.mean(d**2)**1.5


def statistics(scores, levels, judges_of_panel):
    # of a panel, calls far apart are those of one judge
    rows = scores.reshape(*scores.shape[:2], judges_of_panel, -1)
    sd, r = judges.halves(scores - (scores.mean(axis=1, keepdims=True) if judges_of_panel > 1 else scores.mean(axis=(0, 1))))
    constant = np.mean(scores.max(axis=-1) == scores.min(axis=-1))
    return {"far pairs": judges.far_pairs(rows, levels), "half less half": sd, "correlation of halves": r, "rows without spread": constant,
            "row deviation": np.mean(np.std(scores, axis=-1, ddof=1)), "skewness of rows": skewness(rows), "kurtosis, differences": kurtosis(rows)}


inside = pairs = files = right = 0
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for kind in kinds:
        for seed in range(1, seeds + 1):
            base, *parameters = kind.split(",")
            judge, rng = judges.make(base, **{key: judges._value(value) for key, value in (p.split("=") for p in parameters)}), np.random.default_rng([seed, 43])
            prompts, responses, calls = SHAPE
            columns = [judge.column_of(i % len(judge.members)) for i in range(calls)] if base == "panel" else list(range(calls))
            columns = sorted(columns)
            world = judge.world(prompts, responses, rng)
            judges.write_scores("file.csv", judge.calls(world, columns, rng))
            panel = ["--rater", f"sample_id / {calls // len(judge.members)}"] if base == "panel" else []
            page = json.loads(call("judge", "fit", "file.csv", *panel, "--json", "-o", "judge.toml"))
            os.replace("judge.toml", "fitted.toml")
            call("judge", "simulate", "fitted.toml", "--prompts", "3000", "--responses", str(responses), "--samples", str(calls), "-o", "fit.csv")
            os.replace("fit.csv", "drawn.csv")
            fresh = judge.calls(judge.world(3000, responses, rng), columns, rng)
            truth, fitted = (statistics(scores, judge.levels, len(judge.members) if base == "panel" else 1) for scores in (fresh, scores_of("drawn.csv", fresh.shape)))
            lines = {line["name"]: line for line in page["goodness_of_fit"]["statistics"]}
            missed = []
            for name, value in truth.items():
                bound = lines[name]["tolerance"] + 2 * lines[name]["mean"]["error"]
                pairs += 1
                inside += abs(fitted[name] - value) <= bound
                if abs(fitted[name] - value) > bound:
                    missed.append(f"{name} {fitted[name]:.3f} for {value:.3f}")
            worth = {row["votes"]: row["worth"] for row in page["effective_votes"]}
            ratio = {n: worth[n] / judges.worth(judge, n, rng) for n in (2, 4, 8)}
            files += 1
            right += all(abs(r - 1) <= 0.15 for r in ratio.values())
            found = {word: round(of["value"], 4) for word, of in page["outliers"].items() if of["fitted"]}
            print(f"{kind:10} {seed}  worth {worth[8]:.2f} of 8 ({', '.join(f'{r:.2f}' for r in ratio.values())} of the truth)  {found}  "
                  f"MISSES: {sum(line['verdict'] == 'misses' for line in lines.values())}  {'; '.join(missed)}", flush=True)
print(f"{inside} of {pairs} predictions inside, {100 * inside / pairs:.0f} %; worth of 2, 4, 8 calls within 15 % in {right} of {files} files")
