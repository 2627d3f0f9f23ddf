#!/usr/bin/env python3
# Does `judge advise FILE` hold under the judge that wrote the file? Files of tests/app/judge/simulated_judges.py; every choice that the advice shows is trained again under
# the true judge, with fresh worlds and seeds, by docs/lab/bandit_in_numpy.py, at rates a factor of 1.33 apart around the advised one. Half of the seeds choose
# the rate that the other half reports. Nothing here shares code with the program.
# Printed: what the advised choice loses to the best one shown, and how many printed differences from the best hold the true one in their interval.
#   advice_truth.py PROGRAM [--seeds N] [--budgets C,C] [KIND ...]      KIND: of the lists below; "described" (default), "undescribed"
import argparse
import json
import os
import subprocess
import tempfile

import numpy as np

import bandit_in_numpy as bandit
from bandit_in_numpy import judges

DESCRIBED = {kind: (kind, {}) for kind in ["mixed", "veto", "low5", "low20", "high10", "uniform10", "mirror10", "gauss16", "wide", "panel"]}
UNDESCRIBED = {
    "heavy": ("heavy", {}),
    "heavy-wide": ("heavy", {"tails": 3.0, "sigma": 1.0}),
    "heaviest": ("heavy", {"tails": 1.2, "sigma": 0.3}),
    "length": ("length", {}),
    "length-often": ("length", {"most": 0.8}),
    "length-mixed": ("length", {"most": 0.3, "base": "mixed"}),
    "midway": ("midway", {}),
    "midway-severe": ("midway", {"late_severity": -3.0, "late_sigma": 1.0}),
    "midway-early": ("midway", {"after": 0.25, "late_severity": 0.0, "late_sigma": 4.0}),
    "heavy-mirror": ("heavy", {"tails": 2.0, "mirror": 0.05}),
}
STEP = 1.33
PANEL_CALLS = 8  # two of each of four judges, in blocks

parser = argparse.ArgumentParser()
parser.add_argument("program")
parser.add_argument("kinds", nargs="*", default=["described"], metavar="KIND")
parser.add_argument("--seeds", type=int, default=48)
parser.add_argument("--budgets", default="30000,120000")
given = parser.parse_args()
program = os.path.abspath(given.program)
lists = {"described": DESCRIBED, "undescribed": UNDESCRIBED}
kinds = {}
for word in given.kinds:
    kinds.update(lists.get(word) or {word: {**DESCRIBED, **UNDESCRIBED}[word]})


def reported(gains):
    """[seeds]: each half of the seeds at the rate that is best on the other; and the places of the two rates."""
    half = gains.shape[1] // 2
    first, second = gains[:, :half].mean(1).argmax(), gains[:, half:].mean(1).argmax()
    return np.concatenate([gains[second, :half], gains[first, half:]]), (first, second)


def true_gain(judge, shown, seed):
    """[seeds], percent of the headroom, mean over policies; the best rates of a choice of advise's JSON."""
    choice = bandit.Choice(*(shown[key] for key in ["rollouts", "votes", "rule", "stop", "estimator", "steps"]))
    total, rates = 0, {}
    for policy, of in shown["policies"].items():
        tried = {}
        places = [-2, -1, 0, 1, 2]
        while True:
            new = [p for p in places if p not in tried]
            tried.update(zip(new, bandit.train(judge, choice, policy, [of["lr"] * STEP ** p for p in new], given.seeds, seed)))
            gains, best = reported(np.stack([tried[p] for p in places]))
            at = [places[b] for b in best]
            if min(at) > places[0] and max(at) < places[-1] or len(places) >= 13:
                break
            places = [places[0] - 2, places[0] - 1] * (min(at) == places[0]) + places + [places[-1] + 1, places[-1] + 2] * (max(at) == places[-1])
        total, rates[policy] = total + gains, at
    return total / len(shown["policies"]), rates


def name(c):
    return f"{c['rollouts']:2} x {c['votes']:2} {c['rule'] + (' ' + str(c['stop']) if c['stop'] else ''):6} {c['estimator']}"


questions = right = uncertain = good = pairs = inside = 0
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for number, (kind, (base, parameters)) in enumerate(kinds.items()):
        judge, rng = judges.make(base, **parameters), np.random.default_rng([44, sum(map(ord, kind))])
        columns = range(PANEL_CALLS if base == "panel" else 4)
        judges.write_scores("file.csv", judge.calls(judge.world(300, 8, rng), columns, rng))
        panel = ["--rater", "sample_id / 2"] if base == "panel" else []
        for budget in given.budgets.split(","):
            page = json.loads(subprocess.run([program, "judge", "advise", "file.csv", *panel, "--calls", budget, "--json", "-q", "--jobs", "1"],
                                             check=True, capture_output=True, text=True).stdout)
            truth = [true_gain(judge, c, 1000 * number + int(budget) % 997) for c in page["choices"]]
            gains = [t[0].mean() for t in truth]
            advised = page["advised_place"]
            loss = max(gains) - gains[advised]
            questions += 1
            right += loss <= .5
            uncertain += not page["certain"]
            good += loss <= .5 or not page["certain"]
            print(f"{kind} {budget}: {name(page['choices'][advised])} loses {loss:.2f} to {name(page['choices'][int(np.argmax(gains))])}; "
                  f"{'certain' if page['certain'] else 'uncertain'}", flush=True)
            for c, (y, rates) in zip(page["choices"], truth):
                if c["less_best"] is None:
                    continue
                d = y - truth[0][0]
                error = d.std(ddof=1) / np.sqrt(len(d))
                holds = c["less_best"]["lo"] <= d.mean() <= c["less_best"]["hi"]
                pairs += 1
                inside += holds
                wrong = c["worse"] and d.mean() > 2 * error
                print(f"    {name(c):38} printed {c['less_best']['mean']:+.2f} [{c['less_best']['lo']:.2f}, {c['less_best']['hi']:.2f}]{'*' if c['worse'] else ' '} "
                      f"true {d.mean():+.2f} ± {error:.2f}{'' if holds else '  OUTSIDE'}{'  WRONG STAR' if wrong else ''}  {rates}", flush=True)
print(f"{questions} questions: the advised choice loses at most .5 in {right}; uncertain in {uncertain}; right or uncertain in {good}; "
      f"{inside} of {pairs} printed differences hold the true one")
