#!/usr/bin/env python3
# Files without judges: commands of `judge` find out whether sample columns are the calls of one judge, and name the flag for those of
# several. Usage: columns_test.py PROGRAM [--measure FILES] (exit 77 without numpy)
# --measure prints how often simulated files of one judge (FILES of each shape), and of panels, are taken for those of several.
import csv, json, subprocess, sys

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import checks
import simulated_judges as judges
from checks import call, check, flowed, suite

SEED = 2

# One judge: kind, its parameters; prompts, responses, calls. Few prompts, few calls, skewed scales, outliers, errors of any kind.
ONE_JUDGE = [
    ("gauss", {}, 8, 8, 4), ("gauss", {}, 12, 4, 2), ("gauss", {}, 150, 1, 6), ("mixed", {}, 100, 8, 2), ("veto", {}, 60, 8, 3),
    ("low20", {}, 60, 8, 4), ("high10", {}, 40, 8, 8), ("uniform10", {}, 60, 8, 5), ("mirror10", {}, 60, 8, 4), ("gauss16", {}, 30, 8, 8),
    ("hetero", {}, 60, 8, 4), ("easylow", {}, 100, 4, 3), ("heavy", {}, 60, 8, 4), ("length", {}, 60, 8, 4), ("midway", {}, 60, 8, 4),
    ("low5", {}, 20, 8, 16), ("latent", dict(levels=5, skew=4.0), 100, 5, 4), ("latent", dict(levels=2, skew=2.0), 100, 5, 4),
    ("latent", dict(levels=6, spread=1.0, sigma=0.2), 40, 16, 4), ("latent", dict(levels=4, lasting=0.5, prompt_share=0.9), 50, 6, 2),
]
# Several: kind, its parameters; prompts, responses, calls; what --rater must be.
PANELS = [
    ("panel", dict(judges=2, block=2), 4, "sample_id / 2"), ("panel", dict(judges=4, block=2), 8, "sample_id / 2"),
    ("panel", dict(judges=3, block=2), 6, "sample_id / 2"), ("panel", dict(judges=2, block=4), 8, "sample_id / 4"),
    ("panel", dict(judges=2, block=0), 4, "sample_id % 2"), ("panel", dict(judges=4, block=0), 8, "sample_id % 4"),
    ("panel", dict(judges=3, block=0), 6, "sample_id % 3"), ("panel", dict(judges=4, block=1), 4, "sample_id"),
    ("panel", dict(judges=2, block=1), 2, "sample_id"), ("replaced", dict(after=4), 6, "sample_id / 4"),
    ("drift", {}, 6, "sample_id"),
]


def simulated(kind, parameters, prompts, responses, calls, seed):
    judge, rng = judges.make(kind, **parameters), np.random.default_rng(seed)
    return judge.calls(judge.world(prompts, responses, rng), range(calls), rng)


def found(file, *flags):
    return json.loads(call("judge", "analyze", file, *flags, "--json", "--resamples", "1000"))["columns"]


def of(kind, parameters, prompts, responses, calls, seed):
    judges.write_scores("scores.csv", simulated(kind, parameters, prompts, responses, calls, seed))
    return found("scores.csv")


def measure(files):
    alarms = 0
    for shape in ONE_JUDGE:
        raised = sum(of(*shape, SEED + i)["differ"] for i in range(files))
        alarms += raised
        print(f"{shape}: {raised} of {files}", flush=True)
    print(f"one judge: {alarms} of {files * len(ONE_JUDGE)} files")
    for lasting, severity in ((0.3, 0.5), (0.5, 0.0), (0.0, 0.3)):
        print(f"panels, lasting {lasting}, severity {severity}: raised, and the reading is right, of {files}; prompts x 8 responses")
        for kind, parameters, calls, flag in PANELS:
            line = f"  {kind} {parameters}, {calls} calls:"
            for prompts in (20, 50, 200):
                raised = right = 0
                for i in range(files):
                    some = dict(parameters, lasting=lasting, severity=severity, draw=i) if kind == "panel" else parameters
                    columns = of(kind, some, prompts, 8, calls, SEED + i)
                    raised += columns["differ"]
                    right += columns["differ"] and columns["reading"]["rater"] == flag
                line += f"  {prompts}: {raised}, {right}"
            print(line, flush=True)
    sys.exit(0)


if "--measure" in sys.argv:
    measure(int(sys.argv[-1]))

# one judge: nothing is raised; the remark and the numbers of one shape
alarms = [shape for i, shape in enumerate(ONE_JUDGE) if of(*shape, SEED + i)["differ"]]
check(len(alarms) <= 1, f"single judges are taken for several: {alarms}")
calm = of("mixed", {}, 60, 8, 4, SEED)
check(calm["reading"] is None and calm["p"] > 0.005 and calm["columns"] == 4 and calm["prompts"] == 60, f"one judge: {calm}")
page = call("judge", "analyze", "scores.csv", "--resamples", "1000")
check("columns of samples do not differ" in flowed(page) and "--rater" not in page, f"the page of one judge: {page}")

# panels, in blocks and in turn: the flag, which reads the file as it was made
for kind, parameters, calls, flag in PANELS:
    judge = judges.make(kind, **parameters)
    columns = of(kind, parameters, 100, 8, calls, SEED)
    check(columns["differ"] and columns["reading"]["rater"] == flag, f"{kind} {parameters}: {columns}")
    if kind != "drift":  # samples of one judge stand together
        together = {}
        for c in range(calls):
            together.setdefault(judge.member_of(c), []).append(str(c))
        check(columns["reading"]["judges"] == [", ".join(c) for c in together.values()], f"{kind} {parameters}: {columns['reading']}")
    check(found("scores.csv", "--rater", flag) is None, f"{flag}: a panel is taken for one judge")
    check(found("scores.csv", "--rater", "none") is None, f"{flag}: one judge is not believed")

# numbers by their definitions
scores = simulated("panel", dict(judges=2, block=2), 50, 6, 4, SEED)
judges.write_scores("scores.csv", scores)
columns = found("scores.csv")
residual = scores - scores.mean(axis=-1, keepdims=True)
offset = residual.mean(axis=(0, 1))
check(np.allclose(columns["offsets"], offset), "offsets")
each = json.loads(call("judge", "analyze", "scores.csv", "--rater", "sample_id", "--json", "--resamples", "1000"))
check(np.isclose(columns["constant_share"], each["severity_share"]["value"]), "share of constants, and of severity of columns as judges")
r = np.corrcoef((residual - offset).reshape(-1, 4), rowvar=False)
r2 = lambda pairs: np.mean([r[a, b] for a, b in pairs])
check(abs(columns["correlation"]["one_judge"] - r2([(0, 1), (2, 3)])) < 1e-9, "correlation of one judge")
check(abs(columns["correlation"]["two_judges"] - r2([(0, 2), (0, 3), (1, 2), (1, 3)])) < 1e-9, "correlation of two judges")

# what samples are called: from 1, below 0, texts, another column, none; a judge that the file names
def renamed(name, samples, header="prompt_id,response_id,sample_id,score", of_scores=scores):
    with open(name, "w") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header.split(","))
        for p, r, c in np.ndindex(of_scores.shape):
            writer.writerow([p, r, *([] if samples is None else [samples[c]]), of_scores[p, r, c]])
    return name

for samples, flag in (([1, 2, 3, 4], "(sample_id - 1) / 2"), ([4, 5, 6, 7], "sample_id / 2"), ([-1, 0, 1, 2], "(sample_id + 1) / 2"),
                      ([0, 1, 5, 6], None), (["a", "b", "c", "d"], None)):
    name = renamed("named.csv", samples)
    reading = found(name)["reading"]
    check(reading["rater"] == flag, f"samples {samples}: {reading}")
    if flag:
        as_panel = json.loads(call("judge", "analyze", name, "--rater", flag, "--json", "--resamples", "1000"))
        check([j["scores"] for j in as_panel["by_judge"]] == [600, 600], f"{flag}: {as_panel['by_judge']}")
        check(f"--rater '{flag}'" in flowed(call("judge", "analyze", name, "--resamples", "1000")), f"{flag} is not on the page")
in_turn = simulated("panel", dict(judges=2, block=0), 60, 6, 4, SEED)
check(found(renamed("turn.csv", [1, 2, 3, 4], of_scores=in_turn))["reading"]["rater"] == "sample_id % 2", "in turn from 1")
name = renamed("other.csv", range(4), "prompt_id,response_id,the call's number,score")
flag = "the call's number / 2"
check(found(name, "--sample", "the call's number")["reading"]["rater"] == flag, "another column of samples")
text = flowed(call("judge", "analyze", name, "--sample", "the call's number", "--resamples", "1000"))
check("--rater 'the call'\\''s number / 2'" in text, f"a flag for the shell: {text}")
name = renamed("unnumbered.csv", None, "prompt_id,response_id,score")
check(found(name)["reading"] == {"judges": ["1, 2", "3, 4"], "rater": None}, "samples that the file does not number")
text = flowed(call("judge", "analyze", name, "--resamples", "1000"))
check("give the file a column rater_id" in text, f"what to do without samples: {text}")
judges.write_scores("named_judges.csv", scores, judges.make("panel", judges=2, block=2))
check(found("named_judges.csv") is None, "a file that names its judges")
check(found(renamed("one.csv", ["gpt"], "prompt_id,response_id,rater_id,score", scores[..., :1])) is None, "a file that names one judge")
check(json.loads(call("judge", "analyze", "mixed", "--json", "--resamples", "1000"))["columns"] is None, "a rater is no file")
with open("apart.csv", "w") as file:  # each response was scored in columns of its own
    file.write("prompt_id,response_id,sample_id,score\n" + "".join(f"{p},{r},{2 * r + k},{1 + (p + r + k) % 4}\n" for p in range(30) for r in range(3) for k in range(2)))
text = flowed(call("judge", "analyze", "apart.csv", "--resamples", "1000"))
check("was not tested" in text and "of no prompt all responses have scores in the same two" in text, f"columns that cannot be compared: {text}")
judges.write_scores("single.csv", scores[..., :1])
check(found("single.csv") is None, "one call each")

# fit and advise of a panel: the same words; the advice is uncertain until one says who judged
fit = json.loads(call("judge", "fit", "scores.csv", "--json"))
check(fit["columns"]["reading"]["rater"] == "sample_id / 2", f"fit: {fit['columns']}")
check("--rater 'sample_id / 2'" in flowed(call("judge", "fit", "scores.csv")), "the page of fit")
question = ("--calls", "3000", "--votes", "1,2", "--rollouts", "8", "--estimators", "grpo", "--policies", "linear", "--rules", "mean",
            "--seeds", "4", "--tuning-seeds", "8", "--drawn-judges", "0", "-q")
asked = json.loads(call("judge", "advise", "scores.csv", *question, "--json"))
check(not asked["certain"] and "--rater 'sample_id / 2'" in asked["doubts"][0] and asked["columns"]["differ"], f"advise: {asked['doubts']}")
text = flowed(call("judge", "advise", "scores.csv", *question))
check("This advice is uncertain" in text and "--rater 'sample_id / 2'" in text and "--rater none" in text, f"the page of advise: {text}")
for flag in ("none", "sample_id / 2"):
    asked = json.loads(call("judge", "advise", "scores.csv", *question, "--rater", flag, "--json"))
    check(not any("--rater" in doubt for doubt in asked["doubts"]) and asked["columns"] is None, f"advise --rater {flag}: {asked['doubts']}")
    check(asked["certain"] == all(c["holds"] for c in asked["checks"]), f"advise --rater {flag}: certain")

# a suite that learns a judge from the file says it too
suite("panel", '[rater.own]\nscores = "scores.csv"\n', seeds=1, rater='"own"', policy='"tabular"', estimator='"grpo"', votes=1)
for world in ("latent", "resample"):
    call("check", "panel.toml", "--set", f"rater.own.world={world}", words="its sample columns differ")
judges.write_scores("scores.csv", simulated("mixed", {}, 60, 8, 4, SEED))
calm = subprocess.run([checks.program, "check", "panel.toml"], capture_output=True, text=True)
check(calm.returncode == 0 and "note: judge: " in calm.stderr and "columns differ" not in calm.stderr, f"a suite of one judge: {calm.stderr}")

checks.finish()
