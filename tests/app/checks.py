# What the Python tests of the commands share: the program (argument 1), a scratch folder to be in, checks that are counted, and calls.
import math, os, re, subprocess, sys, tempfile, time

_tests = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path += [_tests, os.path.join(_tests, "results")]  # reference.py, digest.py
program = os.path.realpath(sys.argv[1]) if sys.argv[1:] else ""
paths = [os.path.realpath(path) for path in sys.argv[2:]]  # further arguments, from before the folder changed
clean = {k: v for k, v in os.environ.items() if k not in ("GITHUB_ACTIONS", "LC_ALL")}  # outside CI, in English
_work = tempfile.TemporaryDirectory()
os.chdir(_work.name)
failed = done = 0


def check(good, what):
    global failed, done
    done += 1
    if not good:
        failed += 1
        print("FAILED:", what)


def checked(what, good, shown=""):
    """check(), the words first, with what they are about."""
    check(good, f"{what}\n{shown}")


def near(got, wanted, what, tolerance=1e-9):
    """A number, or a list of them: relative to what is wanted, absolute where that is below 1. None for NaN and nothing else."""
    listed = isinstance(wanted, list)
    good = not listed or len(got) == len(wanted)
    for g, w in zip(got, wanted) if listed else ((got, wanted),):
        good = good and (g is None if w is None or math.isnan(w) else g is not None and abs(g - w) <= tolerance * max(1, abs(w)))
    check(good, f"{what}: {got}, expected {wanted}")


def within(got, wanted, half, what):
    """A number, to an absolute half width."""
    check(got is not None and abs(got - wanted) <= half, f"{what}: {got}, expected {wanted} +- {half}")


def refuses(error, text, call, *arguments, **options):
    """call() raises this exception, no other nor one of its children, with these words."""
    try:
        call(*arguments, **options)
    except Exception as e:
        check(type(e) is error and text in str(e), f"{call}{arguments} {options}: {type(e).__name__}: {e}\nexpected {error.__name__}: {text}")
    else:
        check(False, f"{call}{arguments} {options}: no {error.__name__}")


def flowed(text):
    """A page without its line breaks, which fall elsewhere where a path is longer."""
    return " ".join(text.split())


def call(*arguments, code=0, words="", **how):
    """stdout of the program; its exit code and words that stderr must hold are checked."""
    ran = subprocess.run([program, *arguments], capture_output=True, stdin=subprocess.DEVNULL, **how)
    errors = ran.stderr.decode()
    check(ran.returncode == code, f"{' '.join(arguments)}: exit {ran.returncode}, expected {code}: {errors}")
    check(words in errors, f"{' '.join(arguments)}: stderr lacks {words!r}: {errors}")
    return ran.stdout.decode()


def call_with(text):
    """stdout of `compute` for these lines on its stdin."""
    return subprocess.run([program, "compute"], input=text.encode(), capture_output=True, check=True).stdout.decode()


def digest(file):
    """What `verify` prints of a result file."""
    return re.search(r"digest ([0-9a-f]{64})", call("verify", file)).group(1)


def suite(name, more="", **keys):
    """A suite NAME.toml: tests/tiny.toml with other values of keys, which may bring further lines, and more lines, which begin in [table]."""
    with open(os.path.join(_tests, "tiny.toml")) as file:
        text = file.read()
    for key, value in {"name": f'"{os.path.basename(name)}"', **keys}.items():
        text, found = re.subn(rf"(?m)^{key} = .*", lambda _: f"{key} = {value}", text)
        assert found == 1, f"tests/tiny.toml has the key {key} {found} times"
    with open(f"{name}.toml", "w") as file:
        file.write(text + more)
    return f"{name}.toml"


def of_one_group(words):
    """Of the words of `list estimators` those that are functions of the scores of one group."""
    return [w for w in words if not w.startswith(("posterior", "corrected")) and w not in ("opo", "bnpo", "shrunk")]


def gate(*arguments, environment={}, seconds=300):
    return subprocess.run([program, "gate", *arguments], capture_output=True, timeout=seconds, env={**clean, **environment}, stdin=subprocess.DEVNULL)


def wait_until(good, job, seconds=120):
    """Waits until good() while the process `job` runs; the limit is for a process that hangs."""
    until = time.monotonic() + seconds
    while not good() and job.poll() is None and time.monotonic() < until:
        time.sleep(0.01)


def cpu_seconds(job):
    """CPU time of a running process: how far it has come, also on a machine under load."""
    fields = open(f"/proc/{job.pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def finish():
    """The test's last line and exit code."""
    print(f"{done} checks, {failed} failed")
    sys.exit(failed > 0)
