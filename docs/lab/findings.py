#!/usr/bin/env python3
# What the paper claims, and what the simulations say about it: runs the suites, writes docs/findings.md with its figures and docs/lab/findings-tables.md.
#   docs/lab/findings.py run FOLDER [--world bandit|toy-lm] [--minutes 90]   result files into FOLDER; a call stops after so many minutes, and the next one goes on
#   docs/lab/findings.py write FOLDER [--root ROOT]                          the pages and figures, below ROOT (default: this repository)
#   docs/lab/findings.py show HEADING FOLDER                                 one claim: verdicts and their rows
# FOLDER holds the result files, each named after its suite; without results-toy-lm.h5 the pages are of the bandit alone. ODRPO_BENCH is the program (default
# build/release/odrpo-bench). Every number comes from the program's own tables, curves and statistics.
import argparse, collections, csv, io, json, math, os, signal, statistics, subprocess, sys, tempfile, time

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

    def source(self):
        n = sorted({c["n"] for c in self.cells if c["n"]})
        tested = sum(bool(c.get("percent") or c.get("difference")) for c in self.cells)
        return f"`{self.command}`: digest {self.digest}, {n[0] if n else 'no'}{f' to {n[-1]}' if len(n) > 1 else ''} seeds" + (f"; Holm over the differences of each value, {tested} in all" if tested else "")


def curves(suite, *names):
    """{(estimator, rater, seed): {curve: {step: value}}} of a file's recorded curves."""
    words = [w for name in names for w in ("--curve", name)]
    out = collections.defaultdict(lambda: collections.defaultdict(dict))
    for row in csv.DictReader(io.StringIO(call("export", path_of(suite), "--what", "curves", *words))):
        for name in names:
            if row.get(name):
                out[row["estimator"], row["rater"] if row["policy"] == "linear" else row["policy"], int(row["seed"])][name][int(row["step"])] = float(row[name])
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
        word, text = "open", f"open (0 of {n} cells significant)"
    if claimed and up:
        below, above = sum(r.mean < claimed[0] for r in rows), sum(r.mean > claimed[1] for r in rows)
        surely, beyond = sum(r.hi < claimed[0] for r in rows), sum(r.lo > claimed[1] for r in rows)
        sized = ", ".join([f"{below} of {n} estimates are smaller than claimed ({surely} significantly)"] * bool(below) + [f"{above} of {n} larger ({beyond} significantly)"] * bool(above))
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

Part = collections.namedtuple("Part", "world word text command lines")  # world None: of neither; lines: the tables' page
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
    return Part(world, v.word, v.text + (f"; {text}" if text else ""), table.command, [*listing(rows, unit, digits), "", table.source(), *extra])


def where(*estimators):
    return [w for e in estimators for w in ("--where", f"estimator={e}")]


def family_of(name):
    return where(name, f"odrpo-gini({name})", f"odrpo-gini-median({name})")


FAMILIES = (("maxrl", "MaxRL", (2.38, 3.31)), ("grpo", "GRPO", (1.24, 2.47)))


def results_table(world, *flags):
    return Table("results" + world.suffix, "--compare", "percent", *flags)


def place(cell, world):  # "veto, small"
    return ", ".join(filter(None, (cell["in"].get("rater") if world is BANDIT else None, cell["in"].get(world.sizes))))


def of_results():
    tables = {w: results_table(w) for w in worlds}
    for family, name, claimed in FAMILIES:
        parts = []
        of = lambda value: lambda c: c["row"] in (f"odrpo-gini({family})", f"odrpo-gini-median({family})") and c["value"] == value
        for w, t in tables.items():
            label = lambda c: f"{c['row']}, {place(c, w)}"
            rows = t.rows(label, of(w.value))
            text, extra = f"{w.what} {span(rows)}", []
            if w is BANDIT:
                early = t.rows(label, of("auc"))
                text += f". Mean over training: {verdict(early, claimed).text}, {span(early)}"
                extra = ["", "The same of `auc`, the gain's mean over training:", "", *listing(early)]
            parts.append(part(w, t, rows, claimed=claimed, text=text, extra=extra))
        yield Claim(f"ODRPO against {name}", f"Gini and Gini-Median improve {name}, by {claimed[0]:.1f} to {claimed[1]:.1f} % of the mean score",
                    "The bandit has converged long before its last step, so early differences are the larger ones; the figure has the paired difference in true quality." if family == "maxrl" else "",
                    parts, ["curves", "results", "--curve", "quality", "--baseline", family, *family_of(family), "--where", "env=small"], False)
    parts = []
    for w, t in tables.items():
        if not w.sizes:
            continue
        words, lines = [], []
        for family, name, claimed in FAMILIES:
            for size in ("small", "large"):
                rows = t.rows(lambda c: f"{c['row']}, {place(c, w)}", lambda c: c["row"].endswith(f"({family})") and "gini" in c["row"] and c["value"] == w.value and c["in"][w.sizes] == size)
                words.append((f"{name} {size}", verdict(rows).word))
                lines += listing(rows)[0 if not lines else 2:]
        same = all(a[1] == b[1] for a, b in zip(words[::2], words[1::2]))
        word = "yes" if all(v.startswith("yes") for _, v in words) else "; ".join(f"{f[1]}: {words[2 * i][1]}" for i, f in enumerate(FAMILIES)) if same else "partly"
        parts.append(Part(w, word, "alike for both sizes" if same else ", ".join(f"{n}: {v}" for n, v in words), t.command, [*lines, "", t.source()]))
    yield Claim("Small and large policies", "The gains hold for both sizes of model", "", parts,
                ["forest", "results", "--compare", "percent", "--value", "gain", "--columns", "rater", *where("maxrl", "odrpo-gini(maxrl)", "odrpo-gini-median(maxrl)")], False)
    if TOY in worlds:
        t = tables[TOY]
        lines, texts, told = [], [], []
        for value in ("grounding", "win-rate", "instructions"):
            rows = t.rows(lambda c: f"{value}, {c['row']}, {place(c, TOY)}", lambda c: "gini" in c["row"] and c["value"] == value)
            ups, downs = (sum(significant(r.p) and s * r.mean > 0 for r in rows) for s in (1, -1))
            texts.append(f"{value} {span(rows)} ({ups} of {len(rows)} significantly up, {downs} down)")
            lines += listing(rows)[0 if not lines else 2:]
            told += [ups > 0, downs > 0]
        yield Claim("Gains of each benchmark", "Up to 14.8 % on FACTS-grounding and 7.5 % on AlpacaEval; IFEval between -2.6 and +3.3 %",
                    "As in the paper, the estimators do not move all three benchmarks alike.", [Part(TOY, "partly" if any(told) else "open", "; ".join(texts), t.command, [*lines, "", t.source(), "", *ranges()])],
                    ["bars", "results-toy-lm", "--columns", "value", "--value", "grounding,win-rate,instructions"], False)
        t = Table("results-toy-lm", "--value", "quality", "--columns", "rater", "--compare", "difference")
        rows = t.rows(lambda c: c["row"], lambda c: "gini" in c["row"])
        yield Claim("True quality", "Do Gini and Gini-Median improve the true quality, which no benchmark sees?", "", [part(TOY, t, rows, "levels", text=f"{span(rows, 'levels')}")],
                    ["forest", "results-toy-lm", "--value", "quality", "--columns", "rater", "--compare", "difference"], True)
        t = Table("results-toy-lm", "--value", "win-rate-over-grpo", "--columns", "rater", "--baseline", "grpo", "--compare", "difference")
        rows = t.rows(lambda c: c["row"], lambda c: "gini" in c["row"])
        yield Claim("Win rate over GRPO", "Do judges of pairs prefer what ODRPO's policies write to what GRPO's writes?", "", [part(TOY, t, rows, "points", 1, text=f"{span(rows, 'points')} beyond 50 %")],
                    ["forest", "results-toy-lm", "--value", "win-rate-over-grpo", "--columns", "rater", "--baseline", "grpo", "--compare", "difference"], True)


def ranges():
    """Start, end, ceiling and spread of the toy language model's evaluations, and how often each instruction is followed."""
    runs = list(csv.DictReader(io.StringIO(call("export", path_of("results-toy-lm")))))
    values = lambda rows, name: [100 * float(r[name]) for r in rows if r.get(name)]
    shown = lambda v: f"{statistics.mean(v):.1f}, sd {statistics.stdev(v):.1f}" if len(v) > 1 else "n/a"
    lines = ["Range of each evaluation, in percent (mean and sd over seeds):", "", "| evaluation | before training | grpo | maxrl | odrpo-gini-median(maxrl) | ceiling |", "|---|---|---|---|---|---|"]
    first = [r for r in runs if r["estimator"] == "grpo"]
    for name, start, column, ceiling in (("grounding", "start_grounding", "grounding", "90"), ("win rate over the best of 16", None, "win_rate_length_controlled", "100"), ("instructions", "start_instructions", "instructions", "100")):
        lines.append(f"| {name} | {shown(values(first, start)) if start else ''} | " + " | ".join(shown(values([r for r in runs if r["estimator"] == e], column)) for e in ("grpo", "maxrl", "odrpo-gini-median(maxrl)")) + f" | {ceiling} |")
    lines += ["", "How often an instruction is followed, in percent of the held-out responses that were asked for it (mean over seeds):", "", "| instruction | before training | grpo | odrpo-gini-median(maxrl) |", "|---|---|---|---|"]
    for column in sorted(k for k in runs[0] if k.startswith("instruction_")):
        means = [values(first, "start_" + column), *(values([r for r in runs if r["estimator"] == e], column) for e in ("grpo", "odrpo-gini-median(maxrl)"))]
        lines.append(f"| {column[12:].replace('_', '-')} | " + " | ".join(f"{statistics.mean(v):.0f}" if v else "n/a" for v in means) + " |")
    return lines


def of_weights():
    three = where("odrpo(grpo)", "odrpo-gini(grpo)", "odrpo-gini-median(grpo)")
    parts, ends, early = [], [], []
    for w in worlds:
        t = Table("results" + w.suffix, *three, *where("grpo"), "--value", w.value, "--columns", "rater", "--compare", "difference", "--baseline", "odrpo-gini-median(grpo)")
        label = lambda c: f"against {c['row']}, " + ", ".join(filter(None, (c["column"], c["in"].get(w.sizes))))
        parts.append(part(w, t, t.rows(label, lambda c: c["row"] != "grpo", -1), "points", text="Gini-Median minus each weight"))
        ends.append(part(w, t, t.rows(label, lambda c: c["row"] == "grpo", -1), "points"))
        t = Table("results" + w.suffix, *three, "--value", "auc", "--columns", "rater", "--compare", "difference", "--baseline", "odrpo(grpo)")
        rows = t.rows(lambda c: f"{c['row']}, " + ", ".join(filter(None, (c["column"], c["in"].get(w.sizes)))))
        early.append(part(w, t, rows, "points", text=f"mean over training {span(rows, 'points')} from uniform weights"))
    figure = ["curves", "results", "--curve", "quality", "--baseline", "odrpo(grpo)", *three, *where("grpo"), "--where", "env=small"]
    yield Claim("Which weight is best", "On GRPO, Gini-Median is the best of uniform, Gini and Gini-Median weights", "", parts, ["forest", "results", *three, "--value", "gain", "--columns", "rater", "--compare", "difference", "--baseline", "odrpo-gini-median(grpo)"], False)
    yield Claim("The best weight against no decomposition", "Gini-Median is above GRPO (its table of results; its ablation leaves GRPO out)", "", ends,
                ["forest", "results", *where("grpo", "odrpo-gini-median(grpo)"), "--value", "gain", "--columns", "rater", "--compare", "difference", "--baseline", "grpo"], False)
    yield Claim("Convergence with weights", "Variance-aware weights accelerate convergence", "The figure has the true quality minus that of uniform weights.", early, figure, False)


def of_rates():
    t = Table("tuning")
    rows = t.rows(lambda c: f"{c['row']}, {c['column']}, {c['in']['env']}", lambda c: "gini" in c["row"])
    maxrl, grpo = ([r for r in rows if r.label.split(",")[0].endswith(f"({f})")] for f in ("maxrl", "grpo"))
    yield Claim("Each at its own learning rate", "One learning rate for all estimators", "The other rows of this page use lr = 1 for all, which has the best mean over all estimators. Here each estimator has its best of four rates.",
                [Part(BANDIT, f"MaxRL: {verdict(maxrl).word}; GRPO: {verdict(grpo).word}", f"over MaxRL: {verdict(maxrl).text}, {span(maxrl)}; over GRPO: {verdict(grpo).text}, {span(grpo)}", t.command, [*listing(rows), "", t.source()])],
                ["forest", "tuning", *where("maxrl", "odrpo-gini(maxrl)", "odrpo-gini-median(maxrl)", "grpo", "odrpo-gini(grpo)", "odrpo-gini-median(grpo)")], False)
    t = Table("repeated-prompts", "--compare", "difference")
    rows = t.rows(lambda c: f"{c['row']}, {c['column']}", lambda c: c["row"].endswith("(maxrl)"))
    yield Claim("When prompts repeat", "One epoch: each prompt is trained on once", "256 prompts that come 75 times each, every estimator at its best of four rates, against MaxRL.",
                [part(BANDIT, t, rows, "points", text=f"larger than with new prompts: {span(rows, 'points')}" if min(r.mean for r in rows) > 1 else span(rows, "points"))], ["forest", "repeated-prompts", "--compare", "difference"], False)


def of_votes():
    one, peak, median, seen = [], [], [], []
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
        rows = holm(rows)
        alone = [r for r in rows if not r.told]
        v = verdict(rows)
        text = v.text if any(r.told for r in rows) else "not asked: MaxRL is best with one vote itself"
        if alone and len(alone) < len(rows):
            text += f"; not asked in {len(alone)} cells, where MaxRL is best with one vote itself"
        show = "docs/lab/findings.py show 'One vote against the best N' ."
        one.append(Part(w, v.word, text, show, [*listing(rows, "points"), "", halves]))
        dips = holm([paired(f"32 votes - {most} votes, {rater}", held(rater, "maxrl", "32"), held(rater, "maxrl", most)) for rater in raters for most in [chosen(rater, "maxrl", ["8", "16"])]])
        t = Table("votes" + w.suffix, "--rows", "votes", "--columns", "estimator", "--baseline", "1")
        more = t.rows(lambda c: f"{c['row']} votes - 1 vote, {c['in']['rater']}", lambda c: c["column"] == "maxrl")
        falls = sum(significant(r.p) and r.mean < 0 for r in dips)
        told = [(r, verdict([m for m in more if m.label.endswith(r)]), [m for m in more if m.label.endswith(r)]) for r in raters]
        word = "yes" if falls == len(raters) and all(v.word == "yes" for _, v, _ in told) else "partly" if falls or any(v.word in ("yes", "partly") for _, v, _ in told) else verdict(more).word
        peak.append(Part(w, word, "; ".join(f"{r}: {v.text} ({span(m, 'points', 2)})" for r, v, m in told) + f"; a dip at 32 after the peak under {falls} of {len(raters)} judges",
                         t.command, [*listing(more, "points"), "", t.source(), "", "After the peak, 8 or 16. " + halves, "", *listing(dips, "points")]))
        rows = t.rows(lambda c: f"{c['row']} votes, {c['in']['rater']}", lambda c: c["column"] == "odrpo-gini-median(maxrl)")
        median.append(part(w, t, rows, "points", text=f"{span(rows, 'points', 2)} from one vote"))
        t = Table("votes" + w.suffix, "--value", "reward", "--compare", "percent")
        rows = t.rows(lambda c: f"{c['row']}, {c['column']} votes, {c['in']['rater']}")
        seen.append(part(w, t, rows, claimed=(2.3, 8.5), text=span(rows)))
    votes = ["votes", "votes", "--rows", "estimator", "--columns", "votes", "--where", "rater=mixed-judge"]
    if not one:
        return
    yield Claim("One vote against the best N", "With one score per response, ODRPO beats MaxRL with the best of 1, 8, 16 and 32", "Where one vote is MaxRL's own best, nothing is asked.", one, [*votes, "--value", "gain"], False)
    yield Claim("More votes for MaxRL", "MaxRL improves with N, peaks at 8 or 16, and dips at 32", "", peak, ["votes", "votes", *where("maxrl"), "--value", "gain"], False)
    yield Claim("More votes for Gini-Median", "Gini-Median on MaxRL goes on improving up to N = 32", "Training takes the mode of the votes, which saturates.", median, ["votes", "votes", *where("odrpo-gini-median(maxrl)"), "--value", "gain"], False)
    yield Claim("Seen reward over votes", "ODRPO's final training reward is 2.3 to 8.5 % above MaxRL's for every N", "The seen reward is what the judge says, not true quality.", seen, [*votes, "--value", "reward", "--baseline", "maxrl"], False)


def of_curves():
    for family, name, _ in FAMILIES:
        parts = []
        for w in worlds:
            t = Table("results" + w.suffix, "--value", "reward", "--columns", "rater", "--compare", "percent")
            rows = t.rows(lambda c: f"{c['row']}, " + ", ".join(filter(None, (c["column"], c["in"].get(w.sizes)))), lambda c: c["row"].endswith(f"({family})") and "gini" in c["row"])
            parts.append(part(w, t, rows, text=span(rows)))
        figure = ["curves", "results" if TOY not in worlds else "results-toy-lm", "--curve", "reward", *family_of(family), *([] if TOY in worlds else ["--where", "env=small"])]
        yield Claim(f"Training reward against {name}", f"ODRPO variants reach a higher training reward than {name}", "", parts, figure, False)
    parts = []
    for w in worlds:
        t = Table("results" + w.suffix, "--value", "collapsed", "--columns", "rater", "--baseline", "none")
        told = [c for c in t.cells if c["n"]]
        fallen = [c for c in told if c["mean"] > 0]
        ours, theirs = [c for c in fallen if "odrpo" in c["row"]], [c for c in fallen if c["row"] == "grpo"]
        word = "open" if not ours and not theirs else "yes" if not ours else "reversed" if not theirs else "partly"
        text = ("nothing crashes" if told else "too few steps to say") if not fallen else "share of runs that crash: " + ", ".join(f"{c['row']} {c['mean']:.0f} %" for c in fallen)
        parts.append(Part(w, word, ("open: " if not fallen else "") + text, t.command, [text + ".", "", t.source()]))
    yield Claim("The crash of GRPO", "GRPO's reward crashes near 0.6 of the epoch; ODRPO's does not", "What makes runs of the toy language model crash is [measured by hand](lab/measured-by-hand.md#does-training-crash-in-the-middle-of-its-epoch).", parts,
                ["curves", "results", "--curve", "reward", *where("grpo", "odrpo-gini(grpo)", "odrpo-gini-median(grpo)"), "--where", "env=small"], False)
    parts = []
    for w in [w for w in worlds if w.has("step-time")]:
        flags = ["--columns", "votes", "--compare", "difference" if w is BANDIT else "percent"]
        t = Table("step-time" + w.suffix, "--value", "seconds", *flags)
        rows = t.rows(lambda c: ", ".join(filter(None, (c["row"], c["in"].get("policy")))))
        unit = "us" if w is BANDIT else "%"
        stars = sum(significant(r.p) for r in rows)
        small = w is BANDIT or not stars
        parts.append(Part(w, "yes" if small else "no", f"{span(rows, unit)} a step, {stars} of {len(rows)} significant" + ("; the paper's steps take 30 s" if w is BANDIT else ""), t.command, [*listing(rows, unit), "", t.source()]))
    if parts:
        yield Claim("Step time", "ODRPO adds no step time", "", parts, ["forest", "step-time", "--value", "seconds", "--columns", "votes", "--compare", "difference"], False)


def of_levels():
    """The level from which advantages come, and which levels are lost again: from the curves of levels."""
    parts = ([], [])
    for w in worlds:
        suite = "training-curves" if w is BANDIT else "results-toy-lm"
        levels = range(2, 11)
        data = curves(suite, *(f"{kind}_{k}" for kind in ("advantage_share", "quality_at_least") for k in levels))
        middle, lost = collections.defaultdict(dict), collections.defaultdict(dict)
        for (estimator, column, seed), of in data.items():
            share = of["advantage_share_2"]
            if share:
                at = sorted(share)
                centre = lambda step: sum(k * of[f"advantage_share_{k}"][step] for k in levels)
                early, late = at[:max(1, len(at) // 10)], at[-max(1, len(at) // 10):]
                middle[estimator, column][seed] = statistics.mean(map(centre, late)) - statistics.mean(map(centre, early))
            worst = 0
            for k in levels:
                top = 0
                for step in sorted(of[f"quality_at_least_{k}"]):
                    top = max(top, of[f"quality_at_least_{k}"][step])
                worst = max(worst, top - of[f"quality_at_least_{k}"][step])
            lost[estimator, column][seed] = 100 * worst
        command = lambda name: f"docs/lab/findings.py show '{name}' ."
        for out, values, unit, sign, name in ((parts[0], middle, "levels", 1, "Implicit curriculum"), (parts[1], lost, "points", -1, "No forgetting")):
            rows = []
            for estimator, column in sorted(values):
                base = estimator[estimator.index("(") + 1:-1] if "gini" in estimator else None
                if base and (base, column) in values:
                    left, right = values[estimator, column], values[base, column]
                    rows.append(paired(f"{estimator}, {column}", *((left, right) if sign > 0 else (right, left))))
            rows = holm(rows)
            mean = lambda keep: statistics.mean(v for (e, _), seeds in values.items() if keep(e) for v in seeds.values())
            v = verdict(rows)
            if sign > 0:
                text = f"the mean level that advantages come from rises by {mean(lambda e: 'odrpo' in e):.1f} levels under ODRPO and by {mean(lambda e: 'odrpo' not in e):.1f} under GRPO and MaxRL; ODRPO more: {v.text}"
            else:
                text = f"the level that is lost most ends {mean(lambda e: 'odrpo' in e):.2f} points below its peak under ODRPO, {mean(lambda e: 'odrpo' not in e):.2f} under GRPO and MaxRL; ODRPO less: {v.text}"
            out.append(Part(w, v.word, text, command(name), [*listing(rows, unit), ""]))
    yield Claim("Implicit curriculum", "Levels are learned from the low ones to the high ones", "Rows are against the family's baseline, which has a curriculum too if its advantages move up: any policy that improves leaves low levels behind.", parts[0],
                ["levels", "training-curves", "--where", "rater=mixed", *where("maxrl", "odrpo-gini-median(maxrl)")], False)
    yield Claim("No forgetting", "Weights prevent forgetting of low levels", "The share of responses that reach each level, at its peak and at the end.", parts[1],
                ["curves", "training-curves", "--curve", "quality_at_least_5", "--where", "rater=veto"], False)


def of_judge():
    suite = os.path.join(ROOT, "suites/paper/kendall.toml")
    w = {c["name"]: c["kendall_w_median"] for c in json.loads(call("judge", "analyze", suite, "--json"))["compared"]}
    lines = ["| judge | median W |", "|---|---|"] + [f"| {name} | {value:.3f} |" for name, value in w.items()]
    simulated = [w[n] for n in ("mixed", "veto", "wide", "gauss") if n in w]
    yield Claim("The judge's stochasticity", "16 calls of the judge agree little: a median Kendall W of .61 with a heavy left tail", "W does not say which noise: our simulated judges are made to have it, with deviations from smooth to vetoes.",
                [Part(None, "yes", f"{len(simulated)} simulated judges have {min(simulated):.2f} to {max(simulated):.2f}; two panels of real judges {w.get('panel-essays', 0):.2f} and {w.get('panel-dialogue', 0):.2f}", "odrpo-bench judge analyze suites/paper/kendall.toml", lines)],
                ("judge", "analyze", suite, "--figure", "kendall="), False)
    suite = os.path.join(ROOT, "suites/paper/w-conjecture.toml")
    w = {c["name"]: c["kendall_w_median"] for c in json.loads(call("judge", "analyze", suite, "--samples", "16", "--json"))["compared"]}
    t = Table("w-conjecture")
    rows = t.rows(lambda c: f"{c['row']} (W {w[c['row']]:.2f}), {c['column']}")
    even = [r for r in rows if r.label.startswith("even") and w[r.label.split()[0]] > 0.6]
    rough = [r for r in rows if r.label.startswith("outliers") and r.label.endswith(", maxrl")]
    losses = sum(significant(r.p) and r.mean < 0 for r in even)
    yield Claim("W of .9 or more", "A judge with W >= .9 is consistent enough for stable training", "One world, judges whose calls err by more or less, without and with rare lowest scores, against W = .96 without.",
                [Part(BANDIT, "no" if max(abs(r.mean) for r in even) < 0.5 else "partly", f"W hardly matters: between .96 and .60 it costs at most {max(-r.mean for r in even):.1f} points of the gain ({losses} of {len(even)} cells lose significantly); rare lowest scores cost MaxRL {min(-r.mean for r in rough):.1f} to {max(-r.mean for r in rough):.1f}, at any W",
                      t.command, [*listing(rows, "points"), "", t.source()])], ["forest", "w-conjecture", *where("grpo", "maxrl")], False)


def of_noise():
    t = Table("stress")
    rows = t.rows(lambda c: c["column"], lambda c: c["row"] == "odrpo-gini-median(maxrl)")
    names = lambda sign: ", ".join(r.label for r in rows if significant(r.p) and sign * r.mean > 0) or "none"
    v = verdict(rows)
    yield Claim("Under which noise", "Gini-Median resists the judge's noise better than MaxRL", "Eleven kinds of noise, each estimator at its best of four rates.",
                [Part(BANDIT, v.word, f"gains under {names(1)}; loses under {names(-1)}; no difference under the others", t.command, [*listing(rows, "points"), "", t.source()])], ["forest", "stress", *where("maxrl", "odrpo-gini-median(maxrl)")], False)
    rows = list(csv.DictReader(io.StringIO(call("theory", "leverage", "--rater", "mixed", "--format", "csv"))))
    share = {(r["estimator"], r["outlier"]): float(r["share"]) for r in rows}
    lines = ["| estimator | share of a score that becomes 1 | that becomes 10 |", "|---|---|---|"] + [f"| {e} | {share[e, '1']:.2f} | {share[e, '10']:.2f} |" for e in dict.fromkeys(k[0] for k in share)]
    yield Claim("Outliers", "Ordinal levels keep an outlier from corrupting the group's update", "The share of the sum of A^2 that one corrupted score of eight takes; [leverage](theory.md#leverage-of-one-score).",
                [Part(None, "partly", f"a 1 takes {share['grpo', '1']:.2f} under grpo, {share['odrpo(grpo)', '1']:.2f} under odrpo(grpo), {share['odrpo-gini-median(maxrl)', '1']:.2f} under odrpo-gini-median(maxrl); a 10 takes {share['grpo', '10']:.2f}, {share['odrpo(grpo)', '10']:.2f} and {share['odrpo-gini-median(maxrl)', '10']:.2f}: the weights hold low ones, not high ones",
                      "odrpo-bench theory leverage --rater mixed", lines)], ("theory", "leverage", "--rater", "mixed", "--figure", ""), False)
    rows = list(csv.DictReader(io.StringIO(call("theory", "curl", "--levels", "10", "--group-size", "8", "--format", "csv"))))
    curl = {r["estimator"]: float(r["mac_pairs"]) for r in rows}
    yield Claim("Curl and objective", "ODRPO has a scalar objective, GRPO and MaxRL have none, and this stabilises training", "Exact sums; [what holds of each statement](theory.md#what-the-paper-says-and-what-holds).",
                [Part(None, "partly", f"true of weights of the level and its share alone (mean absolute curl 0); false of Gini-Median ({curl['odrpo-gini-median(grpo)']:.3f}, more than grpo's {curl['grpo']:.3f}; maxrl's is {curl['maxrl']:.3f}), which its experiments prefer. Nothing crashes for want of an objective",
                      "odrpo-bench theory curl --levels 10 --group-size 8", ["| estimator | mean absolute curl over pairs |", "|---|---|"] + [f"| {e} | {c:.4f} |" for e, c in curl.items()])],
                ("theory", "curl", os.path.join(ROOT, "suites/paper/curl.toml"), "--figure", ""), False)


def of_future():
    t = Table("reasoning-judge")
    rows = t.rows(lambda c: f"{c['row']}, {c['column']}")
    careful = [r._replace(mean=-r.mean, lo=-r.hi, hi=-r.lo) for r in rows if r.label.startswith(("cheap-mode", "cheap-mean"))]
    steps = [r for r in rows if r.label.startswith("cheap,")]
    yield Claim("One reasoning judge or many cheap calls", "A careful, dear call could replace many cheap ones", "Future work of the paper. Equal price: one careful call (W .9), eight cheap ones (W .6), or one cheap call for eight times the steps.",
                [Part(BANDIT, verdict(careful).word, f"one careful call against eight cheap ones: {verdict(careful).text}, {span(careful, 'points')}; eight times the steps with one cheap call against the careful one: {verdict(steps).text}, {span(steps, 'points')}", t.command, [*listing(rows, "points"), "", t.source()])],
                ["forest", "reasoning-judge"], False)
    t = Table("gini-constants")
    rows = t.rows(lambda c: f"{c['row']}, {c['in']['rater']}, {c['value']}")
    gain = [r for r in rows if r.label.endswith("gain")]
    v, best = verdict(gain), max(gain, key=lambda r: r.mean)
    stars = lambda s: sum(significant(r.p) and s * r.mean > 0 for r in gain)
    yield Claim("The constants of the Gini weights", "Other numbers in the weights may be better (its future work)", "Floor, factor, decay and power of k, one at a time, against the paper's numbers, under both norms and judges.",
                [Part(BANDIT, "no" if not stars(1) else "partly", f"{stars(1)} of {len(gain)} other values are significantly better, {stars(-1)} worse; the best estimate is {best.label.split(',')[0]}, {best.mean:+.1f} points", t.command, [*listing(rows, "points"), "", t.source()])],
                ["forest", "gini-constants", "--value", "gain", "--columns", "rater", "--where", "rater=veto", *where("odrpo-gini-median(grpo)", *t.data["baselines"]["odrpo-gini-median(grpo)"])], False)


def of_random():
    t = Table("random-rewards")
    of = lambda value, **at: [c for c in t.cells if c["value"] == value and all(str(c["in"].get(k)) == v for k, v in at.items())]
    mean = lambda cells: " to ".join(f"{round(x, 1) + 0.0:+.1f}" for x in (min(c["mean"] for c in cells), max(c["mean"] for c in cells)))
    once, bare, clip = ({"epochs": e, "ratio_clip": c} for e, c in (("1", "0"), ("4", "0"), ("4", "0.2")))
    lines = ["| epochs, clip | estimator | logit shift, nats | spread, nats | entropy collapses, % |", "|---|---|---|---|---|"]
    for at in (once, bare, clip):
        for a, b, c in zip(of("logit-shift", **at), of("logit-spread", **at), of("entropy-collapse", **at)):
            lines.append(f"| {at['epochs']}, {at['ratio_clip']} | {a['row']} | {a['mean']:+.2f} ± {(a['hi'] - a['lo']) / 2:.2f} | {b['mean']:.2f} ± {(b['hi'] - b['lo']) / 2:.2f} | {c['mean']:.0f} |")
    spread = of("logit-spread", **once)
    yield Claim("Random rewards", "What does training do under a judge that knows nothing?", "Two responses a prompt; the start likes the better one. Shift and spread are of the logit of what the start likes best, over prompts.",
                [Part(BANDIT, "it drifts", f"one epoch of on-policy steps moves it by {mean(of('logit-shift', **once))} nats on average, yet spreads it by {min(c['mean'] for c in spread):.1f}; four epochs push it down ({mean(of('logit-shift', **bare))}), four with PPO's clip up again ({mean(of('logit-shift', **clip))})", t.command, [*lines, "", t.source()])],
                ["bars", "random-rewards", "--columns", "value", "--value", "logit-shift,logit-spread"], True)
    t = Table("youden")
    lines, sign = ["| judge | estimator | gain, % | seeds above 0, % |", "|---|---|---|---|"], collections.defaultdict(list)
    for c in t.cells:
        share = 100 * sum(v > 0 for v in c["values"]) / len(c["values"])
        lines.append(f"| {c['row']} | {c['column']} | {c['mean']:.1f} ± {(c['hi'] - c['lo']) / 2:.1f} | {share:.0f} |")
        sign[c["row"].split("-")[0]].append((c["mean"], share, c["lo"] <= 0 <= c["hi"]))
    ends = lambda name, i: " to ".join(dict.fromkeys(f"{of(x[i] for x in sign[name]):.0f}" for of in (min, max))) + " %"
    right = all(s == 100 for _, s, _ in sign["plus"]) and all(s == 0 for _, s, _ in sign["minus"])
    yield Claim("Youden's J", "A binary judge teaches if J is above 0, nothing at 0, the opposite below (arXiv 2601.04411)?", "Eight values of J, three false-positive rates each.",
                [Part(BANDIT, "yes" if right else "partly", f"gain {ends('plus', 0)} for J above 0 ({ends('plus', 1)} of seeds above 0), {ends('minus', 0)} below; at J = 0 the mean is 0 within its interval in {sum(x[2] for x in sign['zero'])} of {len(sign['zero'])} cells, while single seeds drift ({ends('zero', 1)} of them above 0). The false-positive rate hardly matters", t.command, [*lines, "", t.source()])],
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
    exceeds = {"both": 0, "the least alone": 0, "neither": 0}
    for family, entries in PAPER.items():
        (base, *old), *others = entries
        for name, *new in others:
            for (benchmark, (n, step)), a, b in zip(BENCHMARKS.items(), new, old):
                d, apart = a - b, 1.96 * math.sqrt((a * (1 - a) + b * (1 - b)) / n)
                least = least_error(d, n, step)
                word = "both" if abs(d) > apart else "the least alone" if abs(d) > least else "neither"
                exceeds[word] += 1
                lines.append(f"| {family}: {name} - {base} | {benchmark} | {100 * d:+.2f} points | {100 * apart:.2f} | {100 * least:.2f} | {word} |")
    lines += ["", "A benchmark is a sample of items (AlpacaEval 805, IFEval 541). The bounds are 1.96 standard errors of a difference: the first, the most, if two models' answers to an item were unrelated and "
              "right or wrong; the second, the least there can be, if every item whose score changed had changed by its smallest step in the same direction. AlpacaEval's step is half an item (win, tie, loss), "
              "IFEval's .16 (one of 834 instructions, in one of four accuracies). The models answer the same items, so the truth lies between; it needs the items' scores, which the paper does not give. "
              "Seeds of training come on top. FACTS-grounding is left out: the paper does not say how many items it has."]
    total = sum(exceeds.values())
    yield Claim("Sampling error of the paper", "Its tables compare single runs of each model, without intervals", "Seeds of training come on top of what items can say.",
                [Part(None, "too few items to tell", f"{exceeds['neither']} of {total} differences cannot exceed the sampling error of their items, {exceeds['the least alone']} may, {exceeds['both']} do in any case", "docs/lab/findings.py show 'Sampling error of the paper' .", lines)], None, False)


def all_claims():
    for of in (of_results, of_weights, of_rates, of_votes, of_curves, of_levels, of_judge, of_noise, of_future, of_random, of_items):
        yield from of()


# --- pages

INTRODUCTION = """# What do the simulations say about the paper's claims?

<!-- `docs/lab/findings.py` writes this page from result files. -->

The paper trains language models once each and compares single numbers. Here its estimators train on many seeds where the truth is known, at the paper's settings ([suites/paper](../suites/paper)) but for the learning
rate, the sizes of the policies and the supervised steps before training. In the **bandit** a policy chooses, for each prompt, among 32 responses of known quality. In the toy language model ([toy LM](toy-lm.md)) of
[difficulty `paper`](toy-lm.md#difficulty-paper) a small transformer writes its responses word by word; grounding, win rate and instructions stand for the paper's three benchmarks. The judges `mixed` and `veto` have the
paper's median Kendall W; they were not fitted to a real judge. The gain is the share of the possible improvement in true quality.

A difference counts where p < .05 after Holm's correction of its table. Intervals are 95 %, paired by seed. "Open" means neither shown nor excluded. Cells of one suite share their seeds and worlds, so several that agree
are not as many confirmations. Sizes compare roughly: the paper's percentages are of a mean of benchmark scores. All rows: [findings-tables.md](lab/findings-tables.md).
"""


def link(heading):
    return "#" + "".join(x for x in heading.lower().replace(" ", "-") if x.isalnum() or x in "-_")


def file_name(heading):
    return link(heading)[1:].replace("'", "")


def draw(figure, path):
    if isinstance(figure, tuple):  # a command whose last word is the figure's place
        call(*figure[:-1], figure[-1] + path)
    else:
        kind, suite, *flags = figure
        call("plot", kind, path_of(suite), *flags, "-o", path)


def figure_command(figure, path):
    if isinstance(figure, tuple):
        return shell(*(os.path.relpath(w, ROOT) if os.path.isabs(w) else w for w in figure[:-1]), figure[-1] + path)
    kind, suite, *flags = figure
    return shell("plot", kind, f"{suite}.h5", *flags, "-o", path)


def write(root):
    claims = list(all_claims())
    figures = os.path.join(root, "docs/figures/findings")
    os.makedirs(figures, exist_ok=True)
    page, tables = [INTRODUCTION], ["# Which numbers stand behind the findings?\n\n<!-- `docs/lab/findings.py` writes this page from result files. -->\n\nThe rows of [findings.md](../findings.md), claim by claim: differences with the half-width of "
                                    "their 95 % interval, paired by seed; the median over seeds, which a single odd seed does not move; p after Holm's correction. Each table names its command.\n"]
    for ours, title in ((False, "claim of the paper"), (True, "asked beyond it")):
        page.append(f"| {title} |" + "".join(f" {w.name} |" for w in worlds) + "\n|---|" + "---|" * len(worlds))
        for c in claims:
            if c.ours == ours:
                words = {p.world: p.word for p in c.parts}
                page.append(f"| [{c.claim}]({link(c.heading)}) |" + "".join(f" {words.get(w) or words.get(None, '')} |" for w in worlds))
        page.append("")
    for c in claims:
        page.append(f"## {c.heading}\n\n{c.claim}{'' if c.claim.endswith('?') else '.'}{' ' + c.note if c.note else ''}\n")
        tables.append(f"## {c.heading}\n\n{'We ask' if c.ours else 'The paper'}: {c.claim}{'' if c.claim.endswith('?') else '.'}\n")
        for p in c.parts:
            command = p.command if len(p.command.split()) < 12 else f"docs/lab/findings.py show '{c.heading}' ."  # which prints the long one too
            page.append(f"* {p.world.name[0].upper() + p.world.name[1:] + ': ' if p.world else ''}**{p.text}.** `{command}`")
            tables.append(f"{'**' + p.world.name[0].upper() + p.world.name[1:] + '.** ' if p.world else ''}{p.text[0].upper() + p.text[1:]}.\n")
            tables.append("\n".join(p.lines) + "\n")
        if c.figure:
            path = f"docs/figures/findings/{file_name(c.heading)}.svg"
            draw(c.figure, os.path.join(root, path))
            page.append(f"\n![figure](figures/findings/{file_name(c.heading)}.svg)")
            tables.append(f"The figure: `{figure_command(c.figure, path)}`\n")
        page.append("")
    page.append("## Commands\n\n```sh\ndocs/lab/findings.py run .      # all suites below, about three hours on two cores; again until it says that all is done\ndocs/lab/findings.py write .\n```\n")
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
