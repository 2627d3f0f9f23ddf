#!/usr/bin/env python3
"""Estimators of other programs: what they train, what is said to them, how they fail, and who starts them.

Usage: own_estimator_test.py PROGRAM
"""
import csv, io, json, os, signal, subprocess

import checks
from checks import call, check, digest, finish, flowed, near, program, suite, wait_until

HEAD = """import json, os, sys, time
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
        print(json.dumps({"id": request["id"], "name": "ours", "version": 3}), flush=True)
        continue
    n += 1
    a = answer(request["scores"])
    %s
    print(json.dumps({"id": request["id"], "advantages": a}), flush=True)
"""


def write(name, extra="pass"):
    with open(name, "w") as file:
        file.write(HEAD % extra)
    return f"python3 {name}"


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
check(said[0][1] == {"protocol": 1, "kind": "scores", "state": "none", "id": 1}, f"the first message: {said[0]}")
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
call("run", base, "-o", "own.h5", "--force", words="starts ")
told = call("table", "own.h5", "--legend", "full")
check("mine: A by the program `" in flowed(told), f"the formula names it: {told}")
stored = open("own.h5", "rb").read()
check(b'mine\tpython3 mine.py\tmine.py ' in stored and b'"version": 3' in stored, "what it says of itself is in the file")

# --- a changed program is another suite
write("mine.py", "a = [[x and -x for x in row] for row in a]")
call("run", base, "-q", "-o", "two.h5", code=5, words="another suite")
call("merge", "part0.h5", "part1.h5", "-o", "merged.h5", "--force", code=8, words="or a file that it names")
run(base, "-o", "other.h5")
check(digest("other.h5") != wanted, "and trains something else")
write("mine.py")

# --- a suite in another folder; a stop between two answers, after which the run goes on from its checkpoint, or begins again where the program has memory
os.mkdir("below")
os.rename(base, "below/own.toml"), os.rename("mine.py", "below/mine.py")
call("run", "below/own.toml", "-q", "-o", "below.h5")
check(digest("below.h5") == wanted and os.path.exists("below/said.jsonl"), "the suite's folder")
os.rename("below/own.toml", base), os.rename("below/mine.py", "mine.py")
for state, continued in (("none", True), ("run", False)):
    slow = write("slow.py", "while n > 8 and not os.path.exists('go'): time.sleep(0.01)")
    path = suite(f"slow-{state}", estimator='["slow"]', seeds="1", votes="[1]", steps="60", baseline='"slow"', more=f'\n[estimator.slow]\ncommand = "{slow}"\nstate = "{state}"\n')
    open("said.jsonl", "w").close()
    job = subprocess.Popen([program, "run", path, "-q"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: '"step":6,' in open("said.jsonl").read(), job)  # the program now waits, and the run for its answer
    job.send_signal(signal.SIGTERM)
    open("go", "w").close()
    errors = job.communicate()[1]
    check(job.returncode == 75, f"state {state}, a stop: exit {job.returncode}: {errors}")
    open("said.jsonl", "w").close()
    call("run", path, words="continued bandit" if continued else "")
    first = next(m["step"] for _, m in messages() if "step" in m)
    check((first > 0) == continued, f"state {state}: the first step of the second call is {first}")
    stopped = digest(f"slow-{state}.h5")
    call("run", path, "--force", "-q")  # nothing waits: the file `go` is there
    check(digest(f"slow-{state}.h5") == stopped, f"state {state}: a run that was stopped ends as one that was not")
    os.remove("go")

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
MISBEHAVIOUR = {
    "nan": ('a[3][2] = float("nan")', "the answer has NaN or Infinity, which JSON lacks"),
    "shape": ("a[2].pop()", "`advantages`[2] has"),
    "groups": ("a.pop()", "groups, wanted"),
    "text": ('a[0][0] = "1"', '`advantages`[0][0] is not a number but string'),
    "null": ("a[0][0] = None", "`advantages`[0][0] is not a number but null"),
    "huge": ("a[0][0] = 1e300", "beyond the range of float"),
    "dead": ('print("why", file=sys.stderr); sys.exit(3)', "the process ended with exit code 3 instead of an answer to step 0; its stderr ends: why"),
    "silent": ("continue", "after 0.5 s (`deadline`)"),
    "more": ('print("{}")', "the answer's `id` is not 3"),
    "later": ('if n == 4: print(json.dumps({"id": request["id"], "advantages": a}), flush=True)', ("the answer's `id` is not", "more lines than answers")),
    "deep": ('print("{\\"error\\":" + "[" * 20000 + "]" * 20000 + "}", flush=True); continue', "it says: an error that is no text"),
    "deeper": ('print("{\\"id\\":" + str(request["id"]) + ",\\"advantages\\":[" + "[" * 20000 + "]" * 20000 + "]}", flush=True); continue', "`advantages` has 1 groups"),
    "list": ("print(json.dumps(a), flush=True); continue", "the answer is no JSON object"),
    "words": ('print("hello", flush=True); continue', "the answer is no JSON"),
    "flood": ('[sys.stdout.write("x" * 65536) for _ in range(10000)]', "the answer is longer than"),
    "error": ('print(json.dumps({"id": request["id"], "error": "no idea"}), flush=True); continue', "step 0: it says: no idea"),
    "random": ("import random; a[0][0] = random.random() + 1", "gets other advantages"),
    "order": ("a = [[x * (g + 1) for x in row] for g, row in enumerate(a)]", "an estimator with memory has state = \"run\""),
    "child": ('import subprocess; subprocess.Popen(["sleep", "SECONDS"]); sys.exit(4)', "exit code 4"),
}
SECONDS = str(100000 + os.getpid())  # of a child that nobody else has
for name, (extra, reason) in MISBEHAVIOUR.items():
    extra = extra.replace("SECONDS", SECONDS)
    bad = write(f"bad_{name}.py", extra)
    late = f"deadline = {0.5 if name == 'silent' else 20}\n"
    path = suite(f"bad-{name}", estimator='["grpo", "bad"]', votes="[1]", seeds="2", more=f'\n[estimator.bad]\ncommand = "{bad}"\n{late}')
    r = subprocess.run([program, "run", path, "--jobs", "1", "--force"], capture_output=True, text=True, env=checks.clean, stdin=subprocess.DEVNULL)
    reasons = (reason,) if isinstance(reason, str) else reason  # any of them
    check(r.returncode == 7 and "failed: " in r.stderr and any(one in r.stderr for one in reasons), f"{name}: exit {r.returncode}: {r.stderr}")
    check("grpo " in r.stdout and "failed" in r.stdout, f"{name}: the others go on: {r.stdout}")
left = subprocess.run(["pgrep", "-f", f"sleep {SECONDS}"], capture_output=True, text=True).stdout
check(left == "", f"a child is left behind: {left}")
dies = suite("dies", estimator='["grpo", "bad"]', more='\n[estimator.bad]\ncommand = "sh -c \'exit 9\'"\n')
call("run", dies, "--force", code=7, words="warning: its runs will fail: ")

# --- what is wrong in a suite is said at its line, before anything is trained
for lines, words in (('command = "no-such-program-here x"', 'there is no program "no-such-program-here" in PATH'), ('command = "a | b"', "no shell runs it"),
                     ('command = "echo \'"', "a quote or a bracket without its end"), ('command = "python3 $HOME/x.py"', "has $ outside of single quotes"), ("command = \"python3 '$x' *.py\"", "has * outside of single quotes"), (f'command = ["{mine}", "true"]', "not a list"), ('command = ""', "must be a name in quotes"), ("command = 3", "must be a name in quotes"),
                     (f'command = "{mine}"\nddof = 1', "has no effect"), (f'command = "{mine}"\ncompat = "verl"', "another program or library computes the advantages"),
                     (f'command = "{mine}"\nkind = "raw"', 'does not know "raw"'), (f'base = "grpo"\ncommand = "{mine}"', "its advantages come from no other program"),
                     ('base = "command"', "needs `command = "), (f'command = "{mine}"\nvalues = [1, 2]', "another program or library computes the advantages")):
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
