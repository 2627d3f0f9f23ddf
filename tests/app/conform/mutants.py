"""Answers batches of odrpo-bench with advantages that are right, or wrong in one known way: python3 mutants.py NAME, or --list.

The formulas are written from docs/reference/estimators.md and docs/estimators.md, and share nothing with the C++ code. The standard library is enough.
A form maps the scores of one group, without missing ones, and K to advantages. An answer maps a request and a memory to rows of advantages."""
import itertools, json, math, struct, sys

# Numbers of one group, r: a list with one number per member, so that a leave-one-out number has the same shape as the group's


def mean(r):
    return sum(r) / len(r)


def deviation(r, ddof=0):
    """sqrt(sum (r - mean)^2 / (G - ddof)); 0 where G = ddof."""
    m = mean(r)
    return math.sqrt(sum((x - m) ** 2 for x in r) / (len(r) - ddof)) if len(r) > ddof else 0.0


def median(r, rule="lower"):
    s, n = sorted(r), len(r)
    return {"lower": s[(n - 1) // 2], "upper": s[n // 2], "mid": (s[(n - 1) // 2] + s[n // 2]) / 2}[rule]


def constant(r):
    return max(r) == min(r)


def others(r):
    return [r[:i] + r[i + 1 :] for i in range(len(r))]


def of_group(statistic, *arguments):
    return lambda r: [statistic(r, *arguments)] * len(r)


def of_others(statistic, *arguments):
    return lambda r: [statistic(o, *arguments) for o in others(r)]


def sd(ddof):
    return of_group(deviation, ddof)


def added(eps):
    return lambda scale: scale + eps


def sd_of_others(r):
    """A deviation with ddof 1; exactly 0 where the others are equal."""
    return [0.0 if constant(o) else deviation(o, 1) for o in others(r)]


def divided_by_others(scale):
    return scale + 1e-6 if scale > 0 else 1.0


def ones(r):
    return [1.0] * len(r)


group_mean, others_mean = of_group(mean), of_others(mean)

# Groups of one: what the convention says


def zero(x):
    return 0.0


def reward(x):
    return x


def reward_over_eps(x):
    return x / 1e-6


# Forms


def cardinal(centre=group_mean, scale=ones, guard=added(0.0), single=zero, constants=True):
    """(r - centre) / guard(scale); zeros for a constant group if constants."""

    def form(r, levels):
        if len(r) == 1:
            return [single(r[0])]
        if constants and constant(r):
            return [0.0] * len(r)
        return [(x - c) / guard(s) for x, c, s in zip(r, centre(r), scale(r))]

    return form


def maxrl(guard=added(0.0), single=zero, shift=0.0):
    """(r - mean) / guard(mean); the paper's and prime-rl's has no eps, and zeros where the mean is not positive."""

    def form(r, levels):
        r = [x - shift for x in r]
        if len(r) == 1:
            return [single(r[0])]
        m = mean(r)
        if constant(r) or guard(m) == m and m <= 1e-12 * max(abs(x) for x in r):
            return [0.0] * len(r)
        return [(x - m) / guard(m) for x in r]

    return form


def average_ranks(r):
    return [sum(y < x for y in r) + (sum(y == x for y in r) + 1) / 2 for x in r]


def rank_grpo(ranks=average_ranks, ddof=0, single=zero):
    def form(r, levels):
        return [0.0] * len(r) if constant(r) else cardinal(scale=sd(ddof))(ranks(r), levels)

    return form


def on_others(form):
    """G/(G-1) times a centred form."""
    return lambda r, levels: [len(r) / max(len(r) - 1, 1) * a for a in form(r, levels)]


def best_of(k, value):
    """Mean over the subsets T of k members with i of value(T, T without i)."""

    def form(r, levels):
        if len(r) < k or constant(r):
            return [0.0] * len(r)
        means = []
        for i, rest in enumerate(others(r)):
            subsets = list(itertools.combinations(rest, k - 1))
            means.append(sum(value(subset + (r[i],), subset) for subset in subsets) / len(subsets))
        return means

    return form


max_at_2 = best_of(2, lambda whole, rest: max(whole) - max(rest))


def max_at_2_centred(r, levels):
    """Mean of max T over the pairs with i, less that over the pairs without i."""
    if len(r) <= 2 or constant(r):
        return [0.0] * len(r)
    best = lambda pairs: mean([max(pair) for pair in pairs])
    return [best([(x, y) for y in o]) - best(list(itertools.combinations(o, 2))) for x, o in zip(r, others(r))]


# ODRPO: one group of 0 and 1 for each level, each through the form of its norm. Between neighbouring scores that are no integers it is an integral


def uniform(k, mu, med):
    return 1.0


def linear(k, mu, med):
    return k


def gini(k, mu, med):
    return math.sqrt(k) * (0.1 + 4 * mu * (1 - mu))


def gini_median(k, mu, med):
    return math.sqrt(k) * (0.1 + 4 * mu * (1 - mu) * math.exp(-max(med - k, 0) / 2))


def pieces(low, high):
    """(low, high] cut at the integers between, as (cut, next cut]."""
    cuts = [low, *range(math.floor(low) + 1, math.ceil(high)), high]
    return list(zip(cuts, cuts[1:]))


def odrpo(weight, norm, single=zero, rule="lower", level=lambda low, high: math.ceil(high), skip=lambda k, levels: False, unsolved=0.0):
    """sum over k of w_k norm(1[r >= k]); norm is a form."""

    def form(r, levels):
        med = median(r, rule)
        w = lambda low, high, mu: 0.0 if high <= 0 and weight is not uniform else weight(level(low, high), mu, med)
        if len(r) == 1:
            return [single(sum(w(*piece, 1.0) * (piece[1] - piece[0]) for piece in pieces(0.0, r[0])) if r[0] > 0 else 0.0)]
        sums = [-unsolved * sum(w(k - 1, k, 0.0) for k in range(math.ceil(max(r)) + 1, levels + 1))] * len(r)
        cuts = sorted(set(r))
        for low, high in itertools.chain.from_iterable(pieces(*gap) for gap in zip(cuts, cuts[1:])):
            reached = [float(x >= high) for x in r]
            if not skip(level(low, high), levels):
                factor = w(low, high, mean(reached)) * (high - low)
                sums = [a + factor * part for a, part in zip(sums, norm(reached, levels))]
        return sums

    return form


def convex(r, levels):
    """U(r) - mean U, U(r) = integral of sqrt(ceil(x)) from 0 to r."""
    return odrpo(lambda k, mu, med: math.sqrt(k), cardinal())(r, levels)


# Conventions of grpo, reinforce and maxrl
PAPER_GRPO = cardinal(scale=sd(0))
VERL_GRPO = cardinal(scale=sd(1), guard=added(1e-6), single=reward)
TRL_GRPO = cardinal(scale=sd(1), guard=added(1e-4))
NEMO_GRPO = cardinal(others_mean, sd_of_others, divided_by_others)
OPENRLHF_GRPO = cardinal(scale=sd(1), guard=added(1e-9))
CENTRED, VERL_CENTRED = cardinal(), cardinal(single=reward)
SKYRL_MAXRL = maxrl(added(1e-6), reward)

# Batches


def whole(row):
    return [x for x in row if x is not None]


def put_back(row, advantages):
    """The advantages of the scores that are there, null for a missing one."""
    present = iter(advantages)
    return [None if x is None else next(present) for x in row]


def each(form):
    """Every prompt is a group of the scores that it has."""

    def answer(request, memory):
        return [put_back(row, form(whole(row), request["levels"]) if whole(row) else []) for row in request["scores"]]

    return answer


def lengths_of(request):
    return request.get("lengths") or [[1] * len(row) for row in request["scores"]]


def by_token(request):
    return lengths_of(request)


def by_response(request):
    return [[1] * len(row) for row in request["scores"]]


def by_padded_token(request):
    longest = max(max(row) for row in lengths_of(request))
    return [[longest] * len(row) for row in request["scores"]]


def whitened(answer, count, ddof, guard, shift=True):
    """(A - mean) / guard(variance) over the batch, a response counted count times; zeros where all are equal or fewer than two are left."""

    def whiten(request, memory):
        rows, counts = answer(request, memory), count(request)
        flat = [(a, c) for row, times in zip(rows, counts) for a, c in zip(row, times) if a is not None]
        total = sum(c for _, c in flat)
        if len(flat) < 2 or constant([a for a, _ in flat]):
            return [[None if a is None else 0.0 for a in row] for row in rows]
        m = sum(a * c for a, c in flat) / total
        scale = guard(sum((a - m) ** 2 * c for a, c in flat) / (total - ddof))
        return [[None if a is None else (a - m * shift) / scale for a in row] for row in rows]

    return whiten


def inside(eps):
    return lambda variance: math.sqrt(variance + eps)


def outside(eps):
    return lambda variance: math.sqrt(variance) + eps


def floored(eps):
    return lambda variance: math.sqrt(max(variance, eps))


# What breaks a form


def changed(form, change):
    """The advantages of a form, each changed."""
    return lambda r, levels: [change(a) for a in form(r, levels)]


def not_a_number(r, levels):
    return [math.nan] * len(r) if len(r) > 1 and constant(r) else PAPER_GRPO(r, levels)


def all_but_last(statistic):
    return lambda r: statistic(r[:-1])[:1] * len(r)


def in_order_of_score(r, levels):
    """The advantages of the sorted group, not put back into the order of the members."""
    return VERL_GRPO(sorted(r), levels)


def whole_mean(r):
    return [float(sum(r) // len(r))] * len(r)


def mean_distance(r):
    return [mean([abs(x - mean(r)) for x in r])] * len(r)


def kalman(r, levels):
    """KRPO: a filter over the members in their order; state 0 with variance 1, process variance 1e-5, measurement variance 1e-2."""
    state, variance, advantages = 0.0, 1.0, []
    for x in r:
        predicted = variance + 1e-5
        gain = predicted / (predicted + 1e-2)
        state, variance = state + gain * (x - state), (1 - gain) * predicted
        advantages.append((x - state) / (math.sqrt(variance) + 1e-8))
    return advantages


def by_position(r):
    """Ranks from 1, the lowest; of equal scores the first has the highest rank."""
    order = sorted(range(len(r)), key=lambda i: (r[i], -i))
    return [float(order.index(i) + 1) for i in range(len(r))]


def gopo(r, levels):
    """2 - 4 (place - 1) / (G - 1), place 1 is the best and no two members share one."""
    return [4 * (rank - 1) / (len(r) - 1) - 2 for rank in by_position(r)] if len(r) > 1 else [0.0]


def by_places(form):
    """A form of average places q from 0 = worst to 1 = best."""
    return lambda r, levels: [0.0] * len(r) if constant(r) else form([(rank - 1) / (len(r) - 1) for rank in average_ranks(r)])


def standardised_places(q):
    return [(x - mean(q)) / (deviation(q, 1) + 1e-6) for x in q]


def dgae(r, levels):
    away = sum(abs(x - mean(r)) for x in r)
    return [0.0 if constant(r) else len(r) * (x - mean(r)) / (away + 1e-4) for x in r]


def quantile(kappa):
    return of_group(lambda r: min(x for x in r if sum(y <= x for y in r) / len(r) >= kappa))


def best_over_second(r, levels):
    if constant(r):
        return [0.0] * len(r)
    best, second = sorted(r)[-1], sorted(r)[-2]
    return [(best - second) / (deviation(r, 1) + 1e-6) if x == best else 0.0 for x in r]


def lowest_ranks(r):
    return [1.0 + sum(y < x for y in r) for x in r]


def highest_ranks(r):
    return [float(sum(y <= x for y in r)) for x in r]


def dense_ranks(r):
    return [float(sorted(set(r)).index(x) + 1) for x in r]


def single_precision(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def half_of_single(x):
    """bfloat16 by truncation."""
    return struct.unpack("f", struct.pack("I", struct.unpack("I", struct.pack("f", x))[0] & 0xFFFF0000))[0]


def float_sum(numbers):
    total = 0.0
    for x in numbers:
        total = single_precision(total + x)
    return total


def float_grpo(constants):
    """grpo:verl with every operation rounded to float."""
    f = single_precision

    def form(r, levels):
        r = [f(x) for x in r]
        if len(r) == 1 or constants and constant(r):
            return [0.0 if len(r) > 1 else r[0]] * len(r)
        m = f(float_sum(r) / len(r))
        distance = [f(x - m) for x in r]
        scale = f(f(math.sqrt(f(float_sum([f(d * d) for d in distance]) / (len(r) - 1)))) + f(1e-6))
        return [f(d / scale) for d in distance]

    return form


def float_moments(r):
    """Deviation of the others by sqrt(E[x^2] - E[x]^2) in float, as NeMo RL computes it; 0 for a negative difference."""
    f, scales = single_precision, []
    for o in others([f(x) for x in r]):
        m, square, n = f(float_sum(o) / len(o)), f(float_sum([f(x * x) for x in o]) / len(o)), len(o)
        scales.append(math.sqrt(max(f(square - f(m * m)), 0.0) * n / (n - 1)) if n > 1 else 0.0)
    return scales


# What breaks a batch


def filled(answer, value):
    """A missing score counts as value."""
    return lambda request, memory: answer({**request, "scores": [[value if x is None else x for x in row] for row in request["scores"]]}, memory)


def size_of_all(request, memory):
    """grpo:verl that divides sums over the scores that are there by the size of the whole group."""
    rows = []
    for row in request["scores"]:
        r, n = whole(row), len(row)
        m = sum(r) / n
        scale = math.sqrt(sum((x - m) ** 2 for x in r) / max(n - 1, 1))
        correct = len(r) < 2 or constant(r)
        rows.append(put_back(row, VERL_GRPO(r, 0) if correct and r else [(x - m) / (scale + 1e-6) for x in r]))
    return rows


def factor_of_all(request, memory):
    """rloo whose factor G/(G-1) has the size of the whole group."""
    return [put_back(row, [len(row) / max(len(row) - 1, 1) * a for a in CENTRED(whole(row), 0)] if whole(row) else []) for row in request["scores"]]


def partial_zero(request, memory):
    return [[0.0] * len(row) if None in row else a for row, a in zip(request["scores"], each(VERL_GRPO)(request, memory))]


def of_batch(statistic, use):
    """use(row, statistic of all scores of the batch) for each group."""

    def answer(request, memory):
        scores = [x for row in request["scores"] for x in whole(row)]
        value = statistic(scores) if scores else 0.0
        return [put_back(row, use(whole(row), value) if whole(row) else []) for row in request["scores"]]

    return answer


def over_batch_mean(r, m):
    return [r[0]] if len(r) == 1 else [0.0 if constant(r) else (x - m) / (deviation(r, 1) + 1e-6) for x in r]


def over_batch_deviation(r, scale):
    return [0.0 if constant(r) else (x - mean(r)) / (scale + 1e-4) for x in r]


def gini_median_of_batch(r, med):
    return [0.0] if len(r) == 1 else odrpo(lambda k, mu, _: gini_median(k, mu, med), PAPER_GRPO)(r, 0)


def merged(form):
    """Rows with the same prompt are one group."""

    def answer(request, memory):
        groups, rows = {}, []
        for prompt, row in zip(request["prompts"], request["scores"]):
            groups.setdefault(prompt, []).extend(whole(row))
        done = {prompt: iter(form(r, request["levels"]) if r else []) for prompt, r in groups.items()}
        return [[None if x is None else next(done[prompt]) for x in row] for prompt, row in zip(request["prompts"], request["scores"])]

    return answer


def across_prompts(form):
    """Groups of the right size over the responses laid out the other way: all first responses, all second ones, and so on."""

    def answer(request, memory):
        scores = request["scores"]
        b, g = len(scores), len(scores[0])
        places = [(i % b, i // b) for i in range(b * g)]
        rows = [[None] * g for _ in scores]
        for start in range(0, b * g, g):
            group = [(p, j) for p, j in places[start : start + g] if scores[p][j] is not None]
            for (p, j), a in zip(group, form([scores[p][j] for p, j in group], request["levels"]) if group else []):
                rows[p][j] = a
        return rows

    return answer


def next_row(answer):
    """Every prompt gets the answer of the prompt before it; the answer of a missing score is 0."""
    return lambda request, memory: (lambda rows: [[a or 0.0 for a in row] for row in rows[-1:] + rows[:-1]])(answer(request, memory))


def running_baseline(request, memory):
    """Subtracts an exponential mean of the batches before in place of the group's mean."""
    scores = [x for row in request["scores"] for x in whole(row)]
    baseline = memory.setdefault("baseline", mean(scores) if scores else 0.0)
    rows = [put_back(row, [x - baseline for x in whole(row)]) for row in request["scores"]]
    if scores:
        memory["baseline"] = 0.9 * baseline + 0.1 * mean(scores)
    return rows


def running_deviation(request, memory):
    """Divides by the largest deviation of a group so far."""
    largest = memory["largest"] = max([memory.get("largest", 0.0)] + [deviation(whole(row)) for row in request["scores"] if whole(row)])
    return each(lambda r, levels: [(x - mean(r)) / largest if not constant(r) else 0.0 for x in r])(request, memory)


def per_group(form):
    """Whitens every group, not the batch."""
    return each(lambda r, levels: PAPER_GRPO(form(r, levels), levels))


VERL_WHITE, NEMO_WHITE, PAPER_WHITE, TRL_WHITE = (by_token, 1, inside(1e-8)), (by_token, 0, floored(1e-8)), (by_response, 0, outside(0.0)), (by_response, 1, outside(1e-4))
GINI_MEDIAN = odrpo(gini_median, PAPER_GRPO)

# NAME: (word:convention, are the answers whitened, what is broken, answer)
TABLE = {
    # By the book
    "reinforce-paper": ("reinforce:paper", False, "", each(CENTRED)),
    "reinforce-verl": ("reinforce:verl", False, "", each(VERL_CENTRED)),
    "reinforce-trl": ("reinforce:trl", False, "", each(CENTRED)),
    "reinforce-nemo": ("reinforce:nemo", False, "", each(CENTRED)),
    "reinforce-openrlhf": ("reinforce:openrlhf", False, "", each(CENTRED)),
    "reinforce-paper-whitened": ("reinforce:paper", True, "", whitened(each(CENTRED), *PAPER_WHITE)),
    "reinforce-verl-whitened": ("reinforce:verl", True, "", whitened(each(VERL_CENTRED), *VERL_WHITE)),
    "reinforce-nemo-whitened": ("reinforce:nemo", True, "", whitened(each(CENTRED), *NEMO_WHITE)),
    "rloo-paper": ("rloo:paper", False, "", each(on_others(CENTRED))),
    "rloo-verl": ("rloo:verl", False, "", each(cardinal(others_mean, single=reward))),
    "rloo-trl": ("rloo:trl", False, "", each(cardinal(others_mean))),
    "rloo-openrlhf": ("rloo:openrlhf", False, "", each(on_others(CENTRED))),
    "grpo-paper": ("grpo:paper", False, "", each(PAPER_GRPO)),
    "grpo-paper-whitened": ("grpo:paper", True, "", whitened(each(PAPER_GRPO), *PAPER_WHITE)),
    "grpo-verl": ("grpo:verl", False, "", each(VERL_GRPO)),
    "grpo-verl-float": ("grpo:verl", False, "", each(float_grpo(True))),
    "grpo-verl-rounded": ("grpo:verl", False, "", each(changed(VERL_GRPO, single_precision))),
    "grpo-trl": ("grpo:trl", False, "", each(TRL_GRPO)),
    "grpo-nemo": ("grpo:nemo", False, "", each(NEMO_GRPO)),
    "grpo-openrlhf": ("grpo:openrlhf", False, "", each(OPENRLHF_GRPO)),
    "grpo-gdpo": ("grpo:gdpo", False, "", each(TRL_GRPO)),
    "grpo-gdpo-whitened": ("grpo:gdpo", True, "", whitened(each(TRL_GRPO), *TRL_WHITE)),
    "maxrl-paper": ("maxrl:paper", False, "", each(maxrl())),
    "maxrl-reference": ("maxrl:maxrl-reference", False, "", each(maxrl(added(1e-6), reward_over_eps))),
    "maxrl-skyrl": ("maxrl:skyrl", False, "", each(SKYRL_MAXRL)),
    "maxrl-prime": ("maxrl:prime", False, "", each(maxrl())),
    "rank-grpo-paper": ("rank-grpo:paper", False, "", each(rank_grpo())),
    "gopo-average": ("gopo:paper", False, "", each(by_places(lambda q: [4 * x - 2 for x in q]))),
    "arena-paper": ("arena:paper", False, "", each(by_places(standardised_places))),
    "dgae-paper": ("dgae:paper", False, "", each(dgae)),
    "qae-paper": ("qae:paper", False, "", each(cardinal(quantile(0.4), sd(0)))),
    "passk-verl": ("grpo-passk:verl", False, "", each(best_over_second)),
    "corpo-paper": ("corpo:paper", False, "", each(lambda r, levels: [x - max(mean(r), 1) for x in r])),
    "convex-paper": ("convex-reinforce:paper", False, "", each(convex)),
    "max-at-2-paper": ("max-at-k:paper", False, "", each(max_at_2)),
    "max-at-2-centred-paper": ("max-at-k-centred:paper", False, "", each(max_at_2_centred)),
    "odrpo-grpo-paper": ("odrpo(grpo):paper", False, "", each(odrpo(uniform, PAPER_GRPO))),
    "odrpo-maxrl-paper": ("odrpo(maxrl):paper", False, "", each(odrpo(uniform, maxrl()))),
    "odrpo-linear-grpo-paper": ("odrpo-linear(grpo):paper", False, "", each(odrpo(linear, PAPER_GRPO))),
    "odrpo-linear-maxrl-paper": ("odrpo-linear(maxrl):paper", False, "", each(odrpo(linear, maxrl()))),
    "odrpo-gini-grpo-paper": ("odrpo-gini(grpo):paper", False, "", each(odrpo(gini, PAPER_GRPO))),
    "odrpo-gini-maxrl-paper": ("odrpo-gini(maxrl):paper", False, "", each(odrpo(gini, maxrl()))),
    "odrpo-gini-median-grpo-paper": ("odrpo-gini-median(grpo):paper", False, "", each(GINI_MEDIAN)),
    "odrpo-gini-median-maxrl-paper": ("odrpo-gini-median(maxrl):paper", False, "", each(odrpo(gini_median, maxrl()))),
    "odrpo-gini-median-whitened": ("odrpo-gini-median(grpo):paper", True, "", whitened(each(GINI_MEDIAN), *PAPER_WHITE)),
    "odrpo-grpo-verl": ("odrpo(grpo):verl", False, "", each(odrpo(uniform, VERL_GRPO, reward))),
    "odrpo-grpo-verl-whitened": ("odrpo(grpo):verl", True, "", whitened(each(odrpo(uniform, VERL_GRPO, reward)), *VERL_WHITE)),
    "odrpo-grpo-trl-whitened": ("odrpo(grpo):trl", True, "", whitened(each(odrpo(uniform, TRL_GRPO)), *TRL_WHITE)),
    "odrpo-grpo-nemo": ("odrpo(grpo):nemo", False, "", each(odrpo(uniform, NEMO_GRPO))),
    "odrpo-grpo-nemo-whitened": ("odrpo(grpo):nemo", True, "", whitened(each(odrpo(uniform, NEMO_GRPO)), by_response, 1, outside(0.0))),
    "odrpo-maxrl-reference": ("odrpo(maxrl):maxrl-reference", False, "", each(odrpo(uniform, maxrl(added(1e-6)), reward_over_eps))),
    "odrpo-maxrl-skyrl": ("odrpo(maxrl):skyrl", False, "", each(odrpo(uniform, maxrl(added(1e-6)), reward))),
    # Deviation
    "grpo-ddof-0": ("grpo:verl", False, "ddof 0 in place of 1", each(cardinal(scale=sd(0), guard=added(1e-6), single=reward))),
    "grpo-ddof-1": ("grpo:paper", False, "ddof 1 in place of 0", each(cardinal(scale=sd(1)))),
    "grpo-eps-trl": ("grpo:verl", False, "eps 1e-4 in place of 1e-6", each(cardinal(scale=sd(1), guard=added(1e-4), single=reward))),
    "grpo-eps-large": ("grpo:trl", False, "eps 0.01 in place of 1e-4", each(cardinal(scale=sd(1), guard=added(1e-2)))),
    "grpo-eps-in-root": ("grpo:trl", False, "eps inside the root", each(cardinal(scale=sd(1), guard=lambda s: math.sqrt(s * s + 1e-4)))),
    "grpo-one-in-root": ("grpo:paper", False, "eps 1 inside the root", each(cardinal(scale=sd(0), guard=lambda s: math.sqrt(s * s + 1)))),
    "grpo-eps-floor": ("grpo:trl", False, "max(deviation, eps) in place of a sum", each(cardinal(scale=sd(1), guard=lambda s: max(s, 1e-4)))),
    "grpo-floor": ("grpo:paper", False, "deviation of at least 0.5", each(cardinal(scale=sd(0), guard=lambda s: max(s, 0.5)))),
    "grpo-variance": ("grpo:paper", False, "variance in place of the deviation", each(cardinal(scale=sd(0), guard=lambda s: s * s))),
    "grpo-mean-distance": ("grpo:paper", False, "mean distance in place of the deviation", each(cardinal(scale=mean_distance))),
    "grpo-deviation-of-others": ("grpo:verl", False, "leave-one-out deviation", each(cardinal(scale=sd_of_others, guard=divided_by_others, single=reward))),
    "nemo-group-deviation": ("grpo:nemo", False, "deviation of the group in place of that of the others", each(cardinal(others_mean, sd(1), added(1e-6)))),
    "nemo-float-moments": ("grpo:nemo", False, "sqrt(E[x^2] - E[x]^2) in float", each(cardinal(others_mean, float_moments, divided_by_others, constants=False))),
    "grpo-no-deviation": ("grpo:verl", False, "not divided by the deviation", each(VERL_CENTRED)),
    # Centre
    "grpo-mean-of-others": ("grpo:verl", False, "leave-one-out mean", each(cardinal(others_mean, sd(1), added(1e-6), reward))),
    "nemo-group-mean": ("grpo:nemo", False, "mean of the group in place of that of the others", each(cardinal(scale=sd_of_others, guard=divided_by_others))),
    "rloo-group-mean": ("rloo:verl", False, "group mean in place of the leave-one-out mean", each(VERL_CENTRED)),
    "reinforce-mean-of-others": ("reinforce:openrlhf", False, "leave-one-out mean", each(cardinal(others_mean))),
    "grpo-no-centre": ("grpo:paper", False, "no centre", each(cardinal(lambda r: [0.0] * len(r), sd(0)))),
    "reinforce-no-centre": ("reinforce:trl", False, "no centre: the reward itself", each(lambda r, levels: r)),
    "grpo-median": ("grpo:paper", False, "median for the mean", each(cardinal(of_group(median), sd(0)))),
    "reinforce-best": ("reinforce:paper", False, "best of the group for the mean", each(cardinal(lambda r: [max(r)] * len(r)))),
    "reinforce-whole-mean": ("reinforce:paper", False, "mean rounded down to an integer", each(cardinal(whole_mean))),
    # Batch in place of the group
    "grpo-batch-mean": ("grpo:verl", False, "mean of the batch", of_batch(mean, over_batch_mean)),
    "reinforce-batch-mean": ("reinforce:openrlhf", False, "mean of the batch", of_batch(mean, lambda r, m: [x - m for x in r])),
    "grpo-batch-deviation": ("grpo:trl", False, "deviation of the batch", of_batch(lambda scores: deviation(scores, 1), over_batch_deviation)),
    # Who belongs to a group
    "grpo-last-left-out": ("grpo:verl", False, "last member left out of mean and deviation", each(cardinal(all_but_last(group_mean), all_but_last(sd(1)), added(1e-6), reward))),
    "grpo-own-group": ("grpo:verl", False, "every rollout its own group", each(lambda r, levels: r)),
    "grpo-merged": ("grpo:verl", False, "groups with the same prompt merged", merged(VERL_GRPO)),
    "maxrl-merged": ("maxrl:paper", False, "groups with the same prompt merged", merged(maxrl())),
    "grpo-across-prompts": ("grpo:verl", False, "groups over responses laid out the other way", across_prompts(VERL_GRPO)),
    "grpo-next-row": ("grpo:paper", False, "answers of the prompt before", next_row(each(PAPER_GRPO))),
    "grpo-in-order-of-score": ("grpo:verl", False, "advantages in the order of scores, not of members", each(in_order_of_score)),
    # Constant groups and groups of one
    "grpo-constant-nan": ("grpo:paper", False, "NaN for a constant group", each(not_a_number)),
    "grpo-constant-noise": ("grpo:paper", False, "a constant group divided by a deviation of rounding", each(cardinal(scale=sd(0), guard=lambda s: s or 1.0, constants=False))),
    "grpo-constant-huge": ("grpo:openrlhf", False, "a constant group divided by eps after a mean in float", each(cardinal(lambda r: [single_precision(mean(r))] * len(r), sd(1), added(1e-9), constants=False))),
    "grpo-float-constants": ("grpo:verl", False, "a constant group divided by eps after sums in float", each(float_grpo(False))),
    "grpo-constant-reward": ("grpo:verl", False, "a constant group gets its reward", each(lambda r, levels: r if constant(r) else VERL_GRPO(r, levels))),
    "grpo-single-zero": ("grpo:verl", False, "0 for a group of one in place of its reward", each(cardinal(scale=sd(1), guard=added(1e-6)))),
    "grpo-single-reward": ("grpo:trl", False, "its reward for a group of one in place of 0", each(cardinal(scale=sd(1), guard=added(1e-4), single=reward))),
    "grpo-single-nan": ("grpo:openrlhf", False, "NaN for a group of one", each(cardinal(scale=sd(1), guard=added(1e-9), single=lambda x: math.nan))),
    "rloo-single-zero": ("rloo:verl", False, "0 for a group of one in place of its reward", each(cardinal(others_mean))),
    "rloo-single-reward": ("rloo:trl", False, "its reward for a group of one in place of 0", each(cardinal(others_mean, single=reward))),
    "maxrl-single-zero": ("maxrl:skyrl", False, "0 for a group of one in place of its reward", each(maxrl(added(1e-6)))),
    "maxrl-single-reward": ("maxrl:prime", False, "its reward for a group of one in place of 0", each(maxrl(single=reward))),
    # Missing scores
    "grpo-missing-zero": ("grpo:verl", False, "a missing score counts as 0", filled(each(VERL_GRPO), 0.0)),
    "reinforce-missing-lowest": ("reinforce:paper", False, "a missing score counts as 1", filled(each(CENTRED), 1.0)),
    "odrpo-missing-zero": ("odrpo(grpo):paper", False, "a missing score counts as 0", filled(each(odrpo(uniform, PAPER_GRPO)), 0.0)),
    "grpo-missing-in-size": ("grpo:verl", False, "a missing answer counted in G", size_of_all),
    "rloo-missing-in-size": ("rloo:paper", False, "a missing answer counted in G/(G-1)", factor_of_all),
    "grpo-partial-zero": ("grpo:verl", False, "zeros for a group with a missing score", partial_zero),
    # The advantage itself
    "grpo-clipped": ("grpo:trl", False, "clipped to -1.5..1.5", each(changed(TRL_GRPO, lambda a: min(max(a, -1.5), 1.5)))),
    "odrpo-clipped": ("odrpo(grpo):paper", False, "clipped to -5..5", each(changed(odrpo(uniform, PAPER_GRPO), lambda a: min(max(a, -5.0), 5.0)))),
    "grpo-positive": ("grpo:paper", False, "negative advantages are 0", each(changed(PAPER_GRPO, lambda a: max(a, 0.0)))),
    "grpo-sign": ("grpo:paper", False, "opposite sign", each(changed(PAPER_GRPO, lambda a: -a))),
    "grpo-double": ("grpo:verl", False, "twice the advantage", each(changed(VERL_GRPO, lambda a: 2 * a))),
    "maxrl-times-size": ("maxrl:paper", False, "G times the advantage", each(lambda r, levels: [len(r) * a for a in maxrl()(r, levels)])),
    "grpo-bfloat16": ("grpo:verl", False, "rounded to bfloat16", each(changed(VERL_GRPO, half_of_single))),
    "grpo-offset": ("grpo:paper", False, "0.1 added to every advantage", each(changed(PAPER_GRPO, lambda a: a + 0.1))),
    # Order and memory
    "grpo-kalman": ("grpo:verl", False, "a Kalman filter over the members in their order (KRPO)", each(kalman)),
    "gopo-by-position": ("gopo:paper", False, "ties by position, as in the code that its authors published", each(gopo)),
    "arena-ddof-0": ("arena:paper", False, "ddof 0 in place of 1", each(by_places(lambda q: [(x - mean(q)) / (deviation(q) + 1e-6) for x in q]))),
    "dgae-eps": ("dgae:paper", False, "eps 1e-2 in place of 1e-4", each(lambda r, levels: [0.0 if constant(r) else len(r) * (x - mean(r)) / (sum(abs(y - mean(r)) for y in r) + 1e-2) for x in r])),
    "qae-median": ("qae:paper", False, "kappa .5 in place of .4", each(cardinal(quantile(0.5), sd(0)))),
    "passk-ddof-0": ("grpo-passk:paper", False, "ddof 0 in place of 1", each(lambda r, levels: [a * (deviation(r, 1) + 1e-6) / (deviation(r) + 1e-6) for a in best_over_second(r, levels)])),
    "corpo-mean": ("corpo:paper", False, "the mean, however low it is", each(CENTRED)),
    "rank-gopo": ("rank-grpo:paper", False, "places without ties, -2..2, ties by position (GOPO)", each(gopo)),
    "reinforce-running-baseline": ("reinforce:paper", False, "running baseline across batches", running_baseline),
    "grpo-running-deviation": ("grpo:paper", False, "largest deviation so far in place of the group's", running_deviation),
    # Ranks
    "rank-by-position": ("rank-grpo:paper", False, "ties broken by position", each(rank_grpo(by_position))),
    "rank-lowest": ("rank-grpo:paper", False, "ties get the lowest rank", each(rank_grpo(lowest_ranks))),
    "rank-highest": ("rank-grpo:paper", False, "ties get the highest rank", each(rank_grpo(highest_ranks))),
    "rank-dense": ("rank-grpo:paper", False, "dense ranks", each(rank_grpo(dense_ranks))),
    "rank-ddof-1": ("rank-grpo:paper", False, "ddof 1 in place of 0", each(rank_grpo(ddof=1))),
    # MaxRL
    "maxrl-origin": ("maxrl:paper", False, "scores 0..K-1 in place of 1..K", each(maxrl(shift=1.0))),
    "maxrl-deviation": ("maxrl:skyrl", False, "divided by the deviation", each(VERL_GRPO)),
    "maxrl-misc": ("maxrl:maxrl-reference", False, "divided by deviation and mean", each(lambda r, levels: [r[0] / 1e-6] if len(r) == 1 else [0.0 if constant(r) else (x - mean(r)) / ((deviation(r) + 1e-6) * (mean(r) + 1e-6)) for x in r])),
    "maxrl-eps": ("maxrl:skyrl", False, "eps 1e-2 in place of 1e-6", each(maxrl(added(1e-2), reward))),
    "maxrl-mean-of-others": ("maxrl:paper", False, "centre and divisor are the leave-one-out mean", each(lambda r, levels: [0.0 if constant(r) or m == 0 else (x - m) / m for x, m in zip(r, others_mean(r))] if len(r) > 1 else [0.0])),
    # ODRPO
    "odrpo-strict": ("odrpo-gini(grpo):paper", False, "> for >=", each(odrpo(gini, PAPER_GRPO, level=lambda low, high: math.ceil(high) - 1))),
    "odrpo-levels-from-0": ("odrpo-linear(maxrl):paper", False, "levels counted from 0 in the weight", each(odrpo(lambda k, mu, med: k - 1, maxrl()))),
    "odrpo-no-top": ("odrpo(grpo):paper", False, "top level left out", each(odrpo(uniform, PAPER_GRPO, skip=lambda k, levels: k == levels))),
    "odrpo-upper-median": ("odrpo-gini-median(grpo):paper", False, "upper median for the lower", each(odrpo(gini_median, PAPER_GRPO, rule="upper"))),
    "odrpo-mid-median": ("odrpo-gini-median(maxrl):paper", False, "mean of the middle two for the lower median", each(odrpo(gini_median, maxrl(), rule="mid"))),
    "odrpo-batch-median": ("odrpo-gini-median(grpo):paper", False, "median of the batch", of_batch(median, gini_median_of_batch)),
    "odrpo-median-both-sides": ("odrpo-gini-median(grpo):paper", False, "|Med - k| in place of max(Med - k, 0)", each(odrpo(lambda k, mu, med: math.sqrt(k) * (0.1 + 4 * mu * (1 - mu) * math.exp(-abs(med - k) / 2)), PAPER_GRPO))),
    "odrpo-no-weight": ("odrpo-gini(maxrl):paper", False, "weight missing", each(odrpo(uniform, maxrl()))),
    "odrpo-weight-squared": ("odrpo-gini(grpo):paper", False, "weight squared", each(odrpo(lambda k, mu, med: gini(k, mu, med) ** 2, PAPER_GRPO))),
    "odrpo-no-root": ("odrpo-gini(grpo):paper", False, "k for sqrt(k) in the weight", each(odrpo(lambda k, mu, med: math.sqrt(k) * gini(k, mu, med), PAPER_GRPO))),
    "odrpo-no-offset": ("odrpo-gini(grpo):paper", False, "0.1 missing in the weight", each(odrpo(lambda k, mu, med: math.sqrt(k) * 4 * mu * (1 - mu), PAPER_GRPO))),
    "odrpo-variance": ("odrpo(grpo):paper", False, "variance of a level in place of its deviation", each(odrpo(uniform, cardinal(scale=sd(0), guard=lambda s: s * s)))),
    "odrpo-failures": ("odrpo(maxrl):paper", False, "share of failures in place of successes", each(odrpo(uniform, lambda b, levels: [(x - mean(b)) / (1 - mean(b)) for x in b]))),
    "odrpo-unsolved": ("odrpo(maxrl):paper", False, "-1 for a level that nobody reaches", each(odrpo(uniform, maxrl(), unsolved=1.0))),
    "odrpo-mean-of-others": ("odrpo(grpo):paper", False, "leave-one-out mean at every level", each(odrpo(uniform, cardinal(others_mean, sd(0))))),
    "odrpo-eps": ("odrpo(grpo):paper", False, "eps 0.01 at every level", each(odrpo(uniform, cardinal(scale=sd(0), guard=added(1e-2))))),
    "odrpo-mean-over-levels": ("odrpo(grpo):paper", False, "mean over levels in place of the sum", each(lambda r, levels: [a / levels for a in odrpo(uniform, PAPER_GRPO)(r, levels)])),
    "odrpo-per-group": ("odrpo-gini-median(grpo):paper", False, "every group divided by its deviation", per_group(GINI_MEDIAN)),
    # Whitening
    "whiten-per-response": ("reinforce:verl", True, "per response in place of per token", whitened(each(VERL_CENTRED), by_response, 1, inside(1e-8))),
    "whiten-padding": ("reinforce:verl", True, "padding counted", whitened(each(VERL_CENTRED), by_padded_token, 1, inside(1e-8))),
    "whiten-missing": ("reinforce:verl", True, "not whitened", each(VERL_CENTRED)),
    "whiten-not-centred": ("reinforce:verl", True, "mean of the batch not subtracted", whitened(each(VERL_CENTRED), *VERL_WHITE, shift=False)),
    "whiten-per-token": ("reinforce:paper", True, "per token in place of per response", whitened(each(CENTRED), by_token, 0, outside(0.0))),
    "whiten-ddof-1": ("grpo:paper", True, "ddof 1 in place of 0", whitened(each(PAPER_GRPO), by_response, 1, outside(0.0))),
    "whiten-ddof-0": ("odrpo(grpo):trl", True, "ddof 0 in place of 1", whitened(each(odrpo(uniform, TRL_GRPO)), by_response, 0, outside(1e-4))),
    "whiten-no-eps": ("grpo:gdpo", True, "eps missing", whitened(each(TRL_GRPO), by_response, 1, outside(0.0))),
    "whiten-eps": ("reinforce:nemo", True, "variance of at least 1 in place of 1e-8", whitened(each(CENTRED), by_token, 0, floored(1.0))),
    "whiten-variance": ("reinforce:paper", True, "divided by the variance", whitened(each(CENTRED), by_response, 0, lambda variance: variance)),
    "whiten-twice": ("odrpo-gini-median(grpo):paper", True, "every group whitened before the batch", whitened(per_group(GINI_MEDIAN), *PAPER_WHITE)),
    "whiten-missing-zero": ("reinforce:paper", True, "zeros of missing scores counted", whitened(lambda request, memory: [[a or 0.0 for a in row] for row in each(CENTRED)(request, memory)], *PAPER_WHITE)),
    "whiten-group": ("reinforce:paper", True, "every group whitened, not the batch", per_group(CENTRED)),
}


def main(name):
    if name == "--list":
        rows = [{"name": n, "as": word, "whiten": whiten, "broken": broken} for n, (word, whiten, broken, _) in TABLE.items()]
        print(json.dumps(rows, indent=1))
        return
    if name not in TABLE:
        sys.exit(f"mutants.py: no {name!r}: see --list")
    answer, memory = TABLE[name][3], {}
    for line in sys.stdin:
        request = json.loads(line)
        reply = {"id": request["id"]}
        if "protocol" in request:
            reply["name"] = name
        elif "begin" in request:
            memory.clear()
        else:
            reply["advantages"] = answer(request, memory)
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) == 2 else "")
