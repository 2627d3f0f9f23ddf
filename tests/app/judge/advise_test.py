#!/usr/bin/env python3
# `judge advise`: what it prints against arithmetic of its own, stopping and going on, and questions that cannot be. Usage: advise_test.py PROGRAM
import json, math, os, shlex, signal, subprocess

import checks
from checks import check, flowed
from reference import holm, mean, p_above

SMALL = ["--calls", "20000", "--rollouts", "4,8", "--votes", "1,2,8", "--estimators", "grpo,odrpo(maxrl)", "--seeds", "10", "--tuning-seeds", "8", "-q"]


def beats_all_p(one, other):
    """One-sided p that `one`, at its rates, beats `other` at each of its rates and by more than a finer grid could add."""
    return max(p_above([x - y - other["finer_grid"] for x, y in zip(one["seeds"], there)]) for there in [other["seeds"], *other["seeds_at_near_rates"]])


def near(a, b, tolerance=1e-9):
    return abs(a - b) <= tolerance * max(1, abs(a), abs(b))


# --- a rater: every number again from the gains of the seeds
text = checks.call("judge", "advise", "mixed", *SMALL)
a = json.loads(checks.call("judge", "advise", "mixed", *SMALL, "--json", "--figure", "advice.svg"))
check("<svg" in open("advice.svg").read(), "the figure is drawn")
choices = a["choices"]
check(a["budget"] == {"unit": "calls", "amount": 20000, "calls": 20000}, f"budget {a['budget']}")
check(a["raced"] == 2 * 2 * (1 + 2 + 1 + 2), f"{a['raced']} choices")  # single; mean of 2 and 8; mode of 8; stop 2 and 3 of 8
for c in choices:
    check(len(c["seeds"]) == c["gain"]["n"] == 10 and near(mean(c["seeds"]), c["gain"]["mean"]), "the mean of the seeds")
    if c["rule"] != "stop":
        check(c["steps"] == 20000 // (64 * c["rollouts"] * c["votes"]), f"steps of {c['rollouts']} x {c['votes']}")
        check(near(c["calls"], c["steps"] * 64 * c["rollouts"] * c["votes"]), "calls of all steps")
    else:
        check(0.9 * 20000 < c["calls"] < 1.1 * 20000, f"a rule that stops spends about the budget: {c['calls']}")
    check(near(c["answers"], c["steps"] * 64 * c["rollouts"]), "answers of all steps")
    check(near(mean([p["gain"]["mean"] for p in c["policies"].values()]), c["gain"]["mean"]), "the mean over policies")
check(choices == sorted(choices, key=lambda c: -c["gain"]["mean"]), "best first")
best = choices[0]
check(best["less_best"] is None and best["p"] is None, "the best has no difference")
ranked = sorted((c["p"], i) for i, c in enumerate(choices) if i > 0)
for (p, i), adjusted in zip(ranked, holm([p for p, _ in ranked])):
    c = choices[i]
    differences = [x - y for x, y in zip(c["seeds"], best["seeds"])]
    check(near(mean(differences), c["less_best"]["mean"]), "the difference from the best is taken by seed")
    tested = min(1, 2 * min(beats_all_p(best, c), beats_all_p(c, best)))
    check(abs(tested - p) < 1e-6, f"p of choice {i}: {p}, by its seeds {tested}")
    less = c["less_best"]
    check(less["lo"] <= less["mean"] <= less["hi"] and c["worse"] == (less["hi"] < 0), f"star and interval of choice {i} agree")
    check(near(adjusted, c["p_holm"], 1e-7) and c["worse"] == (c["p_holm"] < 0.05), f"Holm's p of choice {i}")
for c in choices:
    rates = [1 + len(p["near_lr"]) for p in c["policies"].values()]
    check(len(c["seeds_at_near_rates"]) == math.prod(rates) - 1, f"gains at {rates} rates: {len(c['seeds_at_near_rates'])}")


def cheapest(choices, keys):
    """Of those that are not worse the cheapest, key by key: what differs by less than a tenth is equal."""
    left = [c for c in choices if not c["worse"]]
    for key in keys:
        left = [c for c in left if 0.9 * c[key] <= min(x[key] for x in left)]
    return left[0]


check(a["advised"] == cheapest(choices, ["cost", "answers"]) == choices[a["advised_place"]], "the advised choice costs the fewest calls, then the fewest answers")
simple = [c for c in choices if c["estimator"] == "grpo" and c["rule"] in ("single", "mean")]
check(choices[a["simplest_place"]] in simple, "the simplest is grpo with one call or a mean")
flat = flowed(text)
check(a["formula"] in flat and a["formula"].startswith("A = "), f"the formula: {a['formula']}")
check("Headroom: from the mean quality of random answers" in flat and "linear (prompts share what is learned)" in flat, "the legend explains headroom and policies")
check(("simplest choice at the same cost" in flat) or ("also the simplest" in flat), "what the simplest choice loses")
command = f"odrpo-bench export-estimator --estimator '{a['advised']['estimator']}' -o estimator.py"
check(a["export"] == command and f"  {command}\n" in text and "docs/export-estimator.md" in flat, f"how a trainer gets the advantages: {a['export']}")
checks.call(*shlex.split(a["export"])[1:])
os.remove("estimator.py")
calls = f"{round(a['advised']['calls']):,} calls"
check(flat.count(calls) == 1, f"the calls are printed once: {calls}")
for row in a["votes"]:
    check(choices[row["place"]]["votes"] == row["votes"], "a row of votes has that number")
check([c["name"] for c in a["checks"]] == ["policy linear alone", "policy tabular alone"], "a rater is checked with each policy")
check(all(len(line) <= 80 for line in text.splitlines() if command not in line), "80 columns")
check(f"train with {a['advised']['estimator']}" in flowed(text), "the sentence names the advised estimator")
check(sum(line.startswith(">") for line in text.splitlines()) == 2, "the advised row is marked, and explained")
check(os.listdir(".") == ["advice.svg"], "nothing else is left")

# --- a file: judges drawn from its fit, and its responses
scores = checks.call("judge", "simulate", "panel-essays", "--prompts", "60", "--samples", "8", "--seed", "5")
open("scores.csv", "w").write(scores)
f = json.loads(checks.call("judge", "advise", "scores.csv", *SMALL, "--drawn-judges", "2", "--json"))
check([c["name"] for c in f["checks"]] == ["policy linear alone", "policy tabular alone", "sampled judge 1", "sampled judge 2", "the file's responses"],
      f"checks of a file: {[c['name'] for c in f['checks']]}")
check("60 prompts x 8 responses" in f["found"], f["found"])
check(f["certain"] == (all(c["holds"] for c in f["checks"]) and not f["doubts"]), "certain where all hold and nothing is missed")
checks.call("judge", "fit", "scores.csv", "-o", "judge.toml")
g = json.loads(checks.call("judge", "advise", "judge.toml", *SMALL, "--json"))
check([c["seeds"] for c in g["choices"]] == [c["seeds"] for c in f["choices"]], "the fitted judge's file gives the gains of the scores' file")

# --- money: eight calls cost less than eight answers where answers are dear
m = json.loads(checks.call("judge", "advise", "mixed", *SMALL, "--price-call", "0.001", "--price-rollout", "0.009", "--json"))
check(near(m["budget"]["amount"], 200) and m["budget"]["unit"] == "price", f"budget {m['budget']}")
for c in m["choices"]:
    price = c["calls"] * 0.001 + c["answers"] * 0.009
    check(near(price, c["cost"], 1e-6) and price < 1.05 * 200, f"price {price}, said {c['cost']}")
check(m["advised"] == cheapest(m["choices"], ["cost"]), "a price pays for the answers too")
t = json.loads(checks.call("judge", "advise", "mixed", *SMALL, "--seconds-call", "2", "--parallel", "100000", "--json"))
check(all(near(c["cost"], 2 * c["steps"], 1e-6) for c in t["choices"] if c["rule"] != "stop"), "with many calls at a time a step takes one call's time")

# --- a posterior estimator: the command that is printed exports it
tiny = ["--calls", "4096", "--policies", "linear", "--rollouts", "8", "--rules", "mean", "--seeds", "8", "--tuning-seeds", "8", "-q", "--estimators", "posterior(grpo)"]
for judge in ("mixed", "judge.toml"):
    page = checks.call("judge", "advise", judge, *tiny, "--votes", "1")
    command = [line.strip() for line in page.splitlines() if "export-estimator" in line and "-o" in line]
    check(len(command) == 1 and f"export-estimator {judge} --estimator 'posterior(grpo)' --group-size 8 -o" in command[0], f"export of {judge}: {command}")
    exported = subprocess.run([checks.program, *command[0].replace("'", "").split()[1:]], capture_output=True, text=True)
    check(exported.returncode == 0 and os.path.exists("estimator.py"), f"{command[0]}: {exported.stderr}")
    os.remove("estimator.py")
page = flowed(checks.call("judge", "advise", "judge.toml", *tiny, "--votes", "2"))
check("`aggregate = \"mean\"` in the section [rater.NAME]" in page and "--votes 2 -o estimator.py" in page, f"several calls: {page}")
page = flowed(checks.call("judge", "advise", "mixed", *tiny, "--votes", "2"))
check("a file judge.toml of the lines `[rater.judge]`, `base = \"mixed\"` and `aggregate = \"mean\"`" in page and "export-estimator judge.toml" in page,
      f"several calls of a preset: {page}")
open("lines.toml", "w").write('[rater.judge]\nbase = "mixed"\naggregate = "mean"\n')
checks.call("export-estimator", "lines.toml", "--estimator", "posterior(grpo)", "--group-size", "8", "--votes", "2", "-o", "estimator.py")
os.remove("estimator.py")
page = flowed(checks.call("judge", "advise", "scores.csv", *tiny, "--votes", "1", "--drawn-judges", "1"))
check("judge fit scores.csv -o judge.toml" in page and "export-estimator judge.toml" in page, f"a file: {page}")
check("Sampled judge: fitted to a random half" in page, "the legend explains sampled judges")

# --- a judge's file that was edited since its fit is noted by all that read it, and by nobody with -q
fitted = open("judge.toml").read()
open("edited.toml", "w").write(fitted.replace("\nsigma = ", "\nsigma = 1", 1))
open("suite.toml", "w").write('[suite]\nname = "s"\nseed = 1\nseeds = 1\n[grid]\nestimator = ["grpo"]\nrater = ["a"]\n[rater.a]\nfile = "edited.toml"\n[learn]\nsteps = 2\n')
note = "edited.toml: edited since the fit: its numbers are not those that `judge fit` wrote"
checks.call("judge", "simulate", "edited.toml", "--prompts", "3", words=note)
checks.call("judge", "analyze", "edited.toml", words=note)
checks.call("judge", "advise", "edited.toml", *[w for w in tiny if w != "-q"], "--votes", "1", words=note)
checks.call("check", "suite.toml", words=note)
for quiet in (["judge", "advise", "edited.toml", *tiny, "--votes", "1"], ["judge", "simulate", "judge.toml", "--prompts", "3"]):
    ran = subprocess.run([checks.program, *quiet], capture_output=True, text=True)
    check("edited since" not in ran.stderr, f"{' '.join(quiet)}: {ran.stderr}")

# --- coarse learning rates of a suite that compares estimators are noted by check
for estimators, lr, told in (('"grpo", "maxrl"', "0.1, 0.3", True), ('"grpo", "maxrl"', "0.1, 0.2, 0.4", False), ('"grpo"', "0.1, 0.3", False), ('"grpo", "maxrl"', "0.3", False)):
    open("suite.toml", "w").write(f'[suite]\nname = "s"\nseed = 1\nseeds = 1\n[grid]\nestimator = [{estimators}]\nrater = ["mixed"]\n[learn]\nsteps = 2\nlr = [{lr}]\n')
    ran = subprocess.run([checks.program, "check", "suite.toml"], capture_output=True, text=True)
    check(("lr: 0.1 and 0.3 differ by more than a factor of 2" in ran.stderr) == told, f"{estimators} at {lr}: {ran.stderr}")

# --- a stop: saved, and the same command continues to the same bits
os.remove("advice.svg")
command = [checks.program, "judge", "advise", "mixed", *SMALL, "--seed", "3", "--calls", "80000", "--json", "-o", "a.json"]
command = [w for i, w in enumerate(command) if not (w == "20000" or (w == "--calls" and command[i + 1] == "20000"))]
stopped = 0
for wait in (0.2, 0.4, 0.6):
    running = subprocess.Popen(command, stderr=subprocess.PIPE)
    checks.wait_until(lambda: checks.cpu_seconds(running) >= wait, running)
    running.send_signal(signal.SIGINT)
    errors = running.communicate()[1].decode()
    check(running.returncode in (0, 75), f"exit {running.returncode} after SIGINT: {errors}")
    if running.returncode == 0:
        break
    stopped += 1
    check("the same command continues" in errors and not os.path.exists("a.json"), f"stopped: {errors}")
    check(any(name.endswith(".saved") for name in os.listdir(".")) or "none" in errors, "something is saved")
check(stopped > 0, "it was stopped at least once")
subprocess.run(command, check=True, capture_output=True)
resumed = json.load(open("a.json"))
check(not any(name.endswith(".saved") for name in os.listdir(".")), "what was saved is gone when it is done")
subprocess.run(command, check=True, capture_output=True)
again = json.load(open("a.json"))
for one in (resumed, again):
    del one["seconds"]
check(resumed == again, "a stopped advice ends as one that was not stopped")

# --- what was saved is not trusted
running = subprocess.Popen(command, stderr=subprocess.PIPE)
checks.wait_until(lambda: checks.cpu_seconds(running) >= 0.4, running)
running.send_signal(signal.SIGINT)
running.communicate()
for name in [n for n in os.listdir(".") if n.endswith(".saved")]:
    with open(name, "r+b") as saved:
        saved.seek(100)
        saved.write(b"#")
    ran = subprocess.run(command, capture_output=True)
    check(ran.returncode == 0 and b"damaged" in ran.stderr, f"damaged: {ran.stderr.decode()}")

# --- questions that cannot be
for arguments, code, words in (
    (["mixed"], 2, "--calls is required"),
    (["mixed", "--calls", "100"], 4, "the budget pays for no choice"),
    (["mixed", "--calls", "1e5", "--price-call", "1"], 2, "--price-call requires --price-rollout"),
    (["mixed", "--calls", "1e5", "--price-call", "0", "--price-rollout", "0"], 2, "every choice would be free"),
    (["mixed", "--calls", "1e5", "--price-call", "1", "--price-rollout", "1", "--seconds-call", "1"], 2, "excludes"),
    (["mixed", "--calls", "1e5", "--parallel", "4"], 2, "--parallel requires --seconds-call"),
    (["mixed", "--calls", "1e5", "--votes", "1,x"], 2, '"x" is no whole number from 1 to 1024'),
    (["mixed", "--calls", "1e5", "--votes", "2,2"], 2, "2 is named twice"),
    (["mixed", "--calls", "1e5", "--rollouts", "4,,8"], 2, "has an empty word"),
    (["mixed", "--calls", "1e5", "--rules", "men"], 2, 'did you mean "mean"?'),
    (["mixed", "--calls", "1e5", "--votes", "2", "--rules", "mode"], 2, "leave no choice"),
    (["mixed", "--calls", "1e5", "--estimators", "grop"], 2, 'did you mean "grpo"?'),
    (["mixed", "--calls", "1e5", "--estimators", "mc-grpo"], 2, "needs an odd number of rollouts"),
    (["mixed", "--calls", "1e5", "--policies", "transformer"], 2, "--thorough"),
    (["mixed", "--calls", "1e5", "--figure", "x.txt"], 2, "does not end in .svg, .pdf or .png"),
    (["mixed", "--calls", "1e5", "--prompt", "p"], 2, "--prompt says how a file of scores is read"),
    (["mixed", "--calls", "1e5", "-o", "nowhere/a.txt"], 5, "cannot write"),
    (["nowhere.csv", "--calls", "1e5"], 5, "nowhere.csv"),
    (["nobody.toml", "--calls", "1e5"], 5, "nobody.toml"),
):
    checks.call("judge", "advise", *arguments, code=code, words=words)
open("flat.csv", "w").write("prompt_id,response_id,sample_id,score\n0,0,0,3\n0,0,1,3\n0,1,0,3\n")
checks.call("judge", "advise", "flat.csv", "--calls", "1e5", code=8, words="flat.csv")
checks.finish()
