# `explain` against arithmetic of its own: text and JSON, every estimator and convention, width. Usage: explain_test.py PATH/TO/odrpo-bench
import json, math, subprocess

from checks import call, check, finish, flowed, near, of_one_group, program
from reference import advantages


def run(*arguments, **how):
    return call("explain", *arguments, timeout=120, **how)


def rows(answer, estimator):
    [one] = [e for e in answer["estimators"] if e["estimator"] == estimator]
    return {system: c for c in one["conventions"] for system in c["compat"]}


# --- 3, 7, 7, 9 by hand
# mean 26/4 = 6.5; squares 12.25 + 0.25 + 0.25 + 6.25 = 19; sd sqrt(19/4) or, ddof 1, sqrt(19/3)
# nemo leaves the member out: 3 against 7, 7, 9 (mean 23/3, variance (4/9 + 4/9 + 16/9) / 2 = 4/3), 7 against 3, 7, 9 (19/3, 28/3),
# 9 against 3, 7, 7 (17/3, 16/3)
R = [3, 7, 7, 9]
answer = json.loads(run("--rewards", "3,7,7,9", "--json"))
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
check(after["verl"] == {"unit": "token", "scale": "sqrt(var + eps)", "ddof": 1, "eps": 1e-8} and after["openrlhf"] is None,
      "verl's gdpo whitens over tokens, openrlhf not at all")
check({system for system, w in after.items() if w and w["unit"] == "response"} == {"paper", "trl", "nemo", "gdpo", "relax"}, "paper, trl, nemo, gdpo and relax whiten over responses")
# N = mu: 3 gets -4 - 2, 7 gets 4/3 - 2, 9 gets 4/3 + 6
near(rows(answer, "odrpo(maxrl)")["paper"]["advantages"], [-6, -2 / 3, -2 / 3, 22 / 3], "odrpo(maxrl)")
# gini-median: the median is 7; 4 mu (1 - mu) = 0.75 everywhere
level = rows(answer, "odrpo-gini-median(grpo)")["paper"]["levels"]
weights = {k: math.sqrt(k) * (0.1 + 0.75 * math.exp(-max(7 - k, 0) / 2)) for k in range(4, 10)}
near([p["weight"] for p in level if 0 < p["count"] < 4], list(weights.values()), "weights of gini-median")
near([p["reached"] - p["missed"] for p in level if 0 < p["count"] < 4], [w * 4 / math.sqrt(3) for w in weights.values()], "reached - missed")
check([p["high"] for p in level if 0 < p["count"] < 4] == [4, 5, 6, 7, 8, 9], "levels that are alive")

sixteen = ["--rewards", ",".join(map(str, range(1, 17))), "--estimator", "odrpo(grpo)"]
short, long = run(*sixteen), run(*sixteen, "--verbose")
check("those under the other systems are left out: --verbose shows them." in flowed(short) and "if missed" in short and " nemo   " not in short.split("ADVANTAGES")[0],
      "many levels: the other conventions are left out, and that is said")
check(long.split("ADVANTAGES")[0].count(" nemo   ") == 15 and "--verbose" not in long, "many levels with --verbose")

# --- missing rewards, and rewards that differ by rounding alone
some, there = (json.loads(run("--rewards", r, "--json", "--estimator", "grpo")) for r in ("3,null,9 NA,7", "3,9,7"))
near(rows(some, "grpo")["paper"]["advantages"], rows(there, "grpo")["paper"]["advantages"], "the others are the group")
said = flowed(run("--rewards", "3,null,9 NA,7"))
check("2 rewards are missing: the others are a group of 3, and a missing one gets the advantage 0." in said, "missing rewards are said")
said = flowed(run("--rewards", "0.6,0.6000000000000001,0.6", "--estimator", "rank-grpo", "--estimator", "grpo"))
check("The rewards are equal but for rounding (0.6 and 0.6000000000000001): ranks take them for equal, other forms do not." in said, "rounding is said")
ranked = json.loads(run("--rewards", "0.1,0.6,0.6000000000000001", "--json", "--estimator", "rank-grpo"))
near(rows(ranked, "rank-grpo")["paper"]["advantages"], rows(json.loads(run("--rewards", "1,6,6", "--json", "--estimator", "rank-grpo")), "rank-grpo")["paper"]["advantages"], "ranks")

# --- a group of one: what its formula does not say
single = json.loads(run("--rewards", "3", "--json", "--estimator", "reinforce", "--estimator", "maxrl", "--estimator", "odrpo-linear(maxrl)"))
for estimator, system, formula, number in [
    ("reinforce", "paper", "A = r - mu; a group of one gets 0", 0), ("reinforce", "verl", "A = r - mu; a group of one gets r", 3),
    ("maxrl", "maxrl-reference", "A = (r - mu) / (mu + 1e-06); a group of one gets r / 1e-06", 3e6),
    ("odrpo-linear(maxrl)", "skyrl", "w_k = k; a group of one gets sum of w_k over k <= r", 6),
    ("odrpo-linear(maxrl)", "maxrl-reference", "a group of one gets (sum of w_k over k <= r) / 1e-06", 6e6)]:
    row = rows(single, estimator)[system]
    check(row["formula"].endswith(formula), f"group of one: {row['formula']!r} does not end in {formula!r}")
    near(row["advantages"], [number], f"group of one: {estimator} {system}")
check(single["group"]["dead"] and json.loads(run("--rewards", "3,3", "--json"))["group"]["dead"], "groups of one and of equals are dead, as training counts them")
origin = json.loads(run("--rewards", "3", "--json", "--estimator", "maxrl", "--compat", "maxrl-reference", "--origin", "0"))
check(origin["estimators"][0]["conventions"][0]["formula"].endswith("a group of one gets (r - 1) / 1e-06"), "group of one, origin 0")
one = run("--rewards", "3")
for words in ["levels 1-3: reached by the only member; levels 4-10: by nobody", "1-3  verl, skyrl                 1.0000      1.0000           0"]:
    check(words in one, f"a group of one: the text lacks {words!r}")
check("tells members apart" not in one and "nothing to learn" not in one, "a group of one is not told as one of equals")
check(flowed(one).count("a group of one gets") == sum(len(e["conventions"]) for e in json.loads(run("--rewards", "3", "--json"))["estimators"]) + 4,
      "a group of one: a formula does not say what it gets (four more stand above the levels)")
check("the group is dead" not in one, "a group of one is not told as one of equals")
check("no level gives anything to a group of one" in run("--rewards", "3", "--compat", "paper"), "a group of one under the paper")
check("no level tells members apart" in run("--rewards", "3,3"), "a group of equals")

# --- every estimator under every system
forms_by_hand = {"paper": {"reinforce", "rloo", "grpo", "rank-grpo", "maxrl", "convex-reinforce", "max-at-k", "max-at-k-centred", "mc-grpo", "gopo", "arena", "dgae", "qae", "grpo-passk", "corpo"}, "verl": {"reinforce", "rloo", "grpo", "grpo-passk"},
                 "trl": {"reinforce", "rloo", "grpo"}, "nemo": {"reinforce", "grpo"}, "openrlhf": {"reinforce", "rloo", "grpo"},
                 "gdpo": {"grpo"}, "maxrl-reference": {"maxrl"}, "skyrl": {"rloo", "grpo", "maxrl"}, "prime": {"grpo", "maxrl"},
                 "tinker": {"grpo"}, "relax": {"reinforce", "rloo", "grpo"}}
levels_by_hand = {system: forms & {"grpo", "maxrl"} for system, forms in forms_by_hand.items()} | {"prime": {"maxrl"}, "tinker": set()}  # NORMs of odrpo


listing = json.loads(call("list", "--json"))
learn = {k["key"]: k["default"] for k in listing["learn"]["keys"]}
check(learn["steps"] == 1000 and learn["kl"] == 0.001 and learn["schedule"] == "cosine", f"list --json: defaults are {learn}")
words = [e["word"] for e in listing["estimators"]["entries"]]
posterior = [w for w in words if w.startswith("posterior(")]
corrected = [w for w in words if w.startswith("corrected(")]
words = of_one_group(words)
systems = [w["word"] for k in listing["estimators"]["keys"] if k["key"] == "compat" for w in k["words"]]
every = [a for w in words for a in ("--estimator", w)]
check(len(words) >= 14 and len(systems) >= 9, f"too few words: {words}, {systems}")
# posterior estimators: the form of the posterior scores, which lie between the group's extremes and the world's
for group in [[3, 7, 7, 9], [1, 10], [5, 5, 5], [1, 7, 8, 8, 7, 8, 9, 7]]:
    listed = ",".join(map(str, group))
    asked = [a for w in posterior for a in ("--estimator", w)]
    answer = json.loads(run("--rewards", listed, "--json", "--model", "mixed", "--floor", "0", *asked))
    values = answer["posterior"]["scores"]
    check(answer["posterior"]["model"] == "mixed" and len(values) == len(group) and all(1 <= v <= 10 for v in values),
          f"posterior scores of {listed}: {answer['posterior']}")
    check(not any((a == b) != (x == y) for a, x in zip(group, values) for b, y in zip(group, values)), f"equal scores have equal posterior scores: {listed}, {values}")
    for e in answer["estimators"]:
        form = e["estimator"][len("posterior("):-1]
        if form == "convex-reinforce":  # of whole numbers alone below
            continue
        for system, row in rows(answer, e["estimator"]).items():
            near(row["advantages"], advantages(form, values, system=system), f"{e['estimator']} of {listed} under {system}")
# corrected estimators: the form with the corrected scores as values
for group in [[3, 7, 7, 9], [1, 10], [5, 5, 5], [1, 7, 8, 8, 7, 8, 9, 7]]:
    answer = json.loads(run("--rewards", ",".join(map(str, group)), "--json", "--model", "veto", *(a for w in corrected for a in ("--estimator", w))))
    for e in answer["estimators"]:
        form = e["estimator"][len("corrected("):-1]
        if form in ("convex-reinforce", "max-at-k", "max-at-k-centred", "mc-grpo"):  # the arithmetic here knows no values of these
            continue
        for system, row in rows(answer, e["estimator"]).items():
            near(row["advantages"], advantages(form, group, answer["corrected"]["scores"], system), f"{e['estimator']} of {group} under {system}")
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
    check(refused.returncode in (2, 5) and why in refused.stderr, f"explain {wrong}: {refused.returncode} {refused.stderr}")

for group in [[3, 7, 7, 9], [1, 10], [5, 5, 5], [6], [0, 0, 4], [1, 1, 1, 1, 1, 1, 1, 2], [2, 9, 4, 4, 6, 8, 1, 10], list(range(1, 17))]:
    listed = ",".join(map(str, group))
    answer = json.loads(run("--rewards", listed, "--json", *every))
    check([e["estimator"] for e in answer["estimators"]] == words, f"estimators of {listed}")
    for e in answer["estimators"]:
        for system, row in rows(answer, e["estimator"]).items():
            near(row["advantages"], advantages(e["estimator"], group, system=system), f"{e['estimator']} of {listed} under {system}")
        form = e["estimator"].split("(")[-1].rstrip(")")
        offered = {system for system, forms in (levels_by_hand if e["estimator"].startswith("odrpo") else forms_by_hand).items() if form in forms}
        check(set(rows(answer, e["estimator"])) == offered, f"{e['estimator']}: offered by {sorted(rows(answer, e['estimator']))}, not {sorted(offered)}")
        told = [s for c in e["conventions"] for s in c["compat"]] + [x["compat"] for x in e["refused"]]
        check(sorted(told) == sorted(systems), f"{e['estimator']}: {told} are not all systems")
        for c in e["conventions"]:
            for i, r in enumerate(group):  # the parts add up to the whole
                if c.get("bits"):
                    parts = math.fsum(p["reached"] if max(r, 1) - 1 >> p["bit"] & 1 else p["missed"] for p in c["bits"])
                    near([parts], [c["advantages"][i]], f"bits of {e['estimator']} {c['compat']} of {listed}")
                elif c["levels"]:
                    parts = math.fsum(p["reached"] if r >= p["high"] else p["missed"] for p in c["levels"])
                    near([parts], [c["advantages"][i]], f"levels of {e['estimator']} {c['compat']} of {listed}")

# --- options
upper = json.loads(run("--rewards", "2,8", "--median", "upper", "--estimator", "odrpo-gini-median(grpo)", "--json"))
given = json.loads(run("--rewards", "2,8", "--median", "8", "--estimator", "odrpo_gini_median(grpo)", "--json"))
lower = json.loads(run("--rewards", "2,8", "--estimator", "odrpo-gini-median(grpo)", "--json"))
numbers = [x["estimators"][0]["conventions"][0]["advantages"] for x in (upper, given, lower)]
check(numbers[0] == numbers[1] and numbers[0] != numbers[2], f"--median: {numbers}")
origin = json.loads(run("--rewards", "3 5", "--origin", "0", "--estimator", "maxrl", "--compat", "paper", "--json"))
near(origin["estimators"][0]["conventions"][0]["advantages"], [-1 / 3, 1 / 3], "--origin 0: scores 2 and 4, mean 3")
subsets = json.loads(run("--rewards", "2 5 9", "--k", "3", "--estimator", "max-at-k", "--compat", "paper", "--json"))
near(subsets["estimators"][0]["conventions"][0]["advantages"], [0, 0, 4], "--k 3: what each adds to the maximum of all three")
separate = json.loads(run("--rewards", "3", "7,7", "9", "--compat", "paper", "--estimator", "grpo", "--json"))
check(separate["rewards"] == R and len(separate["estimators"]) == 1, "rewards in several words")
real = json.loads(run("--rewards", "7.25,8,8.5", "--estimator", "odrpo(maxrl)", "--compat", "paper", "--json"))
# gaps 0.75 (reached by 2 of 3) and 0.5 (by 1 of 3): -0.75 - 0.5, 0.75/2 - 0.5, 0.75/2 + 0.5 2
near(real["estimators"][0]["conventions"][0]["advantages"], [-1.25, -0.125, 1.375], "real rewards")
check("advantage of 9e+06" in run("--rewards", "9"), "a group of one under maxrl-reference explodes, and nothing is said")
# large for reasons of its own: 54 levels' weights over 1/8, 995 levels, no divisor at all
for group, estimator in [("1,1,1,1,1,1,1,10", "odrpo-linear(maxrl)"), ("1e3,5", "odrpo(grpo)"), ("1e3,5", "reinforce"), ("0,0,0,0,0,0,200", "maxrl")]:
    check("almost zero" not in run("--rewards", group, "--estimator", estimator, "--compat", "paper"), f"{estimator} of {group} is divided by nothing small")
# nemo: the others of 9 are 5, 5 and a hair: 4 over 4.7e-5 + 1e-6
check("almost zero" in run("--rewards", "9,5,5,5.0001", "--estimator", "grpo", "--compat", "nemo"), "a leave-one-out deviation of nearly 0 is not told")
shown = json.loads(run("--rewards", "3,7", "--median", "5.5", "--estimator", "odrpo-gini-median(grpo)", "--json"))
check(not any("Med = 5.5 (given)" not in c["formula"] or "lower" in c["formula"] for c in shown["estimators"][0]["conventions"]),
      "a median that is given stands in the formula")
check("the group is dead" in run("--rewards", "5,5,5"), "a dead group is not called so")

# --- as many levels as are taken, in linear time (a minute is what run() waits)
long = json.loads(run("--rewards", "50000,0.5", "--estimator", "convex-reinforce", "--json"))
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
        out = run("--rewards", rewards, *more)
        wide = [line for line in out.splitlines() if len(line) > 80]
        check(not wide and out, f"{rewards[:40]}: lines beyond 80 columns: {wide[:2]}")

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
    (["--rewards", "null,nan"], "at least one number"),
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
    check(run(*arguments, code=2, words=said) == "", f"explain {[a[:40] for a in arguments]}: something on stdout")

finish()
