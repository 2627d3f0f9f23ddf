"""Calls verl's advantage estimators for odrpo-bench: python3 verl_advantages.py grpo. Needs verl (tested: 0.9.1) and torch.

The argument is a name that verl has registered and that needs scores alone, dr_grpo (grpo without the deviation), or gdpo-levels:
gdpo whose rewards are 1[score >= k], one for each level k = 1..K, which is odrpo(grpo). maxrl is in the MaxRL authors' fork of verl alone:
with a checkout of it on PYTHONPATH it is the fork that is asked."""
import numpy as np
import torch
import verl
from verl.trainer.ppo.core_algos import get_adv_estimator_fn

from protocol import estimator, serve

NAMES = ["grpo", "grpo_vectorized", "dr_grpo", "gdpo", "gdpo-levels", "rloo", "rloo_vectorized", "reinforce_plus_plus_baseline", "opo", "grpo_passk", "maxrl"]
name = estimator(NAMES)
function = get_adv_estimator_fn({"dr_grpo": "grpo", "gdpo-levels": "gdpo"}.get(name, name))


def of_levels(batch, mask):
    """gdpo's arguments for one reward of each level; prompts have one token."""
    rewards = {f"level {k}": np.array(batch.reached(k)) for k in range(1, batch.levels + 1)}
    prompt = torch.ones(len(batch.scores), 1)
    tensors = {"prompts": prompt, "attention_mask": torch.cat([prompt, mask], 1).long()}
    return {"config": {"gdpo_reward_keys": list(rewards)}, "non_tensor_batch": rewards, "batch": tensors}


def advantages(batch):
    lengths = torch.tensor(batch.lengths)
    mask = (torch.arange(int(lengths.max())) < lengths[:, None]).float()  # [responses][tokens]
    rewards = torch.zeros_like(mask)
    rewards[torch.arange(len(lengths)), lengths - 1] = torch.tensor(batch.scores)
    more = {"dr_grpo": {"norm_adv_by_std_in_grpo": False}, "grpo_passk": {"config": {}}}.get(name, {})
    if name == "gdpo-levels":
        more = of_levels(batch, mask)
    result, _ = function(token_level_rewards=rewards, response_mask=mask, index=np.array(batch.group), **more)
    return result[:, 0].tolist()


serve(advantages, name=f"verl {name}", version=getattr(verl, "__version__", "unknown"), source=f"{function.__module__}.{function.__name__}")
