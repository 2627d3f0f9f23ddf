"""Calls SkyRL's advantage estimators for odrpo-bench: python3 skyrl_advantages.py maxrl. Needs skyrl (tested: 0.3.0), torch, ray and
Python 3.12: with 3.11 SkyRL's own imports fail."""
import numpy as np
import torch

from protocol import estimator, serve, stand_in_for, version

stand_in_for("flash_attn", "vllm")
from skyrl.backends.skyrl_train.utils import ppo_utils

name = estimator(["grpo", "dr_grpo", "maxrl", "rloo"])
FUNCTIONS = {"maxrl": ppo_utils.compute_maxrl_advantage, "rloo": ppo_utils.compute_rloo_outcome_advantage}
function = FUNCTIONS.get(name, ppo_utils.compute_grpo_outcome_advantage)


def advantages(batch):
    """Without whitening, a response's number of tokens does not matter: each has one."""
    rewards = torch.tensor(batch.scores)[:, None]
    result, _ = function(token_level_rewards=rewards, response_mask=torch.ones_like(rewards), index=np.array(batch.group), grpo_norm_by_std=name == "grpo")
    return result[:, 0].tolist()


serve(advantages, name=f"skyrl {name}", version=version("skyrl"), source=f"{function.__module__}.{function.__name__}")
