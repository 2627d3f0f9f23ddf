"""Calls prime-rl's algorithms for odrpo-bench: python3 prime_advantages.py max_rl. Needs Python 3.12, torch, verifiers, msgspec,
and a checkout of prime-rl (tested: 559b447) with src and packages/prime-rl-configs/src on PYTHONPATH."""
import asyncio
from types import SimpleNamespace

from protocol import estimator, serve, stand_in_for, version

stand_in_for("vllm", "wandb", "zmq")
from prime_rl.orchestrator.algo.grpo import GRPOAlgorithm
from prime_rl.orchestrator.algo.max_rl import MaxRLAlgorithm

CLASSES = {"grpo": GRPOAlgorithm, "max_rl": MaxRLAlgorithm}
name = estimator(list(CLASSES))
algorithm = CLASSES[name](SimpleNamespace(length_penalty=None), None)


def episode(score):
    """One rollout of one sampled token."""
    node = SimpleNamespace(mask=[True], token_ids=[0])
    return SimpleNamespace(traces=[SimpleNamespace(id="", reward=score, has_error=False, agent=SimpleNamespace(trainable=True), nodes=[node])])


def advantages(batch):
    found = {}
    for group in batch.groups():
        episodes = [episode(batch.scores[i]) for i in group]
        asyncio.run(algorithm.score_group(episodes))
        found.update({i: e.traces[0].nodes[0].advantages[0] for i, e in zip(group, episodes)})
    return [found[i] for i in range(len(batch.scores))]


serve(advantages, name=f"prime-rl {name}", version=version("prime-rl"), source=f"{CLASSES[name].__module__}.{CLASSES[name].__name__}")
