#!/usr/bin/env python3
# `export-estimator`: its files and the Python functions of trainers against `compute`, `explain`, training itself and arithmetic of its own.
# Usage: export_estimator_test.py PROGRAM posterior_estimator.py POSTERIOR_BATCHES
import json, math, subprocess

import checks
from checks import check
from exported import computed, explained, export, fit_judge, group_of, loaded, near, np, rng, trainer

floats = 1e-5  # training computes values of a prior that moves in float

def trained(rater, levels, votes, prior, keep, batches):
    arguments = [rater, levels, votes, prior, keep, len(batches[0][0])]
    ran = subprocess.run([checks.paths[1], *map(str, arguments)], input="\n".join(map(json.dumps, batches)), capture_output=True, text=True)
    check(ran.returncode == 0, f"posterior_batches {arguments}: {ran.stderr}")
    return [np.array(json.loads(line), float).reshape(len(batch), -1) for line, batch in zip(ran.stdout.splitlines(), batches)]


fit_judge()

# --- both formats hold the same, bit for bit; so does what numpy saves of them
for flags in (("--prior", "fixed", "--group-size", "3"), ("--prior", "moments", "--keep", "0.8"), ()):
    tables = [loaded(export("judge.toml", *flags, form=form)).tables for form in ("json", "py")]
    np.savez("saved.npz", **tables[1])
    tables.append(trainer.Posterior("saved.npz").tables)
    for other in tables[1:]:
        check(set(other) == set(tables[0]), f"{flags}: names {set(other)}")
        for name, array in tables[0].items():
            same = np.array_equal(array, other[name], equal_nan=True) if array.dtype.kind == "f" else np.array_equal(array, other[name])
            check(same and array.shape == other[name].shape, f"{flags}: {name} differs between formats")
    check(str(tables[0]["rater"]) == "judge.toml" and int(tables[0]["levels"]) == 5 and "latent" in str(tables[0]["judge"]), "what the file says of its judge")
    check(float(tables[0]["keep"]) == (0.8 if "--keep" in flags else 0.95), "keep")
first, again = (open(export("mixed"), "rb").read() for _ in range(2))
check(first == again, "the same command writes the same bytes")

# --- values: the catalogue's raters against `compute`, by the map where there is one
for i, rater in enumerate(("mixed", "veto", "low20")):
    for j, prior in enumerate(("fixed", "following", "moments")):
        size = (3, 8, 16)[(i + j) % 3]
        form = rng.choice(("json", "py"))
        posterior = loaded(export(rater, "--prior", prior, "--group-size", str(size), form=form, words="no map" if prior == "fixed" and size == 16 else ""))
        check(bool(posterior.map) == (prior == "fixed" and size < 16), f"{rater} {prior} {size}: is there a map")
        groups = [group_of(size) for _ in range(4)]
        near(posterior.values(groups, update=False), computed(rater, prior, groups), f"{rater} {prior} {size} {form}")
        other = [group_of(size + 2) for _ in range(2)]  # of another size than the map's
        near(posterior.values(np.array(other), update=False), computed(rater, prior, other), f"{rater} {prior} {size + 2}", 5e-2 if prior == "moments" else 2e-3)  # the nodes are those of smaller groups: .023 is the largest seen

# --- the map itself: every histogram once; its values are those of the tables; advantages by the form's own convention
map_file = export("judge.toml", "--prior", "fixed", "--group-size", "4")
tables = trainer.load(map_file)
counts, values, advantages = tables["histograms"].astype(int), tables["values"], tables["advantages"]
check(counts.shape == (70, 5) and (counts.sum(axis=1) == 4).all() and len({c.tobytes() for c in counts}) == 70, "histograms of 4 on 5 levels")
check(np.array_equal(np.isnan(values), counts == 0) and np.array_equal(np.isnan(advantages), counts == 0), "gaps of the map")
tables_alone = loaded(map_file)
tables_alone.map = {}
groups = [[k + 1 for k in range(5) for _ in range(c[k])] for c in counts]
near(loaded(map_file).values(groups), tables_alone.values(groups), "map and tables", 1e-12)
large = [[3] * 256 + [2, 3, 3, 5]]  # its counts are those of a group of 4 in bytes
near(loaded(map_file).values(large), tables_alone.values(large), "a group of 260", 1e-12)
for estimator in ("reinforce", "rloo", "grpo", "rank-grpo", "maxrl", "convex-reinforce", "max-at-k", "max-at-k-centred", "mc-grpo"):
    word = f"posterior({estimator})"
    tables = trainer.load(export("judge.toml", "--prior", "fixed", "--group-size", "5", "--estimator", word))
    counts, advantages = tables["histograms"].astype(int), tables["advantages"]
    for row in rng.sample(range(len(counts)), 4):
        group = [k + 1 for k in range(5) for _ in range(counts[row][k])]
        posterior, by_system = explained("judge.toml", word, group, "--compat", "paper")
        near([advantages[row][r - 1] for r in group], by_system["paper"], f"{word} of {group}")

# --- verl and TRL: advantages against `explain`; groups in any order, and of any size
for rater, levels in (("mixed", 10), ("low20", 10), ("judge.toml", 5)):
    for estimator, systems in (("grpo", ("verl", "trl")), ("reinforce", ("verl", "trl")), ("rloo", ("verl", "trl")), ("maxrl", ("maxrl-reference",) * 2)):
        posterior = loaded(export(rater, "--prior", "fixed", "--estimator", f"posterior({estimator})"))
        groups = [group_of(8, levels) for _ in range(3)]
        wanted = [explained(rater, f"posterior({estimator})", g) for g in groups]
        near(posterior.values(groups), [w[0] for w in wanted], f"{rater}: values")
        trl = posterior.trl(np.array(groups).ravel(), 8)
        near(trl, [a for w in wanted for a in w[1][systems[1]]], f"{rater} {estimator} as TRL", 1e-9)
        order = list(range(24))
        rng.shuffle(order)
        rewards, mask = np.zeros((24, 6)), np.array([[t < 1 + i % 6 for t in range(6)] for i in order], float)
        for at, i in enumerate(order):
            rewards[at][i % 6] = groups[i // 8][i % 8]
        got, returns = posterior.verl(rewards, mask, np.array([f"uid-{i // 8}" for i in order], object), config=None)
        expected = [[wanted[i // 8][1][systems[0]][i % 8] * m for m in mask[at]] for at, i in enumerate(order)]
        near(got, expected, f"{rater} {estimator} as verl", 1e-9)
        near(returns, expected, f"{rater} {estimator}: returns")
    sizes = [group_of(n, levels) for n in (2, 3, 5, 8)]
    index = [i for i, g in enumerate(sizes) for _ in g]
    got, _ = loaded(export(rater)).verl(np.array([[float(x)] for g in sizes for x in g]), np.ones((18, 1)), index)
    fixed = loaded(export(rater, "--prior", "fixed")).verl(np.array([[float(x)] for g in sizes for x in g]), np.ones((18, 1)), index)[0]
    near(fixed[:, 0], [a for g in sizes for a in explained(rater, "posterior(grpo)", g)[1]["verl"]], "groups of several sizes")
    check(got.shape == (18, 1), "groups of several sizes, following")


# --- moving priors over several batches: against training, and against Bayes' rule
def by_bayes(t, rule, keep, batches):
    """docs/posterior.md, one group at a time; arrays over the states."""
    prior, m = np.array(t["prior"], float), list(t["moments"]) if rule == "moments" else None
    likelihood, expected = np.array(t["likelihood"], float), np.array(t["expected"], float)
    lowest, per = int(t["lowest"]), int(t["per_level"])
    for batch in batches:
        out, sums, first, second, squares = [], np.zeros(len(prior)), 0.0, 0.0, 0.0
        for group in batch:
            seen = [None if x is None else math.floor((x - lowest) * per + 0.5) for x in group]
            here = [k for k in seen if k is not None]
            w = np.where(prior > 1e-300, np.log(np.maximum(prior, 1e-300)), -700) + np.log(np.maximum(likelihood[:, here], 1e-304)).sum(axis=1)
            w = np.exp(w - w.max())
            w /= w.sum()
            out.append([None if k is None else w @ expected[:, k] for k in seen])
            sums += w
            if rule == "moments":
                first += w @ t["centre"]
                second += w @ np.square(t["centre"])
                squares += (w @ t["square"][:, here]).mean() if here else m[2]
        yield out
        n = len(batch)
        if rule == "following":
            prior = keep * prior + (1 - keep) * sums / n
        if rule == "moments":
            now = (first / n, max(second / n - (first / n) ** 2, 0.01), max(squares / n, 0.01))
            m = [keep * old + (1 - keep) * x for old, x in zip(m, now)]
            sd = float(t["log_spread_sd"])
            middle = math.log(m[2]) / 2 - sd * sd
            prior = np.exp(np.maximum(-700, -((t["centre"] - m[0]) ** 2 / m[1] + ((t["log_spread"] - middle) / sd) ** 2) / 2))
            prior /= prior.sum()


def gaps(batch):
    return [[None if rng.random() < 0.15 else x for x in g] for g in batch]


for rater, levels, rule, keep, size, votes in (("mixed", 10, "following", 0.5, 8, 1), ("veto", 10, "moments", 0.7, 8, 1), ("low20", 7, "moments", 0.0, 3, 1),
                                              ("judge.toml", 5, "following", 0.9, 3, 3), ("judge.toml", 5, "moments", 0.5, 16, 1), ("low20", 10, "following", 0.0, 16, 2),
                                              ("mixed", 10, "fixed", None, 8, 3), ("mixed", 4, "following", 1.0, 8, 1), ("zero.toml", 5, "moments", 0.5, 8, 1), ("zero.toml", 5, "fixed", None, 4, 1),
                                              ("resample.toml", 5, "following", 0.5, 8, 1)):
    name = f"{rater} {rule} {keep} {size} x {votes}"
    posterior = loaded(export(rater, "--levels", str(levels), "--prior", rule, "--group-size", str(size), "--votes", str(votes),
                              *([] if keep is None else ["--keep", str(keep)]), form=rng.choice(("json", "py"))))
    batches = [gaps([group_of(size, levels) for _ in range(2)]) for _ in range(4)]
    batches[1][0] = [None] * size
    if rater == "zero.toml":
        batches = [[[0 if x is not None and rng.random() < 0.2 else x for x in g] for g in b] for b in batches]
    of_training = trained(rater, levels, votes, rule, 1 if keep is None else keep, batches)
    of_bayes = list(by_bayes(posterior.tables, rule, keep or 0, batches))
    state = []
    for i, batch in enumerate(batches):
        state.append(json.loads(json.dumps(posterior.state())))
        scores = np.array(batch, float)
        aside = posterior.values(scores, update=False)
        got = posterior.values(scores)
        check(np.array_equal(aside, got, equal_nan=True), f"{name}: update=False gives the same values")
        near(got, of_training[i], f"{name}: batch {i} as in training", floats)
        near(got, of_bayes[i], f"{name}: batch {i} by Bayes' rule")
    # a checkpoint: another object goes on as this one did
    again = trainer.Posterior(export(rater, "--levels", str(levels), "--prior", rule, "--group-size", str(size), "--votes", str(votes),
                                     *([] if keep is None else ["--keep", str(keep)])))
    again.restore(state[2])
    near(again.values(np.array(batches[2], float)), of_training[2], f"{name}: restored", floats)
    near(again.values(np.array(batches[3], float)), of_training[3], f"{name}: restored, and on", floats)
    if rule == "fixed":
        check(state[0] == state[3], f"{name}: a fixed prior stays")

# --- a policy that always answers alike: the variance of moments stops at its least
posterior, batches = loaded(export("mixed", "--prior", "moments", "--keep", "0")), [[[7] * 8] * 4] * 40
for batch, wanted in zip(batches, trained("mixed", 10, 1, "moments", 0, batches)):
    near(posterior.values(batch), wanted, "groups that are always the same", floats)
check(posterior.moments[1] == 0.01, f"least variance: {posterior.moments}")

# --- real-valued scores: to 1/32 level, by tables
for rule in ("fixed", "following", "moments"):
    posterior = loaded(export("mean.toml", "--prior", rule, "--votes", "4", words="no map" if rule == "fixed" else ""))
    check(not posterior.map and posterior.per_level == 32, "tables of real scores")
    batches = [[[rng.randint(4, 20) / 4 for _ in range(8)] for _ in range(3)] for _ in range(3)]
    for batch, wanted in zip(batches, trained("mean.toml", 5, 4, rule, 0.95, batches)):
        near(posterior.values(batch), wanted, f"means of four votes, {rule}", floats)
check(loaded(export("mean.toml", "--prior", "fixed")).map, "the mean of one vote is a whole score")
checks.finish()
