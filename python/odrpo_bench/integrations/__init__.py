"""Estimators where people train: `integrations.verl` and `integrations.trl` (docs/trainers.md). Neither of the trainers is imported before it is used."""
import importlib.metadata
import warnings

import numpy as np

from ..compute import whiten
from ..numerics import advantages

TESTED = {"trl": "1.16", "verl": "0.9.1"}  # series of versions: 1.16 is 1.16.*


def refuse_untested(package):
    """Raises ImportError for a version of a trainer that these adapters were not tested with."""
    version = importlib.metadata.version(package)
    if not f"{version.split('+')[0]}.".startswith(TESTED[package] + "."):
        raise ImportError(f"{package} {version} is installed, and this adapter is tested with {package} {TESTED[package]} alone: "
                          f"pip install '{package}=={TESTED[package]}.*', or use a file of `odrpo-bench export-estimator`")


class BatchEstimator:
    """The advantages of a trainer's batch: `advantages` of an estimator, then the whitening of its convention."""

    def __init__(self, estimator, posterior, options):
        """estimator and options: as of `advantages`. posterior: `odrpo_bench.posterior(model)`, whose values then take the place of the scores, or None.

        Raises ValueError or TypeError, as `advantages` does, for what it does not take."""
        self.estimator, self.posterior, self.options = estimator, posterior, options
        self.reads_lengths = estimator == "opo"
        self(np.array([1.0, 2.0, 1.0, 2.0]), np.array([0, 0, 1, 1]), np.ones(4, int))

    def __call__(self, scores, group, lengths=None):
        """Advantages [n], in double. scores [n]: NaN is a missing score, which gets 0. group [n]: 0, 1, … the prompt of each response; groups may differ in
        size. lengths [n]: tokens of each response, for opo and for whitening over tokens, in which each response counts once without them.

        Raises ValueError for a score that is infinite, or none of the judge's of `posterior`; its place is [group, member]."""
        at = group, places_in_groups(group)
        shape = group.max() + 1, at[1].max() + 1
        padded, tokens = np.full(shape, np.nan), np.zeros(shape, int)
        padded[at] = scores
        tokens[at] = 1 if lengths is None else lengths
        here = ~np.isnan(padded)
        values = np.where(here, padded, 0)
        if self.posterior is None and self.estimator.startswith("odrpo") and (values <= 1).all() and ((values > 0) & (values < 1)).any():
            warnings.warn("scores are 0..1, and levels are 1, 2, ..: multiply them by the number of levels", stacklevel=2)
        if self.posterior is not None:
            values = np.where(here, self.posterior(values, mask=here), 0)
        result = advantages(values, self.estimator, mask=here, lengths=tokens if self.reads_lengths else None, **self.options)
        whitened = whiten(result.tolist(), self.estimator, compat=self.options.get("compat"), tokens=tokens.tolist(), kept=here.astype(int).tolist())
        return np.array(whitened, float)[at]


def places_in_groups(group):
    """The place 0, 1, … of each response [n] in its group, in order."""
    order, sizes = np.argsort(group, kind="stable"), np.bincount(group)
    places = np.empty(len(group), int)
    places[order] = np.arange(len(group)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return places
