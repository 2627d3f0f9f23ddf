# What the tests of `gate` share: workers whose clock is made up (gate_worker.py, argument 2), gates of them, processes that must not be left.
import hashlib, json, os, shlex, shutil, sys

import checks
from checks import checked as check

fake = shutil.copy(checks.paths[0], os.getcwd())  # processes of other tests have another path
mark = str(100_000 + os.getpid() % 100_000)  # seconds of a sleep that nobody else starts
# the made-up clock is exact, so two blocks decide: as many as a gate measures whose time is over
short = ("--max-seconds", "0.001")


def worker(file=fake, **how):
    return f"{sys.executable} -IS {shlex.quote(file)} {shlex.quote(json.dumps(how))}"


def gate(*arguments, environment={}, baseline=worker(), candidate=None, kind="worker", seconds=300, counts=("--counts", "off"), length=short):
    sides = ("--kind", kind, "--baseline", baseline, "--candidate", candidate or baseline)
    return checks.gate(*sides, *counts, *length, *arguments, environment=environment, seconds=seconds)


def ancestors():
    """This process and those that started it, whose command lines hold this test's arguments."""
    pid = os.getpid()
    while pid > 0:
        yield pid
        pid = int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])


ours = set(ancestors())


def running(text):
    """Command lines of processes, ours left out, that hold the text."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = open(f"/proc/{pid}/cmdline").read().replace("\0", " ")
        except OSError:
            continue
        if text in line and int(pid) not in ours:
            found.append(line)
    return found


def write(content, file="changed.json"):
    """A stored baseline, with the checksum of what it says now."""
    if isinstance(content, dict):
        content.pop("sha256", None)
        rest = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        content["sha256"] = hashlib.sha256(rest.encode()).hexdigest()
    with open(file, "w") as f:
        json.dump(content, f)


def without_load(file="base.json"):
    """What else this machine does while the tests run decides nothing: no load is stored, so none is measured and compared."""
    content = json.load(open(file))
    content["conditions"] = [c for c in content["conditions"] if c["name"] != "load"]
    write(content, file)


def verdicts(result):
    return {c["case"]: c["verdict"] for c in json.loads(result.stdout)["cases"]}
