"""`odrpo-bench gate` as a user starts it: counts of instructions and allocations, programs made with Google Benchmark, our own builds and the
self-test.

Usage: gate_count_test.py PROGRAM GATE_WORKER.py SUITES"""
import json, os, re, shutil, subprocess, sys

import checks
from checks import program
from gate_checks import check, gate, verdicts, worker

suites = checks.paths[1]

# Google Benchmark: two programs that write its JSON, of a release that takes a number of iterations and of one that does not
bench = os.path.abspath("bench")
open(bench, "w").write(f"""#!{sys.executable}
import json, random, re, sys
random.seed()
flags = dict(a[2:].split("=", 1) for a in sys.argv[2:] if a.startswith("--"))
names = ["BM_a/8", "BM_b(x)", "BM_c", "BM_d/iterations:5"]
new, slow = "new" in sys.argv[1], "slow" in sys.argv[1]
if flags.get("benchmark_list_tests") == "true":
    print("\\n".join(names)); sys.exit()
length = flags["benchmark_min_time"]
if length.endswith("x") and not new: sys.exit("min_time is expected to be a double")
if "odd" in sys.argv[1]: flags["time"] = sys.argv[2]
n = int(length[:-1]) if length.endswith("x") else 1000
chosen = [x for x in names if re.fullmatch(flags["benchmark_filter"], x)]
print(json.dumps({{"benchmarks": [{{"name": x, "run_name": x, "run_type": "iteration", "iterations": 5 if "iterations" in x else n, "real_time": 9e9, "time_unit": "us", "checksum": 7.0,
  "cpu_time": float(flags.get("time", 700)) * random.lognormvariate(0, 0.002) * (1.05 if slow and x == "BM_b(x)" else 1), **({{"error_occurred": True, "error_message": "no data"}} if x == "BM_c" else {{}})}} for x in chosen]}}))
""")
os.chmod(bench, 0o755)
for release in ("old", "new"):
    r = gate("--json", kind="benchmark", baseline=f"{bench} {release}", candidate=f"{bench} {release}slow", seconds=300)
    check(f"benchmark, {release}: the slower one alone", r.returncode == 10 and verdicts(r) == {"BM_a/8": "same", "BM_b(x)": "slower", "BM_d/iterations:5": "same"}, r)
    check(f"benchmark, {release}: one that fails is left out", [c["case"] for c in json.loads(r.stdout)["left_out"]] == ["BM_c"], r)
    check(f"benchmark, {release}: iterations are fixed where they can be", {c["case"]: c["repeat"] for c in json.loads(r.stdout)["cases"]} ==
          {"BM_a/8": 1 if release == "new" else 0, "BM_b(x)": 1 if release == "new" else 0, "BM_d/iterations:5": 5}, r)
for release, cases, says in (("old", "BM_[ab]*", "no number of iterations"), ("new", "BM_d*", "fixes its number of iterations")):
    r = gate("--json", "--only-counts", "--cases", cases, kind="benchmark", baseline=f"{bench} {release}", counts=())
    j = json.loads(r.stdout)
    check(f"benchmark, {release}, {cases}: says why it does not count", r.returncode == 0 and says in j["allocations_by"] + j["instructions_by"], r)

def stored(*arguments):
    return subprocess.run([program, "gate", "--counts", "off", *arguments], capture_output=True, timeout=300, stdin=subprocess.DEVNULL)


def drop_load(file):
    content = json.load(open(file))
    content["conditions"] = [c for c in content["conditions"] if c["name"] != "load"]
    json.dump(content, open(file, "w"))


for release in ("old", "new"):
    r = stored("--save", f"{release}.json", "--kind", "benchmark", "--baseline", f"{bench} {release}")
    check(f"benchmark, {release}: stored", r.returncode == 0 and b"3 cases" in r.stdout and b"left out: BM_c" in r.stdout, r)
    drop_load(f"{release}.json")
    r = stored("--against", f"{release}.json", "--candidate", f"{bench} {release}", "--json")
    check(f"benchmark, {release}: the same as the stored one, with its iterations", r.returncode == 0 and set(verdicts(r).values()) == {"same"}
          and {c["case"]: c["repeat"] for c in json.loads(r.stdout)["cases"]} == {c["case"]: c["repeat"] for c in json.load(open(f"{release}.json"))["cases"]}, r)
r = stored("--against", "old.json", "--candidate", f"{bench} new", "--json")
check("benchmark: an old library's times and a new library", r.returncode == 0, r)
r = stored("--against", "new.json", "--candidate", f"{bench} old")
check("benchmark: an old library cannot do a stored number of iterations: 12", r.returncode == 12 and b"numbers of iterations are stored" in r.stderr, r)
for odd in ("1e-310", "1e300", "0", "-3"):
    r = gate(kind="benchmark", baseline=f"{bench} odd {odd}")
    check(f"benchmark: a time of {odd}: 7", r.returncode == 7 and b"its time is not between" in r.stderr, r)
r = gate(kind="benchmark", baseline="echo hello")
check("no Google Benchmark: 7", r.returncode == 7 and b"not the JSON" in r.stderr, r)

# allocations
r = gate("--json", "--only-counts", baseline=worker(waste=2, cases=["a"]), candidate=worker(waste=3, cases=["a"]), counts=("--counts", "auto"))
counts = {c["what"]: c for c in json.loads(r.stdout)["cases"][0]["counts"]}
check("allocations: half as many more", abs(counts["allocations"]["change"] - 0.5) < 0.01 and counts["allocations"]["reported"], counts)

# counts of commands
r = gate("--only-counts", kind="process", baseline="cat", counts=())
check("counts alone: a command's allocations or instructions, and its output", r.returncode == 0 and b"no count has changed" in r.stdout, r)

# a count that differs from itself
r = gate("--json", "--only-counts", "--fail-on", "counts", baseline=worker(random_waste=50, cases=["a"]), counts=())
j = json.loads(r.stdout)
check("allocations that vary: not compared", r.returncode == 0 and [c["exact"] for c in j["cases"][0]["counts"] if c["what"] == "allocations"] == [False], r)
check("and said so", "differ in 1 of 1 cases" in j["allocations_by"] and "allocations of one side differ" in j["cases"][0]["sentence"], r)
no_valgrind = {"PATH": "/nowhere"}
r = gate("--only-counts", baseline=worker(random_waste=50, cases=["a"]), counts=(), environment=no_valgrind)
if b"perf events:" in r.stdout:  # else the processor counts, whatever PATH is
    check("nothing else to compare but checksums", r.returncode == 0 and b"nothing could be counted; equal checksums" in r.stdout, r)
    r = gate("--only-counts", baseline=worker(random_waste=50, cases=["a"], varies=["a"]), counts=(), environment=no_valgrind)
    check("and not even them: 12", r.returncode == 12 and b"nothing can be compared" in r.stderr, r)

# tools that fail
r = gate("--json", "--max-seconds", "1", baseline=worker(does="dies when preloaded", cases=["a"]), counts=("--counts", "auto"))
check("a program that does not bear the preloaded library is measured without", json.loads(r.stdout)["allocations_by"].startswith("none: with the preloaded library"), r)
check("and nothing fails", "different" not in verdicts(r).values() and r.returncode in (0, 10), r)
r = gate(candidate=worker(does="dies at once"), counts=("--counts", "auto"))
check("a program that dies without it too: 7, in its own name", r.returncode == 7 and r.stderr.startswith(b"error: candidate:") and b"preloaded" not in r.stderr, r)
os.mkdir("tools")
open("tools/valgrind", "w").write("#!/bin/sh\necho 'unknown instruction' >&2\nexit 9\n")
os.chmod("tools/valgrind", 0o755)
broken = {"PATH": os.path.abspath("tools") + ":" + os.environ["PATH"]}
r = gate("--only-counts", "--counts", "callgrind", baseline=worker(cases=["a"]), counts=(), environment=broken)
check("callgrind was asked for and fails: 7, which names it", r.returncode == 7 and b"under callgrind, " in r.stderr and b"unknown instruction" in r.stderr, r)
for kind, command in (("worker", worker(cases=["a"])), ("process", "true"), ("benchmark", f"{bench} new")):
    r = gate("--only-counts", "--json", baseline=command, kind=kind, counts=(), environment=broken)
    by = json.loads(r.stdout or "{}").get("instructions_by", "")
    check(f"{kind}: callgrind fails under --counts auto: the gate goes on", r.returncode == 0 and (by.startswith("none: under callgrind") or by == "perf events"), r)
if shutil.which("valgrind"):
    # an odd and an even number of instructions, by turns
    turns = "sh -c 'if [ -e turn ]; then rm turn; else : > turn; i=0; while [ $i -lt 500 ]; do i=$((i+1)); done; fi'"
    for side in ({"baseline": turns, "candidate": "true"}, {"baseline": "true", "candidate": turns}):
        r = gate("--json", "--only-counts", kind="process", counts=("--counts", "callgrind"), **side)
        exact = {c["what"]: c["exact"] for c in json.loads(r.stdout)["cases"][0]["counts"]}
        check("both sides are counted twice", exact["instructions"] is False, r)

# our own program
r = gate("--json", "--max-seconds", "2", "--fail-on", "different", "--cases", "*grpo/n8", "--suite", os.path.join(suites, "quickstart.toml"), kind="self", baseline=program)
check("self: steps of a suite, equal checksums", r.returncode == 0 and all(c["checksum"]["baseline"] for c in json.loads(r.stdout)["cases"]), r)

# the self-test, as a user starts it
test = [program, "gate", "--self-test", "--trials", "2", "--seed", "1"]
r = subprocess.run(test, capture_output=True, timeout=300, stdin=subprocess.DEVNULL)
text = r.stdout.decode()
check("self-test: 80 columns, a row each for equal work and 2, 5 and 10 % more", r.returncode == 0 and r.stderr == b"" and all(len(line) <= 80 for line in text.splitlines())
      and all(re.search(rf"^ *{row}", text, re.M) for row in ("none", r"\+2 %", r"\+5 %", r"\+10 %")), r)
r = subprocess.run([*test, "--json"], capture_output=True, timeout=300, stdin=subprocess.DEVNULL)
rows = json.loads(r.stdout)["rows"]
check("self-test: four amounts, two trials each", r.returncode == 0 and [row["added"] for row in rows] == [0, 0.02, 0.05, 0.1] and all(row["slower"]["n"] == 2 for row in rows), r)
checks.finish()
