#!/usr/bin/env python3
# What `export` writes, read back by Python's csv and json and compared bit for bit with h5py: runs, curves, hostile texts, bad input.
# Usage: export_test.py PROGRAM SAMPLE_PROGRAM OLDER_FILE, which is what SAMPLE_PROGRAM wrote when results had schema 3
import csv, io, json, math, os, resource, shutil, struct, subprocess, sys

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)
from checks import call, check, finish, paths, program, suite

sample, older = paths


def bits(number, kind="<d"):
    return struct.pack(kind, number)


def same_number(text, number, kind="<d"):
    """A field of CSV or a value of JSON against a number of the file; NaN is an empty field or null."""
    if math.isnan(number):
        return text in ("", None)
    return text not in ("", None) and bits(float(text), kind) == bits(float(number), kind)


def escaped(text):
    """What CSV shows of a text: controls, marks of direction and invisible characters escaped, an apostrophe before formulas."""
    out = ""
    for c in text:
        p = ord(c)
        if (p < 0x20 and c not in "\t\n") or p == 0x7F:
            out += f"\\x{p:02x}"
        elif p in (0x202E, 0x2028):
            out += f"\\u{p:04x}"
        else:
            out += c
    return "'" + out if out and out[0] in "=+-@" and out != "-" else out


def table(text):
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    check(len({len(row) for row in rows}) == 1, "all lines have as many fields as the header")
    return [dict(zip(rows[0], row)) for row in rows[1:]]


def decoded(file, name):
    return [t.decode() for t in file[name][()]]


def columns(file):
    return [n for n in file if isinstance(file[n], h5py.Dataset) and n != "run"]


def check_words(row, file, i, shown, names, what):
    for name in names:
        data = file[name]
        if data.dtype.kind == "O":
            value = data[i].decode()
            expected = shown(value)
            good = row[name] == expected or ("axis" in data.attrs and not value and row[name] in ("", None))
        elif data.dtype.kind == "i":
            good = int(row[name]) == data[i]
        else:
            good = same_number(row[name], data[i])
        check(good, f"{what}, run {i}, {name}: {row[name]!r}, the file has {data[i]!r}")


def compare(path):
    with h5py.File(path) as file:
        names, runs = columns(file), len(file["id"])
        # runs
        rows = table(call("export", path))
        check(len(rows) == runs, f"{path}: {len(rows)} lines for {runs} runs")
        check(set(rows[0]) == {"run", *names}, f"{path}: columns {sorted(rows[0])}")
        for i, row in enumerate(rows):
            check(row["run"] == str(i), "number of the run")
            check_words(row, file, i, escaped, names, "csv")
        lines = [json.loads(line) for line in call("export", path, "--format", "jsonl").split("\n")[:-1]]
        alone = [json.loads(line) for line in call("export", path, "--format", "jsonl", "--what", "runs").split("\n")[:-1]]
        check([{k: v for k, v in line.items() if k != "curves"} for line in lines] == alone, "--what runs is --what all without curves")
        for i, line in enumerate(lines):
            check(set(line) == {"run", "curves", *names}, f"members {sorted(line)}")
            check_words(line, file, i, lambda text: text, names, "jsonl")
        # curves
        worlds = {env: file["curves"][env] for env in file["curves"]}
        place = {(env, int(r)): k for env, world in worlds.items() for k, r in enumerate(world["run"][()])}
        times = {env: file["seconds"][env] if "seconds" in file else world for env, world in worlds.items()}
        stages = [s.decode() for s in next(iter(times.values()))["stage"][()]]
        points, at = 0, {}
        for row in table(call("export", path, "--what", "curves")):
            at[int(row["run"]), int(row["step"])] = row
        as_json = {}
        for line in call("export", path, "--what", "curves", "--format", "jsonl").split("\n")[:-1]:
            row = json.loads(line)
            as_json[row["run"], row["step"]] = row
        check(list(at) == list(as_json), "curves in both formats have the same lines")
        envs, status = decoded(file, "env"), decoded(file, "status")
        for i in range(runs):
            nested = lines[i]["curves"]
            if status[i] == "failed":
                check(nested == {"step": []} and not any(r == i for r, _ in at), "a failed run has no curves")
                continue
            world, seconds = worlds[envs[i]], times[envs[i]]["seconds"]
            k, steps = place[envs[i], i], world["step"][()]
            curves = [n for n in world if n not in ("run", "step", "stage", "seconds")]
            for s, step in enumerate(steps):
                own = [n for n in curves if not math.isnan(world[n][k, s])]
                if not own and math.isnan(seconds[k, s, 0]):
                    check((i, int(step)) not in at and int(step) not in nested["step"], "a step that is not the run's")
                    continue
                points += 1
                row, line, j = at[i, int(step)], as_json[i, int(step)], nested["step"].index(int(step))
                for name in curves:
                    value = world[name][k, s]
                    listed = nested[name][j] if name in nested else None
                    for got in (row[name], line[name], listed):
                        check(same_number(got, value), f"curve {name} of run {i}, step {step}: {got!r}, the file has {value!r}")
                for t, stage in enumerate(stages):
                    value = seconds[k, s, t]
                    for got in (row["seconds_" + stage], line["seconds_" + stage], nested["seconds"][stage][j]):
                        check(same_number(got, value, "<f"), f"seconds of {stage}: {got!r}, the file has {value!r}")
        check(points == len(at), f"{len(at)} lines of curves, the file has {points} points")
        # the suite
        done = subprocess.run([program, "export", path, "--what", "suite"], capture_output=True)
        check(done.stdout == file["provenance/suite"][()], "the suite, byte by byte")
        call("export", path, "--what", "suite", "-o", "suite.toml")
        check(open("suite.toml", "rb").read() == file["provenance/suite"][()], "the suite in a file")
        return rows


shutil.copy(older, "older.h5")  # of schema 3
compare("older.h5")
for name, how in (("sample.h5", ()), ("hostile.h5", ("texts",))):
    subprocess.run([sample, name, *how], check=True, stdout=subprocess.DEVNULL)
    rows = compare(name)
for form in (("--what", "runs"), ("--what", "curves"), ("--format", "jsonl")):
    check(call("export", "older.h5", *form) == call("export", "sample.h5", *form), f"{form}: the file of schema 3 as that of today")
check("equal" in call("diff", "older.h5", "sample.h5"), "diff of both")
hostile = rows
check("\n" in hostile[4]["error"] and hostile[4]["error"].startswith("'=1+1"), "the error text of the hostile file")

# --- -o writes the same; choices
call("export", "sample.h5", "-o", "runs.csv")
check(open("runs.csv", newline="").read() == call("export", "sample.h5"), "-o writes what stdout gets")
some = table(call("export", "sample.h5", "--only", "*/maxrl/*/s1", "--only", "*gini*/s2"))
check({(r["estimator"], r["seed"]) for r in some} == {("maxrl", "1"), ("odrpo-gini(maxrl)", "2")} and len(some) == 16, "--only")
check(all(r["run"] == str(i) for i, r in enumerate(table(call("export", "sample.h5")))), "rows count from 0")
check(some[0]["run"] == "1", "--only keeps the rows' numbers")
quality = table(call("export", "sample.h5", "--what", "curves", "--curve", "quality", "--curve", "dead-share"))
check(list(quality[0])[-3:] == ["step", "quality", "dead_share"], f"--curve: {list(quality[0])}")
dead = table(call("export", "sample.h5", "--what", "curves", "--curve", "dead_share"))
check(all(r["dead_share"] for r in dead) and "0" not in {r["step"] for r in dead}, "lines without a value are left out")
seconds = json.loads(call("export", "sample.h5", "--format", "jsonl", "--curve", "seconds", "--only", "*s0").split("\n")[0])
check(set(seconds["curves"]) == {"step", "seconds"}, f"--curve seconds: {list(seconds['curves'])}")

# --- kept rollouts, and those of a run of this program
def compare_rollouts(path, *only):
    """The lines of both formats against the file, bit for bit."""
    flags = ["--what", "rollouts", *(word for glob in only for word in ("--only", glob))]
    lines = [json.loads(line) for line in call("export", path, *flags).splitlines()]
    call("export", path, *flags, "-o", "rollouts.csv")
    rows = table(open("rollouts.csv", newline="").read())
    check(call("export", path, *flags, "--format", "csv") == open("rollouts.csv", newline="").read(), "-o x.csv is --format csv")
    call("export", path, *flags, "-o", "rollouts.jsonl")
    check(open("rollouts.jsonl").read() == call("export", path, *flags), "-o x.jsonl is what stdout gets")
    names, wanted = ["step", "prompt", "response", "reward", "advantage", "length", "quality"], []
    with h5py.File(path) as file:
        chosen = {int(r["run"]) for r in table(call("export", path, *flags[2:]))}
        for group in file["rollouts"].values():
            for k, run in enumerate(group["run"][()]):
                wanted += [(int(run), [math.nan if n not in group else group[n][k, i] for n in names])
                           for i in range(len(group["rollout"])) if int(run) in chosen and not math.isnan(group["step"][k, i])]
    check(len(lines) == len(rows) == len(wanted) > 0, f"{len(lines)} and {len(rows)} lines for {len(wanted)} rollouts of {path}")
    several = ["run"] if len(chosen) > 1 else []
    for (run, values), line, row in zip(sorted(wanted, key=lambda w: w[0]), lines, rows):
        keys = several + [n for n, value in zip(names, values) if n != "length" or not math.isnan(value)]
        check(list(line) == keys and list(row) == several + names, f"keys {list(line)}, columns {list(row)}")
        check(not several or line["run"] == run == int(row["run"]), "the run")
        for name, value in zip(names, values):
            check(same_number(row[name], value) and (name not in line or same_number(line[name], value)), f"{name}: {row[name]}, the file has {value!r}")
    return lines


subprocess.run([sample, "rollouts.h5", "rollouts"], check=True, stdout=subprocess.DEVNULL)
compare_rollouts("rollouts.h5")
compare_rollouts("rollouts.h5", "bandit/*/maxrl/*")
missing = compare_rollouts("rollouts.h5", "bandit/*/maxrl/n1/*lr=0.1/s0")
check([line["reward"] is None for line in missing] == [False, True, False, False, False, False] and missing[0]["length"] == 5, f"a missing reward: {missing}")
call("run", suite("kept", more="\n[record]\nrollouts = 6\n"), "-q", "-o", "kept.h5")
kept = compare_rollouts("kept.h5")
for row in table(call("export", "kept.h5")):  # (r - mean) / sd, or / mean for maxrl, whitened over the batch: in numpy
    lines = [line for line in kept if line["run"] == int(row["run"])]
    for step in {line["step"] for line in lines}:
        got, r = (np.array([line[key] for line in lines if line["step"] == step]).reshape(8, -1) for key in ("advantage", "reward"))
        mean, sd = r.mean(1, keepdims=True), r.std(1, keepdims=True)
        a = (r - mean) / np.where(sd == 0, 1, {"grpo": sd, "maxrl": mean}.get(row["estimator"], 1))
        if row["estimator"] in ("grpo", "maxrl"):
            check(np.abs((a - a.mean()) / a.std() - got).max() < 2e-6, f"advantages of {row['id']} at step {step}")
call("run", suite("kept"), "-q", "-o", "none.h5")
digests = [json.loads(call("verify", path, "--json"))[0]["digest"] for path in ("kept.h5", "none.h5")]
check(digests[0] == digests[1] and {line["step"] for line in kept} == {0, 6, 12, 18, 19} and "length" not in kept[0], f"steps and digests: {digests}")
call("run", suite("kept", more="\n[record]\nrollouts = 6\n"), "-q", "-o", "none.h5", code=5)
none = "keeps no rollouts: `[record] rollouts = k` in the suite keeps those of every k-th step"
call("export", "none.h5", "--what", "rollouts", "-o", "no.jsonl", code=2, words=f"'none.h5' {none}")
call("export", "rollouts.h5", "--what", "rollouts", "--only", "bandit-small/*", code=2, words="'rollouts.h5' keeps no rollouts of these runs")
call("export", "rollouts.h5", "--what", "rollouts", "--only", "nothing*", code=3, words="--only 1: error: no run matches `nothing*`")
call("export", "rollouts.h5", "--what", "rollouts", "--curve", "quality", code=2, words="--curve: --what rollouts has no curves")
check(not os.path.exists("no.jsonl"), "no file of nothing")

# --- `stats` takes the runs as they are
stats = json.loads(call("stats", "runs.csv", "--unit", "seed", "--cell", "estimator,votes", "--task", "env,learn_lr,learn_steps",
                        "--value", "final_gain", "--format", "json"))
with h5py.File("sample.h5") as file:
    gains = {}
    for e, v, g in zip(decoded(file, "estimator"), file["votes"][()], file["final_gain"][()]):
        if not math.isnan(g):
            gains.setdefault((e, str(v)), []).append(g)
check(len(stats["cells"]) == 4 and {tuple(c["cell"].values()) for c in stats["cells"]} == set(gains), "cells of stats")
for cell in stats["cells"]:
    found, name = cell["runs"], tuple(cell["cell"].values())
    check(found == len(gains[name]), f"runs of {name}: {found}, the file has {len(gains[name])}")
one = json.loads(call("stats", "runs.csv", "--unit", "id", "--cell", "estimator,votes", "--value", "final_gain", "--format", "json"))
for cell in one["cells"]:
    name = tuple(cell["cell"].values())
    check(abs(cell["mean"]["value"] - sum(gains[name]) / len(gains[name])) < 1e-12, f"mean of {name}")

# --- who reads may leave, and a disk may be full
done = subprocess.run(f"'{program}' export sample.h5 --what curves | head -n 1", shell=True, capture_output=True, executable="/bin/bash")
check(done.returncode == 0 and done.stderr == b"" and done.stdout.count(b"\n") == 1, f"| head: {done}")
done = subprocess.run(f"set -o pipefail; '{program}' export sample.h5 --format jsonl | true", shell=True, capture_output=True, executable="/bin/bash")
check(done.returncode == 0 and done.stderr == b"", f"| true: {done}")
if os.path.exists("/dev/full"):
    with open("/dev/full", "w") as full:
        done = subprocess.run([program, "export", "sample.h5"], stdout=full, stderr=subprocess.PIPE)
    check(done.returncode == 5 and b"cannot write to standard output" in done.stderr, f"a full disk: {done}")
before = sorted(os.listdir("."))
call("export", "sample.h5", "--what", "curves", "-o", "small.csv", code=5, words="cannot write 'small.csv'",
     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
check(sorted(os.listdir(".")) == before, f"a file that did not fit leaves something: {os.listdir('.')}")
open("old.csv", "w").write("old")
call("export", "sample.h5", "--only", "nothing*", "-o", "old.csv", code=3, words="--only 1: error: no run matches `nothing*`")
check(open("old.csv").read() == "old", "a file is replaced by a whole one only")
os.symlink("runs.csv", "link.csv")
call("export", "sample.h5", "--format", "jsonl", "-o", "link.csv")
check(os.path.islink("link.csv") and open("runs.csv").read(1) == "{", "a link is followed")

# --- bad input
call("export", "sample.h5", "--format", "xml", code=2, words='--format: there is no "xml"\nAllowed: csv or jsonl')
call("export", "sample.h5", "--what", "run", code=2, words='--what: there is no "run"; did you mean "runs"?\nAllowed: runs, curves, all, rollouts or suite')
call("export", "sample.h5", "--what", "all", code=2, words="--format jsonl")
call("export", "sample.h5", "--what", "suite", "--format", "csv", code=2, words="--format")
call("export", "sample.h5", "--what", "suite", "--only", "*", code=2, words="--only")
call("export", "sample.h5", "--curve", "quality", code=2, words="--curve: --what runs has no curves")
call("export", "sample.h5", "--what", "curves", "--curve", "qualty", code=2, words='did you mean "quality"')
call("export", "sample.h5", "-o", "sample.h5", code=5, words="it is the input itself")
call("export", "sample.h5", "-o", ".", code=5, words="it is a directory")
call("export", "missing.h5", code=5, words="missing.h5")
open("text.h5", "w").write("hello")
check(call("export", "text.h5", code=8, words="not a result file") == "", "nothing of a bad file is written")
damaged = bytearray(open("sample.h5", "rb").read())
with h5py.File("sample.h5") as file:
    at = file["final_gain"].id.get_chunk_info(0).byte_offset if file["final_gain"].chunks else file["final_gain"].id.get_offset()
damaged[at + 8] ^= 1
open("damaged.h5", "wb").write(damaged)
check(call("export", "damaged.h5", code=8, words="damaged") == "", "nothing of a damaged file is written")

finish()
