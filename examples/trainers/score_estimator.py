# The parts of the Python modules that `odrpo-bench export-estimator` writes of estimators that need the scores alone. Lines from `#: WORDS` to `#:`, and a line that
# ends with `#: WORDS`, are for estimators with one of the words (of WORD+WORD: with both); what stands before the first `#:` is for none. app/export/score_module.cpp
# has the words, and sets the constants. The whole is Python too.
#:
"""Use:

    advantages(scores)                                    # [groups, members] to the same shape; NaN is a missing score
    verl(token_level_rewards, response_mask, index)       # verl's (advantages, returns); register() tells verl of it
    trl(rewards, num_generations)                         # TRL's advantages[B * G] of rewards[B * G]

numpy arrays and lists give numpy arrays; torch tensors give tensors of their type, on their device. Everything is computed in double.
As a program, the file answers odrpo-bench: [estimator.NAME] command = "python3 FILE.py"."""
import json
import sys
import warnings  #: odrpo odrpo-bitwise

import numpy as np

NAME = "grpo_verl"
DDOF = 0  #: deviation others
EPS = 0  #: grpo rank-grpo maxrl arena dgae qae grpo-passk odrpo odrpo-bitwise
SINGLE = 1  # what a group of one gets for each unit of its score  #: single
K = 2  # size of the subsets  #: max-at-k max-at-k-centred
KAPPA = 0.4  # share of the group that does not exceed the quantile  #: qae
R_MIN = 1  # the lowest acceptable score  #: corpo
VALUES = [1, 2]  # what the levels 1, 2, .. are worth  #: values
MAD_EPS = 0.001  #: mc-grpo
WHITEN_DDOF = 0  #: whiten-response whiten-token
WHITEN_EPS = 0  #: whiten-response whiten-token


def doubles(x):
    """x in double, the library that computes with it, and what gives a result the type of x."""
    if not hasattr(x, "detach"):
        return np.array(x, float), np, lambda a: a
    import torch
    kind = x.dtype if x.is_floating_point() else torch.get_default_dtype()
    return x.detach().double(), torch, lambda a: a.to(kind)


def sums(x):
    return x.sum(1, keepdims=True)


def advantages(scores):
    """Advantages of scores[groups, members]. A missing score (NaN) gets 0, and the others are the group."""
    x, lib, like = doubles(scores)
    if x.ndim != 2:
        raise ValueError(f"scores are [groups, members], not {tuple(x.shape)}; one group is [[3, 7, 7, 9]]")
    if 0 in x.shape:
        return like(x)
    check(x, lib)
    x = x - 1  # the origin: 0..K-1  #: origin-0+plain
    x = worth(x, lib) - 1  # the origin  #: origin-0+values
    x = worth(x, lib)  #: reinforce+values rloo+values grpo+values maxrl+origin-1+values mc-grpo+values dgae+values qae+values grpo-passk+values corpo+values
    here = ~lib.isnan(x)
    low = lib.amin(lib.where(here, x, np.inf), 1, keepdims=True)
    x = lib.where(here, x, low)
    n = sums(lib.ones_like(x) * here)
    a = lib.zeros_like(x)
    alive = (x != low).any(1)
    alive = (n > 0)[:, 0]  # equal scores may be too low  #: corpo
    if alive.any():
        a[alive] = formula(x[alive], here[alive], n[alive], lib)
    one = (n == 1)[:, 0]  #: single
    if one.any():  #: single
        a[one] = SINGLE * x[one]  #: single+reinforce single+rloo single+grpo single+maxrl
        a[one] = SINGLE * x[one].clip(0)  #: single+unweighted
        a[one] = SINGLE * integral(0 * x[one], x[one], lambda k: 1, lib)  #: single+weighted+uniform
        a[one] = SINGLE * integral(0 * x[one], x[one], lambda k: k, lib)  #: single+linear
        a[one] = SINGLE * integral(0 * x[one], x[one], lambda k: 0.1 * k**0.5, lib)  # mu = 1  #: single+gini single+gini-median
        a[one] = SINGLE * (x[one] - 1).clip(0)  #: single+odrpo-bitwise
    return like(lib.where(here, a, 0.0))


def check(x, lib):
    if lib.isinf(x).any():
        raise ValueError("a score is a finite number, or NaN where it is missing")
    #: values
    if ((x < 0) | (x > len(VALUES))).any():
        raise ValueError(f"a score is a number from 0 to {len(VALUES)}, as many as there are values")
    #:
    #: weighted+plain convex-reinforce+plain
    if (x > 1e6).any():
        raise ValueError("the sum over the levels of a score takes scores up to 1e6")
    #:
    #: odrpo-bitwise
    if ((x < 0) | (x > 1e6) | ((x != lib.floor(x)) & ~lib.isnan(x))).any():
        raise ValueError("a score is a whole number from 0 to 1e6: other numbers have no bits")
    #:


#: reinforce+values rloo+values grpo+values maxrl+values mc-grpo+values dgae+values qae+values grpo-passk+values corpo+values
def worth(x, lib):
    """What a score is worth: linear between the levels, and from 0 at score 0 to that of level 1."""
    r = 0 * x
    for k, (low, high) in enumerate(zip([0, *VALUES], [*VALUES, VALUES[-1]])):
        r = lib.where(x >= k, low + (x - k) * (high - low), r)
    return r


#:
#: reinforce rloo grpo rank-grpo maxrl convex-reinforce gopo arena dgae qae grpo-passk corpo
def centred(x, here, n, lib):
    """x - mean of the group. The lowest value is subtracted before averaging, so that a common offset costs no digits."""
    d = lib.where(here, x - lib.amin(lib.where(here, x, np.inf), 1, keepdims=True), 0.0)
    return lib.where(here, d - sums(d) / n, 0.0)


#:
#: grpo rank-grpo arena qae grpo-passk
def deviation(d, n, lib):
    """sqrt(sum of d^2 / (n - DDOF)) of centred d. The largest is taken out, so that no square leaves the range of doubles."""
    largest = lib.amax(abs(d), 1, keepdims=True)
    d = d / lib.where(largest > 0, largest, 1.0)
    return largest * lib.sqrt(sums(d * d) / (n - DDOF).clip(1))


#:
#: reinforce
def formula(x, here, n, lib):
    return centred(x, here, n, lib)


#:
#: rloo
def formula(x, here, n, lib):
    return centred(x, here, n, lib) * n / (n - 1)


#:
#: grpo+deviation
def formula(x, here, n, lib):
    d = centred(x, here, n, lib)
    return d / (deviation(d, n, lib) + EPS)


#:
#: grpo+others
def formula(x, here, n, lib):
    own = centred(x, here, n, lib) * n / (n - 1)  # r - mean of the others
    divisor = lib.ones_like(x)
    for i in range(x.shape[1]):
        others = here & True
        others[:, i] = False
        m = sums(lib.ones_like(x) * others)
        sd = deviation(centred(x, others, m, lib), m, lib)[:, 0]
        divisor[:, i] = lib.where(sd > 0, sd + EPS, 1.0)
    return own / divisor


#:
#: rank-grpo gopo arena
def ranks(x, here, lib):
    """The ranks 1, 2, .. of scores, the lowest first."""
    order = x.argsort(1)
    row = lib.ones_like(order[:, :1]).cumsum(0) - 1
    s = x[row, order]
    for i in range(1, x.shape[1]):  # scores that differ by rounding alone are equal
        s[:, i] = lib.where(s[:, i] - s[:, i - 1] < 1e-9 * lib.amax(abs(x), 1), s[:, i - 1], s[:, i])
    r, rank = lib.zeros_like(x), 0.5 * lib.ones_like(x)
    r[row, order] = s
    for i in range(x.shape[1]):  # equal scores share the mean of their ranks
        rank = rank + here[:, i:i + 1] * (1.0 * (r[:, i:i + 1] < r) + 0.5 * (r[:, i:i + 1] == r))
    return rank


#:
#: rank-grpo arena
def formula(x, here, n, lib):
    d = centred(ranks(x, here, lib), here, n, lib)  #: rank-grpo
    d = centred(ranks(x, here, lib) / (n - 1), here, n, lib)  # of places from 0 = worst to 1 = best  #: arena
    sd = deviation(d, n, lib)
    return d / lib.where(sd > 0, sd + EPS, 1.0)


#:
#: gopo
def formula(x, here, n, lib):
    return 4 / (n - 1) * centred(ranks(x, here, lib), here, n, lib)


#:
#: corpo
def formula(x, here, n, lib):
    d = centred(x, here, n, lib)
    return lib.where(d < x - R_MIN, d, x - R_MIN)


#:
#: dgae
def formula(x, here, n, lib):
    d = centred(x, here, n, lib)
    return n * d / (sums(abs(d)) + EPS)


#:
#: qae grpo-passk
def ascending(x, lib):
    """Rows in ascending order. Missing members have the lowest score, and come among the first."""
    order = x.argsort(1)
    return x[lib.ones_like(order[:, :1]).cumsum(0) - 1, order]


#:
#: qae
def formula(x, here, n, lib):
    s, place = ascending(x, lib), lib.ones_like(x).cumsum(1) - (x.shape[1] - n)  # 1..n of those that are there
    quantile = lib.amin(lib.where((place >= 1) & (place / n >= KAPPA), s, np.inf), 1, keepdims=True)
    return (x - quantile) / (deviation(centred(x, here, n, lib), n, lib) + EPS)


#:
#: grpo-passk
def formula(x, here, n, lib):
    s = ascending(x, lib)
    over = lib.where(here & (x == s[:, -1:]), s[:, -1:] - s[:, -2:-1], 0.0)
    return over / (deviation(centred(x, here, n, lib), n, lib) + EPS)


#:
#: maxrl
def formula(x, here, n, lib):
    total = lost = lib.zeros_like(x[:, 0])
    for v in lib.where(here, x, 0.0).T:  # Neumaier's sum: cancellation costs no digits
        before, total = total, total + v
        lost = lost + lib.where(abs(before) >= abs(v), (before - total) + v, (v - total) + before)
    mean = (total + lost)[:, None] / n
    d = centred(x, here, n, lib)
    return d / (mean + EPS)  #: no-guard
    good = mean > 1e-12 * lib.amax(abs(x), 1, keepdims=True)  # zeros where the mean is not positive  #: guard
    return lib.where(good, d / lib.where(good, mean + EPS, 1.0), 0.0)  #: guard


#:
#: mc-grpo
def median(x, n, lib):
    """The lower median of rows in which missing members have the lowest value."""
    order = x.argsort(1)
    row = lib.ones_like(order[:, :1]).cumsum(0) - 1
    place = lib.ones_like(x).cumsum(1) - 1 - (x.shape[1] - n)
    return sums(lib.where(place == lib.floor((n - 1) / 2), x[row, order], 0.0))


def formula(x, here, n, lib):
    d = lib.where(here, x - median(x, n, lib), 0.0)
    return d / (median(abs(d), n, lib) + MAD_EPS) * (n / sums(lib.ones_like(x) * (d != 0)))


#:
#: convex-reinforce weighted
def integral(low, high, weight, lib):
    """Of the weight over (low, high]: level k counts by the part of (k - 1, k] that lies in between."""
    total = lib.zeros_like(high)
    for k in range(max(1, int(np.floor(float(low.min()))) + 1), int(np.ceil(float(high.max()))) + 1):  #: plain
        total = total + weight(k) * (high.clip(None, k) - low.clip(k - 1, None)).clip(0)  #: plain
    for k, (below, value) in enumerate(zip([0, *VALUES], VALUES), 1):  #: values
        total = total + weight(k) * (value - below) * (high.clip(None, k) - low.clip(k - 1, None)).clip(0)  #: values
    return total


#:
#: convex-reinforce
def formula(x, here, n, lib):
    return centred(integral(0 * x, x, lambda k: k**0.5, lib), here, n, lib)


#:
#: max-at-k max-at-k-centred
def all_miss(missed, n):
    """C(missed, K-1) / C(n-1, K-1): the probability that K - 1 of n - 1 others all miss a level that `missed` of them miss."""
    p = 1.0
    for j in range(K - 1):
        p = p * (missed - j).clip(0) / (n - 1 - j).clip(1)
    return p


#:
#: max-at-k
def shares(w, count, n, lib):
    """What a level of weight w adds to the members that reach it, `count` of n, and to the others."""
    return w * all_miss(n - count, n), 0 * w


#:
#: max-at-k-centred
def shares(w, count, n, lib):
    """What a level of weight w adds to the members that reach it, `count` of n, and to the others."""
    w = w * all_miss(n - count - 1, n) / (n - K).clip(1)
    return w * (n - count), -w * count


#:
#: odrpo+deviation odrpo-bitwise+deviation
def shares(w, count, n, lib):
    """What a level (or bit) of weight w adds to the members that reach it, `count` of n, and to the others."""
    w = w / (lib.sqrt(count * (n - count) / (n * (n - DDOF))) + EPS)
    return w * (n - count) / n, -w * count / n


#:
#: odrpo+mean odrpo-bitwise+mean
def shares(w, count, n, lib):
    """What a level or bit of weight w adds to the members that reach it, `count` of n, and to the others."""
    w = w / (count / n + EPS)
    return w * (n - count) / n, -w * count / n


#:
#: odrpo+others odrpo-bitwise+others
def shares(w, count, n, lib):
    """What a level or bit of weight w adds to the members that reach it, `count` of n, and to the others."""
    m = n - 1

    def divisor(of):  # the deviation of the m others, `of` of whom reach the level; 1 where they do not differ
        sd = lib.sqrt(of * (m - of) / (m * (m - DDOF).clip(1)))
        return lib.where(sd > 0, sd + EPS, 1.0)

    return w * (n - count) / (m * divisor(count - 1)), -w * count / (m * divisor(count))


#:
#: odrpo max-at-k max-at-k-centred
def formula(x, here, n, lib):
    """Levels between two neighbouring scores are reached by the same members: the sum over levels is a sum over these gaps."""
    size = x.shape[1]
    order = x.argsort(1)  # missing members have the lowest score, and come among the first
    row = lib.ones_like(order[:, :1]).cumsum(0) - 1
    s = x[row, order]
    low, high = s[:, :-1], s[:, 1:]
    count = lib.where(low < high, size - lib.ones_like(high).cumsum(1), 1.0)  # members that reach `high`
    place = lib.ones_like(s).cumsum(1) - 1 - (size - n)  #: gini-median
    lower = sums(lib.where(place == lib.floor((n - 1) / 2), s, 0.0))  #: gini-median+lower gini-median+mid
    upper = sums(lib.where(place == lib.floor(n / 2), s, 0.0))  #: gini-median+upper gini-median+mid
    median = lower  #: gini-median+lower
    median = upper  #: gini-median+upper
    median = lower + (upper - lower) * 0.5  #: gini-median+mid
    def weight(k):  #: weighted
        return 1  #: weighted+uniform
        return k  #: linear
        return k**0.5 * (0.1 + 4 * count * (n - count) / (n * n))  #: gini
        return k**0.5 * (0.1 + 4 * count * (n - count) / (n * n) * lib.exp((k - median).clip(None, 0) / 2))  #: gini-median
    reached, missed = shares(integral(low, high, weight, lib), count, n, lib)  #: weighted
    reached, missed = shares(high - low, count, n, lib)  #: unweighted
    total = lib.zeros_like(s)
    total[:, 1:] = (reached - missed).cumsum(1)
    a = lib.zeros_like(s)
    a[row, order] = total + sums(missed)
    return a


#:
#: odrpo-bitwise
def formula(x, here, n, lib):
    r, a, bit = (x - 1).clip(0), lib.zeros_like(x), 1
    while bit <= r.max():
        has = here & (lib.floor(r / bit) % 2 == 1)
        count = sums(lib.ones_like(x) * has)
        some = (count > 0) & (count < n)  # a bit that nobody or everybody has adds 0
        reached, missed = shares(some * bit, lib.where(some, count, 1.0), n, lib)
        a = a + lib.where(has, reached, missed)
        bit *= 2
    return a


#:
#: whiten-response whiten-token
def whiten(a, times, lib):
    """The advantages a[n] of a batch, whitened. Advantage i counts times[i] times; where that is 0 it has no part, and becomes 0."""
    here = times > 0
    if not here.any():
        return lib.zeros_like(a)
    d = lib.where(here, a - a[here][0], 0.0)
    if not d.any():
        return d  # all are equal
    n = times.sum()
    d = lib.where(here, d - (times * d).sum() / n, 0.0)
    var = (times * d * d).sum() / (n - WHITEN_DDOF)
    return d / (lib.sqrt(var) + WHITEN_EPS)  #: whiten-added
    return d / lib.sqrt(var + WHITEN_EPS)  #: whiten-inside
    return d / lib.sqrt(var.clip(WHITEN_EPS))  #: whiten-floor


#:
#: odrpo odrpo-bitwise
def warn_of_shares(scores):
    """Warns of scores 0..1: an ordinal estimator reads levels 1, 2, .., and its weights tell nothing below level 1."""
    seen = scores[scores == scores]
    if ((seen > 0) & (seen < 1)).any() and ((seen >= 0) & (seen <= 1)).all():
        warnings.warn("scores are 0..1, and levels are 1, 2, ..: multiply them by the number of levels", stacklevel=3)


#:
def verl(token_level_rewards, response_mask, index, **_):
    """As verl's estimators: (advantages, returns)[responses, tokens]. A response's score is the sum of its rewards; responses of one uid,
    index[responses], are a group."""
    rewards, lib, like = doubles(token_level_rewards)
    mask, scores = doubles(response_mask)[0], rewards.sum(1)
    uids = index.tolist() if hasattr(index, "tolist") else list(index)
    if len(uids) != len(scores):
        raise ValueError(f"{len(scores)} scores, but {len(uids)} uids")
    warn_of_shares(scores)  #: odrpo odrpo-bitwise
    groups = {}
    for i, uid in enumerate(uids):
        groups.setdefault(uid, []).append(i)
    a = lib.zeros_like(scores)
    for size in {len(members) for members in groups.values()}:
        some = [i for members in groups.values() if len(members) == size for i in members]
        a[some] = advantages(scores[some].reshape(-1, size)).reshape(-1)
    a = whiten(a, lib.ones_like(a) * ~lib.isnan(scores), lib)  #: whiten-response
    a = whiten(a, mask.sum(1) * ~lib.isnan(scores), lib)  #: whiten-token
    out = like(a[:, None] * mask)
    return out, out


def register(name=NAME):
    """Tells verl of verl(): `algorithm.adv_estimator=NAME` then chooses it. Call it in the process that computes advantages."""
    from verl.trainer.ppo.core_algos import register_adv_est
    register_adv_est(name)(verl)


def trl(rewards, num_generations):
    """As TRL's GRPOTrainer: advantages[B * G] of rewards[B * G], groups of num_generations in a row."""
    x, lib, like = doubles(rewards)
    if x.ndim != 1 or num_generations < 1 or len(x) % num_generations:
        raise ValueError(f"rewards of shape {tuple(x.shape)} are no groups of {num_generations}")
    warn_of_shares(x)  #: odrpo odrpo-bitwise
    a = advantages(x.reshape(-1, num_generations)).reshape(-1)
    a = whiten(a, lib.ones_like(a) * ~lib.isnan(x), lib)  #: whiten-response
    a = whiten(a, lib.ones_like(a) * ~lib.isnan(x), lib)  # each response once: there are no tokens here  #: whiten-token
    return like(a)


if __name__ == "__main__":  # docs/own-estimator.md of odrpo-bench has the protocol
    for line in sys.stdin:
        request = json.loads(line)
        answer = {"id": request["id"]}
        try:
            if "scores" in request:
                answer["advantages"] = advantages(request["scores"]).tolist()
        except ValueError as why:
            answer["error"] = str(why)
        print(json.dumps(answer), flush=True)
