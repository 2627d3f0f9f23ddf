#!/usr/bin/env python3
# What the paper claims, and what the simulations say about it: runs the suites, writes docs/findings.md with its figures and docs/lab/findings-tables.md.
#   docs/lab/findings.py run FOLDER [--world bandit|toy-lm] [--minutes 90]   result files into FOLDER; a call stops after so many minutes, and the next one goes on
#   docs/lab/findings.py write FOLDER [--root ROOT]                          the pages and figures, below ROOT (default: this repository)
#   docs/lab/findings.py show HEADING FOLDER                                 one claim: verdicts and their rows
# FOLDER holds the result files, each named after its suite; without results-toy-lm.h5 the pages are of the bandit alone. ODRPO_BENCH is the program (default
# build/release/odrpo-bench). Every number comes from the program's own tables, curves and statistics.
import argparse, collections, csv, io, json, math, os, shlex, signal, statistics, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("ODRPO_BENCH", os.path.join(ROOT, "build/release/odrpo-bench"))
folder = ""  # of the result files

# suites of the page, in the order in which they are run; step times alone on the machine
SUITES = {"bandit": ["paper/tuning", "paper/results", "paper/votes", "paper/training-curves", "paper/repeated-prompts", "stress", "paper/w-conjecture", "paper/gini-constants",
                     "paper/reasoning-judge", "paper/random-rewards", "paper/youden", "paper/step-time"],
          "toy-lm": ["paper/tuning-toy-lm", "paper/results-toy-lm", "paper/votes-toy-lm", "paper/step-time-toy-lm"]}


def call(*words):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"findings: {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def path_of(suite):
    return os.path.join(folder, f"{suite}.h5")


def shell(*words):
    return " ".join(["odrpo-bench", *(f"'{w}'" if set(w) & set("( *") else w for w in words)])


# --- reading tables

Row = collections.namedtuple("Row", "label mean lo hi p n median told", defaults=(None, True))  # told: counts in the verdict


class Table:
    """One `table --json` and the command a reader would type."""

    def __init__(self, suite, *flags):
        self.command = shell("table", f"{suite}.h5", *flags)
        self.data = json.loads(call("table", path_of(suite), *flags, "--json"))
        self.suite, self.digest = suite, self.data["digest"]
        self.cells = [dict(cell, **{"in": block["fixed"]}) for block in self.data["blocks"] for cell in block["cells"]]

    def cell(self, **wanted):
        return next(c for c in self.cells if all(c[k] == v for k, v in wanted.items()))

    def rows(self, label, keep=lambda cell: True, sign=1):
        """The differences or percentages of the cells; `label(cell)` names them. sign = -1: the baseline minus the row."""
        out = []
        for cell in self.cells:
            d = cell.get("percent") or cell.get("difference")
            if d and keep(cell):
                lo, hi = (d["lo"], d["hi"]) if d["lo"] is not None else (d["mean"], d["mean"])
                lo, hi = (lo, hi) if sign > 0 else (-hi, -lo)
                out.append(Row(label(cell), sign * d["mean"], lo, hi, d.get("p_holm"), d["pairs"], self.median(cell, sign)))
        return out

    def median(self, cell, sign):
        """Median over seeds of a cell's difference from its baseline, in the unit of the comparison; None where the cells took rates of their own."""
        name = self.data["baseline"] or next((b for b, rows in self.data["baselines"].items() if cell["row"] in rows), None)
        other = [c for c in self.cells if c["row"] == name and c["column"] == cell["column"] and c["in"] == cell["in"] and c["value"] == cell["value"]]
        if not other or "seeds" not in cell:
            return None
        base = dict(zip(other[0]["seeds"], other[0]["values"]))
        pairs = [(v, base[s]) for s, v in zip(cell["seeds"], cell["values"]) if s in base]
        return sign * statistics.median(100 * (a / b - 1) if "percent" in cell else a - b for a, b in pairs) if pairs else None

    def seeds(self):
        n = sorted({c["n"] for c in self.cells if c["n"]})
        return f"{n[0] if n else 'no'}{f' to {n[-1]}' if len(n) > 1 else ''} seeds"

    def source(self):
        families = collections.Counter(c["value"] for c in self.cells if c.get("percent") or c.get("difference"))
        sizes = sorted(set(families.values()))
        return f"`{self.command}`: digest {self.digest}, {self.seeds()}" + (f"; Holm over the {' or '.join(map(str, sizes))} differences of {'each value' if len(families) > 1 else 'the table'}" if sizes else "")


def digest_of(suite):
    return json.loads(call("table", path_of(suite), "--json"))["digest"]


def curves(suite, *names):
    """{(estimator, rater, seed): {curve: {step: value}}} of a file's recorded curves."""
    words = [w for name in names for w in ("--curve", name)]
    out = collections.defaultdict(lambda: collections.defaultdict(dict))
    for row in csv.DictReader(io.StringIO(call("export", path_of(suite), "--what", "curves", *words))):
        for name in names:
            if row.get(name):
                out[row["estimator"], row["rater"], int(row["seed"])][name][int(row["step"])] = float(row[name])
    return out


# --- verdicts

Verdict = collections.namedtuple("Verdict", "word text")


def significant(p):
    return p is not None and p < 0.05


def verdict(rows, claimed=None):
    """What differences say about a claim that they are above 0, and, where it is given, of a size between claimed[0] and claimed[1]. Stars alone count."""
    rows = [r for r in rows if r.told]
    n = len(rows)
    if n == 0:
        return Verdict("not asked", "not asked")
    up, down = (sum(significant(r.p) and sign * r.mean > 0 for r in rows) for sign in (1, -1))
    if up == n:
        word, text = "yes", "yes, in every cell" if n > 1 else "yes"
    elif up and down:
        word, text = "partly", f"{up} of {n} cells as claimed, {down} reversed"
    elif up:
        word, text = "partly", f"{up} of {n} cells, the others open"
    elif down:
        word, text = "reversed" if down == n else "partly reversed", f"reversed in {down} of {n} cells" + (", the others open" if down < n else "")
    else:
        word, text = "open", f"open in {n} of {n} cells" if n > 1 else "open"
    if claimed:
        below, above = sum(r.mean < claimed[0] for r in rows), sum(r.mean > claimed[1] for r in rows)
        surely, beyond = sum(r.hi < claimed[0] for r in rows), sum(r.lo > claimed[1] for r in rows)
        sized = ", ".join([f"{below} of {n} smaller than claimed ({surely} by their intervals)"] * bool(below) + [f"{above} of {n} larger ({beyond} by their intervals)"] * bool(above))
        text += "; " + (sized or "of the claimed size")
        if word == "yes" and (surely or beyond):
            word = "yes, of another size"
    return Verdict(word, text)


def holm(rows):
    """The rows with Holm's p in place of p; differences that are all 0 have none and are not counted."""
    out, worst = list(rows), 0.0
    tested = [i for i in range(len(rows)) if rows[i].p is not None]
    for rank, i in enumerate(sorted(tested, key=lambda i: rows[i].p)):
        worst = max(worst, min(1.0, (len(tested) - rank) * rows[i].p))
        out[i] = rows[i]._replace(p=worst)
    return out


def paired(label, left, right, told=True):
    """Row of left - right over common seeds by `stats` on a CSV file of them; left and right: seed to value."""
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
    lo, hi = (d["mean"], d["mean"]) if t["lo"] is None else (t["lo"], t["hi"])  # all pairs may differ by the same
    return Row(label, d["mean"], lo, hi, d["p"], d["pairs"], statistics.median(left[s] - right[s] for s in left if s in right), told)


def span(rows, unit="%", digits=1):
    means = [r.mean for r in rows]
    signed = lambda x: f"{round(x, digits) + 0.0:+.{digits}f}"  # no -0.0
    return f"{signed(min(means))} to {signed(max(means))} {unit}" if len(means) > 1 else f"{means[0]:+.{digits}f} ± {(rows[0].hi - rows[0].lo) / 2:.{digits}f} {unit}"


def listing(rows, unit="%", digits=2):
    lines = ["| cell | mean difference | median | p (Holm) |", "|---|---|---|---|"]
    for r in rows:
        p = "n/a" if r.p is None else "<.001" if r.p < 0.001 else f"{r.p:.3f}".lstrip("0")
        middle = f"{r.median:+.{digits}f}" if r.median is not None else ""
        half = f"± {(r.hi - r.lo) / 2:.{digits}f}" if abs(r.hi + r.lo - 2 * r.mean) < 1e-6 * (1 + abs(r.mean)) else f"[{r.lo:.{digits}f}, {r.hi:.{digits}f}]"
        lines.append(f"| {r.label}{'' if r.told else ' (not counted)'} | {r.mean:+.{digits}f} {half} {unit} | {middle} | {p} |")
    return lines


# --- claims

Part = collections.namedtuple("Part", "world word text command lines seeds", defaults=("",))  # world None: of neither; lines: the tables' page; seeds: "n seeds"
Claim = collections.namedtuple("Claim", "heading claim note parts figure ours")


class World:
    def __init__(self, name, suffix, value, what, sizes):
        self.name, self.suffix, self.value, self.what, self.sizes = name, suffix, value, what, sizes  # sizes: dimension of the two sizes of policy; None: there is one

    def has(self, suite):
        return os.path.exists(path_of(suite + self.suffix))


BANDIT = World("bandit", "", "gain", "gain", "env")
TOY = World("toy LM", "-toy-lm", "held-out", "mean of three evaluations", None)
worlds = [BANDIT, TOY]


def part(world, table, rows, unit="%", digits=2, claimed=None, text="", extra=()):
    v = verdict(rows, claimed)
    return Part(world, v.word, v.text + (f"; {text}" if text else ""), table.command, [*listing(rows, unit, digits), "", table.source(), *extra], table.seeds())


def where(*estimators):
    return [w for e in estimators for w in ("--where", f"estimator={e}")]


def family_of(name):
    return where(name, f"odrpo-gini({name})", f"odrpo-gini-median({name})")


least_seeds = 3  # for a verdict on half of the seeds

FAMILIES = (("maxrl", "MaxRL", (2.38, 3.31)), ("grpo", "GRPO", (1.24, 2.47)))


def results_table(world, *flags):
    return Table("results" + world.suffix, "--compare", "percent", *flags)


def label(cell, world):  # "maxrl, veto, small"
    return ", ".join(filter(None, (cell["row"], *([cell["in"].get("rater"), cell["in"].get(world.sizes)] if world is BANDIT else []))))


def of_results():
    tables = {w: results_table(w) for w in worlds}
    for family, name, claimed in FAMILIES:
        parts = []
        of = lambda value: lambda c: c["row"] in (f"odrpo-gini({family})", f"odrpo-gini-median({family})") and c["value"] == value
        for w, t in tables.items():
            named = lambda c: label(c, w)
            rows = t.rows(named, of(w.value))
            text, extra = f"{w.what} {span(rows)}", []
            if w is BANDIT:
                early = t.rows(named, of("auc"))
                text += f". Mean over training: {verdict(early, claimed).text}, {span(early)}"
                extra = ["", "The same of `auc`, the gain's mean over training:", "", *listing(early)]
            parts.append(part(w, t, rows, claimed=claimed, text=text, extra=extra))
        yield Claim(f"ODRPO against {name}", f"Gini and Gini-Median improve {name}, by {claimed[0]:.1f} to {claimed[1]:.1f} % of the mean score",
                    "The bandit has converged long before its last step, so early differences are larger; the figure has the paired difference in true quality." if family == "maxrl" else "",
                    parts, ["curves", "results", "--curve", "quality", "--baseline", family, *family_of(family), "--where", "env=small"], False)
    parts = []
    for w, t in tables.items():
        if not w.sizes:
            continue
        words, lines = [], []
        for family, name, claimed in FAMILIES:
            for size in ("small", "large"):
                rows = t.rows(lambda c: label(c, w), lambda c: c["row"].endswith(f"({family})") and "gini" in c["row"] and c["value"] == w.value and c["in"][w.sizes] == size)
                words.append((f"{name} {size}", verdict(rows).word))
                lines += listing(rows)[0 if not lines else 2:]
        same = all(a[1] == b[1] for a, b in zip(words[::2], words[1::2]))
        word = "yes" if all(v.startswith("yes") for _, v in words) else "; ".join(f"{f[1]}: {words[2 * i][1]}" for i, f in enumerate(FAMILIES)) if same else "partly"
        parts.append(Part(w, word, "alike for both sizes" if same else ", ".join(f"{n}: {v}" for n, v in words), t.command, [*lines, "", t.source()]))
    yield Claim("Small and large policies", "The gains hold for both sizes of model", "", parts,
                ["forest", "results", "--compare", "percent", "--value", "gain", "--columns", "rater", *where("maxrl", "odrpo-gini(maxrl)", "odrpo-gini-median(maxrl)")], False)
    if TOY in worlds:
        t = tables[TOY]
        lines, texts, words = [], [], []
        for value in ("grounding", "win-rate", "instructions"):
            rows = t.rows(lambda c: f"{value}, {c['row']}", lambda c: "gini" in c["row"] and c["value"] == value)
            ups, downs = (sum(significant(r.p) and s * r.mean > 0 for r in rows) for s in (1, -1))
            texts.append(f"{value} {span(rows)} ({ups} of {len(rows)} significantly up, {downs} down)")
            lines += listing(rows)[0 if not lines else 2:]
            words.append(f"{value}: {verdict(rows).word}")
        yield Claim("Gains of each benchmark", "Gini and Gini-Median consistently outperform the baselines on all three benchmarks: up to 14.8 % on FACTS-grounding and 7.5 % on AlpacaEval",
                    "In the paper's own table IFEval is below its baseline in three of eight cells and equal in one. " + ranges_text(),
                    [Part(TOY, ", ".join(words), "; ".join(texts), t.command, [*lines, "", t.source(), "", *ranges()], t.seeds())], ["bars", "results-toy-lm", "--columns", "value", "--value", "grounding,win-rate,instructions"], False)
        t = Table("results-toy-lm", "--value", "quality", "--columns", "rater", "--compare", "difference")
        rows = t.rows(lambda c: c["row"], lambda c: "gini" in c["row"])
        yield Claim("True quality", "Do Gini and Gini-Median improve the true quality, which no benchmark sees?", "", [part(TOY, t, rows, "levels", text=f"{span(rows, 'levels')}")],
                    ["forest", "results-toy-lm", "--value", "quality", "--columns", "rater", "--compare", "difference"], True)
        t = Table("results-toy-lm", "--value", "win-rate-over-grpo", "--columns", "rater", "--baseline", "grpo", "--compare", "difference")
        rows = t.rows(lambda c: c["row"], lambda c: "gini" in c["row"])
        yield Claim("Win rate over GRPO", "Do ODRPO's policies win against GRPO's in pairwise comparisons?", "", [part(TOY, t, rows, "points", 1, text=f"{span(rows, 'points')} beyond 50 %")],
                    ["forest", "results-toy-lm", "--value", "win-rate-over-grpo", "--columns", "rater", "--baseline", "grpo", "--compare", "difference"], True)


# the toy language model's evaluations: name, column before training (a policy wins half of the comparisons with itself; against the best of 16 of its responses nothing is measured), column, ceiling
EVALUATIONS = (("grounding", "start_grounding", "grounding", 90), ("win rate", None, "win_rate_length_controlled", 100), ("instructions", "start_instructions", "instructions", 100))


def values_of(runs, name):
    return [100 * float(r[name]) for r in runs if r.get(name)]


def runs_of(suite):
    return list(csv.DictReader(io.StringIO(call("export", path_of(suite)))))


def ranges_text():
    """Start, end, ceiling and spread of the toy language model's evaluations in one sentence."""
    runs = [r for r in runs_of("results-toy-lm") if r["estimator"] == "grpo"]
    told = []
    for name, start, column, ceiling in EVALUATIONS:
        end, first = values_of(runs, column), values_of(runs, start) if start else []
        if len(end) > 1:
            told.append(f"{name} {f'{statistics.mean(first):.1f} to ' if first else ''}{statistics.mean(end):.1f} (sd {statistics.stdev(end):.1f}) of {ceiling}")
    return f"grpo from start to end, of the ceiling, in percent: {'; '.join(told)}."


def ranges():
    """Start, end, ceiling and spread of the toy language model's evaluations, and how often each instruction is followed."""
    runs = runs_of("results-toy-lm")
    values = values_of
    shown = lambda v: f"{statistics.mean(v):.1f}, sd {statistics.stdev(v):.1f}" if len(v) > 1 else "n/a"
    lines = ["Range of each evaluation, in percent (mean and sd over seeds):", "", "| evaluation | before training | grpo | maxrl | odrpo-gini-median(maxrl) | ceiling |", "|---|---|---|---|---|---|"]
    first = [r for r in runs if r["estimator"] == "grpo"]
    for name, start, column, ceiling in EVALUATIONS:
        lines.append(f"| {name} | {shown(values(first, start)) if start else 'not measured'} | " + " | ".join(shown(values([r for r in runs if r["estimator"] == e], column)) for e in ("grpo", "maxrl", "odrpo-gini-median(maxrl)")) + f" | {ceiling} |")
    lines += ["", "How often an instruction is followed, in percent of the held-out responses that were asked for it (mean over seeds):", "", "| instruction | before training | grpo | odrpo-gini-median(maxrl) |", "|---|---|---|---|"]
    for column in sorted(k for k in runs[0] if k.startswith("instruction_")):
        means = [values(first, "start_" + column), *(values([r for r in runs if r["estimator"] == e], column) for e in ("grpo", "odrpo-gini-median(maxrl)"))]
        lines.append(f"| {column[12:].replace('_', '-')} | " + " | ".join(f"{statistics.mean(v):.0f}" if v else "n/a" for v in means) + " |")
    return lines


def of_weights():
    three = where("odrpo(grpo)", "odrpo-gini(grpo)", "odrpo-gini-median(grpo)")
    parts, early = [], []
    for w in worlds:
        t = Table("results" + w.suffix, *three, *where("grpo"), "--value", w.value, "--columns", "rater", "--compare", "difference", "--baseline", "odrpo-gini-median(grpo)")
        named = lambda c: f"against {c['row']}, " + ", ".join(filter(None, (c["column"], c["in"].get(w.sizes))))
        alone = t.rows(named, lambda c: c["row"] == "grpo", -1)
        parts.append(part(w, t, t.rows(named, lambda c: c["row"] != "grpo", -1), "points", text=f"against grpo itself, which its ablation leaves out: {verdict(alone).text}, {span(alone, 'points')}", extra=["", *listing(alone, "points")]))
        t = Table("results" + w.suffix, *three, "--value", "auc", "--columns", "rater", "--compare", "difference", "--baseline", "odrpo(grpo)")
        rows = t.rows(lambda c: f"{c['row']}, " + ", ".join(filter(None, (c["column"], c["in"].get(w.sizes)))))
        v = verdict(rows)
        early.append(Part(w, "consistent with it" if v.word == "yes" else v.word, f"above uniform weights on average over training: {v.text}, {span(rows, 'points')}", t.command, [*listing(rows, "points"), "", t.source()], t.seeds()))
    figure = ["curves", "results", "--curve", "quality", "--baseline", "odrpo(grpo)", *three, *where("grpo"), "--where", "env=small"]
    yield Claim("Which weight is best", "On GRPO, Gini-Median is the best of uniform, Gini and Gini-Median weights", "Rows are Gini-Median minus each weight, corrected over these alone; the figure has the opposite sign.", parts,
                ["forest", "results", *three, *where("grpo"), "--value", "gain", "--columns", "rater", "--compare", "difference", "--baseline", "odrpo-gini-median(grpo)"], False)
    yield Claim("Convergence with weights", "Variance-aware weights accelerate convergence", "A mean over training mixes speed and the level reached. The figure: true quality minus that of uniform weights.", early, figure, False)


def of_rates():
    t = Table("tuning")
    rows = t.rows(lambda c: f"{c['row']}, {c['column']}, {c['in']['env']}", lambda c: "gini" in c["row"])
    maxrl, grpo = ([r for r in rows if r.label.split(",")[0].endswith(f"({f})")] for f in ("maxrl", "grpo"))
    yield Claim("Each at its own learning rate", "Do the gains hold when each estimator has its own best learning rate?", "Elsewhere the bandit has one rate for all, that of the best mean. Here each has its best of four.",
                [Part(BANDIT, f"MaxRL: {verdict(maxrl).word}; GRPO: {verdict(grpo).word}", f"over MaxRL: {verdict(maxrl).text}, {span(maxrl)}; over GRPO: {verdict(grpo).text}, {span(grpo)}", t.command, [*listing(rows), "", t.source()], t.seeds())],
                ["forest", "tuning", *where("maxrl", "odrpo-gini(maxrl)", "odrpo-gini-median(maxrl)", "grpo", "odrpo-gini(grpo)", "odrpo-gini-median(grpo)")], True)
    t = Table("repeated-prompts", "--compare", "difference")
    rows = t.rows(lambda c: f"{c['row']}, {c['column']}", lambda c: c["row"].endswith("(maxrl)"))
    yield Claim("When prompts repeat", "Do the gains over MaxRL hold when prompts repeat?", "The paper trains on each prompt once. Here 256 prompts come 75 times each, every estimator at its best of four rates.",
                [part(BANDIT, t, rows, "points", text=span(rows, "points"))], ["forest", "repeated-prompts", "--compare", "difference"], True)


def of_votes():
    one, lead, peak, median, seen = [], [], [], [], []
    for w in [w for w in worlds if w.has("votes")]:
        unit = "points of the gain" if w is BANDIT else "points of the win rate"
        t = Table("votes" + w.suffix)
        by = {(c["in"]["rater"], c["row"], c["column"]): dict(zip(c["seeds"], c["values"])) for c in t.cells}
        raters, first = sorted({k[0] for k in by}), sorted(next(iter(by.values())))
        tuning = set(first[:len(first) // 2])  # seeds that choose N; the others report

        def chosen(rater, estimator, counts):  # by the mean over the seeds that all of them have
            common = tuning.intersection(*(by[rater, estimator, n] for n in counts))
            return max(counts, key=lambda n: sum(by[rater, estimator, n][s] for s in common))
        held = lambda rater, estimator, n: {s: v for s, v in by[rater, estimator, n].items() if s not in tuning}
        halves = f"N is chosen on the first {len(tuning)} seeds; the differences are over the others, in {unit}; digest {t.digest}."
        rows = []
        for rater in raters:
            best = chosen(rater, "maxrl", ["1", "8", "16", "32"])
            rows += [paired(f"{e} with 1 vote, maxrl with {best}, {rater}", held(rater, e, "1"), held(rater, "maxrl", best), best != "1") for e in ("odrpo-gini(maxrl)", "odrpo-gini-median(maxrl)")]
        few = len(first) - len(tuning) < least_seeds
        alone = [r for r in rows if not r.told]
        rows = holm([r for r in rows if r.told]) + alone
        if few:
            rows = [r._replace(told=False) for r in rows]
        v = verdict(rows)
        text = v.text if any(r.told for r in rows) else f"not asked: {len(first) - len(tuning)} seeds" if few else "not asked: MaxRL is best with one vote itself"
        if alone and len(alone) < len(rows) and not few:
            text += f"; not asked in {len(alone)} cells"
        ours = Table("votes" + w.suffix, "--value", w.value if w is BANDIT else "win-rate", "--baseline", "maxrl", "--compare", "difference")
        ahead = ours.rows(lambda c: f"{c['row']}, {c['column']} votes, {c['in']['rater']}")
        lead.append(part(w, ours, ahead, "points", text=span(ahead, "points")))
        show = "docs/lab/findings.py show 'One vote against the best N' ."
        one.append(Part(w, v.word, text, show, [*listing(rows, "points"), "", halves], f"{len(first) - len(tuning)} seeds"))
        dips = holm([paired(f"32 votes - {most} votes, {rater}", held(rater, "maxrl", "32"), held(rater, "maxrl", most)) for rater in raters for most in [chosen(rater, "maxrl", ["8", "16"])]])
        t = Table("votes" + w.suffix, "--rows", "votes", "--columns", "estimator", "--baseline", "1")
        more = t.rows(lambda c: f"{c['row']} votes - 1 vote, {c['in']['rater']}", lambda c: c["column"] == "maxrl")
        falls = sum(significant(r.p) and r.mean < 0 for r in dips)
        told = [(r, verdict([m for m in more if m.label.endswith(r)]), [m for m in more if m.label.endswith(r)]) for r in raters]
        word = ", ".join(f"{r.split('-')[0]}: {'improves' if v.word == 'yes' else v.word}{', no dip' * (not falls)}" for r, v, _ in told)
        peak.append(Part(w, word, "; ".join(f"{r}: {v.text} ({span(m, 'points', 2)})" for r, v, m in told) + f"; a dip at 32 after the peak under {falls} of {len(raters)} judges",
                         t.command, [*listing(more, "points"), "", t.source(), "", "After the peak, 8 or 16. " + halves, "", *listing(dips, "points")], t.seeds()))
        rows = t.rows(lambda c: f"{c['row']} votes, {c['in']['rater']}", lambda c: c["column"] == "odrpo-gini-median(maxrl)")
        last = holm([paired(f"32 votes - 16 votes, {rater}", by[rater, "odrpo-gini-median(maxrl)", "32"], by[rater, "odrpo-gini-median(maxrl)", "16"]) for rater in raters])
        v, end = verdict(rows), verdict(last)
        median.append(Part(w, v.word if v.word != "yes" or end.word == "yes" else "partly", f"against one vote: {v.text}, {span(rows, 'points', 2)}; 32 against 16: {end.text}, {span(last, 'points', 2)}", t.command,
                           [*listing(rows, "points"), "", t.source(), "", *listing(last, "points")], t.seeds()))
        t = Table("votes" + w.suffix, "--value", "reward", "--compare", "percent")
        rows = t.rows(lambda c: f"{c['row']}, {c['column']} votes, {c['in']['rater']}")
        seen.append(part(w, t, rows, claimed=(2.3, 8.5), text=span(rows)))
    votes = ["votes", "votes", "--rows", "estimator", "--columns", "votes", "--where", "rater=mixed-judge"]
    if not one:
        return
    yield Claim("ODRPO over MaxRL at every N", "ODRPO keeps its lead over MaxRL for every number of votes (win rate)", "", lead, ["votes", "votes", "--where", "rater=mixed-judge", "--value", "gain", "--baseline", "maxrl"], False)
    yield Claim("One vote against the best N", "With one score per response, ODRPO beats MaxRL with the best of 1, 8, 16 and 32", "Where MaxRL is best with one vote, this is the claim above and has no verdict.", one, [*votes, "--value", "gain"], False)
    yield Claim("More votes for MaxRL", "MaxRL improves with N, peaks (training reward at 8, win rate at 16), and dips at 32", "", peak, ["votes", "votes", *where("maxrl"), "--value", "gain"], False)
    yield Claim("More votes for Gini-Median", "Gini-Median on MaxRL goes on improving up to N = 32", "Training takes the mode of the votes, which saturates.", median, ["votes", "votes", *where("odrpo-gini-median(maxrl)"), "--value", "gain"], False)
    yield Claim("Observed reward over votes", "ODRPO's final training reward is 2.3 to 8.5 % above MaxRL's for every N", "Observed: what the judge says, not true quality.", seen, [*votes, "--value", "reward", "--baseline", "maxrl"], False)


def of_curves():
    parts = []
    for w in worlds:
        t = Table("results" + w.suffix, "--value", "reward", "--columns", "rater", "--compare", "percent")
        named = lambda c: f"{c['row']}, " + ", ".join(filter(None, (c["column"], c["in"].get(w.sizes))))
        over = {name: t.rows(named, lambda c: c["row"].endswith(f"({family})") and "gini" in c["row"]) for family, name, _ in FAMILIES}
        parts.append(Part(w, ", ".join(f"{name}: {verdict(rows).word}" for name, rows in over.items()), "; ".join(f"{name}: {verdict(rows).text}, {span(rows)}" for name, rows in over.items()), t.command,
                          [line for name, rows in over.items() for line in [f"Over {name}:", "", *listing(rows), ""]] + [t.source()], t.seeds()))
    figure = ["curves", "results" if TOY not in worlds else "results-toy-lm", "--curve", "reward", *family_of("maxrl"), *([] if TOY in worlds else ["--where", "env=small"])]
    yield Claim("Training reward", "ODRPO variants reach a higher training reward than MaxRL and GRPO", "", parts, figure, False)
    parts = []
    for w in worlds:
        t = Table("results" + w.suffix, "--value", "collapsed", "--columns", "rater", "--baseline", "none")
        told = [c for c in t.cells if c["n"]]
        fallen = [c for c in told if c["mean"] > 0]
        ours, theirs = [c for c in fallen if "odrpo" in c["row"]], [c for c in fallen if c["row"] == "grpo"]
        word = "open" if not ours and not theirs else "yes" if not ours else "reversed" if not theirs else "partly"
        text = (f"0 of {sum(c['n'] for c in told)} runs crash" if told else "too few steps to say") if not fallen else "share of runs that crash: " + ", ".join(f"{c['row']} {c['mean']:.0f} %" for c in fallen)
        parts.append(Part(w, word, text, t.command, [text + ".", "", t.source()], t.seeds()))
    yield Claim("The crash of GRPO", "GRPO's reward crashes near 0.6 of the epoch; ODRPO's does not", "What makes runs of the toy language model crash is [measured by hand](lab/measured-by-hand.md#does-training-crash-in-the-middle-of-its-epoch).", parts,
                ["curves", "results", "--curve", "reward", *where("grpo", "odrpo-gini(grpo)", "odrpo-gini-median(grpo)"), "--where", "env=small"], False)
    parts = []
    for w in [w for w in worlds if w.has("step-time")]:
        t = Table("step-time" + w.suffix, "--value", "seconds", "--columns", "votes", "--compare", "difference" if w is BANDIT else "percent")
        rows = t.rows(lambda c: ", ".join(filter(None, (c["row"], c["in"].get("policy") if w is TOY else None))))
        stars = sum(significant(r.p) and r.mean > 0 for r in rows)
        if w is BANDIT:  # beside a step of the paper
            word, more = ("yes" if max(r.hi for r in rows) < 0.01 * 30e6 else "no"), "at most 1 % of the paper's 30 to 36 s counts as none"
        else:
            word, more = ("yes" if all(r.hi < 1 for r in rows) else "no" if any(significant(r.p) and r.lo > 1 for r in rows) else "open"), "at most 1 % counts as none"
        parts.append(Part(w, word, f"{span(rows, 'us' if w is BANDIT else '%')} a step, {stars} of {len(rows)} significantly slower; {more}", t.command, [*listing(rows, "us" if w is BANDIT else "%"), "", t.source()], t.seeds()))
    if parts:
        yield Claim("Step time", "ODRPO adds no step time", "In the toy LM policies are held still, since longer responses take longer steps.", parts, ["forest", "step-time", "--value", "seconds", "--columns", "votes", "--compare", "difference"], False)


def beside_word(more):
    """What a verdict on "more than without levels" adds to that on the rise itself."""
    return {"yes": "", "reversed": ", but less than without levels"}.get(more.word, ", but not always more than without levels")


def of_levels():
    """The level from which advantages come, and which low levels are lost again: from the curves of levels."""
    curriculum, forgetting = [], []
    for w in worlds:
        suite = "training-curves" if w is BANDIT else "results-toy-lm"
        levels, low = range(2, 11), range(2, 6)
        data = curves(suite, *(f"{kind}_{k}" for kind in ("advantage_share", "quality_at_least") for k in levels))
        middle, lost = collections.defaultdict(dict), collections.defaultdict(dict)
        for (estimator, column, seed), of in data.items():
            share = of["advantage_share_2"]
            if share:
                at = sorted(share)
                centre = lambda step: sum(k * of[f"advantage_share_{k}"][step] for k in levels)
                tenth = max(1, len(at) // 10)
                middle[estimator, column][seed] = statistics.mean(map(centre, at[-tenth:])) - statistics.mean(map(centre, at[:tenth]))
            at = sorted(of["quality_at_least_2"])
            third = max(1, len(at) // 3)
            lost[estimator, column][seed] = max(100 * (statistics.mean(of[f"quality_at_least_{k}"][s] for s in at[third:2 * third] or at) - statistics.mean(of[f"quality_at_least_{k}"][s] for s in at[-third:])) for k in low)

        def rows_of(values, pairs, sign):
            return holm([paired(f"{estimator} - {base}, {column}" if sign > 0 else f"{base} - {estimator}, {column}", *((values[estimator, column], values[base, column])[::sign]))
                         for (estimator, column) in sorted(values) for base in [pairs(estimator)] if base and (base, column) in values])
        inner = lambda e: e[e.index("(") + 1:-1] if "gini" in e else None
        rise = holm([paired(f"{e}, {column}", seeds, dict.fromkeys(seeds, 0.0)) for (e, column), seeds in sorted(middle.items())])
        ours, theirs = ([r for r in rise if ("odrpo" in r.label) == of] for of in (True, False))
        beside = rows_of(middle, inner, 1)
        v, more = verdict(ours), verdict(beside)
        runs = f"{len({key[2] for key in data})} seeds"
        source = f"From the curves of `{suite}.h5`: digest {digest_of(suite)}, {runs}; Holm over the differences of each table"
        command = lambda name: f"docs/lab/findings.py show '{name}' ."
        curriculum.append(Part(w, v.word + beside_word(more),
                               f"the mean level that advantages come from rises by {span(ours, 'levels')} under ODRPO ({v.text}), by {span(theirs, 'levels')} under GRPO and MaxRL; more under ODRPO: {more.text}", command("Implicit curriculum"),
                               [*listing(rise, "levels"), "", "ODRPO minus its baseline:", "", *listing(beside, "levels"), "", source], runs))
        kept = rows_of(lost, lambda e: "odrpo(grpo)" if e in ("odrpo-gini(grpo)", "odrpo-gini-median(grpo)") else None, -1)
        change = lambda *names: f"{round(-statistics.mean(v for (e, _), seeds in lost.items() if e in names for v in seeds.values()), 2) + 0.0:+.2f}"  # no -0.00
        forgetting.append(Part(w, verdict(kept).word, f"the worst of levels 2 to 5 moves by {change('odrpo-gini(grpo)', 'odrpo-gini-median(grpo)')} points with weights, {change('odrpo(grpo)')} with uniform ones; better with weights: {verdict(kept).text}", command("No forgetting"), [*listing(kept, "points"), "", source], runs))
    yield Claim("Implicit curriculum", "Levels are learned from the low ones to the high ones", "Any policy that improves leaves low levels behind, so the rise is compared with that of GRPO and MaxRL. In the bandit most of it is over before the first record, at step 20.", curriculum,
                ["levels", "training-curves", "--where", "rater=mixed", *where("maxrl", "odrpo-gini-median(maxrl)")], False)
    yield Claim("No forgetting", "Weights prevent forgetting of low levels", "The share of responses that reach a level: the mean of the last third of training minus that of the middle third.", forgetting,
                ["curves", *(["results-toy-lm"] if TOY in worlds else ["training-curves", "--where", "rater=veto"]), "--curve", "quality_at_least_3", "--baseline", "odrpo(grpo)", *where("odrpo(grpo)", "odrpo-gini(grpo)", "odrpo-gini-median(grpo)", "grpo")], False)


def of_judge():
    suite = os.path.join(ROOT, "suites/paper/kendall.toml")
    w = {c["name"]: c["kendall_w_median"] for c in json.loads(call("judge", "analyze", suite, "--json"))["compared"]}
    lines = ["| judge | median W |", "|---|---|"] + [f"| {name} | {value:.3f} |" for name, value in w.items()]
    simulated = [w[n] for n in ("mixed", "veto", "wide", "gauss") if n in w]
    yield Claim("The judge's stochasticity", "16 calls of the judge agree little: a median Kendall W of .61 with a heavy left tail", "W does not say which noise.",
                [Part(None, "by construction", f"{len(simulated)} simulated judges are calibrated to it ({min(simulated):.2f} to {max(simulated):.2f}); two panels of real judges have {w.get('panel-essays', 0):.2f} and {w.get('panel-dialogue', 0):.2f}. Nothing here tests the paper's own judge", "odrpo-bench judge analyze suites/paper/kendall.toml", lines)],
                ("judge", "analyze", suite, "--figure", "kendall="), False)
    suite = os.path.join(ROOT, "suites/paper/w-conjecture.toml")
    w = {c["name"]: c["kendall_w_median"] for c in json.loads(call("judge", "analyze", suite, "--samples", "16", "--json"))["compared"]}
    t = Table("w-conjecture")
    rows = t.rows(lambda c: f"{c['row']} (W {w[c['row']]:.2f}), {c['column']}")
    even = [r for r in rows if r.label.startswith("even")]
    rough = [r for r in rows if r.label.startswith("outliers") and r.label.endswith(", maxrl")]
    losses, rises = (sum(significant(r.p) and sign * r.mean > 0 for r in even) for sign in (-1, 1))
    tested, cost = [w[r.label.split()[0]] for r in even], max(-r.mean for r in even)
    yield Claim("W of .9 or more", "A stable reward needs a judge with W >= .9 (conjecture)", "One world, judges whose calls err by more or less, without and with rare lowest scores, against W = .96 without.",
                [Part(BANDIT, "not needed here (below .5 points)" if max(-r.lo for r in even) < 0.5 else "partly", f"from W {max(tested):.2f} to {min(tested):.2f} the gain falls by at most {cost:.1f} points ({losses} of {len(even)} cells significantly lower, {rises} higher); rare lowest scores cost MaxRL {min(-r.mean for r in rough):.1f} to {max(-r.mean for r in rough):.1f}, at W {min(w[r.label.split()[0]] for r in rough):.2f} to {max(w[r.label.split()[0]] for r in rough):.2f}",
                      t.command, [*listing(rows, "points"), "", t.source()], t.seeds())], ["forest", "w-conjecture", *where("grpo", "maxrl")], False)


NOISE = {"clean": "without noise", "s2": "errors of two levels", "hetero": "errors that differ between prompts", "low20": "a fifth of the scores a 1", "easylow": "good responses, a tenth of the scores a 1", "flip10": "a tenth mirrored",
         "high10": "a tenth a 10", "hack": "bad responses that often get a 10", "hard": "poor responses", "hardhigh": "poor responses, 3 % a 10", "easy": "good responses, rare outliers"}


def of_noise():
    t = Table("stress", *where("maxrl", "odrpo-gini-median(maxrl)"))
    rows = t.rows(lambda c: c["column"], lambda c: c["row"] == "odrpo-gini-median(maxrl)")
    names = lambda chosen: "; ".join(NOISE[r.label] for r in chosen) or "none"
    up, down = ([r for r in rows if significant(r.p) and sign * r.mean > 0] for sign in (1, -1))
    yield Claim("Under which noise", "Gini-Median resists the judge's noise better than MaxRL", f"{len(rows)} kinds of noise, each estimator at its best of four rates.",
                [Part(BANDIT, f"{len(up)} better, {len(down)} worse, {len(rows) - len(up) - len(down)} open", f"better: {names(up)}. Worse: {names(down)}. Open: the others", t.command, [*listing(rows, "points"), "", t.source()], t.seeds())],
                ["forest", "stress", *where("maxrl", "odrpo-gini-median(maxrl)")], False)
    rows = list(csv.DictReader(io.StringIO(call("theory", "leverage", "--rater", "mixed", "--format", "csv"))))
    share = {(r["estimator"], r["outlier"]): float(r["share"]) for r in rows}
    lines = ["| estimator | share of a score that becomes 1 | that becomes 10 |", "|---|---|---|"] + [f"| {e} | {share[e, '1']:.2f} | {share[e, '10']:.2f} |" for e in dict.fromkeys(k[0] for k in share)]
    yield Claim("Outliers", "Ordinal levels keep an outlier from corrupting the group's update", "How much of the sum of A^2 one corrupted score of eight takes ([leverage](theory.md#leverage-of-one-score)).",
                [Part(None, "partly", f"a score that becomes 1: {share['grpo', '1']:.2f} under grpo, {share['odrpo(grpo)', '1']:.2f} with levels alone, {share['odrpo-gini-median(grpo)', '1']:.2f} with Gini-Median weights, {share['odrpo(maxrl)', '1']:.2f} with the norm of MaxRL, "
                      f"{share['odrpo-gini-median(maxrl)', '1']:.2f} with both; that becomes 10: {share['grpo', '10']:.2f}, {share['odrpo(grpo)', '10']:.2f}, {share['odrpo-gini-median(grpo)', '10']:.2f}, {share['odrpo(maxrl)', '10']:.2f}, {share['odrpo-gini-median(maxrl)', '10']:.2f}",
                      "odrpo-bench theory leverage --rater mixed", lines)], ("theory", "leverage", "--rater", "mixed", "--figure", ""), False)
    rows = list(csv.DictReader(io.StringIO(call("theory", "curl", "--levels", "10", "--group-size", "8", "--format", "csv"))))
    curl = {r["estimator"]: float(r["mac_pairs"]) for r in rows}
    yield Claim("Curl and objective", "ODRPO has a scalar objective, GRPO and MaxRL have none, and this stabilises training", "Exact sums; [what holds of each statement](theory.md#what-the-paper-says-and-what-holds).",
                [Part(None, "partly", f"true of uniform and Gini weights (curl 0). Gini-Median has {curl['odrpo-gini-median(grpo)']:.3f} (norm of GRPO) and {curl['odrpo-gini-median(maxrl)']:.3f} (of MaxRL), against {curl['grpo']:.3f} of grpo and {curl['maxrl']:.3f} of maxrl; "
                      "the paper's appendix says that it breaks the objective, as normalising over a batch does. That an objective stabilises training is open: no run here crashes",
                      "odrpo-bench theory curl --levels 10 --group-size 8", ["| estimator | mean absolute curl over pairs |", "|---|---|"] + [f"| {e} | {c:.4f} |" for e, c in curl.items()])],
                ("theory", "curl", os.path.join(ROOT, "suites/paper/curl.toml"), "--figure", ""), False)


def of_future():
    t = Table("reasoning-judge")
    rows = t.rows(lambda c: f"{c['row']}, {c['column']}")
    careful = [r._replace(mean=-r.mean, lo=-r.hi, hi=-r.lo) for r in rows if r.label.startswith(("cheap-mode", "cheap-mean"))]
    steps = [r for r in rows if r.label.startswith("cheap,")]
    one, eight = verdict(careful), verdict(steps)
    yield Claim("One reasoning judge or many cheap calls", "One expensive reasoning call could replace many cheap ones", "Future work of the paper. One careful call (W .9), eight cheap ones (W .6), or one cheap call for eight times the steps. The judge's calls cost alike; eight times the steps also cost more training.",
                [Part(BANDIT, f"against eight calls: {one.word}, against eight times the steps: {verdict([r._replace(mean=-r.mean) for r in steps]).word}",
                      f"one careful call against eight cheap ones: {one.text}, {span(careful, 'points')}; eight times the steps with one cheap call against the careful one: {eight.text}, {span(steps, 'points')}", t.command, [*listing(rows, "points"), "", t.source()], t.seeds())],
                ["forest", "reasoning-judge"], False)
    t = Table("gini-constants")
    rows = t.rows(lambda c: f"{c['row']}, {c['in']['rater']}, {c['value']}")
    gain = [r for r in rows if r.label.endswith("gain")]
    v, best = verdict(gain), max(gain, key=lambda r: r.mean)
    stars = lambda s: sum(significant(r.p) and s * r.mean > 0 for r in gain)
    early = [r for r in rows if not r.label.endswith("gain")]
    sooner = sum(significant(r.p) and r.mean > 0 for r in early)
    yield Claim("The constants of the Gini weights", "Are other numbers in the Gini weights better?", "Floor, factor, decay and power of k, one at a time, under both norms and judges.",
                [Part(BANDIT, "none found" if not stars(1) + sooner else f"{stars(1) + sooner} of {len(rows)}", f"gain: {stars(1)} of {len(gain)} other values are significantly better, {stars(-1)} worse; mean over training: {sooner} of {len(early)} better; the best estimate of the gain is {best.label.split(',')[0]}, {best.mean:+.1f} points",
                      t.command, [*listing(rows, "points"), "", t.source()], t.seeds())],
                ["forest", "gini-constants", "--value", "gain", "--columns", "rater", "--where", "rater=veto", *where("odrpo-gini-median(grpo)", *t.data["baselines"]["odrpo-gini-median(grpo)"])], True)


def of_random():
    t = Table("random-rewards")
    of = lambda value, **at: [c for c in t.cells if c["value"] == value and all(str(c["in"].get(k)) == v for k, v in at.items())]
    mean = lambda cells: " to ".join(f"{round(x, 2) + 0.0:+.2f}" for x in (min(c["mean"] for c in cells), max(c["mean"] for c in cells)))
    once, bare, clip = ({"epochs": e, "ratio_clip": c} for e, c in (("1", "0"), ("4", "0"), ("4", "0.2")))
    lines = ["| epochs, clip | estimator | logit shift, nats | spread, nats | entropy collapses, % | gradient's signal to noise |", "|---|---|---|---|---|---|"]
    half = lambda c: f"± {(c['hi'] - c['lo']) / 2:.2f}"
    for at in (once, bare, clip):
        for a, b, c, d in zip(*(of(value, **at) for value in ("logit-shift", "logit-spread", "entropy-collapse", "gradient-snr"))):
            lines.append(f"| {at['epochs']}, {at['ratio_clip']} | {a['row']} | {a['mean']:+.2f} {half(a)} | {b['mean']:.2f} {half(b)} | {c['mean']:.0f} | " + (f"{d['mean']:+.4f} ± {(d['hi'] - d['lo']) / 2:.4f}" if d["n"] else "n/a") + " |")
    spread = of("logit-spread", **once)
    yield Claim("Random rewards", "What does training do under a judge that knows nothing?", "Two responses a prompt; the start likes the better one. Shift and spread are of that one's logit, over prompts.",
                [Part(BANDIT, "probabilities spread", f"one epoch of on-policy steps: mean shift 0 within its interval in {sum(c['lo'] <= 0 <= c['hi'] for c in of('logit-shift', **once))} of {len(spread)} estimators ({mean(of('logit-shift', **once))} nats), spread {min(c['mean'] for c in spread):.1f} to {max(c['mean'] for c in spread):.1f}; "
                      f"four epochs: shift {mean(of('logit-shift', **bare))}; four with PPO's clip: {mean(of('logit-shift', **clip))}, up under {', '.join(c['row'] for c in of('logit-shift', **clip) if c['lo'] > 0) or 'none'}; entropy collapses in up to {max(c['mean'] for c in of('entropy-collapse', **clip)):.0f} % of seeds there", t.command, [*lines, "", t.source()], t.seeds())],
                ["bars", "random-rewards", "--columns", "epochs", "--value", "logit-shift"], True)
    t = Table("youden")
    lines, sign = ["| judge | estimator | gain, % | seeds above 0, % |", "|---|---|---|---|"], collections.defaultdict(list)
    for c in t.cells:
        share = 100 * sum(v > 0 for v in c["values"]) / len(c["values"])
        lines.append(f"| {c['row']} | {c['column']} | {c['mean']:.1f} ± {(c['hi'] - c['lo']) / 2:.1f} | {share:.0f} |")
        sign[c["row"].split("-")[0]].append((c["mean"], share, c["lo"] <= 0 <= c["hi"]))
    ends = lambda name, i: " to ".join(dict.fromkeys(f"{of(x[i] for x in sign[name]):.0f}" for of in (min, max))) + " %"
    right = all(s == 100 for _, s, _ in sign["plus"]) and all(s == 0 for _, s, _ in sign["minus"])
    yield Claim("Youden's J", "A binary judge teaches if J is above 0, nothing at 0, the opposite below (arXiv 2601.04411)?", "Eight values of J, three false-positive rates each.",
                [Part(BANDIT, "partly" if not right else "yes" if all(x[2] for x in sign["zero"]) else f"yes; at 0 in {sum(x[2] for x in sign['zero'])} of {len(sign['zero'])}", f"gain {ends('plus', 0)} for J above 0 ({ends('plus', 1)} of seeds above 0), {ends('minus', 0)} below; at J = 0 the mean is 0 within its interval in {sum(x[2] for x in sign['zero'])} of {len(sign['zero'])} cells, while single seeds drift ({ends('zero', 1)} of them above 0)", t.command, [*lines, "", t.source()], t.seeds())],
                ["heatmap", "youden"], True)


# items of a benchmark, and the least that one item's score can change by, in items: AlpacaEval's is win, tie or loss; IFEval's is the mean of four accuracies, of which the strict
# and loose ones over instructions (834 for 541 prompts) move least: one instruction that is followed loosely, or not
BENCHMARKS = {"AlpacaEval": (805, 1 / 2), "IFEval": (541, 541 / 834 / 4)}
PAPER = {  # the paper's table of results: models, then baseline and estimators with (AlpacaEval, IFEval)
    "Qwen2.5-7B, GRPO": [("GRPO", .5691, .6478), ("Gini", .5711, .6526), ("Gini-Median", .5812, .6611)],
    "Qwen2.5-7B, MaxRL": [("MaxRL", .5323, .6612), ("Gini", .5691, .6451), ("Gini-Median", .5721, .6441)],
    "Qwen3-4B, GRPO": [("GRPO", .5529, .6519), ("Gini", .5661, .6468), ("Gini-Median", .5641, .6519)],
    "Qwen3-4B, MaxRL": [("MaxRL", .5533, .6429), ("Gini", .5634, .6541), ("Gini-Median", .5597, .6644)]}


def least_error(difference, items, step):
    """1.96 standard errors of a paired difference if every item whose score changed had changed by `step` in the same direction: the least there can be."""
    return 1.96 * math.sqrt(max(abs(difference) * step - difference * difference, 0) / items)


def of_items():
    lines = ["| models | benchmark | difference | bound, answers unrelated | least bound, answers paired | exceeds |", "|---|---|---|---|---|---|"]
    exceeds, bounds = {"both": 0, "the least alone": 0, "neither": 0}, {name: [] for name in BENCHMARKS}
    for family, entries in PAPER.items():
        (base, *old), *others = entries
        for name, *new in others:
            for (benchmark, (n, step)), a, b in zip(BENCHMARKS.items(), new, old):
                d, apart = a - b, 1.96 * math.sqrt((a * (1 - a) + b * (1 - b)) / n)
                least = least_error(d, n, step)
                word = "both" if abs(d) > apart else "the least alone" if abs(d) > least else "neither"
                exceeds[word] += 1
                lines.append(f"| {family}: {name} - {base} | {benchmark} | {100 * d:+.2f} points | {100 * apart:.2f} | {100 * least:.2f} | {word} |")
                bounds[benchmark].append((f"{family.split(',')[0]}: {name} - {base}", 100 * d, 100 * apart, 100 * least))
    lines += ["", "A benchmark is a sample of items (AlpacaEval 805, IFEval 541). The bounds are 1.96 standard errors of a difference: the first, the most, if two models' answers to an item were unrelated and "
              "right or wrong; the second, the least there can be, if every item whose score changed had changed by its smallest step in the same direction. AlpacaEval's step is half an item (win, tie, loss), "
              "IFEval's .16 (one of 834 instructions, in one of four accuracies). The models answer the same items, so the truth lies between; it needs the items' scores, which the paper does not give. "
              "Seeds of training come on top. FACTS-grounding is left out: the paper does not say how many items it has."]
    total = sum(exceeds.values())
    yield Claim("Sampling error of the paper", "Are the paper's differences larger than the sampling error of its items?", "Its tables compare single runs, without intervals. Bars: most and least error that these items allow; seeds come on top.",
                [Part(None, "cannot be told without the items' scores", f"{exceeds['neither']} of {total} differences cannot exceed the sampling error of their items, {exceeds['the least alone']} may, {exceeds['both']} do in any case", "docs/lab/findings.py show 'Sampling error of the paper' .", lines)], bounds, True)


def all_claims():
    for of in (of_results, of_weights, of_rates, of_votes, of_curves, of_levels, of_judge, of_noise, of_future, of_random, of_items):
        yield from of()


# --- pages

INTRODUCTION = """# What do the simulations say about the paper's claims?

<!-- `docs/lab/findings.py` writes this page from result files. -->

The paper, [ODRPO](https://arxiv.org/abs/2605.12667), splits a score of 1 to 10 into levels, computes an advantage for each level with the norm of GRPO or of MaxRL, and adds them with weights: uniform, Gini or Gini-Median.
`odrpo-gini(maxrl)` has Gini weights and the norm of MaxRL; its baseline is `maxrl`. The paper trains each model once. Here each estimator trains on many seeds where the truth is known, in two worlds:

* **Bandit**: a linear policy chooses among 32 responses of known quality. Policies `small` and `large` see 50 and 80 % of what makes the quality. The gain is the share of the possible improvement in true quality.
* **[Toy LM](toy-lm.md)** of [difficulty `paper`](toy-lm.md#difficulty-paper): a small transformer writes words. Grounding, win rate and instructions stand for the paper's three benchmarks; win rates are against the best of 16
  responses of the policy before training, in the paper against one.

Judges are simulated and have the paper's median Kendall W: `mixed` errs smoothly and gives rare lowest and highest scores; under `veto` 8 % of the responses get a 1 from some calls. Batch, KL, schedule and the single epoch are the
paper's in results, votes and tuning; the learning rate, the sizes and the supervised steps are not, and the head of each [suite](../suites/paper) says what differs.

A difference is significant if p < .05 after Holm's correction over all differences of one value in the command shown. Intervals are 95 %, paired by seed; where each estimator has its own best learning rate they are as wide as that
correction asks. *yes*: significant in every cell; *reversed*: in the other direction; *open*: in none, neither shown nor excluded; *partly*: in some. Cells of a suite share their seeds and worlds, so several that agree are not as
many confirmations, and several rows use the same runs. Filled marks in figures are significant among the figure's own rows. All rows:
[findings-tables.md](lab/findings-tables.md).
"""


def link(heading):
    return "#" + "".join(x for x in heading.lower().replace(" ", "-") if x.isalnum() or x in "-_")


def file_name(heading):
    return link(heading)[1:].replace("'", "")


def draw_bounds(bounds, path):
    """The paper's differences in points, a panel a benchmark; the bounds of their errors: the most thin, the least thick."""
    left, top, widest = .31, 26, max(abs(d) + apart for rows in bounds.values() for _, d, apart, _ in rows)
    count = max(map(len, bounds.values()))
    height = 19 * count + 70
    script = [f'set terminal svg noenhanced size 700,{height} fixed font "sans-serif,11" linewidth 1.2 background rgb "white"', f'set output "{path}"', "set multiplot",
              "set border 1 lw 0.6", "set tics nomirror scale 0.4", "unset key", f"set xrange [{-widest}:{widest}]", f"set yrange [{count - .5}:-.5]", 'set xlabel "difference [points]" offset 0,0.5']
    for i, (name, rows) in enumerate(bounds.items()):
        script += [f"set lmargin at screen {left + i * (1 - left) / 2}", f"set rmargin at screen {left + (i + 1) * (1 - left) / 2 - .03}", f"set tmargin at screen {1 - top / height}", f"set bmargin at screen {44 / height}",
                   f'set title "{name}" offset 0,-0.6', "unset ytics" if i else "set ytics (" + ", ".join(f'"{label}" {y}' for y, (label, *_) in enumerate(rows)) + ")",
                   f"$rows{i} << END", *(f"{d} {y} {apart} {least}" for y, (_, d, apart, least) in enumerate(rows)), "END",
                   f'set arrow 1 from 0,-.5 to 0,{count - .5} nohead lw 0.6 dt 2 lc rgb "gray50"',
                   f'plot $rows{i} using 1:2:3 with xerrorbars pt 0 lw 0.8 lc rgb "#4477AA", $rows{i} using 1:2:4 with xerrorbars pt 0 lw 3 lc rgb "#4477AA", $rows{i} using 1:2 with points pt 7 ps 0.6 lc rgb "black"']
    subprocess.run(["gnuplot"], input="\n".join(script), text=True, check=True)


def draw(figure, path):
    if isinstance(figure, dict):
        draw_bounds(figure, path)
    elif isinstance(figure, tuple):  # a command whose last word is the figure's place
        call(*figure[:-1], figure[-1] + path)
    else:
        kind, suite, *flags = figure
        call("plot", kind, path_of(suite), *flags, "-o", path)


def figure_command(figure, path):
    if isinstance(figure, dict):
        return "docs/lab/findings.py write ."
    if isinstance(figure, tuple):
        return shell(*(os.path.relpath(w, ROOT) if os.path.isabs(w) else w for w in figure[:-1]), figure[-1] + path)
    kind, suite, *flags = figure
    return shell("plot", kind, f"{suite}.h5", *flags, "-o", path)


def write(root):
    claims = list(all_claims())
    figures = os.path.join(root, "docs/figures/findings")
    os.makedirs(figures, exist_ok=True)
    for old in os.listdir(figures):  # a figure of a claim that is no more
        os.remove(os.path.join(figures, old))
    page, tables = [INTRODUCTION], ["# Which numbers stand behind the findings?\n\n<!-- `docs/lab/findings.py` writes this page from result files. -->\n\nThe rows of [findings.md](../findings.md), claim by claim: differences with the half-width of "
                                    "their 95 % interval, paired by seed; the median over seeds, which a single odd seed does not move; p after Holm's correction. Each table names its command. [What the rules of verdicts changed](findings-changes.md).\n"]
    for ours, title in ((False, "claim of the paper"), (True, "question that the paper does not ask")):
        page.append(f"|{title}|" + "".join(f"{w.name}|" for w in worlds) + "\n|---|" + "---|" * len(worlds))
        for c in claims:
            if c.ours == ours:
                words = {p.world: p.word for p in c.parts}
                page.append(f"|[{c.heading}]({link(c.heading)})|" + "".join(f"{words.get(w) or words.get(None, '')}|" for w in worlds))
        page.append("")
    for c in claims:
        page.append(f"## {c.heading}\n\n{c.claim}{'' if c.claim.endswith('?') else '.'}{' ' + c.note if c.note else ''}\n")
        tables.append(f"## {c.heading}\n\n{'We ask' if c.ours else 'The paper'}: {c.claim}{'' if c.claim.endswith('?') else '.'}\n")
        for p in c.parts:
            shown = f"docs/lab/findings.py show {shlex.quote(c.heading)} ."  # which prints the commands too
            command = p.command if len(p.command.split()) < 12 else shown
            page.append(f"* {p.world.name[0].upper() + p.world.name[1:] + ': ' if p.world else ''}**{p.text}.** {p.seeds + ', ' if p.seeds and len(c.parts) == 1 else p.seeds}" + (f"`{command}`" if len(c.parts) == 1 else ""))
            tables.append(f"{'**' + p.world.name[0].upper() + p.world.name[1:] + '.** ' if p.world else ''}{p.text[0].upper() + p.text[1:]}.\n\n`{p.command}`\n")
            tables.append("\n".join(p.lines) + "\n")
        if len(c.parts) > 1:
            page.append(f"\n`{shown}`")
        if c.figure:
            path = f"docs/figures/findings/{file_name(c.heading)}.svg"
            draw(c.figure, os.path.join(root, path))
            page.append(f"\n![{file_name(c.heading)}, {'paper' if isinstance(c.figure, dict) else 'toy-lm' if 'results-toy-lm' in c.figure else 'bandit'}](figures/findings/{file_name(c.heading)}.svg)")
            tables.append(f"The figure: `{figure_command(c.figure, path)}`\n")
        page.append("")
    page.append("## Commands\n\n```sh\ndocs/lab/findings.py run .      # all suites, 35 minutes on two cores; again until all is done\ndocs/lab/findings.py write .\n```\n")
    for name, text in (("docs/findings.md", page), ("docs/lab/findings-tables.md", tables)):
        os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
        with open(os.path.join(root, name), "w") as file:
            file.write("\n".join(text).rstrip("\n") + "\n")


def run(world, minutes):
    """Runs what is missing; stops the program after so many minutes, as Ctrl-C would, so that the next call goes on where this one ended."""
    end = time.monotonic() + 60 * minutes
    for suite in [s for w, suites in SUITES.items() if world in (None, w) for s in suites]:
        words = [PROGRAM, "run", os.path.join(ROOT, "suites", suite + ".toml"), "-o", path_of(os.path.basename(suite)), *(["--jobs", "1"] if "step-time" in suite else [])]
        if os.path.exists(path_of(os.path.basename(suite))):
            continue
        started = time.monotonic()
        process = subprocess.Popen([*words, "-q"], stdout=subprocess.DEVNULL)
        try:
            code = process.wait(max(0.05, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            process.wait()
            return print(f"findings: stopped within {suite}; the same command goes on")
        if code != 0:
            sys.exit(f"findings: {suite} ended with exit {code}")
        print(f"findings: {suite}: {(time.monotonic() - started) / 60:.1f} min", flush=True)
    print("findings: all is done")


def main():
    global folder
    parser = argparse.ArgumentParser(description="Runs the suites of docs/findings.md, writes the page, or shows one claim.")
    commands = parser.add_subparsers(dest="command", required=True)
    runs, writes, shows = commands.add_parser("run"), commands.add_parser("write"), commands.add_parser("show")
    shows.add_argument("heading")
    for p in (runs, writes, shows):
        p.add_argument("folder")
    runs.add_argument("--world", choices=list(SUITES))
    runs.add_argument("--minutes", type=float, default=90)
    writes.add_argument("--root", default=ROOT)
    o = parser.parse_args()
    folder = o.folder
    if o.command == "run":
        return run(o.world, o.minutes)
    if not TOY.has("results"):
        worlds.remove(TOY)
    if o.command == "write":
        return write(o.root)
    names = []
    for c in all_claims():
        names.append(c.heading)
        if c.heading.lower() == o.heading.lower():
            print(f"{c.claim}\n")
            for p in c.parts:
                print("\n".join([f"{p.world.name + ': ' if p.world else ''}{p.text}", "", p.command, "", *p.lines, ""]))
            return
    sys.exit(f"findings: no claim is called '{o.heading}'; there are {', '.join(names)}")


if __name__ == "__main__":
    main()
