"""The example job scripts under a real Slurm: a job array whose tasks are killed, requeued and merged. Needs root and Slurm's daemons.

Usage: slurm_test.py PROGRAM EXAMPLES"""
import os, re, signal, sys, time

import checks
from checks import check, digest, program, suite
from slurm_cluster import Cluster, NoSlurm, skipped, wait_until

scripts = os.path.join(checks.paths[0], "slurm")
start = time.monotonic()
patience = 180  # seconds for the whole test

parts = 4


def say(text):
    print(f"{time.monotonic() - start:5.1f} s  {text}", flush=True)


def await_(good, what):
    """Waits, and ends the test where it waits for too long."""
    value = wait_until(good, start + patience - time.monotonic())
    if not value:
        raise RuntimeError(f"waited too long: {what}")
    return value


def new_folder(name):
    os.mkdir(name)
    suite(name + "/suite", seed=3, seeds=8, estimator='["grpo", "maxrl", "odrpo-gini-median(grpo)"]', prompts=256, actions=32, batch=64, steps=14000)
    return os.path.realpath(name)


class Array:
    """A job array of one of the example scripts, in a folder of its own."""

    def __init__(self, cluster, script, tasks=parts):
        self.cluster, self.script = cluster, script
        self.folder = new_folder(script)
        self.id = cluster.submit(self.folder, f"--array=0-{tasks - 1}", "--cpus-per-task=1", f"{scripts}/{script}.sbatch", "suite.toml", str(parts))
        say(f"{script}.sbatch: array {self.id} of {tasks} tasks submitted")

    def name(self, task):
        return f"{self.id}_{task}"

    def part(self, task):
        return f"{self.folder}/suite.part-{task}-of-{parts}.h5"

    def log(self, task):
        with open(f"{self.folder}/odrpo-{self.script}-{self.name(task)}.log") as file:
            return file.read()

    def facts(self, task):
        return self.cluster.job(self.name(task))

    def await_half_way(self, task):
        """Until a task has saved a run."""
        work = self.part(task) + ".work"
        await_(lambda: os.path.isdir(work) and any(re.fullmatch(r"shard-.*\.runs", name) for name in os.listdir(work)), f"a saved run of task {task}")
        check(not os.path.exists(self.part(task)), f"{self.script}, task {task}: stopped before its part is complete")

    def await_state(self, task, *states):
        """What Slurm says of a task, once it is in such a state."""
        return await_(lambda: (facts := self.facts(task)).get("JobState") in states and facts, f"{self.script}: task {task} to be {' or '.join(states)}")

    def requeue(self, task):
        ran = self.cluster.call("scontrol", "requeue", self.name(task))
        check(ran.returncode == 0, f"scontrol requeue {self.name(task)}: {ran.stderr}")

    def terminate(self, task):
        """SIGTERM to the batch shell alone, as --signal=B:TERM has it sent."""
        ran = self.cluster.call("scancel", "--batch", "--signal=TERM", self.name(task))
        check(ran.returncode == 0, f"scancel {self.name(task)}: {ran.stderr}")

    def check_done(self, task, restarts):
        facts = self.await_state(task, "COMPLETED")
        check(facts["ExitCode"] == "0:0" and facts["Restarts"] == str(restarts), f"{self.script}, task {task}: exit 0, {restarts} restarts: {facts}")
        log = self.log(task)
        check(f"part {task}/{parts} (SLURM_ARRAY_TASK_ID={task} less SLURM_ARRAY_TASK_MIN=0)" in log, f"task {task} trains part {task}: {log}")
        check(restarts == 0 or re.search("resumed: [1-9]", log), f"{self.script}, task {task} continues: {log}")


def test_array(cluster, whole):
    array = Array(cluster, "array", parts + 1)  # one task too many

    array.await_half_way(1)
    say("task 1: SIGKILL to the program")
    for pid in cluster.processes(1, program):
        os.kill(pid, signal.SIGKILL)
    array.await_half_way(2)
    say("task 2: scontrol requeue while it trains")
    array.requeue(2)
    array.await_half_way(3)
    say("task 3: SIGTERM, as before a time limit")
    array.terminate(3)
    for task, code in ((1, "0:9"), (3, "75:0")):
        facts = array.await_state(task, "FAILED")
        check(facts["ExitCode"] == code, f"task {task}: exit code {code} is seen: {facts}")
        say(f"task {task}: scontrol requeue after it ended")
        array.requeue(task)
    facts = array.await_state(parts, "FAILED")
    check(facts["ExitCode"] == "2:0" and f"part {parts} (" in array.log(parts), f"a task without a part ends with exit 2: {facts}, {array.log(parts)}")

    wrap = f"odrpo-bench merge suite.part-*-of-{parts}.h5 -o suite.h5"
    tasks = ":".join(array.name(task) for task in range(parts))
    merge = cluster.submit(array.folder, f"--dependency=afterok:{tasks}", "--output=merge.log", "--wrap", wrap)
    say(f"job {merge}: merge, when the tasks with a part have ended")
    for task in range(parts):
        array.check_done(task, 0 if task == 0 else 1)
    facts = await_(lambda: (facts := cluster.job(merge)).get("JobState") in ("COMPLETED", "FAILED") and facts, "the merge job")
    with open(array.folder + "/merge.log") as file:
        check(facts["JobState"] == "COMPLETED", f"merge as a dependent job: {facts}: {file.read()}")
    check(digest(array.folder + "/suite.h5") == whole, "the merged file has the digest of one machine's")
    checks.call("merge", *(array.part(task) for task in reversed(range(parts))), "-o", "reversed.h5")
    check(digest("reversed.h5") == whole, "and so it has in another order")
    say("merged: equal digests")


def test_requeue(cluster, whole):
    array = Array(cluster, "requeue")
    array.await_half_way(3)
    say("task 3: SIGTERM as before pre-emption; it requeues itself")
    array.terminate(3)
    array.await_half_way(0)
    say("task 0: the program is killed, as by a node that fails, and leaves the lock of another machine")
    lock = array.part(0) + ".work/lock"
    for pid in cluster.processes(0, program):
        os.kill(pid, signal.SIGKILL)
    facts = array.await_state(0, "FAILED")
    check(facts["ExitCode"] == "137:0", f"the script ends as the program does: {facts}")
    with open(lock) as file:
        text = re.sub("(?m)^(host|boot) .*", r"\1 elsewhere", file.read())
    with open(lock, "w") as file:
        file.write(text)
    checks.call("run", "suite.toml", "--shard", f"0/{parts}", "-o", array.part(0), code=5, words="elsewhere", cwd=array.folder)
    array.requeue(0)
    for task in range(parts):
        array.check_done(task, 1 if task in (0, 3) else 0)
    checks.call("merge", *(array.part(task) for task in range(parts)), "-o", "requeued.h5")
    check(digest("requeued.h5") == whole, "requeue.sbatch: the merged file has the digest of one machine's")
    say("merged: equal digests")


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the cluster ends too
    folder = os.path.realpath("cluster")
    os.mkdir(folder)
    try:
        with Cluster(folder, program) as cluster:
            say("Slurm " + cluster.ask("sinfo", "--version").split()[-1] + " with one node is up")
            one = new_folder("one")
            checks.call("run", "suite.toml", cwd=one)
            whole = digest(one + "/suite.h5")
            say(f"one process on one machine: digest {whole}")
            try:
                test_array(cluster, whole)
                test_requeue(cluster, whole)
            except RuntimeError as error:
                queue = cluster.ask("squeue", "-r", "-o", "%i %T %r")
                check(False, f"{error}\n{queue}slurmctld: {cluster.log('slurmctld')}\nslurmd: {cluster.log('slurmd')}")
    except NoSlurm as why:
        print(f"skipped: no Slurm: {why}")
        sys.exit(skipped)
    checks.finish()


main()
