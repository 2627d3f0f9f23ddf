# docs/lab/bandit_peers.py in numpy against `compute`: advantages of the suite's estimators, distributions of votes. Then it learns. Usage: docs_peers.py PROGRAM
import json, os, subprocess, sys

try:
    import numpy as np
    import tomllib
except ImportError:
    print("needs numpy and Python 3.11")
    sys.exit(77)
from checks import check, finish, near, program

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../docs/lab"))
import bandit_peers as peers

rng = np.random.default_rng(1)
scores = rng.integers(1, peers.LEVELS + 1, (peers.ROLLOUTS, 60)).astype(np.uint8)
scores[:, 0], scores[:, 1] = 1, peers.LEVELS                                    # nobody and everybody reaches the levels
wanted, requests = [], []
for estimator in peers.SUITE["grid"]["estimator"]:
    got = peers.advantages(peers.numpy_forms(scores.shape[1]), scores, estimator).T.astype(float)
    form, _, norm = estimator.rstrip(")").partition("(")
    for group, row in zip(scores.T.tolist(), got.tolist()):
        wanted.append((f"{estimator} {group}", row, 2e-5))
        if norm:
            requests.append(("odrpo", {"rewards": group, "K": peers.LEVELS, "norm": norm, "weights": form.removeprefix("odrpo-"), "eps": peers.EPS, "median_rule": "mid", "median_value": None}))
        else:
            requests.append(("advantage", {"rewards": group, "est": form, "ddof": 0, "eps": peers.EPS}))
pmf = peers.score_pmf()
for votes in peers.SUITE["grid"]["votes"]:
    for level, row in enumerate(peers.vote_pmf(pmf, votes)):
        wanted.append((f"{votes} votes, true level {level + 1}", row.tolist(), 1e-12))
        requests.append(("vote_pmf", {"pmf": pmf[level].tolist(), "N": votes, "tie": peers.SUITE["rater"]["yardstick"]["tie"]}))
lines = "".join(json.dumps({"id": i, "fn": fn, "args": arguments}) + "\n" for i, (fn, arguments) in enumerate(requests))
answers = subprocess.run([program, "compute"], input=lines, capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()
check(len(answers) == len(wanted), f"{len(answers)} answers to {len(wanted)} requests")
for line, (what, row, tolerance) in zip(answers, wanted):
    answer = json.loads(line)
    near(row, answer.get("out", []), f"{what} {answer.get('error', '')}", tolerance)

request = {"estimator": "odrpo-gini-median(maxrl)", "votes": 1, "seeds": 1, "steps": 400}
[answer] = peers.answers("numpy", [request])
check(answer["regret"][0] < 1.3, f"{request}: regret {answer['regret']}")       # it starts at 3.4
finish()
