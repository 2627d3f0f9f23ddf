"""The workers of examples/gate under `odrpo-bench gate`, as docs/gate.md shows them. Skipped where numpy, OpenSSL's headers or nlohmann-json lack.

Usage: gate_examples_test.py PROGRAM GATE_WORKER.py EXAMPLES"""
import json, os, shlex, shutil, subprocess, sys

import checks
from gate_checks import check, gate, verdicts

examples = checks.paths[1]
lacking = []
try:
    import numpy  # noqa: F401
    py = f"{sys.executable} {shlex.quote(os.path.join(examples, 'worker.py'))}"
    r = gate("--json", baseline=py + " vectorised", candidate=py + " loop")
    check("Python's example: grpo in a loop is slower and computes the same", r.returncode == 10 and verdicts(r)["grpo"] == "slower" and verdicts(r)["median"] != "slower", r)
except ImportError:
    lacking.append("numpy")
compiled = os.path.abspath("worker")
if subprocess.run(["c++", "-O2", os.path.join(examples, "worker.cpp"), "-lcrypto", "-o", compiled], capture_output=True).returncode == 0:
    r = gate("--json", baseline=compiled, candidate=compiled + " 64")
    check("C++'s example: OpenSSL in pieces is slower and computes the same", r.returncode == 10 and verdicts(r) == {"sha256": "slower"}, r)
    r = gate("--json", "--only-counts", baseline=compiled, candidate=compiled + " 64", counts=())
    counts = {c["what"]: c for c in json.loads(r.stdout)["cases"][0]["counts"]}
    check("counts alone are no failure", r.returncode == 0, r)
    check("allocations have not changed", not counts["allocations"]["reported"], counts)
    if shutil.which("valgrind") or "instructions" in counts:
        check("instructions: more, and exact", counts["instructions"]["change"] > 0.05 and counts["instructions"]["exact"] and counts["instructions"]["reported"], counts)
        r = gate("--only-counts", "--fail-on", "counts", baseline=compiled, candidate=compiled + " 64", counts=())
        check("--fail-on counts", r.returncode == 10, r)
        r = gate("--only-counts", "--fail-on", "counts", baseline=compiled, counts=())
        check("equal programs have equal counts", r.returncode == 0, r)
else:
    lacking.append("OpenSSL's headers or nlohmann-json")
if not shutil.which("valgrind"):
    lacking.append("valgrind")
if lacking and checks.failed == 0:
    print("not here, so not tried:", ", ".join(lacking))
    sys.exit(77)
checks.finish()
