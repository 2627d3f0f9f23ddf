#!/usr/bin/env python3
"""Estimators as shared libraries: what they train, what they cost, how they fail, and who loads them. Skipped without a C compiler.

Usage: library_test.py PROGRAM EXAMPLES HEADERS
"""
import csv, io, os, shutil, subprocess, sys

import checks
from checks import call, check, digest, finish, near, paths, program, suite

examples, headers = paths
compiler, plusplus = shutil.which("cc"), shutil.which("c++")
if not compiler or not plusplus:
    print("not here, so not tried: a C compiler")
    sys.exit(77)


def build(name, source, *flags):
    with open(f"{name}.c", "w") as file:
        file.write(source)
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", f"-I{headers}", *flags, f"{name}.c", "-o", f"lib{name}.so", "-lm"], check=True)


def curves(file, estimator):
    rows = csv.DictReader(io.StringIO(call("export", file, "--what", "curves", "--curve", "quality", "--curve", "reward")))
    return [float(r[k]) for r in rows if r["estimator"] == estimator for k in ("step", "quality", "reward")]


shutil.copy(os.path.join(examples, "grpo.c"), "example.c")
build("example", open("example.c").read())
subprocess.run([plusplus, "-std=c++20", "-O2", "-shared", "-fPIC", f"-I{headers}", os.path.join(examples, "grpo.cpp"), "-o", "libplus.so"], check=True)
build("fast", open("example.c").read().replace("isnan(", "bad(").replace("#include <math.h>", "#include <math.h>\n#include <string.h>\nstatic int bad(double x) { unsigned long b; memcpy(&b, &x, 8); return (b << 1) > (0x7ffUL << 53); }"), "-ffast-math")

# --- C, C++ and -ffast-math train as the built-in grpo does, with missing scores too; two jobs and parts; the others train as without them
gaps = '\n[rater.gaps]\nbase = "mixed"\nparse_failure = 0.2\nparse_policy = "drop"\n'
names = ("example", "plus", "fast")
more = gaps + "".join(f'[estimator.{name}]\nlibrary = "lib{name}.so"\n' for name in names)
base = suite("libraries", rater='["mixed", "gaps"]', estimator='["grpo", "example", "plus", "fast"]', more=more)
call("run", base, "--jobs", "1", "-q", "-o", "all.h5")
for name in names:
    near(curves("all.h5", name), curves("all.h5", "grpo"), f"the library {name}", 1e-6)
call("run", base, "--jobs", "2", "-q", "-o", "two.h5")
check(digest("two.h5") == digest("all.h5"), "two jobs")
for part in (0, 1):
    call("run", base, "--shard", f"{part}/2", "-q", "-o", f"part{part}.h5")
os.rename("libexample.so", "there.so")
call("check", base, code=3, words="there is no file libexample.so")
os.rename("there.so", "libexample.so")
call("merge", "part0.h5", "part1.h5", "-o", "merged.h5")
check(digest("merged.h5") == digest("all.h5"), "parts")
alone = suite("alone", rater='["mixed", "gaps"]', estimator='["grpo"]', more=gaps)
call("run", alone, "-q", "-o", "alone.h5")
check(curves("alone.h5", "grpo") == curves("all.h5", "grpo"), "grpo beside a library built with -ffast-math")
build("example", open("example.c").read().replace("!different ? 0", "!different ? 1"))
call("run", base, "-q", "-o", "two.h5", code=5, words="another suite")

# --- what its code does to a process ends its run alone
SOURCE = """#include <odrpo_estimator.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int odrpo_estimator_version(void) { return ODRPO_ESTIMATOR_VERSION; }
int odrpo_estimate(const odrpo_batch* b, double* a) {
  for (int i = 0; i < b->groups * b->members; ++i) a[i] = b->scores[i] - 5;
  if (b->step == 3) { %s }
  return 0;
}
"""
MISBEHAVIOUR = {
    "crash": ("*(volatile int*)0 = 1;", "signal 11 (Segmentation fault)"),
    "ends": ("exit(0);", "ended with exit code 0"),
    "aborts": ('fprintf(stderr, "why\\n"); abort();', "signal 6 (Aborted)"),
    "prints": ('printf("hello\\n"); fflush(stdout);', "its library printed: hello"),
    "error": ("return 4;", "step 3: odrpo_estimate returned 4"),
    "nan": ("a[5] = NAN;", "step 3: advantage [0][5] is nan"),
    "infinite": ("a[9] = 1e300;", "step 3: advantage [1][1] is 1e+300"),
    "loop": ("for (;;) usleep(1000);", "no end of step 3 after 0.5 s (`deadline`)"),
    "child": ("if (fork() == 0) { sleep(SECONDS); _exit(0); }", None),
    "memory": ("static int n; a[0] = ++n;", None),
}
SECONDS = str(100000 + os.getpid())
for name, (code, reason) in MISBEHAVIOUR.items():
    build(name, SOURCE % code.replace("SECONDS", SECONDS))
    path = suite(f"bad-{name}", estimator='["grpo", "bad"]', more=f'\n[estimator.bad]\nlibrary = "./lib{name}.so"\ndeadline = {0.5 if name == "loop" else 20}\n')
    r = subprocess.run([program, "run", path, "--jobs", "2", "--force"], capture_output=True, text=True, env=checks.clean, stdin=subprocess.DEVNULL)
    if reason:
        check(r.returncode == 7 and reason in r.stderr, f"{name}: exit {r.returncode}: {r.stderr}")
        check("grpo " in r.stdout and "failed" in r.stdout, f"{name}: the others go on: {r.stdout}")
    else:
        check(r.returncode == 0, f"{name}: exit {r.returncode}: {r.stderr}")
for name, code in (("random", "a[0] = drand48();"), ("order", "a[0] = 7;")):
    build(name, (SOURCE % "").replace("return 0;", f"{code} return 0;"))
    path = suite(f"bad-{name}", estimator='["bad"]', baseline='"bad"', more=f'\n[estimator.bad]\nlibrary = "./lib{name}.so"\n')
    call("run", path, "--force", code=7, words="gets other advantages")
    path = suite(f"good-{name}", estimator='["bad"]', baseline='"bad"', more=f'\n[estimator.bad]\nlibrary = "./lib{name}.so"\nstate = "run"\n')
    call("run", path, "-q", "--force")
left = subprocess.run(["pgrep", "-f", f"{program} run bad-child"], capture_output=True, text=True).stdout
check(left == "", f"a child is left behind: {left}")

# --- one that cannot be loaded is an error at its line
build("old", (SOURCE % "").replace("return ODRPO_ESTIMATOR_VERSION", "return 99"))
build("lacks", (SOURCE % "").replace("int odrpo_estimate(", "int another("))
build("loads", (SOURCE % "") + '__attribute__((constructor)) static void first(void) { exit(3); }\n')
open("libtext.so", "w").write("no library")
for name, words in (("old", "is of version 99"), ("lacks", "has no function odrpo_estimate"), ("text", "cannot be loaded"), ("loads", "ended with exit code 3")):
    path = suite(f"wrong-{name}", estimator='["bad"]', baseline='"bad"', more=f'\n[estimator.bad]\nlibrary = "lib{name}.so"\n')
    call("check", path)  # loads nothing
    call("run", path, code=3, words=words)
    call("run", path, code=3, words=f"wrong-{name}.toml:")
path = suite("both", estimator='["bad"]', baseline='"bad"', more='\n[estimator.bad]\nlibrary = "libold.so"\ncommand = "true"\n')
call("check", path, code=3, words="its advantages come from no shared library")
finish()
