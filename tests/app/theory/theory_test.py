# `theory` against arithmetic of its own: figures of the paper to their digits, each by one command; formats, figures, refusals.
# Usage: theory_test.py PATH/TO/odrpo-bench SUITES
import json, math, os, shutil

from checks import call, check, finish, paths, within
from reference import advantages, log_objective, table_of


def rows(*arguments):
    return json.loads(call("theory", *arguments, "--json"))["rows"]


def split(n, levels):
    """Every histogram of n over the levels."""
    if levels == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for rest in split(n - first, levels - 1):
            yield (first, *rest)


def chance(counts, p):
    out = math.factorial(sum(counts))
    for n, x in zip(counts, p):
        out *= x**n / math.factorial(n)
    return out


def advantage(estimator, values, counts, level):
    """Of a member at `level` (from 0) of the group with those counts."""
    group = [k + 1 for k, n in enumerate(counts) for _ in range(n)]
    return advantages(estimator, group, values)[group.index(level + 1)]


def plus(counts, *levels):
    out = list(counts)
    for level in levels:
        out[level] += 1
    return out


def curl(estimator, values, s, i, j):
    f = lambda of, beside: advantage(estimator, values, plus(s, of, beside), of)
    last = len(values) - 1
    return f(i, j) - f(i, last) + f(j, last) - f(j, i) + f(last, i) - f(last, j)


def grid_of(*arguments):
    return {(r["estimator"], r["K"], r["M"]): r for r in rows("curl", *arguments)}


# --- curl -2 and -1/15 at M = 2, K = 3: the only histogram is empty, and of nine pairs (i, j) two have a curl
pair = grid_of("--levels", "3", "--group-size", "2")
within(pair["grpo", 3, 2]["mac_pairs"], 2, 1e-12, "|curl| of grpo")
within(pair["maxrl", 3, 2]["mac_pairs"], 1 / 15, 1e-12, "|curl| of maxrl")
within(pair["grpo", 3, 2]["mac_all"], 4 / 9, 1e-12, "MAC of grpo over all i, j")
within(pair["odrpo-gini-median(grpo)", 3, 2]["mac_pairs"], 0, 1e-14, "gini-median at M = 2")

# --- MAC by K at M = 8, to the printed digits
table = grid_of("--levels", "3,5,8,10", "--group-size", "8")
for estimator, all_of in {"grpo": (.133, .198, .214, .218), "maxrl": (.0011, .0032, .0050, .0058)}.items():
    for k, wanted in zip((3, 5, 8, 10), all_of):
        within(table[estimator, k, 8]["mac_all"], wanted, 5e-4 if estimator == "grpo" else 5e-5, f"MAC {estimator} K = {k}")
for k, wanted in zip((3, 5, 8, 10), (.600, .412, .327, .302)):
    within(table["grpo", k, 8]["mac_pairs"], wanted, 5e-4, f"MAC of pairs, grpo K = {k}")
for estimator, wanted in {"odrpo-gini-median(grpo)": .407, "odrpo-gini-median(maxrl)": .265, "maxrl": .008}.items():
    within(table[estimator, 10, 8]["mac_pairs"], wanted, 5e-4, f"MAC of pairs, {estimator}")
for estimator in ("odrpo(grpo)", "odrpo(maxrl)", "odrpo-gini(grpo)", "odrpo-gini(maxrl)"):
    within(table[estimator, 10, 8]["mac_pairs"], 0, 1e-13, f"curl of {estimator}")
for r in table.values():
    within(r["curl_pairs"], 7 * r["mac_pairs"], 1e-12, "the factor M - 1")

# --- MAC by brute force, plain and spaced values
for values in ([1, 2, 3, 4], [1, 2, 12]):
    for estimator in ("grpo", "maxrl", "odrpo-gini-median(maxrl)", "odrpo-gini-median(grpo)"):
        for m in (3, 5):
            total, seen, levels = 0.0, 0, len(values)
            for s in split(m - 2, levels):
                seen += 1
                total += sum(abs(curl(estimator, values, s, i, j)) for i in range(levels) for j in range(levels))
            [got] = rows("curl", "--estimator", estimator, "--values", ",".join(map(str, values)), "--group-size", str(m))
            within(got["mac_all"], total / seen / levels**2, 1e-11, f"MAC {estimator} {values} M = {m}")
            check(got["histograms"] == seen, f"histograms: {got['histograms']}, not {seen}")

# --- the default table: K = 2..10, M = 2..16, eight estimators
lines = table_of(call("theory", "curl", "--format", "csv"))
check(len(lines) == 8 * 9 * 15, f"default table: {len(lines)} rows")
check(all(line["mac_pairs"] == "" for line in lines if line["K"] == "2"), "K = 2 has no pairs i < j < K")
# MAC grows with K and falls with M, as the paper has it; times M - 1 it does not fall so
grpo = {(int(line["K"]), int(line["M"])): line for line in lines if line["estimator"] == "grpo"}
check(all(float(grpo[k, 8]["mac_all"]) < float(grpo[k + 1, 8]["mac_all"]) for k in range(2, 10)), "MAC of grpo grows with K")
check(float(grpo[10, 16]["mac_all"]) < float(grpo[10, 8]["mac_all"]) < float(grpo[10, 4]["mac_all"]), "MAC of grpo falls with M")

# --- field: by its definition, its curl at (.2, .3, .5), and its cosine
p = [.2, .3, .5]
got = {(r["estimator"], r["M"]): r for r in rows("field", "--p", ".2,.3,.5", "--group-size", "2,4,8,16,32,64,128")}
for m, grpo_curl, maxrl_curl in zip((2, 4, 8, 16, 32, 64, 128), (2.00, 3.04, 2.91, 2.50, 2.28, 2.18, 2.14), (.067, .043, .0215, .011, .005, .003, .001)):
    within(got["grpo", m]["curl"], grpo_curl, 5e-3, f"curl of the field, grpo M = {m}")
    within(got["maxrl", m]["curl"], maxrl_curl, 5e-4, f"curl of the field, maxrl M = {m}")
for (estimator, m), r in got.items():
    if m > 8:
        continue
    field = [sum(chance(s, p) * advantage(estimator, [1, 2, 3], plus(s, k), k) for s in split(m - 1, 3)) for k in range(3)]
    for k in range(3):
        within(r[f"F_{k + 1}"], field[k], 1e-12, f"F_{k + 1} of {estimator}, M = {m}")
    mean = sum(field) / 3
    cosine = (field[2] - field[0]) / math.sqrt(2) / math.sqrt(sum((f - mean) ** 2 for f in field))
    within(r["cosine"], cosine, 1e-12, f"cosine of {estimator}, M = {m}")
check(1 - got["grpo", 128]["cosine"] < 1e-5, "in the limit the field of grpo is parallel to the gradient of E[r]")
# with endless groups maxrl climbs log E[r], whose gradient is R / E[r]
[limit] = rows("field", "--p", ".2,.3,.5", "--group-size", "400", "--estimator", "maxrl")
within(limit["F_3"] - limit["F_1"], 2 / 2.3, 5e-3, "the limit of maxrl is the gradient of log E[r]")

# how much of the field's Jacobian turns: at the uniform point, K = 10, M = 8, by a script in numpy
got = {r["estimator"]: r["relative"] for r in rows("field", "--p", ",".join(["0.1"] * 10), "--group-size", "8")}
for estimator, wanted in {"grpo": .955, "maxrl": .060, "odrpo-gini-median(grpo)": .373, "odrpo-gini-median(maxrl)": .071, "odrpo(grpo)": 0, "odrpo-gini(maxrl)": 0}.items():
    within(got[estimator], wanted, 5e-4, f"relative curl of {estimator}")

# the slope of a level's potential is F_2 - F_1 of two levels
for P, slope in ((.01, 2.61), (.05, 2.47), (.5, 1.86)):
    [one] = rows("field", "--p", f"{1 - P},{P}", "--estimator", "odrpo(grpo)")
    within(one["F_2"] - one["F_1"], slope, 5e-3, f"slope of a level at P = {P}, M = 8")
# the group's median jumps where P_m = 1/2: only there the curl of gini-median does not vanish
for p_text, rises in ((".2,.3,.5", True), (".2,.2,.6", False)):
    few, many = [r["curl"] for r in rows("field", "--p", p_text, "--group-size", "8,400", "--estimator", "odrpo-gini-median(grpo)")]
    check((many > few) == rises, f"gini-median at {p_text}: curl {few} at M = 8, {many} at M = 400")

# --- the loop around three levels: share of the circulation, and the least cosine
loop = {r["estimator"]: r for r in rows("field", "--triangle", "0.1")}
for estimator, wanted in {"grpo": .150, "maxrl": .004, "odrpo-gini-median(grpo)": .016, "odrpo-gini-median(maxrl)": .007, "odrpo(grpo)": 0,
                          "odrpo-gini(maxrl)": 0}.items():
    within(loop[estimator]["share"], wanted, 5.1e-4, f"circulation of {estimator}")
within(loop["grpo"]["least_cosine"], .97, 5e-3, "least cosine of grpo on the loop")
within(loop["odrpo-gini-median(maxrl)"]["least_cosine"], .93, 5e-3, "least cosine of gini-median (maxrl) on the loop")

# --- objective: the limit and the paper's constant, and the finite sums
got = {(r["estimator"], r["M"]): r for r in rows("objective", "--p", ".2,.3,.5", "--group-size", "2,8,200")}
arc = 2 * (math.asin(math.sqrt(.8)) + math.asin(math.sqrt(.5)))
within(got["odrpo(grpo)", 8]["limit"], arc, 1e-12, "limit of odrpo(grpo)")
within(got["odrpo(grpo)", 8]["paper_2_over_pi"], arc / math.pi, 1e-12, "the paper's constant")
within(got["odrpo(maxrl)", 8]["limit"], math.log(.8) + math.log(.5), 1e-12, "limit of odrpo(maxrl)")
within(got["odrpo(maxrl)", 8]["objective"], log_objective(.8, 8) + log_objective(.5, 8), 1e-12, "odrpo(maxrl) at M = 8")
gini = sum(math.sqrt(k) * (1.2 * math.asin(math.sqrt(P)) - math.sqrt(P * (1 - P)) * (1 - 2 * P)) for k, P in ((2, .8), (3, .5)))
within(got["odrpo-gini(grpo)", 8]["limit"], gini, 1e-12, "limit of odrpo-gini(grpo)")
gini = sum(math.sqrt(k) * (.1 * math.log(P) + 4 * P - 2 * P * P) for k, P in ((2, .8), (3, .5)))
within(got["odrpo-gini(maxrl)", 8]["limit"], gini, 1e-12, "limit of odrpo-gini(maxrl)")
mixed = rows("objective", "--p", ".5,.5", "--estimator", "grpo", "--estimator", "odrpo(grpo)")
check(mixed[0]["objective"] is None and "no scalar objective" in mixed[0]["why_none"] and mixed[1]["objective"] > 0, "a refused row says why")

# --- leverage of a given group: the mean over its members, by hand for grpo
group = [7, 7, 8, 8, 7, 9, 8, 7]
share = []
for i in range(8):
    c = group[:i] + [1] + group[i + 1:]
    mean = sum(c) / 8
    share.append((1 - mean) ** 2 / sum((x - mean) ** 2 for x in c))
one = rows("leverage", "--estimator", "grpo", "--outlier", "1")[0]
within(one["share"], sum(share) / 8, 1e-12, "share of an outlier under grpo")
within(one["growth"], 1, 1e-12, "grpo does not grow")
check(one["share_se"] is None, "a given group has no sampling error")
# groups of the rater `mixed`: what an outlier does there. Shares within .04 and growth within 7 % of figures from another simulation
drawn = {(r["estimator"], r["outlier"]): r for r in rows("leverage", "--rater", "mixed", "--groups", "20000")}
figures = {"grpo": (.75, 1.00, .47, 1.00), "reinforce": (.75, 2.6, .47, 1.5), "maxrl": (.75, 2.6, .47, 1.5), "odrpo(grpo)": (.79, 2.99, .50, 1.55),
           "odrpo-gini(grpo)": (.65, 1.89, .46, 1.42), "odrpo-gini-median(grpo)": (.49, 1.38, .47, 1.43), "odrpo(maxrl)": (.51, 1.43, .65, 2.20),
           "odrpo-gini-median(maxrl)": (.25, 1.14, .61, 1.92)}
for estimator, (low, low_growth, high, high_growth) in figures.items():
    within(drawn[estimator, 1]["share"], low, .04, f"share, {estimator} to 1")
    within(drawn[estimator, 10]["share"], high, .04, f"share, {estimator} to 10")
    within(drawn[estimator, 1]["growth"], low_growth, .07 * low_growth, f"growth, {estimator} to 1")
    within(drawn[estimator, 10]["growth"], high_growth, .07 * high_growth, f"growth, {estimator} to 10")
within(drawn["grpo", 1]["contrast"], .41, .02, "contrast under grpo, to 1")
within(drawn["grpo", 10]["contrast"], .73, .02, "contrast under grpo, to 10")
again = rows("leverage", "--rater", "mixed", "--groups", "500", "--seed", "3", "--estimator", "grpo")
check(again == rows("leverage", "--rater", "mixed", "--groups", "500", "--seed", "3", "--estimator", "grpo"), "the same seed gives the same groups")

# --- formats
text = call("theory", "field", "--p", ".5,.5", "--estimator", "odrpo-gini-median(maxrl)", "--median", "upper")
check("median upper" in text and "Med upper" in text, "text names the median rule")
check(call("theory", "curl", "--levels", "3", "--group-size", "2", "--format", "json") == call("theory", "curl", "--levels", "3", "--group-size", "2", "--json"),
      "--json is --format json")
check("[verl]" in call("theory", "field", "--p", ".5,.5", "--compat", "verl"), "text names the convention")

# --- figures
if shutil.which("gnuplot"):
    call("theory", "curl", "--levels", "2..4", "--group-size", "2..8", "--figure", "curl.svg", words="mean absolute curl")
    check(open("curl.svg").read(5000).find("<svg") >= 0, "curl.svg is an SVG")
    call("theory", "leverage", "--figure", "leverage.pdf", words="share")
    check(open("leverage.pdf", "rb").read(4) == b"%PDF", "leverage.pdf is a PDF")
call("theory", "curl", "--levels", "3", "--group-size", "8", "--figure", "one.svg", code=2, words="several")
call("theory", "curl", "--figure", "curl.txt", code=2, words="does not end in")

# --- what --help shows works as it stands, where suites/ is
os.symlink(paths[0], "suites")
for sub in ("curl", "field", "objective", "leverage"):
    shown = call("theory", sub, "--help")
    examples = [line.split()[1:] for line in shown.split("Example:")[1].splitlines() if line.strip().startswith("odrpo-bench")]
    check(examples, f"theory {sub} --help has no example")
    for example in examples:
        if "--figure" not in example or shutil.which("gnuplot"):
            check(call(*example), f"{' '.join(example)} prints nothing")

# --- what is refused, in one line
for arguments, code, words in (
        ((), 2, ""), (("curll",), 2, "unknown command"), (("field",), 2, "--p"),
        (("field", "--p", ".5,.4"), 2, "sum to"), (("field", "--p", "1"), 2, "two levels"), (("field", "--p", ".5,x"), 2, "not a number"),
        (("field", "--p", "1.5,-.5"), 2, "below 0"), (("field", "--p", ".5,,.5"), 2, "missing"), (("field", "--p", ".5,.5", "--values", "2,1"), 2, "ascend"),
        (("field", "--p", ".5,.5", "--values", "1,2,3"), 2, "3 values for 2 levels"), (("field", "--p", ".5,.5", "--group-size", "1"), 2, "2..1000"),
        (("field", "--p", ".5,.5", "--group-size", "8..4"), 2, "ends before"), (("field", "--p", ".5,.5", "--format", "xml"), 2, "text, csv"),
        (("field", "--p", ".5,.5", "--format", "csv", "--json"), 2, "cannot stand beside"),
        (("field", "--p", ".5,.5", "--estimator", "grop"), 2, "did you mean"), (("field", "--p", ".5,.5", "--estimator", "posterior(grpo)"), 2, "model of the judge"),
        (("field", "--p", ".5,.5", "--median", "running"), 2, "median"), (("field", "--p", ".5,.5", "--compat", "verll"), 2, "did you mean"),
        (("field", "--p", ".5,.5", "--estimator", "grpo", "--median", "upper"), 2, "--median"), (("field", "--p", ".5,.5", "--k", "3"), 2, "--k"),
        (("field", "--p", ".5,.5", "--estimator", "maxrl", "--compat", "verl"), 2, "maxrl"),
        (("curl", "--levels", "10", "--group-size", "64"), 4, "too many"), (("curl", "--levels", "1"), 2, "2..1000"),
        (("curl", "--levels", "9,10,11", "--group-size", "14..20"), 4, "the whole table"), (("leverage", "--group", "101,7"), 2, "1..100"),
        (("leverage", "--rater", "mixed", "--groups", "65536", "--group-size", "255", "--outlier", "1..10"), 4, "steps"),
        (("curl", "--levels", "3", "--values", "1,2"), 2, "keep one"), (("field", "--p", ",".join(["0.05"] * 20), "--group-size", "16"), 4, "too many"),
        (("objective", "--p", ".5,.5", "--estimator", "grpo"), 4, "no scalar objective"),
        (("objective", "--p", ".5,.5", "--estimator", "odrpo-gini-median(grpo)"), 4, "median couples"),
        (("field", "--triangle", "0.1", "--p", ".5,.5"), 2, "keep one"), (("field", "--triangle", "0.4"), 2, "1/3"), (("field", "--triangle", "x"), 2, "number"),
        (("field", "--triangle", "0.1", "--values", "1,2"), 2, "levels"),
        (("leverage", "--group", "7"), 2, "two scores"), (("leverage", "--group", "7,7.5"), 2, "whole score"), (("leverage", "--outlier", "11"), 2, "1..10"),
        (("leverage", "--rater", "mixxed"), 2, "mixed"), (("leverage", "--rater", "mixed", "--group", "7,8"), 2, "keep one"),
        (("leverage", "--group-size", "8"), 2, "--rater"), (("leverage", "--rater", "mixed", "--groups", "1"), 2, "2..65536")):
    call("theory", *arguments, code=code, words=words)

finish()
