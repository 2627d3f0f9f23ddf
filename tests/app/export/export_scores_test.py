#!/usr/bin/env python3
# `export-estimator` of estimators that need the scores alone: every word under every convention against `compute`, and some against `explain`; the shapes of
# verl and TRL, torch's tensors where torch is, and the file as a program. Usage: export_scores_test.py PROGRAM score_estimator.py
import json, math, shlex, subprocess, sys, types

import checks
from checks import check
from exported import module_of, np, refuses, rng

try:
    import torch
except ImportError:
    torch = None

nan, TOLERANCE = math.nan, 1e-12


def words(kind):
    return [entry["word"] for entry in json.loads(checks.call("list", kind, "--json"))[kind]["entries"]]


WORDS = checks.of_one_group(words("estimators"))
SYSTEMS = words("compat")
OWN = {"arena": {"ddof": 1, "eps": 1e-6}, "dgae": {"eps": 1e-4}, "grpo-passk": {"ddof": 1, "eps": 1e-6}}  # keys whose default is the form's own
VALUES = [0.5, 2, 3, 3.25, 7, 20, 20.5, 31, 60, 100]


class Module:
    """An exported file, and how `compute` is asked for the same."""

    def __init__(self, name, word, compat="paper", keys={}, median=None):
        self.word, self.compat, self.median, self.name = word, compat, median, f"{word} {compat} {keys or ''} {median or ''}"
        self.path = f"{name}.py"
        flags = [w for key, value in keys.items() for w in (f"--{key.replace('_', '-')}", ",".join(map(str, value)) if isinstance(value, list) else str(value))]
        ran = subprocess.run([checks.program, "export-estimator", "--estimator", word, "--compat", compat, *flags, *(["--median", median] if median else []), "-o", self.path],
                             capture_output=True, text=True)
        self.refused = ran.stderr if ran.returncode == 2 else ""
        if not self.refused:
            self.module = module_of(self.path)
        self.keys = {**({} if compat != "paper" else {"eps": 0, "ddof": 0, **OWN.get(word, {})}), "compat": compat, **keys}
        self.weighted = word.startswith(("odrpo-linear", "odrpo-gini", "convex")) or "values" in keys
        self.whole = word.startswith("odrpo-bitwise")
        self.most = 10 if "values" in keys else 50_000

    def request(self, group):
        rewards = [None if math.isnan(x) else x for x in group]
        if not self.median:
            return {"fn": "advantage", "args": {"rewards": rewards, "est": self.word, **self.keys}}
        weights, norm = self.word[6:-1].split("(")
        keys = {k: v for k, v in self.keys.items() if k != "ddof"}
        args = {"rewards": rewards, "norm": norm, "weights": weights, "median_rule": self.median, "median_value": None, **keys}
        whole = all(x is None or x == int(x) for x in rewards)
        return {"fn": "odrpo", "args": {**args, "K": self.most}} if whole else {"fn": "odrpo_continuous", "args": args}


def computed(requests):
    lines = "".join(json.dumps({"id": i, **r}) + "\n" for i, r in enumerate(requests))
    ran = subprocess.run([checks.program, "compute"], input=lines, capture_output=True, text=True)
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    for answer, request in zip(answers, requests):
        assert "out" in answer, (answer, request)
    return [answer["out"] for answer in answers]


def differ(got, wanted):
    """The largest difference, relative to the group's largest advantage."""
    got, wanted = np.array(got, float), np.array(wanted, float)
    assert got.shape == wanted.shape
    largest = np.abs(wanted).max(initial=0)
    return float(np.abs(got - wanted).max(initial=0) / largest) if largest > 0 and np.isfinite(got).all() else float(np.abs(got).max(initial=0))


def groups_for(m, size):
    """Batches of groups of one size: whole scores, with missing ones and zeros; real ones; offsets that are large beside the spread; numbers of any size
    and sign."""
    def gaps(group):
        return [nan if rng.random() < 0.2 else x for x in group] if rng.random() < 0.5 else group

    def random_group(one):
        return gaps([one()] * size if rng.random() < 0.1 else [one() for _ in range(size)])

    levels = rng.choice((2, 5, 10))
    yield [random_group(lambda: rng.randint(1, levels)) for _ in range(12)]
    yield [random_group(lambda: rng.randint(0, 3)) for _ in range(4)]
    if m.whole:
        yield [random_group(lambda: rng.randint(1, 5000)) for _ in range(4)]
        return
    if not (m.median and size == 1):
        real = [[rng.choice((rng.uniform(0, 10), rng.randint(0, 40) / 4)) for _ in range(size)] for _ in range(8)]
        yield real if m.median else [gaps(g) for g in real]
    if m.most > 10:
        if size > 1:
            yield [[40_000 + rng.choice((rng.randint(0, 3), rng.uniform(0, 3), rng.uniform(0, 1e-4))) for _ in range(size)] for _ in range(2)]
        if not m.weighted:
            yield [random_group(lambda: rng.uniform(-5, 5)) for _ in range(4)]
            yield [random_group(lambda: rng.uniform(-1, 9) * 10.0 ** rng.randint(-90, 90)) for _ in range(2)]
            yield [random_group(lambda: 1e9 + rng.uniform(0, 1e-3)) for _ in range(2)]
            if size > 2:  # a mean that is small beside the scores
                half = [[rng.uniform(1, 9) for _ in range(size // 2)] for _ in range(2)]
                yield [[*h, *(-x for x in h), *[1e-8] * (size % 2)][1:] + [h[0] + 1e-7] for h in half]


# --- every word under every convention that has it, and the keys that it reads
modules, refused = [], 0
for word in WORDS:
    for compat in SYSTEMS:
        m = Module(len(modules), word, compat)
        if m.refused:
            refused += 1
            check(f'compat "{compat}" has no {word}; it has ' in m.refused, f"{m.name}: {m.refused}")
        else:
            modules.append(m)
check(len(modules) + refused == len(WORDS) * len(SYSTEMS) and len(modules) > 60, f"{len(modules)} modules")
for word, keys in (("grpo", {"ddof": 1, "eps": 0.25}), ("rank-grpo", {"eps": 0.01}), ("maxrl", {"origin": 0}), ("maxrl", {"eps": 0.5, "origin": 0}), ("odrpo(grpo)", {"eps": 1e-6}),
                   ("odrpo-bitwise(maxrl)", {"eps": 0.1}), ("max-at-k", {"k": 4}), ("arena", {"ddof": 0, "eps": 0.25}), ("dgae", {"eps": 0.5}),
                   ("qae", {"kappa": 0.75, "ddof": 1, "eps": 0.125}), ("qae", {"kappa": 0}), ("corpo", {"r_min": 5}), ("corpo", {"r_min": -2.5}), ("qae", {"kappa": 1}), ("grpo-passk", {"ddof": 0, "eps": 0}), ("max-at-k-centred", {"k": 3})):
    modules.append(Module(len(modules), word, keys=keys))
for compat in ("verl", "maxrl-reference"):
    modules.append(Module(len(modules), "maxrl" if compat == "maxrl-reference" else "grpo", compat, {"values": VALUES}))
modules.append(Module(len(modules), "maxrl", "skyrl", {"origin": 0, "values": VALUES}))
for word in WORDS:
    if word not in ("rank-grpo", "gopo", "arena") and "bitwise" not in word:
        modules.append(Module(len(modules), word, keys={"values": VALUES}))
for compat in ("paper", "verl", "nemo"):
    for rule in ("lower", "mid", "upper"):
        modules.append(Module(len(modules), "odrpo-gini-median(grpo)", compat, median=rule))
modules.append(Module(len(modules), "odrpo-gini-median(maxrl)", "skyrl", {"values": VALUES}, "upper"))

batches = [(m, batch) for m in modules for size in (1, 2, 3, rng.choice((5, 7)), 8, 16) for batch in groups_for(m, size)]
wanted = iter(computed([m.request(group) for m, batch in batches for group in batch]))
count = sum(len(batch) for _, batch in batches)
check(count >= 10_000, f"{count} groups")
largest = 0.0
for m, batch in batches:
    for group, got in zip(batch, m.module.advantages(batch)):
        off = differ(got, expected := next(wanted))
        largest = max(largest, off)
        check(off <= TOLERANCE, f"{m.name}: {group} gives {got.tolist()}, `compute` {expected}: {off}")
        check(not any(x != 0 for x, r in zip(got, group) if math.isnan(r)), f"{m.name}: a missing score gets 0")
        there = [r for r in group if not math.isnan(r)]
        check(len(there) < 2 or min(there) < max(there) or not got.any() or m.word == "corpo", f"{m.name}: equal scores get 0: {group}")
print(f"{len(modules)} modules, {count} groups: largest difference {largest:.1e} of the group's largest advantage")

# --- `explain` gives the same
for word in WORDS:
    group = [3, 7, 7, 9, 1, 10, 4] if "bitwise" in word else [3, 7.25, 7, 9, 1, 10, 4]
    [explained] = json.loads(checks.call("explain", "--json", "--estimator", word, "--rewards", ",".join(map(str, group))))["estimators"]
    by_system = {system: row["advantages"] for row in explained["conventions"] for system in row["compat"]}
    for m in modules:
        if m.word == word and m.compat in by_system and not m.median and set(m.keys) <= {"eps", "ddof", "compat"} and (
                    m.compat != "paper" or all(m.keys[key] == OWN.get(word, {}).get(key, 0) for key in ("eps", "ddof"))):
            check(differ(m.module.advantages([group])[0], by_system[m.compat]) <= TOLERANCE, f"{m.name}: explain of {group}")

# --- verl and TRL: groups of any size in any order, whitened as the convention does
plain = [m for m in modules[:len(WORDS) * len(SYSTEMS)] if not m.median and set(m.keys) <= {"eps", "ddof", "compat"} and not m.keys.get("eps") and not m.keys.get("ddof")]
cases, requests = [], []
for m in plain:
    sizes = [[rng.randint(1, 10) if rng.random() > 0.15 else nan for _ in range(n)] for n in (8, 3, 1, 8, 5, 2)]
    tokens = [[rng.randint(0, 6) for _ in g] for g in sizes]
    square = [[rng.randint(1, 10) if rng.random() > 0.1 else nan for _ in range(5)] for _ in range(4)]
    cases.append((m, sizes, tokens, square))
    requests += [m.request(g) for g in sizes + square]
answers = iter(computed(requests))
raw = [([next(answers) for _ in sizes], [next(answers) for _ in square]) for _, sizes, _, square in cases]
requests = []
for (m, sizes, tokens, square), (a, b) in zip(cases, raw):
    def kept(groups):
        return [[int(not math.isnan(r)) for r in g] for g in groups]
    requests.append({"fn": "whiten", "args": {"groups": a, "est": m.word, "compat": m.compat, "tokens": tokens, "kept": kept(sizes)}})
    requests.append({"fn": "whiten", "args": {"groups": b, "est": m.word, "compat": m.compat, "kept": kept(square)}})
whitened = iter(computed(requests))


def as_verl(m, sizes, tokens, array=np.array, index=lambda uids: np.array(uids, object)):
    """verl() of a shuffled batch, back in order: an advantage for each response, and the tokens that do not have it."""
    flat = [(g, r, t) for g, (rewards, lengths) in enumerate(zip(sizes, tokens)) for r, t in zip(rewards, lengths)]
    order = list(range(len(flat)))
    rng.shuffle(order)
    rewards, mask = np.zeros((len(flat), 6)), np.zeros((len(flat), 6))
    for at, i in enumerate(order):
        rewards[at, max(flat[i][2] - 1, 0)] = flat[i][1]
        mask[at, :flat[i][2]] = 1
    out, returns = m.module.verl(token_level_rewards=array(rewards), response_mask=array(mask), index=index([f"uid-{flat[i][0]}" for i in order]), config=None)
    out, back = np.array(out.tolist()), np.argsort(order)
    check(np.array_equal(out, np.array(returns.tolist())) and not (out * (1 - mask)).any(), f"{m.name}: returns, and tokens beyond the response")
    check((out == out[:, :1] * mask).all(), f"{m.name}: each token has the response's advantage")
    return out[back, 0]


for m, sizes, tokens, square in cases:
    expected = [x if t else 0 for g, lengths in zip(next(whitened), tokens) for x, t in zip(g, lengths)]
    check(differ(as_verl(m, sizes, tokens), expected) <= TOLERANCE, f"{m.name}: verl of {sizes}")
    trl = m.module.trl([r for g in square for r in g], 5)
    check(differ(trl, [x for g in next(whitened) for x in g]) <= TOLERANCE, f"{m.name}: TRL of {square}")

# --- verl's registry, as verl has it
registered = {}
names = ("verl", "verl.trainer", "verl.trainer.ppo", "verl.trainer.ppo.core_algos")
sys.modules.update({name: types.ModuleType(name) for name in names})
sys.modules[names[-1]].register_adv_est = lambda name: lambda function: registered.setdefault(name, function)
for m in plain[:3]:
    m.module.register()
plain[0].module.register("mine")
check(list(registered) == [m.module.NAME for m in plain[:3]] + ["mine"] and registered["mine"] is plain[0].module.verl, f"{registered}")
check(len({m.module.NAME for m in plain}) == len(plain), "each estimator and convention has a name of its own")
for name in names:
    del sys.modules[name]

# --- torch: tensors of their type; the same numbers in double
check(torch is not None or "torch" not in sys.modules, "the modules import no torch for arrays")
if torch is not None:
    for m in modules:
        batch = [[rng.randint(1, 10) if rng.random() > 0.15 else nan for _ in range(7)] for _ in range(30)]
        got = m.module.advantages(torch.tensor(batch, dtype=torch.float64))
        for x, y, group in zip(got.tolist(), m.module.advantages(batch).tolist(), batch):
            check(differ(x, y) <= TOLERANCE, f"{m.name}: torch gives {x}, numpy {y} of {group}")
        for kind in (torch.float32, torch.bfloat16):
            check(m.module.advantages(torch.tensor(batch).to(kind)).dtype == kind and m.module.trl(torch.tensor(batch[0]).to(kind), 7).dtype == kind, f"{m.name}: {kind}")
    for m, sizes, tokens, _ in cases:
        check(differ(as_verl(m, sizes, tokens, torch.tensor), as_verl(m, sizes, tokens)) <= TOLERANCE, f"{m.name}: verl of torch")
    check(modules[0].module.advantages(torch.tensor([[1, 2]])).dtype == torch.get_default_dtype(), "whole numbers")


# --- what the functions refuse, and shapes that hold nothing
by_name = {(m.word, m.compat): m.module for m in reversed(modules) if not m.median}
grpo, gini, bits, spaced = by_name["grpo", "verl"], by_name["odrpo-gini(grpo)", "paper"], by_name["odrpo-bitwise(grpo)", "paper"], modules[-1].module
refuses("scores are [groups, members], not (2,)", lambda: grpo.advantages([3, 4]))
refuses("a score is a finite number", lambda: grpo.advantages([[3, math.inf]]))
refuses("takes scores up to 1e6", lambda: gini.advantages([[3, 2e6]]))
refuses("a whole number from 0 to 1e6", lambda: bits.advantages([[3, 3.5]]))
refuses("a whole number from 0 to 1e6", lambda: bits.advantages([[3, -1]]))
refuses("from 0 to 10, as many as there are values", lambda: spaced.advantages([[3, 11]]))
refuses("are no groups of 4", lambda: grpo.trl([1, 2, 3], 4))
refuses("are no groups of 0", lambda: grpo.trl([1, 2, 3], 0))
refuses("4 scores, but 3 uids", lambda: grpo.verl(np.ones((4, 1)), np.ones((4, 1)), [0, 0, 1]))
check(grpo.advantages(np.zeros((0, 8))).shape == (0, 8) and grpo.advantages(np.zeros((3, 0))).shape == (3, 0), "empty batches")
check(not by_name["odrpo(grpo)", "verl"].verl(np.full((4, 2), nan), np.ones((4, 2)), [0, 0, 1, 1])[0].any(), "a batch without scores")

# --- the file as a program: the protocol, and a short training beside the built-in form
requests = [{"protocol": 1, "kind": "scores", "state": "none", "id": 1}, {"begin": {"run": "r"}, "id": 2},
            {"run": "r", "step": 0, "levels": 10, "prompts": [1, 2], "scores": [[7, 8, None, 7], [3, 3, 3, 3]], "id": 3}, {"scores": [[0.5, 1]], "id": 4}]
ran = subprocess.run([sys.executable, bits.__file__], input="".join(json.dumps(r) + "\n" for r in requests), capture_output=True, text=True)
answers = [json.loads(line) for line in ran.stdout.splitlines()]
check([a["id"] for a in answers] == [1, 2, 3, 4] and answers[2]["advantages"] == bits.advantages([[7, 8, nan, 7], [3, 3, 3, 3]]).tolist(), f"answers {answers}")
check("a whole number" in answers[3]["error"], f"an error is an answer: {answers[3]}")
check(ran.returncode == 0 and not ran.stderr, f"{ran.returncode}: {ran.stderr}")
suite = checks.suite("own", f'[estimator.mine]\ncommand = "{shlex.quote(sys.executable)} {gini.__file__}"\n', estimator='["odrpo-gini(grpo)", "mine"]', baseline='"mine"')
checks.call("run", suite, "-q", "-o", "own.h5")
rows = [line.split(",") for line in checks.call("export", "own.h5", "--what", "curves", "--curve", "quality").splitlines()]
columns = {name: i for i, name in enumerate(rows[0])}
curves = {name: [float(r[columns["quality"]]) for r in rows[1:] if r[columns["estimator"]] == name] for name in ("odrpo-gini(grpo)", "mine")}
check(len(curves["mine"]) > 3 and np.allclose(curves["mine"], curves["odrpo-gini(grpo)"], atol=1e-5), f"training: {curves}")

# --- files in the way: of either kind they are replaced, others with --force alone
checks.call("export-estimator", "--estimator", "grpo", "-o", "own.py")
checks.call("export-estimator", "mixed", "-o", "own.py")
checks.call("export-estimator", "--estimator", "rloo", "-o", "own.py")
first = open("own.py").read()
checks.call("export-estimator", "--estimator", "rloo", "-o", "own.py")
check(first == open("own.py").read() and "rloo, convention paper" in first, "the same command writes the same file")
open("foreign.py", "w").write("# mine\n")
checks.call("export-estimator", "--estimator", "grpo", "-o", "foreign.py", code=5, words="export-estimator did not write it")
checks.call("export-estimator", "--estimator", "grpo", "-o", "foreign.py", "--force")
# --- scores 0..1, of which an ordinal estimator knows no levels, are warned of
import warnings
for word, scores, wanted in (("odrpo-gini(grpo)", [0.3, 0.7, 0.7, 0.9], 1), ("odrpo-gini(grpo)", [nan, 0, 0.5, 1], 1), ("odrpo-gini(grpo)", [0, 1, 1, 0], 0),
                             ("odrpo-gini(grpo)", [3, 7, 7, 9], 0), ("odrpo-gini(grpo)", [0.5, 1.5, 2, 3], 0), ("odrpo-gini(grpo)", [nan] * 4, 0), ("grpo", [0.3, 0.7, 0.7, 0.9], 0)):
    module = Module("shares", word).module
    for name, call in (("trl", lambda: module.trl(np.array(scores), 4)), ("verl", lambda: module.verl(np.array(scores)[:, None], np.ones((4, 1)), np.zeros(4, int)))):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            call()
        check([str(w.message).split(":")[0] for w in seen] == ["scores are 0..1, and levels are 1, 2, .."] * wanted, f"{name}, {word} of {scores}: {[str(w.message) for w in seen]}")

checks.finish()
