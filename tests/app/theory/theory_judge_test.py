# `theory field --rater` and `theory bound` against arithmetic of their own and against training; refusals.
# Usage: theory_judge_test.py PATH/TO/odrpo-bench
import itertools, json, math, statistics

from checks import call, check, finish, suite, within
from reference import advantages, table_of

LEVELS = 3
CHANNEL = [[.8, .15, .05], [.3, .4, .3], [.05, .25, .7]]
open("judge.toml", "w").write(f"[rater.j]\nnoise = [{{ model = \"confusion\", matrix = {json.dumps(CHANNEL)} }}]\n")


def rows(*arguments):
    return json.loads(call("theory", *arguments, "--json"))["rows"]


def mode_of_two(row):
    """Law of the vote of two calls: equal scores, or one of the two, the first drawn."""
    return [row[k] ** 2 + sum(row[k] * row[j] for j in range(LEVELS) if j != k) for k in range(LEVELS)]


# --- the field of grpo by every choice of true levels and scores
p, members = [.2, .3, .5], 3
for votes, channel in ((1, CHANNEL), (2, [mode_of_two(row) for row in CHANNEL])):
    mean, square, own, weight = [0.0] * LEVELS, [0.0] * LEVELS, [0.0] * LEVELS, [0.0] * LEVELS
    for group in itertools.product(itertools.product(range(LEVELS), repeat=2), repeat=members):
        chance = math.prod(p[level] * channel[level][score] for level, score in group)
        a = advantages("grpo", [score + 1 for _, score in group])
        for j in range(LEVELS):
            g = sum(x * ((level == j) - p[j]) for x, (level, _) in zip(a, group)) / members
            mean[j] += chance * g
            square[j] += chance * g * g
            for x, (level, _) in zip(a, group):
                if level == j:
                    own[j] += chance * x
                    weight[j] += chance
    got = rows("field", "--rater", "./judge.toml", "--votes", str(votes), "--p", ".2,.3,.5", "--group-size", "3", "--estimator", "grpo")
    by_level = {r["level"]: r for r in got}
    for j in range(LEVELS):
        r = by_level[str(j + 1)]
        within(r["F"], own[j] / weight[j], 1e-12, f"field of level {j + 1} under {votes} votes")
        within(r["gradient"], mean[j], 1e-12, "mean gradient")
        within(r["sd"], math.sqrt(square[j] - mean[j] ** 2), 1e-12, "its standard deviation")
        within(r["snr"], mean[j] ** 2 / (square[j] - mean[j] ** 2), 1e-10, "its signal-to-noise ratio")
    exact = {j + 1: r["F_exact"] for j, r in enumerate(r for r in got if r["level"] != "all")}
    centre = sum(x * by_level[str(j + 1)]["F"] for j, x in enumerate(p)), sum(x * exact[j + 1] for j, x in enumerate(p))
    within(by_level["2"]["bias"], by_level["2"]["F"] - centre[0] - exact[2] + centre[1], 1e-12, "bias")
    along = sum(m * x * (j + 1 - 2.3) for j, (m, x) in enumerate(zip(mean, p)))
    sizes = math.sqrt(sum(m * m for m in mean)), math.sqrt(sum((x * (j + 1 - 2.3)) ** 2 for j, x in enumerate(p)))
    within(by_level["all"]["cosine"], along / sizes[0] / sizes[1], 1e-12, "cosine")
plain = rows("field", "--p", ".2,.3,.5", "--group-size", "3", "--estimator", "grpo")[0]
within(exact[2], plain["F_2"], 1e-14, "the field under exact scores")

# --- flips: with a channel that turns two levels round, the lower one always expects more
open("turned.toml", "w").write("[rater.j]\nnoise = [{ model = \"confusion\", matrix = [[0.2, 0.8], [0.9, 0.1]] }]\n")
turned = rows("field", "--rater", "./turned.toml", "--p", ".5,.5", "--estimator", "reinforce")
for r in turned[1:]:
    within(r["flips"], 1, 1e-12, "a turned channel flips always")

# --- bound: R of grpo as training measures it. Each prompt is in the batch once; E u and its noise from redraws of the batch.
suite("fixed", "[record]\nevery = 1\ngradient = 256\n", seeds=12, policy='"tabular"', estimator='["grpo", "odrpo-gini-median(grpo)", "posterior(reinforce)"]', votes=1,
      prompts=64, actions=32, batch=64, steps='1\nlr = 0\nkl = 0\nwhiten = "none"\nwarmup = 0\nschedule = "constant"')
call("run", "fixed.toml", "-q", "-o", "fixed.h5", "--force")
trained = {}
call("export", "fixed.h5", "-o", "fixed.csv")
for run in table_of(open("fixed.csv").read()):
    # (E u . g)^2 / (E|u|^2 |g|^2): the cosine of the mean of 256 redraws holds their noise too
    cosine, snr = float(run["gradient_cosine"]), float(run["gradient_snr"])
    trained.setdefault(run["estimator"], []).append(cosine**2 * (snr + 1 / 256) / (1 + snr))
bound = rows("bound", "--rater", "mixed", "--policy", "tabular", "--prompts", "64", "--worlds", "12", "--batches", "400", "--ascent", "400",
             *itertools.chain(*(("--estimator", name) for name in trained)))
by_name = {r["advantages"]: r for r in bound}
for name, values in trained.items():
    error = math.hypot(statistics.stdev(values) / math.sqrt(len(values)), by_name[name]["R_se"])
    within(by_name[name]["R"], statistics.mean(values), 4 * error, f"R of {name} beside training's own measure")
check(by_name["best map"]["share"] == 1, "the best map has its own R")
for name, r in by_name.items():
    check(0 <= r["R"] <= by_name["best map"]["R"] <= 1, f"R of {name} is at most that of the best map: {r['R']}")
    within(r["share"], r["R"] / by_name["best map"]["R"], .01, f"share of {name}")  # means over worlds
check(by_name["best map of another world"]["R"] < by_name["best map"]["R"], "another world's map is worse")
check(by_name["posterior(reinforce)"]["share"] > by_name["grpo"]["share"], "posterior scores are nearer the best map")
ascent = by_name["ascent from the best map"]
check(ascent["less"] >= -3 * (ascent["less_se"] or 0) - 1e-12, f"ascent does no harm: {ascent}")

# --- the same words and numbers give the same text
again = ("theory", "bound", "--worlds", "2", "--prompts", "32", "--batches", "20", "--ascent", "20", "--policy", "linear", "--levels", "4")
check(call(*again) == call(*again), "bound is no repeatable text")
check(all(r["M"] == 4 for r in rows(*again[1:], "--group-size", "4", "--votes", "1,8")), "--group-size 4")

# --- refusals: exit 2 for a command line, 4 for what is too large
for arguments, word in {
    ("field", "--p", ".5,.5", "--votes", "8"): "--rater",
    ("field", "--p", ".5,.5", "--rater", "./judge.toml"): "levels",
    ("field", "--p", ".5,.5", "--rater", "nobody"): "nobody",
    ("field", "--triangle", ".1", "--rater", "mixed"): "--triangle",
    ("field", "--p", ".2,.3,.5", "--rater", "panel-essays"): "it has 6 levels, and --p has 3",
    ("field", "--p", ".1,.2,.2,.2,.2,.1", "--rater", "panel-essays", "--votes", "2"): "panel",
    ("bound", "--values", "junk", "--estimator", "posterior(grpo)"): "",
    ("bound", "--values", "1,2,3"): "10 levels",
    ("bound", "--values", "1,2,3,4,5,6,7,8,9,11", "--estimator", "posterior(grpo)"): "values",
    ("bound", "--rater", "panel-essays", "--votes", "8"): "panel",
    ("bound", "--policy", "transformer"): "--policy",
    ("bound", "--policy", "tabula"): "tabular",
    ("bound", "--tilt", "-1"): "--tilt",
    ("bound", "--prior", "moments"): "--prior",
    ("bound", "--prior", "fixed", "--estimator", "grpo"): "--prior",
    ("bound", "--votes", "0"): "--votes",
    ("bound", "--worlds", "0"): "--worlds",
    ("curl", "fixed.toml", "--levels", "3"): "suite",
}.items():
    call("theory", *arguments, code=2, words=word)
call("theory", "bound", "--group-size", "24", code=4, words="histograms")
call("theory", "bound", "--votes", "1024", "--worlds", "1000", code=4, words="would take")
call("theory", "field", "--p", ".2,.3,.5", "--rater", "./judge.toml", "--group-size", "2..1000", code=4, words="table")
call("theory", "curl", "no-such.toml", code=5)

# --- a suite's estimators, levels and group sizes
got = rows("curl", "fixed.toml")
check([(r["estimator"], r["K"], r["M"]) for r in got] == [("grpo", 10, 8), ("odrpo-gini-median(grpo)", 10, 8)], f"curl of a suite: {got}")
finish()
