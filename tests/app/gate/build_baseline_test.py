"""`odrpo-bench gate --build-baseline REF` as CI starts it: in a git repository whose CMake project "builds" odrpo-bench by copying a program, whose
times are made up.

Usage: build_baseline_test.py PROGRAM GATE_WORKER.py"""
import fcntl, json, os, shlex, shutil, subprocess, sys

import checks
from checks import program
from gate_checks import check, fake, running, short, worker

if not (shutil.which("git") and shutil.which("cmake") and shutil.which("ninja")):
    print("no git, cmake or ninja here")
    sys.exit(77)

clean = {k: v for k, v in checks.clean.items() if not k.startswith("GIT_")}
clean.update(GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null", GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@b", GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@b")


def git(*words, folder="a project"):
    return subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True, env=clean, text=True).stdout.strip()


def gate(*arguments, folder="a project", seconds=300):
    return subprocess.run([program, "gate", *short, *arguments], capture_output=True, timeout=seconds, stdin=subprocess.DEVNULL, env=clean, cwd=folder)


def commit(message, how):
    """A commit whose program is a worker that behaves so."""
    open("a project/how.json", "w").write(json.dumps(how))
    git("add", "-A")
    git("commit", "-q", "-m", message)
    return git("rev-parse", "HEAD")


os.mkdir("a project")
git("init", "-q", "-b", "main")
open("a project/.gitignore", "w").write("build/\n")
# the program: this test's worker, whose behaviour the commit fixes
open("a project/odrpo-bench.in", "w").write(f"""#!/bin/sh
exec {sys.executable} -IS {shlex.quote(fake)} "$(cat "${{0%/*}}/how.json")"
""")
open("a project/CMakeLists.txt", "w").write("""cmake_minimum_required(VERSION 3.20)
project(p LANGUAGES NONE)
configure_file(odrpo-bench.in odrpo-bench @ONLY FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
configure_file(how.json how.json COPYONLY)
""")
base = commit("base", {})
git("checkout", "-q", "-b", "topic")
git("checkout", "-q", "main")
later = commit("main goes on, and becomes slower", {"factor": {"a": 1.5}})
git("checkout", "-q", "topic")
mine = commit("a slower b", {"factor": {"b": 1.05}})
candidate = worker(factor={"b": 1.05})
r = gate("--build-baseline", "main", "--candidate", candidate, "--json", "--counts", "off")
j = json.loads(r.stdout or "{}")
check("the merge base is built and compared with, not main's end", r.returncode == 10 and {c["case"]: c["verdict"] for c in j["cases"]} == {"a": "same", "b": "slower", "c": "same"}, r)
check("it is named", base[:12] in j["baseline"] and j["kind"] == "self", j["baseline"])
source = f"a project/build/baseline/{base[:12]}/source"
check("the work tree has that commit", git("rev-parse", "HEAD", folder=source) == base)
check("the checkout is as it was", git("status", "--porcelain") == "" and git("rev-parse", "HEAD") == mine)
r = gate("--build-baseline", "main", "--candidate", candidate, "--json", "--counts", "off", folder=os.path.join("a project", "build"))
check("again, from a folder inside: what was built is taken", r.returncode == 10, r)
r = gate("--build-baseline", "HEAD", "--candidate", candidate, "--counts", "off", "--fail-on", "different")
check("the merge base is the commit that is checked out, and it says so", r.returncode == 0 and b"only what is not committed can differ" in r.stderr, r)
# what was left half done, or was changed there
os.remove(f"{source}/how.json")
open(f"{source}/CMakeLists.txt", "a").write("message(FATAL_ERROR changed)\n")
open(f"{source}/more", "w").write("")
open(f"a project/.git/worktrees/{os.path.basename(source)}/index.lock", "w").write("")
r = gate("--build-baseline", "main", "--candidate", candidate, "--counts", "off", "--fail-on", "different")
check("the work tree is made as the commit has it", r.returncode == 0 and git("status", "--porcelain", folder=source) == "" and not os.path.exists(f"{source}/more"), r)
with open(f"a project/build/baseline/{base[:12]}/lock") as held:
    fcntl.flock(held, fcntl.LOCK_EX)
    r = gate("--build-baseline", "main", "--candidate", candidate)
    check("another gate builds there: 5", r.returncode == 5 and b"another gate builds in" in r.stderr, r)
shutil.rmtree("a project/build")
r = gate("--build-baseline", later[:10], "--candidate", worker(), "--counts", "off", "--fail-on", "different")
check("a work tree that is gone is made again", r.returncode == 0, r)

# what cannot be built
for arguments, code, says in ((["--build-baseline", "nothing-like-that"], 2, 'no commit "nothing-like-that"'), (["--build-baseline", "^main"], 2, 'no commit "^main"'),
                              (["--build-baseline", "main", "--baseline", "x"], 2, "no effect"), (["--build-baseline", "main", "--kind", "worker"], 2, "--kind is self"),
                              (["--build-baseline", "HEAD; touch hacked"], 2, "there is no commit"), (["--build-baseline", "main", "--self-test"], 2, "no effect")):
    r = gate(*arguments)
    check(f"{arguments}: {code}", r.returncode == code and says in r.stderr.decode() and r.stdout == b"", r)
check("nothing was obeyed", not os.path.exists("a project/hacked"))
os.mkdir("elsewhere")
r = gate("--build-baseline", "main", folder="elsewhere")
check("no work tree: 2", r.returncode == 2 and b"in no git work tree" in r.stderr, r)
git("checkout", "-q", "--orphan", "alone")
commit("alone", {})
r = gate("--build-baseline", "main")
check("no common ancestor: 2", r.returncode == 2 and b"no common ancestor" in r.stderr, r)
git("checkout", "-q", "-f", "main")
open("a project/CMakeLists.txt", "w").write('message(FATAL_ERROR "the compiler is out of order")\n')
commit("broken", {})
r = gate("--build-baseline", "HEAD")
check("a baseline that cannot be built: 7, with the reason", r.returncode == 7 and b"out of order" in r.stderr, r)
check("nothing is left running", not running(fake))

# builds that cannot be compared: the baseline is a program of another compiler
git("checkout", "-q", "-f", "topic")
open("a project/odrpo-bench.in", "w").write("#!/bin/sh\necho '{\"compiler\": \"Clang 3.1\", \"flags\": \"-O0\", \"build_type\": \"Debug\"}'\n")
commit("another compiler", {})
r = gate("--build-baseline", "HEAD")
check("other compilers: 12, with what differs", r.returncode == 12 and b"compiler: " in r.stderr and b"Clang 3.1" in r.stderr, r)
checks.finish()
