#!/usr/bin/env python3
# Do estimators differ under stray low scores and vetoes as docs/which-estimator.md says? Trains them in bandit_in_numpy.py, which shares no code with the
# program, and prints the gain of each minus that of grpo, paired by seed: mean and half-width of the 95 % Student-t interval. Rates are chosen on 5 of 25 seeds.
# Usage: rivals_truth.py [linear|tabular]
import sys

import numpy as np

from bandit_in_numpy import Choice, judges, train

JUDGES = {"clean": dict(sigma=1e-9), "s2": dict(sigma=2), "mixed": dict(sigma=.47, high=.002, veto=.03, low=.01), "veto": dict(sigma=.39, veto=.08, low=.01),
          "low20": dict(sigma=.47, low=.2)}
ESTIMATORS = ["grpo", "reinforce", "rank-grpo", "maxrl", "odrpo-gini-median(maxrl)"]
RATES, SEEDS, TUNE, T = {"linear": [.3, 1, 3], "tabular": [.1, .3, 1]}, 25, 5, 2.093  # Student's t, 19 degrees of freedom


def reported(judge, estimator, policy):
    """Gains [20] at the rate with the best mean over the tuning seeds."""
    gains = train(judge, Choice(8, 1, "single", 0, estimator, 300), policy, RATES[policy], SEEDS, 11)
    return gains[np.argmax(gains[:, :TUNE].mean(1)), TUNE:]


policy = sys.argv[1] if len(sys.argv) > 1 else "linear"
print(f"| judge | grpo | {' | '.join(ESTIMATORS[1:])} |")
for name, settings in JUDGES.items():
    judge = judges.Judge(**settings)
    base = reported(judge, "grpo", policy)
    cells = []
    for estimator in ESTIMATORS[1:]:
        d = reported(judge, estimator, policy) - base
        cells.append(f"{d.mean():+.1f} ± {T * d.std(ddof=1) / np.sqrt(len(d)):.1f}")
    print(f"| {name} | {base.mean():.1f} | {' | '.join(cells)} |", flush=True)
