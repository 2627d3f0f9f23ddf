# Corrected scores, corrected(FORM): exact enumeration of updates, fractions, affine channels, refusals, suites and their runs.
# Usage: corrected_test.py PATH/TO/odrpo-bench
import itertools, json, math, random, re, subprocess
from fractions import Fraction

from checks import call, check, finish, near, program, suite, within
from reference import advantages, table_of


def solve(matrix, right):
    """The solution of matrix x = right in fractions, by elimination."""
    rows = [[Fraction(x) for x in row] + [Fraction(r)] for row, r in zip(matrix, right)]
    n = len(rows)
    for i in range(n):
        pivot = next(j for j in range(i, n) if rows[j][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for j in range(n):
            if j != i:
                rows[j] = [x - rows[j][i] * y for x, y in zip(rows[j], rows[i])]
    return [row[-1] for row in rows]


def corrected(channel, values=None):
    return [float(x) for x in solve(channel, values or range(1, len(channel) + 1))]


def compute(fn, requests):
    """The answers of one function of `compute`, one for each of the arguments."""
    asked = "".join(json.dumps({"id": 0, "fn": fn, "args": args}) + "\n" for args in requests)
    told = subprocess.run([program, "compute"], input=asked, capture_output=True, text=True)
    return [json.loads(line) for line in told.stdout.splitlines()]


def random_channel(drawn, levels):
    """In sixteenths and heavy on its diagonal, so that scores increase."""
    rows = []
    for j in range(levels):
        row = [drawn.randrange(3) for _ in range(levels)]
        row[j] += 10 * levels
        rows.append([Fraction(x, sum(row)) for x in row])
    return rows


def floats(channel):
    return [[float(x) for x in row] for row in channel]


def judge(name, matrix, more=""):
    open(f"{name}.toml", "w").write(f"[rater.{name}]\nnoise = [{{ model = \"confusion\", matrix = {json.dumps(matrix)} }}]\n{more}")
    return f"./{name}.toml"


def changed(name, base, more):
    open(f"{name}.toml", "w").write(f'[rater.{name}]\nbase = "{base}"\n{more}\n')
    return f"./{name}.toml"


# --- the scores: C^-1 R, exactly; the condition number in closed form for two levels
drawn = random.Random(71)
channels = [random_channel(drawn, levels) for levels in (2, 2, 3, 4, 5, 10, 20) for _ in range(3)]
for channel, answer in zip(channels, compute("corrected_scores", [{"C": floats(c)} for c in channels]), strict=True):
    near(answer["out"]["scores"], corrected(channel), f"scores of {len(channel)} levels", 1e-12)
    check(answer["out"]["refused"] is None, f"{answer} is refused")
    if len(channel) == 2:
        (a, b), (c, d) = floats(channel)
        trace, det = a * a + b * b + c * c + d * d, a * d - b * c
        root = math.sqrt(trace * trace - 4 * det * det)
        near(answer["out"]["condition"], math.sqrt((trace + root) / (trace - root)), "condition number", 1e-12)
values = [1, 2, 12]
answer = compute("corrected_scores", [{"C": floats(channels[6]), "values": values}])[0]["out"]
near(answer["scores"], corrected(channels[6], values), "scores for values", 1e-12)
for args, words in (({"C": [[.5, .5], [.5, .5]]}, "condition number inf"), ({"C": [[.1, .9], [.9, .1]]}, "would not increase: 1 -> 2.125, 2 -> 0.875")):
    answer = compute("corrected_scores", [args])[0]["out"]
    check(words in answer["refused"], f"{args}: {answer}")
check(compute("corrected_scores", [{"C": [[.5, .5], [.5, .5]]}])[0]["out"]["condition"] is None, "a singular channel has no condition number")
for fn, args in (("corrected_scores", {"C": [[1]]}), ("corrected_scores", {"C": [[1, 0], [0, 1]], "values": [1, 2, 3]}), ("corrected_scores", {"C": [[1, 0], [0, 1]], "values": [2, 1]}),
                 ("advantage", {"rewards": [1, 2], "est": "corrected(grpo)", "eps": 0, "ddof": 0}),
                 ("field", {"est": "corrected(grpo)", "R": [1, 2], "M": 2, "p": [.5, .5]})):
    check("error" in compute(fn, [args])[0], f"{fn} takes {args}")

# --- the update by every choice of true levels and scores: that of reinforce and rloo is the gradient of E[R], that of grpo is not
for levels, members in ((2, 4), (3, 3), (4, 2)):
    channel = random_channel(drawn, levels)
    worth = corrected(channel)
    p = [Fraction(x, levels * (levels + 1) // 2) for x in range(1, levels + 1)]
    mean = sum(x * (j + 1) for j, x in enumerate(p))
    for form in ("reinforce", "rloo", "grpo", "odrpo(grpo)", "rank-grpo"):
        update = [0.0] * levels
        for group in itertools.product(itertools.product(range(levels), repeat=2), repeat=members):
            chance = float(math.prod(p[level] * channel[level][score] for level, score in group))
            # rloo is G/(G-1) reinforce; ranks do not change where scores increase
            base = "reinforce" if form == "rloo" else form
            a = advantages(base, [score + 1 for _, score in group], None if form == "rank-grpo" else worth)
            for j in range(levels):
                update[j] += chance * sum(x * ((level == j) - float(p[j])) for x, (level, _) in zip(a, group)) / members
        if form == "rloo":
            update = [x * members / (members - 1) for x in update]
        answer = compute("channel_field", [{"est": f"corrected({form})", "R": list(range(1, levels + 1)), "M": members, "p": [float(x) for x in p], "C": floats(channel)}])[0]["out"]
        for got, wanted in zip(answer["gradient"], update, strict=True):
            within(got, wanted, 1e-10, f"update of corrected({form}), K = {levels}")
        factor = {"reinforce": (members - 1) / members, "rloo": 1}.get(form)
        gradient = [float(x * (j + 1 - mean)) for j, x in enumerate(p)]
        if factor:
            for got, wanted in zip(answer["gradient"], gradient, strict=True):
                within(got, factor * wanted, 1e-10, f"corrected({form}) against the gradient of E[R], K = {levels}")
            within(answer["cosine"], 1, 1e-12, f"cosine of corrected({form})")
        elif levels > 2 and form != "odrpo(grpo)":  # of two levels every direction is that of the gradient; odrpo(grpo) is linear in groups of 2 and 3
            check(answer["cosine"] < 1 - 1e-6, f"corrected({form}) is unbiased: {answer['cosine']}")
plain = compute("channel_field", [{"est": "reinforce", "R": [1, 2, 3], "M": 3, "p": [.2, .3, .5], "C": floats(channels[6])}])[0]["out"]
check(plain["cosine"] < 1 - 1e-6, f"reinforce without correction is unbiased: {plain['cosine']}")

# --- through a rater and its votes: the channel is that of the vote
channel = [[.8, .15, .05], [.2, .6, .2], [.05, .15, .8]]
three = judge("three", channel)
voted = [[row[k] ** 2 + sum(row[k] * row[j] for j in range(3) if j != k) for k in range(3)] for row in channel]
field = json.loads(call("theory", "field", "--rater", three, "--votes", "1,2", "--p", ".2,.3,.5", "--group-size", "4", "--estimator", "corrected(rloo)", "--json"))
for n in (1, 2):
    rows = {r["level"]: r for r in field["rows"] if r["N"] == n}
    for j, x in enumerate((.2, .3, .5)):
        within(rows[str(j + 1)]["gradient"], x * (j + 1 - 2.3), 1e-12, f"update under {n} votes")
call("theory", "field", "--p", ".2,.3,.5", "--estimator", "corrected(grpo)", code=2, words="need a model of the judge")

# --- affine channels on an exact judge: forms without shift and scale do not change; ranks never do
exact = {"low": "low.p = 0.2", "high": "high.p = 0.1", "flat": "uniform.p = 0.15", "mirror": "mirror.p = 0.1"}
groups = [list(g) for g in itertools.combinations_with_replacement(range(1, 11), 4)]


def explained(model, words, group):
    text = call("explain", "--rewards", ",".join(map(str, group)), "--model", model, "--compat", "paper", "--json",
                *(x for word in words for x in ("--estimator", word)))
    return {e["estimator"]: e["conventions"][0]["advantages"] for e in json.loads(text)["estimators"]}


for name, noise in exact.items():
    model = changed(name, "clean", noise)
    scores = json.loads(call("explain", "--rewards", "1,2", "--model", model, "--estimator", "corrected(grpo)", "--json"))["corrected"]["scores"]
    steps = [b - a for a, b in zip(scores, scores[1:])]
    within(max(steps) - min(steps), 0, 1e-12, f"corrected scores of {name} are affine")
    check(abs(steps[0] - 1) > 0.05, f"{name} changes nothing: {scores}")
    answers = compute("advantage", [{"rewards": g, "est": "grpo", "eps": 0, "ddof": 0, "values": scores} for g in groups])
    near(sum((a["out"] for a in answers), []), sum((advantages("grpo", g) for g in groups), []), f"grpo of all groups under {name}", 1e-9)
    for group in ([1, 4, 4, 10], [1, 2, 3, 10]):
        got = explained(model, ("grpo", "corrected(grpo)", "mc-grpo", "rank-grpo", "corrected(rank-grpo)", "reinforce", "corrected(reinforce)"), group)
        near(got["corrected(grpo)"], got["grpo"], f"corrected(grpo) under {name}", 1e-9)
        near(got["corrected(reinforce)"], [x * steps[0] for x in got["reinforce"]], f"corrected(reinforce) under {name}", 1e-9)
        check(got["corrected(rank-grpo)"] == got["rank-grpo"], f"ranks under {name}")
got = explained("wide", ("grpo", "corrected(grpo)", "rank-grpo", "corrected(rank-grpo)"), [1, 2, 3, 10])
check(max(abs(a - b) for a, b in zip(got["grpo"], got["corrected(grpo)"])) > 1e-3 and got["rank-grpo"] == got["corrected(rank-grpo)"], f"wide: {got}")

# --- figures of presets (the condition numbers by numpy.linalg.cond): with the median sigma for all prompts, and as they are
for base, without, whole in (("mixed", 2.35493, 2.33895), ("veto", 1.79107, 1.81948), ("gauss", 2.8501, 2.72456), ("wide", 36.55994, 21.41237)):
    for model, wanted in ((changed(base + "0", base, "gaussian.spread = 0"), without), (base, whole)):
        got = json.loads(call("explain", "--rewards", "1,2", "--model", model, "--estimator", "corrected(grpo)", "--json"))["corrected"]["condition"]
        within(got, wanted, 6e-6, f"condition number of {model}")
one = changed("one", "clean", "gaussian.sigma = 1")
call("explain", "--rewards", "1,2", "--model", one, "--estimator", "corrected(grpo)", code=2,
     words="--model ./one.toml: the channel has the condition number 64.98, and corrected scores need at most 50; corrected scores would not increase: 2 -> 2.678, 3 -> 2.489")
call("explain", "--rewards", "1,2", "--model", changed("high40", "mixed", "high.p = 0.4"), "--estimator", "corrected(maxrl)", code=2,
     words="maxrl divides by the mean, and the corrected score 1 -> ")
call("explain", "--rewards", "1,2.5", "--model", "mixed", "--estimator", "corrected(grpo)", code=2, words="corrected scores are of whole scores 1..10, and 2.5 is none")
call("explain", "--rewards", "1,2", "--estimator", "corrected(grpo)", code=2, words="needs --model")
text = call("explain", "--rewards", "1,1,2,10", "--model", "mixed", "--estimator", "corrected(odrpo(grpo))", "--compat", "paper")
check("corrected scores by the model mixed: 1 -> 0.80" in text and "condition number of its channel 2.34" in text and "Delta_k" in text, text)
call("conform", "--command", "true", "--as", "corrected(grpo)", code=2, words="corrected scores depend on a judge")

# --- suites: what cannot be corrected is refused at the estimator, with the numbers
def tiny(name, more, estimators, **keys):
    return suite(name, more, **{"rater": '["r"]', "votes": 1, "estimator": json.dumps(["grpo", *estimators]), **keys})


def confusion(matrix):
    return f'[rater.r]\nnoise = [{{ model = "confusion", matrix = {matrix} }}]\n'


four = {"prompts": '16\nlevels = 4\nquality = "integer"'}
told = call("check", tiny("noisy", '[rater.r]\nbase = "clean"\ngaussian.sigma = 1\n', ["corrected(grpo)"]), code=3,
            words="noisy.toml:11:22: error: estimator corrected(grpo) cannot correct the scores of rater r with 1 vote: the channel has the condition number 64.98, and corrected "
                  "scores need at most 50; corrected scores would not increase: 2 -> 2.678, 3 -> 2.489")
call("check", tiny("turned", confusion([[.7, .1, .1, .1], [.1, .2, .6, .1], [.1, .6, .2, .1], [.1, .1, .1, .7]]), ["corrected(rank-grpo)"], **four), code=3,
     words="error: estimator corrected(rank-grpo) cannot correct the scores of rater r with 1 vote: corrected scores would not increase: 2 -> ")
for rater, votes, words in (('base = "mixed"\naggregate = "mean"', 8, "real-valued"), ('base = "mixed"\nparse_failure = 0.1\nparse_policy = "zero"', 1, "0, below level 1"),
                            ('base = "panel-essays"', 4, "several calls to a panel"), ('base = "mixed"\naggregate = "expected"', 1, "real-valued")):
    call("check", tiny("judged", f"[rater.r]\n{rater}\n", ["corrected(grpo)"], votes=votes), code=3, words=words)
call("check", tiny("negative", '[rater.r]\nbase = "mixed"\nhigh.p = 0.4\n', ["corrected(maxrl)"]), code=3, words="it is not shifted, since maxrl depends on the origin")
call("check", tiny("idle", '[rater.r]\nbase = "mixed"\n[estimator.e]\nbase = "corrected(grpo)"\nprior = "fixed"\n', ["e"]), code=3, words="only posterior estimators have a prior")

# --- a run is that of the form with these values; what check says of the bias
matrix = [[.7, .2, .05, .05], [.1, .7, .1, .1], [.05, .1, .8, .05], [.05, .05, .2, .7]]
worth = corrected([[Fraction(str(x)) for x in row] for row in matrix])
forms = ["grpo", "reinforce", "rank-grpo", "odrpo(grpo)", "odrpo-gini-median(maxrl)", "max-at-k", "qae", "maxrl"]
plain = {form: "plain-" + form.replace("(", "-").replace(")", "") for form in forms}
more = confusion(matrix) + confusion(matrix).replace("rater.r", "rater.dropped") + 'parse_failure = 0.3\nparse_policy = "drop"\n'
for form in forms:
    more += f'[estimator.{plain[form]}]\nbase = "{form}"\n' + ("" if form == "rank-grpo" else f"values = {worth}\n")
path = tiny("pairs", more, [*(f"corrected({form})" for form in forms), *plain.values()], rater='["r", "dropped"]', **four)
said = json.loads(call("check", path, "--json"))["corrected"]
for line in said:
    near(line["scores"], worth, f"check: {line['judge']}", 1e-12)
    within(max(line["bias"].values()), 0, 1e-12, "bias with whole qualities and one channel")
check({line["judge"] for line in said} == {"r", "dropped"} and set(said[0]["estimators"]) == {f"corrected({form})" for form in forms}, f"check: {said}")
call("run", path, "-q", "-o", "pairs.h5", "--force")
call("export", "pairs.h5", "-o", "pairs.csv")
trained = {}
for row in table_of(open("pairs.csv").read()):
    trained[row["rater"], row["estimator"], row["seed"]] = [row[column] for column in row if column not in ("run", "id", "estimator", "key", "step_time_median")]
for rater in ("r", "dropped"):
    for form in forms:
        for seed in ("0", "1", "2"):
            ours, theirs = trained[rater, f"corrected({form})", seed], trained[rater, plain[form], seed]
            check(ours == theirs and "ok" in ours, f"the run of corrected({form}) under {rater}, seed {seed}: {ours} {theirs}")
check(trained["r", "corrected(grpo)", "0"] != trained["r", "grpo", "0"], "a correction that changes nothing")

# a wrong model, and kinds of prompts: the bias of the rater's own channel
other = [[Fraction(x, 20) for x in row] for row in ((18, 2, 0, 0), (1, 18, 1, 0), (0, 1, 18, 1), (0, 0, 2, 18))]
path = tiny("wrong", confusion(matrix) + confusion(floats(other)).replace("rater.r", "rater.other") + '[estimator.wrong]\nbase = "corrected(reinforce)"\nmodel = "other"\n', ["wrong"], **four)
line = json.loads(call("check", path, "--json"))["corrected"][0]
near(line["scores"], corrected(other), "scores of the model", 1e-12)
within(line["bias"]["levels"], max(abs(sum(q * c for q, c in zip(row, corrected(other))) - j - 1) for j, row in enumerate(matrix)), 1e-12, "bias under a wrong model")
check(line["judge"] == "r, model other", f"{line}")
path = tiny("kinds", "", ["corrected(grpo)"], rater='["mixed"]')
text = call("check", path)
check("corrected scores\n  rater mixed, 1 vote: corrected(grpo)\n    1 -> 0.804, 2 -> " in text and "condition number 2.34; E[score] - quality at most 0 at whole levels and 0.063 between, rms over prompts and responses 0.92" in text, text)
line = json.loads(call("check", path, "--json"))["corrected"][0]
within(line["bias"]["levels"], 0, 1e-12, "bias at whole levels, mean over prompts")
check(line["bias"]["between"] > 1e-3 and line["bias"]["kinds"] > line["bias"]["between"], f"{line}")

# --- bound: reinforce has no bias where quality is whole and the channel one; with shared parameters and with own
flat = changed("flatter", "gauss", "gaussian.spread = 0")
bound = json.loads(call("theory", "bound", "--rater", flat, "--quality", "integer", "--prompts", "32", "--worlds", "2", "--batches", "0", "--group-size", "4", "--estimator", "corrected(reinforce)",
                        "--estimator", "corrected(rloo)", "--estimator", "corrected(grpo)", "--estimator", "reinforce", "--estimator", "posterior(reinforce)", "--json"))["rows"]
for row in bound:
    near(row["aligned"] * row["signal"], row["R"], f"R of {row['advantages']} is the product, but for the mean over worlds", 1e-3)
    if row["advantages"] in ("corrected(reinforce)", "corrected(rloo)"):
        within(row["aligned"], 1, 1e-9, f"bias of {row['advantages']}, {row['policy']}")
    elif row["advantages"] in ("corrected(grpo)", "reinforce", "posterior(reinforce)"):
        check(row["aligned"] < 1 - 1e-6, f"no bias of {row['advantages']}, {row['policy']}: {row['aligned']}")
call("theory", "bound", "--rater", "s2", "--estimator", "corrected(grpo)", "--prompts", "16", "--worlds", "1", "--batches", "0", code=2, words="--estimator corrected(grpo): rater s2 with 1 vote: the channel has the condition number")
table = call("theory", "bound", "--rater", "s2", "--prompts", "16", "--worlds", "1", "--batches", "0", "--policy", "linear", "--group-size", "3")
check("left out: corrected(grpo) under s2 with 1 vote" in " ".join(table.split()), table)

# --- export: the form with these values
call("export-estimator", three, "--estimator", "corrected(grpo)", "-o", "three.py")
module = open("three.py").read()
check('NAME = "corrected_grpo_paper"' in module and module.startswith("# odrpo-bench estimator: corrected(grpo), convention paper."), module[:200])
found = re.search(r"VALUES = (\[.*\])", module)
near(json.loads(found.group(1)), corrected([[Fraction(str(x)) for x in row] for row in channel]), "exported values", 1e-12)
call("export-estimator", "--estimator", "corrected(grpo)", "-o", "none.py", code=2, words="needs RATER")
call("export-estimator", one, "--estimator", "corrected(grpo)", "-o", "none.py", code=2, words="condition number")
finish()
