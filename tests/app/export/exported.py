# What the tests of `export-estimator` share: exported files and their readers, random groups, answers of other commands. Arguments of the tests:
# PROGRAM posterior_estimator.py, and more
import importlib.util, json, math, os, random, subprocess, sys

try:
    import numpy as np
except ImportError:
    print("skipped: no numpy")
    sys.exit(77)

import checks
from checks import check

sys.dont_write_bytecode = True
rng = random.Random(5)
made = 0


def module_of(path):
    spec = importlib.util.spec_from_file_location(os.path.basename(path).replace(".", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


trainer = module_of(checks.paths[0])


def export(rater, *flags, form="json", **how):
    """The path of a new file."""
    global made
    made += 1
    name = f"{made}.{form}"
    checks.call("export-estimator", rater, "-o", name, *flags, **how)
    return name


def loaded(path):
    return module_of(path).Posterior() if path.endswith(".py") else trainer.Posterior(path)


def array_of(x):
    """Lists of numbers, or of lists of numbers, as an array: None is NaN."""
    return np.array(x, float)


def near(got, wanted, what, tolerance=1e-6):
    got, wanted = array_of(got), array_of(wanted)
    check(got.shape == wanted.shape and np.array_equal(np.isnan(got), np.isnan(wanted)), f"{what}: shape or gaps of {got}, expected {wanted}")
    check(got.shape != wanted.shape or np.nanmax(np.abs(got - wanted), initial=0) <= tolerance, f"{what}: {got}, expected {wanted}")


def refuses(words, call):
    """call() raises a ValueError whose message has the words."""
    try:
        call()
        check(False, f"not refused: {words}")
    except ValueError as error:
        check(words in str(error), f"{error}: expected {words!r}")


def group_of(size, levels=10):
    """Scores as judges give them, with outliers; some groups are equal, some are noise."""
    kind = rng.random()
    if kind < 0.2:
        return [rng.randint(1, levels)] * size
    centre = rng.randint(1, levels)
    return [rng.randint(1, levels) if kind < 0.5 or rng.random() < 0.1 else min(levels, max(1, centre + rng.randint(-2, 2))) for _ in range(size)]


def computed(rater, prior, groups):
    """Posterior scores by `compute`."""
    lines = [json.dumps({"id": i, "fn": "posterior_scores", "args": {"rater": rater, "prior": prior, "scores": g}}) for i, g in enumerate(groups)]
    ran = subprocess.run([checks.program, "compute"], input="\n".join(lines), capture_output=True, text=True)
    return [json.loads(line)["out"] for line in ran.stdout.splitlines()]


def explained(rater, estimator, group, *flags):
    """By `explain`: posterior scores under the fixed prior, and advantages by system."""
    answer = json.loads(checks.call("explain", "--json", "--estimator", estimator, "--model", rater, "--rewards", ",".join(map(str, group)), *flags))
    [rows] = [e["conventions"] for e in answer["estimators"] if e["estimator"] == estimator]
    return answer["posterior"]["scores"], {system: row["advantages"] for row in rows for system in row["compat"]}


def fit_judge():
    """judge.toml: 5 levels, fitted to scores that stray. mean.toml and fraction.toml are the same judge with other aggregates, zero.toml with
    answers that cannot be read and score 0. resample.toml has responses with laws of their own."""
    scores = [(p, r, s, min(5, max(1, round(3 + math.sin(p) + 0.7 * math.cos(5 * r + p) + rng.gauss(0, 0.8))))) for p in range(30) for r in range(4) for s in range(3)]
    with open("scores.csv", "w") as file:
        file.write("prompt_id,response_id,sample_id,score\n" + "".join(f"{p},{r},{s},{x}\n" for p, r, s, x in scores))
    checks.call("judge", "fit", "scores.csv", "-o", "judge.toml", "--levels", "5")
    text = open("judge.toml").read()
    check("[rater.judge]" in text, "the section of a judge's file")
    for name, keys in (("mean", 'aggregate = "mean"'), ("fraction", 'aggregate = "fraction"'), ("zero", 'parse_failure = 0.2\nparse_policy = "zero"')):
        with open(f"{name}.toml", "w") as file:
            file.write(text.replace("[rater.judge]", f"[rater.judge]\n{keys}"))
    with open("resample.toml", "w") as file:
        laws = [[max(0.0, 1 - abs(k - q) / 2) + 0.02 for k in range(5)] for q in (0, 1, 1.5, 2.5, 3, 4)]
        laws = [[x / sum(law) for x in law] for law in laws]
        file.write(f"[rater.file]\nresample = {{ laws = {laws}, prompts = [[0, 1, 1, 3], [2, 3, 5], [1, 4, 5, 5]] }}\n")
