#!/usr/bin/env python3
# Compares the program with bandit_peers.py in numpy, JAX and torch: final regrets first, then CPU time, and writes both as Markdown. Exits with 1 when regrets differ.
#   docs/lab/speed.py PROGRAM PYTHON [REPEATS]       PYTHON has the libraries: docs/lab/measure.sh peers makes it, and calls this
import csv, io, itertools, json, math, os, statistics, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SUITE = os.path.join(HERE, "../../suites/yardstick.toml")
LIBRARIES = ["numpy", "jax", "torch"]
CELLS = list(itertools.product(["grpo", "odrpo-gini-median(maxrl)"], [1, 32]))
STEPS, AGREE, AGREE_SEEDS, MANY = 1000, 0.006, 64, 32
TIMED_STEPS = 240  # of the libraries: a step takes as long as any other
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"}


def ours(program, estimator, votes, seeds):
    """Regrets, CPU seconds of the whole process, and seconds of the median step."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "yardstick.h5")
        process = subprocess.Popen([program, "run", SUITE, "--only", f"*/{estimator}/n{votes}/*", "--set", f"suite.seeds={seeds}", "--jobs", "1", "-q", "-o", file], stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"{program} run: exit code {process.returncode}")
        runs = list(csv.DictReader(io.StringIO(subprocess.run([program, "export", file], check=True, capture_output=True, text=True).stdout)))
    return [float(r["regret"]) for r in runs], used.ru_utime + used.ru_stime, statistics.mean(float(r["step_time_median"]) for r in runs)


class Library:
    """A process of bandit_peers.py that stays, so that a library is imported once and a step is compiled once."""
    def __init__(self, python, name):
        self.process = subprocess.Popen([python, os.path.join(HERE, "bandit_peers.py"), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | ONE_THREAD)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        return json.loads(answer) if answer else sys.exit("bandit_peers.py ended")

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def mean_and_error(x):
    return statistics.mean(x), statistics.stdev(x) / math.sqrt(len(x))


def agreement(program, libraries):
    print(f"Final regret in levels: mean ± standard error of {AGREE_SEEDS} seeds, and the difference from odrpo-bench.\n")
    print("| estimator | votes | odrpo-bench |", " | ".join(f"{name} | difference" for name in libraries), "|")
    print("|---|---|---|" + "---|---|" * len(libraries))
    good = True
    for estimator, votes in CELLS:
        mine = mean_and_error(ours(program, estimator, votes, AGREE_SEEDS)[0])
        row = [estimator, str(votes), "{:.4f} ± {:.4f}".format(*mine)]
        for library in libraries.values():
            theirs = mean_and_error(library.ask(estimator=estimator, votes=votes, seeds=AGREE_SEEDS, steps=STEPS)["regret"])
            row += ["{:.4f} ± {:.4f}".format(*theirs), f"{theirs[0] - mine[0]:+.4f}"]
            good = good and abs(theirs[0] - mine[0]) <= AGREE
        print("|", " | ".join(row), "|", flush=True)
    return good


def measure(program, libraries, repeats):
    """{(row, cell): microseconds of a run-step, one per repeat}, and {library: CPU seconds of preparing a cell}."""
    times, prepare = {}, {name: [] for name in libraries}
    turns = list(itertools.product(["odrpo-bench", *libraries], [MANY, 1]))
    for repeat in range(-1, repeats):                                           # the first warms up
        start = repeat % len(turns)
        for cell in CELLS[repeat % len(CELLS):] + CELLS[:repeat % len(CELLS)]:
            for name, seeds in turns[start:] + turns[:start]:
                if name == "odrpo-bench":
                    _, whole, step = ours(program, *cell, seeds)
                    found = {(name, seeds, "whole process"): whole / (seeds * STEPS), (name, seeds, "median step"): step}
                else:
                    answer = libraries[name].ask(estimator=cell[0], votes=cell[1], seeds=seeds, steps=TIMED_STEPS, seed=repeat + 1)
                    found = {(name, seeds, ""): answer["train"] / (seeds * TIMED_STEPS)}
                    if repeat < 0:
                        prepare[name].append(answer["prepare"])
                for row, seconds in found.items() if repeat >= 0 else ():
                    times.setdefault((row, cell), []).append(1e6 * seconds)
    return times, prepare


def middle(x, digits):
    """Median [10 %, 90 %]."""
    tenth = statistics.quantiles(x, n=10, method="inclusive")
    return "{} [{}, {}]".format(*(f"{v:#.{digits}g}".rstrip(".") if v < 10**digits else f"{v:.0f}" for v in (statistics.median(x), tenth[0], tenth[-1])))


def main():
    program, python = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 9
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})                     # processes started from here on stay on this processor
    load = [os.getloadavg()[0]]
    libraries = {name: Library(python, name) for name in LIBRARIES}
    if not agreement(program, libraries):
        sys.exit(f"regrets differ by more than {AGREE} levels: times would compare different problems")
    times, prepare = measure(program, libraries, repeats)
    for library in libraries.values():
        library.end()
    load.append(os.getloadavg()[0])

    print(f"\nCPU time of a run-step in us: median [10 %, 90 %] of n = {repeats}; x: the median, over repeats, of its ratio to the whole process of odrpo-bench with {MANY} seeds.\n")
    print("| program | seeds at once |", " | ".join(f"{estimator}, {votes} vote{'s' if votes > 1 else ''}" for estimator, votes in CELLS), "|")
    print("|---|---|" + "---|" * len(CELLS))
    for name, seeds, part in dict.fromkeys(row for row, _ in times):
        cells = []
        for cell in CELLS:
            x, base = times[(name, seeds, part), cell], times[("odrpo-bench", MANY, "whole process"), cell]
            cells.append(middle(x, 3) + ("" if x is base else f", {statistics.median(a / b for a, b in zip(x, base)):.2g} x"))
        shown = f"{seeds}, one after another" if name == "odrpo-bench" and seeds > 1 else str(seeds)
        print("|", " | ".join([f"{name}, {part}" if part else name, shown, *cells]), "|")
    print("\nCompilation and other preparation of a cell, not in these times, imports apart, in CPU seconds:", "; ".join(f"{name} {min(x):.1f} to {max(x):.1f}" for name, x in prepare.items()) + ".")
    versions = "import platform; from importlib.metadata import version as v; print('Python', platform.python_version() + ',', ', '.join(n + ' ' + v(n) for n in ('numpy', 'jax', 'jaxlib', 'torch')))"
    print(subprocess.run([python, "-c", versions], check=True, capture_output=True, text=True).stdout.strip() + ".",
          f"Load average {load[0]:.1f} at the start, {load[1]:.1f} at the end, of {os.cpu_count()} processors.\n")


if __name__ == "__main__":
    main()
