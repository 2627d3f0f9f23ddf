"""`odrpo-bench gate` as a user starts it: verdicts, reports and exit codes with workers whose clock is made up; workers that misbehave.

Usage: gate_test.py PROGRAM GATE_WORKER.py"""
import itertools, json, os, re, shlex, shutil, signal, subprocess, time
from concurrent.futures import ThreadPoolExecutor
import xml.etree.ElementTree as xml

import checks
from checks import flowed, program
from gate_checks import check, fake, gate, mark, running, short, verdicts, worker

# verdicts
r = gate("--json")
check("equal workers are the same", r.returncode == 0 and set(verdicts(r).values()) == {"same"}, r)
r = gate("--json", "--junit", "j.xml", "--markdown", "m.md", candidate=worker(factor={"b": 1.05}), environment={"GITHUB_ACTIONS": "true"}, length=())
check("a slow-down of one case: that case and no other", r.returncode == 10 and verdicts(r) == {"a": "same", "b": "slower", "c": "same"}, r)
slow = json.loads(r.stdout)["cases"][0]
check("the ratio is 1.05", slow["case"] == "b" and abs(slow["change"]["ratio"] - 1.05) < 0.005 and slow["fails"], slow)
check("blocks allow the interval to be computed again, ten at least", len(slow["blocks"]["change"]) == slow["change"]["blocks"] == 10, slow)
check("one annotation, an error about b", r.stderr.decode().count("::") == 2 and r.stderr.decode().startswith("::error title=gate%3A b::slower"), r.stderr)
root = xml.parse("j.xml").getroot()
check("JUnit: one failure of three", [t.get("name") for t in root.iter("testcase") if t.find("failure") is not None] == ["b"] and root.get("tests") == "3",
      open("j.xml").read())
page = open("m.md").read()
check("Markdown: b first, bold, with the figure beside it", re.search(r"verdict \|\n\|[-:|]+\n\| b \|.*\*\*slower\*\*", page) and "](<m.svg>)" in page, page)
figure = xml.parse("m.svg").getroot()
check("SVG names the cases", {"a", "b", "c"} <= {t.text for t in figure.iter("{http://www.w3.org/2000/svg}text")}, open("m.svg").read())
open("summary", "w").write("before")
gate("--markdown", "summary", environment={"GITHUB_STEP_SUMMARY": "summary"})
check("a job's summary is added to", open("summary").read().startswith("before\n### gate"))
check("GitHub's job summary has no figure, which would not be shown", "svg" not in open("summary").read() and not os.path.exists("summary.svg"))
text = gate(candidate=worker(factor={"b": 1.05})).stdout.decode()
lines = text.splitlines()
check("text: 80 columns, b first", all(len(line) <= 80 for line in lines) and lines[6].startswith("b ") and lines[6].endswith("slower"), text)
check("text ends with the outcome", re.fullmatch(r"3 cases: 1 slower, 2 same \(exit 10\), \d+ s", lines[-1]), text)
r = gate("--json", candidate=worker(factor={"b": 0.9}))
check("faster is no failure", r.returncode == 0 and verdicts(r)["b"] == "faster", r)
check("unless asked for", gate("--fail-on", "faster", candidate=worker(factor={"b": 0.9})).returncode == 10)
r = gate("--json", candidate=worker(other=["c"]))
check("another checksum: different", r.returncode == 10 and verdicts(r) == {"a": "same", "b": "same", "c": "different"}, r)
check("may be tolerated", gate("--fail-on", "slower", candidate=worker(other=["c"])).returncode == 0)
r = gate("--json", baseline=worker(varies=["c"]))
check("checksums that vary on both sides are not compared", r.returncode == 0 and json.loads(r.stdout)["cases"][0]["checksum"] is not None
      and {c["case"]: c["checksum"]["varies"] for c in json.loads(r.stdout)["cases"]} == {"a": False, "b": False, "c": True}, r)
check("varies only in the candidate: different", verdicts(gate("--json", candidate=worker(varies=["a"])))["a"] == "different")
# a candidate that is slower in every second block
wild = {"baseline": worker(cases=["a"]), "candidate": worker(cases=["a"], lives=["lives1", 2], later=[1, 1.5])}
r = gate("--json", **wild)
check("too noisy: inconclusive, which is no failure", r.returncode == 0 and verdicts(r) == {"a": "inconclusive"}, r)
check("and says what it could have found", json.loads(r.stdout)["cases"][0]["smallest_found"] > 0.05, r)
os.remove("lives1")
r = gate("--json", "--fail-on", "slower,inconclusive", **wild)
check("unless asked for: 11, and that time was over", r.returncode == 11 and json.loads(r.stdout)["out_of_time"], r)
# The two baseline processes are alike but for the order in which they start, which --seed fixes: a first gate tells which one is which
later_is_slower = json.loads(gate("--json", "--seed", "7", baseline=worker(cases=["a"], lives=["lives2", 2], later=[1.05]), candidate=worker(cases=["a"]), length=()).stdout)["cases"][0]
factors = [1.05 if control > 0 else 1 / 1.05 for control in later_is_slower["blocks"]["control"]]
check("either baseline process starts first", 10 <= len(factors) and 1.05 in factors and 1 / 1.05 in factors, later_is_slower)
os.remove("lives2")
noisy = {"baseline": worker(cases=["a"], lives=["lives2", 2], later=factors), "candidate": worker(cases=["a"], factor={"a": 2})}
r = gate("--json", "--seed", "7", **noisy)
check("the second baseline process is slower than the first: void, which is no failure", r.returncode == 0 and verdicts(r) == {"a": "void"}, r)
os.remove("lives2")
r = gate("--fail-on", "slower,void", "--seed", "7", "--junit", "v.xml", "--markdown", "v.md", **noisy, environment={"GITHUB_ACTIONS": "true"})
check("unless asked for: 11, named in every form", r.returncode == 11 and all("the second baseline process took 1.05" in text and "void" in text for text in
      (open("v.md").read(), open("v.xml").read(), r.stderr.decode())) and b"void" in r.stdout, r)
check("--limit", verdicts(gate("--json", "--limit", "2.5%", candidate=worker(factor={"a": 1.02})))["a"] == "same")
check("--limit 0 finds less", verdicts(gate("--json", "--limit", "0", candidate=worker(factor={"a": 1.005})))["a"] == "slower")

# which cases are compared
r = gate("--json", baseline=worker(cases=["a", "old"]), candidate=worker(cases=["a", "new"]))
check("cases of one side are left out", verdicts(r) == {"a": "same"} and {c["case"] for c in json.loads(r.stdout)["left_out"]} == {"old", "new"}, r)
check("--cases", sorted(verdicts(gate("--json", "--cases", "[bc]", "--cases", "x*"))) == ["b", "c"])
r = gate(baseline=worker(cases=["a"]), candidate=worker(cases=["b"]))
check("nothing in common: 12", r.returncode == 12 and b"nothing can be compared" in r.stderr, r)
check("no case named: 12", gate("--cases", "nothing").returncode == 12)
check("no cases at all: 12", gate(baseline=worker(cases=[])).returncode == 12)

# a case that a side refuses, at every point where it can: the others are compared, and the candidate's fault alone is a failure
all_verdicts = {"a": "same", "b": "failed", "c": "same"}
no_valgrind = {"PATH": "/nowhere"}
counting = {"counts": ("--counts", "auto"), "environment": no_valgrind}
points = {"when it is looked at": (lambda side: {"refuses": ["b"]}, {}),
          "in block 5": (lambda side: {"refuses_later": ["b"], "lives": [f"refusing {side}", 6 if side == "candidate" else 10]}, {"length": ()}),
          "while counted": (lambda side: {"refuses_above": 500}, counting)}
for point, (how, more) in points.items():
    for sides, code in ((("baseline",), 0), (("candidate",), 10), (("baseline", "candidate"), 0)):
        r = gate("--json", baseline=worker(**(how("baseline") if "baseline" in sides else {})), candidate=worker(**(how("candidate") if "candidate" in sides else {})), **more)
        case = next(c for c in json.loads(r.stdout or '{"cases": []}')["cases"] if c["case"] == "b")
        for file in ("refusing baseline", "refusing candidate"):
            if os.path.exists(file): os.remove(file)
        what = f"refused {point} by {' and '.join(sides)}"
        check(f"{what}: failed, exit {code}, the others the same", r.returncode == code and verdicts(r) == all_verdicts and case["fails"] is (code == 10), r)
        said = {side for side in ("baseline", "candidate") if f"the {side} answers with an error" in case["sentence"]}
        # in the middle both sides may not come to be asked in one block
        check(f"{what}: the sentence says who and what", said and said <= set(sides) and "today" in case["sentence"], case)
        check(f"{what}: no interval, no counts", case["change"] is None and case["counts"] == [], case)
waste = {"waste": 2}
for sides, code in ((("baseline",), 0), (("candidate",), 10), (("baseline", "candidate"), 0)):
    of = [worker(**waste, **({"refuses": ["b"]} if side in sides else {})) for side in ("baseline", "candidate")]
    r = gate("--json", "--only-counts", "--fail-on", "different,counts", baseline=of[0], candidate=of[1], **counting)
    check(f"--only-counts, refused by {' and '.join(sides)}: failed, {code}", r.returncode == code and verdicts(r)["b"] == "failed", r)
broken = {"candidate": worker(refuses=["b"])}
for words, code in (("slower", 0), ("failed", 10), ("different", 10), ("skipped", 0), ("nothing", 0)):
    check(f"a candidate's failure with --fail-on {words}: {code}", gate("--fail-on", words, **broken).returncode == code)
r = gate("--junit", "f.xml", "--markdown", "f.md", environment={"GITHUB_ACTIONS": "true"}, **broken)
sentence = "the candidate answers with an error"
check("a failed case is in every form", r.returncode == 10 and all(sentence in flowed(text) for text in
      (r.stdout.decode(), r.stderr.decode(), open("f.xml").read(), open("f.md").read())) and "**failed**" in open("f.md").read() and ">failed</text>" in open("f.svg").read()
      and r.stderr.startswith(b"::error title=gate%3A b::failed") and open("f.xml").read().count("<failure") == 1 and b"\x1b" not in r.stdout + r.stderr, r)
r = gate("--junit", "f.xml", baseline=worker(refuses=["b"]), environment={"GITHUB_ACTIONS": "true"})
check("one of both sides is a skipped test and a warning", r.returncode == 0 and '<skipped message="failed: the baseline' in open("f.xml").read() and 'skipped="1"' in open("f.xml").read()
      and r.stderr.startswith(b"::warning title=gate%3A b::failed"), r)
every = worker(refuses=["a", "b", "c"])
r = gate("--json", candidate=every)
check("every case refused by the candidate: 10, with the report", r.returncode == 10 and set(verdicts(r).values()) == {"failed"}, r)
for what, sides, flags in (("the baseline", {"baseline": every, "candidate": worker()}, ()), ("both", {"baseline": every}, ()), ("the candidate, which may", {"candidate": every}, ("--fail-on", "slower"))):
    r = gate(*flags, **sides)
    check(f"every case refused by {what}: 12", r.returncode == 12 and b'nothing can be compared' in r.stderr and b'"a": the ' in r.stderr and b"\x1b" not in r.stderr and r.stdout == b"", r)

# names that want to be something else
names = ["::error::x", "##[error]y", "a|b\n`c` <script>", "\x1b[31mred", "x" * 5000, "]]>&\"'", "%0A,:"]
r = gate("--junit", "h.xml", "--markdown", "h.md", baseline=worker(cases=names), candidate=worker(cases=names, other=names), environment={"GITHUB_ACTIONS": "true"})
check("hostile names: different", r.returncode == 10, r)
check("no control characters", b"\x1b" not in r.stdout + r.stderr + open("h.md", "rb").read() + open("h.xml", "rb").read() + open("h.svg", "rb").read(), r)
check("no line is a command to a CI system", not re.search(r"^ *::|##\[", r.stdout.decode(), re.M), r.stdout.decode())
check("apostrophes are shown as such", "&#39;s" in open("h.md").read() and "&&#35;" not in open("h.md").read(), open("h.md").read())
check("80 columns", all(len(line) <= 80 for line in r.stdout.decode().splitlines()), r.stdout.decode())
check("seven annotations, one a line", len(r.stderr.decode().splitlines()) == 7 and all(line.startswith("::error title=") for line in r.stderr.decode().splitlines()),
      r.stderr.decode())
xml.parse("h.xml"), xml.parse("h.svg")
check("a table row a case", len([line for line in open("h.md") if line.startswith("| ") and "**different**" in line]) == 7, open("h.md").read())
check("no markup of theirs", "<script" not in open("h.md").read())
j = gate("--json", "--cases", "*error*", baseline=worker(cases=names)).stdout.decode()
check("nor in JSON, which names the cases all the same", "##[" not in j and {c["case"] for c in json.loads(j)["cases"]} == set(names[:2]), j)
r = gate(baseline=worker(refuses=names, cases=names))
check("nor in a message", r.returncode == 12 and "##[" not in r.stderr.decode() and "::error::x" in r.stderr.decode(), r)
many = [f"case {i}" for i in range(30)]
r = gate(baseline=worker(cases=many), candidate=worker(cases=many, other=many), environment={"GITHUB_ACTIONS": "true"})
check("at most ten annotations", len(r.stderr.decode().splitlines()) == 10 and "21 more cases" in r.stderr.decode(), r.stderr.decode())

# an answer without a usable time fails its case alone
for does, says in (("no time", "a time that is not between"), ("tiny time", "a time that is not between"), ("endless time", "a time that is not between"), ("nested error", "no text")):
    for side, code in (("baseline", 0), ("candidate", 10)):
        r = gate("--json", **{"baseline": worker(), "candidate": worker(), side: worker(does=does)})
        failed = [c["sentence"] for c in json.loads(r.stdout or '{"cases": []}')["cases"] if c["verdict"] == "failed"]
        check(f"{side} {does}: {code}, others are compared", r.returncode == code and set(verdicts(r).values()) == {"failed", "same"} and says in failed[0] and side in failed[0], r)

# workers that misbehave: one line, 7, nothing left running
expected = {"hangs": "--deadline", "is slow to end": "--deadline", "floods stderr": "--deadline", "dies at once": "exit code 3", "dies": "signal 11", "garbage": "not JSON", "wrong case": "another case",
            "long line": "longer than 1 MiB", "endless line": "longer than 1 MiB", "two answers": "more lines than answers", "text as time": 'no number "ns"', "infinite time": '"ns"', "bad list": "is no text", "leaves a child": "left running",
            "leaves a child that holds its pipes": "left running"}


def misbehaves(number, does, side):
    """What the gate does with such a worker, and what it leaves behind: processes and files."""
    own, marked = shutil.copy(fake, f"{os.getcwd()}/misbehaves{number}.py"), f"{mark}{number:02}"
    bad, good = worker(own, does=does, mark=marked), worker(own)
    r = gate("--deadline", "5" if expected[does] == "--deadline" else "60", "--junit", f"never{number:02}.xml",
             baseline=bad if side == "baseline" else good, candidate=bad if side == "candidate" else good)
    return does, side, r, running(f"sleep {marked}") + running(own), [f for f in os.listdir(".") if f"never{number:02}" in f]


# the first six wait for their deadlines, meanwhile the others run two at a time
with ThreadPoolExecutor(8) as pool:
    for does, side, r, left, files in pool.map(misbehaves, *zip(*((i, does, side) for i, (does, side) in enumerate(itertools.product(expected, ("baseline", "candidate")))))):
        message = r.stderr.decode()
        check(f"{side} {does}: 7 and one line", r.returncode == 7 and message.count("\n") == 1 and expected[does] in message and "\x1b" not in message and r.stdout == b"", r)
        check(f"{side} {does}: names the side", side in message or does.startswith("leaves a child"), message)
        check(f"{side} {does}: nothing left running", not left, left)
        check(f"{side} {does}: no file", not files, files)
check("stderr is quoted", "cannot load" in gate(baseline=worker(does="dies at once")).stderr.decode())

# a process that this one has been before it became a gate may have children: bash -c 'server & exec odrpo-bench …'
line = " ".join(shlex.quote(w) for w in [program, "gate", "--kind", "worker", "--baseline", worker(), "--candidate", worker(), "--counts", "off", *short])
p = subprocess.Popen(["bash", "-c", f"sleep {mark} >/dev/null 2>&1 & exec {line}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
code = p.wait(timeout=120)
check("children of an earlier program of this process are left alone", code == 0 and len(running(f"sleep {mark}")) == 1, (code, p.stderr.read()))
subprocess.run(["pkill", "-f", f"^sleep {mark}$"])

# command lines; more are on pages/gate-refusals.txt
for limit, says in (("5%", "not below 3%"), ("x", "no share")):
    r = gate("--limit", limit)
    check(f"--limit {limit}: 2", r.returncode == 2 and says in r.stderr.decode() and r.stdout == b"", r)
not_executable = os.path.abspath("script")
open(not_executable, "w").write("no program")
os.chmod(not_executable, 0o755)
r = gate(baseline=not_executable)
check("a file that cannot be executed: 5", r.returncode == 5 and b"cannot start" in r.stderr, r)

# a full disk, a closed stdout: 5, no half file
with open("/dev/full", "w") as full:
    r = subprocess.run([program, "gate", "--kind", "worker", "--baseline", worker(), "--candidate", worker(), "--counts", "off", *short], stdout=full, stderr=subprocess.PIPE, timeout=60)
    check("a full disk under stdout: 5", r.returncode == 5, r)
line = " ".join(shlex.quote(w) for w in [program, "gate", "--kind", "worker", "--baseline", worker(), "--candidate", worker(), "--counts", "off", *short, "--junit", "small.xml"])
r = subprocess.run(["bash", "-c", "ulimit -f 1; exec " + line], capture_output=True, timeout=60)
check("no room for the report: 5, no half file", r.returncode == 5 and not [f for f in os.listdir(".") if "small" in f], (r, os.listdir(".")))



def awaited(holds):
    """Waits until it holds, for a minute at most."""
    for _ in range(3000):
        if holds(): return True
        time.sleep(0.02)
    return False


# Ctrl-C and a kill: nothing is left running
for number, code in ((signal.SIGINT, 75), (signal.SIGKILL, -9)):
    p = subprocess.Popen([program, "gate", "--kind", "worker", "--baseline", worker(), "--candidate", worker(does="hangs"), "--counts", "off", "--deadline", "300"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    three = awaited(lambda: len(running(fake)) >= 3)
    p.send_signal(number)
    p.communicate(timeout=60)
    check(f"signal {number}: {code}, nothing left running", three and p.returncode == code and awaited(lambda: not running(fake)), (p.returncode, running(fake)))

# whole commands
r = gate("--json", kind="process", baseline="true")
c = json.loads(r.stdout)["cases"][0]
check("process: wall clock, CPU time beside it", c["clock"] == "wall" and len(c["blocks"]["cpu"]) == c["change"]["blocks"] >= 1, r)
check("process: other output is different", gate(kind="process", baseline="echo 1", candidate="echo 2").returncode == 10)
r = gate(kind="process", baseline="true", candidate="sh -c 'echo oh no >&2; exit 3'")
check("process: a command that fails: 7", r.returncode == 7 and b"exit code 3" in r.stderr and b"oh no" in r.stderr, r)
r = gate("--deadline", "1", kind="process", baseline="true", candidate="sleep 1000")
check("process: a command that hangs: 7", r.returncode == 7 and b"--deadline" in r.stderr, r)
r = gate(kind="process", baseline="true", candidate=f"sh -c 'setsid sleep {mark} & true'")
check("process: a command that leaves a child: 7", r.returncode == 7 and b"left running" in r.stderr and not running(f"sleep {mark}"), r)
checks.finish()
