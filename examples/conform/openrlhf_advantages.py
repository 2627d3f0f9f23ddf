"""Calls OpenRLHF's compute_advantages_and_returns for odrpo-bench: python3 openrlhf_advantages.py group_norm. Needs openrlhf (tested: 0.11.2), torch,
transformers, ray and aiohttp.

OpenRLHF knows no missing scores. Groups of one size are computed together; reinforce_baseline whitens the batch, so it takes groups of one size alone."""
from types import SimpleNamespace

from protocol import estimator, serve, stand_in_for, version

import torch
from transformers import PreTrainedModel  # before the stand-ins: it looks for flash_attn

stand_in_for("flash_attn", "deepspeed", "vllm")
from openrlhf.trainer.ppo_utils.experience import Experience
from openrlhf.trainer.ppo_utils.experience_maker import RemoteExperienceMaker

name = estimator(["group_norm", "rloo", "dr_grpo", "reinforce_baseline", "flash_reinforce"])
maker = RemoteExperienceMaker.__new__(RemoteExperienceMaker)  # its constructor wants models
maker.advantage_estimator, maker.kl_ctl = name, SimpleNamespace(value=0.0)


def of_groups(batch, groups):
    members = [i for group in groups for i in group]
    algo = SimpleNamespace(advantage=SimpleNamespace(estimator=name, gamma=1.0, lambd=1.0, no_std_norm=False))
    maker.strategy = SimpleNamespace(args=SimpleNamespace(algo=algo, rollout=SimpleNamespace(n_samples_per_prompt=len(groups[0])), reward=SimpleNamespace(clip_range=None)))
    lengths = torch.tensor([batch.lengths[i] for i in members])
    mask = torch.arange(int(lengths.max())) < lengths[:, None]
    rewards = torch.tensor([batch.scores[i] for i in members])
    experience = Experience(index=list(range(len(members))), rewards=rewards, action_mask=mask, kl=torch.zeros(mask.shape), info={})
    result = maker.compute_advantages_and_returns([experience])[0].advantages[:, 0].tolist()
    return dict(zip(members, result))


def advantages(batch):
    sizes = {}
    for group in batch.groups():
        sizes.setdefault(len(group), []).append(group)
    if len(sizes) > 1 and name in ("reinforce_baseline", "flash_reinforce"):
        raise ValueError(f"{name} of OpenRLHF takes groups of one size, so no missing scores")
    found = {}
    for groups in sizes.values():
        found.update(of_groups(batch, groups))
    return [found[i] for i in range(len(batch.scores))]


serve(advantages, name=f"openrlhf {name}", version=version("openrlhf"), source="openrlhf.trainer.ppo_utils.experience_maker.RemoteExperienceMaker")
