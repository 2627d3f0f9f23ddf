#!/usr/bin/env python3
"""Parquet to JSON lines: types, order, TRL's completions as the program reads them, files that are damaged or odd.

Usage: parquet_test.py PROGRAM
"""
import datetime
import decimal
import json
import os
import subprocess
import sys

import package
from checks import call, check, finish

import odrpo_bench
from package import refused

# --- without pyarrow: what to install
if "pyarrow" not in sys.modules:
    sys.modules["pyarrow"] = None  # an import fails
    refused(ImportError, "pip install 'odrpo-bench[parquet]'", odrpo_bench.convert, "a.parquet", "a.jsonl")
    del sys.modules["pyarrow"]
package.need("pyarrow")
import pyarrow as pa
import pyarrow.parquet as pq


def write(name, table, **how):
    pq.write_table(table if isinstance(table, pa.Table) else pa.table(table), name, **how)
    return name


def lines(name):
    with open(name, encoding="utf-8") as file:
        return [json.loads(line, parse_constant=lambda word: check(False, f"{word} is not JSON")) for line in file]


# --- every type, and what becomes of it
moment = datetime.datetime(2026, 7, 1, 12, 30, 15, 250000)
utc = moment.replace(tzinfo=datetime.timezone.utc)
TYPES = {
    "text": (pa.array(["a", None, 'quote " \u00e9\u2028 \U0001f600 \n']), ["a", None, 'quote " \u00e9\u2028 \U0001f600 \n']),
    "double": (pa.array([0.1, None, float("nan")]), [0.1, None, None]),
    "float": (pa.array([0.5, -2, None], pa.float32()), [0.5, -2.0, None]),
    "int": (pa.array([2**62, None, -1]), [2**62, None, -1]),
    "byte": (pa.array([255, 0, None], pa.uint8()), [255, 0, None]),
    "bool": (pa.array([True, None, False]), [True, None, False]),
    "list": (pa.array([[1.5, float("nan")], [], None]), [[1.5, None], [], None]),
    "struct": (pa.array([{"a": 1, "b": ["x"]}, {"a": None, "b": None}, None]), [{"a": 1, "b": ["x"]}, {"a": None, "b": None}, None]),
    "messages": (pa.array([[{"role": "user", "content": "hi"}], [], None]), [[{"role": "user", "content": "hi"}], [], None]),
    "map": (pa.array([[("a", 1)], [("b", 2), ("c", None)], None], pa.map_(pa.string(), pa.int64())), [{"a": 1}, {"b": 2, "c": None}, None]),
    "timestamp": (pa.array([moment, None, moment], pa.timestamp("us")), ["2026-07-01T12:30:15.250000", None, "2026-07-01T12:30:15.250000"]),
    "zoned": (pa.array([utc, None, utc], pa.timestamp("us", "UTC")), ["2026-07-01T12:30:15.250000+00:00", None, "2026-07-01T12:30:15.250000+00:00"]),
    "date": (pa.array([moment.date(), None, None]), ["2026-07-01", None, None]),
    "duration": (pa.array([datetime.timedelta(seconds=90), None, None]), [90.0, None, None]),
    "decimal": (pa.array([decimal.Decimal("7.25"), None, None]), [7.25, None, None]),
    "binary": (pa.array([b"text", None, b""]), ["text", None, ""]),
    "category": (pa.array(["x", "y", "x"]).dictionary_encode(), ["x", "y", "x"]),
    "nothing": (pa.nulls(3), [None, None, None]),
}
write("types.parquet", {name: array for name, (array, _) in TYPES.items()})
check(odrpo_bench.convert("types.parquet", "types.jsonl") == 3, "the number of rows")
read = lines("types.jsonl")
for name, (_, wanted) in TYPES.items():
    check([row[name] for row in read] == wanted, f"{name}: {[row[name] for row in read]}")
check([list(row) for row in read] == [list(TYPES)] * 3, "the order of columns")

# --- order of files and rows: patterns by name, lists as given, folders; several row groups and codecs
for i in (2, 1, 3):
    write(f"part_{i}.parquet", {"i": list(range(1000 * i, 1000 * i + 7))}, row_group_size=3, compression=["none", "snappy", "gzip"][i - 1])
of = {i: list(range(1000 * i, 1000 * i + 7)) for i in (1, 2, 3)}
odrpo_bench.convert("part_*.parquet", "all.jsonl")
check([row["i"] for row in lines("all.jsonl")] == of[1] + of[2] + of[3], "a pattern")
odrpo_bench.convert(["part_3.parquet", "part_1.parquet"], "all.jsonl")
check([row["i"] for row in lines("all.jsonl")] == of[3] + of[1], "a list, and a file that is replaced")
os.mkdir("folder [1]")
os.rename("part_2.parquet", "folder [1]/part_2.parquet")
odrpo_bench.convert(["folder [1]", "part_3.parquet"], "all.jsonl")
check([row["i"] for row in lines("all.jsonl")] == of[2] + of[3], "a folder")
large = {"x": list(range(5000))}
check(odrpo_bench.convert(write("large.parquet", large), "large.jsonl") == 5000 and [row["x"] for row in lines("large.jsonl")] == large["x"], "several batches")

# --- TRL's completions: a file for each step, read by the program as they stand
for step in (1, 2):
    write(f"completions_0000{step}.parquet", {"step": pa.array([step] * 8), "prompt": ["p%d" % (step * 2 + i // 4) for i in range(8)], "completion": [f"c{i}" for i in range(8)],
                                              "judge": pa.array([7, 8, 9, 8, 3, 4, 4, 3], pa.float32()), "advantage": pa.array([0.5] * 8, pa.float32())})
ran = subprocess.run([sys.executable, "-m", "odrpo_bench", "convert", "completions_*.parquet", "completions.jsonl"], capture_output=True, text=True)
check((ran.returncode, ran.stdout, ran.stderr) == (0, "", "completions.jsonl: 16 rows\n"), f"the command: {ran}")
analysis = json.loads(call("judge", "analyze", "completions.jsonl", "--json", "--prompt", "prompt", "--response", "completion", "--score", "judge", "--resamples", "1000"))
check((analysis["prompts"], analysis["responses"], analysis["scores"]) == (4, 16, 16), f"as the program reads it: {analysis['prompts']}")

# --- damaged and odd files: a reason that names the file, and no output
with open("types.parquet", "rb") as file:
    whole = file.read()


def raw(name, data):
    with open(name, "wb") as file:
        file.write(data)
    return name


middle = bytearray(whole)
middle[200:400] = bytes(200)
twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
ODD = [
    (raw("empty.parquet", b""), "empty.parquet: "),
    (raw("short.parquet", whole[:-40]), "short.parquet: "),
    (raw("head.parquet", whole[:3]), "head.parquet: "),
    (raw("tail.parquet", whole[len(whole) // 2 :]), "tail.parquet: "),
    (raw("text.parquet", b"prompt_id,score\n1,7\n"), "text.parquet: "),
    (raw("zeros.parquet", bytes(500)), "zeros.parquet: "),
    (raw("footer.parquet", whole[:-8] + b"\xff\xff\xff\x7fPAR1"), "footer.parquet: "),
    (raw("encrypted.parquet", whole[:-4] + b"PARE"), "encrypted.parquet: "),
    (raw("pages.parquet", bytes(middle)), "pages.parquet: "),
    (write("infinite.parquet", {"a": [1.0, float("inf")]}), "infinite.parquet: row 2, column a: inf, which JSON lacks"),
    (write("bytes.parquet", {"a": [b"\xff"]}), "bytes.parquet: row 1, column a: bytes that are no text"),
    (write("deep.parquet", {"a": [[{"b": float("-inf")}]]}), "deep.parquet: row 1, column a: -inf, which JSON lacks"),
    (write("twice.parquet", twice), "twice.parquet: two columns are called a"),
    (write("rows.parquet", {"a": pa.array([], pa.int64())}), "rows.parquet: no rows"),
    (write("columns.parquet", pa.table({})), "columns.parquet: no rows"),
    (["types.parquet", "short.parquet"], "short.parquet: "),
    ([], "no file to convert"),
]
for what, words in ODD:
    refused(ValueError, words, odrpo_bench.convert, what, "none.jsonl")
os.mkdir("nothing"), os.mkdir("looks.parquet")
for what in ("no.parquet", "no_*.parquet", "nothing", "looks.parquet"):
    refused(FileNotFoundError, f"{what}: no such file, and no file of such a name", odrpo_bench.convert, what, "none.jsonl")
refused(ValueError, "the output is a file NAME.jsonl", odrpo_bench.convert, "types.parquet", "part_1.parquet")
refused(ValueError, "the output is a file NAME.jsonl", odrpo_bench.convert, "types.parquet", "out.csv")
refused(OSError, "missing", odrpo_bench.convert, "types.parquet", "missing/out.jsonl")
check(not os.path.exists("none.jsonl") and not [name for name in os.listdir(".") if name.startswith(".odrpo")], "nothing is left of a refusal")
kept = open("types.jsonl", encoding="utf-8").read()
refused(ValueError, "infinite.parquet", odrpo_bench.convert, ["part_1.parquet", "infinite.parquet"], "types.jsonl")
check(open("types.jsonl", encoding="utf-8").read() == kept, "an output stays as it was where a row cannot be written")
for arguments, code in ((("no.parquet", "out.jsonl"), 5), (("short.parquet", "out.jsonl"), 8), (("types.parquet",), 2), (("--colour", "a", "b"), 2)):
    ran = subprocess.run([sys.executable, "-m", "odrpo_bench", "convert", *arguments], capture_output=True, text=True)
    check(ran.returncode == code and "Traceback" not in ran.stderr and ran.stderr != "", f"{arguments}: {ran}")
finish()
