# What the Python tests of the commands share: the program (argument 1), a scratch folder to be in, checks that are counted, and calls.
import os, subprocess, sys, tempfile, time

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
