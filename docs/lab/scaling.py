"""Weak scaling of a suite over many workers, simulated: ranks that take runs from rank 0 (train/machines/suite_part.cpp), and parts of an array that are
merged. Every worker has as many runs, so ideal is a constant time. Costs are measured (below); the file system is assumed (below).

Usage: scaling.py [FIGURE.svg]      prints a table; draws the figure with gnuplot"""
import heapq
import subprocess
import sys

import numpy as np

# measured on one core of a 2.6 GHz virtual machine (docs/lab/many-machines.md says how)
kinds = {  # mean seconds of a run, standard deviation of its logarithm, runs of each worker
    "bandit, 0.09 s a run": (0.092, 0.1, 200),
    "toy-lm, 12 s a run": (11.7, 0.3, 20),
}
start = 0.5  # of a process: mpirun or the batch system, and the program
expand = 2.1e-6  # of each run of the whole suite, in every process: grid, fingerprints, order
commit, commit_run = 0.010, 1.0e-4  # processor time of a commit, and of each run in it
shard = 0.002  # to read a shard when the output is made
output_run = 2.2e-4  # to write and verify the output, each run
merge_run, part_head = 2.0e-4, 0.02  # of merge: each run, and to look at each part
message = 20e-6  # of rank 0, for each message

# assumed: one file server that does metadata operations one after the other, as of NFS
operations_a_second, latency = 2000, 0.001
operations_of_commit, operations_of_read = 5, 2

commits_a_second, report_seconds = 200, 0.25  # as train/machines/rank_follower.cpp


class Server:
    """Serves one request after the other."""

    def __init__(self):
        self.free = 0.0

    def serve(self, at, seconds):
        self.free = max(at, self.free) + seconds
        return self.free


def ranks(workers, kind, rng):
    """Seconds until the last run is committed, and until the output is made; shares as HandOut cuts them."""
    mean, spread, runs = kind
    total = workers * runs
    pace = max(1.0, workers / commits_a_second)
    times = mean * np.exp(spread * rng.standard_normal(total) - spread**2 / 2)
    ends = np.concatenate([[0], np.cumsum(times)])
    load = min(0.9, workers / (report_seconds * pace) * message)  # of rank 0, by reports
    leader, files = Server(), Server()
    next_run, shards, last = 0, 0, 0.0
    begin = start + expand * total
    waiting = [(begin, w) for w in range(workers)]
    heapq.heapify(waiting)
    while waiting:
        at, w = heapq.heappop(waiting)
        got = leader.serve(at, message / (1 - load)) + 2e-5
        if next_run == total:
            last = max(last, got)
            continue
        share = max(1, int((total - next_run) / (2 * workers)))
        taken = min(share, total - next_run)
        work = ends[next_run + taken] - ends[next_run]
        next_run += taken
        commits = max(1, int(work / pace)) if taken > 1 else 1
        commits = min(commits, taken)
        shards += commits
        work += commits * commit + taken * commit_run
        for c in range(commits):  # the committing thread waits for the server, the worker does not
            done = files.serve(got + work * (c + 1) / commits, operations_of_commit / operations_a_second) + operations_of_commit * latency
        last = max(last, done)
        heapq.heappush(waiting, (got + work, w))
    made = last + shards * (shard + operations_of_read / operations_a_second) + total * output_run
    return ends[-1] / workers, last, made, shards


def array(workers, kind, rng):
    """The same of parts: until the last part's file is there, and until they are merged."""
    mean, spread, runs = kind
    total = workers * runs
    files = Server()
    ends, all_work = [], 0.0
    begin_of_part = start + expand * total
    for w in range(workers):
        work = mean * np.exp(spread * rng.standard_normal(runs) - spread**2 / 2)
        work = work.sum()
        all_work += work
        commits = min(runs, max(1, int(work)))
        at = start + expand * total + work + commits * commit + runs * commit_run + commits * shard + runs * output_run
        ends.append((at, commits))
    # commits of all parts in the order of their times
    times, rank = [], []
    for w, (at, commits) in enumerate(ends):
        times.append(begin_of_part + (at - begin_of_part) * np.arange(1, commits + 1) / commits)
        rank.append(np.full(commits, w))
    times, rank = np.concatenate(times), np.concatenate(rank)
    last = 0.0
    for i in np.argsort(times):
        last = max(last, files.serve(times[i], operations_of_commit / operations_a_second) + operations_of_commit * latency, ends[rank[i]][0])
    return all_work / workers, last, last + expand * total + workers * part_head + total * merge_run


def main():
    rows = []
    print("kind                    workers       runs    ranks: trained  output    parts: trained  merged   (seconds)    efficiency: ranks, parts (merged)   shards")
    for name, kind in kinds.items():
        for workers in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000):
            draws = range(10 if workers < 500 else 1)
            ideal, trained, made, shards = np.mean([ranks(workers, kind, np.random.default_rng(d)) for d in draws], axis=0)
            ideal_parts, parts, merged = np.mean([array(workers, kind, np.random.default_rng(d)) for d in draws], axis=0)
            rows.append((name, workers, ideal / trained, ideal / made, ideal_parts / parts, ideal_parts / merged))
            print(f"{name:22} {workers:8} {workers * kind[2]:10} {trained:14.1f} {made:9.1f} {parts:16.1f} {merged:9.1f}"
                  f"      {ideal / trained:5.2f} ({ideal / made:4.2f}), {ideal_parts / parts:5.2f} ({ideal_parts / merged:4.2f})   {shards:8.0f}")
    if len(sys.argv) > 1:
        draw(rows, sys.argv[1])


def draw(rows, path):
    script = [f'set terminal svg size 760,330 font "sans,11" background "white"', f'set output "{path}"', "set multiplot layout 1,2",
              "set logscale x", "set yrange [0:1.05]", "set xrange [1:10000]", 'set xlabel "workers"', 'set ylabel "ideal time / time"', "set grid",
              "unset key"]
    for name in kinds:
        mine = [r for r in rows if r[0] == name]
        script.append(f'set title "{name}, {kinds[name][2]} runs each"')
        if name == list(kinds)[-1]:
            script.append("set key left bottom Left reverse samplen 2")
        lines = [("ranks: trained", 2, 1, 1), ("ranks: output made", 3, 1, 2), ("parts: trained", 4, 2, 1), ("parts: merged", 5, 2, 2)]
        script.append("plot " + ", ".join(f"'-' with lines lw 2 lc {colour} dt {dash} title '{title}'" for title, _, colour, dash in lines))
        for _, column, _, _ in lines:
            script += [f"{r[1]} {r[column]}" for r in mine] + ["e"]
    subprocess.run(["gnuplot"], input="\n".join(script).encode(), check=True)


if __name__ == "__main__":
    main()
