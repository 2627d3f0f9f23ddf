#!/usr/bin/env python3
"""On a terminal: a signal is acknowledged on a line of its own, below the bar. Usage: terminal_test.py PATH/TO/odrpo-bench"""
import os, pty, signal, sys, tempfile

program = os.path.abspath(sys.argv[1])
suite = """
[suite]
name = "long"
[grid]
estimator = ["grpo", "maxrl"]
[learn]
steps = 9000000
"""
failed = 0


def check(what, good, shown):
    global failed
    if not good:
        failed = 1
        print("FAILED:", what, repr(shown))


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


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with open("long.toml", "w") as file:
        file.write(suite)
    os.environ["TERM"] = "xterm"
    os.environ.pop("CI", None)
    for again in (False, True):
        child, terminal = pty.fork()
        if child == 0:
            os.execv(program, [program, "run", "long.toml", "--jobs", "1"])
        bar = read_until(terminal, b"0/2 runs")
        os.kill(child, signal.SIGINT)
        seen = read_until(terminal, b"leaves at once\r\n")
        check("no line of its own", b"\r\nstopping when the steps under way are done; Ctrl-C again leaves at once\r\n" in seen, bar + seen)
        if again:
            os.kill(child, signal.SIGINT)
        seen = read_until(terminal, None)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        check(f"exit {code}", code == 75 or (again and code == 130), seen)  # it may be through before the second signal
        check("the last line is not ended", seen.endswith(b"\r\n"), seen)
        os.close(terminal)
print("terminal_test: two stops on a terminal")
sys.exit(failed)
