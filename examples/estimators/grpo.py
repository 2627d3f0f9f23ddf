"""An estimator for odrpo-bench in Python: [estimator.mine] command = "python3 grpo.py". Change advantages() and keep the rest."""
import json, sys
import numpy as np


def advantages(scores):  # [prompts][rollouts], NaN = missing
    centred = scores - np.nanmean(scores, axis=1, keepdims=True)
    deviation = np.nanstd(scores, axis=1, keepdims=True)
    different = np.nanmax(scores, axis=1, keepdims=True) > np.nanmin(scores, axis=1, keepdims=True)  # the deviation of equal reals is a rounding error
    return np.divide(centred, deviation, out=np.zeros_like(centred), where=different)


for line in sys.stdin:
    request = json.loads(line)
    answer = {"id": request["id"]}
    if "scores" in request:
        answer["advantages"] = np.nan_to_num(advantages(np.array(request["scores"], float))).tolist()
    print(json.dumps(answer), flush=True)
