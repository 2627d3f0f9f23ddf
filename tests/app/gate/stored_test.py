"""`odrpo-bench gate --save` and `--against` as a user starts them: verdicts, sessions, conditions that differ, damaged files. Times are made up.

Usage: stored_test.py PROGRAM GATE_WORKER.py"""
import copy, json, os, random, shutil, subprocess

import checks
from checks import flowed, gate, program
from gate_checks import check, fake, running, short, verdicts, without_load, worker, write

no_valgrind = {"PATH": "/nowhere"}  # counts are of allocations


def save(*arguments, baseline=worker(), kind="worker", counts=("--counts", "off"), file="base.json", length=short, environment={}):
    return gate("--save", file, "--kind", kind, "--baseline", baseline, *counts, *length, *arguments, environment=environment)


def against(*arguments, candidate=worker(), counts=("--counts", "off"), file="base.json", length=short, environment={}):
    return gate("--against", file, "--candidate", candidate, *counts, *length, *arguments, environment=environment)


def read(file="base.json"):
    return json.load(open(file))


# times and checksums
r = save(length=())
check("saved, and says under which conditions", r.returncode == 0 and b"saved base.json: 3 cases, 1 session of times" in r.stdout and b"governor: " in r.stdout, r)
conditions = {c["name"]: c["counts"] for c in read()["conditions"]}
check("host, processor, governor, system and load are conditions", {"host", "cpu", "cores", "governor", "kernel", "operating system", "load"} <= set(conditions)
      and not conditions["cpu"] and conditions["operating system"], conditions)
check("20 blocks of each case", [len(c["ns"][0]) for c in read()["cases"]] == [20] * 3)
without_load()
r = against("--json", length=())
check("the same program is the same", r.returncode == 0 and set(verdicts(r).values()) == {"same"}, r)
stored = json.loads(r.stdout)
check("the interval can be computed again", all(len(c["blocks"]["stored"][0]) == 20 and len(c["blocks"]["change"]) == c["change"]["blocks"] == 10 for c in stored["cases"])
      and stored["rules"]["drift"] == 0.015, stored)
r = against("--json", "--junit", "j.xml", "--markdown", "m.md", candidate=worker(factor={"b": 1.3}))
check("30 % slower: that case and no other", r.returncode == 10 and verdicts(r) == {"a": "same", "b": "slower", "c": "same"}, r)
check("in JUnit and Markdown too", open("j.xml").read().count("<failure") == 1 and "**slower**" in open("m.md").read())
r = against("--json", candidate=worker(factor={"b": 1.03}))
check("3 % is within what two sessions differ by", r.returncode == 0 and "slower" not in verdicts(r).values(), r)
check("faster", verdicts(against("--json", candidate=worker(factor={"b": 0.7})))["b"] == "faster")
r = against("--json", candidate=worker(other=["c"]))
check("another checksum: different", r.returncode == 10 and verdicts(r) == {"a": "same", "b": "same", "c": "different"}, r)
check("a checksum that varies where the stored one does not: different", verdicts(against("--json", candidate=worker(varies=["a"])))["a"] == "different")
text = against(candidate=worker(factor={"b": 1.3})).stdout.decode()
check("text: 80 columns, what it was compared with, and how", all(len(line) <= 80 for line in text.splitlines()) and "base.json (" in text and "Welch's t" in text
      and "1.5 % from session" in flowed(text), text)
r = against("--json", candidate=worker(cases=["b", "c", "new"]))
check("cases of one side are left out", verdicts(r) == {"b": "same", "c": "same"} and {c["case"] for c in json.loads(r.stdout)["left_out"]} == {"a", "new"}, r)
check("none in common: 12", against(candidate=worker(cases=["x"])).returncode == 12)
check("--cases", list(verdicts(against("--json", "--cases", "b"))) == ["b"])
for does, length in (({"refuses": ["b"]}, short), ({"refuses_later": ["b"], "lives": ["lives", 6]}, ())):
    r = against("--json", candidate=worker(**does), length=length)
    check("a case that the candidate cannot do, at first or in block 5: failed, 10", r.returncode == 10 and verdicts(r) == {"a": "same", "b": "failed", "c": "same"}, r)
    if os.path.exists("lives"): os.remove("lives")
    r = save(baseline=worker(**does), file="refused.json", length=length)
    check("one that the saved program cannot do is not stored, and said", r.returncode == 0 and b"2 cases" in r.stdout and b"left out: b: failed: the baseline answers" in r.stdout
          and [c["case"] for c in read("refused.json")["cases"]] == ["a", "c"], r)
    os.remove("refused.json")
    if os.path.exists("lives"): os.remove("lives")
r = save(baseline=worker(refuses=["a", "b", "c"]), file="refused.json")
check("nothing to store: 12", r.returncode == 12 and b"nothing can be measured" in r.stderr and not os.path.exists("refused.json"), r)
r = save(baseline=worker(varies=["c"]), file="varies.json")
without_load("varies.json")
check("stored checksums that vary are not compared", verdicts(against("--json", candidate=worker(other=["c"]), file="varies.json"))["c"] == "same")
check("--limit may be as large as what counts as the same", against("--limit", "9%").returncode == 0 and against("--limit", "10%").returncode == 2)

# sessions
first = read()
content = copy.deepcopy(first)
content["conditions"].append({"name": "load", "value": "made up", "counts": False})
write(content)
r = save(file="changed.json")
check("a further session cannot be added under another load", r.returncode == 5 and b"other conditions\n  load: made up stored, " in r.stderr and read("changed.json") == content, r)
content = copy.deepcopy(first)
r = save(baseline=worker(factor={"a": 2}), file="base.json")
check("another command: refused, and nothing changed", r.returncode == 5 and b"its command is" in r.stderr and b"--force" in r.stderr and read() == first, r)
write(first, "two.json")
r = save(file="two.json")
check("a second session", r.returncode == 0 and b"2 sessions of times" in r.stdout and len(read("two.json")["sessions"]) == 2 and {len(c["ns"]) for c in read("two.json")["cases"]} == {2}, r)
together = [subprocess.Popen([program, "gate", "--save", "two.json", "--kind", "worker", "--baseline", worker(), "--counts", "off", *short],
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=checks.clean) for _ in range(4)]
said = [(p.communicate(timeout=300)[1], p.returncode) for p in together]
check("four gates at once add four sessions", {code for _, code in said} == {0} and len(read("two.json")["sessions"]) == 6, said)
check("--force begins again", save("--force", file="two.json", baseline=worker(cases=["a"])).returncode == 0 and len(read("two.json")["sessions"]) == 1)
for case in content["cases"]:
    case["ns"] = [[factor * ns for ns in case["ns"][0]] for factor in (0.9, 1.0, 1.1)]
content["sessions"] *= 3
write(content)
r = against("--json", file="changed.json", candidate=worker(factor={"b": 1.3}))
check("sessions that differ widen the interval", 0.08 < json.loads(r.stdout)["rules"]["drift"] < 0.12 and verdicts(r)["b"] == "inconclusive", r)

# counts
if os.path.exists(os.path.join(os.path.dirname(program), "odrpo-bench-perf")) and shutil.which("valgrind"):
    ours = {"kind": "self", "baseline": program, "counts": ()}
    r = save("--cases", "advantage/grpo/G16*", "--only-counts", file="counts.json", **ours)
    check("counts of this program", r.returncode == 0 and b"no times" in r.stdout, r)
    content = read("counts.json")
    check("are of no host", {c["name"] for c in content["conditions"]} == {"compiler", "flags", "build type", "instruction set", "operating system"}, content)
    r = gate("--against", "counts.json", "--json")
    check("the same", r.returncode == 0 and not json.loads(r.stdout)["timed"] and json.loads(r.stdout)["fail_on"] == ["different", "inconclusive", "counts"], r)
    if content["cases"][0]["counts"]:
        for count in content["cases"][0]["counts"]:
            count["count"] = 1.02 * count["count"] + 50  # well over the noise of a count: a busy machine may add an allocation
        write(content)
        r = gate("--against", "changed.json", "--fail-on", "different,counts", environment=no_valgrind)
        check("a count that changed", r.returncode == 10 and b"counts" in r.stdout, r)
        for count in content["cases"][0]["counts"]:
            count["by"] = "hand"
        write(content)
        r = gate("--against", "changed.json", "--fail-on", "different,counts", environment=no_valgrind)
        check("one that was counted in another way is not compared: 12", r.returncode == 12 and b"none by" in r.stderr, r)
    r = gate("--save", "self.json", "--kind", "self", "--cases", "advantage/grpo/G16*", "--counts", "off", *short)
    check("kind self measures this program, and knows its compiler", r.returncode == 0 and "compiler" in {c["name"] for c in read("self.json")["conditions"]}, r)
    without_load("self.json")
    r = gate("--against", "self.json", "--counts", "off", "--json", "--fail-on", "different", *short)
    check("and compares it", r.returncode == 0 and set(verdicts(r)) == {"advantage/grpo/G16/K5/groups64"}, r)
r = save(baseline="sh -c 'echo hello'", kind="process", file="process.json")
without_load("process.json")
r = against("--json", "--fail-on", "different", candidate="sh -c 'echo hello'", file="process.json")
check("kind process", r.returncode == 0, r)
check("kind process: another output", verdicts(against("--json", candidate="sh -c 'echo Hello'", file="process.json")) == {"sh -c 'echo hello'": "different"})

# conditions
hello = {"counts": (), "environment": no_valgrind}
r = save(baseline="/bin/sh -c 'echo hello'", kind="process", file="counted.json", **hello)
without_load("counted.json")
hello.update(file="changed.json", candidate="/bin/sh -c 'echo hello'")
content = read("counted.json")
content["conditions"] = []
write(content)
r = against(**hello)
check("conditions that are not there: 12", r.returncode == 12 and b"\n  cpu: nothing stored, " in r.stderr, r)
for name in conditions:
    if name == "load":
        continue
    content = read("counted.json")
    next(c for c in content["conditions"] if c["name"] == name)["value"] = "another \x1b[31mone"
    write(content)
    r = against(**hello)
    check(f"another {name}: 12, and says so", r.returncode == 12 and f"\n  {name}: another".encode() in r.stderr and b" stored, " in r.stderr and b"\x1b" not in r.stderr, r)
    r = against("--only-counts", "--fail-on", "different,counts", **hello)
    check(f"counts and checksums with another {name}", r.returncode == (12 if conditions[name] else 0), r)

# files that are none
for what, code, said, change in [
    ("no format", 8, "is no stored baseline", lambda c: c.pop("format")),
    ("another version", 8, "version 3 of its format", lambda c: c.update(version=3)),
    ("no cases", 8, "`cases` is missing", lambda c: c.pop("cases")),
    ("an empty list of cases", 8, "`cases` is empty", lambda c: c.update(cases=[])),
    ("cases that are none", 8, "`cases[0]` is no object", lambda c: c.update(cases=[1])),
    ("a time of 0", 8, "`cases[1].ns[0][3]` is no time", lambda c: c["cases"][1]["ns"][0].__setitem__(3, 0)),
    ("a time that is text", 8, "`cases[1].ns[0][3]` is no number", lambda c: c["cases"][1]["ns"][0].__setitem__(3, "1")),
    ("one block", 8, "`cases[2].ns[0]` has fewer than two", lambda c: c["cases"][2].update(ns=[[1.0]])),
    ("too few sessions", 8, "`cases[0].ns` has 0 sessions", lambda c: c["cases"][0].update(ns=[])),
    ("two cases of one name", 8, "`cases[1].case` is the name of two", lambda c: c["cases"][1].update(case="a")),
    ("a name that is empty", 8, "`cases[1].case` is empty", lambda c: c["cases"][1].update(case="")),
    ("no repetition", 8, "`cases[0].repeat` is no whole number from 1", lambda c: c["cases"][0].update(repeat=0)),
    ("half a repetition", 8, "`cases[0].repeat` is no whole number", lambda c: c["cases"][0].update(repeat=0.5)),
    ("an unknown kind", 8, "`kind` is no kind", lambda c: c.update(kind="car")),
    ("a count that is text", 8, "`cases[0].counts[0].count` is no number", lambda c: c["cases"][0].update(counts=[{"what": "x", "by": "y", "count": "1", "exact": True}])),
    ("a condition without value", 8, "`conditions[0].value` is missing", lambda c: c["conditions"][0].pop("value")),
    ("a condition twice", 8, "`conditions[1].name` is the name of two conditions", lambda c: c["conditions"][1].update(name=c["conditions"][0]["name"])),
    ("a list", 8, "is no stored baseline", None),
]:
    content = read()
    if change is None:
        content = [content]
    else:
        change(content)
    write(content)
    r = against(file="changed.json")
    check(f"{what}: {code}", r.returncode == code and said.encode() in r.stderr and b"changed.json: " in r.stderr, r)
content = read()
content["cases"][0]["ns"][0][0] *= 2
open("edited.json", "w").write(json.dumps(content))
r = against(file="edited.json")
check("a time changed by hand: said, 8", r.returncode == 8 and b"edited.json: was changed after it was saved" in r.stderr, r)
text = json.dumps(read(), indent=1)
open("spaced.json", "w").write(json.dumps(read(), separators=(",", ":")))
check("other spaces are no change", against("--fail-on", "different", file="spaced.json").returncode == 0)
open("keys.json", "w").write(text.replace('"kind":', '"kind": "self",\n "kind":', 1))
r = against(file="keys.json")
check("a key twice: 8", r.returncode == 8 and b"keys.json: `kind` is there twice" in r.stderr, r)
seed = 4
random.seed(seed)
data = bytearray(text.encode())
for _ in range(40):
    bit = random.randrange(8 * len(data))
    data[bit // 8] ^= 1 << bit % 8
    open("flipped.json", "wb").write(data)
    data[bit // 8] ^= 1 << bit % 8
    same = False
    try:
        same = json.loads(open("flipped.json").read()) == json.loads(text)  # a space became another
    except ValueError:
        pass
    r = against(file="flipped.json")
    check(f"seed {seed}, bit {bit}: a flipped bit is noticed", same or r.returncode == 8, r)
open("broken.json", "w").write('{"format":\n "x",,}')
r = against(file="broken.json")
check("no JSON: with line and column", r.returncode == 8 and b"broken.json:2:6: syntax error" in r.stderr, r)
open("endless.json", "w").write(json.dumps(read()).replace('"repeat": ', '"repeat": 1e400, "r": ', 1))
r = against(file="endless.json")
check("a number beyond all numbers: 8", r.returncode == 8 and b"endless.json: " in r.stderr, r)
check("nothing there: 5", against(file="nothing.json").returncode == 5 and against(file=".").returncode == 5)
open("old.txt", "w").write("mine")
check("another file is not overwritten", save(file="old.txt").returncode == 8 and open("old.txt").read() == "mine")
check("a folder that is not there", save(file="none/base.json").returncode == 5)

# flags
for flags in (["--save", "a.json"], ["--save", "a.json", "--kind", "worker"], ["--save", "a.json", "--against", "b.json"], ["--against", "base.json"],
              ["--against", "base.json", "--baseline", "true"], ["--against", "base.json", "--candidate", "true", "--kind", "process"], ["--force"],
              ["--save", "a.json", "--kind", "worker", "--baseline", "true", "--json"], ["--save", "a.json", "--kind", "worker", "--baseline", "true", "--limit", "2%"],
              ["--self-test", "--save", "a.json"], ["x.h5", "--against", "base.json"], ["--save", "a.json", "--kind", "self", "--build-baseline", "HEAD"],
              ["--against", "base.json", "--candidate", worker(), "--suite", "x.toml"]):
    r = gate(*flags)
    check(f"refused: {flags}", r.returncode == 2 and r.stderr.count(b"\n") >= 1, r)
check("nothing is left running", not running(fake), running(fake))
checks.finish()
