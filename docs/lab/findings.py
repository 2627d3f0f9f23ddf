#!/usr/bin/env python3
# Writes docs/findings.md: what the paper claims, and what the simulations say about it. Usage: docs/lab/findings.py FOLDER > docs/findings.md
# FOLDER holds the result files of suites/paper (results.h5, repeated-prompts.h5, weight-ablation.h5, votes.h5, training-curves.h5, step-time.h5);
# ODRPO_BENCH is the program (default build/release/odrpo-bench). Every number comes from `table --json` or `stats --format json`.
import csv, json, math, os, subprocess, sys, tempfile

folder = sys.argv[1]
root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
program = os.environ.get("ODRPO_BENCH", os.path.join(root, "build/release/odrpo-bench"))


def call(*words):
    done = subprocess.run([program, *words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"findings: {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


class Table:
    """One `table --json` and the command a reader would type."""

    def __init__(self, suite, *flags):
        self.command = " ".join(["odrpo-bench table", f"{suite}.h5", *(f"'{f}'" if "(" in f or " " in f else f for f in flags)])
        self.data = json.loads(call("table", os.path.join(folder, f"{suite}.h5"), *flags, "--json"))
        self.suite, self.digest = suite, self.data["digest"]
        self.cells = [dict(cell, **{"in": block["fixed"]}) for block in self.data["blocks"] for cell in block["cells"]]

    def compared(self, keep=lambda cell: True):
        """(label, mean, lo, hi, p_holm, n) of every difference or percentage."""
        out = []
        for cell in self.cells:
            d = cell.get("percent") or cell.get("difference")
            if d and keep(cell):
                out.append((cell, d["mean"], d["lo"], d["hi"], d.get("p_holm"), d["n"] if "n" in d else d["pairs"]))
        return out

    def source(self):
        n = sorted({c["n"] for c in self.cells if c["n"]})
        return f"`{self.command}`, digest {self.digest}, {n[0]}{f' to {n[-1]}' if len(n) > 1 else ''} seeds"


def significant(p):
    return p is not None and p < 0.05


def verdict(rows, claimed=None):
    """By stars alone: which differences have the claimed sign (positive) after Holm's correction."""
    up = sum(significant(p) and mean > 0 for _, mean, _, _, p, _ in rows)
    down = sum(significant(p) and mean < 0 for _, mean, _, _, p, _ in rows)
    if up == len(rows):
        return "replicates in every cell" + ("" if claimed is None or any(hi >= claimed for _, _, _, hi, _, _ in rows) else ", but smaller")
    if up and down:
        return f"partly: {up} of {len(rows)} cells as claimed, {down} reversed"
    if up:
        return f"partly: {up} of {len(rows)} cells"
    if down:
        return f"reverses in {down} of {len(rows)} cells, holds in none"
    if claimed is not None and all(hi < claimed for _, _, _, hi, _, _ in rows):
        return "does not: every interval stays below the claimed size"
    return "cannot be told here"


def interval(mean, lo, hi, unit="%", digits=2):
    half = (hi - lo) / 2
    return f"{mean:+.{digits}f} ± {half:.{digits}f}{' ' + unit if unit else ''}"


def cell_name(cell, axes):
    parts = [cell["in"].get(a) or (cell["row"] if a == "row" else cell["column"] if a == "column" else "") for a in axes]
    return ", ".join(p for p in parts if p)


def listing(rows, axes, unit="%", digits=2):
    lines = ["| cell | difference | p (Holm) |", "|---|---|---|"]
    for cell, mean, lo, hi, p, _ in rows:
        shown = "n/a" if p is None else "<.001" if p < 0.001 else f"{p:.3f}".lstrip("0")
        lines.append(f"| {cell_name(cell, axes)} | {interval(mean, lo, hi, unit, digits)} | {shown} |")
    return lines


findings = []  # heading, what the paper says, verdict, lines below


def finding(heading, claim, result, lines):
    findings.append((heading, claim, result, lines))


# --- the table of results
for family, claim, largest in (("maxrl", "Gini and Gini-Median improve MaxRL, by 2.4 to 3.3 % of the mean score.", 2.38),
                               ("grpo", "Gini and Gini-Median improve GRPO, by 1.2 to 2.5 % of the mean score.", 1.24)):
    table = Table("results")
    rows = table.compared(lambda c: c["row"].endswith(f"({family})"))
    sizes = [mean for _, mean, *_ in rows]
    finding(f"ODRPO against {'MaxRL' if family == 'maxrl' else 'GRPO'}", claim, verdict(rows, largest),
            [f"Change of the gain in percent of {family}'s, from {min(sizes):+.2f} to {max(sizes):+.2f} %. `small` and `large` are the two capacities of the policy.", ""] +
            listing(rows, ["row", "column", "env"]) + ["", table.source()])

table = Table("results")
signs = {}
for cell, mean, lo, hi, p, _ in table.compared():
    signs.setdefault((cell["row"], cell["column"]), {})[cell["in"]["env"]] = (mean, significant(p))
apart = [k for k, v in signs.items() if v["small"][0] * v["large"][0] < 0 and v["small"][1] and v["large"][1]]
finding("The same for small and large policies", "The gains hold for both sizes of model.",
        "replicates: no significant change of sign between capacities" if not apart else f"does not: {len(apart)} of {len(signs)} change sign",
        [f"Of {len(signs)} differences (estimator and judge) {len(apart)} are significant with one sign for the small policy and with the other for the large one. "
         "This is about signs: where ODRPO loses to GRPO, it does so at both capacities.", "", table.source()])

table = Table("repeated-prompts")
rows = table.compared(lambda c: c["row"].endswith("(maxrl)"))
finding("When prompts repeat", "One epoch: each prompt is trained on once.", "not a claim: a check of what the other figures depend on",
        ["Independent trials of these estimators train on 256 prompts, 75 times each, every estimator at its own best learning rate, and find larger differences. So does this program: in points of "
         "the gain, against the baseline of the family,", ""] + listing(table.compared(), ["row", "column"], "points") +
        ["", "A veto by coin is seen once in an epoch and 75 times here. MaxRL divides by the mean of the group, which a few lowest scores pull down, and pays for it at every visit.", "", table.source()])

# --- weights
table = Table("weight-ablation", "--baseline", "odrpo-gini-median(grpo)")
rows = [(c, -m, -hi, -lo, p, n) for c, m, lo, hi, p, n in table.compared(lambda c: c["row"] != "grpo")]
finding("Which weight is best", "On GRPO, Gini-Median is the best of uniform, Gini and Gini-Median weights.", verdict(rows),
        ["Gini-Median minus the named weight, in points of the gain.", ""] + listing(rows, ["row", "column", "env"], "points") + ["", table.source()])
rows = [(c, -m, -hi, -lo, p, n) for c, m, lo, hi, p, n in table.compared(lambda c: c["row"] == "grpo")]
finding("The best weight against no decomposition at all", "Gini-Median is above GRPO (its table of results; its ablation leaves GRPO out).", verdict(rows),
        ["Gini-Median minus grpo, in points of the gain.", ""] + listing(rows, ["column", "env"], "points") + ["", table.source()])


# --- votes
def paired(name, left, right):
    """t interval of left - right over common seeds, by `stats` on a CSV file of them."""
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, f"{name}.csv")
        with open(path, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["seed", "arm", "gain"])
            for arm, values in (("left", left), ("right", right)):
                writer.writerows((seed, arm, value) for seed, value in values.items())
        data = json.loads(call("stats", path, "--unit", "seed", "--cell", "arm", "--value", "gain", "--baseline", "right", "--interval", "t", "--format", "json"))
    d = data["differences"][0]
    return d["mean"], d["t"]["lo"] if "t" in d else d["lo"], d["t"]["hi"] if "t" in d else d["hi"], d["p"], d["pairs"]


table = Table("votes")
by = {}
for cell in table.cells:
    by[cell["in"]["rater"], cell["row"], cell["column"]] = dict(zip(cell["seeds"], cell["values"]))
raters = sorted({k[0] for k in by})
counts = sorted({k[2] for k in by}, key=int)
rows = []
for rater in raters:
    choose = lambda n: sum(v for s, v in by[rater, "maxrl", n].items() if s < 10)
    best = max(counts, key=choose)
    for estimator in ("odrpo-gini(maxrl)", "odrpo-gini-median(maxrl)"):
        held = lambda n, e: {s: v for s, v in by[rater, e, n].items() if s >= 10}
        mean, lo, hi, p, n = paired("votes", held("1", estimator), held(best, "maxrl"))
        rows.append(({"in": {"rater": rater}, "row": f"{estimator}, N = 1, against maxrl, N = {best}", "column": ""}, mean, lo, hi, p, n))
order = sorted(range(len(rows)), key=lambda i: rows[i][4])
worst = 0.0
for rank, i in enumerate(order):  # Holm's correction
    worst = max(worst, min(1.0, (len(rows) - rank) * rows[i][4]))
    rows[i] = (*rows[i][:4], worst, rows[i][5])
finding("One vote of ODRPO against the best number of votes of MaxRL", "With one score per response, ODRPO beats MaxRL with the best of 1, 8, 16 and 32.", verdict(rows),
        ["MaxRL's N is chosen on seeds 0 to 9; the difference is over seeds 10 to 19, in points of the gain.", ""] + listing(rows, ["row", "rater"], "points") +
        ["", table.source()])

table = Table("votes", "--rows", "votes", "--columns", "estimator", "--baseline", "1")
rows = table.compared(lambda c: c["column"] == "odrpo-gini-median(maxrl)")
finding("More votes for Gini-Median", "Gini-Median on MaxRL goes on improving up to N = 32.", verdict(rows),
        ["N votes minus one vote, in points of the gain. Training takes the mode of the votes.", ""] + listing(rows, ["row", "rater"], "points") + ["", table.source()])
rows = table.compared(lambda c: c["column"] == "maxrl")
finding("More votes for MaxRL", "MaxRL improves with N, peaks at 8 or 16, and dips at 32.", verdict(rows),
        ["As above.", ""] + listing(rows, ["row", "rater"], "points") + ["", table.source()])
table = Table("votes", "--value", "reward", "--compare", "percent")
rows = table.compared()
finding("Seen reward over votes", "ODRPO's final training reward is 2.3 to 8.5 % above MaxRL's for every N.", verdict(rows, 2.3),
        ["Change of the mean seen reward at the end of training, in percent of maxrl's. The seen reward is what the judge says, not true quality.", ""] +
        listing(rows, ["row", "column", "rater"]) + ["", table.source()])

# --- training curves
table = Table("training-curves", "--compare", "percent")
rows = table.compared()
finding("Asymptotic reward", "ODRPO variants reach a higher training reward than GRPO and MaxRL.", verdict(rows),
        ["Change of the mean seen reward at the end of training, in percent of the baseline's. `odrpo-bench plot curves training-curves.h5 --curve reward` draws the curves.", ""] +
        listing(rows, ["row", "column"]) + ["", table.source()])
table = Table("training-curves", "--value", "collapsed", "--baseline", "none")
share = [(c["row"], c["column"], c["mean"], c["n"]) for c in table.cells if c["n"]]
fallen = [s for s in share if s[2] > 0]
finding("The crash of GRPO", "GRPO's reward crashes near 0.6 of the epoch; ODRPO's does not.", "cannot be told here: nothing crashes" if not fallen else "partly",
        [("No run of any estimator crashes on the bandit." if not fallen else "Crashed: " + ", ".join(f"{r} under {c} {m:.0f} %" for r, c, m, _ in fallen) + ".") +
         " What makes runs of the toy language model crash is in [measured by hand](lab/measured-by-hand.md#does-training-crash-in-the-middle-of-its-epoch).", "", table.source()])

# --- step time
table = Table("step-time", "--value", "seconds", "--columns", "votes")
rows = table.compared(lambda c: "odrpo" in c["row"])
with_judge = Table("step-time", "--value", "modelled-seconds", "--columns", "votes")
judged = with_judge.compared(lambda c: "odrpo" in c["row"])
most = max(hi for _, _, _, hi, _, _ in judged)
finding("Step time", "ODRPO adds no step time.", "replicates: beside a judge of 2 s a step, less than 0.01 %" if most < 0.01 else f"does not: up to {most:.2f} % beside a judge of 2 s",
        ["Change of the step's time in percent of the baseline's, without a judge (a step of the bandit takes microseconds):", ""] + listing(rows, ["row"], "%", 1) +
        ["", f"With the judge's 2 s the differences are between {min(m for _, m, *_ in judged):+.4f} and {max(m for _, m, *_ in judged):+.4f} %.", "", table.source(), "", with_judge.source()])

# --- the paper's own tables
ITEMS = {"AlpacaEval": 805, "IFEval": 541}
PAPER = {  # family: baseline, rows of (AlpacaEval, IFEval)
    "Qwen2.5-7B, GRPO": [("GRPO", .5691, .6478), ("Gini", .5711, .6526), ("Gini-Median", .5812, .6611)],
    "Qwen2.5-7B, MaxRL": [("MaxRL", .5323, .6612), ("Gini", .5691, .6451), ("Gini-Median", .5721, .6441)],
    "Qwen3-4B, GRPO": [("GRPO", .5529, .6519), ("Gini", .5661, .6468), ("Gini-Median", .5641, .6519)],
    "Qwen3-4B, MaxRL": [("MaxRL", .5533, .6429), ("Gini", .5634, .6541), ("Gini-Median", .5597, .6644)]}
lines = ["| models | benchmark | difference | 1.96 standard errors, answers unrelated | the least they can be, paired | exceeds |", "|---|---|---|---|---|---|"]
exceeds = {"yes": 0, "only if paired": 0, "no": 0}
for family, entries in PAPER.items():
    (base, *old), *others = entries
    for name, *new in others:
        for (benchmark, n), a, b in zip(ITEMS.items(), new, old):
            d = a - b
            apart = 1.96 * math.sqrt((a * (1 - a) + b * (1 - b)) / n)
            least = 1.96 * math.sqrt(max(abs(d) - d * d, 0) / n)  # every item that changed changed in one direction
            word = "yes" if abs(d) > apart else "only if paired" if abs(d) > least else "no"
            exceeds[word] += 1
            lines.append(f"| {family}: {name} - {base} | {benchmark} | {100 * d:+.2f} points | {100 * apart:.2f} | {100 * least:.2f} | {word} |")
total = sum(exceeds.values())
finding("Sampling error of the paper", "Its tables compare single runs of each model, without intervals.", f"{exceeds['yes']} of {total} exceed the sampling error of their items",
        ["A benchmark is a sample of items (AlpacaEval 805, IFEval 541). If two models' answers to an item are unrelated, their difference has the first standard error. "
         "If every item whose score changed changed in the same direction, it has the least that it can have. The truth lies between and needs the items' scores, which the paper does not give. Seeds of training "
         "come on top. FACTS-grounding is left out: the paper does not say how many items it has.", ""] + lines)

# --- the page
print("# What do the simulations say about the paper's claims?\n")
print("<!-- `docs/lab/findings.py` writes this page from result files. -->\n")
print("The paper trains language models once each and compares single numbers. Here the same estimators train in a world whose truth is known, twenty times over, at the paper's\n"
      "settings: one epoch, 64 prompts x 8 rollouts, AdamW, cosine schedule, KL .001 ([suites/paper](../suites/paper)). The world is a contextual bandit: for each prompt a policy chooses among 32\n"
      "responses of known quality, and a judge with the noise of a real one scores them. `mixed` and `veto` are two judges that agree with themselves as the paper's does (Kendall W 0.61); `veto`\n"
      "gives the lowest score to some responses by a coin of its own. The gain is the share of the possible improvement that training reaches, judged by true quality.\n")
print("A difference counts where p < .05 after Holm's correction for all differences of its table; ± is the half-width of the 95 % interval, paired by seed. \"Cannot be told here\" means that the\n"
      "simulations neither show nor exclude what the paper claims. The toy language model is not in this page yet.\n")
print("| claim of the paper | here |\n|---|---|")
for heading, claim, result, _ in findings:
    print(f"| [{claim}](#{heading.lower().replace(' ', '-')}) | {result} |")
for heading, claim, result, lines in findings:
    print(f"\n## {heading}\n\nThe paper: {claim} Here: **{result}**.\n")
    print("\n".join(lines))
print("\n## Commands\n\n```sh")
for suite in ("tuning", "results", "repeated-prompts", "weight-ablation", "votes", "training-curves"):
    print(f"odrpo-bench run suites/paper/{suite}.toml")
print("odrpo-bench run suites/paper/step-time.toml --jobs 1\ndocs/lab/findings.py . > docs/findings.md\n```")
