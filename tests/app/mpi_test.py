"""`mpirun odrpo-bench run` as a user starts it: one digest by 2 and 4 ranks, a rank killed, signals, and what is refused.

Usage: mpi_test.py PROGRAM SUITES"""
import glob, json, os, re, shutil, signal, subprocess, sys, time

import checks
from checks import call, check, program

if not shutil.which("mpirun") or not json.loads(call("--version", "--json"))["mpi"]:
    print("skipped: no MPI")
    sys.exit(77)
smoke = os.path.join(checks.paths[0], "smoke.toml")
env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_hwloc_base_binding_policy": "none", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
open("long.toml", "w").write("""[suite]
name = "long"
seed = 3
seeds = 24
[grid]
env = ["bandit"]
rater = ["mixed"]
policy = ["linear"]
estimator = ["grpo", "maxrl"]
votes = [1, 8]
[learn]
steps = 4000
""")


def digest(file):
    return re.search(r"digest ([0-9a-f]{64})", call("verify", file)).group(1)


def ranks(n, *arguments):
    return ["mpirun", "-n", str(n), program, "run", *arguments, "-j1"]


def mpirun(n, *arguments, code=0, words=""):
    ran = subprocess.run(ranks(n, *arguments), capture_output=True, stdin=subprocess.DEVNULL, env=env, timeout=120)
    check(ran.returncode == code, f"mpirun -n {n} {arguments}: exit {ran.returncode}, expected {code}: {ran.stderr.decode()}")
    check(words in ran.stderr.decode(), f"mpirun -n {n} {arguments}: stderr lacks {words!r}: {ran.stderr.decode()}")
    return ran


def program_of(job):
    """The processes of the program that this mpirun has started, first to last."""
    text = subprocess.run(["ps", "-o", "pid=,ppid=,args=", "-e"], capture_output=True, check=True).stdout.decode()
    return [int(pid) for pid, parent, args in (line.split(None, 2) for line in text.splitlines()) if parent == str(job.pid) and program in args]


def interrupted(n, what):
    """Starts n ranks, calls what(job) once some runs are committed; the exit code of mpirun and what was on stderr."""
    for left in glob.glob("k.h5*"):
        shutil.rmtree(left) if os.path.isdir(left) else os.remove(left)
    job = subprocess.Popen(ranks(n, "long.toml", "-o", "k.h5"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=env)
    while len(glob.glob("k.h5.work/shard*")) < n + 2 and job.poll() is None:
        time.sleep(0.01)
    what(job)
    errors = job.communicate(timeout=60)[1].decode()
    return job.returncode, errors


# one digest, the table of rank 0 once
call("run", smoke, "-q", "-o", "one.h5")
for n in (2, 4):
    ran = mpirun(n, smoke, "-o", f"mpi{n}.h5", words=f"wrote mpi{n}.h5: 192 runs in ")
    check(digest(f"mpi{n}.h5") == digest("one.h5"), f"{n} ranks")
    check(ran.stdout.decode() == call("run", smoke, "-q", "-o", "one.h5"), "the table, once")
    check(ran.stderr.decode().count("wrote ") == 1, ran.stderr)
mpirun(2, smoke, "-o", "mpi2.h5", words="already complete")

# a rank is killed: MPI ends the others, what they have committed stays, and the same command continues
call("run", "long.toml", "-q", "-o", "long.h5")
one = digest("long.h5")
for n, victim in ((2, 1), (4, 2), (2, 0)):
    code, errors = interrupted(n, lambda job: os.kill(program_of(job)[victim], signal.SIGKILL))
    check(code != 0 and not os.path.exists("k.h5"), f"rank {victim} of {n} killed: exit {code}: {errors}")
    saved = len(glob.glob("k.h5.work/shard*"))
    check(saved > 0, "something is saved")
    again = mpirun(n, "long.toml", "-o", "k.h5", words="resumed: ")
    check(digest("k.h5") == one, f"rank {victim} of {n} killed, then resumed")

# a signal to a rank, as a batch system sends it to all, and one that mpirun passes on: all stop, exit 75
for words, what in (("TERM to a rank", lambda job: os.kill(program_of(job)[1], signal.SIGTERM)),
                    ("TERM to rank 0", lambda job: os.kill(program_of(job)[0], signal.SIGTERM)),
                    ("USR1 to mpirun", lambda job: job.send_signal(signal.SIGUSR1))):
    begun = time.monotonic()
    code, errors = interrupted(3, what)
    check(code == 75 and "are saved in k.h5.work" in errors, f"{words}: exit {code}: {errors}")
    check(not os.path.exists("k.h5"), words)
call("run", "long.toml", "-q", "-o", "k.h5", words="")  # one process finishes what ranks began
check(digest("k.h5") == one, "finished by one process")
code, errors = interrupted(2, lambda job: job.send_signal(signal.SIGTERM))  # mpirun ends its ranks itself
check(code != 0 and glob.glob("k.h5.work/shard*"), f"TERM to mpirun: {code}")
mpirun(3, "long.toml", "-o", "k.h5", words="resumed: ")
check(digest("k.h5") == one, "after TERM to mpirun")

# said once, by rank 0, with the exit code of one process
for arguments, code, words in ((["none.toml"], 5, "none.toml: No such file"), (["long.toml", "-o", "no/x.h5"], 5, "its folder 'no'"),
                               (["long.toml", "-o", "long.h5", "--set", "learn.lr=0.7"], 5, "holds results of another suite"),
                               (["long.toml", "--set", "learn.steps=x"], 3, "--set 1"), (["long.toml", "--device", "none"], 2, "--device")):
    ran = mpirun(2, *arguments, code=code, words=words)
    check(ran.stderr.decode().count("error: ") == 1, ran.stderr)

open("wrong.toml", "w").write(open("long.toml").read() + "".join(f"unknown_{i:03} = 1\n" for i in range(400)))
ran = mpirun(3, "wrong.toml", code=3, words="unknown_000")  # messages that MPI sends only when they are received
check(mpirun(3, "long.toml", "--dry-run").stdout.decode().count("suite long") == 1, "a dry run is shown once")

# every rank a part of its own: no MPI is needed for that
mpirun(4, smoke, "-q", "--shard", "auto/4")
call("merge", *glob.glob("smoke.part-*-of-4.h5"), "-o", "parts.h5", words=digest("one.h5"))
checks.finish()
