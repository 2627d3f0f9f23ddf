# The program's formulas, written again for the Python tests, which compare numbers with these. Shares no code with the program.
import csv, io, math

try:
    import numpy as np  # for the draws of the bootstrap; tests that need them are skipped without it
except ImportError:
    np = None


# --- files
def table_of(text):
    """Rows of a CSV text, as dictionaries by the header."""
    return list(csv.DictReader(io.StringIO(text, newline="")))


def texts(file, name):
    """A column of texts of a result file that h5py has open."""
    return [text.decode() for text in file[name][:]]


# --- numbers
def mean(x):
    """sum x / n, NaN of nothing."""
    return math.fsum(x) / len(x) if len(x) else math.nan


def variance(x, ddof=1):
    """sum (x - mean)^2 / (n - ddof), 0 where n is not above ddof."""
    return math.fsum((y - mean(x)) ** 2 for y in x) / (len(x) - ddof) if len(x) > ddof else 0.0


def deviation(x, ddof=1):
    """Square root of the variance."""
    return math.sqrt(variance(x, ddof))


def iqm(x):
    """Interquartile mean: n // 4 of the sorted numbers are left out at each end."""
    cut = len(x) // 4
    return mean(sorted(x)[cut:len(x) - cut])


def ranks(x):
    """From 1; equal numbers share their mean rank."""
    return [sum(z < y for z in x) + (sum(z == y for z in x) + 1) / 2 for y in x]


# --- tests and intervals
def beta_share(a, b, x):
    """Regularised incomplete beta function, by its continued fraction (Lentz)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_share(b, a, 1 - x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    f, c, d = 1.0, 1.0, 0.0
    for i in range(1000):
        m = i // 2
        k = 1 if i == 0 else m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)) if i % 2 == 0 else -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / (1 + k * d)
        c = 1 + k / c
        f *= c * d
        if abs(c * d - 1) < 1e-16:
            break
    return front * (f - 1)


def inverse(rising, p, lo, hi):
    """Where a rising function is p, by bisection."""
    for _ in range(200):
        middle = (lo + hi) / 2
        lo, hi = (middle, hi) if rising(middle) < p else (lo, middle)
    return (lo + hi) / 2


def t_above(t, freedom):
    """P(T > t) of Student's t: I(f / (f + t^2); f / 2, 1 / 2) / 2 for t > 0."""
    half = beta_share(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2
    return half if t > 0 else 1 - half


def t_factor(freedom, level=0.95):
    """The quantile of Student's t that an interval of this level has."""
    return inverse(lambda t: 1 - t_above(t, freedom), 0.5 + level / 2, 0, 1e4)


def t_interval(x, level=0.95):
    """mean +- t s / sqrt(n)."""
    half = t_factor(len(x) - 1, level) * deviation(x) / math.sqrt(len(x))
    return mean(x) - half, mean(x) + half


def p_above(x):
    """One-sided p of a t test that the mean is above 0; of equal numbers the sign test's, 2^-n."""
    if deviation(x) == 0:
        return 2.0 ** -len(x) if mean(x) > 0 else 1
    return t_above(mean(x) / (deviation(x) / math.sqrt(len(x))), len(x) - 1)


def holm(p):
    """Holm's adjusted p: the largest of min(1, (m - rank) p) up to its own rank."""
    order, worst, out = sorted(range(len(p)), key=p.__getitem__), 0, [0] * len(p)
    for rank, i in enumerate(order):
        worst = max(worst, min(1, (len(p) - rank) * p[i]))
        out[i] = worst
    return out


def philox(counter, key):
    """Philox4x32-10 of Salmon et al. 2011: counter is four arrays of 32-bit words, key two words."""
    c, k, low = [np.asarray(x, np.uint64) for x in np.broadcast_arrays(*counter)], [int(x) for x in key], np.uint64(0xFFFFFFFF)
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(b >> np.uint64(32)) ^ c[1] ^ np.uint64(k[0]), b & low, (a >> np.uint64(32)) ^ c[3] ^ np.uint64(k[1]), a & low]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def picks(n, resamples, seed=1, stratum=0):
    """The items of all resamples of a stratum, floor(word n / 2^32) of the words of draw, stratum and item: resamples x n."""
    words = philox([80, np.arange(resamples)[:, None], stratum, np.arange((n + 3) // 4)[None, :]], (seed & 0xFFFFFFFF, seed >> 32))
    return (np.stack(words, axis=-1).reshape(resamples, -1)[:, :n] * np.uint64(n) >> np.uint64(32)).astype(int)


# --- estimators
# A system's own: ddof and eps of the deviation (others: of a member's others; none: its grpo divides by nothing), eps at the levels where it is another, eps of MaxRL's
# mean. single: what a group of one gets per unit of reward.
SYSTEMS = {
    "paper": {"ddof": 0, "eps": 0, "mean_eps": 0, "guard": True, "single": 0},
    "verl": {"ddof": 1, "eps": 1e-6, "single": 1},
    "trl": {"ddof": 1, "eps": 1e-4, "single": 0},
    "nemo": {"others": True, "eps": 1e-6, "single": 0},
    "openrlhf": {"ddof": 1, "eps": 1e-9, "single": 0},
    "gdpo": {"ddof": 1, "eps": 1e-4, "single": 0},
    "maxrl-reference": {"mean_eps": 1e-6, "single": 1e6},
    "skyrl": {"ddof": 1, "eps": 1e-6, "mean_eps": 1e-6, "single": {"rloo": 0}},
    "prime": {"none": True, "mean_eps": 0, "guard": True, "single": 0},
    "tinker": {"none": True, "single": 0},
    "relax": {"ddof": 1, "eps": 1e-6, "levels_eps": 1e-4, "single": 0},
}


def cardinal(form, x, system="paper", levels=False):
    """x - mean, by nothing (reinforce), its deviation (grpo) or its mean (maxrl); x - mean of others (rloo)."""
    rule = SYSTEMS[system]
    if len(x) == 1:
        return [(rule["single"].get(form, 1) if isinstance(rule["single"], dict) else rule["single"]) * x[0]]
    if len(set(x)) == 1:
        return [0.0] * len(x)
    others = [x[:i] + x[i + 1:] for i in range(len(x))]
    if form == "reinforce" or (form == "grpo" and rule.get("none")):
        return [y - mean(x) for y in x]
    if form == "rloo":
        return [y - mean(o) for y, o in zip(x, others)]
    if form == "maxrl":
        if mean(x) <= 0 and rule.get("guard"):
            return [0.0] * len(x)
        return [(y - mean(x)) / (mean(x) + rule["mean_eps"]) for y in x]
    if rule.get("others"):
        spreads = [deviation(o) for o in others]
        return [(y - mean(o)) / (sd + rule["eps"] if sd > 1e-12 else 1) for y, o, sd in zip(x, others, spreads)]
    eps = rule.get("levels_eps", rule["eps"]) if levels else rule["eps"]
    return [(y - mean(x)) / (deviation(x, rule["ddof"]) + eps) for y in x]


def worth(score, values):
    """The value of a score: linear between the levels' values, from 0 at the score 0."""
    level = min(int(score), len(values) - 1)
    low, high = [0, *values][level:level + 2]
    return low + min(score - level, 1) * (high - low)


def level_weight(word, k, mu, median=0):
    """w_k: 1, k (linear), sqrt(k) (0.1 + 4 mu (1 - mu)) (gini), its second term times exp(-max(median - k, 0) / 2) (gini-median)."""
    damp = math.exp(-max(median - k, 0) / 2) if word == "gini-median" else 1
    return {"": 1, "linear": k}.get(word, math.sqrt(k) * (0.1 + 4 * mu * (1 - mu) * damp))


def advantages(word, r, values=None, system="paper"):
    """Of a group: a form's, or sum_k (v_k - v_(k-1)) w_k a_k, a_k the norm's of 1[r >= k]. Bitwise: sum_b 2^b a_b, of bit b of r - 1."""
    median = sorted(r)[(len(r) - 1) // 2]
    if word == "rank-grpo":
        return cardinal("grpo", ranks(r), system)
    if word in ("gopo", "arena", "dgae", "qae", "grpo-passk", "corpo"):
        x = [worth(y, values) for y in r] if values else r
        if word == "corpo":  # r_min = 1
            return [y - max(mean(x), 1) for y in x]
        if len(set(x)) < 2:
            return [0.0] * len(x)
        if word in ("gopo", "arena"):
            places = [(y - 1) / (len(x) - 1) for y in ranks(x)]
            return [4 * q - 2 if word == "gopo" else (q - 0.5) / (deviation(places, 1) + 1e-6) for q in places]
        if word == "dgae":
            return [len(x) * (y - mean(x)) / (math.fsum(abs(z - mean(x)) for z in x) + 1e-4) for y in x]
        if word == "qae":  # kappa = .4
            quantile = min(y for y in x if sum(z <= y for z in x) / len(x) >= 0.4)
            return [(y - quantile) / deviation(x, 0) for y in x]
        return [(y - sorted(x)[-2] if y == max(x) else 0.0) / (deviation(x, 1) + 1e-6) for y in x]
    if word == "convex-reinforce":
        return cardinal("reinforce", [math.fsum(math.sqrt(k) for k in range(1, int(x) + 1)) for x in r], system)
    if word == "max-at-k":  # k = 2: what a member adds to the maximum of two, over all it can be paired with
        return [mean([max(x, y) - y for y in r[:i] + r[i + 1:]]) if len(r) > 1 else 0.0 for i, x in enumerate(r)]
    if word == "max-at-k-centred":  # less the maximum of two others
        others = [r[:i] + r[i + 1:] for i in range(len(r))]
        pairs = [[max(y, z) for j, y in enumerate(o) for z in o[:j]] for o in others]
        return [mean([max(x, y) for y in o]) - mean(two) if two else 0.0 for x, o, two in zip(r, others, pairs)]
    if word == "mc-grpo":
        mad = sorted(abs(x - median) for x in r)[(len(r) - 1) // 2]
        apart = sum(x != median for x in r)
        return [(x - median) / (mad + 1e-3) * len(r) / apart if apart else 0.0 for x in r]
    if not word.startswith("odrpo"):
        return cardinal(word, [worth(x, values) for x in r] if values else r, system)
    weight, norm = word[5:].strip("-)").split("(")
    if weight == "bitwise":
        parts = [(2**b, [float(max(int(x), 1) - 1 >> b & 1) for x in r]) for b in range(16)]
    else:
        at = [0, *(values or range(1, max(int(max(r)), 1) + 1))]
        reached = [[float(x >= k) for x in r] for k in range(1, len(at))]
        parts = [((at[k] - at[k - 1]) * level_weight(weight, k, mean(x), median), x) for k, x in enumerate(reached, 1)]
    return [math.fsum(column) for column in zip(*([w * a for a in cardinal(norm, x, system, levels=True)] for w, x in parts))]


def log_objective(p, m):
    """What odrpo(maxrl) climbs at a level that a share p reaches, in groups of m: sum over j < m of (1 - (1 - p)^j) / j."""
    return sum((1 - (1 - p) ** j) / j for j in range(1, m))
