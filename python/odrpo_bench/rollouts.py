"""Analyses the dumps of real trainings. Starts the program (docs/rollouts.md)."""

import json
import os
from typing import Any, Dict, List, Sequence, Union

from .program import call
from .program import flags as as_flags

Files = Union[str, os.PathLike, Sequence[Union[str, os.PathLike]]]


def analyze(files: Files, **flags: Any) -> Dict[str, Any]:
    """What `odrpo-bench rollouts analyze --json` prints of one dump, a folder of them or several. flags: those of the command, such as estimator=["grpo", "maxrl"]."""
    return json.loads(call("rollouts", "analyze", *_paths(files), "--json", *as_flags(flags)))


def estimate(files: Files, estimator: Union[str, Sequence[str]], **flags: Any) -> List[Dict[str, Any]]:
    """The rows that `odrpo-bench rollouts estimate` writes: file, line, step, prompt, row, reward, advantage (of several estimators advantage:WORD each)."""
    return [json.loads(row) for row in call("rollouts", "estimate", *_paths(files), *as_flags({"estimator": estimator, **flags})).splitlines()]


def _paths(files: Files) -> List[str]:
    return [os.fspath(file) for file in ([files] if isinstance(files, (str, os.PathLike)) else files)]
