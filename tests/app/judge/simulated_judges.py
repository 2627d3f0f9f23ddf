#!/usr/bin/env python3
# Simulates judges of known kinds with numpy alone, and writes their scores as a file that the program reads.
# Usage: simulated_judges.py KIND [NAME=VALUE ...] --prompts P --responses R --samples N --seed S [--rater] [--truth] [-o FILE.csv]
# It shares nothing with the program: what this simulator says of a judge is what commands of `judge` are held against.
#   judge = make("panel", judges=3, lasting=0.4)
#   rng = numpy.random.default_rng(1)
#   world = judge.world(200, 8, rng)              # responses, with their true quality
#   scores = judge.calls(world, range(4), rng)    # [200, 8, 4]; call it again for further independent calls about these responses
import argparse
import math
import sys
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np


@dataclass(frozen=True)
class Member:
    """One judge of a panel, on the scale on which responses have their places."""
    severity: float = 0.0  # added to every response
    stretch: float = 1.0   # by how much it exaggerates distances from the middle
    lasting: float = 0.0   # sd of an error about a response that all its calls share
    sigma: float = 1.0     # its error of a call is so many times Judge.sigma


@dataclass
class World:
    """Responses of P prompts: arrays [P, R]."""
    place: np.ndarray      # what a judge without errors hears: the quality in levels, or a place on a latent scale
    quality: np.ndarray    # true quality in levels
    hardness: np.ndarray   # factor of all errors about the response
    veto: np.ndarray       # probability that a call scores an ambiguous response 1; 0 of the others
    length: np.ndarray     # of the text, median 1; independent of quality
    lasting: np.ndarray    # [P, R, members] standard normal
    late: np.ndarray       # [P, 1]: of a prompt after Judge.changes_after


@dataclass(frozen=True)
class Judge:
    levels: int = 10
    # places: clip(N(mean, mean_sd) of the prompt + spread exp(spread_sd z) N(0, 1), 1, levels); of a latent scale N(0, 1) with
    # prompt_share of its variance between prompts, and thresholds between the levels
    mean: float = 6.9
    mean_sd: float = 1.8
    spread: float = 0.8
    spread_sd: float = 0.45
    thresholds: tuple = ()
    prompt_share: float = 0.3
    # a call hears place + hardness (lasting u + sigma e), e normal, or Student's t with `tails` degrees of freedom
    sigma: float = 0.5
    tails: float = 0.0
    hardness_of_prompts: float = 0.0    # sd of log hardness
    hardness_of_responses: float = 0.0
    # outliers, in this order: a score is mirrored, uniform, the highest, 1 (ambiguous responses: with a probability of their own), 1
    mirror: float = 0.0
    uniform: float = 0.0
    high: float = 0.0
    veto: float = 0.0      # share of ambiguous responses
    low: float = 0.0
    long_low: float = 0.0  # a call scores a very long response 1 with this probability, a short one hardly ever
    # who answers in sample column c: member c // block (modulo their number); block 0: in turn, c modulo their number;
    # replaced_at > 0: member 0 before that column, member 1 from there on
    members: tuple = (Member(),)
    block: int = 0
    replaced_at: int = 0
    drift: float = 0.0     # severity added per column
    # from this share of the prompts on the judge is another one
    changes_after: float = 1.0
    late_severity: float = 0.0
    late_sigma: float = 1.0

    def middle(self):
        return 0.0 if self.thresholds else self.mean

    def edges(self):
        """Places between the levels."""
        return np.array(self.thresholds) if self.thresholds else np.arange(1, self.levels) + 0.5

    def member_of(self, column):
        if self.replaced_at:
            return int(column >= self.replaced_at)
        return column // max(self.block, 1) % len(self.members)

    def column_of(self, member):
        """The first column in which it answers."""
        return member * (self.replaced_at or max(self.block, 1))

    def world(self, prompts, responses, rng, places=None):
        """Fresh responses; with `places` those of another world: equal quality, all that errors depend on drawn anew."""
        shape = (prompts, responses)
        if places is None:
            b, e = rng.normal(size=(prompts, 1)), rng.normal(size=shape)
            if self.thresholds:
                places = math.sqrt(self.prompt_share) * b + math.sqrt(1 - self.prompt_share) * e
            else:
                spread = self.spread * np.exp(self.spread_sd * rng.normal(size=(prompts, 1)))
                places = np.clip(self.mean + self.mean_sd * b + spread * e, 1, self.levels)
        hardness = np.exp(self.hardness_of_prompts * rng.normal(size=(prompts, 1)) +
                          self.hardness_of_responses * rng.normal(size=shape))
        veto = np.where(rng.random(shape) < self.veto, rng.random(shape), 0)
        quality = self.expected_score(places) if self.thresholds else places
        late = (np.arange(prompts) >= self.changes_after * prompts)[:, None]
        return World(places, quality, hardness, veto, np.exp(0.7 * rng.normal(size=shape)), rng.normal(size=shape + (len(self.members),)), late)

    def expected_score(self, places):
        """Mean score over members, hardness of responses and errors; of judges on a latent scale without outliers."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(15)
        grid = np.linspace(-8, 8, 801)
        total = np.zeros(grid.shape)
        for m in self.members:
            heard = m.stretch * grid + m.severity
            sd = math.hypot(m.lasting, self.sigma * m.sigma)
            for z, w in zip(nodes, weights / weights.sum()):
                s = sd * math.exp(self.hardness_of_responses * z)
                total += w * sum(_normal_below((heard - t) / s) for t in self.thresholds)
        return np.interp(places, grid, 1 + total / len(self.members))

    def calls(self, world, columns, rng):
        """Scores 1..levels [P, R, columns] of one call in each of these columns; columns may repeat."""
        return np.stack([self._call(world, c, rng) for c in columns], axis=-1)

    def _call(self, world, column, rng):
        shape = world.place.shape
        j = self.member_of(column)
        m = self.members[j]
        error = rng.standard_t(self.tails, shape) if self.tails else rng.normal(size=shape)
        error = m.lasting * world.lasting[..., j] + self.sigma * m.sigma * np.where(world.late, self.late_sigma, 1) * error
        heard = self.middle() + m.stretch * (world.place - self.middle()) + m.severity + self.drift * column
        heard = heard + np.where(world.late, self.late_severity, 0) + world.hardness * error
        score = 1 + np.searchsorted(self.edges(), heard, side="right")
        hits = lambda p: rng.random(shape) < p
        score = np.where(hits(self.mirror), self.levels + 1 - score, score)
        score = np.where(hits(self.uniform), rng.integers(1, self.levels + 1, shape), score)
        score = np.where(hits(self.high), self.levels, score)
        by_length = self.long_low / (1 + np.exp(-4 * np.log(world.length / 2)))  # half of it at twice the median length
        for p in (world.veto, self.low, by_length):
            score = np.where(hits(p), 1, score)
        return score


_normal_below = np.vectorize(lambda z: 0.5 * math.erfc(-z / math.sqrt(2)), otypes=[float])


# --- kinds

# The program's presets (`odrpo-bench list raters`): sd of a call's error, sd over prompts of its log, outliers, places.
_MIXED_WORLD = dict(mean=7.2, mean_sd=1.8, spread=0.8, spread_sd=0.4)
_PRESETS = {
    "mixed": (0.47, 0.2, dict(high=0.002, veto=0.03, low=0.01), _MIXED_WORLD),
    "veto": (0.39, 0.2, dict(veto=0.08, low=0.01), dict(mean=7.4, mean_sd=1.7, spread=0.7, spread_sd=0.4)),
    "wide": (0.92, 0.2, dict(high=0.005, veto=0.03, low=0.01), dict(mean=6.8, mean_sd=2.6, spread=1.6, spread_sd=0.4)),
    "gauss": (0.52, 0.25, {}, dict(mean=6.9, mean_sd=1.8, spread=0.8, spread_sd=0.45)),
    "gauss16": (1.6, 0.2, {}, _MIXED_WORLD),
    "hetero": (0.8, 0.9, {}, _MIXED_WORLD),
    "low5": (0.47, 0.2, dict(low=0.05), _MIXED_WORLD),
    "low20": (0.47, 0.2, dict(low=0.2), _MIXED_WORLD),
    "high10": (0.47, 0.2, dict(high=0.1), _MIXED_WORLD),
    "uniform10": (0.47, 0.2, dict(uniform=0.1), _MIXED_WORLD),
    "mirror10": (0.47, 0.2, dict(mirror=0.1), _MIXED_WORLD),
    "hardhigh": (0.47, 0.2, dict(high=0.03), {**_MIXED_WORLD, "mean": 3.0}),
    "easylow": (0.47, 0.2, dict(low=0.1), {**_MIXED_WORLD, "mean": 8.8, "mean_sd": 1.0}),
}


def preset(name, **changes):
    sigma, over_prompts, outliers, places = _PRESETS[name]
    return replace(Judge(sigma=sigma, hardness_of_prompts=over_prompts, **outliers, **places), **changes)


def latent(levels=6, sigma=0.4, spread=0.4, lasting=0.0, prompt_share=0.3, skew=0.0, **changes):
    """One smooth judge on a latent scale. The levels are about equally frequent at skew 0; at skew 3 the highest is 20 times the lowest."""
    share = np.exp(skew * np.arange(levels) / (levels - 1))
    normal = NormalDist(0, math.sqrt(1 + (sigma ** 2 + lasting ** 2) * math.exp(2 * spread ** 2)))
    edges = tuple(normal.inv_cdf(c) for c in (np.cumsum(share) / share.sum())[:-1])
    return replace(Judge(levels=levels, sigma=sigma, hardness_of_responses=spread, prompt_share=prompt_share, thresholds=edges,
                         members=(Member(lasting=lasting),)), **changes)


def panel(judges=4, block=2, severity=0.5, stretch=0.1, lasting=0.3, unequal=0.2, draw=1, base="gauss", **of_base):
    """Judges in blocks of `block` columns, or in turn (0). sds over judges: severity, log of stretch, log of sigma (unequal)."""
    rng = np.random.default_rng([draw, judges])
    z = rng.normal(size=(judges, 3))
    members = tuple(Member(severity * a, math.exp(stretch * b), lasting, math.exp(unequal * c)) for a, b, c in z)
    return replace(make(base, **of_base), members=members, block=block)


def drift(slope=0.15, base="gauss", **of_base):
    """One judge that gets milder with every sample column, by `slope` levels (or sds of a latent scale)."""
    return replace(make(base, **of_base), drift=slope)


def replaced(after=4, late_severity=-0.8, late_sigma=1.3, lasting=0.3, base="gauss", **of_base):
    """A judge that answers in columns 0..after-1, and another one that answers in later columns."""
    members = (Member(lasting=lasting), Member(late_severity, 1.0, lasting, late_sigma))
    return replace(make(base, **of_base), replaced_at=after, members=members)


def heavy(tails=2.0, sigma=0.4, **changes):
    """Errors of a call with heavy tails: Student's t."""
    return preset("mixed", sigma=sigma, tails=tails, high=0.0, veto=0.0, low=0.0, **changes)


def length(most=0.4, base="gauss", **of_base):
    """A judge that scores long responses 1, the longer the more often."""
    return replace(make(base, **of_base), long_low=most)


def midway(after=0.5, late_severity=-1.0, late_sigma=2.0, base="gauss", **of_base):
    """A judge that is another one from a share of the prompts on."""
    return replace(make(base, **of_base), changes_after=after, late_severity=late_severity, late_sigma=late_sigma)


KINDS = {**{name: lambda name=name, **changes: preset(name, **changes) for name in _PRESETS}, "latent": latent, "panel": panel,
         "drift": drift, "replaced": replaced, "heavy": heavy, "length": length, "midway": midway}


def make(kind, **parameters):
    """The judge of that kind. Parameters: those of its function above, and fields of Judge."""
    return KINDS[kind](**parameters)


# --- what scores that nobody has seen say of a judge

def far_pairs(scores, levels=10, share=0.4):
    """Share of pairs of calls about a response that lie at least this share of the scale apart: on 1..10 four levels or more."""
    n = scores.shape[-1]
    apart = [np.abs(scores[..., a] - scores[..., b]) >= share * (levels - 1) for a in range(n) for b in range(a)]
    return float(np.mean(apart))


def halves(scores):
    """Of the mean of the first half of a response's calls and that of the second: sd of their difference, correlation over responses."""
    n = scores.shape[-1] // 2
    first, second = scores[..., :n].mean(axis=-1).ravel(), scores[..., n:2 * n].mean(axis=-1).ravel()
    return float(np.std(first - second, ddof=1)), float(np.corrcoef(first, second)[0, 1])


def error_variance(judge, columns, rng, prompts=4000, responses=8):
    """Variance of the mean of calls in these columns, given quality, without what moves all responses of a prompt alike."""
    one = judge.world(prompts, responses, rng)
    other = judge.world(prompts, responses, rng, one.place)
    difference = (judge.calls(one, columns, rng) - judge.calls(other, columns, rng)).mean(axis=-1)
    return float(np.mean(np.var(difference, axis=1, ddof=1)) / 2)


def worth(judge, calls, rng, prompts=4000, responses=8):
    """How many independent calls that many calls about a response are worth, the members of a panel in turn: a ratio of variances."""
    j = len(judge.members)
    columns = lambda first, n: [judge.column_of((first + i) % j) for i in range(n)]
    variance = lambda n: np.mean([error_variance(judge, columns(first, n), rng, prompts, responses) for first in range(j)])
    return float(variance(1) / variance(calls))


# --- files

def write_scores(path, scores, judge=None, quality=None):
    """Scores [P, R, N] as CSV; with a judge its members are a column rater_id, with quality the truth is a column gold."""
    rater = [f",{judge.member_of(c)}" if judge else "" for c in range(scores.shape[2])]
    lines = ["prompt_id,response_id,sample_id" + (",rater_id" if judge else "") + ",score" + (",gold" if quality is not None else "")]
    for p, responses in enumerate(scores.tolist()):
        for r, row in enumerate(responses):
            gold = "" if quality is None else f",{quality[p, r]:.4f}"
            lines += [f"{p},{r},{c}{rater[c]},{score}{gold}" for c, score in enumerate(row)]
    text = "\n".join(lines) + "\n"
    if path == "-":
        sys.stdout.write(text)
    else:
        with open(path, "w") as file:
            file.write(text)


def _value(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Scores of a simulated judge as CSV.", epilog="kinds: " + ", ".join(KINDS))
    parser.add_argument("kind", choices=KINDS, metavar="KIND")
    parser.add_argument("parameters", nargs="*", metavar="NAME=VALUE", help="parameters of the kind, such as judges=3 base=latent levels=5")
    parser.add_argument("--prompts", type=int, default=200)
    parser.add_argument("--responses", type=int, default=8)
    parser.add_argument("--samples", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rater", action="store_true", help="a column rater_id: which member of a panel answered")
    parser.add_argument("--truth", action="store_true", help="a column gold: the true quality in levels")
    parser.add_argument("-o", "--output", default="-")
    o = parser.parse_intermixed_args(arguments)
    if bad := [p for p in o.parameters if "=" not in p]:
        parser.error(f"not NAME=VALUE: {' '.join(bad)}")
    try:
        judge = make(o.kind, **{name: _value(value) for name, _, value in (p.partition("=") for p in o.parameters)})
    except (KeyError, TypeError) as unknown:
        parser.error(f"{o.kind}: {unknown}")
    rng = np.random.default_rng(o.seed)
    world = judge.world(o.prompts, o.responses, rng)
    scores = judge.calls(world, range(o.samples), rng)
    write_scores(o.output, scores, judge if o.rater else None, world.quality if o.truth else None)


if __name__ == "__main__":
    main()
