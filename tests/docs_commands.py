#!/usr/bin/env python3
"""Checks every shown command of README.md and docs/**. Usage: docs_commands.py PROGRAM

What is a command: a line (with those that a backslash joins to it) of a block of `sh`, `bash` or `console` (there after "$ "); in a block without a
language, an indented block or one of yaml, a line that begins with `odrpo-bench`; and code within a sentence that begins with `odrpo-bench`, or with the
name of a command and has a flag. `docs/findings.md` and the pages of docs/lab count as notes.

* Each call of odrpo-bench must name a command that there is and only flags of it, in a block also with the values and files that they need: as
  `list --markdown commands` has them. Other programs: presets of cmake and paths of this tree must be there.
* Lines of blocks of all pages but notes are run by bash, page by page, in a folder that has the files which pages speak of (fixture()) and the page's
  own suites; exit 0 is expected. Suites of SMALLER train fewer seeds and steps, and some commands work on less (LESS): what a command prints is not
  compared here. Lines of READ are not run, each for the reason that stands there; a reason that no line has fails the test.
* `run` of a suite that is not run, in notes too, is given to `check` with its --set and --only, where the files that it names are here.
"""
import collections
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = str(pathlib.Path(sys.argv[1]).resolve()) if len(sys.argv) > 1 else ""
COMMAND = re.compile(r"(?:\S*/)?odrpo-bench$")
NOTES = re.compile(r"docs/(findings\.md|lab/)")
# lines that are only read: (page, begin of the line): why
READ = {
    ("", "./bootstrap.sh"): "builds this tree",
    ("", "cmake "): "builds this tree",
    ("", "ctest "): "tests this tree",
    ("", "python3 tests/mutants/run.py"): "builds this tree",
    ("", "mpirun "): "needs a build with MPI",
    ("", "venv/bin/pip "): "needs a network",
    ("docs/python.md", "python3 -m venv"): "is of use to the next line alone",
    ("docs/many-machines.md", "kubectl "): "needs Kubernetes",
    ("docs/many-machines.md", "id=$(sbatch"): "needs Slurm",
    ("docs/many-machines.md", "sbatch "): "needs Slurm",
    ("", "odrpo-bench gate --kind"): "measures for minutes",
    ("docs/gate-details.md", "odrpo-bench gate"): "measures for minutes, or builds a commit",
    ("docs/gate-results.md", "ODRPO_ISA=avx2 build/release/odrpo-bench gate"): "counts with what this machine may lack",
    ("docs/conform.md", "odrpo-bench conform --command 'python3 verl_advantages.py"): "needs verl",
    ("docs/rollouts.md", "odrpo-bench conform --command 'python3 examples/conform/verl_advantages.py"): "needs verl",
    ("docs/install.md", "apt "): "installs a package; tests/packages has all of this page",
    ("docs/install.md", "tar "): "needs the tarball",
    ("docs/install.md", "odrpo-bench-0"): "needs the tarball",
    ("docs/install.md", "docker "): "needs Docker",
    ("docs/export-estimator.md", "odrpo-bench posterior estimator"): "is a word of a file, no command",
    ("docs/lab/toolchains.md", "odrpo-bench run suites/compat.toml"): "of an earlier day, when the suite was another",
    ("docs/reference/commands.md", "odrpo-bench bench"): "needs the microbenchmarks",
    ("docs/reference/commands.md", "odrpo-bench doctor"): "judges this machine",
}
FEW = ["suite.seeds=7", "learn.steps=6", "record.every=6", "learn.lr=[1, 3]"]
SMALLER = {
    "rivals": FEW, "votes-mean": FEW, "stress": FEW, "posterior-models": FEW, "judge-scores": FEW,
    "equal-cost": ["suite.seeds=6", "learn.lr=[1, 3]"], "gradient-cosine": ["suite.seeds=2", "grid.rater=mixed", "grid.estimator=[grpo, maxrl]"],
    "toy-lm-quickstart": ["suite.seeds=2", "learn.steps=2", "record.every=2", "learn.batch=4", "policy.small.warm_steps=10"],
}
# what a command gets in the place of its own values
LESS = {
    "judge advise": {"--estimators": "grpo", "--votes": "1,2", "--rollouts": "8", "--rules": "mean", "--seeds": "10", "--tuning-seeds": "8", "--drawn-judges": "1"},
    "theory bound": {"--prompts": "16", "--worlds": "2", "--batches": "0", "--ascent": "0", "--group-size": "3"},
}


def blocks(text):
    """(line number, language, lines) of fenced blocks; indented blocks have the language "indented"."""
    fence, before = None, ""
    for number, line in enumerate(text.split("\n"), 1):
        mark = re.match(r"( *)(`{3,}|~{3,})\s*(\S*)", line)
        if fence:
            if mark and mark[2].startswith(fence[0]):
                yield fence[1], fence[2], fence[4]
                fence = None
            else:
                fence[4].append(line[min(fence[3], len(line) - len(line.lstrip())):])
        elif mark:
            fence = (mark[2], number + 1, mark[3], len(mark[1]), [])
        elif line.startswith("    ") and not re.match(r" *([*+-]|\d+\.) ", line) and not before.strip():
            yield number, "indented", [rest[4:] for rest in re.match(r"(?:    .*\n?)+", "\n".join(text.split("\n")[number - 1:]))[0].rstrip("\n").split("\n")]
        before = line


def shown(path):
    """(line number, command, does it stand in a block?) of a page."""
    text = path.read_text(encoding="utf-8")
    for number, language, lines in blocks(text):
        place = 0
        while place < len(lines):
            begin, line = place, lines[place]
            while line.endswith("\\") and place + 1 < len(lines):
                place += 1
                line = line[:-1] + lines[place].lstrip()
            place += 1
            line = line.strip()
            if line.startswith("$ ") and language in ("", "console"):
                yield number + begin, line[2:], True
            elif language in ("sh", "bash") and line and not line.startswith(("#", "--set ")):
                yield number + begin, line, True
            elif re.match(r"(- )?odrpo-bench ", line) and language in ("", "indented", "yaml"):
                # what a program printed begins likewise: such lines have no place at the left
                if "[OPTIONS]" not in line and (language != "" or not lines[begin].startswith(" ")):
                    yield number + begin, line.removeprefix("- "), language != "yaml"
    prose = re.sub(r"^ {0,3}(`{3,}).*?^ {0,3}\1 *$", lambda m: "\n" * m[0].count("\n"), text, flags=re.S | re.M)
    for code in re.finditer(r"(?<!`)(`+)(?!`)((?:(?!\1).)+?)\1(?!`)", prose, re.S):
        words = code[2].replace("\n", " ").replace("\\|", "|")
        if words.startswith("odrpo-bench ") or (re.match(r"[a-z][a-z-]+ ", words) and " --" in words and words.split()[0] in NAMES):
            if not re.search(r"[…$]|\bCOMMAND\b|\|\S|^odrpo-bench$", words.strip()):
                yield prose.count("\n", 0, code.start()) + 1, words if words.startswith("odrpo-bench ") else "odrpo-bench " + words, False


def calls(line):
    """The arguments of each call of odrpo-bench in a line of a shell, and the words of all."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|<>()")
    lexer.whitespace_split = True
    lexer.commenters = ""
    words, found, here, first = [], [], None, True
    for word in lexer:
        if word == "#":
            break
        words.append(word)
        if re.fullmatch(r"[;&|<>()]+", word):
            here, first = None, not word.strip(";&|(")
        elif first and (COMMAND.match(word) or word == "./bootstrap.sh"):
            here = []
            found.append((word, here))
            first = False
        elif here is not None:
            here.append(word)
        else:
            first = word in ("mpirun", "source", "time") or re.match(r"\w+=", word) is not None
    return found, words


def commands(page):
    """Of each command: flags with the number of their values, and how many files it needs; from the page of reference."""
    found = {}
    for section in re.split(r"^## ", page, flags=re.M)[1:]:
        name = section.split("\n", 1)[0].strip()
        usage = re.search(r"^odrpo-bench(.*)$", section, re.M)
        if not usage:
            continue
        flags = {}
        for names, value in re.findall(r"^\| `(-[^` ]*)([^`]*)` \|", section, re.M):
            flags |= dict.fromkeys(names.split(","), bool(value.strip()))
        needed = [word for word in usage[1].split() if re.match(r"[A-Z]", word) and word not in ("COMMAND",)] if name != "odrpo-bench" else []
        found["" if name == "odrpo-bench" else name] = flags, len(needed)
    return found


def misused(arguments, table, whole=True):
    """What is wrong with a call's arguments; none if nothing is. A sentence may leave out values and files (whole=False)."""
    name = next((" ".join(arguments[:n]) for n in (2, 1) if " ".join(arguments[:n]) in table and n <= len(arguments)), "")
    if not name and arguments and not arguments[0].startswith("-"):
        return f"there is no command {arguments[0]}"
    if name in ("bench", "help") or (name == "completion" and "words" in arguments):
        return None  # they take what others understand
    flags, needed = table[name][0] | table[""][0], table[name][1]
    files, rest = 0, arguments[len(name.split()):]
    while rest:
        word = rest.pop(0)
        if not re.match(r"-\D", word):
            files += 1
            continue
        flag, equals, _ = word.partition("=")
        if not flag.startswith("--") and flag[:2] in flags and len(flag) > 2:
            flag, equals = flag[:2], True  # -j2
        if flag not in flags:
            return f"{name or 'odrpo-bench'} has no flag {flag}"
        if flags[flag] and not equals:
            if not rest and whole:
                return f"{flag} has no value"
            del rest[:1]
    if whole and files < needed and not {"-h", "--help"} & set(arguments):
        return f"{name} needs {needed} files or words, and has {files}"
    return None


def elsewhere(words):
    """What is wrong with words of other programs."""
    presets = {preset["name"] for kind in ("configurePresets", "buildPresets", "testPresets") for preset in json.loads((ROOT / "CMakePresets.json").read_text()).get(kind, [])}
    for before, word in zip([""] + words, words):
        if before == "--preset" and word not in presets:
            return f"there is no preset {word}"
        if re.match(r"(tests|docs|examples|suites)/\S*\.\w+$", word) and before not in ("-o", "--output") and not (ROOT / word).exists():
            return f"{word} is not in this tree"
    return None


WRAPPER = r'''#!{python}
import os, pathlib, re, sys
smaller, less = {smaller!r}, {less!r}
words = sys.argv[1:]
name = " ".join(words[:2]) if " ".join(words[:2]) in less else ""
for flag, value in less.get(name, {{}}).items():
    if flag in words:
        words[words.index(flag) + 1] = value
    else:
        words += [flag, value]
if words[:1] == ["run"] and len(words) > 1:
    suite = re.sub(r"[.]toml$", "", re.sub(r"^suites/", "", words[1]))
    for setting in smaller.get(suite, []):
        if not any(word.startswith(setting.split("=")[0] + "=") for word in words):
            words += ["--set", setting]
    if suite in smaller and not {{"-o", "--output", "--name"}} & set(words):
        words += ["-o", pathlib.Path(suite).name + ".h5"]
os.execv({program!r}, [{program!r}] + words)
'''


def fixture(folder, call):
    """The files that pages speak of, made in a folder."""
    def sh(text):
        ran = call(text, folder)
        assert ran.returncode == 0, f"{text}\n{ran.stderr}"

    (folder / "suites").symlink_to(ROOT / "suites")
    (folder / "examples").symlink_to(ROOT / "examples")
    for name in ("old", "new", "build/release"):
        (folder / name).mkdir(parents=True)
        (folder / name / "odrpo-bench").symlink_to(folder.parent / "bin" / "odrpo-bench")
    (folder / "tests/app/gate").mkdir(parents=True)
    for name in ("grpo.py", "grpo.c", "grpo.cpp"):
        shutil.copy(ROOT / "examples/estimators" / name, folder)
    shutil.copy(ROOT / "examples/gate/worker.py", folder)
    suite = (ROOT / "suites/quickstart.toml").read_text(encoding="utf-8")
    (folder / "suite.toml").write_text(suite.replace('name = "quickstart"', 'name = "suite"'), encoding="utf-8")
    sh("odrpo-bench run quickstart -q -o quickstart.h5")
    sh("odrpo-bench run suites/smoke.toml -q -o old.h5; cp old.h5 new.h5")
    sh("odrpo-bench judge simulate mixed --prompts 60 --responses 6 --samples 8 -o scores.csv")
    sh("odrpo-bench judge fit scores.csv -o judge.toml")
    sh("odrpo-bench export-estimator --estimator grpo --compat verl -o mine.py; cp mine.py adv.py")
    sh("odrpo-bench run quickstart -q --set record.rollouts=60 --set suite.seeds=1 --only '*/grpo/n1/s0' -o kept.h5; odrpo-bench export kept.h5 --what rollouts -o dump.jsonl")
    (folder / "votes.toml").write_text('[suite]\nname = "votes"\nseeds = 6\n[grid]\nrater = "mixed"\nestimator = ["grpo", "maxrl", "odrpo-gini(maxrl)"]\nvotes = [1, 8]\n'
                                       '[learn]\nsteps = 30\n[table]\nbaseline = "grpo"\n')
    sh("odrpo-bench run votes.toml -q -o votes.h5; odrpo-bench export votes.h5 -o runs.csv")
    rows = [json.loads(line) for line in (folder / "dump.jsonl").read_text().splitlines()]
    (folder / "rollout_data").mkdir()
    for step in sorted({row["step"] for row in rows}):  # verl's columns
        (folder / "rollout_data" / f"{step + 1}.jsonl").write_text("".join(
            json.dumps({"input": f"prompt {row['prompt']}", "output": f"answer {place}", "gts": None, "score": row["reward"], "step": step + 1}) + "\n"
            for place, row in enumerate(rows) if row["step"] == step))
    (folder / "completions.jsonl").write_text("".join(  # TRL's
        json.dumps({"step": row["step"], "prompt": f"prompt {row['prompt']}", "completion": f"answer {place}", "judge": row["reward"], "advantage": row["advantage"]}) + "\n"
        for place, row in enumerate(rows)))
    (folder / "dump.csv").write_text("step,id,score,judge,brevity\n" + "".join(
        f"{row['step']},{row['prompt']},{row['reward']},{row['reward']},{place % 3}\n" for place, row in enumerate(rows)))
    header, *lines = (folder / "scores.csv").read_text().splitlines()
    asked = collections.defaultdict(list)  # promptfoo's: a result for each answer, with its repeated assertions
    for line in lines:
        row = dict(zip(header.split(","), line.split(",")))
        asked[row["prompt_id"], row["response_id"]].append((float(row["score"]) - 1) / 9)
    results = [{"promptIdx": 0, "vars": {"question": prompt}, "provider": {"id": f"model {response}"}, "response": {"output": f"answer {response} to {prompt}"},
                "gradingResult": {"componentResults": [{"score": score, "assertion": {"type": "llm-rubric", "metric": "helpful"}} for score in scores]}}
               for (prompt, response), scores in asked.items()]
    (folder / "results.json").write_text(json.dumps({"evalId": "eval-1", "results": {"results": results}}), encoding="utf-8")
    with open(folder / "scores.jsonl", "w") as file:
        for line in lines:
            row = dict(zip(header.split(","), line.split(",")))
            file.write(json.dumps({"item": row["prompt_id"], "response_id": row["response_id"], "rating": (float(row["score"]) - 1) / 2}) + "\n")


def check_checker(table):
    """Planted mistakes are found, and nothing else."""
    assert misused(["run", "a.toml", "--set", "x=1", "-j2", "-o", "b.h5"], table) is None
    assert misused(["judge", "analyze", "s.csv", "--figure=kendall=w.pdf"], table) is None
    assert misused(["run", "a.toml", "--sets", "x=1"], table) == "run has no flag --sets"
    assert misused(["runs", "a.toml"], table) == "there is no command runs"
    assert misused(["run", "--set", "a=1"], table) == "run needs 1 files or words, and has 0"
    assert misused(["run", "a.toml", "--set"], table) == "--set has no value"
    found, _ = calls("odrpo-bench run 'a b' && x | odrpo-bench plot forest a.h5 > f; mpirun odrpo-bench run c  # odrpo-bench no")
    assert [arguments for _, arguments in found] == [["run", "a b"], ["plot", "forest", "a.h5"], ["run", "c"]], found
    assert elsewhere(["cmake", "--preset", "none"]) and elsewhere(["python3", "tests/none.py"]) and not elsewhere(["cmake", "--preset", "release"])
    assert list(blocks("a\n\n```sh\nx\n```\n\n    y\n    z\n")) == [(4, "sh", ["x"]), (7, "indented", ["y", "z"])]


def main():
    global NAMES
    try:
        import numpy  # noqa: F401: the examples of estimators need it
    except ImportError:
        print("skipped: numpy is missing")
        return 77
    table = commands(subprocess.run([PROGRAM, "list", "--markdown", "commands"], check=True, capture_output=True, text=True).stdout)
    NAMES = {name.split()[0] for name in table if name}
    check_checker(table)
    wrong, counts, reasons, seconds = [], collections.Counter(), set(), []
    only = os.environ.get("ODRPO_DOCS_PAGE", "")  # for the work on a page
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work).resolve()
        (work / "bin").mkdir()
        wrapper = work / "bin" / "odrpo-bench"
        wrapper.write_text(WRAPPER.format(python=sys.executable, smaller=SMALLER, less=LESS, program=PROGRAM))
        wrapper.chmod(0o755)
        (work / "bin" / "python3").symlink_to(sys.executable)
        (work / "home").mkdir()
        environment = dict(os.environ, PATH=f"{work / 'bin'}:{os.environ['PATH']}", HOME=str(work / "home"), CPATH=str(ROOT / "estimators/outside"), NO_COLOR="1")

        def call(text, folder):
            return subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=folder, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, errors="replace")

        (work / "files").mkdir()
        fixture(work / "files", call)
        for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
            page = str(path.relative_to(ROOT))
            if only and only != page:
                continue
            folder = work / page.replace("/", "-")
            shutil.copytree(work / "files", folder, symlinks=True)
            if page == "docs/reference/commands.md":
                runs = folder / "runs.csv"  # there a file of the reader's, with a column of that name
                runs.write_text(runs.read_text(encoding="utf-8").replace("final_gain", "gain", 1), encoding="utf-8")
            for _, language, lines in blocks(path.read_text(encoding="utf-8")):
                name = re.search(r'^name = "([\w-]+)"', "\n".join(lines), re.M)
                if language == "toml" and name and "[suite]" in lines:
                    (folder / f"{name[1]}.toml").write_text("\n".join(lines) + "\n")
            for number, line, block in shown(path):
                place = f"{page}:{number}: {line}"
                found, words = calls(line)
                reason = next((key for key in READ if key[0] in ("", page) and line.startswith(key[1]) and (block or key[0])), None)
                reasons |= {reason} if reason else set()
                for program, arguments in found:
                    if program == "./bootstrap.sh":
                        arguments = [word for word in arguments if not re.match(r"--(no-)?(cuda|mpi)$", word)]
                        if arguments[:1] in (["test"], ["packages"], ["docs"]):
                            continue
                    why = misused(arguments, table, block) if not reason else None
                    wrong += [f"{place}\n  {why}"] if why else []
                if why := elsewhere(words):
                    wrong.append(f"{place}\n  {why}")
                if block and not NOTES.match(page) and not reason:
                    if page == "docs/many-machines.md" and "merge" in line or page == "docs/reference/commands.md" and "odrpo-bench merge" in line:
                        call("for i in 0 1 2 4 5 6 7; do odrpo-bench run suite.toml -q --shard $i/8; done", folder)
                    for _, arguments in found:  # what a line writes is not there before
                        for flag, value in zip(arguments, arguments[1:]):
                            if flag == "-o" and re.fullmatch(r"[\w.-]+", value):
                                (folder / value).unlink(missing_ok=True)
                    began = os.times().elapsed
                    ran = call(line, folder)
                    seconds.append((os.times().elapsed - began, place))
                    counts["run"] += 1
                    if ran.returncode:
                        wrong.append(f"{place}\n  exit {ran.returncode}: {ran.stderr.strip()[-600:]}")
                    continue
                checked = False
                for program, arguments in found if (NOTES.match(page) or block) and not (reason and NOTES.match(page)) else []:
                    if arguments[:1] == ["run"] and len(arguments) > 1:
                        kept, rest = ["check", arguments[1]], arguments[2:]
                        for flag, value in zip(rest, rest[1:]):
                            kept += [flag, value] if flag in ("--set", "--only") else []
                        if any(re.search(r"=\S+\.(csv|toml|so)$", word) and not (folder / word.partition("=")[2]).exists() for word in kept[2:]):
                            continue
                        if not (ROOT / arguments[1]).exists() and not (folder / arguments[1]).exists() and not (ROOT / "suites" / f"{arguments[1]}.toml").exists():
                            continue
                        ran = subprocess.run([PROGRAM, *kept], cwd=folder, env=environment, capture_output=True, text=True)
                        checked = True
                        if ran.returncode:
                            wrong.append(f"{place}\n  {' '.join(kept)}: exit {ran.returncode}: {ran.stderr.strip()[-600:]}")
                counts["checked" if checked else "read"] += 1
            shutil.rmtree(folder)
    if not only:
        wrong += [f"READ has {key}, which no line begins with" for key in READ if key not in reasons]
    print("\n".join(wrong))
    print(f"{counts['run']} lines run, {counts['checked']} calls of run given to check, {counts['read']} only read; {len(wrong)} wrong")
    for took, place in sorted(seconds, reverse=True)[:5]:
        print(f"{took:6.1f} s  {place}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
