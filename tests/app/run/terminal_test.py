#!/usr/bin/env python3
"""On a terminal: a signal is acknowledged on a line of its own, below the bar; a table fits. Usage: terminal_test.py PATH/TO/odrpo-bench"""
import fcntl, os, pty, signal, struct, sys, termios, time

from checks import call, checked as check, finish, program, suite

suite("long", """[limits]
cpu_hours = 1e6
[env.toy-lm]
vocabulary = 40
[policy.p]
base = "transformer"
warm_steps = 1
""", seeds=1, env='"toy-lm"', policy='"p"', estimator='["grpo", "maxrl"]', votes=1, steps=20000, batch=64)
# a step of many seconds, nearly all of it updates, between which nobody asks whether to stop
long_steps = ["--set", "learn.epochs=64", "--set", "learn.batch=64", "--set", "learn.rollouts=16"]


def read_until(terminal, words, seen=b""):
    """What the terminal shows up to these words, or to the end."""
    while words is None or words not in seen:
        try:
            more = os.read(terminal, 4096)
        except OSError:  # the program has left
            more = b""
        if not more:
            break
        seen += more
    return seen


try:
    for end in pty.openpty():
        os.close(end)
except OSError as why:
    print(f"skipped: no terminal can be made here ({why})")
    sys.exit(77)

os.environ["TERM"] = "xterm"
os.environ.pop("CI", None)


def stop(more, wait, again):
    """Starts the program and stops it, twice when `again`: its exit code, and whether it waited for the second signal."""
    child, terminal = pty.fork()
    if child == 0:
        os.execv(program, [program, "run", "long.toml", "--jobs", "1"] + more)
    bar = read_until(terminal, b"0/2 runs")
    time.sleep(wait)
    os.kill(child, signal.SIGINT)
    seen = read_until(terminal, b"leaves at once\r\n")
    check("no line of its own", b"\r\nstopping when the steps under way are done; Ctrl-C again leaves at once\r\n" in seen, bar + seen)
    waited = True
    if again:
        said, end, after = seen.partition(b"leaves at once\r\n")
        seen = said + end + read_until(terminal, b"0/2 runs", after)  # the bar is back
        time.sleep(0.2)  # more than the 50 ms within which two signals are one
        waited = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
        os.kill(child, signal.SIGINT)
    seen += read_until(terminal, None)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    check("the last line is not ended", seen.endswith(b"\r\n"), seen)
    check("not acknowledged once", seen.count(b"leaves at once") == 1, seen)
    os.close(terminal)
    return code, waited, seen

code, _, seen = stop([], 0, False)
check(f"one signal: exit {code}", code == 75, seen)
# the first signal may fall between two steps, most likely before the first; then the program is gone before the second one, or about to go
for wait in (0.5, 1, 2, 4, 8):
    code, waited, seen = stop(long_steps, wait, True)
    if waited and code != 75:
        break
check("five times gone within 0.2 s of the first signal", waited, seen)
check(f"two signals: exit {code}", code == 130, seen)

# a table takes the terminal's width, and breaks no number
suite("wide", seeds=2, estimator='["grpo", "odrpo-gini-median(maxrl)"]', votes="[1, 2, 4, 8]", steps=2)
call("run", "wide.toml", "--quiet")


def on_terminal(columns, *words, code=0, **environment):
    """What a terminal of this width shows of a call."""
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        os.execve(program, [program, *words], {**os.environ, **environment})
    shown = read_until(terminal, None).decode()
    got = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    check(f"{words} at {columns} columns: exit {got}", got == code, shown)
    os.close(terminal)
    return shown


for columns in (50, 80, 132):
    shown = on_terminal(columns, "table", "wide.h5", "--color", "never")
    lines = shown.split("\r\n")
    check(f"a line beyond {columns} columns", max(map(len, lines)) <= columns, max(lines, key=len))
    check(f"a table at {columns} columns is too narrow", max(map(len, lines)) > columns - 30, shown)
    check("a number is missing", shown.count("baseline") == 4, shown)
    check("no next steps", "next: odrpo-bench plot curves wide.h5" in " ".join(shown.split()), shown)

# help, lists and errors stay within the terminal; words of more than its width alone may not (none is so long at 50)
for columns in (50, 80, 120):
    for words, code in ((["run", "--help"], 0), (["--help"], 0), (["gate", "--help"], 0), (["list", "learn"], 0), (["list", "ratres"], 2),
                        (["table", "wide.h5", "--where", "raters=mixed"], 2)):
        lines = on_terminal(columns, *words, code=code).replace("\x1b[1;31m", "").replace("\x1b[0m", "").split("\r\n")
        check(f"{words}: a line beyond {columns} columns", max(map(len, lines)) <= columns, max(lines, key=len))

# colour: of errors, stars and verdicts, on a terminal alone, and never with NO_COLOR or TERM=dumb
check("an error has no colour", "\x1b[1;31merror:\x1b[0m" in on_terminal(80, "tabel", code=2), "")
for quiet in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
    check(f"colour in spite of {quiet}", "\x1b[" not in on_terminal(80, "tabel", code=2, **quiet), "")
check("--color never", "\x1b[" not in on_terminal(80, "tabel", "--color", "never", code=2), "")
check("--color always outranks NO_COLOR", "\x1b[" in on_terminal(80, "--color", "always", "tabel", code=2, NO_COLOR="1"), "")
check("a digest that holds has no colour", "\x1b[32mOK\x1b[0m" in on_terminal(80, "verify", "wide.h5"), "")
check("colour in a pipe", "\x1b[" not in call("verify", "wide.h5"), "")
finish()
