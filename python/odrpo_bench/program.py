"""Finds the program odrpo-bench, starts it, and turns its errors into exceptions."""

import contextlib
import os
import pathlib
import re
import shutil
import subprocess
from typing import Any, Iterable, Iterator, List, Mapping, Optional

BUG, USAGE, SUITE, LIMIT, RUNS_FAILED, BAD_INPUT, STOPPED = 1, 2, 3, 4, 7, 8, 75  # exit codes (docs/reference/commands.md)


class ProgramError(RuntimeError):
    """The program ended with an error. Its text is the program's; `exit_code` is its exit code (docs/reference/commands.md)."""

    def __init__(self, exit_code: int, text: str):
        super().__init__(re.sub("^error: ", "", text.strip()) or f"odrpo-bench ended with exit code {exit_code}")
        self.exit_code = exit_code


class InputError(ProgramError, ValueError):
    """What the program was given is wrong: an argument, a suite, a file of scores, or it needs more than a limit."""


def error(exit_code: int, text: str) -> ProgramError:
    """The exception for an exit code and what the program wrote to stderr."""
    return (InputError if exit_code in (USAGE, SUITE, LIMIT, BAD_INPUT) else ProgramError)(exit_code, text)


def path() -> str:
    """The program's file: $ODRPO_BENCH, that of this package, of the build folder around it, or of PATH. FileNotFoundError if there is none."""
    here = pathlib.Path(os.path.abspath(__file__)).parent  # not resolved: a build folder has links to these files
    for place in (
        os.environ.get("ODRPO_BENCH"),
        here / "bin" / "odrpo-bench",
        here.parent.parent / "odrpo-bench",
        shutil.which("odrpo-bench"),
    ):
        if place and os.path.isfile(place) and not _is_script(place):
            return str(place)
    raise FileNotFoundError("the program odrpo-bench is not in this package, in its build folder or in PATH; ODRPO_BENCH may name its file")


def call(*arguments: str, environment: Optional[Mapping[str, str]] = None) -> str:
    """Starts the program and returns what it writes to stdout. ProgramError if it fails."""
    done = subprocess.run([path(), *arguments], stdin=subprocess.DEVNULL, capture_output=True, env=environment)
    if done.returncode != 0:
        raise error(done.returncode, done.stderr.decode(errors="replace"))
    return done.stdout.decode()


@contextlib.contextmanager
def naming(path: str, name: str) -> Iterator[None]:
    """Errors of the program in this call a temporary file by what it was made of."""
    try:
        yield
    except ProgramError as why:
        why.args = (str(why).replace(path, name),)
        raise


def file(path: Any) -> str:
    """A path as an argument: never like a flag."""
    text = os.fspath(path)
    return os.path.join(".", text) if text.startswith("-") else text


def flags(options: Mapping[str, Any]) -> List[str]:
    """Options as flags: `tune_seeds=5` is --tune-seeds 5, a list repeats its flag, a mapping is KEY=VALUE, True is the flag alone, None is none.

    A list is any iterable that is no text and no path.
    """
    out: List[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if isinstance(value, Mapping):
            value = [f"{key}={one}" for key, many in value.items() for one in _each(many)]
        if value is True:
            out.append(flag)
        elif value is not None and value is not False:
            for one in _each(value):
                out += [flag, str(one)]
    return out


def _each(value: Any) -> Iterable[Any]:
    many = isinstance(value, Iterable) and not isinstance(value, (str, bytes, os.PathLike)) and getattr(value, "ndim", 1) > 0
    return value if many else [value]


def _is_script(place: Any) -> bool:
    """True for a script, such as the console script of this package, which would start itself for ever."""
    with open(place, "rb") as file:
        return file.read(2) == b"#!"
