# `explain` against arithmetic of its own: text and JSON, every estimator and convention, width. Usage: explain_test.py PATH/TO/odrpo-bench
import json
import math
import subprocess
import sys

program = sys.argv[1]
failed = 0


def fail(what):
    global failed
    failed += 1
    print("FAILED:", what)


def run(*arguments, code=0):
    done = subprocess.run([program, "explain", *arguments], capture_output=True, text=True, timeout=120)
    if done.returncode != code:
        fail(f"explain {arguments}: exit {done.returncode}, not {code}: {done.stderr}")
    return done.stdout, done.stderr


def near(got, wanted, what):
    if len(got) != len(wanted) or any(g is None or abs(g - w) > 1e-9 * max(1, abs(w)) for g, w in zip(got, wanted)):
        fail(f"{what}: {got}, not {wanted}")


def rows(answer, estimator):
    [one] = [e for e in answer["estimators"] if e["estimator"] == estimator]
    return {system: c for c in one["conventions"] for system in c["compat"]}


# --- 3, 7, 7, 9 by hand
# mean 26/4 = 6.5; squares 12.25 + 0.25 + 0.25 + 6.25 = 19; sd sqrt(19/4) or, ddof 1, sqrt(19/3)
# nemo leaves the member out: 3 against 7, 7, 9 (mean 23/3, variance (4/9 + 4/9 + 16/9) / 2 = 4/3), 7 against 3, 7, 9 (19/3, 28/3),
# 9 against 3, 7, 7 (17/3, 16/3)
R = [3, 7, 7, 9]
answer = json.loads(run("--rewards", "3,7,7,9", "--json")[0])
group = answer["group"]
near([group["mean"], group["sd_ddof0"], group["sd_ddof1"], group["median"]], [6.5, math.sqrt(19 / 4), math.sqrt(19 / 3), 7], "group")
grpo = rows(answer, "grpo")
for system, below in {"paper": math.sqrt(19 / 4), "verl": math.sqrt(19 / 3) + 1e-6, "trl": math.sqrt(19 / 3) + 1e-4,
                      "openrlhf": math.sqrt(19 / 3) + 1e-9, "gdpo": math.sqrt(19 / 3) + 1e-4}.items():
    near(grpo[system]["advantages"], [(r - 6.5) / below for r in R], "grpo " + system)
seven = (7 - 19 / 3) / (math.sqrt(28 / 3) + 1e-6)
near(grpo["nemo"]["advantages"], [(3 - 23 / 3) / (math.sqrt(4 / 3) + 1e-6), seven, seven, (9 - 17 / 3) / (math.sqrt(16 / 3) + 1e-6)], "grpo nemo")
near(rows(answer, "maxrl")["paper"]["advantages"], [(r - 6.5) / 6.5 for r in R], "maxrl")
near(rows(answer, "maxrl")["maxrl-reference"]["advantages"], [(r - 6.5) / (6.5 + 1e-6) for r in R], "maxrl of its authors")
near(rows(answer, "rloo")["paper"]["advantages"], [(r - 6.5) * 4 / 3 for r in R], "rloo")
# levels 4..7 are reached by 3 of 4, levels 8 and 9 by 1 of 4. N = sqrt(3)/4 at all of them: 7 gets 4 (1/4)/N - 2 (1/4)/N = 2/sqrt(3),
# 3 gets -4 (3/4)/N - 2 (1/4)/N = -14/sqrt(3), 9 gets 4 (1/4)/N + 2 (3/4)/N = 10/sqrt(3)
near(rows(answer, "odrpo(grpo)")["paper"]["advantages"], [x / math.sqrt(3) for x in (-14, 2, 2, 10)], "odrpo(grpo)")
# what the systems do to the batch afterwards
after = {system: row["whitening_after"][system] for system, row in rows(answer, "odrpo(grpo)").items()}
if after["verl"] != {"unit": "token", "scale": "sqrt(var + eps)", "ddof": 1, "eps": 1e-8} or after["openrlhf"] is not None:
    fail("verl's gdpo whitens over tokens, openrlhf not at all")
if {system for system, w in after.items() if w and w["unit"] == "response"} != {"paper", "trl", "nemo", "gdpo"}:
    fail("paper, trl, nemo and gdpo whiten over responses")
# N = mu: 3 gets -4 - 2, 7 gets 4/3 - 2, 9 gets 4/3 + 6
near(rows(answer, "odrpo(maxrl)")["paper"]["advantages"], [-6, -2 / 3, -2 / 3, 22 / 3], "odrpo(maxrl)")
# gini-median: the median is 7; 4 mu (1 - mu) = 0.75 everywhere
level = rows(answer, "odrpo-gini-median(grpo)")["paper"]["levels"]
weights = {k: math.sqrt(k) * (0.1 + 0.75 * math.exp(-max(7 - k, 0) / 2)) for k in range(4, 10)}
near([p["weight"] for p in level if 0 < p["count"] < 4], list(weights.values()), "weights of gini-median")
near([p["reached"] - p["missed"] for p in level if 0 < p["count"] < 4], [w * 4 / math.sqrt(3) for w in weights.values()], "reached - missed")
if [p["high"] for p in level if 0 < p["count"] < 4] != [4, 5, 6, 7, 8, 9]:
    fail("levels that are alive")

text = run("--rewards", "3,7,7,9")[0]
for words in ["group of 4: 3, 7 x2, 9", "mean 6.5, sd 2.17945 (ddof 0) or 2.51661 (ddof 1)", "median 7 (lower)",
              "levels 1-3: reached by all, nothing to learn; level 10: by nobody",
              "4-7       3  0.7500    1.0000    0.4330      0.5774     -1.7321",
              "8-9       1  0.2500    1.0000    0.2500      3.0000     -1.0000",
              "-1.6059    0.2294    1.1471", "-4.0414    0.2182    1.4434", "-0.5385    0.0769    0.3846", "-8.0829    1.1547    5.7735",
              "-6.0000   -0.6667    7.3333"]:
    if words not in text:
        fail(f"the text lacks {words!r}")
if "[verl]" in text or "verl, trl, nemo, openrlhf" not in text:
    fail("reinforce is one formula in four systems, and one row")

# the levels under the other conventions: with ddof 1 N = sqrt(3/16 4/3) = 1/2, so 1/4 / N = 0.5 and -3/4 / N = -1.5; nemo leaves the member
# out: levels 4..7 are reached by 2 of the 3 others (sd sqrt(1/3)) of a member that reaches them, by all 3 of one that does not
for words in ["4-7  verl, openrlhf              0.5000      0.5000     -1.5000", "trl, gdpo                   0.5001      0.4999     -1.4997",
              "nemo                             -      0.5773     -1.0000", "8-9  verl, openrlhf              0.5000      1.5000     -0.5000",
              "nemo                             -      1.0000     -0.5773", "(to these digits the same: prime, maxrl-reference, skyrl)"]:
    if words not in text:
        fail(f"the text lacks {words!r}")
if text.count(" verl, openrlhf  ") != 2 + 6 or "those under the other systems" in text:
    fail("levels under other conventions: two lines of odrpo(grpo), six of odrpo-gini-median(grpo)")
sixteen = ["--rewards", ",".join(map(str, range(1, 17))), "--estimator", "odrpo(grpo)"]
short, long = run(*sixteen)[0], run(*sixteen, "--verbose")[0]
if "those under the other systems are left out: --verbose shows them." not in " ".join(short.split()) or "if missed" not in short or " nemo   " in short.split("ADVANTAGES")[0]:
    fail("many levels: the other conventions are left out, and that is said")
if long.split("ADVANTAGES")[0].count(" nemo   ") != 15 or "--verbose" in long:
    fail("many levels with --verbose")

# --- a group of one: what its formula does not say
single = json.loads(run("--rewards", "3", "--json", "--estimator", "reinforce", "--estimator", "maxrl", "--estimator", "odrpo-linear(maxrl)")[0])
for estimator, system, formula, number in [
    ("reinforce", "paper", "A = r - mu; a group of one gets 0", 0), ("reinforce", "verl", "A = r - mu; a group of one gets r", 3),
    ("maxrl", "maxrl-reference", "A = (r - mu) / (mu + 1e-06); a group of one gets r / 1e-06", 3e6),
    ("odrpo-linear(maxrl)", "skyrl", "w_k = k; a group of one gets sum of w_k over k <= r", 6),
    ("odrpo-linear(maxrl)", "maxrl-reference", "a group of one gets (sum of w_k over k <= r) / 1e-06", 6e6)]:
    row = rows(single, estimator)[system]
    if not row["formula"].endswith(formula):
        fail(f"group of one: {row['formula']!r} does not end in {formula!r}")
    near(row["advantages"], [number], f"group of one: {estimator} {system}")
if not single["group"]["dead"] or not json.loads(run("--rewards", "3,3", "--json")[0])["group"]["dead"]:
    fail("groups of one and of equals are dead, as training counts them")
origin = json.loads(run("--rewards", "3", "--json", "--estimator", "maxrl", "--compat", "maxrl-reference", "--origin", "0")[0])
if not origin["estimators"][0]["conventions"][0]["formula"].endswith("a group of one gets (r - 1) / 1e-06"):
    fail("group of one, origin 0")
one = run("--rewards", "3")[0]
for words in ["levels 1-3: reached by the only member; levels 4-10: by nobody", "1-3  verl                        1.0000      1.0000           0"]:
    if words not in one:
        fail(f"a group of one: the text lacks {words!r}")
if "tells members apart" in one or "nothing to learn" in one or "a group of one" in text:
    fail("a group of one is not told as one of equals")
if " ".join(one.split()).count("a group of one gets") != sum(len(e["conventions"]) for e in json.loads(run("--rewards", "3", "--json")[0])["estimators"]) + 4:
    fail("a group of one: a formula does not say what it gets (four more stand above the levels)")
if "the group is dead" in one:
    fail("a group of one is not told as one of equals")
if "no level gives anything to a group of one" not in run("--rewards", "3", "--compat", "paper")[0]:
    fail("a group of one under the paper")
if "no level tells members apart" not in run("--rewards", "3,3")[0]:
    fail("a group of equals")

# --- every estimator under every system, against definitions written anew. A system's own: what a mean and a deviation are of, ddof and
# eps of the deviation, eps of MaxRL's mean, what a group of one gets per unit of reward
systems_by_hand = {
    "paper": {"ddof": 0, "eps": 0, "mean_eps": 0, "guard": True, "single": 0},
    "verl": {"ddof": 1, "eps": 1e-6, "single": 1},
    "trl": {"ddof": 1, "eps": 1e-4, "single": 0},
    "nemo": {"others": True, "eps": 1e-6, "single": 0},
    "openrlhf": {"ddof": 1, "eps": 1e-9, "single": 0},
    "gdpo": {"ddof": 1, "eps": 1e-4, "single": 0},
    "maxrl-reference": {"mean_eps": 1e-6, "single": 1e6},
    "skyrl": {"mean_eps": 1e-6, "single": 1},
    "prime": {"mean_eps": 0, "guard": True, "single": 0},
}
forms_by_hand = {"paper": {"reinforce", "rloo", "grpo", "rank-grpo", "maxrl", "convex-reinforce", "max-at-k", "max-at-k-centred", "mc-grpo"}, "verl": {"reinforce", "rloo", "grpo"},
                 "trl": {"reinforce", "rloo", "grpo"}, "nemo": {"reinforce", "grpo"}, "openrlhf": {"reinforce", "rloo", "grpo"},
                 "gdpo": {"grpo"}, "maxrl-reference": {"maxrl"}, "skyrl": {"maxrl"}, "prime": {"maxrl"}}


def mean_of(x):
    return math.fsum(x) / len(x)


def deviation(x, ddof):
    mean = mean_of(x)
    return math.sqrt(math.fsum((y - mean) ** 2 for y in x) / (len(x) - ddof)) if len(x) > ddof else 0.0


def cardinal(form, x, system):
    rule = systems_by_hand[system]
    if len(x) == 1:
        return [rule["single"] * x[0]]
    if len(set(x)) == 1:
        return [0.0] * len(x)
    others = [x[:i] + x[i + 1:] for i in range(len(x))]
    if form == "reinforce":
        return [y - mean_of(x) for y in x]
    if form == "rloo":
        return [y - mean_of(o) for y, o in zip(x, others)]
    if form == "maxrl":
        if mean_of(x) <= 0 and rule.get("guard"):
            return [0.0] * len(x)
        return [(y - mean_of(x)) / (mean_of(x) + rule["mean_eps"]) for y in x]
    if rule.get("others"):
        spreads = [deviation(o, 1) for o in others]
        return [(y - mean_of(o)) / (sd + rule["eps"] if sd > 1e-12 else 1) for y, o, sd in zip(x, others, spreads)]
    return [(y - mean_of(x)) / (deviation(x, rule["ddof"]) + rule["eps"]) for y in x]


def definition(word, r, levels, system="paper"):
    if word == "rank-grpo":
        return cardinal("grpo", [sum(y < x for y in r) + (sum(y == x for y in r) + 1) / 2 for x in r], system)
    if word == "convex-reinforce":
        return cardinal("reinforce", [math.fsum(math.sqrt(k) for k in range(1, int(x) + 1)) for x in r], system)
    if word == "max-at-k":  # k = 2: what a member adds to the maximum of two, over all it can be paired with
        return [mean_of([max(x, y) - y for y in r[:i] + r[i + 1:]]) if len(r) > 1 else 0.0 for i, x in enumerate(r)]
    if word == "max-at-k-centred":  # less the maximum of two others
        others = [r[:i] + r[i + 1:] for i in range(len(r))]
        pairs = [[max(y, z) for j, y in enumerate(o) for z in o[:j]] for o in others]
        return [mean_of([max(x, y) for y in o]) - mean_of(two) if two else 0.0 for x, o, two in zip(r, others, pairs)]
    if word == "mc-grpo":
        median = sorted(r)[(len(r) - 1) // 2]
        mad = sorted(abs(x - median) for x in r)[(len(r) - 1) // 2]
        apart = sum(x != median for x in r)
        return [(x - median) / (mad + 1e-3) * len(r) / apart if apart else 0.0 for x in r]
    if not word.startswith("odrpo"):
        return cardinal(word, r, system)
    weight, norm = word[5:].strip("-)").split("(")
    out = [0.0] * len(r)
    if weight == "bitwise":
        for b in range(10):
            out = [a + 2**b * x for a, x in zip(out, cardinal(norm, [float(max(int(y), 1) - 1 >> b & 1) for y in r], system))]
        return out
    median = sorted(r)[(len(r) - 1) // 2]
    for k in range(1, levels + 1):
        mu = sum(x >= k for x in r) / len(r)
        w = {"": 1, "linear": k, "gini": math.sqrt(k) * (0.1 + 4 * mu * (1 - mu)),
             "gini-median": math.sqrt(k) * (0.1 + 4 * mu * (1 - mu) * math.exp(-max(median - k, 0) / 2))}[weight]
        out = [a + w * b for a, b in zip(out, cardinal(norm, [float(x >= k) for x in r], system))]
    return out


listing = json.loads(subprocess.run([program, "list", "--json"], check=True, capture_output=True, text=True).stdout)
learn = {k["key"]: k["default"] for k in listing["learn"]["keys"]}
if learn["steps"] != 1000 or learn["kl"] != 0.001 or learn["schedule"] != "cosine":
    fail(f"list --json: defaults are {learn}")
words = [e["word"] for e in listing["estimators"]["entries"]]
posterior = [w for w in words if w.startswith("posterior(")]
words = [w for w in words if w not in posterior]
systems = [w["word"] for k in listing["estimators"]["keys"] if k["key"] == "compat" for w in k["words"]]
every = [a for w in words for a in ("--estimator", w)]
if len(words) < 14 or len(systems) < 9:
    fail(f"too few words: {words}, {systems}")
# posterior estimators: the form of the posterior scores, which lie between the group's extremes and the world's
for group in [[3, 7, 7, 9], [1, 10], [5, 5, 5], [1, 7, 8, 8, 7, 8, 9, 7]]:
    listed = ",".join(map(str, group))
    asked = [a for w in posterior for a in ("--estimator", w)]
    answer = json.loads(run("--rewards", listed, "--json", "--model", "mixed", "--floor", "0", *asked)[0])
    values = answer["posterior"]["scores"]
    if answer["posterior"]["model"] != "mixed" or len(values) != len(group) or not all(1 <= v <= 10 for v in values):
        fail(f"posterior scores of {listed}: {answer['posterior']}")
    if any((a == b) != (x == y) for a, x in zip(group, values) for b, y in zip(group, values)):
        fail(f"equal scores have equal posterior scores: {listed}, {values}")
    for e in answer["estimators"]:
        form = e["estimator"][len("posterior("):-1]
        if form == "convex-reinforce":  # of whole numbers alone below
            continue
        for system, row in rows(answer, e["estimator"]).items():
            near(row["advantages"], definition(form, values, 10, system), f"{e['estimator']} of {listed} under {system}")
for wrong, why in [
    (["--rewards", "1,2", "--estimator", "posterior(grpo)"], "needs --model"),
    (["--rewards", "1,2", "--estimator", "grpo", "--model", "mixed"], "none is asked for"),
    (["--rewards", "1,2", "--estimator", "posterior(rank-grpo)", "--model", "mixed", "--floor", "1"], "divide by a deviation have one, and none is asked for"),
    (["--rewards", "1,2", "--estimator", "posterior(grpo)", "--model", "mixed", "--floor", "nan"], '--floor is "nan": posterior or a number 0..100 is wanted'),
    (["--rewards", "1,2", "--estimator", "posterior(grpo)", "--model", "mixed", "--floor", "101"], '--floor is "101"'),
    (["--rewards", "1,2", "--estimator", "posterior(grpo)", "--model", "mixd"], "did you mean"),
    (["--rewards", "1.5,2", "--estimator", "posterior(grpo)", "--model", "mixed"], "1.5 is none"),
    (["--rewards", "0,2", "--estimator", "posterior(grpo)", "--model", "mixed"], "0 is none"),
    (["--rewards", "1,2", "--estimator", "posterior(grpo)", "--model", "none/such.toml"], "none/such.toml"),
]:
    refused = subprocess.run([program, "explain", *wrong], capture_output=True, text=True)
    if refused.returncode not in (2, 5) or why not in refused.stderr:
        fail(f"explain {wrong}: {refused.returncode} {refused.stderr}")

for group in [[3, 7, 7, 9], [1, 10], [5, 5, 5], [6], [0, 0, 4], [1, 1, 1, 1, 1, 1, 1, 2], [2, 9, 4, 4, 6, 8, 1, 10], list(range(1, 17))]:
    listed = ",".join(map(str, group))
    answer = json.loads(run("--rewards", listed, "--json", *every)[0])
    if [e["estimator"] for e in answer["estimators"]] != words:
        fail(f"estimators of {listed}")
    for e in answer["estimators"]:
        for system, row in rows(answer, e["estimator"]).items():
            near(row["advantages"], definition(e["estimator"], group, max(10, max(group)), system), f"{e['estimator']} of {listed} under {system}")
        form = e["estimator"].split("(")[-1].rstrip(")")
        offered = {system for system in forms_by_hand if form in forms_by_hand[system]}
        if set(rows(answer, e["estimator"])) != offered:
            fail(f"{e['estimator']}: offered by {sorted(rows(answer, e['estimator']))}, not {sorted(offered)}")
        told = [s for c in e["conventions"] for s in c["compat"]] + [x["compat"] for x in e["refused"]]
        if sorted(told) != sorted(systems):
            fail(f"{e['estimator']}: {told} are not all systems")
        for c in e["conventions"]:
            for i, r in enumerate(group):  # the parts add up to the whole
                if c.get("bits"):
                    parts = math.fsum(p["reached"] if max(r, 1) - 1 >> p["bit"] & 1 else p["missed"] for p in c["bits"])
                    near([parts], [c["advantages"][i]], f"bits of {e['estimator']} {c['compat']} of {listed}")
                elif c["levels"]:
                    parts = math.fsum(p["reached"] if r >= p["high"] else p["missed"] for p in c["levels"])
                    near([parts], [c["advantages"][i]], f"levels of {e['estimator']} {c['compat']} of {listed}")

# --- options
upper = json.loads(run("--rewards", "2,8", "--median", "upper", "--estimator", "odrpo-gini-median(grpo)", "--json")[0])
given = json.loads(run("--rewards", "2,8", "--median", "8", "--estimator", "odrpo_gini_median(grpo)", "--json")[0])
lower = json.loads(run("--rewards", "2,8", "--estimator", "odrpo-gini-median(grpo)", "--json")[0])
numbers = [x["estimators"][0]["conventions"][0]["advantages"] for x in (upper, given, lower)]
if numbers[0] != numbers[1] or numbers[0] == numbers[2]:
    fail(f"--median: {numbers}")
origin = json.loads(run("--rewards", "3 5", "--origin", "0", "--estimator", "maxrl", "--compat", "paper", "--json")[0])
near(origin["estimators"][0]["conventions"][0]["advantages"], [-1 / 3, 1 / 3], "--origin 0: scores 2 and 4, mean 3")
subsets = json.loads(run("--rewards", "2 5 9", "--k", "3", "--estimator", "max-at-k", "--compat", "paper", "--json")[0])
near(subsets["estimators"][0]["conventions"][0]["advantages"], [0, 0, 4], "--k 3: what each adds to the maximum of all three")
separate = json.loads(run("--rewards", "3", "7,7", "9", "--compat", "paper", "--estimator", "grpo", "--json")[0])
if separate["rewards"] != R or len(separate["estimators"]) != 1:
    fail("rewards in several words")
real = json.loads(run("--rewards", "7.25,8,8.5", "--estimator", "odrpo(maxrl)", "--compat", "paper", "--json")[0])
# gaps 0.75 (reached by 2 of 3) and 0.5 (by 1 of 3): -0.75 - 0.5, 0.75/2 - 0.5, 0.75/2 + 0.5 2
near(real["estimators"][0]["conventions"][0]["advantages"], [-1.25, -0.125, 1.375], "real rewards")
if "advantage of 9e+06" not in run("--rewards", "9")[0]:
    fail("a group of one under maxrl-reference explodes, and nothing is said")
if "explodes" in text or "advantage of" in text:
    fail("3, 7, 7, 9 has no advantage that is out of proportion")
# large for reasons of its own: 54 levels' weights over 1/8, 995 levels, no divisor at all
for group, estimator in [("1,1,1,1,1,1,1,10", "odrpo-linear(maxrl)"), ("1e3,5", "odrpo(grpo)"), ("1e3,5", "reinforce"), ("0,0,0,0,0,0,200", "maxrl")]:
    if "almost zero" in run("--rewards", group, "--estimator", estimator, "--compat", "paper")[0]:
        fail(f"{estimator} of {group} is divided by nothing small")
# nemo: the others of 9 are 5, 5 and a hair: 4 over 4.7e-5 + 1e-6
if "almost zero" not in run("--rewards", "9,5,5,5.0001", "--estimator", "grpo", "--compat", "nemo")[0]:
    fail("a leave-one-out deviation of nearly 0 is not told")
shown = json.loads(run("--rewards", "3,7", "--median", "5.5", "--estimator", "odrpo-gini-median(grpo)", "--json")[0])
if any("Med = 5.5 (given)" not in c["formula"] or "lower" in c["formula"] for c in shown["estimators"][0]["conventions"]):
    fail("a median that is given stands in the formula")
flat = " ".join(text.split())
# in full above the levels of four, in all five and two rows of uniform weight, in the first of gini-median's five and two
if flat.count("w_k as above") != 4 + 1 or flat.count("w_k =") != 4 + 5 + 2 + 2:
    fail(f"every formula says its weights: {flat.count('w_k as above')} as above, {flat.count('w_k =')} in full")
if text.count("each member is divided by the deviation of the others") != 2:
    fail("nemo's N_k are explained")
if "the group is dead" not in run("--rewards", "5,5,5")[0]:
    fail("a dead group is not called so")

# --- as many levels as are taken, in linear time (a minute is what run() waits)
long = json.loads(run("--rewards", "50000,0.5", "--estimator", "convex-reinforce", "--json")[0])
# half of U(50000) - U(0.5), U(0.5) = sqrt(1) / 2
half = (math.fsum(math.sqrt(k) for k in range(1, 50001)) - 0.5) / 2
near(long["estimators"][0]["conventions"][0]["advantages"], [half, -half], "50000 levels")
run("--rewards", "50000,1", *every)

# --- width
many = ",".join(str(1 + i * 7 % 10) for i in range(255))
for rewards in ["3,7,7,9", "9", "0", "5,5", many, ",".join(map(str, range(1, 17))), "9999.25,1.5", "10000,1", "7.25,8,8.5", "0.1,0.2,0.30000000000000004",
                ",".join(str(i + 0.123456789) for i in range(40))]:
    asked = [a for w in words if "." not in rewards or "bitwise" not in w for a in ("--estimator", w)]  # real numbers have no bits
    for more in ([], ["--verbose", *asked]):
        out = run("--rewards", rewards, *more)[0]
        wide = [line for line in out.splitlines() if len(line) > 80]
        if wide or not out:
            fail(f"{rewards[:40]}: lines beyond 80 columns: {wide[:2]}")

# --- mistakes of the command line: exit 2, nothing on stdout, and what is wrong in the message
for arguments, said in [
    ([], "--rewards"),
    (["--rewards"], "--rewards"),
    (["--rewards", ""], "the value is empty"),
    (["--rewards", " "], "at least one number"),
    (["--rewards", ","], "number 1 is missing"),
    (["--rewards", "3,,7"], "number 2 is missing"),
    (["--rewards", "3,7,"], "number 3 is missing"),
    (["--rewards", "3,seven"], 'number 2 is "seven", which is no number'),
    (["--rewards", "3,7x"], 'number 2 is "7x"'),
    (["--rewards", "3,0x10"], 'number 2 is "0x10"'),
    (["--rewards", "3,nan"], "number 2 is nan"),
    (["--rewards", "3,inf"], "number 2 is inf"),
    (["--rewards", "3,1e999"], "number 2"),
    (["--rewards", "3,-7"], "number 2 is -7"),
    (["--rewards", "-3,7"], "number 1 is -3"),
    (["--rewards", "3,50001"], "number 2 is 50001: 0..50000"),
    (["--rewards", "3;\x1b[2J7"], "\\x1b[2J7"),
    (["--rewards", ",".join(["1"] * 256)], "at most 255"),
    (["--rewards", "3,7", "--levels", "6"], "--levels 6 is below the largest reward, 7"),
    (["--rewards", "3,7", "--levels", "0"], "--levels"),
    (["--rewards", "3,7", "--levels", "many"], "--levels"),
    (["--rewards", "3,7", "--estimator", "gropo"], 'did you mean "grpo"?'),
    (["--rewards", "3,7", "--estimator", ""], "the value is empty"),
    (["--rewards", "3,7", "--estimator", "x" * 300], "..."),
    (["--rewards", "3,7", "--compat", "verll"], 'did you mean "verl"?'),
    (["--rewards", "3,7", "--compat", "verl", "--estimator", "maxrl"], "has no maxrl"),
    (["--rewards", "3,7", "--median", "midle"], '--median: "midle" is none of lower, mid, upper or a number'),
    (["--rewards", "3,7", "--median", "-1"], "--median"),
    (["--rewards", "3,7", "--median", "running"], "running"),
    (["--rewards", "3,7", "--origin", "2"], "--origin"),
    (["--rewards", "3,7", "--origin", "0", "--estimator", "grpo"], "only maxrl depends on it"),
    (["--rewards", "3,7", "--median", "5", "--estimator", "grpo"], "only the weight gini-median reads it"),
    (["--rewards", "3,7", "--median", "upper", "--estimator", "odrpo-gini(grpo)"], "only the weight gini-median reads it"),
    (["--rewards", "3,7,9", "--k", "3"], "only forms that compare subsets read it"),
    (["--rewards", "3,7,9", "--k", "4", "--estimator", "max-at-k"], "a group of 3 has no subset of 4"),
    (["--rewards", "3,7,9", "--k", "1", "--estimator", "max-at-k"], "--k"),
    (["--rewards", "3,7.5", "--estimator", "odrpo-bitwise(grpo)"], "takes whole scores, and --rewards has others"),
    (["--rewards", "3,7", "--frob"], 'unknown flag "--frob"'),
]:
    out, err = run(*arguments, code=2)
    if said not in err or out:
        fail(f"explain {[a[:40] for a in arguments]}: {said!r} is not in: {err}{out[:200]}")

sys.exit(failed > 0)
