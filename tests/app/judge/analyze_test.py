#!/usr/bin/env python3
# `judge analyze` against arithmetic of its own: agreement, reliability, rows, judges, gold; flags, odd files, bad input. Usage: analyze_test.py PROGRAM
import itertools, json, math, os, random, shutil

import checks
from checks import check, flowed, near
from reference import deviation, mean, ranks, variance

SEED = 16
rng = random.Random(SEED)


def analyze(*arguments, **how):
    return checks.call("judge", "analyze", *arguments, **how)


def found(*arguments):
    return json.loads(analyze(*arguments, "--json"))


def write(name, rows, header="prompt_id,response_id,rater_id,sample_id,score"):
    with open(name, "w") as file:
        file.write("\n".join([header, *(",".join(map(str, r)) for r in rows)]) + "\n")


def quantile(v, q):
    v, place = sorted(v), q * (len(v) - 1)
    low = int(place)
    return v[low] + (place - low) * (v[min(low + 1, len(v) - 1)] - v[low])


def pearson(x, y):
    sx, sy = deviation(x, 0), deviation(y, 0)
    return mean([(a - mean(x)) * (b - mean(y)) for a, b in zip(x, y)]) / (sx * sy) if sx * sy > 0 else math.nan


def kendall(matrix):  # rows are responses
    m, n = len(matrix), len(matrix[0])
    columns = [ranks([row[j] for row in matrix]) for j in range(n)]
    sums = [math.fsum(c[i] for c in columns) for i in range(m)]
    ties = sum(t ** 3 - t for c in columns for t in (c.count(r) for r in set(c)))
    below = n * n * (m ** 3 - m) - n * ties
    return 12 * math.fsum((s - mean(sums)) ** 2 for s in sums) / below if below else math.nan


# --- 30 prompts, 5 responses, judges a (2 calls), b (1), c (3), with gaps; gold on some responses
CALLS = {"a": 2, "b": 1, "c": 3}
columns = [(j, s) for j in CALLS for s in range(CALLS[j])]
score, gold = {}, {}
for p in range(30):
    base = rng.gauss(3, 1)
    for r in range(5):
        quality = base + rng.gauss(0, 0.8)
        if rng.random() < 0.6:
            gold[p, r] = min(5, max(1, round(quality))) if rng.random() < 0.9 else 2.5
        for j, s in columns:
            if rng.random() < 0.95:
                score[p, r, j, s] = min(5, max(1, round(quality + {"a": -0.4, "b": 0, "c": 0.3}[j] + rng.gauss(0, 0.5))))
write("scores.csv", [(p, r, j, s, x, gold.get((p, r), "")) for (p, r, j, s), x in score.items()],
      "prompt_id,response_id,rater_id,sample_id,score,gold")
got = found("scores.csv", "--levels", "5")

rows = {}
for (p, r, j, s), x in score.items():
    rows.setdefault((p, r), {})[j, s] = x
w, flips, ties, spearman = [], [], [], {pair: [] for pair in itertools.combinations(CALLS, 2)}
for p in range(30):
    mine = [rows[p, r] for r in range(5) if (p, r) in rows]
    common = [c for c in columns if all(c in row for row in mine)]
    if not common:
        continue
    matrix = [[row[c] for c in common] for row in mine]
    pairs = list(itertools.combinations(matrix, 2))
    ties.append(mean([a == b for x, y in pairs for a, b in zip(x, y)]))
    if len(common) < 2:
        continue
    w.append((kendall(matrix), len(common), len(matrix)))
    flips.append(mean([(x[i] - y[i]) * (x[j] - y[j]) < 0 for x, y in pairs for i, j in itertools.combinations(range(len(common)), 2)]))
for p in range(30):
    for a, b in spearman:
        x, y = [], []
        for r in range(5):
            of = {j: [v for (k, s), v in rows.get((p, r), {}).items() if k == j] for j in (a, b)}
            if of[a] and of[b]:
                x.append(mean(of[a])), y.append(mean(of[b]))
        if len(x) > 1 and not math.isnan(pearson(ranks(x), ranks(y))):
            spearman[a, b].append(pearson(ranks(x), ranks(y)))
w = [v for v in w if not math.isnan(v[0])]
check(got["kendall_w"]["n"] == len(w) and got["kendall_w"]["undefined"] == 30 - len(w), "prompts with W")
near(got["kendall_w"]["median"]["value"], quantile([v for v, n, m in w], 0.5), "median W")
near(got["kendall_w"]["q05"]["value"], quantile([v for v, n, m in w], 0.05), "5 % W")
near(got["kendall_w"]["floor"]["value"], mean([1 / n for v, n, m in w]), "floor")
near(got["rank_correlation"]["mean"]["value"], mean([(n * v - 1) / (n - 1) for v, n, m in w]), "rank correlation")
near(got["friedman"]["together"]["chi2"], math.fsum(n * (m - 1) * v for v, n, m in w), "chi2 of all")
near(got["opposite"]["value"], mean(flips), "opposite orders")
near(got["tied"]["value"], mean(ties), "ties")
for pair, (a, b) in zip(got["pairs"], spearman):
    check(pair["judges"] == [a, b], "order of pairs")
    near(pair["rank_correlation"]["value"], mean(spearman[a, b]), f"rank correlation of {a} and {b}")

full = [list(row.values()) for row in rows.values() if len(row) > 1]
sds = [deviation(v) for v in full]
shaped = [v for v in full if len(set(v)) > 1]
moment = lambda v, k: mean([(x - mean(v)) ** k for x in v])
check(got["row_deviation"]["n"] == len(full), "rows")
near(got["row_deviation"]["mean"]["value"], mean(sds), "mean sd")
near(got["row_deviation"]["q95"]["value"], quantile(sds, 0.95), "95 % of sd")
near(got["row_mean"]["median"]["value"], quantile([mean(v) for v in full], 0.5), "median of means")
near(got["row_skewness"]["mean"]["value"], mean([moment(v, 3) / moment(v, 2) ** 1.5 for v in shaped]), "skewness")
near(got["row_excess_kurtosis"]["mean"]["value"], mean([moment(v, 4) / moment(v, 2) ** 2 - 3 for v in shaped]), "kurtosis")
near(got["without_spread"]["value"], 1 - len(shaped) / len(full), "rows without spread")

# Krippendorff's alpha by coincidences; ordinal distances from the margins, by his own formula
n_of = {k: sum(v.count(k) for v in full) for k in range(1, 6)}
total = sum(n_of.values())
coincidence = {(a, b): 0 for a in range(1, 6) for b in range(1, 6)}
for v in full:
    for i, j in itertools.permutations(range(len(v)), 2):
        coincidence[v[i], v[j]] += 1 / (len(v) - 1)


def ordinal(a, b):
    a, b = min(a, b), max(a, b)
    return (sum(n_of[k] for k in range(a, b + 1)) - (n_of[a] + n_of[b]) / 2) ** 2


for name, distance in (("ordinal", ordinal), ("interval", lambda a, b: (a - b) ** 2)):
    seen = math.fsum(c * distance(a, b) for (a, b), c in coincidence.items()) / total
    expected = math.fsum(n_of[a] * n_of[b] * distance(a, b) for a, b in coincidence) / (total * (total - 1))
    near(got[f"alpha_{name}"]["value"], 1 - seen / expected, f"alpha {name}")

grand, k = mean([x for v in full for x in v]), len(full)
between = math.fsum(len(v) * (mean(v) - grand) ** 2 for v in full) / (k - 1)
within = math.fsum(variance(v, 0) * len(v) for v in full) / (total - k)
usual = (total - sum(len(v) ** 2 for v in full) / total) / (k - 1)
near(got["icc1"]["value"], (between - within) / (between + (usual - 1) * within), "ICC(1)")
whole = [[row[c] for c in columns] for row in rows.values() if len(row) == len(columns)]
n, k = len(whole), len(columns)
grand = mean([x for v in whole for x in v])
msr = k * math.fsum((mean(v) - grand) ** 2 for v in whole) / (n - 1)
msc = n * math.fsum((mean([v[c] for v in whole]) - grand) ** 2 for c in range(k)) / (k - 1)
mse = math.fsum((v[c] - mean(v) - mean([u[c] for u in whole]) + grand) ** 2 for v in whole for c in range(k)) / ((n - 1) * (k - 1))
check(got["icc21"]["n"] == n, "full rows")
near(got["icc21"]["value"], (msr - mse) / (msr + (k - 1) * mse + k * (msc - mse) / n), "ICC(2,1)")

# judges
of = {key: {j: [x for (i, s), x in sorted(row.items()) if i == j] for j in CALLS} for key, row in rows.items()}
severity = {}
for judge in got["by_judge"]:
    j, d, repeats, equal, squares, freedom = judge["name"], [], 0, [], 0, 0
    for v in of.values():
        others = [mean(v[i]) for i in CALLS if i != j and v[i]]
        if v[j] and others:
            d.append(mean(v[j]) - mean(others))
        if len(v[j]) > 1:
            equal.append(mean([a == b for a, b in itertools.combinations(v[j], 2)]))
            squares, freedom = squares + variance(v[j], 0) * len(v[j]), freedom + len(v[j]) - 1
    severity[j] = mean(d)
    near(judge["severity"]["value"], severity[j], f"severity of {j}")
    near(judge["equal_repeats"]["value"], mean(equal), f"repeats of {j}")
    near(judge["repeat_sd"]["value"], math.sqrt(squares / freedom) if freedom else None, f"sd of {j}")
    check(judge["severity"]["lo"] < severity[j] < judge["severity"]["hi"], f"interval of the severity of {j}")
panel = [sum(v.values(), []) for v in of.values() if sum(bool(x) for x in v.values()) > 1]
offsets = [s * 2 / 3 for s in severity.values()]
near(got["severity_share"]["value"], variance(offsets) / mean([variance(v, 0) for v in panel]), "share of severity")
top = bottom = 0
for key, row in rows.items():
    for j in CALLS:
        places = [s for (i, s) in row if i == j]
        for s in places if len(places) > 1 else ():
            top, bottom = top + (s - mean(places)) * row[j, s], bottom + (s - mean(places)) ** 2
near(got["drift"]["value"], top / bottom, "drift")

# gold
pairs = [(x, gold[p, r]) for (p, r, j, s), x in score.items() if (p, r) in gold]
near(got["gold"]["bias"]["value"], mean([x - g for x, g in pairs]), "bias")
near(got["gold"]["absolute_error"]["value"], mean([abs(x - g) for x, g in pairs]), "absolute error")
near(got["gold"]["correlation"]["value"], pearson(*map(list, zip(*pairs))), "correlation with gold")
check(got["gold"]["confusion"] == [[pairs.count((k, g)) for k in range(1, 6)] for g in range(1, 6)], "confusion")
for level in got["gold"]["levels"]:
    near(level["mean_gold"]["value"], mean([g for x, g in pairs if x == level["value"]]), "gold of a score")
    near(level["mean_score"]["value"], mean([x for x, g in pairs if g == level["value"]]), "score of a gold")
check(got["gold"]["between_levels"] == sum(g == 2.5 for g in {k: g for k, g in gold.items() if k in rows}.values()), "gold between levels")

# --- intervals: they hold their number, depend on the seed alone, and a second call is the same
for name in ("opposite", "tied", "icc1", "icc21", "alpha_ordinal", "alpha_interval", "without_spread", "prompt_share"):
    check(got[name]["lo"] <= got[name]["value"] <= got[name]["hi"] and got[name]["lo"] < got[name]["hi"], f"interval of {name}")
check(found("scores.csv", "--levels", "5") == got, "the same call again")
other = found("scores.csv", "--levels", "5", "--seed", "2")
check(other["icc1"]["lo"] != got["icc1"]["lo"] and other["icc1"]["value"] == got["icc1"]["value"], "another seed")

# --- text: a page of 80 columns
text = analyze("scores.csv", "--compare", "scores.csv")
check(all(len(line) <= 80 for line in text.splitlines()), "80 columns")
check(len(text.splitlines()) <= 75, "one page")
for words in ("30 prompts", "order two responses of a prompt oppositely", "it is nearest to", "severity", "panel-dialogue", "gold", "drift"):
    check(words in flowed(text), f"the page lacks {words!r}")
analyze("scores.csv", "-o", "page.txt")
check("30 prompts" in open("page.txt").read(), "-o")

# --- names of columns, judges from samples, scales
lines = [(p, r, s, x) for (p, r, j, s), x in score.items() if j == "c"]
write("named.tsv", [("\t".join(map(str, line)),) for line in lines], "item\tanswer\tcall\trating")
one = found("named.tsv", "--prompt", "item", "--response", "answer", "--sample", "call", "--score", "rating", "--scale", "0..10")
check(one["judges"] == [""] and one["scale"] == "0..10" and one["pairs"] == [] and one["gold"] is None, "columns by flags")
write("pairs.csv", [(p, r, s, (p + r + s) % 3) for p in range(4) for r in range(3) for s in range(4)], "prompt_id,response_id,sample_id,score")
check(found("pairs.csv", "--rater", "sample_id / 2")["judges"] == ["0", "1"], "judges from samples")
check(found("pairs.csv", "--rater", "sample_id")["judges"] == ["0", "1", "2", "3"], "each sample a judge")
check(found("scores.csv", "--rater", "none", "--sample", "none", "--gold", "none")["judges"] == [""], "no judges")

# --- odd files: sensible text, nothing crashes
odd = {
    "one score each": [(p, r, "a", 0, 1 + (p + r) % 4) for p in range(3) for r in range(3)],
    "all equal": [(p, r, "a", s, 3) for p in range(3) for r in range(3) for s in range(2)],
    "one prompt": [(0, r, "a", s, 1 + (r + s) % 3) for r in range(3) for s in range(3)],
    "one response each": [(p, 0, "a", s, 1 + (p + s) % 3) for p in range(3) for s in range(3)],
    "no common call": [(p, r, "a", r, 1 + r) for p in range(3) for r in range(3)],
    "one score": [(0, 0, "a", 0, 3)],
    "unreadable": [(p, r, "a", s, "sorry" if (p, r, s) == (0, 0, 0) else 1 + (p + r * s) % 4) for p in range(3) for r in range(3) for s in range(3)],
    "strange names": [(p, r, "\x1b[31m" + "é" * 40, s, 1 + (p + r * s) % 4) for p in range(3) for r in range(3) for s in range(3)],
    "many judges": [(p, r, f"j{j}", 0, 1 + (p * r + j) % 4) for p in range(3) for r in range(3) for j in range(20)],
    "a crowd": [(p, r, f"j{j}", 0, 1 + (p * r + j) % 4) for p in range(2) for r in range(3) for j in range(300)],
}
for name, lines in odd.items():
    write("odd.csv", lines)
    text = analyze("odd.csv", "--levels", "5")
    check("\x1b" not in text and all(len(line) <= 80 for line in text.splitlines()), f"{name}: text")
    check(text.count("nan") == 0 and text.count("inf") == 0, f"{name}: {text}")
    json.loads(analyze("odd.csv", "--levels", "5", "--json"))
write("odd.csv", odd["one score each"])
check("undefined for 3: 3 with one call" in flowed(analyze("odd.csv")), "why W is undefined")
write("odd.csv", odd["one prompt"])
check("nothing has an interval" in analyze("odd.csv"), "one prompt")

# --- figures
if shutil.which("gnuplot"):
    for name in ("w.svg", "w.pdf", "w.png"):
        analyze("scores.csv", "--figure", "kendall=" + name, words="Kendall's W of")
        analyze("scores.csv", "--figure", "kendall=" + name, words="dotted: 0.9, which a stable reward needs by the paper's conjecture")
    analyze("scores.csv", "--figure", "rows=rows.svg", "--figure", "kendall=both.svg", words="excess kurtosis")
    check("median" in open("both.svg").read() and "<image" in open("rows.svg").read(), "what the figures show")
write("odd.csv", odd["one score each"])
analyze("odd.csv", "--figure", "kendall=x.svg", code=2, words="Kendall's W is undefined for every prompt")
check(not os.path.exists("x.svg"), "no figure of nothing")

# --- what calls are worth: of raters, whose errors are known
worth = found("gauss", "--resamples", "1000")["effective_votes"]
check([w["votes"] for w in worth] == [1, 2, 4, 8, 16, 32] and abs(worth[2]["worth"] - 4) < 0.1, "calls of gauss are almost independent")
mixed = found("mixed", "--resamples", "1000")["effective_votes"]
check(2 < mixed[5]["worth"] < 5, "ambiguous responses make calls of mixed share errors")
check(found("scores.csv")["effective_votes"] is None and "calls about a response" not in analyze("scores.csv"), "of a file nothing is said")
check("worth, independent calls" in analyze("veto", "--resamples", "1000"), "the page has them")

# --- bad command lines and files
for arguments, code, words in (
    ((), 2, "INPUT is required"),
    (("scores.csv", "--figure", "kendal=x.svg"), 2, 'did you mean "kendall"?'),
    (("scores.csv", "--figure", "kendall"), 2, "a file must follow"),
    (("scores.csv", "--figure", "kendall=x.gif"), 2, "does not end in .svg, .pdf or .png"),
    (("scores.csv", "--figure", "kendall=x.svg", "--figure", "rows=x.svg"), 2, "two figures would go to"),
    (("scores.csv", "--figure", "kendall=missing/x.svg"), 5, "missing"),
    (("scores.csv", "--scale", "wide"), 2, "states no scale"),
    (("scores.csv", "--scale", "0..10", "--levels", "5"), 2, "keep one"),
    (("scores.csv", "--levels", "1"), 2, "1 is not in 2..100"),
    (("scores.csv", "--levels", "3"), 8, "scores.csv:"),
    (("scores.csv", "--prompt", "score"), 2, "both name the column"),
    (("scores.csv", "--prompt", "item"), 8, "item"),
    (("scores.csv", "--rater", "who"), 8, "who"),
    (("scores.csv", "--resamples", "10"), 2, "is not in 1000"),
    (("scores.csv", "--score", ""), 2, "the value is empty"),
    (("scores.csv", "-o", "scores.csv"), 5, "scores.csv"),
    (("missing.csv",), 5, "missing.csv"),
    (("scores.csv", "--compare", "missing.csv"), 5, "missing.csv"),
    (("scores.csv", "--samples", "4"), 2, "--samples says how often a rater is called, and scores.csv is a file of scores"),
    (("mixed", "--samples", "0"), 2, "0 is not in 1..1024"),
    (("scores.csv", "--ratr", "a"), 2, 'did you mean "--rater"?'),
):
    analyze(*arguments, code=code, words=words)
# calls of a rater: 16, those of a suite, or as many as are asked for
with open("two.toml", "w") as file:
    file.write('[suite]\nname = "two"\n[grid]\nestimator = ["grpo"]\nvotes = [1, 3]\n[env.bandit]\nprompts = 64\nactions = 4\n')
for words, calls in ((("mixed",), 16), (("mixed", "--samples", "5"), 5), (("two.toml",), 3), (("two.toml", "--samples", "7"), 7), (("scores.csv", "--compare", "mixed", "--samples", "6"), None)):
    page = json.loads(checks.call("judge", "analyze", *words, "--resamples", "1000", "--json"))
    check(any((c["name"], c["calls"]) == ("mixed", 6) for c in page["compared"]) if calls is None else page["kendall_w"]["columns"] == {"fewest": calls, "most": calls}, f"calls of {words}")
write("bad.csv", [(0, 0, "a", 0, 3), (0, 1, "a", 0, "1,5"), (0, 2, "a", 0, 3)])
analyze("bad.csv", code=8, words="bad.csv:3")
checks.call("judge", code=2, words="analyze")
checks.call("judge", "analyse", code=2, words='did you mean "analyze"?')
checks.call("judge", "--json", code=2, words="unknown flag")
check("analyze" in checks.call("judge", "--help"), "help of judge")
checks.finish()
