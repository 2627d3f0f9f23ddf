"""`odrpo-bench gate` as a user starts it: counts of instructions and allocations, programs made with Google Benchmark, our own builds and the
self-test. Times are made up, and so is the Valgrind of all checks but one; no verdict depends on the machine.

Usage: gate_count_test.py PROGRAM GATE_WORKER.py SUITES"""
import json, os, subprocess, sys

import checks
from checks import program
from gate_checks import check, gate, short, verdicts, without_load, worker

suites = checks.paths[1]

# Google Benchmark: two programs that write its JSON, of a release that takes a number of iterations and of one that does not
bench = os.path.abspath("bench")
open(bench, "w").write(f"#!{sys.executable} -IS" + """
import re, sys
flags = dict(a[2:].split("=", 1) for a in sys.argv[2:] if a.startswith("--"))
names = ["BM_a/8", "BM_b(x)", "BM_c", "BM_d/iterations:5"]
new, slow = "new" in sys.argv[1], "slow" in sys.argv[1]
if flags.get("benchmark_list_tests") == "true":
    print("\\n".join(names)); sys.exit()
length = flags["benchmark_min_time"]
if length.endswith("x") and not new: sys.exit("min_time is expected to be a double")
if "odd" in sys.argv[1]: flags["time"] = sys.argv[2]
n = int(length[:-1]) if length.endswith("x") else 1000
def result(x):
    fails = '"error_occurred": true, "error_message": "no data",' if x == "BM_c" else ""
    iterations = 5 if "iterations" in x else n
    time = float(flags.get("time", 700)) * (1.05 if slow and x == "BM_b(x)" else 1)
    return (f'{{"name": "{x}", "run_name": "{x}", "run_type": "iteration", {fails} "iterations": {iterations}, "real_time": 9e9, "cpu_time": {time},'
            ' "time_unit": "us", "checksum": 7.0}')
print('{"benchmarks": [' + ", ".join(result(x) for x in names if re.fullmatch(flags["benchmark_filter"], x)) + "]}")
""")
os.chmod(bench, 0o755)
for release in ("old", "new"):
    r = gate("--json", kind="benchmark", baseline=f"{bench} {release}", candidate=f"{bench} {release}slow")
    check(f"benchmark, {release}: the slower one alone", r.returncode == 10 and verdicts(r) == {"BM_a/8": "same", "BM_b(x)": "slower", "BM_c": "failed", "BM_d/iterations:5": "same"}, r)
    check(f"benchmark, {release}: iterations are fixed where they can be", {c["case"]: c["repeat"] for c in json.loads(r.stdout)["cases"] if c["case"] != "BM_c"} ==
          {"BM_a/8": 1 if release == "new" else 0, "BM_b(x)": 1 if release == "new" else 0, "BM_d/iterations:5": 5}, r)
for release, cases, says in (("old", "BM_[ab]*", "no number of iterations"), ("new", "BM_d*", "fixes its number of iterations")):
    r = gate("--only-counts", "--cases", cases, kind="benchmark", baseline=f"{bench} {release}", counts=())
    check(f"benchmark, {release}, {cases}: nothing counted: 12, and why", r.returncode == 12 and r.stdout == b"" and says in r.stderr.decode(), r)

def stored(*arguments):
    return checks.gate("--counts", "off", *short, *arguments)


for release in ("old", "new"):
    r = stored("--save", f"{release}.json", "--kind", "benchmark", "--baseline", f"{bench} {release}")
    check(f"benchmark, {release}: stored", r.returncode == 0 and b"3 cases" in r.stdout and b"left out: BM_c: failed: the baseline says: no data" in r.stdout, r)
    without_load(f"{release}.json")
    r = stored("--against", f"{release}.json", "--candidate", f"{bench} {release}", "--json")
    check(f"benchmark, {release}: the same as the stored one, with its iterations", r.returncode == 0 and set(verdicts(r).values()) == {"same"}
          and {c["case"]: c["repeat"] for c in json.loads(r.stdout)["cases"]} == {c["case"]: c["repeat"] for c in json.load(open(f"{release}.json"))["cases"]}, r)
r = stored("--against", "old.json", "--candidate", f"{bench} new", "--json")
check("benchmark: an old library's times and a new library", r.returncode == 0, r)
r = stored("--against", "new.json", "--candidate", f"{bench} old")
check("benchmark: an old library cannot do a stored number of iterations: 12", r.returncode == 12 and b"numbers of iterations are stored" in r.stderr, r)
for odd in ("1e-310", "1e300", "0", "-3"):
    r = gate(kind="benchmark", baseline=f"{bench} odd {odd}")
    check(f"benchmark: all times are {odd}: 12", r.returncode == 12 and b"nothing can be compared" in r.stderr and b"a time that is not between" in r.stderr, r)
r = gate("--json", kind="benchmark", baseline=f"{bench} old", candidate=f"{bench} odd 0")
check("benchmark: all times of the candidate are 0: 10", r.returncode == 10 and set(verdicts(r).values()) == {"failed"}, r)
r = gate(kind="benchmark", baseline="echo hello")
check("no Google Benchmark: 7", r.returncode == 7 and b"not the JSON" in r.stderr, r)

# what Google Benchmark says of a case in the middle of three, instead of a time or beside it
odd_bench = os.path.abspath("odd_bench")
open(odd_bench, "w").write(f"#!{sys.executable} -IS" + """
import json, re, sys
mode, flags = sys.argv[1], dict(a[2:].split("=", 1) for a in sys.argv[2:] if a.startswith("--"))
if mode in ("banner", "tail"): print("Loading {weights}... 'done'")
if flags.get("benchmark_list_tests") == "true": sys.exit(print("x\\ny\\nz"))
if flags["benchmark_min_time"].endswith("x"): sys.exit("min_time is expected to be a double")
if mode == "block":
    with open("runs", "a") as f: f.write("."); runs = f.tell()
names = [x for x in "xyz" if re.fullmatch(flags["benchmark_filter"], x) and not (mode == "not run" and x == "y")]
cases = [{"name": x, "run_name": x, "run_type": "iteration", "iterations": 9, "real_time": 7.0, "cpu_time": 7.0, "time_unit": "us"} for x in names]
for c in cases:
    if c["name"] != "y": continue
    if mode == "error" or (mode == "block" and runs > 15): c.update(error_occurred=True, error_message="CUDA OOM \\x1b[31m", real_time=0, cpu_time=0)
    elif mode == "skipped": c.update(skipped=True, skip_message="no GPU", real_time=0, cpu_time=0)
    elif mode == "zero": c["cpu_time"] = 0
    elif mode == "no time": c["cpu_time"] = float("nan")
    elif mode == "text": c["cpu_time"] = "fast"
    elif mode in ("nan", "-inf"): c.update(rate=float(mode), label='say "NaN", -inf', checksum=float(mode))
out = json.dumps({"context": {"note": "NaN"}, "benchmarks": cases}, indent=1)
for word, written in (("NaN", "-nan"), ("-Infinity", "-inf")) if mode in ("nan", "-inf") and "y" in names else ():
    out = out.replace(f": {word}", f": {written}")
if mode == "broken": out = out.replace('9,', '9')
if mode == "cut": out = out[:-9]
print(out)
if mode == "tail": print("Destroying {context")
""")
os.chmod(odd_bench, 0o755)
modes = {"ok": ("same", ""), "error": ("failed", "says: CUDA OOM"), "skipped": ("skipped", "says: no GPU"), "zero": ("failed", "a time that is not"), "no time": ("failed", "a time that is not"),
         "text": ("failed", "a time that is not"), "not run": ("failed", "has not run it"), "nan": ("same", ""), "-inf": ("same", ""), "block": ("failed", "says: CUDA OOM")}
for mode, (verdict, says) in modes.items():
    for sides in (("baseline",), ("candidate",), ("baseline", "candidate")):
        of = [f"{odd_bench} '{mode if side in sides else 'ok'}'" for side in ("baseline", "candidate")]
        r = gate("--json", kind="benchmark", baseline=of[0], candidate=of[1])
        if os.path.exists("runs"): os.remove("runs")
        code = 10 if verdict == "failed" and sides == ("candidate",) else 0
        check(f"benchmark, {mode} in {' and '.join(sides)}: {verdict}, {code}", r.returncode == code and verdicts(r) == {"x": "same", "y": verdict, "z": "same"}, r)
        case = next(c for c in json.loads(r.stdout or '{"cases": [{"case": "y", "sentence": ""}]}')["cases"] if c["case"] == "y")
        check(f"benchmark, {mode}: the sentence says it of each side", mode == "block" or all((f"the {side} {says}" in case["sentence"] or f"the {side} gives {says}" in case["sentence"])
              == (says != "" and side in sides) for side in ("baseline", "candidate")) and "\x1b" not in case["sentence"], case)
r = gate("--json", kind="benchmark", baseline=f"{odd_bench} skipped", candidate=f"{odd_bench} error")
check("benchmark: skipped by the baseline, failed by the candidate: failed, 10", r.returncode == 10 and verdicts(r)["y"] == "failed", r)
r = gate("--fail-on", "skipped", kind="benchmark", baseline=f"{odd_bench} skipped")
check("--fail-on skipped: 11", r.returncode == 11, r)
for mode in ("banner", "tail"):
    r = gate("--json", kind="benchmark", baseline=f"{odd_bench} {mode}")
    check(f"benchmark, {mode}: text around names and JSON is no result", r.returncode == 0 and verdicts(r) == {"x": "same", "y": "same", "z": "same", "Loading {weights}... 'done'": "failed"}, r)
    r = gate("--json", kind="benchmark", baseline=f"{odd_bench} ok", candidate=f"{odd_bench} {mode}")
    check(f"benchmark, {mode} of one side: left out", r.returncode == 0 and set(verdicts(r)) == {"x", "y", "z"} and len(json.loads(r.stdout)["left_out"]) == 1, r)
for mode, place in (("broken", 'in line 11, column 4 of its output, where this stands: "real_time": 7.0,'), ("cut", "which ends there")):
    r = gate(kind="benchmark", baseline=f"{odd_bench} ok", candidate=f"{odd_bench} {mode}")
    check(f"benchmark, {mode}: 7, with the place", r.returncode == 7 and r.stderr.startswith(b"error: candidate: its JSON is broken") and place in r.stderr.decode(), r)
r = stored("--save", "odd.json", "--kind", "benchmark", "--baseline", f"{odd_bench} skipped")
check("benchmark: a skipped case is not stored, and said", r.returncode == 0 and b"left out: y: skipped: the baseline says: no GPU" in r.stdout and [c["case"] for c in json.load(open("odd.json"))["cases"]] == ["x", "z"], r)
r = stored("--save", "ok.json", "--kind", "benchmark", "--baseline", f"{odd_bench} ok")
without_load("ok.json")
for mode, verdict, code in (("skipped", "skipped", 0), ("error", "failed", 10)):
    r = stored("--against", "ok.json", "--candidate", f"{odd_bench} {mode}", "--json")
    check(f"benchmark, {mode} against what is stored: {code}", r.returncode == code and verdicts(r) == {"x": "same", "y": verdict, "z": "same"}, r)

# allocations, without callgrind
no_valgrind = {"PATH": "/nowhere"}
more = {"baseline": worker(waste=2, cases=["a"]), "candidate": worker(waste=3, cases=["a"]), "counts": ("--counts", "auto"), "environment": no_valgrind}
r = gate("--json", "--only-counts", **more)
counts = {c["what"]: c for c in json.loads(r.stdout)["cases"][0]["counts"]}
check("allocations: half as many more, which fails", r.returncode == 10 and abs(counts["allocations"]["change"] - 0.5) < 0.01 and counts["allocations"]["reported"], counts)
check("where counts alone decide", json.loads(r.stdout)["fail_on"] == ["different", "inconclusive", "counts"])
check("and --fail-on says no other", gate("--only-counts", "--fail-on", "different", **more).returncode == 0)
r = gate("--json", **more)
check("beside times they fail nothing", r.returncode == 0 and json.loads(r.stdout)["fail_on"] == ["slower", "different"], r)

# counts of commands: the one check that starts a real callgrind
r = gate("--only-counts", kind="process", baseline="cat", counts=())
check("counts alone: a command's allocations or instructions, and its output", r.returncode == 0 and b"no count has changed" in r.stdout, r)

# a count that differs from itself
varying = worker(waste_varies=1, cases=["a"])
r = gate("--json", "--fail-on", "counts", baseline=varying, counts=(), environment=no_valgrind)
j = json.loads(r.stdout)
check("allocations that vary: not compared", r.returncode == 0 and [c["exact"] for c in j["cases"][0]["counts"] if c["what"] == "allocations"] == [False], r)
check("and said so", "differ in 1 of 1 cases" in j["allocations_by"] and "allocations of one side differ" in j["cases"][0]["sentence"], r)
r = gate("--only-counts", baseline=varying, counts=(), environment=no_valgrind)
if not j["instructions_by"].startswith("perf events"):  # else the processor counts, whatever PATH is
    check("equal checksums alone have not passed: 12", r.returncode == 12 and b"nothing was counted" in r.stderr and b"differ in 1 of 1 cases" in r.stderr, r)
    r = gate("--only-counts", baseline=worker(cases=["a"]), counts=(), environment=no_valgrind)
    check("nor no allocations on either side: 12", r.returncode == 12 and b"no more than noise" in r.stderr, r)
    r = gate("--only-counts", baseline=worker(cases=["a"]), candidate=worker(cases=["a"], other=["a"]), counts=(), environment=no_valgrind)
    check("other checksums fail all the same", r.returncode == 10 and b"1 different" in r.stdout, r)
    r = gate("--only-counts", baseline=worker(cases=["a"], waste=2), counts=(), environment=no_valgrind)
    check("allocations alone: inconclusive, 11", r.returncode == 11 and b"1 case: 1 inconclusive (exit 11)" in r.stdout, r)
    save = [program, "gate", "--save", "none.json", "--only-counts", "--kind", "worker", "--baseline", worker(cases=["a"])]
    r = subprocess.run(save, capture_output=True, timeout=300, stdin=subprocess.DEVNULL, env={**os.environ, **no_valgrind})
    check("nor is it stored: 12", r.returncode == 12 and b"nothing was counted" in r.stderr and not os.path.exists("none.json"), r)

# tools that fail
r = gate("--json", baseline=worker(does="dies when preloaded", cases=["a"]), counts=("--counts", "auto"), environment=no_valgrind)
check("a program that does not bear the preloaded library is measured without", json.loads(r.stdout)["allocations_by"].startswith("none: with the preloaded library"), r)
check("and nothing fails", r.returncode == 0 and verdicts(r) == {"a": "same"}, r)
r = gate(candidate=worker(does="dies at once"), counts=("--counts", "auto"))
check("a program that dies without it too: 7, in its own name", r.returncode == 7 and r.stderr.startswith(b"error: candidate:") and b"preloaded" not in r.stderr, r)


def valgrind(name, text):
    """An environment in which this script is Valgrind."""
    os.mkdir(name)
    open(f"{name}/valgrind", "w").write("#!/bin/sh\n" + text)
    os.chmod(f"{name}/valgrind", 0o755)
    return {"PATH": os.path.abspath(name) + ":" + os.environ["PATH"]}


broken = valgrind("broken", "echo 'unknown instruction' >&2\nexit 9\n")
r = gate("--only-counts", "--counts", "callgrind", baseline=worker(cases=["a"]), counts=(), environment=broken)
check("callgrind was asked for and fails: 7, which names it", r.returncode == 7 and b"under callgrind, " in r.stderr and b"unknown instruction" in r.stderr, r)
for kind, command in (("worker", worker(cases=["a"])), ("process", "true"), ("benchmark", f"{bench} new")):
    r = gate("--json", "--fail-on", "different", baseline=command, kind=kind, counts=(), environment=broken)
    by = json.loads(r.stdout or "{}").get("instructions_by", "")
    check(f"{kind}: callgrind fails under --counts auto: the gate goes on", r.returncode == 0 and (by.startswith("none: under callgrind") or by == "perf events"), r)
# a Valgrind under which `true growing` takes more instructions each time that it is started
growing = valgrind("growing", """for word; do case $word in --log-file=*) log=${word#--log-file=};; esac; done
n=1000
case $* in *growing*) echo >> lives; n=$((1000 + 100 * $(wc -l < lives)));; esac
echo "==1== Collected : $n" > "${log%\\%p.log}1.log"
""")
for baseline, candidate, exact in (("true growing", "true", False), ("true", "true growing", False), ("true", "true", True)):
    r = gate("--json", "--only-counts", "--fail-on", "different", kind="process", counts=("--counts", "callgrind"), baseline=baseline, candidate=candidate, environment=growing)
    counts = {c["what"]: c for c in json.loads(r.stdout)["cases"][0]["counts"]}
    check(f"{baseline}, {candidate}: both sides are counted twice", r.returncode == 0 and counts["instructions"]["exact"] is exact and json.loads(r.stdout)["instructions_by"].startswith("callgrind"), r)

# a Valgrind that fails after one of two cases: 8 lives of a worker
short_lived = valgrind("short-lived", """for word; do case $word in --log-file=*) log=${word#--log-file=};; esac; done
echo >> lives; n=$(wc -l < lives)
[ $n -gt 8 ] && exit 9
echo "==1== Collected : $((100000 - 1000 * n))" > "${log%\\%p.log}1.log"
shift 4; exec "$@"
""")
two = {"baseline": worker(cases=["a", "b"]), "counts": (), "environment": short_lived}
open("lives", "w").close()
r = gate("--json", "--only-counts", **two)
if json.loads(r.stdout)["instructions_by"].startswith("callgrind"):
    j = json.loads(r.stdout)
    check("a case that was not counted is inconclusive: 11", r.returncode == 11 and verdicts(r) == {"a": None, "b": "inconclusive"} and "1 of 2 cases" in j["instructions_by"], r)
    check("and says so", [c["sentence"] for c in j["cases"] if c["case"] == "b"] == ["inconclusive: no instructions were compared; checksums are equal"], j)
    open("lives", "w").close()
    r = gate("--only-counts", "--fail-on", "different,counts", **two)
    check("which passes where it is asked for", r.returncode == 0 and b"2 cases: 1 inconclusive, no count has changed in 1 (exit 0)" in r.stdout, r)

# our own program
r = gate("--json", "--fail-on", "different", "--cases", "*grpo/n8", "--suite", os.path.join(suites, "quickstart.toml"), kind="self", baseline=program)
check("self: steps of a suite, equal checksums", r.returncode == 0 and all(c["checksum"]["baseline"] for c in json.loads(r.stdout)["cases"]), r)

# the self-test, as a user starts it: what it measures decides nothing here, its text is tested in gate/rivals_test.cpp
r = subprocess.run([program, "gate", "--self-test", "--trials", "1", "--seed", "1", "--json"], capture_output=True, timeout=500, stdin=subprocess.DEVNULL)
rows = json.loads(r.stdout)["rows"]
check("self-test: four amounts, one trial each", r.returncode == 0 and r.stderr == b"" and [row["added"] for row in rows] == [0, 0.02, 0.05, 0.1]
      and all(row["slower"]["n"] == 1 for row in rows), r)
checks.finish()
