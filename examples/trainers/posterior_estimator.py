# Posterior scores in a trainer: reads what `odrpo-bench export-estimator` wrote, and has the shapes of verl and TRL. Needs numpy alone.
"""Use:

    posterior = Posterior("table.json")                                  # of an exported .py: Posterior()
    values = posterior.values(scores)                                    # [B, G] to [B, G]
    advantages, returns = posterior.verl(token_level_rewards, response_mask, index)
    advantages = posterior.trl(rewards, num_generations)

numpy arrays give numpy arrays; torch tensors give tensors of their type and device. docs/export-estimator.md of odrpo-bench explains the file."""
import json

import numpy as np

FORMAT, VERSION = "odrpo-bench posterior estimator", 2
DATA = ""  # of an exported .py: its tables, JSON
LOG_NEVER = -700.0  # log P of a score that a state never gives
LEAST_RANGE = 1e-9  # levels; values of a group that differ by less are equal
LEAST_VARIANCE = 0.01  # levels^2; of moments


def load(path=None):
    """The named arrays of a .json file, or of a .npz file that numpy made of them; without a path those of this module."""
    if path is None and not DATA:
        raise ValueError("no path is given, and this module holds no estimator: odrpo-bench export-estimator -o FILE.py writes one that does")
    if str(path).endswith(".npz"):
        with np.load(path) as file:
            tables = {name: file[name] for name in file.files}
    else:
        text = DATA
        if path is not None:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        tables = {name: np.array(x, float if isinstance(x, list) else None) for name, x in json.loads(text).items()}
    if str(tables.get("format")) != FORMAT or tables.get("format_version") != VERSION:
        raise ValueError(f"{path} is no posterior estimator of format {VERSION}")
    return tables


def log_of(p):
    return np.log(np.maximum(p, np.exp(LOG_NEVER)))


def numbers(x):
    """x in double, and what turns such an array into the kind of x: torch is not imported, its tensors know how."""
    if not hasattr(x, "detach"):
        return np.asarray(x, float), lambda y: y
    real = x if x.is_floating_point() else x.float()
    return x.detach().cpu().double().numpy(), lambda y: real.new_tensor(y)


class Posterior:
    """E[quality | own score, all scores of the group], and the prior that moves from batch to batch."""

    def __init__(self, path=None):
        self.tables = t = load(path)
        self.form, self.rule = str(t["form"]), str(t["prior_rule"])
        self.lowest, self.per_level, self.keep = int(t["lowest"]), int(t["per_level"]), float(t["keep"])
        self.floor = str(t["floor"])  # "posterior", or levels
        self.log_likelihood, self.expected, self.variance = log_of(t["likelihood"]), t["expected"], t["variance"]  # [states, scores]
        self.prior = np.array(t["prior"])  # [states]
        self.moments = np.array(t["moments"]) if self.rule == "moments" else np.zeros(0)  # mean, variance, square
        rows = zip(t["histograms"].astype(np.uint16), t["values"], t["variances"]) if "histograms" in t else ()
        self.map = {histogram.tobytes(): (value, open) for histogram, value, open in rows}

    def values(self, scores, update=True):
        """values[B, G] of scores[B, G], a batch of groups; NaN where a score is missing. A prior that moves then takes over what the batch
        shows; update=False leaves it as it is, as for a validation set."""
        scores, like = numbers(scores)
        if scores.ndim != 2:
            raise ValueError(f"scores of a batch are [groups, members], not {scores.shape}; one group is [[3, 7, 7, 9]]")
        group = np.repeat(np.arange(len(scores)), scores.shape[1])
        return like(self._values(scores.ravel(), group, len(scores), update)[0].reshape(scores.shape))

    def _values(self, scores, group, groups, update):
        """value[n] of score[n] in group[n] = 0..groups-1: P(c | group) ~ P(c) prod_k P(k | c)^n_k, value = sum_c P(c | group) E[q | k, c].
        And open[groups]: mean over members of Var(q - mean q | group)."""
        number = self._number(scores)
        here = number >= 0
        counts = np.zeros((groups, self.expected.shape[1]))
        np.add.at(counts, (group[here], number[here]), 1)
        known = [self.map.get(histogram.tobytes()) for histogram in counts.astype(np.uint16)] if self.map else [None] * groups
        if any(k is None for k in known):
            weight = log_of(self.prior) + counts @ self.log_likelihood.T
            weight = np.exp(weight - weight.max(axis=1, keepdims=True))
            weight /= weight.sum(axis=1, keepdims=True)
            row = weight @ self.expected
            low = np.where(counts > 0, row, np.inf).min(axis=1, keepdims=True)
            high = np.where(counts > 0, row, -np.inf).max(axis=1, keepdims=True)
            open = self._open(counts, weight, row)
            row = np.where(high - low < LEAST_RANGE, low, row)
            if update and self.rule != "fixed":
                self._move(counts, weight)
        else:
            row, open = [value for value, _ in known], np.array([variance for _, variance in known])
        value = np.full(len(scores), np.nan)
        if here.any():
            value[here] = np.asarray(row)[group[here], number[here]]
        return value, open

    def _open(self, counts, weight, row):
        """E[(1/G) sum (q - mean q)^2 | group] less the variance of the values, of groups with these counts[B, scores]."""
        size = np.maximum(counts.sum(axis=1, keepdims=True), 1)
        share = counts / size
        mean = share @ self.expected.T  # [B, states]
        squares = weight @ self.expected**2 + (1 - 1 / size) * (weight @ self.variance)
        known = (share * row**2).sum(axis=1) - (share * row).sum(axis=1) ** 2
        return np.maximum((share * squares).sum(axis=1) - (weight * mean**2).sum(axis=1) - known, 0)

    def _number(self, scores):
        """The numbers 0, 1, … of scores in the tables; -1 where there is none."""
        here, last = ~np.isnan(scores), self.expected.shape[1] - 1
        at = np.where(here, np.clip((scores - self.lowest) * self.per_level, -1, last + 1), 0)
        number = np.floor(at + 0.5)
        bad = (at < -0.01) | (at > last + 0.01) | ((np.abs(at - number) > 0.01) & (self.per_level == 1))
        if bad.any():
            kind = "whole scores" if self.per_level == 1 else "scores"
            raise ValueError(f"{scores[bad][0]} is none of the judge's {kind} {self.lowest}..{self.lowest + last // self.per_level}")
        return np.where(here, np.clip(number, 0, last), -1).astype(int)

    def _move(self, counts, weight):
        """The prior after a batch with these counts[B, scores] and P(c | group)[B, states]."""
        if self.rule == "following":
            self.prior = self.keep * self.prior + (1 - self.keep) * weight.mean(axis=0)
            return
        centre, size = self.tables["centre"], counts.sum(axis=1)
        mean, second = (weight @ centre).mean(), (weight @ centre**2).mean()
        square = (counts * (weight @ self.tables["square"])).sum(axis=1)
        square = np.where(size > 0, square / np.maximum(size, 1), self.moments[2]).mean()
        now = np.array([mean, max(second - mean * mean, LEAST_VARIANCE), max(square, LEAST_VARIANCE)])
        self.moments = self.keep * self.moments + (1 - self.keep) * now
        self._prior_of_moments()

    def _prior_of_moments(self):
        """Normal centres, log-normal spreads."""
        mean, variance, square = self.moments
        sd = self.tables["log_spread_sd"]
        b = (self.tables["centre"] - mean) / np.sqrt(variance)
        s = (self.tables["log_spread"] - (0.5 * np.log(square) - sd * sd)) / sd
        prior = np.exp(np.maximum(-0.5 * (b * b + s * s), LOG_NEVER))
        self.prior = prior / prior.sum()

    def state(self):
        """What a checkpoint of the training keeps: plain lists of numbers, for torch.save or JSON."""
        return {"prior_rule": self.rule, "prior": self.prior.tolist(), "moments": self.moments.tolist()}

    def restore(self, state):
        prior, moments = np.array(state["prior"], float), np.array(state["moments"], float)
        if state["prior_rule"] != self.rule or prior.shape != self.prior.shape or moments.shape != self.moments.shape:
            raise ValueError("this state belongs to another estimator")
        self.prior, self.moments = prior, moments

    def verl(self, token_level_rewards, response_mask, index, update=True, **_):
        """verl's advantage estimators: (advantages, returns)[bs, T] of token_level_rewards[bs, T], response_mask[bs, T] and the prompts'
        uids index[bs]. A response's score is the sum of its rewards. GRPO divides by sd (ddof 1, raised by the floor) + 1e-6."""
        rewards, like = numbers(token_level_rewards)
        place = {}
        group = np.array([place.setdefault(uid, len(place)) for uid in getattr(index, "tolist", lambda: list(index))()], int)
        advantages = self._advantages(rewards.sum(axis=-1), group, len(place), 1e-6, update)
        out = like(advantages[:, None] * numbers(response_mask)[0])
        return out, out

    def trl(self, rewards, num_generations, update=True):
        """As TRL's GRPOTrainer: advantages[B * G] of rewards[B * G], groups of num_generations in a row. GRPO divides by sd (ddof 1, raised by the floor) + 1e-4."""
        rewards, like = numbers(rewards)
        if rewards.ndim != 1 or num_generations < 1 or len(rewards) % num_generations:
            raise ValueError(f"rewards of shape {rewards.shape} are no groups of {num_generations}")
        groups = len(rewards) // num_generations
        return like(self._advantages(rewards, np.repeat(np.arange(groups), num_generations), groups, 1e-4, update))

    def _advantages(self, scores, group, groups, eps, update):
        """The form of posterior scores, group by group; 0 where there is no score, in a group of one and where all values are equal."""
        if self.form not in ("grpo", "reinforce", "rloo", "maxrl"):
            raise ValueError(f"verl and TRL have no {self.form}: take values() and apply it yourself")
        if len(scores) != len(group):
            raise ValueError(f"{len(scores)} scores, but {len(group)} members of groups")
        value, open = self._values(scores, group, groups, update)
        here = ~np.isnan(value)
        low, high = np.full(groups, np.inf), np.full(groups, -np.inf)
        np.minimum.at(low, group[here], value[here])
        np.maximum.at(high, group[here], value[here])
        here &= (high - low >= LEAST_RANGE)[group]

        def sums(x):
            return np.bincount(group[here], x[here], minlength=groups)

        size = np.maximum(sums(np.ones(len(value))), 2)  # groups that count have two members or more
        mean = sums(value) / size
        away = np.where(here, value - mean[group], 0)
        if self.form == "grpo":
            floor = open if self.floor == "posterior" else float(self.floor) ** 2
            return away / (np.sqrt((sums(away**2) + size * floor) / (size - 1)) + eps)[group]
        if self.form == "rloo":
            return away * (size / (size - 1))[group]
        return away / np.where(here, mean[group] + 1e-6, 1) if self.form == "maxrl" else away
