"""The workers of examples/gate under `odrpo-bench gate`, as docs/gate.md shows them: their clocks choose the units of a repetition, and what they
compute and count is compared; their times decide nothing. Skipped where numpy, OpenSSL's headers or nlohmann-json lack.

Usage: gate_examples_test.py PROGRAM GATE_WORKER.py EXAMPLES"""
import json, os, shlex, shutil, subprocess, sys

import checks
from gate_checks import check, gate

examples = checks.paths[1]
lacking = []


def compute_the_same(what, cases, baseline, candidate):
    r = gate("--json", "--fail-on", "different", baseline=baseline, candidate=candidate)
    if not r.stdout:
        return check(f"{what}: the gate compares", False, r)
    measured = {c["case"]: c["repeat"] > 1 and c["baseline_ns"] > 0 and c["checksum"]["baseline"] != "" for c in json.loads(r.stdout)["cases"]}
    check(f"{what}: both sides compute the same, for longer than one unit takes", r.returncode == 0 and measured == dict.fromkeys(cases, True), r)


try:
    import numpy  # noqa: F401
    py = f"{sys.executable} {shlex.quote(os.path.join(examples, 'worker.py'))}"
    compute_the_same("Python's example, grpo in a loop", ["grpo", "median"], py + " vectorised", py + " loop")
except ImportError:
    lacking.append("numpy")
compiled = os.path.abspath("worker")
if subprocess.run(["c++", "-O2", os.path.join(examples, "worker.cpp"), "-lcrypto", "-o", compiled], capture_output=True).returncode == 0:
    compute_the_same("C++'s example, OpenSSL in pieces", ["sha256"], compiled, compiled + " 64")
    # asked for by name, callgrind counts for longer than the minute of `auto`, which a busy machine needs
    r = gate("--json", "--only-counts", "--fail-on", "counts", baseline=compiled, candidate=compiled + " 64", counts=("--counts", "callgrind") if shutil.which("valgrind") else ())
    counts = {c["what"]: c for c in json.loads(r.stdout)["cases"][0]["counts"]}
    check("allocations have not changed", not counts["allocations"]["reported"], counts)
    if shutil.which("valgrind") or "instructions" in counts:
        check("instructions: more, and exact", counts["instructions"]["change"] > 0.05 and counts["instructions"]["exact"] and counts["instructions"]["reported"], counts)
        check("--fail-on counts", r.returncode == 10, r)
else:
    lacking.append("OpenSSL's headers or nlohmann-json")
if not shutil.which("valgrind"):
    lacking.append("valgrind")
if lacking and checks.failed == 0:
    print("not here, so not tried:", ", ".join(lacking))
    sys.exit(77)
checks.finish()
