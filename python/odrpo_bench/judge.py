"""Measures judges: agreement, fits, simulated scores, advice. Starts the program (docs/judge.md, docs/advice.md)."""

import contextlib
import csv
import json
import numbers
import os
import tempfile
from dataclasses import dataclass
from typing import Any, Dict, Iterator, Mapping, Optional, Union

import numpy as np

from . import program
from .running import watch

Scores = Union[str, os.PathLike, np.ndarray, Any]


def analyze(scores: Scores, *, prompts: Any = None, **flags: Any) -> Dict[str, Any]:
    """How noisy a judge is: what `odrpo-bench judge analyze --json` prints (docs/judge.md#json).

    scores   a file, a word of `list raters`, a judge's file; a frame with the columns of such a file; or an array [prompts, responses, calls] of
             scores, NaN, None or a mask where one is missing. An array [items, calls] needs to know which items are responses to one prompt:
    prompts  an entry for each item, equal where the prompt is; one value for all (0: all items answer one prompt); None: each has its own
    flags    those of the command, such as rater="sample_id / 2", levels=10, resamples=2000
    """
    with _input(scores, prompts) as path:
        return json.loads(_named(program.call("judge", "analyze", path, "--json", *program.flags(flags)), path, scores))


def fit(scores: Scores, *, prompts: Any = None, output: Union[str, os.PathLike, None] = None, **flags: Any) -> Dict[str, Any]:
    """A simulated judge fitted to scores: what `judge fit --json` prints, and in `toml` the judge's file, which is written to `output` if that is given.

    The answer can be given to simulate() and advise(). Scores and flags as for analyze().
    """
    with _input(scores, prompts) as path, tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "judge.toml")
        report = json.loads(_named(program.call("judge", "fit", path, "--json", "--output", file, *program.flags(flags)), path, scores))
        with open(file, encoding="utf-8") as made:
            text = _named(made.read(), path, scores)
    if output is not None:
        with open(output, "w", encoding="utf-8") as judge:
            judge.write(text)
    return {**report, "toml": text}


@dataclass
class Simulated:
    """Simulated scores [prompts, responses, calls]; of a panel its judges answer in turn. `gold` is the true quality [prompts, responses]."""

    scores: np.ndarray
    gold: np.ndarray


def simulate(
    rater: Union[str, os.PathLike, Mapping[str, Any]],
    *,
    prompts: int = 1000,
    responses: int = 8,
    samples: int = 16,
    levels: Optional[int] = None,
    seed: int = 1,
) -> Simulated:
    """Scores that a rater gives in its own world. `rater` is a word of `list raters`, a judge's file, or what fit() returned. NaN: no score."""
    with _judge_file(rater) as path:
        text = program.call(
            "judge",
            "simulate",
            path,
            "--truth",
            *program.flags({"prompts": prompts, "responses": responses, "samples": samples, "levels": levels, "seed": seed}),
        )
    rows = csv.DictReader(text.splitlines())
    numbers = np.array([(_score(row["score"]), float(row["gold"])) for row in rows]).reshape(prompts, responses, samples, 2)
    return Simulated(numbers[..., 0], numbers[:, :, 0, 1])


def advise(
    scores: Union[Scores, Mapping[str, Any]], calls: float, *, prompts: Any = None, progress: bool = False, **flags: Any
) -> Dict[str, Any]:
    """How a training best spends judge calls: what `judge advise --json` prints (docs/advice.md). `scores` as for analyze(), or what fit() returned.

    Takes minutes. Ctrl-C (KeyboardInterrupt) saves the trainings, and the same call with a file continues.
    """
    if not isinstance(calls, numbers.Real):
        raise TypeError(f"calls is a number, and not {calls!r}")
    if prompts is not None and isinstance(scores, Mapping):
        raise TypeError("prompts belong to an array of scores")
    with _judge_file(scores) if isinstance(scores, Mapping) else _input(scores, prompts) as path:
        code, stdout, stderr = watch(
            ["judge", "advise", path, "--calls", f"{calls:g}", "--json", *program.flags({"quiet": not progress, **flags})], progress
        )
        if code != 0:
            raise program.error(code, stderr)
    return json.loads(stdout)


def _named(text: str, path: str, scores: Scores) -> str:
    """A report that calls scores in Python by what they are, not by their temporary file."""
    return text if isinstance(scores, (str, os.PathLike)) else text.replace(path, f"a Python {type(scores).__name__}")


@contextlib.contextmanager
def _judge_file(rater: Any) -> Iterator[str]:
    """The path or word of a rater; of what fit() returned a temporary file."""
    if not isinstance(rater, Mapping):
        yield program.file(rater)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "judge.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(rater["toml"])
        with program.naming(path, "the fitted judge"):
            yield path


@contextlib.contextmanager
def _input(scores: Scores, prompts: Any) -> Iterator[str]:
    """The path of a file of scores; of a frame or an array a temporary CSV file, which errors call "scores"."""
    if prompts is not None and (isinstance(scores, (str, os.PathLike)) or hasattr(scores, "to_csv")):
        raise TypeError("prompts belong to an array of scores: a file and a frame have a column of them")
    if isinstance(scores, (str, os.PathLike)):
        yield program.file(scores)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "scores.csv")
        if hasattr(scores, "to_csv"):
            scores.to_csv(path, index=False)
        else:
            _write_array(path, np.ma.filled(np.ma.asarray(scores, dtype=float), np.nan), prompts)
        with program.naming(path, "scores"):
            yield path


def _write_array(path: str, scores: np.ndarray, prompts: Any) -> None:
    """Writes scores [prompts, responses, calls], or [items, calls] with a prompt for each item."""
    if scores.ndim == 2:
        of_item = np.arange(len(scores)) if prompts is None else np.broadcast_to(prompts, len(scores))
    elif scores.ndim == 3 and prompts is None:
        of_item = np.repeat(np.arange(len(scores)), scores.shape[1])
        scores = scores.reshape(-1, scores.shape[2])
    else:
        raise ValueError(f"scores are [prompts, responses, calls], or [items, calls] with `prompts`; these have {scores.ndim} dimensions")
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("prompt_id", "response_id", "sample_id", "score"))
        for item, (prompt, row) in enumerate(zip(of_item.tolist(), scores.tolist())):
            writer.writerows((prompt, item, call, "" if score != score else f"{score:.17g}") for call, score in enumerate(row))


def _score(text: str) -> float:
    try:
        return float(text)
    except ValueError:  # an answer without a score
        return np.nan
