"""Does a higher R train better? Rank correlation over estimators of their R under the best map (`theory bound --json`) and their gain in
training (`table --json` of suites/bound.toml), for each rater, policy and number of votes, with a bootstrap interval over seeds.

Usage: bound.py BOUND.json TABLE.json    (the judge's file of the first is the rater essays-judge of the second)"""
import json
import sys

import numpy as np


def ranks(x):
    x = np.asarray(x)
    return np.array([(x < v).sum() + ((x == v).sum() - 1) / 2 for v in x])


def spearman(x, y):
    return np.corrcoef(ranks(x), ranks(y))[0, 1]


bound, table = (json.load(open(path)) for path in sys.argv[1:3])
share = {}
for r in bound["rows"]:
    if r["tilt"] == 0:
        rater = "essays-judge" if r["rater"].endswith(".toml") else r["rater"]
        share[rater, r["policy"], r["N"], r["advantages"]] = r["share"]
for block in table["blocks"]:
    rater, policy = block["fixed"]["rater"], block["fixed"]["policy"]
    for votes in sorted({c["column"] for c in block["cells"]}, key=int):
        cells = [c for c in block["cells"] if c["column"] == votes]
        near = [share[rater, policy, int(votes), c["row"]] for c in cells]
        gains = np.array([c["values"] for c in cells])
        random = np.random.default_rng(0)
        drawn = [spearman(near, gains[:, random.integers(0, gains.shape[1], gains.shape[1])].mean(1)) for _ in range(2000)]
        mean = gains.mean(1)
        best, nearest = int(np.argmax(mean)), int(np.argmax(near))
        print(f"{rater:13} {policy:8} N={votes}: rank correlation {spearman(near, mean):5.2f} [{np.quantile(drawn, .025):5.2f}, {np.quantile(drawn, .975):5.2f}], "
              f"gains {mean.min():.1f} to {mean.max():.1f}; best gain {cells[best]['row']}; best R {cells[nearest]['row']}, whose gain is {mean[nearest]:.1f}")
