"""Advantages and posterior scores of arrays, at the speed of the program's own code.

Arrays are those of numpy, torch and JAX in the memory of the CPU, and whatever has the buffer protocol; lists become arrays of numpy. They are read where they
are, without a copy; strides may be any (of scores that do not lie one behind the other a few groups at a time are copied), and they may be read-only."""
import json
import os
import tempfile
from functools import lru_cache
from typing import Any, Callable, Optional

import numpy as np

from . import _numerics, program
from .compute import vote_pmf as vote_distribution

__all__ = ["advantages", "estimator_options", "posterior", "vote_distribution"]


@lru_cache(maxsize=256)
def _estimator(estimator, options):
    return _numerics.Estimator({"est": estimator, **{name: value for name, value, _ in options if value is not None}})


def _hashable(value):
    return tuple(value) if isinstance(value, (list, np.ndarray)) else value


def advantages(scores: Any, estimator: str, *, mask: Any = None, lengths: Any = None, **options: Any) -> Any:
    """The advantages of groups of scores.

    scores [groups, members] or, of one group, [members]: finite numbers. estimator: a word of `odrpo-bench list estimators`, such as
    "odrpo-gini-median(maxrl)". mask, in the shape of scores: a score is missing where it is 0 or False; the others are the group, and it gets 0.
    lengths, in the same shape, for opo alone: tokens of each response. Options set the estimator; those left out, or None, have the values of the
    paper or, with compat = "verl" or another trainer, of that trainer's code:

{options}

    Returns an array of the shape and the framework of scores, in their type of floats; float64 for integers and booleans (JAX without 64 bits makes float32
    of it). float64 and integers are computed in double, as `compute` does. float32 is computed in float by the tables of training where all scores are
    integers 0..100, which is much faster, and else in double. As `advantage` of `compute` it stops before the whitening of a batch, which `whiten` does.

    Raises ValueError for a score that is not finite and not masked (the message has its place), a shape, word or number that does not fit; TypeError for
    options that do not exist and for arrays of other types, or none.

    Source: docs/reference/estimators.md; `estimators/batch.cpp`, `estimators/definition.cpp`."""
    if "est" in options:
        raise TypeError('"est" is not an option: the estimator is the second argument')
    try:
        prepared = _estimator(estimator, tuple((k, v, type(v)) for k, v in sorted(options.items())))
    except TypeError:
        prepared = _estimator(estimator, tuple((k, _hashable(v), type(v)) for k, v in sorted(options.items())))
    return prepared(scores, mask, lengths)


def estimator_options() -> dict:
    """The options of `advantages` as a dict: name to what it is."""
    return {name: text for name, text, _ in _numerics.estimator_takes() if name != "est"}


if advantages.__doc__:  # not with -OO
    advantages.__doc__ = advantages.__doc__.replace("{options}", "\n".join(f"        {name}: {text}" for name, text in estimator_options().items()))


def posterior(model: Any, *, prior: str = "following", levels: Optional[int] = None, votes: int = 1) -> Callable[..., Any]:
    """A function of scores that returns their posterior means: E[quality | own score, all scores of the group], in levels.

    model: the judge that is believed in, in the world that it brings: a word of `odrpo-bench list raters`, a judge's file (.toml), or what `judge.fit`
    returned. prior: "fixed", "following" or "moments", the states of prompts as a run begins. levels: K, 2..100, of raters that take any (10). votes: how many
    calls a score is the aggregate of. The result is called with scores [groups, members] or [members], and with mask = ... as `advantages` is; a missing
    score gets NaN. `advantages(posterior(model)(scores), FORM)` is what posterior(FORM) computes before the first batch, for forms without the key `floor`.

    Raises ValueError for another model, prior or number of levels, and, when called, for a score that this judge cannot give. Models of files and of
    several votes are made by the program, once for each size of group.

    Source: docs/posterior.md; `estimators/posterior/posterior.cpp`."""
    if votes == 1 and isinstance(model, str) and not model.endswith(".toml"):
        try:
            return _numerics.Posterior(model, prior, 10 if levels is None else levels)
        except ValueError as why:
            if not str(why).startswith("rater: "):  # panels, and whatever else the program has
                raise
    return _ExportedPosterior(model, prior, levels, votes)


class _ExportedPosterior:
    """Posterior scores by the tables that `export-estimator` writes for groups of one size."""

    def __init__(self, model, prior, levels, votes):
        self._rater = model if isinstance(model, dict) else os.path.abspath(model) if str(model).endswith(".toml") else str(model)
        self._text = self._read()
        self._options = {"prior": prior, "levels": levels, "votes": votes, "estimator": "posterior(reinforce)"}
        self._models = {}
        self._model(2)  # refuses what is wrong at once

    def __call__(self, scores, mask=None):
        shape = np.shape(scores)
        return self._model(min(max(shape[-1], 2), 255) if shape else 2)(scores, mask)  # the sizes that `export-estimator` has

    def _read(self):
        """The text of a judge's file; None of other models."""
        if isinstance(self._rater, dict) or not self._rater.endswith(".toml"):
            return None
        with open(self._rater, encoding="utf-8") as file:
            return file.read()

    def _model(self, members):
        if members not in self._models:
            if self._read() != self._text:
                raise RuntimeError(f"{self._rater} has changed since `posterior` read it")
            with tempfile.TemporaryDirectory(prefix="odrpo-bench-") as folder:
                rater, tables = self._rater, os.path.join(folder, "tables.json")
                if isinstance(rater, dict):  # what judge.fit returned
                    rater = os.path.join(folder, "judge.toml")
                    with open(rater, "w", encoding="utf-8") as file:
                        file.write(self._rater["toml"])
                program.call("export-estimator", str(rater), *program.flags({**self._options, "group_size": members, "output": tables}))
                with open(tables, encoding="utf-8") as file:
                    self._models[members] = _numerics.Posterior(json.load(file))
        return self._models[members]
