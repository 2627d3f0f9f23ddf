#!/usr/bin/env python3
# Compares whole pages that commands print with the text files in pages/. Usage: pages_test.py PROGRAM SAMPLE [--update] [PAGE ...]
#
# A page is one text file, pages/NAME.txt. A line `$ COMMAND` stands before what the command prints: its stdout, its stderr with
# `stderr: ` before each line, and `exit N` where that is not 0. A page may hold several commands; they share a folder.
#
# To add a page, write a file that holds the lines `$ COMMAND` alone. This one command makes it, and all pages, anew:
#   cmake --build BUILD --target update_pages
# Then read `git diff tests/app/pages`: a line that changed is a change that a user sees.
#
# The folder of a page holds pages/inputs/, conform/mutants.py, ../golden/verl_advantages.csv as rollouts.csv, ../tiny.toml as small.toml and the result files of SHARED. Commands are odrpo-bench, sample_result_file
# (tests/results/sample_file.cpp) and cat. No shell reads them: words are split as by sh, without expansion, pipes or redirection.
# MASKS hides what differs between machines, and nothing else. A page must be the same for every processor, compiler and optimisation:
# no times, nothing of the toy language model, no number of threads (-j 1). LaTeX tables are compiled too, where pdflatex is installed
# with booktabs and siunitx.
import difflib, os, re, shlex, shutil, subprocess, sys

here = os.path.dirname(os.path.realpath(__file__))
sample = os.path.realpath(sys.argv[2])
update = "--update" in sys.argv
only = [name for name in sys.argv[3:] if name != "--update"]

from checks import check, finish, program

PAGES = os.path.join(here, "pages")
PROGRAMS = {"odrpo-bench": program, "sample_result_file": sample, "cat": "cat"}
SHARED = [
    "odrpo-bench run small.toml -q -j 1",
    "odrpo-bench run small.toml -q -j 1 -o other.h5 --set learn.lr=0.31",
    "sample_result_file sample.h5",
    "sample_result_file plain.h5 plain",
    "sample_result_file latex.h5 latex",
]
MASKS = [
    (r"(?m)^(stderr: wrote \S+: \d+ runs in )[0-9.]+ \w+;", r"\1TIME;"),
    (r"(?m)(`odrpo-bench export-estimator` of odrpo-bench) \S+ \(\S+\)", r"\1 VERSION"),
]
# what a user's shell may hold and a command looks at
UNSET = re.compile("CI|TERM|NO_COLOR|COLUMNS|(ODRPO|GITHUB|SLURM|PMI|PMIX|OMPI)_.*")
environment = {name: value for name, value in os.environ.items() if not UNSET.fullmatch(name)}


def rounded(text):
    """Ten digits of numbers that have thirteen or more: the last bits of statistics depend on the mathematical library."""
    return re.sub(r"(?<![\w.])-?\d+\.\d+(?:e[+-]\d+)?(?![\w.])", lambda m: f"{float(m[0]):.10g}" if sum(map(str.isdigit, m[0])) > 12 else m[0], text)


def lines(text, prefix=""):
    """Each line with the prefix; a last one without an end says so."""
    all_lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    return "".join(prefix + line + ("" if line.endswith("\n") else " (no end of line)\n") for line in all_lines)


def ran(command, folder):
    words = shlex.split(command)
    done = subprocess.run([PROGRAMS[words[0]], *words[1:]], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True)
    return done.stdout.decode(), done.stderr.decode(), done.returncode


def shown(command, out, errors, code):
    text = lines(out) + lines(errors, "stderr: ") + (f"exit {code}\n" if code else "")
    for pattern, mask in MASKS:
        text = re.sub(pattern, mask, text)
    return f"$ {command}\n" + rounded(text)


def has_latex():
    return shutil.which("pdflatex") and subprocess.run(["kpsewhich", "booktabs.sty", "siunitx.sty"], stdout=subprocess.DEVNULL).returncode == 0


def compile_latex(name, latex, folder):
    """The table as the body of a document whose preamble is what its comments ask for."""
    preamble = "\n".join(line[2:] for line in latex.splitlines() if re.match(r"% \\(usepackage|sisetup)", line))
    with open(os.path.join(folder, "page.tex"), "w") as file:
        file.write(f"\\documentclass{{article}}\n{preamble}\n\\begin{{document}}\n{latex}\\end{{document}}\n")
    done = subprocess.run(["pdflatex", "-draftmode", "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", "page.tex"], cwd=folder,
                          env=dict(environment, TEXMFVAR=folder), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    with open(os.path.join(folder, "page.log"), errors="replace") as file:
        log = file.read()
    check(done.returncode == 0 and "Missing character" not in log, f"{name}: not LaTeX that shows every character:\n{log}")


os.mkdir("shared")
shutil.copytree(os.path.join(PAGES, "inputs"), "shared", dirs_exist_ok=True)
shutil.copy(os.path.join(here, "conform", "mutants.py"), "shared")
shutil.copy(os.path.join(here, "..", "golden", "verl_advantages.csv"), "shared/rollouts.csv")
with open(os.path.join(here, "..", "tiny.toml")) as tiny, open("shared/small.toml", "w") as small:
    small.write(tiny.read().replace("tiny", "small"))
for command in SHARED:
    out, errors, code = ran(command, "shared")
    check(code == 0, f"{command}: exit {code}: {errors}")

changed = 0
for file in sorted(os.listdir(PAGES)):
    name, extension = os.path.splitext(file)
    if extension != ".txt" or (only and name not in only):
        continue
    with open(os.path.join(PAGES, file), encoding="utf-8", newline="") as page:
        expected = page.read()
    shutil.copytree("shared", name)
    found = ""
    for command in re.findall(r"(?m)^\$ (.*)$", expected):
        before = os.listdir(name)
        out, errors, code = ran(command, name)
        check(code in (0, 7, 10) or sorted(os.listdir(name)) == sorted(before), f"{file}: {command}: a refused command leaves a file")
        check(not re.search(r"(?m)^\$ ", out), f"{file}: output that looks like a command")
        check("-nan" not in out + errors, f"{file}: {command}: a number that is none")
        found += shown(command, out, errors, code)
        if "--format latex" in command and code == 0 and has_latex():
            compile_latex(file, out, name)
    check(found, f"{file}: no command")
    if found == expected:
        continue
    changed += 1
    if update:
        with open(os.path.join(PAGES, file), "w", encoding="utf-8", newline="") as page:
            page.write(found)
        print(f"{file}: written")
    else:
        print("".join(difflib.unified_diff(lines(expected).splitlines(True), found.splitlines(True), f"pages/{file}", "printed now")))
check(changed == 0 or update, f"{changed} pages differ. If they should: cmake --build BUILD --target update_pages, and read git diff")
finish()
