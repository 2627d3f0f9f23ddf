#!/usr/bin/env python3
# Writes docs/findings.md: what the paper claims, and what the simulations say about it. Usage: docs/lab/findings.py FOLDER > docs/findings.md
# FOLDER holds the result files of suites/paper, each named after its suite (results.h5, results-toy-lm.h5, ...); without results-toy-lm.h5 the
# page is of the bandit alone;
# ODRPO_BENCH is the program (default build/release/odrpo-bench). Every number comes from `table --json` or `stats --format json`.
import collections, csv, json, math, os, statistics, subprocess, sys, tempfile

folder = ""  # of the result files
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

    def median(self, cell):
        """Median over seeds of a cell's difference from its baseline, in the unit of the table's comparison; None where it has none."""
        name = self.data["baseline"] or next((b for b, rows in self.data["baselines"].items() if cell["row"] in rows), None)
        other = [c for c in self.cells if c["row"] == name and c["column"] == cell["column"] and c["in"] == cell["in"] and c["value"] == cell["value"]]
        if not other:
            return None
        base = dict(zip(other[0]["seeds"], other[0]["values"]))
        pairs = [(v, base[s]) for s, v in zip(cell["seeds"], cell["values"]) if s in base]
        return statistics.median(100 * (a / b - 1) if "percent" in cell else a - b for a, b in pairs) if pairs else None

    def source(self, made_here=None):
        """Where the numbers are from. `made_here`: differences that this page makes of the table's values, instead of the table's own."""
        n = sorted({c["n"] for c in self.cells if c["n"]} if made_here is None else {row[5] for row in made_here})
        tested = sum(row[4] is not None for row in (self.compared() if made_here is None else made_here))
        where = "of this table" if made_here is None else "above, which are made of its values"
        return (f"`{self.command}`: digest {self.digest}, {n[0] if n else 'no'}{f' to {n[-1]}' if len(n) > 1 else ''} seeds" +
                (f", Holm over the {tested} differences {where}" if tested else ""))


def significant(p):
    return p is not None and p < 0.05


def verdict(rows, claimed=None):
    """What the differences say about a claim that they are above 0 (and, where a size is claimed, at least `claimed`): stars alone count."""
    up = sum(significant(p) and mean > 0 for _, mean, _, _, p, _ in rows)
    down = sum(significant(p) and mean < 0 for _, mean, _, _, p, _ in rows)
    n = len(rows)
    if claimed is not None and up < n and not down and all(hi < claimed for _, _, _, hi, _, _ in rows):
        return f"does not at the claimed size: every interval is below it; {up} of {n} cells are significantly above 0"
    if up == n:
        lower = claimed is not None and sum(hi < claimed for _, _, _, hi, _, _ in rows)
        smaller = claimed is not None and sum(mean < claimed for _, mean, *_ in rows)
        if not smaller:
            return "replicates in every cell"
        return (f"the direction replicates in every cell, the claimed size does not: {smaller} of {n} estimates are smaller, {lower} of {n} intervals lie below it" if lower else
                f"replicates in every cell, {smaller} of {n} estimates smaller than claimed")
    if up and down:
        return f"partly: {up} of {n} cells as claimed, {down} reversed"
    if up:
        return f"partly: {up} of {n} cells, the others cannot be told"
    if down:
        return f"reverses in {down} of {n} cells; " + ("the other cannot be told" if n - down == 1 else f"the other {n - down} cannot be told" if n > down else "none holds")
    return "cannot be told here"


def interval(mean, lo, hi, unit="%", digits=2):
    half = (hi - lo) / 2
    return f"{mean:+.{digits}f} ± {half:.{digits}f}{' ' + unit if unit else ''}"


def cell_name(cell, axes):
    parts = [cell["in"].get(a) or (cell["row"] if a == "row" else cell["column"] if a == "column" else "") for a in axes]
    return ", ".join(p for p in parts if p)


def listing(rows, axes, unit="%", digits=2, table=None, sign=1):
    """A Markdown table of differences. `table`: also the median over seeds, which a single odd seed does not move."""
    lines = ["| cell | mean difference |" + (" median |" if table else "") + " p (Holm) |", "|---|---|" + ("---|" if table else "") + "---|"]
    for cell, mean, lo, hi, p, _ in rows:
        shown = "n/a" if p is None else "<.001" if p < 0.001 else f"{p:.3f}".lstrip("0")
        median = table.median(cell) if table else None
        middle = "" if not table else f" {sign * median:+.{digits}f} |" if median is not None else " n/a |"
        lines.append(f"| {cell_name(cell, axes)} | {interval(mean, lo, hi, unit, digits)} |{middle} {shown} |")
    return lines


Finding = collections.namedtuple("Finding", "heading claim result lines world ours")


def finding(heading, claim, result, lines, world=None, ours=False):
    """A section: heading, what the paper says (`ours`: what we ask beyond it), the verdict, the lines below; of a world, or of none."""
    return Finding(heading + (world.heading if world else ""), claim, result, lines, world, ours)


class World:
    """Where an experiment runs: its suites, the value that its tables show, and the words for them."""

    def __init__(self, name, suffix, value, what, sizes):
        self.name, self.suffix, self.what, self.sizes = name, suffix, what, sizes  # sizes: the dimension of two sizes of policy, and its values
        self.value = ["--value", value, "--columns", "rater"] if value else []
        self.heading = ", " + name if suffix else ""

    def table(self, suite, *flags):
        return Table(suite + self.suffix, *flags)


BANDIT = World("bandit", "", None, "the gain", {"env": ("small", "large")})
TOY = World("toy language model", "-toy-lm", "held-out", "the mean of three evaluations", {"policy": ("small", "large")})


def paired(left, right):
    """Mean of left - right over common seeds with its t interval and p, by `stats` on a CSV file of them; left and right: seed to value."""
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "pairs.csv")
        with open(path, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["seed", "arm", "gain"])
            for arm, values in (("left", left), ("right", right)):
                writer.writerows((seed, arm, value) for seed, value in values.items())
        data = json.loads(call("stats", path, "--unit", "seed", "--cell", "arm", "--value", "gain", "--baseline", "right", "--interval", "t", "--format", "json"))
    d = data["differences"][0]
    t = d.get("t", d)
    if t["lo"] is None:  # all pairs differ by the same
        t = {"lo": d["mean"], "hi": d["mean"]}
    return d["mean"], t["lo"], t["hi"], d["p"], d["pairs"]


def holm(rows):
    """The rows with Holm's p in place of p; differences that are all 0 have none and are not counted."""
    out, worst = list(rows), 0.0
    tested = [i for i in range(len(rows)) if rows[i][4] is not None]
    for rank, i in enumerate(sorted(tested, key=lambda i: rows[i][4])):
        worst = max(worst, min(1.0, (len(tested) - rank) * rows[i][4]))
        out[i] = (*rows[i][:4], worst, rows[i][5])
    return out


FAMILIES = (("maxrl", "MaxRL", "Gini and Gini-Median improve MaxRL, by 2.4 to 3.3 % of the mean score.", 2.38),
            ("grpo", "GRPO", "Gini and Gini-Median improve GRPO, by 1.2 to 2.5 % of the mean score.", 1.24))


def of_results(world):
    table = world.table("results", *world.value)
    (place, sizes_of), = world.sizes.items()
    for family, name, claim, least in FAMILIES:
        rows = table.compared(lambda c: c["row"].endswith(f"({family})"))
        sizes = [mean for _, mean, *_ in rows]
        yield finding(f"ODRPO against {name}", claim, verdict(rows, least),
                      [f"Change of {world.what} in percent of {family}'s: means from {min(sizes):+.2f} to {max(sizes):+.2f} %. " +
                       ("(The paper's percentages are of a mean of benchmark scores, so that sizes compare roughly.) `small` and `large` are the two capacities of the policy." if world is BANDIT else
                        "It is the mean of grounding, win rate and instructions, as the paper's. `small` and `large` are two sizes of the transformer."), ""] +
                      listing(rows, ["row", "column", place], table=table) + ["", table.source()], world)
    words = []
    for family, name, _, least in FAMILIES:
        for size in sizes_of:
            words.append(f"{name}, {size}: {verdict(table.compared(lambda c: c['row'].endswith(f'({family})') and c['in'][place] == size), least)}")
    each = sum(c["row"].endswith("(grpo)") and c["in"][place] == sizes_of[0] for c, *_ in table.compared())
    yield finding("Small and large policies", "The gains hold for both sizes of model.", "as the gains themselves: " + "; ".join(words),
                  [f"{each} cells each.", "", table.source()], world)


def of_true_quality():
    """What the toy language model's policies are worth, which no benchmark of the paper can see."""
    for family, name, *_ in FAMILIES:
        table = Table("results-toy-lm", "--value", "quality", "--columns", "rater", "--compare", "difference")
        rows = table.compared(lambda c: c["row"].endswith(f"({family})"))
        yield finding(f"True quality against {name}", f"Do Gini and Gini-Median improve the true quality over {name}, which no benchmark sees?", verdict(rows),
                      ["Difference of the true quality of the final policy's responses, in levels of 1 to 10.", ""] + listing(rows, ["row", "policy"], "levels", table=table) + ["", table.source()], TOY, True)
    table = Table("results-toy-lm", "--value", "win-rate-over-grpo", "--columns", "rater", "--baseline", "grpo", "--compare", "difference")
    rows = table.compared()
    yield finding("Win rate over GRPO's final policy", "Do judges of pairs prefer what ODRPO's policies write to what GRPO's writes?", verdict([r for r in rows if "odrpo" in r[0]["row"]]),
                  ["Win rate against the final policy of grpo from the same start, length-controlled, minus 50 %. maxrl beside it is not among the verdict's rows.", ""] +
                  listing(rows, ["row", "policy"], "points", table=table) + ["", table.source()], TOY, True)


def of_settings():
    table = Table("tuning", "--rows", "estimator", "--columns", "lr", "--baseline", "maxrl")
    rows = table.compared(lambda c: c["row"] == "odrpo-gini(maxrl)" and c["in"]["env"] == "small")
    yield finding("How much the learning rate decides", "One learning rate for all estimators.", "not a claim: what the sizes on this page depend on",
                  ["lr = 1 has the best mean over all estimators, and is what the figures above use. From 0.3 on, the mean of odrpo-gini(maxrl) minus maxrl grows with "
                   "the rate. For the small policy, in points of the gain, on the four tuning seeds, which are too few for significance here:", ""] + listing(rows, ["column", "rater"], "points") + ["", table.source()])
    own, same = Table("repeated-prompts", "--compare", "difference"), Table("repeated-prompts", "--compare", "difference", "--where", "lr=1")
    wanted = lambda c: c["row"].endswith("(maxrl)")
    yield finding("When prompts repeat", "One epoch: each prompt is trained on once.", "not a claim: what the sizes on this page depend on",
                  ["Independent trials of these estimators train on 256 prompts, 75 times each, every estimator at its best learning rate, and find larger differences. So does this program. In points of "
                   "the gain, against maxrl, at lr = 1:", ""] + listing(same.compared(wanted), ["row", "column"], "points") +
                  ["", same.source(), "", "and each at its best of four rates, chosen on five other seeds:", ""] + listing(own.compared(wanted), ["row", "column"], "points") + ["", own.source()])


def of_weights(world):
    table = world.table("weight-ablation", "--baseline", "odrpo-gini-median(grpo)", *world.value, *(["--compare", "difference"] if world is TOY else []))
    other = lambda rows: [(c, -m, -hi, -lo, p, n) for c, m, lo, hi, p, n in rows]
    note = " (The command prints it with the other sign.)"
    rows = other(table.compared(lambda c: c["row"] != "grpo"))
    yield finding("Which weight is best", "On GRPO, Gini-Median is the best of uniform, Gini and Gini-Median weights.", verdict(rows),
                  [f"Gini-Median minus the named weight, in points of {world.what}." + note, ""] + listing(rows, ["row", "column", "env"], "points", table=table, sign=-1) + ["", table.source()], world)
    rows = other(table.compared(lambda c: c["row"] == "grpo"))
    yield finding("The best weight against no decomposition at all", "Gini-Median is above GRPO (its table of results; its ablation leaves GRPO out).", verdict(rows),
                  [f"Gini-Median minus grpo, in points of {world.what}." + note, ""] + listing(rows, ["column", "env"], "points", table=table, sign=-1) + ["", table.source()], world)


def of_votes(world):
    what = world.what if world is BANDIT else "the win rate"
    table = world.table("votes")
    by = {(c["in"]["rater"], c["row"], c["column"]): dict(zip(c["seeds"], c["values"])) for c in table.cells}
    raters = sorted({k[0] for k in by})
    first = sorted(next(iter(by.values())))
    tuning = set(first[:len(first) // 2])  # seeds that choose N; the others report

    def chosen(rater, estimator, counts):  # by the mean over the seeds that all of them have
        common = tuning.intersection(*(by[rater, estimator, n] for n in counts))
        return max(counts, key=lambda n: sum(by[rater, estimator, n][s] for s in common))
    held = lambda rater, estimator, n: {s: v for s, v in by[rater, estimator, n].items() if s not in tuning}
    rows, alone = [], []
    for rater in raters:
        best = chosen(rater, "maxrl", ["1", "8", "16", "32"])
        if best == "1":
            alone.append(rater)
        for estimator in ("odrpo-gini(maxrl)", "odrpo-gini-median(maxrl)"):
            rows.append(({"in": {"rater": rater}, "row": f"{estimator} with 1 vote, maxrl with {best}", "column": ""},
                         *paired(held(rater, estimator, "1"), held(rater, "maxrl", best))))
    rows = holm(rows)
    halves = f"on the first {len(tuning)} seeds; the differences are over the other {len(first) - len(tuning)}, in points of {what}"
    yield finding("One vote of ODRPO against the best number of votes of MaxRL", "With one score per response, ODRPO beats MaxRL with the best of 1, 8, 16 and 32.", verdict(rows),
                  [f"MaxRL's N is chosen {halves}." + (f" Under {' and '.join(alone)} MaxRL is best with one vote itself, so that more would not have helped it." if alone else ""), ""] +
                  listing(rows, ["row", "rater"], "points") + ["", table.source(rows)], world)
    rows = []
    for rater in raters:
        peak = chosen(rater, "maxrl", ["8", "16"])
        rows.append(({"in": {"rater": rater}, "row": f"{peak} votes - 1 vote", "column": ""}, *paired(held(rater, "maxrl", peak), held(rater, "maxrl", "1"))))
        rows.append(({"in": {"rater": rater}, "row": f"32 votes - {peak} votes", "column": ""}, *paired(held(rater, "maxrl", "32"), held(rater, "maxrl", peak))))
    rows = holm(rows)
    rises, dips = [significant(r[4]) and r[1] > 0 for r in rows[::2]], [significant(r[4]) and r[1] < 0 for r in rows[1::2]]
    yield finding("More votes for MaxRL", "MaxRL improves with N, peaks at 8 or 16, and dips at 32.",
                  f"rises to the peak under {sum(rises)} of {len(raters)} judge{'s' * (len(raters) > 1)}, dips after it under {sum(dips)}; the others cannot be told",
                  [f"The peak, 8 or 16, is chosen {halves}.", ""] + listing(rows, ["row", "rater"], "points") + ["", table.source(rows)], world)
    table = world.table("votes", "--rows", "votes", "--columns", "estimator", "--baseline", "1")
    rows = table.compared(lambda c: c["column"] == "odrpo-gini-median(maxrl)")
    yield finding("More votes for Gini-Median", "Gini-Median on MaxRL goes on improving up to N = 32.", verdict(rows),
                  [f"N votes minus one vote, in points of {what}. Training takes the mode of the votes.", ""] + listing(rows, ["row", "rater"], "points", table=table) + ["", table.source()], world)
    table = world.table("votes", "--value", "reward", "--compare", "percent")
    rows = table.compared()
    yield finding("Seen reward over votes", "ODRPO's final training reward is 2.3 to 8.5 % above MaxRL's for every N.", verdict(rows, 2.3),
                  ["Change of the mean seen reward at the end of training, in percent of maxrl's. The seen reward is what the judge says, not true quality.", ""] +
                  listing(rows, ["row", "column", "rater"], table=table) + ["", table.source()], world)


def of_curves(world):
    columns = ["--columns", "rater"] if world is TOY else []
    table = world.table("training-curves", *(["--value", "reward"] if columns else []), *columns, "--compare", "percent")
    for family, name, *_ in FAMILIES:
        rows = table.compared(lambda c: c["row"].endswith(f"({family})"))
        yield finding(f"Final reward against {name}", f"ODRPO variants reach a higher training reward than {name}.", verdict(rows),
                      [f"Change of the mean seen reward at the end of training, in percent of {family}'s. `odrpo-bench plot curves training-curves" + world.suffix + ".h5 --curve reward` draws the curves.", ""] +
                      listing(rows, ["row", "column"], table=table) + ["", table.source()], world)
    table = world.table("training-curves", "--value", "collapsed", *columns, "--baseline", "none")
    told = [c for c in table.cells if c["n"]]
    fallen = [c for c in told if c["mean"] > 0]
    ours, theirs = [c for c in fallen if "odrpo" in c["row"]], [c for c in fallen if c["row"] == "grpo"]
    result = ("cannot be told here: " + ("nothing crashes" if told else "too few steps") if not ours and not theirs else
              "replicates: grpo alone crashes" if not ours else "reverses: ODRPO crashes, grpo does not" if not theirs else "partly: both crash")
    shares = ", ".join(f"{c['row']}{' under ' + c['column'] if c['column'] else ''} {c['mean']:.0f} %" for c in fallen)
    yield finding("The crash of GRPO", "GRPO's reward crashes near 0.6 of the epoch; ODRPO's does not.", result,
                  [(f"Share of runs that crash: {shares}." if fallen else "No run of any estimator crashes." if told else "The runs are too short to say whether one crashes.") +
                   " What makes runs of the toy language model crash is in [measured by hand](lab/measured-by-hand.md#does-training-crash-in-the-middle-of-its-epoch).", "", table.source()], world)


def of_step_time(world):
    if world is TOY:
        table = world.table("step-time", "--value", "seconds", "--columns", "votes", "--compare", "percent")
        rows = table.compared(lambda c: "odrpo" in c["row"])
        yield finding("Step time", "ODRPO adds no step time.", f"{sum(significant(r[4]) for r in rows)} of {len(rows)} differences are significant; means from {min(r[1] for r in rows):+.1f} to {max(r[1] for r in rows):+.1f} % of a step",
                      ["The measured time of a step, 512 responses, in percent more than the baseline's. Times of a shared machine: read the intervals.", ""] +
                      listing(rows, ["row", "policy"], "%", 1) + ["", table.source()], world)
        return
    table = world.table("step-time", "--value", "seconds", "--columns", "votes", "--compare", "difference")
    rows = table.compared(lambda c: "odrpo" in c["row"])
    most = max(mean for _, mean, *_ in rows)
    yield finding("Step time", "ODRPO adds no step time.", f"in effect it does not: at most {most:.1f} millionths of a second a step, on average",
                  ["The measured time of a step of the bandit, 512 responses, in microseconds more than the baseline's. The paper's steps take 30 s.", ""] + listing(rows, ["row"], "us", 1) + ["", table.source()], world)


ITEMS = {"AlpacaEval": 805, "IFEval": 541}
PAPER = {  # the paper's table of results: models, then baseline and estimators with (AlpacaEval, IFEval)
    "Qwen2.5-7B, GRPO": [("GRPO", .5691, .6478), ("Gini", .5711, .6526), ("Gini-Median", .5812, .6611)],
    "Qwen2.5-7B, MaxRL": [("MaxRL", .5323, .6612), ("Gini", .5691, .6451), ("Gini-Median", .5721, .6441)],
    "Qwen3-4B, GRPO": [("GRPO", .5529, .6519), ("Gini", .5661, .6468), ("Gini-Median", .5641, .6519)],
    "Qwen3-4B, MaxRL": [("MaxRL", .5533, .6429), ("Gini", .5634, .6541), ("Gini-Median", .5597, .6644)]}


def of_items():
    lines = ["| models | benchmark | difference | bound, answers unrelated | least bound, answers paired | exceeds |", "|---|---|---|---|---|---|"]
    exceeds = {"both": 0, "the least alone": 0, "neither": 0}
    for family, entries in PAPER.items():
        (base, *old), *others = entries
        for name, *new in others:
            for (benchmark, n), a, b in zip(ITEMS.items(), new, old):
                d = a - b
                apart = 1.96 * math.sqrt((a * (1 - a) + b * (1 - b)) / n)
                least = 1.96 * math.sqrt(max(abs(d) - d * d, 0) / n)  # every item that changed changed in one direction
                word = "both" if abs(d) > apart else "the least alone" if abs(d) > least else "neither"
                exceeds[word] += 1
                lines.append(f"| {family}: {name} - {base} | {benchmark} | {100 * d:+.2f} points | {100 * apart:.2f} | {100 * least:.2f} | {word} |")
    yield finding("Sampling error of the paper", "Its tables compare single runs of each model, without intervals.",
                  f"{exceeds['neither']} of {sum(exceeds.values())} differences cannot exceed the sampling error of their items, {exceeds['the least alone']} may, {exceeds['both']} do in any case",
                  ["A benchmark is a sample of items (AlpacaEval 805, IFEval 541). The bounds are 1.96 standard errors of a difference: the first if two models' answers to an item were unrelated; the second, the "
                   "least there can be, if every item whose score changed had changed in the same direction. The models answer the same items, so the truth lies between; it needs the items' scores, which the paper does "
                   "not give. Seeds of training come on top. FACTS-grounding is left out: the paper does not say how many items it has.", ""] + lines)


INTRODUCTION = """# What do the simulations say about the paper's claims?

<!-- `docs/lab/findings.py` writes this page from result files. -->

The paper trains language models once each and compares single numbers. Here the same estimators train in a world whose truth is known, on many seeds, at the paper's settings: one epoch, 64 prompts x 8
rollouts, AdamW, cosine schedule, KL .001 ([suites/paper](../suites/paper)). There are two worlds. In the contextual bandit a policy chooses, for each prompt, among 32 responses of known quality, and a noisy judge
scores them. In the [toy language model](toy-lm.md) a small transformer, after supervised steps on mediocre examples, writes its responses word by word and trains adapters of rank 32 (LoRA); three evaluations that
nothing is trained on stand for the paper's three benchmarks, taken at temperature 0.
`mixed` and `veto` are two simulated judges whose agreement with themselves is the paper's (median Kendall W 0.61); they were not fitted to a real judge's scores. Both give some responses the lowest score now
and then, `mixed` 3 % of the responses and `veto` 8 %. The gain is the share of the possible improvement that training reaches, judged by true quality. The toy language model has `mixed` alone.

A difference counts where p < .05 after Holm's correction; below each table stands over how many differences. ± is the half-width of the 95 % interval, paired by seed. The median over seeds stands
beside the mean where a single odd seed could move it. "Cannot be told" means that the simulations neither show nor exclude what the paper claims.
"""
SUITES = ("tuning", "results", "repeated-prompts", "weight-ablation", "votes", "training-curves")


def link(heading):
    return "#" + "".join(x for x in heading.lower().replace(" ", "-") if x.isalnum() or x in "-_")


def main():
    global folder
    folder = sys.argv[1]
    worlds = [w for w in (BANDIT, TOY) if w is BANDIT or os.path.exists(os.path.join(folder, f"results{w.suffix}.h5"))]
    every = lambda part: [f for world in worlds for f in part(world)]
    findings = [*every(of_results), *(of_true_quality() if TOY in worlds else ()), *of_settings(), *every(of_weights), *every(of_votes), *every(of_curves), *every(of_step_time), *of_items()]
    print(INTRODUCTION)
    if TOY not in worlds:
        print("The toy language model is not in this page yet: its suites are long.\n")
    for ours, heading in ((False, "claim of the paper"), (True, "asked beyond it")):
        claims = {}
        for f in findings:
            if f.ours == ours:
                claims.setdefault(f.claim, {})[f.world] = f"[{f.result}]({link(f.heading)})"
        if claims:
            print(f"| {heading} |" + "".join(f" {w.name} |" for w in worlds) + "\n|---|" + "---|" * len(worlds))
        for claim, results in claims.items():  # of no world: about the paper alone
            print(f"| {claim} |" + "".join(f" {results.get(w) or results.get(None, '')} |" for w in worlds))
        if claims:
            print()
    for f in findings:
        print(f"\n## {f.heading}\n\n{'We ask' if f.ours else 'The paper'}: {f.claim} Here: **{f.result}**.\n")
        print("\n".join(f.lines))
    print("\n## Commands\n\n```sh")
    for world in worlds:
        for suite in SUITES:
            if world is BANDIT or suite != "repeated-prompts":  # a question about the bandit's settings
                print(f"odrpo-bench run suites/paper/{suite}{world.suffix}.toml")
    for world in worlds:
        print(f"odrpo-bench run suites/paper/step-time{world.suffix}.toml --jobs 1")
    print("docs/lab/findings.py . > docs/findings.md\n```")


if __name__ == "__main__":
    main()
