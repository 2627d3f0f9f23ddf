#!/usr/bin/env python3
# Trains the bandit of suites/yardstick.toml in numpy, JAX or torch, many seeds at once, as one writes it for an experiment of one's own. Shares no
# code and no random numbers with the program. speed.py compares its regrets and times with the program's.
#   echo '{"estimator": "grpo", "votes": 32, "seeds": 64}' | docs/lab/bandit_peers.py numpy        (or jax, torch; a JSON request per line)
#
# A group is a column: arrays are [actions, groups], [rollouts, groups], [levels, groups], so that reductions run over whole rows. The gradient is
# written out; nothing differentiates. advantages() and gradient() are written once, for all three libraries.
import json, math, os, sys, time, tomllib
from types import SimpleNamespace

import numpy as np

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../suites/yardstick.toml"), "rb") as file:
    SUITE = tomllib.load(file)
WORLD, LEARN = SUITE["env"]["bandit"], SUITE["learn"]
PROMPTS, ACTIONS, LEVELS, BATCH, ROLLOUTS = WORLD["prompts"], WORLD["actions"], WORLD["levels"], LEARN["batch"], LEARN["rollouts"]
EPS, BETA1, BETA2 = SUITE["estimator"]["grpo"]["eps"], 0.9, 0.999
LEVEL = np.arange(1, LEVELS + 1, dtype=np.float32)[:, None]


# --- the problem

def worlds(seeds, rng):
    """True quality [seeds, prompts, actions], whole levels."""
    centre = rng.normal(WORLD["mean"], WORLD["mean_sd"], (seeds, PROMPTS, 1))
    return np.clip(np.rint(centre + rng.normal(0, WORLD["spread"], (seeds, PROMPTS, ACTIONS))), 1, LEVELS).astype(np.int32)


def score_pmf():
    """[true level, score] of one call: a Gaussian on the levels, and uniform flips."""
    noise = {part["model"]: part for part in SUITE["rater"]["yardstick"]["noise"]}
    p = np.exp(-0.5 * ((LEVEL - LEVEL.T) / noise["gaussian"]["sigma"]) ** 2, dtype=float)
    return (1 - noise["uniform"]["p"]) * p / p.sum(1, keepdims=True) + noise["uniform"]["p"] / LEVELS


def vote_pmf(pmf, votes):
    """[true level, vote]: the most frequent of `votes` scores, of several the lowest. Exact: votes! times the coefficient of x^votes in the product
    over levels of sum_n (p x)^n / n!, where n runs over the counts that leave the winner its place."""
    n = np.arange(votes + 1)
    factorial = np.array([math.factorial(i) for i in n], float)
    out = np.zeros_like(pmf)
    for level, row in enumerate(pmf):
        terms = row[:, None] ** n / factorial
        for most in range(1, votes + 1):
            for winner in range(LEVELS):
                product = np.ones(1)
                for other in range(LEVELS):
                    counts = n == most if other == winner else n < most if other < winner else n <= most
                    product = np.convolve(product, terms[other] * counts)[:votes + 1]
                out[level, winner] += product[votes] * factorial[votes]
    return out


def learning_rates(steps):
    warm, t = int(LEARN["warmup"] * steps), np.arange(steps)
    return LEARN["lr"] * np.where(t < warm, (t + 1) / max(1, warm), 0.5 * (1 + np.cos(np.pi * (t - warm) / (steps - warm))))


def regrets(theta, quality):
    """Best minus final true quality of each seed, by theta [seeds * prompts, actions]."""
    p = np.exp(theta - theta.max(1, keepdims=True)).reshape(quality.shape)
    return (quality.max(2) - (p * quality).sum(2) / p.sum(2)).mean(1)


# --- the step, for any of the libraries

def advantages(lib, score, estimator):
    """[rollouts, groups] of scores 1, 2, … of that shape, of the suite's estimators."""
    xp, group = lib.xp, score.shape[0]
    by_deviation = estimator in ("grpo", "odrpo-gini-median(grpo)")             # the others by the mean
    if estimator in ("grpo", "maxrl"):
        r = lib.real(score)
        mean = r.mean(0)
        d = r - mean
        return d / ((xp.sqrt((d * d).mean(0)) if by_deviation else mean) + EPS)
    reach = lib.count(score[None] >= lib.level[:, None], 1)                     # [levels, groups]: how many reach a level
    median = 0.5 * lib.real(lib.count(reach > group // 2, 0) + lib.count(reach >= group - group // 2, 0))
    share = lib.real(reach) / group
    variance = share * (1 - share)
    weight = lib.root * (0.1 + 4 * variance * xp.exp(-0.5 * (median - lib.level).clip(min=0)))
    weight = xp.where(variance > 0, weight / ((xp.sqrt(variance) if by_deviation else share) + EPS), 0)
    return lib.pick(xp.cumsum(weight, 0) - (share * weight).sum(0), score - 1)


def gradient(lib, logits, quality, u, cdf, estimator, seeds):
    """Of the objective, by the logits [actions, groups] of a batch. u [2, rollouts, groups] is uniform, cdf [levels - 1, true level] that of scores."""
    xp = lib.xp
    e = xp.exp(logits - xp.amax(logits, 0))
    p = e / e.sum(0)
    action = lib.below(lib.cumulate(p)[:-1], u[0])
    score = 1 + lib.below(lib.columns(cdf, lib.pick(quality, action) - 1), u[1])
    a = advantages(lib, score, estimator).reshape(ROLLOUTS, seeds, BATCH)
    a = a - a.mean((0, 2))[:, None]
    a = (a / (xp.sqrt((a * a).mean((0, 2))) + EPS)[:, None]).reshape(ROLLOUTS, -1)
    a = a - LEARN["kl"] * (1 - 1 / ACTIONS / lib.pick(p, action))               # k3 of the KL divergence from the uniform policy
    return (lib.sum_by(action, a) - p * a.sum(0)) / (BATCH * ROLLOUTS)


# --- what differs between libraries: each returns train(seed) -> (theta, quality)

def numpy_forms(groups):
    f32, columns = np.float32, np.arange(groups)

    def cumulate(p):                                                            # eight times as fast as np.cumsum(p, 0)
        out = p.copy()
        for above, row in zip(out, out[1:]):
            row += above
        return out

    def count(x, axis):
        return np.add.reduce(x.view(np.uint8), axis, np.uint8)

    def flat(index):
        return index.astype(np.intp) * groups + columns

    return SimpleNamespace(
        xp=np, level=LEVEL, root=np.sqrt(LEVEL), cumulate=cumulate, count=count,
        real=lambda x: x.astype(f32),
        pick=lambda table, index: table.ravel().take(flat(index)),
        columns=lambda table, index: table.take(index, 1),
        below=lambda thresholds, u: count(thresholds.reshape(len(thresholds), -1, groups) <= u, 0),
        sum_by=lambda action, a: np.bincount(flat(action).ravel(), a.ravel(), ACTIONS * groups).astype(f32).reshape(ACTIONS, -1))


def with_numpy(estimator, cdf, seeds, steps):
    f32, lib = np.float32, numpy_forms(seeds * BATCH)
    cdf, rates = cdf.astype(f32), learning_rates(steps)

    def train(seed):
        rng = np.random.Generator(np.random.SFC64(seed))
        quality = worlds(seeds, rng)
        by_prompt = quality.reshape(-1, ACTIONS)
        theta, m, v, move = (np.zeros(by_prompt.shape, f32) for _ in range(4))
        for t in range(steps):
            at = t * BATCH % PROMPTS
            if at == 0:
                order = rng.random((seeds, PROMPTS), f32).argsort(1) + PROMPTS * np.arange(seeds)[:, None]
            rows = order[:, at:at + BATCH].ravel()
            g = gradient(lib, theta.take(rows, 0).T.copy(), by_prompt.take(rows, 0).T.copy(), rng.random((2, ROLLOUTS, rows.size), f32), cdf, estimator, seeds).T.copy()
            m *= f32(BETA1)
            v *= f32(BETA2)
            m[rows] += f32(1 - BETA1) * g
            v[rows] += f32(1 - BETA2) * g * g
            np.multiply(v, f32(1 / (1 - BETA2 ** (t + 1))), out=move)
            np.sqrt(move, out=move)
            move += f32(1e-8)
            np.divide(m, move, out=move)
            move *= f32(rates[t] / (1 - BETA1 ** (t + 1)))
            theta += move
        return theta, quality
    return train


def with_jax(estimator, cdf, seeds, steps):
    import jax
    import jax.numpy as jnp
    lib = SimpleNamespace(
        xp=jnp, level=LEVEL, root=np.sqrt(LEVEL), cumulate=lambda p: jnp.tril(jnp.ones((ACTIONS, ACTIONS))) @ p,  # a third of the time of cumsum
        real=lambda x: x.astype(jnp.float32),
        count=lambda x, axis: x.sum(axis, dtype=jnp.int32),
        pick=lambda table, index: jnp.take_along_axis(table, index, 0, mode="promise_in_bounds"),
        columns=lambda table, index: table[:, index],
        below=lambda thresholds, u: (thresholds.reshape(len(thresholds), -1, seeds * BATCH) <= u).sum(0, dtype=jnp.int32),
        sum_by=lambda action, a: jnp.zeros((ACTIONS, a.shape[1])).at[action, jnp.arange(a.shape[1])].add(a, mode="promise_in_bounds"))
    cdf, rates = jnp.asarray(cdf, jnp.float32), jnp.asarray(learning_rates(steps), jnp.float32)
    batches = PROMPTS // BATCH

    def train_all(key, quality):
        def step(state, given):
            theta, m, v = state
            rows, key, rate, t = given
            g = gradient(lib, theta[rows].T, quality[rows].T, jax.random.uniform(key, (2, ROLLOUTS, rows.size)), cdf, estimator, seeds).T
            m = (BETA1 * m).at[rows].add((1 - BETA1) * g, unique_indices=True, mode="promise_in_bounds")
            v = (BETA2 * v).at[rows].add((1 - BETA2) * g * g, unique_indices=True, mode="promise_in_bounds")
            theta = theta + rate / (1 - BETA1 ** t) * m / (jnp.sqrt(v / (1 - BETA2 ** t)) + 1e-8)
            return (theta, m, v), None

        def epoch(state, given):
            key, rate, t = given
            keys = jax.random.split(key, 1 + batches)
            order = jax.random.uniform(keys[0], (seeds, PROMPTS)).argsort(1) + PROMPTS * jnp.arange(seeds)[:, None]
            rows = order.reshape(seeds, batches, BATCH).swapaxes(0, 1).reshape(batches, -1)
            return jax.lax.scan(step, state, (rows, keys[1:], rate, t))

        zero = jnp.zeros(quality.shape, jnp.float32)
        t = jnp.arange(1, steps + 1, dtype=jnp.float32)
        given = jax.random.split(key, steps // batches), rates.reshape(-1, batches), t.reshape(-1, batches)
        return jax.lax.scan(epoch, (zero, zero, zero), given)[0][0]

    def given(seed):
        quality = worlds(seeds, np.random.default_rng(seed))
        return quality, (jax.random.key(seed), jnp.asarray(quality.reshape(-1, ACTIONS)))

    compiled = jax.jit(train_all).lower(*given(0)[1]).compile()

    def train(seed):
        quality, arguments = given(seed)
        return np.asarray(compiled(*arguments)), quality
    return train


def with_torch(estimator, cdf, seeds, steps):
    import torch
    torch.set_num_threads(1)
    level = torch.from_numpy(LEVEL)
    lib = SimpleNamespace(
        xp=torch, level=level, root=level.sqrt(), cumulate=lambda p: p.cumsum(0),
        real=lambda x: x.float(),
        count=lambda x, axis: x.view(torch.uint8).sum(axis, dtype=torch.uint8),   # half the time of the sum in int64
        pick=lambda table, index: table.gather(0, index.long()),
        columns=lambda table, index: table.index_select(1, index.reshape(-1)),
        sum_by=lambda action, a: torch.zeros(ACTIONS, a.shape[1]).scatter_add_(0, action.long(), a))
    lib.below = lambda thresholds, u: lib.count(thresholds.reshape(len(thresholds), -1, u.shape[-1]) <= u, 0)
    cdf, rates = torch.from_numpy(cdf).float(), learning_rates(steps)

    @torch.no_grad()
    def train(seed):
        torch.manual_seed(seed)
        quality = worlds(seeds, np.random.default_rng(seed))
        by_prompt = torch.from_numpy(quality.reshape(-1, ACTIONS)).long()
        theta = torch.zeros(by_prompt.shape, requires_grad=True)
        theta.grad = torch.zeros(by_prompt.shape)
        adam = torch.optim.Adam([theta], lr=0, betas=(BETA1, BETA2), eps=1e-8, fused=True, maximize=True)
        for t in range(steps):
            at = t * BATCH % PROMPTS
            if at == 0:
                order = torch.rand(seeds, PROMPTS).argsort(1) + PROMPTS * torch.arange(seeds)[:, None]
            rows = order[:, at:at + BATCH].reshape(-1)
            g = gradient(lib, theta.index_select(0, rows).T.contiguous(), by_prompt.index_select(0, rows).T.contiguous(), torch.rand(2, ROLLOUTS, len(rows)), cdf, estimator, seeds).T
            theta.grad.zero_()
            theta.grad.index_copy_(0, rows, g)
            adam.param_groups[0]["lr"] = rates[t]
            adam.step()
        return theta.numpy(), quality
    return train


LIBRARIES = {"numpy": with_numpy, "jax": with_jax, "torch": with_torch}


def answers(library, requests):
    """Yields an answer per request, with CPU seconds; what has to be done once (compilation, the vote's distribution) is timed apart."""
    prepared = {}
    for request in requests:
        cell = request["estimator"], request["votes"], request["seeds"], request.get("steps", LEARN["steps"])
        start = time.process_time()
        if cell not in prepared:
            cdf = np.cumsum(vote_pmf(score_pmf(), cell[1]), 1)[:, :-1].T.copy()
            prepared[cell] = LIBRARIES[library](cell[0], cdf, *cell[2:])
        begin = time.process_time()
        theta, quality = prepared[cell](request.get("seed", 0))
        yield {"prepare": begin - start, "train": time.process_time() - begin, "regret": regrets(theta, quality).tolist()}


if __name__ == "__main__":
    for answer in answers(sys.argv[1], map(json.loads, sys.stdin)):
        print(json.dumps(answer), flush=True)
