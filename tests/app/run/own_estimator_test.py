#!/usr/bin/env python3
"""Estimators of other programs: what they train, what is said to them, how they fail, and who starts them.

Usage: own_estimator_test.py PROGRAM
"""
import csv, io, json, os, subprocess, sys

import checks
from checks import call, check, digest, finish, flowed, near, program, suite

PYTHON = sys.executable
HEAD = """import json, os, sys
said = open("said.jsonl", "a")
def answer(scores):
    out = []
    for row in scores:
        there = [s for s in row if s is not None]
        mean = sum(there) / len(there) if there else 0
        sd = (sum((s - mean) ** 2 for s in there) / len(there)) ** .5 if there else 0
        out.append([None if s is None else 0 if sd == 0 else (s - mean) / sd for s in row])
    return out
n = 0
for line in sys.stdin:
    said.write(str(os.getpid()) + " " + line); said.flush()
    request = json.loads(line)
    if "scores" not in request:
        print(json.dumps({"name": "ours", "version": 3}), flush=True)
        continue
    n += 1
    a = answer(request["scores"])
    %s
    print(json.dumps({"advantages": a}), flush=True)
"""


def write(name, extra="pass"):
    with open(name, "w") as file:
        file.write(HEAD % extra)
    return f"{PYTHON} {name}"


def messages():
    with open("said.jsonl") as file:
        lines = [line.split(" ", 1) for line in file]
    os.remove("said.jsonl")
    return [(int(pid), json.loads(text)) for pid, text in lines]


def curves(file, estimator):
    rows = csv.DictReader(io.StringIO(call("export", file, "--what", "curves", "--curve", "quality", "--curve", "reward")))
    return [float(r[k]) for r in rows if r["estimator"] == estimator for k in ("step", "quality", "reward")]


def run(path, *more, code=0, words=""):
    return call("run", path, "--jobs", "1", "-q", "--force", *more, code=code, words=words)


mine = write("mine.py")
base = suite("own", estimator='["grpo", "mine"]', more=f'\n[estimator.mine]\ncommand = "{mine}"\n')

# --- it trains as the built-in grpo does, in worlds with missing scores too; without an edit of the suite; with two jobs, in parts, and again
run(base, "-o", "own.h5")
near(curves("own.h5", "mine"), curves("own.h5", "grpo"), "an outside grpo", 1e-6)
said = messages()
runs = [m["begin"]["run"] for _, m in said if "begin" in m]
check(said[0][1] == {"protocol": 1, "kind": "scores", "state": "none"}, f"the first message: {said[0]}")
check(len(set(runs)) == len(runs) > 1 and len({pid for pid, _ in said}) == 2, f"one process of the worker for all runs, after the one that introduces itself: {runs}")
steps = [m["step"] for _, m in said if m.get("run") == runs[0]]
check(steps[:6] == [0, 0, 1, 1, 2, 3], f"the first two batches are sent twice: {steps[:8]}")
first, again = [m for _, m in said if m.get("run") == runs[0]][:2]
check(first["prompts"] == again["prompts"][::-1] and first["scores"] == again["scores"][::-1] and first["levels"] == 10, "the second time in reverse")
begin = next(m["begin"] for _, m in said if "begin" in m)
check(len(first["scores"]) == begin["batch"] and {len(row) for row in first["scores"]} == {begin["rollouts"]} and begin["estimator"] == "mine", f"{begin}")
wanted = digest("own.h5")
plain = suite("plain", estimator='["grpo"]')
edits = ("--set", 'grid.estimator+=["mine"]', "--set", f"estimator.mine.command={mine}", "--set", 'suite.name="own"')
run(plain, *edits, "-o", "set.h5")
check(digest("set.h5") == wanted, "by --set alone")
call("run", base, "--jobs", "2", "-q", "-o", "two.h5")
check(digest("two.h5") == wanted, "two jobs")
for part in (0, 1):
    call("run", base, "--shard", f"{part}/2", "-q", "-o", f"part{part}.h5")
before = os.path.getsize("said.jsonl")
call("merge", "part0.h5", "part1.h5", "-o", "merged.h5")
check(digest("merged.h5") == wanted, "parts")
call("table", "merged.h5"), call("report", "merged.h5", "-o", "page.html"), call("check", base), call("run", base, "--dry-run"), call("verify", "own.h5")
check(os.path.getsize("said.jsonl") == before, "merge, table, report, check, verify and --dry-run start nothing")
told = call("run", base, "-o", "own.h5", "--force", words="starts ")
check("mine: A by the program `" in flowed(told), f"the formula names it: {told}")
text = call("export", "own.h5", "--what", "all", "--format", "jsonl")
try:
    import h5py
    with h5py.File("own.h5") as file:
        programs = file["provenance/programs"][()].decode()
    check(programs.startswith("mine\t") and '"version": 3' in programs and "mine.py " in programs, f"what it says of itself: {programs!r}")
except ImportError:
    pass

# --- a changed program is another suite; one that is stopped goes on
write("mine.py", "a = [[x and -x for x in row] for row in a]")
call("run", base, "-q", "-o", "two.h5", code=5, words="another suite")
call("merge", "part0.h5", "part1.h5", "-o", "merged.h5", "--force", code=8, words="or a file that it names")
run(base, "-o", "other.h5")
check(digest("other.h5") != wanted, "and trains something else")
write("mine.py")

# --- what it may say: memory, final advantages, missing scores
final = write("final.py", "a = [[None if i == 1 else x for i, x in enumerate(row)] for row in a]")
memory = write("memory.py", "a = [[x and x / n for x in row] for row in a]")
gaps = '\n[rater.gaps]\nbase = "mixed"\nparse_failure = 0.2\nparse_policy = "drop"\n'
odd = suite("odd", estimator='["grpo", "mine", "final", "memory"]', rater='["gaps"]',
            more=gaps + f'[estimator.mine]\ncommand = "{mine}"\n[estimator.final]\ncommand = "{final}"\nkind = "final"\n[estimator.memory]\ncommand = "{memory}"\nstate = "run"\n')
run(odd, "-o", "odd.h5")
near(curves("odd.h5", "mine"), curves("odd.h5", "grpo"), "an outside grpo with missing scores", 1e-6)
check(curves("odd.h5", "final") != curves("odd.h5", "mine") and curves("odd.h5", "memory") != curves("odd.h5", "mine"), "others train otherwise")
check(any(None in row for _, m in messages() for row in m.get("scores", [])), "a missing score is null")

# --- misbehaviour: the run fails with the reason, the others go on, nothing is left running
HOW = {
    "nan": ('a[3][2] = float("nan")', "the answer has NaN or Infinity, which JSON lacks"),
    "shape": ("a[2].pop()", "`advantages`[2] has"),
    "groups": ("a.pop()", "groups, wanted"),
    "text": ('a[0][0] = "1"', '`advantages`[0][0] is "1", no number'),
    "null": ("a[0][0] = None", "`advantages`[0][0] is null, no number"),
    "huge": ("a[0][0] = 1e300", "beyond the range of float"),
    "dead": ('print("why", file=sys.stderr); sys.exit(3)', "the process ended with exit code 3 instead of an answer to step 0; its stderr ends: why"),
    "silent": ("continue", "after 0.5 s (`deadline`)"),
    "more": ('print("{}")', "the answer has no `advantages`"),
    "list": ("print(json.dumps(a), flush=True); continue", "the answer is no JSON object"),
    "words": ('print("hello", flush=True); continue', "the answer is no JSON"),
    "flood": ('[sys.stdout.write("x" * 65536) for _ in range(10000)]', "the answer is longer than"),
    "error": ('print(json.dumps({"error": "no idea"}), flush=True); continue', "step 0: it says: no idea"),
    "random": ("import random; a[0][0] = random.random() + 1", "gets other advantages"),
    "order": ("a = [[x * (g + 1) for x in row] for g, row in enumerate(a)]", "an estimator with memory has state = \"run\""),
    "child": ('import subprocess; subprocess.Popen(["sleep", "1234"]); sys.exit(4)', "exit code 4"),
}
for name, (extra, reason) in HOW.items():
    bad = write(f"bad_{name}.py", extra)
    late = f"deadline = {0.5 if name == 'silent' else 20}\n"
    path = suite(f"bad-{name}", estimator='["grpo", "bad"]', more=f'\n[estimator.bad]\ncommand = "{bad}"\n{late}')
    r = subprocess.run([program, "run", path, "--jobs", "1", "--force"], capture_output=True, text=True, env=checks.clean, stdin=subprocess.DEVNULL)
    check(r.returncode == 7 and "failed: " in r.stderr and reason in r.stderr, f"{name}: exit {r.returncode}: {r.stderr}")
    check("grpo " in r.stdout and "failed" in r.stdout, f"{name}: the others go on: {r.stdout}")
left = subprocess.run(["pgrep", "-f", "sleep 1234"], capture_output=True, text=True).stdout
check(left == "", f"a child is left behind: {left}")
dies = suite("dies", estimator='["grpo", "bad"]', more='\n[estimator.bad]\ncommand = "sh -c \'exit 9\'"\n')
call("run", dies, "--force", code=7, words="warning: its runs will fail: ")

# --- what is wrong in a suite is said at its line, before anything is trained
for lines, words in (('command = "no-such-program-here x"', 'there is no program "no-such-program-here" in PATH'), ('command = "a | b"', "no shell runs it"),
                     ('command = "echo \'"', "a quote or a bracket without its end"), ('command = ""', "must be a name in quotes"), ("command = 3", "must be a name in quotes"),
                     (f'command = "{mine}"\nddof = 1', "has no effect"), (f'command = "{mine}"\ncompat = "verl"', "another program computes the advantages"),
                     (f'command = "{mine}"\nkind = "raw"', 'does not know "raw"'), (f'base = "grpo"\ncommand = "{mine}"', "its advantages come from no other program"),
                     ('base = "command"', "needs `command = "), (f'command = "{mine}"\nvalues = [1, 2]', "another program computes the advantages")):
    path = suite("wrong", estimator='["wrong"]', more=f"\n[estimator.wrong]\n{lines}\n")
    call("check", path, code=3, words=words)
call("check", suite("wrong", estimator='["command"]'), code=3, words="needs `command = ")
for aggregate in ("all", "fraction"):
    path = suite("wrong", estimator='["mine"]', rater='["apart"]', votes="[4]",
                 more=f'\n[rater.apart]\nbase = "mixed"\naggregate = "{aggregate}"\n[estimator.mine]\ncommand = "{mine}"\n')
    call("check", path, code=3, words=f'`aggregate` cannot be "{aggregate}" here')
path = suite("wrong", estimator='["mine"]', more=f'\n[estimator.mine]\ncommand = "{mine}"\nstate = "run"\n[record]\ngradient = 2\n')
call("check", path, code=3, words="`gradient` of [record]")

# --- += of other lists, and of one value
check("votes" in call("check", plain, "--set", "grid.votes+=[2]", "--set", "learn.lr+=0.7"), "+= makes lists longer")

# --- one group
shown = call("explain", "--rewards", "3,7,7,9,NA", "--estimator", "grpo", "--compat", "paper", "--command", mine)
rows = [line for line in shown.splitlines() if line.startswith(("  paper", "  answered"))]
check(len(rows) == 2 and rows[0].split()[1:] == rows[1].split()[1:], f"explain: {shown}")
answer = json.loads(call("explain", "--rewards", "3,7,7,9,NA", "--command", mine, "--json"))["program"]
near(answer["advantages"][:4], [-1.6059101370939322, 0.2294157338705617, 0.2294157338705617, 1.1470786693528088], "explain --json")
check(answer["advantages"][4] is None, "a missing reward")
byplace = write("place.py", "a[0][1] = 5")
check("gives members with the reward 7 different advantages" in flowed(call("explain", "--rewards", "3,7,7,9", "--command", byplace)), "members")
call("explain", "--rewards", "3,7", "--command", "no-such-program-here", code=5, words="there is no program")
finish()
