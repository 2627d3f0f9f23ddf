#!/usr/bin/env python3
"""Plants the faults of faults.toml, one after the other, in a worktree of the last commit, and reports which of them the tests find.

Usage: run.py [--list] [--keep] [--jobs N] [--build-args "-DX=Y ..."] [NAME or GLOB ...]. Exit code 0: the tests found all chosen faults."""
import argparse, fcntl, fnmatch, glob, html, os, re, shlex, shutil, signal, subprocess, sys, time, tomllib

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TREE = os.path.join(ROOT, "build", "mutants")  # as deep below a worktree as the build folders of others: ccache then knows their objects
BUILD = os.path.join(TREE, "build", "faults")
OF_CTEST = ["odrpo-bench", "sample_result_file"]  # what tests of the program start
LEAST_SECONDS, TIMES_AS_LONG = 120, 5  # a test that a fault keeps from ending: at most so much longer than without the fault


def git(*words, folder=ROOT):
    return subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True, text=True).stdout.strip()


def run(words, seconds=None):
    """Exit code (None: it took too long) and output. Ends the whole process group, so that no test outlives its time."""
    with subprocess.Popen(words, cwd=TREE, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", start_new_session=True) as process:
        try:
            text = process.communicate(timeout=seconds)[0]
            return process.returncode, text
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, process.communicate()[0]
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise


def is_program(test):
    return test.startswith("test_")


def targets_of(tests):
    targets = []
    for test in tests:
        targets += [test.split(" ", 1)[0]] if is_program(test) else OF_CTEST
    return list(dict.fromkeys(targets))


def build(tests, jobs):
    return run(["cmake", "--build", BUILD, "-j", str(jobs), "--target", *targets_of(tests)])


def first_failure(test, seconds=None):
    """None, or the first test case that fails. `test`: a program with or without a filter of Catch2 (of the cases
    of csv_test.cpp: [#csv_test]), or the name of a test of ctest."""
    if not is_program(test):
        code, text = run(["ctest", "--test-dir", BUILD, "--output-on-failure", "--no-tests=error", "-R", f"^{re.escape(test)}$"], seconds)
        skipped = "(Skipped)" in text
        return "did not end" if code is None else "is skipped on this machine" if skipped else None if code == 0 else "fails"
    program, *which = test.split(" ", 1)
    code, text = run([*glob.glob(os.path.join(BUILD, "tests", "*", program)), "--abort", "--filenames-as-tags", "--reporter", "xml", *which], seconds)
    cases = re.findall(r'<TestCase name="([^"]*)"', text)
    if code == 0:
        return None if cases else "no test case"
    name = html.unescape(cases[-1]) if cases else f"exit code {code}"
    return f'"{name}"' + (" did not end" if code is None else "")


def read_faults(chosen):
    with open(os.path.join(HERE, "faults.toml"), "rb") as file:
        faults = tomllib.load(file)["fault"]
    names = [fault["name"] for fault in faults]
    if len(set(names)) < len(names):
        sys.exit("faults.toml: a name stands twice")
    for pattern in chosen:
        if not fnmatch.filter(names, pattern):
            sys.exit(f"no fault is called {pattern}")
    return [f for f in faults if not chosen or any(fnmatch.fnmatchcase(f["name"], pattern) for pattern in chosen)]


def make_tree(build_args):
    commit = git("rev-parse", "HEAD")
    if os.path.exists(os.path.join(TREE, ".git")):  # kept
        git("checkout", "--quiet", "--detach", "--force", commit, folder=TREE)
    else:
        git("worktree", "prune")
        git("worktree", "add", "--quiet", "--detach", TREE, commit)
    if git("status", "--porcelain", "--untracked-files=no"):
        print("note: faults are planted in the last commit, without the changes that are not committed")
    os.environ.update(CCACHE_BASEDIR=TREE, CCACHE_NOHASHDIR="1", CCACHE_SLOPPINESS="pch_defines,time_macros,include_file_mtime,include_file_ctime")
    code, text = run(["cmake", "-S", TREE, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DODRPO_CUDA=OFF", "-DODRPO_MPI=OFF",
                      "-DODRPO_BENCH=OFF", *build_args])
    if code != 0:
        sys.exit(text + "cmake fails")


def plant(fault, jobs, seconds):
    """One of caught, survived, does not build, text not found; and by what."""
    path = os.path.join(TREE, fault["file"])
    with open(path, encoding="utf-8") as file:
        source = file.read()
    if source.count(fault["text"]) != 1:
        return "text not found", f"{fault['file']} holds it {source.count(fault['text'])} times"
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(source.replace(fault["text"], fault["other"]))
        code, text = build(fault["tests"], jobs)
        if code != 0:
            return "does not build", "\n".join(line for line in text.splitlines() if "error" in line)[:2000]
        for test in fault["tests"]:
            if why := first_failure(test, seconds[test]):
                return "caught", f"{test}: {why}"
        return "survived", fault["means"]
    finally:
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)


def main():
    arguments = argparse.ArgumentParser(description="plants faults and reports which of them the tests find")
    arguments.add_argument("faults", nargs="*", metavar="NAME", help="name or glob of faults of faults.toml; none: all")
    arguments.add_argument("--list", action="store_true", help="print the faults and end")
    arguments.add_argument("--keep", action="store_true", help="keep the worktree, which lies in build/mutants, for the next call")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count(), help="of the build")
    arguments.add_argument("--build-args", default="", help="further arguments of cmake, in one word")
    given = arguments.parse_args()
    faults = read_faults(given.faults)
    if given.list:
        for fault in faults:
            print(f"{fault['name']:<32} {fault['file']}: {fault['means']} ({', '.join(fault['tests'])})")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    os.makedirs(os.path.dirname(TREE), exist_ok=True)
    lock = open(TREE + ".lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit("another call of this script uses build/mutants")
    results = {"caught": 0, "survived": 0, "does not build": 0, "text not found": 0}
    try:
        make_tree(shlex.split(given.build_args))
        tests = list(dict.fromkeys(test for fault in faults for test in fault["tests"]))
        code, text = build(tests, given.jobs)
        if code != 0:
            sys.exit(text + "the unchanged tree does not build")
        seconds = {}
        for test in tests:  # what fails without a fault would find every fault
            began = time.monotonic()
            if why := first_failure(test):
                sys.exit(f"without a fault, {test}: {why}")
            took = time.monotonic() - began
            seconds[test] = max(LEAST_SECONDS, TIMES_AS_LONG * took)
            print(f"{'passes':<14} without a fault: {test} ({took:.0f} s)", flush=True)
        for fault in faults:
            began = time.monotonic()
            result, by = plant(fault, given.jobs, seconds)
            results[result] += 1
            print(f"{result:<14} {fault['name']} ({time.monotonic() - began:.0f} s): {by}", flush=True)
    finally:
        if not given.keep and os.path.exists(TREE):
            shutil.rmtree(TREE, ignore_errors=True)
            git("worktree", "prune")
    print(f"{len(faults)} faults: " + ", ".join(f"{n} {result}" for result, n in results.items()))
    return 0 if results["caught"] == len(faults) else 1


sys.exit(main())
