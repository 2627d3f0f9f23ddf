"""`mpirun odrpo-bench run` as a user starts it: one digest by 2 and 4 ranks, a rank killed, signals, and what is refused.

Usage: mpi_test.py PROGRAM SUITES"""
import glob, json, os, re, shutil, signal, subprocess, sys

import checks
from checks import call, check, digest, program, suite

if not shutil.which("mpirun") or not json.loads(call("--version", "--json"))["mpi"]:
    print("skipped: no MPI")
    sys.exit(77)
smoke = os.path.join(checks.paths[0], "smoke.toml")
env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_hwloc_base_binding_policy": "none", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
long = dict(seed=3, estimator='["grpo", "maxrl"]', prompts=256, actions=32, batch=64)
suite("long", seeds=16, steps=4000, **long)
suite("endless", seeds=100, steps=60000, **long)  # no test waits for its end


def ranks(n, *arguments):
    return ["mpirun", "-n", str(n), program, "run", *arguments, "-j1"]


def mpirun(n, *arguments, code=0, words=""):
    ran = subprocess.run(ranks(n, *arguments), capture_output=True, stdin=subprocess.DEVNULL, env=env, timeout=120)
    check(ran.returncode == code, f"mpirun -n {n} {arguments}: exit {ran.returncode}, expected {code}: {ran.stderr.decode()}")
    check(words in ran.stderr.decode(), f"mpirun -n {n} {arguments}: stderr lacks {words!r}: {ran.stderr.decode()}")
    return ran


def processes_of(job, n):
    """The processes of the n ranks that this mpirun has started, by rank; fewer when it ends before."""
    found = {}

    def look():
        text = subprocess.run(["ps", "-o", "pid=,ppid=,args=", "-e"], capture_output=True, check=True).stdout.decode()
        for pid, parent, args in (line.split(None, 2) for line in text.splitlines()):
            if parent == str(job.pid) and program in args:
                rank = re.search(rb"(?:OMPI_COMM_WORLD|PMIX)_RANK=(\d+)", open(f"/proc/{pid}/environ", "rb").read())
                found.update({int(rank[1]): int(pid)} if rank else {})
        return len(found) == n

    checks.wait_until(look, job)
    return found


def interrupted(n, toml, output, what):
    """Starts n ranks and calls what(job, processes) once they have committed further runs: exit code of mpirun, its stderr."""
    before = set(glob.glob(output + ".work/shard*"))
    job = subprocess.Popen(ranks(n, toml, "-o", output), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=env)
    processes = processes_of(job, n)
    checks.wait_until(lambda: set(glob.glob(output + ".work/shard*")) - before, job)
    if job.poll() is None:
        what(job, processes)
    errors = job.communicate(timeout=120)[1].decode()
    return job.returncode, errors


# one digest, the table of rank 0 once
call("run", smoke, "-q", "-o", "one.h5")
for n in (2, 4):
    ran = mpirun(n, smoke, "-o", f"mpi{n}.h5", words=f"wrote mpi{n}.h5: 192 runs in ")
    check(digest(f"mpi{n}.h5") == digest("one.h5"), f"{n} ranks")
    check(ran.stdout.decode() == call("run", smoke, "-q", "-o", "one.h5"), "the table, once")
    check(ran.stderr.decode().count("wrote ") == 1, ran.stderr)
mpirun(2, smoke, "-o", "mpi2.h5", words="already complete")

# a rank is killed: MPI ends the others, what they have committed stays, and the same command continues, or one process does
call("run", "long.toml", "-q", "-o", "long.h5")
one = digest("long.h5")
for n, victim, go_on in ((4, 2, lambda: mpirun(2, "long.toml", "-o", "k.h5", words="resumed: ")),
                         (2, 0, lambda: call("run", "long.toml", "-o", "k.h5", words="resumed: "))):
    for _ in range(5):  # a machine under load may look away until all is done: then again
        code, errors = interrupted(n, "long.toml", "k.h5", lambda _, processes: os.kill(processes[victim], signal.SIGKILL))
        if code != 0:
            break
        os.remove("k.h5")
    check(code != 0 and not os.path.exists("k.h5"), f"rank {victim} of {n} killed: exit {code}: {errors}")
    check(glob.glob("k.h5.work/shard*"), "something is saved")
    go_on()
    check(digest("k.h5") == one, f"rank {victim} of {n} killed, then continued")
    os.remove("k.h5")

# a signal to a rank, as a batch system sends it to all, and one that mpirun passes on: all stop, exit 75; after TERM mpirun ends its ranks itself
for i, (words, what) in enumerate((("TERM to a rank", lambda _, processes: os.kill(processes[1], signal.SIGTERM)),
                                   ("TERM to rank 0", lambda _, processes: os.kill(processes[0], signal.SIGTERM)),
                                   ("USR1 to mpirun", lambda job, _: job.send_signal(signal.SIGUSR1)),
                                   ("TERM to mpirun", lambda job, _: job.send_signal(signal.SIGTERM)))):
    code, errors = interrupted(3, "endless.toml", "e.h5", what)
    if words == "TERM to mpirun":
        check(code != 0, f"{words}: exit 0")
    else:
        check(code == 75 and "are saved in e.h5.work" in errors, f"{words}: exit {code}: {errors}")
    check(i == 0 or "resumed: " in errors, f"{words}: nothing was resumed: {errors}")
    check(not os.path.exists("e.h5"), words)
call("merge", "e.h5.work", "-o", "saved.h5", code=7, words="are missing")  # every saved run can be read

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
