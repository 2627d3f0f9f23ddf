# What the Python tests of the commands share: the program (argument 1), a scratch folder to be in, checks that are counted, and calls.
import os, subprocess, sys, tempfile

program = os.path.realpath(sys.argv[1])
paths = [os.path.realpath(path) for path in sys.argv[2:]]  # further arguments, from before the folder changed
_work = tempfile.TemporaryDirectory()
os.chdir(_work.name)
failed = done = 0


def check(good, what):
    global failed, done
    done += 1
    if not good:
        failed += 1
        print("FAILED:", what)


def call(*arguments, code=0, words="", **how):
    """stdout of the program; its exit code and words that stderr must hold are checked."""
    ran = subprocess.run([program, *arguments], capture_output=True, stdin=subprocess.DEVNULL, **how)
    errors = ran.stderr.decode()
    check(ran.returncode == code, f"{' '.join(arguments)}: exit {ran.returncode}, expected {code}: {errors}")
    check(words in errors, f"{' '.join(arguments)}: stderr lacks {words!r}: {errors}")
    return ran.stdout.decode()


def finish():
    """The test's last line and exit code."""
    print(f"{done} checks, {failed} failed")
    sys.exit(failed > 0)
