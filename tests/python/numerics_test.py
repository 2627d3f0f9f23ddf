#!/usr/bin/env python3
# The numerics of the Python package against `compute`: every word under every convention on random groups, every kind of array, what is refused, and every
# function of `compute`. Usage: numerics_test.py PROGRAM FOLDER golden_public.json; the package is in FOLDER.
import array, ast, ctypes, glob, itertools, json, math, multiprocessing, os, subprocess, sys, tempfile, threading, time

import checks
from checks import check, refuses

FOLDER, GOLDEN = checks.paths
if not glob.glob(os.path.join(FOLDER, "odrpo_bench", "_numerics*.so")):
    print("the Python package was not built here: no nanobind, or no headers of Python")
    sys.exit(77)
sys.path.insert(0, FOLDER)
sys.dont_write_bytecode = True
import numpy as np

import odrpo_bench
from odrpo_bench import _numerics, advantages, posterior, program

SEED = 20261128
rng = np.random.default_rng(SEED)
print("seed", SEED)


def words(kind):
    return [entry["word"] for entry in json.loads(checks.call("list", kind, "--json"))[kind]["entries"]]


def asked(requests):
    """What one process of `compute` answers to (function, arguments): results, or messages of what it refuses."""
    lines = "".join(json.dumps({"fn": fn, "args": args}) + "\n" for fn, args in requests)
    answers = checks.call_with(lines)
    return [a["out"] if "out" in a else "refused: " + a["error"]["message"] for a in map(json.loads, answers.splitlines())]


def same(got, wanted, what, tolerance):
    """Relative to the largest advantage of the group."""
    got, wanted = np.asarray(got, float), np.asarray(wanted, float)
    good = got.shape == wanted.shape and np.all(np.abs(got - wanted) <= tolerance * (1e-3 + np.abs(wanted).max(initial=0)))
    check(good, f"{what}:\n{got}\nexpected\n{wanted}")


def nulls(rows):
    return [[None if math.isnan(x) else x for x in row] for row in rows]


# every word under every convention

OWN = {"arena": {"ddof": 1, "eps": 1e-6}, "dgae": {"eps": 1e-4}, "grpo-passk": {"ddof": 1, "eps": 1e-6}}  # keys whose default is the form's own
BATCH = ["opo", "bnpo", "shrunk"]
WORDS = [w for w in words("estimators") if not w.startswith(("posterior", "corrected"))]
SYSTEMS = words("compat")
VALUES = [0.5, 2, 3, 3.25, 7, 20, 20.5, 31, 60, 100]
FORMULAS = [{"weight": "k^0.5*(1-mu)"}, {"norm": "mu + 0.1"}, {"weight": "K - k + 1", "K": 10}, {"weight": "[1, 2, 4, 8, 16, 32, 64, 128, 256, 512]"}]


def settings():
    """(word, options): conventions of systems and of the paper, and the keys that forms read."""
    for word, system in itertools.product(WORDS, SYSTEMS):
        yield word, {"compat": system}
    for word in WORDS:
        yield word, {"values": VALUES}
        yield word, {"eps": 0.01}
        yield word, {"ddof": 1}
    yield from (("max-at-k", {"k": 3}), ("max-at-k-centred", {"k": 4}), ("qae", {"kappa": 0.7}), ("corpo", {"r_min": 4}), ("maxrl", {"origin": 0}), ("bnpo", {"K": 7}))
    for formula in FORMULAS:
        yield "odrpo(grpo)", formula
        yield "odrpo(maxrl)", {"eps": 0.01, **formula}


def scores_for(word, count):
    """Kinds of scores: (name, [groups, members] with NaN for missing ones)."""
    members = int(rng.choice([1, 2, 5, 8, 8, 16]))
    whole = rng.integers(1, 11, (count, members)).astype(float)
    some = whole.copy()
    some[rng.random(some.shape) < 0.3] = np.nan
    yield "whole", whole
    yield "missing", some
    if word.startswith("odrpo-bitwise"):
        return
    yield "real", np.round(rng.uniform(0, 10, (count, members)), 3)
    if word != "convex-reinforce":
        yield "wide", rng.normal(0, 50, (count, members)) + rng.choice([0, 0, 1e4], (count, 1))
        yield "equal or nearly", np.round(rng.normal(-3, 0.6, (count, members))) * 10


def compared():
    """Tens of thousands of advantages of random groups."""
    cases, requests = [], []
    for word, options in settings():
        for kind, scores in scores_for(word, 16):
            if "values" in options and kind in ("wide", "equal or nearly"):
                continue
            if options.get("origin") == 0 and kind in ("wide", "equal or nearly"):
                continue
            given = {**({} if options.get("compat", "paper") != "paper" else {"eps": 0, "ddof": 0, **OWN.get(word, {})}), **options}
            if word in BATCH:
                lengths = rng.integers(1, 9, scores.shape)
                for key in ("eps", "ddof"):
                    given.pop(key, None) if key not in options else None
                more = {"lengths": lengths} if word == "opo" else {}
                requests.append(("batch_advantage", {"groups": nulls(scores), "est": word, **given, **{k: v.tolist() for k, v in more.items()}}))
                cases.append((word, options, kind, scores, more, 1))
            else:
                requests += [("advantage", {"rewards": row, "est": word, **given}) for row in nulls(scores)]
                cases.append((word, options, kind, scores, {}, len(scores)))
    answers, groups, refused = asked(requests), 0, 0
    for word, options, kind, scores, more, count in cases:
        wanted, answers = answers[:count], answers[count:]
        what = f"{word} {options} {kind}"
        mask = ~np.isnan(scores)
        beside = {**options, **more, **({} if mask.all() else {"mask": mask})}
        if isinstance(wanted[0], str):
            refused += 1
            refuses((TypeError if "not one of" in wanted[0] and "args" in wanted[0] else ValueError), "" if word in BATCH else wanted[0][9:], advantages, scores, word, **beside)
            continue
        wanted = np.array(wanted[0] if word in BATCH else wanted)
        groups += len(scores)
        got = advantages(scores, word, **beside)
        check(got.dtype == np.float64, f"{what}: {got.dtype}")
        same(got, wanted, what, 1e-9)
        single = advantages(scores.astype(np.float32), word, **beside)
        check(single.dtype == np.float32, f"{what}: {single.dtype}")
        if kind in ("whole", "missing"):
            same(single, wanted, what + " in float", 2e-5)
            check(mask.all() or not got[~mask].any(), f"{what}: missing scores get something")
            whole = np.where(mask, scores, 1).astype(rng.choice([np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64]))
            check(np.array_equal(advantages(whole, word, **beside), got), f"{what}: as integers")
    print(f"{groups} groups compared; {refused} settings that are refused")
    check(groups >= 10000, f"{groups} groups")


compared()

# arrays: strides, read-only ones, other frameworks, one group, none

base = rng.integers(1, 11, (40, 16))
for kind in (np.float32, np.float64, np.int32):
    wide = base.astype(kind)
    shapes = {"every other": wide[::2, ::2], "backwards": wide[::-1, ::-1], "transposed": np.ascontiguousarray(wide.T).T, "columns": wide[:, 3:11],
              "broadcast": np.broadcast_to(wide[0], (5, 16)), "Fortran": np.asfortranarray(wide)}
    for name, x in shapes.items():
        before = x.copy()
        check(np.array_equal(advantages(x, "odrpo-gini(grpo)"), advantages(np.ascontiguousarray(x), "odrpo-gini(grpo)")), f"{name} {kind.__name__}")
        check(np.array_equal(before, x), f"{name}: the scores were changed")
    locked = wide.copy()
    locked.flags.writeable = False
    check(np.array_equal(advantages(locked, "grpo"), advantages(wide, "grpo")), "read-only")
    check(np.array_equal(advantages(wide[3], "rloo"), advantages(wide, "rloo")[3]) and advantages(wide[3], "rloo").shape == (16,), "one group")
check(np.array_equal(advantages([[1, 2, 4]], "grpo"), advantages(np.array([[1.0, 2, 4]]), "grpo")), "a list")
check(np.array_equal(advantages(array.array("d", [1, 2, 4]), "grpo"), advantages([1.0, 2, 4], "grpo")), "the buffer protocol")
check(np.array_equal(advantages(np.array([[True, False]]), "reinforce"), [[0.5, -0.5]]), "booleans")
check(advantages(np.empty((0, 8)), "grpo").shape == (0, 8) and advantages(np.empty((3, 0), np.float32), "grpo").shape == (3, 0), "no scores")
own = advantages(base, "grpo")
own[:] = 1  # the result belongs to the caller
for mask in (base % 3 > 0, (base % 3 > 0).astype(np.int64), (base % 3 > 0).astype(np.float32), (base % 3 > 0).tolist(), np.asfortranarray(base % 3 > 0)):
    scores = base.astype(float)
    scores[base % 3 == 0] = np.nan
    check(np.array_equal(advantages(scores, "rloo", mask=mask), advantages(base, "rloo", mask=base % 3 > 0)), "masks of any type")

# scores up to 100 and beyond, in any order: the tables grow, and no result depends on what was asked before
for word in ("grpo", "odrpo-gini(maxrl)", "odrpo-bitwise(grpo)", "rank-grpo", "convex-reinforce"):
    batches = [rng.integers(0, high, (300, 8)).astype(np.float32) for high in (5, 11, 101, 60, 130, 7)]
    in_order = [advantages(b, word) for b in batches]
    check(all(np.array_equal(advantages(b, word), a) for b, a in zip(batches[::-1], in_order[::-1])), f"{word}: results depend on earlier calls")
    for b, a in zip(batches, in_order):
        same(a, advantages(b.astype(float), word), f"{word}: scores up to {b.max()}", 1e-4)
many = rng.integers(1, 11, (200000, 8)).astype(np.float32)
for word in ("odrpo-gini-median(grpo)", "rank-grpo"):  # tables by histogram
    check(np.array_equal(advantages(many, word)[::100], advantages(many[::100], word, origin=1 if word == "maxrl" else None)), f"{word}: many groups")
large = rng.uniform(1, 10, (2, 5000))
for word in ("grpo", "odrpo(grpo)"):
    same(advantages(large, word), asked([("advantage", {"rewards": row.tolist(), "est": word, "eps": 0, "ddof": 0}) for row in large]), f"{word}: groups of 5000", 1e-9)

# what is refused

bad = np.ones((6, 7))
bad[3, 5] = np.nan
refuses(ValueError, "scores[3, 5] is nan", advantages, bad, "grpo")
refuses(ValueError, "scores[3, 5] is nan", advantages, bad.astype(np.float32), "bnpo")
bad[3, 5] = -np.inf
refuses(ValueError, "scores[3, 5]: -inf is not in", advantages, bad, "odrpo(grpo)")
refuses(ValueError, "scores[2]: 1e+200 is not in", advantages, np.array([1, 2, 1e200]), "grpo")
refuses(ValueError, "3 dimensions", advantages, np.ones((2, 2, 2)), "grpo")
refuses(ValueError, "0 dimensions", advantages, np.array(1.0), "grpo")
refuses(ValueError, "mask: the shape of scores", advantages, np.ones((2, 2)), "grpo", mask=np.ones((2, 3)))
refuses(ValueError, "mask: the shape of scores", advantages, np.ones((2, 2)), "grpo", mask=np.ones(4))
refuses(TypeError, "lengths: opo needs", advantages, np.ones((2, 2)), "opo")
refuses(ValueError, "lengths", advantages, np.ones((2, 2)), "grpo", lengths=np.ones((2, 2)))
refuses(ValueError, "lengths", advantages, np.ones((2, 2)), "opo", lengths=np.zeros((2, 2)))
refuses(ValueError, "est: is one of", advantages, np.ones((2, 2)), "grpox")
refuses(ValueError, "posterior_scores", advantages, np.ones((2, 2)), "posterior(grpo)")
refuses(ValueError, "compat: is one of", advantages, np.ones((2, 2)), "grpo", compat="nobody")
refuses(TypeError, '"epsi" is not one of', advantages, np.ones((2, 2)), "grpo", epsi=1)
same(advantages([[1, 2, 3]], "odrpo(grpo)", weight=[3, 0.5, 2]), advantages([[1, 2, 3]], "odrpo(grpo)", weight="[3, 0.5, 2]"), "a list of weights", 0)
refuses(TypeError, "weight: ", advantages, np.ones((2, 2)), "odrpo(grpo)", weight=["k"])
refuses(TypeError, "eps: a number is needed, not a string", advantages, np.ones((2, 2)), "grpo", eps="1")
refuses(ValueError, "whole", advantages, np.array([[1.5, 2]]), "odrpo-bitwise(grpo)")
for what in (None, "123", {1: 2}, object(), [["a"]], np.array([["a"]]), np.array([[1, None]]), np.ones((2, 2), np.complex128), np.ones((2, 2), np.float16)):
    refuses(TypeError, "scores: ", advantages, what, "grpo")

for what in (array.array("d", [1, 2, 3]), (ctypes.c_double * 3)(1, 2, 3), multiprocessing.RawArray("d", [1, 2, 3]), memoryview(np.array([1.0, 2, 3]))):
    same(advantages(what, "grpo"), advantages(np.array([1.0, 2, 3]), "grpo"), f"{type(what)}", 0)
    same(advantages([1.0, 2, 3], "grpo", mask=what), advantages([1.0, 2, 3], "grpo"), f"{type(what)} as a mask", 0)
masked = np.ma.masked_array([[1.0, 2, 3]], [[True, False, False]])
refuses(TypeError, "scores: a masked array", advantages, masked, "grpo")
refuses(TypeError, "mask: a masked array", advantages, np.ones((1, 3)), "grpo", mask=masked)
refuses(TypeError, "scores: a masked array", posterior("mixed"), masked)
refuses(ValueError, "mask[0, 1] is nan", advantages, np.ones((1, 3)), "grpo", mask=np.array([[1, np.nan, 0]]))
refuses(TypeError, '"est" is not an option', advantages, np.ones((1, 3)), "grpo", est="maxrl")
refuses(ValueError, "beyond the range of float32", advantages, np.float32([[-3e38, 3e38, 2]]), "rloo")
refuses(TypeError, "ndarray of >f8; .astype(float)", advantages, np.ones((1, 3), ">f8"), "grpo")
advantages(np.ones((1, 3)), "grpo", ddof=1)
refuses(TypeError, "ddof", advantages, np.ones((1, 3)), "grpo", ddof=True)
check(subprocess.run([sys.executable, "-OO", "-c", "from odrpo_bench import advantages; advantages([[1, 2]], 'grpo')"], env={**os.environ, "PYTHONPATH": FOLDER}).returncode == 0, "python -OO")

# posterior scores

for rater, prior in itertools.product(words("raters")[::5], ("fixed", "following", "moments")):
    groups = [rng.integers(1, 11, (1, size)) for size in (1, 8)]
    wanted = asked([("posterior_scores", {"scores": row.tolist(), "rater": rater, "prior": prior}) for g in groups for row in g])
    if isinstance(wanted[0], str):  # a panel: by the program's tables
        check(rater.startswith("panel-") and np.all(np.diff(posterior(rater, prior=prior)(np.arange(1, 5))) > 0), f"posterior {rater} {prior}")
        continue
    model = posterior(rater, prior=prior)
    got = [row for g in groups for row in model(g)]
    for a, b in zip(got, wanted):
        same(a, b, f"posterior {rater} {prior}", 1e-12)
    part = model(np.where(groups[1] > 3, groups[1], np.nan).astype(np.float32), mask=groups[1] > 3)
    check(part.dtype == np.float32 and np.array_equal(np.isnan(part), groups[1] <= 3), f"posterior {rater} {prior}: missing scores")
# judges in files, by the tables that the program exports
with tempfile.TemporaryDirectory() as folder:
    own = os.path.join(folder, "own.toml")
    with open(own, "w") as file:
        file.write('[rater.own]\nbase = "veto"\n')
    groups = rng.integers(1, 11, (50, 8))
    for prior in ("fixed", "following", "moments"):
        same(posterior(own, prior=prior)(groups), posterior("veto", prior=prior)(groups), f"posterior of a file, {prior}", 1e-12)
    scores = os.path.join(folder, "scores.csv")
    with open(scores, "w") as file:
        file.write(checks.call("judge", "simulate", "veto", "--prompts", "40", "--samples", "4"))
    fitted, module = os.path.join(folder, "fitted.toml"), os.path.join(folder, "exported.py")
    checks.call("judge", "fit", scores, "-o", fitted)
    checks.call("export-estimator", fitted, "--estimator", "posterior(rloo)", "--votes", "4", "-o", module)
    names = {}
    with open(module) as file:
        exec(file.read(), names)
    wanted, believed = names["Posterior"]().values(groups, update=False), posterior(fitted, votes=4)
    same(believed(groups), wanted, "posterior of a fitted judge against its exported module", 1e-9)
    same(believed(groups[0]), wanted[0], "one group", 1e-9)
    same(posterior({"toml": open(fitted).read()}, votes=4)(groups), wanted, "what judge.fit returns", 1e-9)
    refuses(FileNotFoundError, "missing.toml", posterior, os.path.join(folder, "missing.toml"))
    with open(fitted, "a") as file:
        file.write("\n")
    refuses(RuntimeError, "has changed since", believed, groups[:, :5])
refuses(program.InputError, "--votes", posterior, "mixed", votes=0)
refuses(TypeError, "tables: ", _numerics.Posterior, {"lowest": 1})
refuses(ValueError, "tables: ", _numerics.Posterior, {"lowest": 1, "per_level": 1, "prior": [0.5, 0.5], "likelihood": [[1, 0]], "expected": [[1, 2]], "variance": [[0, 0]]})
refuses(ValueError, "prior: is one of following, moments, fixed", posterior, "mixed", prior="none")
refuses(ValueError, "levels", posterior, "mixed", levels=1)
refuses(ValueError, "scores[0, 1]: 11", posterior("mixed"), np.array([[1, 11]]))
refuses(ValueError, "scores[0, 0]: 1.5", posterior("mixed"), np.array([[1.5, 2]]))

# every function of `compute`

cases = json.load(open(GOLDEN))
cases = [c for c in (cases if isinstance(cases, list) else cases["cases"])]
answers = asked([(c["fn"], c["args"]) for c in cases])
called = set()
for case, answer in zip(cases, answers):
    function = getattr(odrpo_bench, case["fn"])
    called.add(case["fn"])
    if isinstance(answer, str):
        refuses(ValueError, answer[9:], function, **case["args"])
    else:
        check(function(**case["args"]) == answer, f"{case['fn']}({case['args']})")
rest = {
    "posterior_votes": {"votes": [[3, 4], [7], []], "rater": "mixed", "prior": "fixed"}, "corrected_scores": {"C": [[0.9, 0.1], [0.2, 0.8]]},
    "posterior_scores": {"scores": [3, 4], "rater": "mixed", "prior": "fixed"}, "vote_pmf": {"pmf": [0.2, 0.8], "N": 3, "tie": "lowest"},
    "median_pmf": {"pmf": [0.2, 0.8], "N": 3}, "sum_pmf": {"pmf": [0.2, 0.8], "N": 3}, "mac": {"est": "grpo", "R": [1, 2, 3], "M": 4},
    "field": {"est": "grpo", "R": [1, 2], "M": 4, "p": [0.5, 0.5]}, "channel_field": {"est": "grpo", "R": [1, 2], "M": 4, "p": [0.5, 0.5], "C": [[1, 0], [0, 1]]},
    "curl_at": {"est": "grpo", "R": [1, 2, 3], "s": [1, 1, 0], "i": 0, "j": 1}, "whiten": {"groups": [[1, -1], [2, -2]], "est": "grpo", "compat": "gdpo"}, "batch_advantage": {"groups": [[1, 2], [3, None]], "est": "shrunk"},
    "level_potential": {"P": 0.5, "level": 2, "med": None, "M": None, "norm": "grpo", "weights": "uniform"},
    "objective": {"P": [0.5], "R": [1, 2], "med": None, "M": 4, "norm": "grpo", "weights": "uniform"},
}
rest = {name: args for name, args in rest.items() if name not in called}
for (name, args), answer in zip(rest.items(), asked(list(rest.items()))):
    got = None
    try:
        got = getattr(odrpo_bench, name)(**args)
    except ValueError as e:
        got = "refused: " + str(e)
    check(got == answer, f"{name}({args}): {got}, expected {answer}")
names = set(odrpo_bench.compute.__all__)
check(names == called | set(rest), f"not called: {names - called - set(rest)}")
check(all(a in odrpo_bench.compute.kendall_w.__doc__ for a in ("judges: matrix", "Returns object: `W`", "Source: M. G. Kendall")), "docstrings")
check("whose centre, ddof, eps" in advantages.__doc__ and "{options}" not in advantages.__doc__, "the options in the docstring")
stubs = ast.parse(open(os.path.join(FOLDER, "odrpo_bench", "compute.pyi")).read())
check({f.name for f in stubs.body if isinstance(f, ast.FunctionDef)} == names, "stubs")
check(odrpo_bench.kendall_w(np.array([[1, 2, 3], [1, 3, 2]])) == odrpo_bench.kendall_w(judges=[[1, 2, 3], [1, 3, 2]]), "arrays as arguments")
check(odrpo_bench.vote_distribution is not None and odrpo_bench.vote_distribution([0.5, 0.5], 1, "first") == [0.5, 0.5], "vote_distribution")
refuses(TypeError, "missing a required argument: 'judges'", odrpo_bench.kendall_w)
refuses(TypeError, "judges: a number is needed", odrpo_bench.kendall_w, [["a"]])
refuses(ValueError, "judges: rows of one length", odrpo_bench.kendall_w, [[1, 2], [1]])
check({"advantages", "kendall_w", "load", "run", "plot"} <= set(dir(odrpo_bench)), "dir()")
refuses(AttributeError, "no attribute 'nothing'", getattr, odrpo_bench, "nothing")

# another thread goes on during a call

ticks, stop = [], threading.Event()


def tick():
    while not stop.wait(0.002):
        ticks.append(time.monotonic())


ticker = threading.Thread(target=tick)
ticker.start()
begin = time.monotonic()
advantages(np.full((1, 6000), 0.5) + rng.random((1, 6000)) * 200, "odrpo(grpo)")
end = time.monotonic()
stop.set()
ticker.join()
during = sum(begin < t < end for t in ticks)
check(during >= 5, f"{during} steps of another thread in {end - begin:.2f} s")
results = [None] * 4


def work(i):
    results[i] = [advantages(b, "odrpo-gini(grpo)") for b in batches for _ in range(5)]


threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
check(all(np.array_equal(a, b) for r in results for a, b in zip(r, results[0])), "threads get the same")

# no leak over 1e6 calls


def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20


def calls(n):
    x, whole, mask = base[:2, :4].astype(np.float32), base[:2, :4], base[:2, :4] > 2
    for _ in range(n // 4):
        advantages(x, "grpo")
        advantages(whole, "odrpo-gini(grpo)")
        advantages(x, "grpo", mask=mask)
        try:
            advantages(bad, "grpo")
        except ValueError:
            pass


calls(20000)
before, began = resident(), time.process_time()
calls(1000000)
check(resident() - before < 4, f"{resident() - before:.1f} MiB more after 1e6 calls")
print(f"1e6 calls: {time.process_time() - began:.1f} s")

# the order of imports, with those packages that are here

here = [m for m in ("torch", "h5py", "jax") if subprocess.run([sys.executable, "-c", f"import {m}"], capture_output=True).returncode == 0]
for order in itertools.permutations([*here, "odrpo_bench.numerics"]):
    code = f"import {', '.join(order)}\nimport numpy, odrpo_bench\nassert odrpo_bench.advantages(numpy.ones((2, 2)), 'grpo').sum() == 0"
    if "h5py" in here:
        code += "\nwith h5py.File('x.h5', 'w') as f: f['x'] = numpy.arange(5)\nassert h5py.File('x.h5')['x'][4] == 4"
    if "torch" in here:
        code += "\nassert torch.linalg.inv(torch.eye(3)).sum() == 3"
    ran = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": FOLDER}, capture_output=True, text=True)
    check(ran.returncode == 0, f"{order}: {ran.stderr}")

# torch and JAX, where they are

if "torch" in here:
    import torch

    for kind in (torch.float32, torch.float64, torch.int64):
        tensor = torch.tensor(base, dtype=kind)
        got = advantages(tensor, "odrpo(grpo)", mask=torch.tensor(base > 2))
        check(isinstance(got, torch.Tensor) and got.dtype == (kind if kind.is_floating_point else torch.float64), f"torch {kind}: {type(got)}")
        check(np.array_equal(got.numpy(), advantages(tensor.numpy(), "odrpo(grpo)", mask=base > 2)), f"torch {kind}")
        check(np.array_equal(advantages(tensor.T, "grpo").numpy(), advantages(tensor.numpy().T, "grpo")), f"torch {kind} transposed")
    check(not advantages(torch.ones(2, 2, requires_grad=True), "grpo").requires_grad, "torch with a gradient")
    refuses(TypeError, "float32, float64", advantages, torch.ones(2, 2, dtype=torch.bfloat16), "grpo")
else:
    print("torch: not here")
if "jax" in here:
    import jax.numpy as jnp

    got = advantages(jnp.array(base, jnp.float32), "odrpo(grpo)", mask=jnp.array(base > 2))
    check(isinstance(got, jnp.ndarray) and got.dtype == jnp.float32, f"JAX: {type(got)}")
    check(np.array_equal(np.asarray(got), advantages(base.astype(np.float32), "odrpo(grpo)", mask=base > 2)), "JAX")
else:
    print("JAX: not here")

checks.finish()
