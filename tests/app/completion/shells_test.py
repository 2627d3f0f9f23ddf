#!/usr/bin/env python3
# Types command lines with tabs into bash, zsh and fish on a terminal, and compares the words that the program would then get. Checks man pages.
# Usage: shells_test.py PROGRAM. Exit 77 where a shell is missing; those that are here are tested before.
import glob, os, pty, re, select, shutil, signal, subprocess, sys, time

import checks
from checks import check, finish, program

# typed, with tabs -> the words after the program's name
LINES = [
    ("ru\t", "run"),
    ("judge an\t", "judge analyze"),
    ("help jud\tf\t", "help judge fit"),
    ("run quicks\t", "run quickstart"),
    ("run mine\t", "run mine.toml"),
    ("run quickstart --se\tsuite.seeds\t7", "run quickstart --set suite.seeds=7"),
    ("run quickstart --set=learn.optimizer=ada\t", "run quickstart --set=learn.optimizer=adam"),
    ("run quickstart --dev\t=cu\t", "run quickstart --device=cuda"),
    ("explain --estimator odrpo-gini-median\\(ma\t", "explain --estimator odrpo-gini-median(maxrl)"),
    ("explain --estimator 'odrpo-gini-median(ma\t", "explain --estimator odrpo-gini-median(maxrl)"),
    ("explain --estimator=odrpo-li\tm\t", "explain --estimator=odrpo-linear(maxrl)"),
    ("conform --as grpo:ve\t", "conform --as grpo:verl"),
    ("table res\t --value gain,regr\t", "table result.h5 --value gain,regret"),
    ("plot fo\tdeep/\t", "plot forest deep/inside.h5"),
    ("judge simulate vet\t -o two\t", "judge simulate veto -o two words.csv"),
    ("rollouts analyze x --figure dea\tpic\t", "rollouts analyze x --figure dead=picture.svg"),
    ("list --color al\t", "list --color always"),
]
FILES = ["mine.toml", "other.txt", "result.h5", "deep/inside.h5", "two words.csv", "picture.svg"]
SHELLS = {  # how it starts; the script is sourced; what a command line calls instead of the program
    "bash": (["bash", "--norc", "--noprofile", "-i"], "source ./script", "odrpo-bench() { printf '<%s>' \"$@\"; echo; }"),
    "zsh": (["zsh", "-f", "-i"], "autoload -Uz compinit; compinit -u -D; source ./script; unsetopt zle_bracketed_paste 2>/dev/null", "odrpo-bench() { printf '<%s>' \"$@\"; echo; }"),
    "fish": (["fish", "--no-config", "-i"], "source ./script", "function odrpo-bench; printf '<%s>' $argv; echo; end"),
}


class Terminal:
    """A shell on a terminal of 200 columns."""

    def __init__(self, command):
        environment = dict(os.environ, PATH=os.path.dirname(program) + ":" + os.environ["PATH"], TERM="xterm", PS1="> ", HOME=os.getcwd(), COLUMNS="200", LANG="C.UTF-8", LC_ALL="C.UTF-8")
        self.child, self.file = pty.fork()
        if self.child == 0:
            os.execvpe(command[0], command, environment)
        self.text = ""

    def read(self, until, seconds):
        """Reads until the pattern is found; returns its match, or None when the time is over."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if found := re.search(until, self.text):
                self.text = self.text[found.end():]
                return found
            if select.select([self.file], [], [], 0.05)[0]:
                self.text += os.read(self.file, 65536).decode(errors="replace")
        return None

    def quiet(self, patience):
        """Reads until the shell has answered: until it has written nothing for a while."""
        wait = 10 * patience
        while select.select([self.file], [], [], wait)[0]:
            self.text += os.read(self.file, 65536).decode(errors="replace")
            wait = patience

    def write(self, text):
        os.write(self.file, text.encode())

    def end(self):
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)
        os.close(self.file)


def typed_words(terminal, typed, patience):
    """The words that a command gets when this is typed."""
    terminal.quiet(patience)
    terminal.text = ""
    for part in re.findall("\t|[^\t]+", "odrpo-bench " + typed):
        terminal.write(part)
        terminal.quiet(patience)
    terminal.write("\r")
    found = terminal.read(r"[\r\n]((?:<[^<>]*>)+)\r?\n", 5)
    if not found:
        terminal.write("\x03")
    return found[1][1:-1].replace("><", " ") if found else repr(terminal.text)


def try_shell(shell):
    start, source, stub = SHELLS[shell]
    script = subprocess.run([program, "completion", shell], capture_output=True, text=True)
    check(script.returncode == 0 and not script.stderr, f"{shell}: {script.stderr}")
    with open("script", "w") as file:
        file.write(script.stdout)
    terminal = Terminal(start)
    terminal.quiet(0.5)
    for line in (source, stub):
        terminal.write(line + "\r")
        terminal.quiet(0.5)
    terminal.write("echo rea''dy\r")
    check(terminal.read("ready", 20), f"{shell} does not start: {terminal.text}")
    for typed, expected in LINES:
        for patience in (0.1, 2):  # the second for a machine under load
            words = typed_words(terminal, typed, patience)
            if words == expected:
                break
        print(f"{shell}: odrpo-bench {typed!r} -> {words}")
        check(words == expected, f"{shell}: odrpo-bench {typed!r} became {words}, not {expected}")
    terminal.end()


for name in FILES:
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    open(name, "w").close()
missing = [shell for shell in SHELLS if not shutil.which(shell)]
for shell in SHELLS:
    if shell not in missing:
        try_shell(shell)

# whatever the words are: exit 0, nothing on stderr, at once
for words in (["--", ""], [], ["--nothing", "-"], ["run", "a", "b", "c", ""], ["run", "--set"], ["judge", "fit", "--", "\xff'\"$(", "="], ["help", "run", "help", ""]):
    began = time.monotonic()
    done = subprocess.run([program, "completion", "words", "--", *words], capture_output=True)
    check(done.returncode == 0 and not done.stderr, f"words {words}: exit {done.returncode}: {done.stderr}")
    check(time.monotonic() - began < 2, f"words {words}: {time.monotonic() - began} s")

# man pages: one for each command, which groff and mandoc read without a warning
pages = subprocess.run([program, "completion", "man", "-o", "man"], capture_output=True, text=True)
check(pages.returncode == 0 and not pages.stderr, f"man: {pages.stderr}")
for name in ("odrpo-bench", "odrpo-bench-run", "odrpo-bench-judge-fit", "odrpo-bench-completion"):
    text = open(f"man/{name}.1").read()
    sections = re.findall(r"(?m)^\.SH (.*)", text)
    usual = [s for s in ("NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "OPTIONS", "EXAMPLES", "EXIT STATUS", "SEE ALSO") if s in sections]
    check(sections == usual and len(sections) >= 7, f"{name}.1: sections {sections}")
for command in (["groff", "-man", "-Tutf8", "-ww", "-k", "-z"], ["mandoc", "-Tlint", "-Wwarning"]):
    if shutil.which(command[0]):
        done = subprocess.run([*command, *sorted(glob.glob("man/*.1"))], capture_output=True, text=True)
        check(done.returncode == 0 and not done.stdout + done.stderr, f"{' '.join(command)}: {(done.stdout + done.stderr)[:2000]}")
reference = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../../docs/reference/commands.md")
printed = subprocess.run([program, "list", "--markdown", "commands"], capture_output=True, text=True).stdout
check(printed == open(reference).read(), "docs/reference/commands.md: write it anew: odrpo-bench list --markdown commands > docs/reference/commands.md")

if missing and not checks.failed:
    print("not tried, not installed:", ", ".join(missing))
    sys.exit(77)
finish()
