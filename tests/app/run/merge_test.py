"""`run --shard` and `merge` as a user starts them: one digest however a suite is cut, joined and interrupted; what is missing, what differs,
what is refused; locks of other machines.

Usage: merge_test.py PROGRAM SUITES"""
import atexit, glob, json, os, random, re, shutil, signal, subprocess, tempfile, time

import h5py

import checks
from checks import call, check, digest, program, suite
from digest import reseal
from reference import texts

smoke = os.path.join(checks.paths[0], "smoke.toml")
shutil.copy(smoke, "smoke.toml")
clean = {k: v for k, v in os.environ.items() if not re.match("SLURM_|PMIX_|OMPI_|JOB_COMPLETION", k)}


def parts(n, *more, name="smoke"):
    for i in range(n):
        check(call("run", "smoke.toml", "-q", "--shard", f"{i}/{n}", *more) == "", "a part prints no table")
    return sorted(glob.glob(f"{name}.part-*-of-{n}.h5"))


def bytes_of(file):
    return open(file, "rb").read()


def rows(file):
    with h5py.File(file) as f:
        return texts(f, "id")


call("run", "smoke.toml", "-q", "-o", "one.h5")
one = digest("one.h5")
eight = parts(8)
check(len(eight) == 8, eight)
rng = random.Random(8)
for name in ("a.h5", "b.h5"):
    rng.shuffle(eight)
    call("merge", *eight, "-o", name, words=f"wrote {name}: 192 runs of 8 parts; digest {one}")
check(digest("a.h5") == one == digest("b.h5"), "one digest")
check(rows("a.h5") == rows("one.h5"), "the order of one machine")
check(call("table", "a.h5") == call("table", "one.h5"), "and its table")
check("equal: runs, values and curves have the same digest" in call("diff", "one.h5", "a.h5"), "diff")
check(not glob.glob("*.work"), "no work folder is left")
call("merge", *eight, "-o", "a.h5", words="already complete: a.h5 holds all 192 runs, nothing was merged")

# another cut, a part twice, parts of two cuts, a whole file among them
five = parts(5)
call("merge", *five, five[2], "-o", "c.h5", words="of them in more than one; digest " + one)
call("merge", *eight[:4], *five, "one.h5", "-o", "d.h5", words=one)

# kept rollouts are joined too; a part that keeps none is another suite's
kept = ("--set", "record.rollouts=30", "--set", "learn.steps=40")
call("run", "smoke.toml", "-q", "-o", "kept.h5", *kept)
call("merge", *parts(3, *kept, name="smoke-rollouts=30-steps=40"), "-o", "joined.h5", words="digest " + digest("kept.h5"))
shown = [call("export", name, "--what", "rollouts", "--only", "*/s0") for name in ("kept.h5", "joined.h5")]
check(shown[0] == shown[1] and shown[0].count("\n") > 10_000, "rollouts of a merged file")
call("run", "smoke.toml", "-q", "--set", "learn.steps=40", "--shard", "0/3", "-o", "keeps-none.h5")
call("merge", "keeps-none.h5", *sorted(glob.glob("smoke-rollouts=30-steps=40.part-*-of-3.h5"))[1:], "-o", "no.h5", code=8)
for name in glob.glob("smoke-*.part-*-of-3.h5"):
    os.remove(name)

# what a part says of itself
with h5py.File(sorted(eight)[3]) as f:
    text = {name: f["provenance"][name][()].decode() for name in f["provenance"]}
check(text["part"] == "3/8" and len(text["whole"]) == 64 and text["node"] == os.uname().nodename and text["cpu"], text.keys())
with h5py.File("a.h5") as f:
    lines = f["provenance/parts"][()].decode().splitlines()
    check(len(lines) == 8 and all(len(line.split("\t")) == 9 for line in lines), lines)
    check(f.attrs["fingerprint"] == text["whole"], "the merged file is the whole suite")

# missing: each part with its command, which trains it
some = sorted(eight)
told = call("merge", *(p for p in some if "part-3" not in p and "part-6" not in p), "-o", "m.h5", code=7, words="runs of part 6/8").splitlines()
check(told == [f"odrpo-bench run smoke.toml --shard {i}/8 -o smoke.part-{i}-of-8.h5" for i in (3, 6)], told)
check(not os.path.exists("m.h5") and not os.path.exists("m.h5.work"), "nothing is written")
os.makedirs("again")
for line in told:
    call(*line.replace("-o ", "-o again/").split()[1:], "-q")
call("merge", *(p for p in some if "part-3" not in p and "part-6" not in p), *glob.glob("again/*.h5"), "-o", "m.h5", words=one)
j = json.loads(call("merge", *some[1:], "-o", "m2.h5", "--json", code=7))
check(sum(len(part["runs"]) for part in j["missing"]) == 192 - len(set().union(*(rows(p) for p in some[1:]))) and j["digest"] == "", j)
j = json.loads(call("merge", *some, "-o", "m2.h5", "--json"))
check(j["digest"] == one and j["missing"] == [] and j["equal"] == 0 and j["parts"] == 8, j)

# a part that was stopped: its folder is a part; a part being written is not
long = ["--set", "learn.steps=20000", "--only", "whole/*/linear/*"]


def slow_part(output):
    """A part that goes on for a while, once some of its runs are saved."""
    slow = subprocess.Popen([program, "run", "smoke.toml", "-q", "-j1", "--shard", "0/2", "-o", output, *long], stdin=subprocess.DEVNULL)
    checks.wait_until(lambda: glob.glob(output + ".work/shard*"), slow)
    return slow


with slow_part("slow.h5") as slow:
    slow.send_signal(signal.SIGSTOP)  # so that it is not done before it is stopped
    call("merge", "slow.h5.work", "-o", "s.h5", code=5, words="is still being written (process ")
    call("merge", "slow.h5", "-o", "s.h5", code=5, words="is not there yet, but 'slow.h5.work' is")
    slow.send_signal(signal.SIGTERM)
    slow.send_signal(signal.SIGCONT)
    check(slow.wait() == 75, "stopped")
told = call("merge", "slow.h5.work", "-o", "s.h5", code=7, words="are missing")
check("--shard 0/2 -o slow.h5" in told and "--shard 1/2 -o smoke-steps=20000.part-1-of-2.h5" in told, told)
check(f"--set learn.steps=20000 --only 'whole/*/linear/*'" in told, told)
for line in told.splitlines():
    call(*[word.strip("'") for word in line.split()[1:]], "-q")
call("run", "smoke.toml", "-q", "-o", "whole.h5", *long)
call("merge", "slow.h5", "smoke-steps=20000.part-1-of-2.h5", "-o", "s.h5", words=digest("whole.h5"))

# refused: other settings, other suites, what is no part, what is cut
call("run", "smoke.toml", "-q", "--shard", "0/8", "-o", "set.h5", "--set", "learn.lr=0.31")
call("merge", *some, "set.h5", "-o", "no.h5", code=8, words="trained with another --set")
call("run", "smoke.toml", "-q", "--shard", "0/8", "-o", "only.h5", "--only", "*/s1")
call("merge", *some, "only.h5", "-o", "no.h5", code=8, words="trained with another --only")
open("other.toml", "w").write(open(smoke).read().replace('name = "smoke"', 'name = "other"'))
call("run", "other.toml", "-q", "--shard", "0/8", "-o", "other.h5")
call("merge", "other.h5", *some, "-o", "no.h5", code=8, words="it is of the suite smoke, the other of other")
open("changed.toml", "w").write(open(smoke).read().replace("seed = ", "# a comment\nseed = ", 1))
call("run", "changed.toml", "-q", "--shard", "0/8", "-o", "comment.h5")
call("merge", "comment.h5", *some[1:], "-o", "comment-all.h5", words=one)  # equal runs are equal, whatever the file says beside
call("merge", "smoke.toml", *some, "-o", "no.h5", code=8, words="not a result file")
call("merge", "nowhere.h5", *some, "-o", "no.h5", code=5, words="No such file")
os.makedirs("folder")
call("merge", "folder", *some, "-o", "no.h5", code=8, words="no work folder of a part")
call("merge", *some, code=2, words="--output is required")
for size in (0, 7, 1000, os.path.getsize(some[0]) // 2, os.path.getsize(some[0]) - 1):
    open("cut.h5", "wb").write(bytes_of(some[0])[:size])
    call("merge", "cut.h5", *some[1:], "-o", "no.h5", code=8)


# damaged on purpose, and forged: with checksums and a digest that go with the content
def forge(change, words, sealed=True, code=8, parts=some[1:], whole=True):
    shutil.copy(some[0], "forged.h5")
    with h5py.File("forged.h5", "r+") as f:
        change(f)
    if sealed:
        reseal("forged.h5")
        call("verify", "forged.h5", code=0 if whole else 8)
    return call("merge", "forged.h5", *parts, "-o", "no.h5", code=code, words=words)


def cell(column, row, value):
    return lambda f: f[column].__setitem__(row, value)


def text_of(name, value):
    return lambda f: f["provenance/" + name].__setitem__((), value)


def later(f):
    for step in (f["curves/small/step"], f["seconds/small/step"]):
        step[1] = step[1] + 1


def another_seed(f):
    f["id"][0], f["seed"][0] = f["id"][0].decode().rsplit("/s", 1)[0] + "/s9", 9


forge(cell("final_quality", 3, 9.5), "does not have its checksum", sealed=False)
forge(cell("id", 0, "small/mixed/tabular/grpo/n1/s9"), "does not have its checksum", sealed=False)
forge(cell("judge_calls", 3, 9.5), "1 run differs between parts", parts=some)  # which no seal hides where a run is there twice
forge(cell("judge_calls", 3, 9.5), "judge_calls 9.5 and ", parts=some)
forge(another_seed, "the suite has no such run")
forge(cell("key", 0, "0" * 16), "its key is 0000000000000000, that of another configuration")
forge(cell("seed", 0, 1 - h5py.File(some[0])["seed"][0]), "its id is not made of", whole=False)
forge(later, "its recorded steps are not those of the suite")
forge(text_of("whole", "f" * 64), "cannot be merged with")
forge(text_of("whole", "f" * 64), "is not the suite of", parts=[])
forge(text_of("version", "9.9.9"), "was trained by version 9.9.9 of odrpo-bench, and this is version")
forge(text_of("suite", "[x"), "could not be read again", code=3)
for bad in ("junk", "auto/8", "9/8", "0/0"):
    forge(text_of("part", bad), f'says that it is part "{bad}", which no suite has')
told = forge(lambda f: None, "of 192 runs are missing", code=7, parts=[]).splitlines()
check(len(told) == 7 and all(f"--shard {i + 1}/8" in line for i, line in enumerate(told)), told)
flipped = bytearray(bytes_of(some[2]))
rng = random.Random(2)
for _ in range(20):
    at = rng.randrange(len(flipped))
    damaged = bytes(flipped[:at]) + bytes([flipped[at] ^ (1 << rng.randrange(8))]) + bytes(flipped[at + 1:])
    open("flipped.h5", "wb").write(damaged)
    ran = subprocess.run([program, "merge", "flipped.h5", *some[:2], *some[3:], "-q", "-o", "flip.h5"], capture_output=True)
    check(ran.returncode in (0, 8), f"one flipped bit at {at}: exit {ran.returncode}: {ran.stderr}")
    if ran.returncode == 0:
        check(digest("flip.h5") == one, f"a flipped bit at {at} changed the digest")
        os.remove("flip.h5")
check(not os.path.exists("no.h5") and not os.path.exists("no.h5.work"), "a refused merge leaves nothing")

# an output that is made of a part, or of whose work folder one is; parts in other folders; nothing but errors and commands with -q
call("merge", *some, "-o", some[2], "--force", code=5, words="is made of the part")
shutil.copytree("again", "elsewhere")
ran = subprocess.run([program, "merge", *some[1:], "-q", "-o", "no.h5"], capture_output=True)
check(ran.stderr.decode() == "error: 24 of 192 runs are missing; 'no.h5' was not written\n" and b"--shard 0/8" in ran.stdout, ran)
os.makedirs("scores/there")
open("scores/there/judge.csv", "w").write("prompt_id,response_id,sample_id,score\n" + "".join(
    f"{p},{r},{s},{1 + (3 * p + 5 * r + s * (p + r)) % 5}\n" for p in range(6) for r in range(6) for s in range(4)))
suite("scores/there/own", '[rater.judge]\nscores = "judge.csv"\n', rater='"judge"', policy='"tabular"', estimator='["grpo", "maxrl"]', votes=1)
for i in (0, 1):
    call("run", "own.toml", "-q", "--shard", f"{i}/2", cwd="scores/there")
call("merge", *glob.glob("scores/there/own.part-*"), "-o", "own.h5", words="6 runs of 2 parts")  # the scores are beside the parts
os.makedirs("scores/other")
open("scores/other/judge.csv", "w").write(open("scores/there/judge.csv").read().replace(",1\n", ",2\n"))
call("merge", *[os.path.join("..", "..", p) for p in sorted(glob.glob("scores/there/own.part-*"))], "-o", "own.h5", words="6 runs of 2 parts", cwd="scores/other")
call("merge", *glob.glob("scores/there/own.part-*"), "--suite", "scores/there/own.toml", "-o", "own2.h5", words="6 runs of 2 parts")
# a part is anybody's: what it names elsewhere is not opened, and what stands in a file that it names is not shown
secret = tempfile.mkdtemp()
atexit.register(shutil.rmtree, secret)
open(os.path.join(secret, "shadow"), "w").write("root:secret:1\n")
os.symlink(os.path.join(secret, "shadow"), "scores/there/link.csv")
os.makedirs("scores/there/data")
open("scores/there/data/notes.csv", "w").write("mine:secret:1\n")
mine = sorted(glob.glob("scores/there/own.part-*"))
for key in ("scores", "file"):
    for name, words in [(os.path.join(secret, "shadow"), "is not opened"), (os.path.relpath(secret, "scores/there") + "/shadow", "is not opened"), ("link.csv", "is not opened"),
                        ("data/notes.csv", "nothing of it is shown"), ("/proc/self/environ", "is not opened")]:
        shutil.copy(mine[0], "scores/there/forged.h5")
        with h5py.File("scores/there/forged.h5", "r+") as f:
            text = f["provenance/suite"][()].decode()
            f["provenance/suite"][()] = text.replace('scores = "judge.csv"', f'{key} = "{name}"')
        reseal("scores/there/forged.h5")
        said = subprocess.run([program, "merge", "scores/there/forged.h5", mine[1], "-o", "no.h5"], capture_output=True, env=clean)
        check(said.returncode in (3, 8) and words.encode() in said.stderr and b"secret" not in said.stderr.replace(secret.encode(), b"") and b"root:" not in said.stderr, said)
shutil.move("scores/there/judge.csv", "scores/judge.csv")
call("merge", *glob.glob("scores/there/own.part-*"), "-o", "own3.h5", code=5, words="--suite FILE says where it is")
with slow_part("elsewhere/slow.h5") as slow:
    slow.send_signal(signal.SIGTERM)
for name in ("elsewhere/slow.h5.work", "elsewhere/slow.h5.work/"):
    told = call("merge", name, "-o", "s2.h5", code=7, words="are missing")
    check("--shard 0/2 -o elsewhere/slow.h5\n" in told and "--shard 1/2 -o elsewhere/smoke-steps=20000.part-1-of-2.h5" in told, told)
call("merge", "elsewhere/slow.h5.work", "-o", "elsewhere/slow.h5", "--force", code=5, words="is made of the part")

# two merges at once, and locks of other machines
call("run", "smoke.toml", "-q", "--shard", "0/8", "-o", "held.h5")
os.makedirs("p.h5.work")
lock = "odrpo-bench lock 1\nhost node7\nuser ann\nprocess 17\nstarted 5\nboot 0\nspace pid:[1]\nsince 2026-01-02 03:04:05\n"
open("p.h5.work/lock", "w").write(lock)
for command in (["run", "smoke.toml", "-o", "p.h5"], ["merge", *some, "-o", "p.h5"]):
    call(*command, code=5, words="another process is writing 'p.h5' (it holds 'p.h5.work/lock': process 17 of ann on node7, since 2026-01-02 03:04:05 UTC")
old = time.time() - 3600
os.utime("p.h5.work/lock", (old, old))
call("run", "smoke.toml", "-o", "p.h5", code=5, words="'p.h5' is locked by process 17 of ann on node7, since 2026-01-02 03:04:05 UTC, last sign of life 60 min ago; when that process is dead, remove 'p.h5.work/lock'")
check(open("p.h5.work/lock").read() == lock, "it is left alone")
os.remove("p.h5.work/lock")
call("merge", *some, "-o", "p.h5", words=one)
open("q.sh", "w").write(f"for i in 1 2 3; do '{program}' merge {' '.join(some)} -q -o q.h5 2>>q.log & done; wait")
subprocess.run(["sh", "q.sh"], check=True)
check(digest("q.h5") == one, "of merges at once one writes")
check(all("another process is writing 'q.h5'" in line for line in open("q.log")), open("q.log").read())

# the toy language model, trained by other instructions: the digests, the values and the processors
suite("lm", """[env.toy-lm]
vocabulary = 40
prompts = 13
response_tokens = 12
evaluated_prompts = 16
[policy.p]
base = "transformer"
warm_steps = 6
warm_batch = 4
""", seeds=2, env='"toy-lm"', policy='"p"', estimator='["grpo", "maxrl"]', votes=1, steps="12\nrollouts = 4", batch=4)
for i in (0, 1):
    call("run", "lm.toml", "-q", "--shard", f"{i}/2")
call("merge", "lm.part-0-of-2.h5", "lm.part-1-of-2.h5", "-o", "lm-parts.h5", words="4 runs of 2 parts")
call("run", "lm.toml", "-q", "-o", "lm.h5")
check(digest("lm.h5") == digest("lm-parts.h5"), "one digest of the toy language model")
call("run", "lm.toml", "-q", "--shard", "1/2", "-o", "lm-other.h5", env={**os.environ, "ODRPO_ISA": "portable"})
if digest("lm-other.h5") != digest("lm.part-1-of-2.h5"):  # a machine without other instructions has equal bits
    call("merge", "lm.part-0-of-2.h5", "lm.part-1-of-2.h5", "lm-other.h5", "-o", "lm-no.h5", code=8, words="(portable)")
    call("merge", "lm-other.h5", "lm.part-0-of-2.h5", "lm.part-1-of-2.h5", "-o", "lm-no.h5", code=8, words="equal bits on one kind of CPU or device alone: keep one")

# --shard: numbers of the environment, and past the end
for variables, words, code in (({"SLURM_ARRAY_TASK_ID": "4", "SLURM_ARRAY_TASK_MIN": "1"}, "note: part 3/8 (SLURM_ARRAY_TASK_ID=4 less SLURM_ARRAY_TASK_MIN=1)", 0),
                               ({"JOB_COMPLETION_INDEX": "8"}, "part 8 (JOB_COMPLETION_INDEX=8) is not in 0..7", 2),
                               ({"SLURM_ARRAY_TASK_ID": "4", "SLURM_ARRAY_TASK_STEP": "3"}, "step 3", 2), ({}, "no variable tells", 2)):
    call("run", "smoke.toml", "--shard", "auto/8", "-o", "auto.h5", "--force", code=code, words=words, env={**clean, **variables})
call("run", "smoke.toml", "--shard", "0/193", code=2, words="193 parts of 192 runs leave some without a run")
call("check", "smoke.toml", "--shard", "9/8", code=2, words="part 9 is not in 0..7")
counts = [json.loads(call("check", "smoke.toml", "--json", "--shard", f"{i}/8"))["runs"] for i in range(8)]
check(sum(counts) == 192, counts)
checks.finish()
