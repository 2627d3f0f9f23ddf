"""Runs suites with the program: its progress, stops that save, estimators that are Python functions."""

import contextlib
import fcntl
import json
import os
import pty
import re
import selectors
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import tty
import warnings
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from . import functions, program, toml

if TYPE_CHECKING:
    from .results import Results

_BAR = re.compile(r"\r[^\r\n]*\x1b\[K")  # the progress bar, drawn or erased


def run(
    suite: Union[str, os.PathLike, Mapping[str, Any]],
    *,
    set: Optional[Mapping[str, Any]] = None,
    only: Union[str, Sequence[str], None] = None,
    jobs: Optional[int] = None,
    output: Union[str, os.PathLike, None] = None,
    estimators: Optional[Mapping[str, Callable]] = None,
    device: Optional[str] = None,
    checkpoint: Optional[int] = None,
    force: bool = False,
    progress: bool = True,
) -> "Results":
    """Trains a suite, as `odrpo-bench run` does, and loads its result file.

    suite       a file, the name of a shipped suite, or a dict of sections; files that a dict names are relative to the current folder
    set         values of keys: {"suite.seeds": 3, "learn.lr": [0.03, 0.1]}; a key that ends in + adds to a list
    only        keeps the runs whose id matches a pattern
    jobs        worker threads; default all cores
    output      the result file; default SUITE.h5 in the current folder, with `set` SUITE-KEY=VALUE.h5. The same call continues what was stopped, and loads what is complete
    estimators  functions by name: f(scores[B, G]) -> advantages[B, G], called for each batch with float64 scores, NaN where one is missing
                (docs/own-estimator.md). A function must answer by its scores alone, unless `set` says estimator.NAME.state = "run". Each is
                added to the suite's estimators if it is not among them
    device, checkpoint, force  flags of `run`
    progress    shows progress in a notebook or terminal, and the program's notes on stderr

    A failed run does not end the others: it is in `runs.status` and `runs.error`, and a RuntimeWarning says how many there are. Where all fail,
    ProgramError. Ctrl-C (KeyboardInterrupt) saves as it does at the command line, and the same call continues. InputError for mistakes in the suite.
    """
    from .results import load  # needs packages that judges do not

    folder = os.getcwd()  # a function may change it
    settings = [f"{key}={toml.value_text(value)}" for key, value in (set or {}).items()]
    with contextlib.ExitStack() as stack:
        path = stack.enter_context(_suite_file(suite)) if isinstance(suite, Mapping) else program.file(suite)
        server = stack.enter_context(functions.Server(estimators)) if estimators is not None else None
        if server:
            settings += _estimator_settings(path, settings, server)
        options = {"set": settings, "only": only, "jobs": jobs, "device": device, "checkpoint": checkpoint, "force": force}
        options.update(output=None if output is None else program.file(output), quiet=not progress)
        arguments = ["run", path, "--json", *program.flags(options)]
        code, stdout, stderr = watch(arguments, progress, server)
        cause = server.exception if server else None
        summary = json.loads(stdout) if stdout else {}
        if code not in (0, program.RUNS_FAILED) or not summary:
            raise program.error(code, stderr) from cause
    results = load(os.path.join(folder, summary["output"]))
    if summary["failed"]:
        first = results.runs[results.runs.status == "failed"].iloc[0]
        said = f"{summary['failed']} of {summary['total']} runs failed, such as {first.id}: {first.error}"
        if summary["failed"] == summary["total"]:
            raise program.error(code, said) from cause
        warnings.warn(said, RuntimeWarning, 2)
    return results


def watch(arguments: Sequence[str], progress: bool = True, server: Optional[functions.Server] = None):
    """Starts the program and stays with it until it ends: (exit code, stdout, stderr without the progress bar).

    Answers for `server`, shows what stderr has if `progress`. An interrupt asks the program to stop and save, waits for its end, and raises
    KeyboardInterrupt; a second one ends it at once, and a function too that does not return. An exception here, such as a function's SystemExit,
    stops and saves likewise.
    """
    show = _display() if progress and (sys.stderr is not None or _in_notebook()) else None
    errors, errors_end = _terminal() if show and _shows_bar() else os.pipe()
    with contextlib.ExitStack() as ends, _deferred_interrupt(server) as interrupt, selectors.DefaultSelector() as selector:
        ends.callback(os.close, errors)
        command, environment = [program.path(), *arguments], _environment(show, server)
        try:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors_end, env=environment)
        finally:
            os.close(errors_end)
        interrupt.watch(child)
        stdout, stderr = bytearray(), bytearray()
        assert child.stdout
        ends.callback(child.stdout.close)
        for end, kept, shown in ((child.stdout.fileno(), stdout, None), (errors, stderr, show)):
            selector.register(end, selectors.EVENT_READ, _reader(selector, end, kept, shown))
        reading = 2
        if server:
            server.serve(selector)
        while reading > 0:
            for key, _ in selector.select():
                if key.data() == "end":
                    reading -= 1
        code = child.wait()
    if interrupt.asked:
        raise KeyboardInterrupt("".join(_plain(stderr).strip().splitlines()[-1:]))  # what is saved
    return code, stdout.decode(), _plain(stderr)


def _reader(
    selector: selectors.BaseSelector, end: int, kept: bytearray, show: Optional[Callable[[str], None]]
) -> Callable[[], Optional[str]]:
    """Reads what is there of `end` into `kept`, and shows it; "end" at its end."""

    def read() -> Optional[str]:
        try:
            piece = os.read(end, 1 << 16)
        except OSError:  # a terminal whose other end is closed
            piece = b""
        if not piece:
            selector.unregister(end)
            return "end"
        kept.extend(piece)
        if show:
            show(piece.decode(errors="replace"))
        return None

    return read


class _deferred_interrupt:
    """While it holds, Ctrl-C asks `child` to stop instead of raising KeyboardInterrupt in the middle of an answer; a second one does both at once."""

    def __init__(self, server: Optional[functions.Server]) -> None:
        self.server = server
        self.child: Optional[subprocess.Popen] = None
        self.asked = False

    def __enter__(self) -> "_deferred_interrupt":
        self.main = threading.current_thread() is threading.main_thread()  # elsewhere no interrupt arrives
        if self.main:
            self.before = signal.signal(signal.SIGINT, self.on_interrupt)
        return self

    def watch(self, child: subprocess.Popen) -> None:
        self.child = child
        if self.asked:  # before it was there
            child.terminate()

    def on_interrupt(self, *_: Any) -> None:
        again, self.asked = self.asked, True
        if self.child:  # a terminal gives it the same Ctrl-C; SIGTERM asks for the same stop, and asks once
            self.child.send_signal(signal.SIGINT if again else signal.SIGTERM)
        if again:
            raise KeyboardInterrupt

    def __exit__(self, *_: Any) -> None:
        try:
            if self.child and self.child.poll() is None:  # an exception here
                self.on_exception(self.child)
        finally:
            if self.main:
                signal.signal(signal.SIGINT, self.before or signal.SIG_DFL)

    def on_exception(self, child: subprocess.Popen) -> None:
        """Has the child save, unless a second interrupt has told it not to, and waits for its end."""
        try:
            if not self.asked:
                self.asked = True
                child.terminate()
            if self.server:
                self.server.hang_up()  # nobody answers any more
            with contextlib.suppress(subprocess.TimeoutExpired):  # nobody reads what it writes
                child.wait(30)
        finally:
            child.kill()
            child.wait()


def _in_notebook() -> bool:
    return "ipykernel" in sys.modules


def _shows_bar() -> bool:
    """True where a progress bar can be drawn. Elsewhere the program writes a line now and then."""
    return _in_notebook() or sys.stderr.isatty()


def _display() -> Callable[[str], None]:
    """What shows the program's stderr: as it is, in a notebook line by line."""
    return _notebook_lines() if _in_notebook() and not (sys.stderr and sys.stderr.isatty()) else _put


def _put(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def _notebook_lines() -> Callable[[str], None]:
    """Shows lines on stdout; a bar replaces the one before it, by a carriage return and blanks, since notebooks know no other control."""
    width = 0

    def show(text: str) -> None:
        nonlocal width
        for line in re.findall(r"[^\r\n]*[\r\n]|[^\r\n]+", re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text)):
            words, ended = line.strip("\r\n"), line.endswith("\n")
            if words or ended:
                sys.stdout.write(words.ljust(width) + ("\n" if ended else "\r"))
                width = 0 if ended else max(width, len(words))
        sys.stdout.flush()

    return show


def _terminal() -> List[int]:
    """Two ends of a terminal, on which the program draws its bar; of a pipe where no terminal can be made."""
    try:
        ends = pty.openpty()
    except OSError:
        return list(os.pipe())
    tty.setraw(ends[1])
    with contextlib.suppress(OSError, ValueError, AttributeError):
        size = os.get_terminal_size(sys.stderr.fileno())
        fcntl.ioctl(ends[1], termios.TIOCSWINSZ, struct.pack("HHHH", size.lines, size.columns, 0, 0))
    return list(ends)


def _environment(show: Any, server: Optional[functions.Server]) -> Dict[str, str]:
    environment = {**os.environ, **(server.environment if server else {})}
    if show and _in_notebook():
        environment.update(TERM="xterm", NO_COLOR="1", CI="")  # so that it draws a bar
    return environment


def _plain(stderr: bytearray) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", _BAR.sub("", stderr.decode(errors="replace")))


@contextlib.contextmanager
def _suite_file(suite: Mapping[str, Any]):
    """The path of a suite that is a dict. The file is in the current folder, so that paths in the suite are relative to it, and is removed."""
    text = toml.suite_text(suite)
    with tempfile.NamedTemporaryFile("w", suffix=".toml", prefix=".odrpo-bench-", dir=os.getcwd(), encoding="utf-8") as file:
        file.write(text)
        file.flush()
        path = os.path.basename(file.name)
        with program.naming(path, "suite"):
            yield path


def _estimator_settings(path: str, settings: Sequence[str], server: functions.Server) -> List[str]:
    """Settings that make the functions estimators of the suite, and add to its estimators those that it does not name."""
    added = [f"estimator.{name}.command={toml.value_text(server.command(name))}" for name in server.names]
    settings = [*settings, *added, 'table.baseline=""']  # the suite's may be a function that it does not name
    checked = program.call("check", path, "--json", *program.flags({"set": settings}), environment=_environment(None, server))
    named = json.loads(checked)["grid"]["estimator"]
    return added + [f"grid.estimator+={toml.value_text([name])}" for name in server.names if name not in named]
