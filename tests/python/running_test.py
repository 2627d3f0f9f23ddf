#!/usr/bin/env python3
"""Runs: of dicts and files, their progress, stops that save, functions as estimators, errors, `python -m odrpo_bench`.

Usage: running_test.py PROGRAM
"""
import contextlib
import glob
import hashlib
import importlib
import inspect
import io
import json
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
import types
import warnings

import package
from checks import call, check, digest, finish, near, program, suite

package.need("pandas", "xarray", "h5py")
import numpy as np
import odrpo_bench
from odrpo_bench import toml
from odrpo_bench.program import InputError, ProgramError
from package import refused

# --- a dict is the suite that its TOML is
SUITE = {
    "suite": {"name": "tiny", "seed": 7, "seeds": 2},
    "grid": {"rater": ["mixed", "mine"], "estimator": ["grpo", "maxrl"], "votes": np.array([1, 8])},
    "env": {"bandit": {"prompts": 16, "actions": 8}},
    "rater": {"mine": {"noise": [{"model": "gaussian", "sigma": 0.5}, {"model": "veto", "share": np.float32(0.25)}]}},
    "learn": {"steps": 20, "batch": 8, "lr": 0.1},
    "table": {"baseline": "grpo"},
}
with open("tiny.toml", "w") as file:
    file.write("""[suite]\nname = "tiny"\nseed = 7\nseeds = 2\n[grid]\nrater = ["mixed", "mine"]\nestimator = ["grpo", "maxrl"]\nvotes = [1, 8]
[env.bandit]\nprompts = 16\nactions = 8\n[rater.mine]\nnoise = [{ model = "gaussian", sigma = 0.5 }, { model = "veto", share = 0.25 }]
[learn]\nsteps = 20\nbatch = 8\nlr = 0.1\n[table]\nbaseline = "grpo"\n""")
call("run", "tiny.toml", "-q", "-o", "command.h5")
of_dict = odrpo_bench.run(SUITE, progress=False)
check(of_dict.path == os.path.realpath("tiny.h5") and of_dict.digest == digest("command.h5"), "a dict, and its default output")
check(of_dict.digest == odrpo_bench.run("tiny.toml", output="file.h5", jobs=1, progress=False).digest, "a file, one job")
check(of_dict.suite == toml.suite_text(SUITE) and 'learn.lr = 0.1' in of_dict.provenance["resolved"], "the suite's text in the provenance")
check(not glob.glob(".odrpo*"), "no file is left")
less = odrpo_bench.run(SUITE, set={"suite.seeds": 1, "learn.lr": [0.1, 1.0], "grid.votes+": [32]}, only=["*/mixed/*/grpo/*", "*/mixed/*/maxrl/*"], output="less.h5", progress=False)
check(len(less.runs) == 2 * 2 * 3 and set(less.runs.lr) == {0.1, 1.0} and set(less.runs.votes) == {1, 8, 32}, "set and only")
with open("scores.csv", "w") as file:
    file.write(call("judge", "simulate", "mixed", "--prompts", "40", "--samples", "4"))
own = odrpo_bench.run({**SUITE, "grid": {"rater": "own", "estimator": ["grpo"]}, "rater": {"own": {"scores": "scores.csv"}}}, output="own.h5", progress=False)
check(set(own.runs.rater) == {"own"} and (own.runs.status == "ok").all(), "a file that a dict names lies in the current folder")

# --- TOML: what a dict may hold reads back
odd = {"a b": {"text": 'quote " back\\ line\n tab\t \x7f \u00e9 \U0001f600', "x": [1, 2.5, -1e-300, True], "deep": {"more": {"list": [{"k": "v", "e": {}}, {}]}, "y": 1}}, "empty": {},
       "numbers": {"int": np.int64(3), "float": np.float64(0.1), "array": np.arange(3), "infinite": float("inf"), "large": 2**62, "path": types.SimpleNamespace}}
odd["numbers"].pop("path")
try:
    import tomllib
except ImportError:  # Python before 3.11
    tomllib = None
if tomllib:
    odd_read = tomllib.loads(toml.suite_text(odd))
    check(odd_read["a b"] == odd["a b"] and odd_read["empty"] == {} and odd_read["numbers"] == {"int": 3, "float": 0.1, "array": [0, 1, 2], "infinite": float("inf"), "large": 2**62},
          f"TOML: {odd_read}")
refused(TypeError, "None is a NoneType", toml.suite_text, {"suite": {"name": None}})
refused(TypeError, "keys of a suite are texts, and 3 is a int", toml.suite_text, {"suite": {3: 1}})

# --- errors
refused(InputError, "out of range", odrpo_bench.run, SUITE, set={"suite.seeds": 0}, output="no.h5", progress=False)
why = refused(InputError, "suite:6:2: error: unknown section", odrpo_bench.run, {"suite": {"name": "x"}, "grid": {}, "colour": {"red": 1}}, output="no.h5", progress=False)
check(".odrpo-bench" not in str(why), f"an error names a temporary file: {why}")
refused(ProgramError, "no-such-suite: No such file", odrpo_bench.run, "no-such-suite", progress=False)
refused(ProgramError, "another suite", odrpo_bench.run, {**SUITE, "learn": {**SUITE["learn"], "steps": 21}}, progress=False)
refused(InputError, "", odrpo_bench.run, {**SUITE, "limits": {"runs": 1}}, output="no.h5", progress=False)
check(not glob.glob("no.h5*") and not glob.glob(".odrpo*"), "nothing is left of what was refused")


# --- functions as estimators
descriptors = sorted(os.listdir("/proc/self/fd"))


def grpo(scores):
    mean = np.nanmean(scores, axis=1, keepdims=True)
    sd = np.nanstd(scores, axis=1, keepdims=True)
    return np.where(sd > 0, (scores - mean) / np.where(sd > 0, sd, 1), 0)


seen = []
one = odrpo_bench.run("tiny.toml", set={"table.baseline": "mine"}, output="one.h5", jobs=1, estimators={"mine": grpo}, progress=False)
both = odrpo_bench.run("tiny.toml", set={"table.baseline": "mine"}, output="both.h5", jobs=2, estimators={"mine": grpo}, progress=False)
check(one.digest == both.digest and set(one.runs.estimator) == {"grpo", "maxrl", "mine"}, "one job and two; the function is added to the grid")
quality = one.curves("quality")
near(quality[quality.estimator == "mine"].values.ravel().tolist(), quality[quality.estimator == "grpo"].values.ravel().tolist(), "grpo in numpy", 1e-6)
introduction = json.loads(one.provenance["programs"].split("\t")[3].splitlines()[0])
check(introduction["python_function"] == "__main__.grpo" and len(introduction["source_sha256"]) == 64, f"provenance: {introduction}")
check(one.table().attrs["baseline"] == "mine", "its name as baseline")
named = odrpo_bench.run({**SUITE, "grid": {"estimator": ["grpo", "mine"]}}, output="named.h5", estimators={"mine": grpo}, progress=False)
check(set(named.runs.estimator) == {"grpo", "mine"}, "a function that the grid names")
gaps = {**SUITE, "grid": {"estimator": ["grpo"], "rater": "gaps"}, "rater": {"gaps": {"base": "mixed", "parse_failure": 0.2, "parse_policy": "drop"}}}


def noted(scores):
    seen.append(scores)
    return grpo(scores)


def moves(scores):
    os.chdir("/")
    return grpo(scores)


here = os.getcwd()
moved = odrpo_bench.run("tiny.toml", output="moved.h5", estimators={"mine": moves}, progress=False)
os.chdir(here)
check(moved.path == os.path.join(here, "moved.h5"), "a function that changes the folder")
with contextlib.redirect_stderr(None):
    check(odrpo_bench.run(SUITE, output="silent.h5").digest == of_dict.digest, "without stderr")
with_gaps = odrpo_bench.run(gaps, output="gaps.h5", estimators={"mine": noted}, progress=False)
quality = with_gaps.curves("quality")
near(quality[quality.estimator == "mine"].values.ravel().tolist(), quality[quality.estimator == "grpo"].values.ravel().tolist(), "with missing scores", 1e-6)
check(seen[0].shape == (8, 8) and seen[0].dtype == np.float64 and any(np.isnan(s).any() for s in seen), "what a function is given")


def wrong_shape(scores):
    return scores[:, :2]


def infinite(scores):
    return scores / 0


def imaginary(scores):
    return scores * 1j


def undefined(scores):
    return scores * np.nan


def raises(scores):
    raise LookupError("no idea")


for function, words in ((wrong_shape, "wrong_shape returned an array of shape (8, 2) for scores of shape (8, 8)"), (infinite, "returned an infinite advantage"),
                        (imaginary, "imaginary returned complex numbers"), (undefined, "is not a number but null"), (raises, "LookupError: no idea (running_test.py:")):
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        failing = odrpo_bench.run("tiny.toml", output=f"{function.__name__}.h5", estimators={function.__name__: function}, progress=False)
    errors = set(failing.runs.error[failing.runs.estimator == function.__name__])
    check(all(words in error for error in errors) and any("8 of 24 runs failed" in str(w.message) for w in warned), f"{function.__name__}: {errors}")
    check((failing.runs.status[failing.runs.estimator == "grpo"] == "ok").all(), f"{function.__name__}: the others go on")
why = refused(ProgramError, "8 of 8 runs failed, such as bandit/mixed/linear/raises/n1/s0", odrpo_bench.run, "tiny.toml", set={"grid.estimator": ["raises"], "table.baseline": ""},
              output="all.h5", estimators={"raises": raises}, progress=False)
check(isinstance(why.__cause__, LookupError), f"the function's exception is the cause: {why.__cause__!r}")
why = refused(ProgramError, "16 of 16 runs failed", odrpo_bench.run, "tiny.toml", output="all-best.h5", progress=False, estimators={"raises": raises},
              set={"grid.estimator": ["raises"], "table.baseline": "", "table.best": ["lr"], "learn.lr": [0.1, 1.0]})
check(isinstance(why.__cause__, LookupError), f"the cause where the table chooses: {why.__cause__!r}")
refused(TypeError, "is no function but int", odrpo_bench.run, "tiny.toml", estimators={"mine": 3})
refused(TypeError, "estimators have names, and 1 is none", odrpo_bench.run, "tiny.toml", estimators={1: grpo})
refused(TypeError, "estimators have names, and '' is none", odrpo_bench.run, "tiny.toml", estimators={"": grpo})
refused(TypeError, "as a dict, and not list", odrpo_bench.run, "tiny.toml", estimators=[])
refused(InputError, "seeds", odrpo_bench.run, "tiny.toml", set={"suite.seeds": 0}, estimators={"mine": grpo}, output="no.h5", progress=False)
refused(InputError, "cannot be a name", odrpo_bench.run, "tiny.toml", estimators={"a/b": grpo}, output="no.h5", progress=False)
refused(ProgramError, "another suite", odrpo_bench.run, "tiny.toml", set={"table.baseline": "mine"}, output="one.h5", estimators={"mine": noted}, progress=False)

# --- what a function is: another one never continues its results
IDENTITIES = """
import functools, operator
import numpy as np
from odrpo_bench.functions import _source_hash

def scaled(by):
    def scale(scores):
        return by * scores
    return scale

def defaults(by):
    def scale(scores, by=by, *, more={"plus": by}):
        return by * scores
    return scale

def wrapped(inner, by):
    @functools.wraps(inner)
    def wrapper(scores):
        return inner(scores) + by
    return wrapper

def nested(by):
    return lambda scores: (lambda s: by(s) if by else s)(scores)

def calls_itself(by):
    def one(scores):
        return one(scores) if by else scores
    return one

class Scale:
    def __init__(self, by):
        self.by = by
    def __call__(self, scores):
        return self.by * scores
    def method(self, scores):
        return self.by * scores

class Other(Scale):
    def __call__(self, scores):
        return scores

def from_text(text):
    exec(text, space := {})
    return space["f"]

functions = [
    scaled(1), scaled(2), scaled(1.0), scaled("1"), scaled(None), scaled(np.float32(1)), scaled(np.array([1, 2])), scaled(np.array([[1, 2]])), scaled(np.array([1.0, 2])),
    scaled(np.array([1, None])), scaled({"a": {1, 2}, "b": [1]}), scaled({"a": {1, 3}, "b": [1]}), scaled({"b": [1], "a": {1, 3}}), scaled(len), scaled(np), scaled(Scale),
    defaults(1), defaults(2), wrapped(scaled(1), 1), wrapped(scaled(1), 2), wrapped(scaled(2), 1), nested(None), nested(np.exp), nested(np.log), calls_itself(0), calls_itself(1),
    Scale(1), Scale(2), Scale(np.arange(3)), Other(1), Scale(1).method, Scale(2).method, functools.partial(operator.mul, 1), functools.partial(operator.mul, 2),
    functools.partial(operator.add, 1), functools.partial(scaled(1), by=1), functools.partial(scaled(2), by=1), np.exp, np.log, operator.itemgetter(1), operator.itemgetter(2),
    (lambda s: s * 2), (lambda s: s * 3), (lambda s: np.exp(s)), (lambda s: np.log(s)), (lambda s: [x for x in s if x == 1]), (lambda s: [x for x in s if x == 2]),
    from_text("def f(s): return s + 1"), from_text("def f(s): return s + 2"), from_text("def f(s): return s in {'a', 'b'}"),
]
hashes = [_source_hash("mine", f) for f in functions]
"""
with open("identities.py", "w") as file:
    file.write(IDENTITIES)
hashes = [subprocess.run([sys.executable, "-c", "import identities; print(*identities.hashes)"], env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{os.getcwd()}:{os.environ['PYTHONPATH']}"},
                         capture_output=True, text=True).stdout.split() for seed in "12"]
check(len(hashes[0]) == 50 and hashes[0] == hashes[1], f"the same in two processes: {[i for i, pair in enumerate(zip(*hashes)) if pair[0] != pair[1]]}")
check(len(set(hashes[0])) == 50, f"another one for each function: {[i for i, one in enumerate(hashes[0]) if one in hashes[0][:i]]}")
source = inspect.getsource(grpo)
check(introduction["source_sha256"] == hashlib.sha256(source.encode()).hexdigest(), "of a function that holds nothing it is the SHA-256 of its source")


def times(by):
    return lambda scores: by * grpo(scores)


first = odrpo_bench.run("tiny.toml", output="times.h5", estimators={"mine": times(1)}, progress=False)
check(odrpo_bench.run("tiny.toml", output="times.h5", estimators={"mine": times(1)}, progress=False).digest == first.digest, "an equal closure loads what is complete")
refused(ProgramError, "another suite", odrpo_bench.run, "tiny.toml", output="times.h5", estimators={"mine": times(2)}, progress=False)
why = refused(TypeError, "estimators['mine'] holds a _thread.lock", odrpo_bench.run, "tiny.toml", estimators={"mine": times(threading.Lock())})
check("make it a global of the module, and give the estimator a new name when it changes" in str(why), f"what to do: {why}")
refused(TypeError, "numpy.ufunc", odrpo_bench.run, "tiny.toml", estimators={"mine": np.frompyfunc(grpo, 1, 1)})


# --- Ctrl-C: what is done is saved, and the same call continues
def interrupt_when(good):
    """Sends this process a SIGINT as soon as good()."""

    def wait():
        until = time.monotonic() + 120
        while not good() and time.monotonic() < until:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=wait, daemon=True).start()


def interrupted(scores):
    """grpo. Its thirtieth call is interrupted, and answers all the same."""
    calls.append(len(scores))
    if len(calls) == 30:
        os.kill(os.getpid(), signal.SIGINT)
    return grpo(scores)


calls = []
whole = {**SUITE, "suite": {"name": "long", "seeds": 12}, "learn": {"steps": 4000, "batch": 8}}
before = signal.getsignal(signal.SIGINT)
for name, what, more in (("dict", whole, {}), ("function", "tiny.toml", {"estimators": {"mine": interrupted}})):
    calls[:] = range(30)  # no interrupt
    undisturbed = odrpo_bench.run(what, output=f"{name}-whole.h5", progress=False, **more)
    calls.clear()
    if name == "dict":
        interrupt_when(lambda: glob.glob("dict.h5.work/shard-*"))
    why = refused(KeyboardInterrupt, "the same command continues", lambda: odrpo_bench.run(what, output=f"{name}.h5", jobs=1, progress=False, **more))
    check(signal.getsignal(signal.SIGINT) is before, f"{name}: the handler is put back")
    check(os.path.isdir(f"{name}.h5.work") and not os.path.exists(f"{name}.h5"), f"{name}: a work folder, and no output: {why}")
    shown = io.StringIO()
    with contextlib.redirect_stderr(shown):
        again = odrpo_bench.run(what, output=f"{name}.h5", **more)
    check(again.digest == undisturbed.digest, f"{name}: as if undisturbed")
    check("resumed: " in shown.getvalue() or "continued " in shown.getvalue(), f"{name}: nothing was resumed: {shown.getvalue()}")


def ends(how):
    """An estimator whose hundred-and-fiftieth call does not answer, once; its earlier ones see to it that runs are complete."""
    if how == "exits":
        raise SystemExit(3)
    for after in (0.3, 1):
        threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT)).start()
    while time.monotonic() < hang_until:
        time.sleep(0.05)


def at_last(scores):
    calls.append(len(scores))
    if len(calls) == 150:
        ends(how)
    return grpo(scores)


calls = [0] * 200
undisturbed = odrpo_bench.run("tiny.toml", output="undisturbed.h5", estimators={"mine": at_last}, progress=False)
for how, kind in (("exits", SystemExit), ("hangs", KeyboardInterrupt)):
    calls, hang_until = [], time.monotonic() + 100
    refused(kind, "", lambda: odrpo_bench.run("tiny.toml", output=f"{how}.h5", jobs=1, estimators={"mine": at_last}, progress=False))
    check(time.monotonic() < hang_until - 50 and signal.getsignal(signal.SIGINT) is before, f"{how}: ends at once")
    check(os.path.isdir(f"{how}.h5.work") and not os.path.exists(f"{how}.h5"), f"{how}: a work folder, and no output")
    shown = io.StringIO()
    with contextlib.redirect_stderr(shown):
        again = odrpo_bench.run("tiny.toml", output=f"{how}.h5", estimators={"mine": at_last})
    check(again.digest == undisturbed.digest and "resumed: " in shown.getvalue(), f"{how}: continues: {shown.getvalue()}")

# --- progress: a bar on a terminal and in a notebook, lines of notes elsewhere
long = {**SUITE, "suite": {"name": "long", "seeds": 4}, "learn": {"steps": 2000, "batch": 8}}
shown = io.StringIO()
with contextlib.redirect_stderr(shown):
    odrpo_bench.run(long, output="lines.h5")
check(shown.getvalue().startswith("wrote lines.h5: 32 runs") and "\r" not in shown.getvalue(), f"notes: {shown.getvalue()!r}")
sys.modules["ipykernel"] = types.ModuleType("ipykernel")
shown = io.StringIO()
with contextlib.redirect_stdout(shown):
    odrpo_bench.run(long, output="notebook.h5")
del sys.modules["ipykernel"]
check("/32 runs" in shown.getvalue() and "\r" in shown.getvalue() and "\x1b" not in shown.getvalue() and shown.getvalue().rstrip().splitlines()[-1].startswith("wrote notebook.h5"),
      f"a notebook: {shown.getvalue()!r}")


def on_terminal(code, key_when=None):
    """Runs Python code on a terminal, on which Ctrl-C is pressed as soon as key_when(): (exit status, what the terminal shows)."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm")
        os.environ.pop("CI", None)
        os.execv(sys.executable, [sys.executable, "-c", f"import odrpo_bench\n{code}"])
    seen = b""
    with contextlib.suppress(OSError):
        while True:
            if key_when and select.select([terminal], [], [], 0.01)[0] == []:
                if key_when():
                    os.write(terminal, b"\x03")
                    key_when = None
            elif piece := os.read(terminal, 4096):
                seen += piece
            else:
                break
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), seen


status, seen = on_terminal("odrpo_bench.run('tiny.toml', set={'learn.steps': 3000}, output='pty.h5')")
check(status == 0 and b"/16 runs" in seen and b"\x1b[K" in seen and b"wrote pty.h5" in seen, f"a terminal: {status}, {seen!r}")
# Ctrl-C reaches this process and the program: one stop, in which the program saves
status, seen = on_terminal("odrpo_bench.run('tiny.toml', set={'learn.steps': 40000}, jobs=1, output='key.h5')", lambda: glob.glob("key.h5.work/shard-*"))
check(status == -signal.SIGINT and seen.count(b"stopping when") == 1 and b"KeyboardInterrupt: stopped: " in seen and os.path.isdir("key.h5.work"), f"Ctrl-C: {status}, {seen!r}")
check(sorted(os.listdir("/proc/self/fd")) == descriptors, f"descriptors that stay open: {descriptors}, now {os.listdir('/proc/self/fd')}")

# --- the command line of the package
def package_command(*arguments):
    ran = subprocess.run([sys.executable, "-m", "odrpo_bench", *arguments], capture_output=True, text=True)
    return ran.returncode, ran.stdout, ran.stderr


check(odrpo_bench.__version__ == call("version").split()[1] and {"integrations", "judge", "compute", "run", "__version__"} <= {*dir(odrpo_bench)}, "version and names")
check(package_command("version")[:2] == (0, call("version")), "everything else is the program's")
check(package_command("table")[0] == 2 and package_command("table", "no.h5")[0] == 5, "and so are its exit codes")
check(package_command("convert")[0] == 2 and package_command("convert", "--help")[0] == 0, "convert is Python's")
with open("odrpo-bench", "w") as file:
    file.write("#!/bin/sh\n")
os.chmod("odrpo-bench", 0o755)
os.environ["ODRPO_BENCH"], os.environ["PATH"] = "/no/such/file", os.getcwd()
shutil.copy(odrpo_bench.program.__file__, "alone.py")  # without a build folder around it
sys.path.insert(0, os.getcwd())
alone = importlib.import_module("alone")
refused(FileNotFoundError, "ODRPO_BENCH", alone.path)  # never a script, which may be this package's own
os.environ["PATH"] = os.path.dirname(program)
check(alone.path() == program, "in PATH")
finish()
