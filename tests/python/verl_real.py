# register_adv_est with the real verl: the advantages of its compute_advantage against those of verl's own estimators. Started by integrations.sh.
import os, sys

import numpy as np
import torch

if os.environ.get("VERL_USE_EXTERNAL_MODULES") == "verl_real":  # imported by verl, in a process of its own
    from odrpo_bench.integrations.verl import register_adv_est

    register_adv_est("outside", "odrpo-gini(grpo)", compat="verl")
else:
    import subprocess

    import odrpo_bench
    from odrpo_bench.integrations.verl import register_adv_est
    from verl import DataProto
    from verl.trainer.config import AlgoConfig
    from verl.trainer.ppo.core_algos import AdvantageEstimator as Own, get_adv_estimator_fn
    from verl.trainer.ppo.ray_trainer import compute_advantage
    from verl.trainer.ppo.v1.utils import compute_advantage_for_multi_trajectories

    def batch(rng, single=True):
        """Groups of 1 to 8 responses (without single: of 2 or more) in a random order, of 1 to 12 tokens; in some a tool's tokens are masked."""
        uids = rng.permutation(np.repeat([f"uid-{i}" for i in range(40)], rng.integers(1 if single else 2, 9, 40))).astype(object)
        n, length = len(uids), 12
        ends = rng.integers(1, length + 1, n)
        mask = torch.tensor((np.arange(length) < ends[:, None]).astype(np.int64))
        mask[::5, 0] = (mask[::5].sum(1) == 1).long()
        rewards = torch.zeros(n, length)
        rewards[torch.arange(n), torch.tensor(ends - 1)] = torch.tensor(rng.integers(1, 11, n), dtype=torch.float32)
        tensors = {"token_level_rewards": rewards, "response_mask": mask, "reward_baselines": torch.zeros(n)}
        return DataProto.from_dict(tensors=tensors, non_tensors={"uid": uids})

    config = AlgoConfig()
    PAIRS = {"grpo": Own.GRPO, "rloo": Own.RLOO, "reinforce": Own.REINFORCE_PLUS_PLUS_BASELINE, "opo": Own.OPO, "grpo-passk": Own.GRPO_PASSK}
    for word in PAIRS:
        register_adv_est("odrpo_" + word, word, compat="verl")
    for word, own in PAIRS.items():
        furthest = 0
        for seed in range(20):
            data = batch(np.random.default_rng(seed), single=own != Own.GRPO_PASSK)  # verl's refuses a group of one
            wanted = compute_advantage(data, own, config=config).batch["advantages"].clone()
            data = compute_advantage(data, "odrpo_" + word, config=config)
            got = data.batch["advantages"]
            assert got.dtype == torch.float32 and got.shape == wanted.shape and data.batch["returns"].equal(got)
            assert not got[data.batch["response_mask"] == 0].any() and got.abs().max() > 0.5
            furthest = max(furthest, float((got - wanted).abs().max()))
        print(f"verl, {word} against {own.value}: differ by at most {furthest:.1e}")
        assert furthest < 2e-5, word
    data = batch(np.random.default_rng(99))
    wanted = compute_advantage(data, "odrpo_rloo", config=config).batch["advantages"].clone()
    keys = [f"{uid}_{i}_0" for i, uid in enumerate(data.non_tensor_batch["uid"])]
    assert compute_advantage_for_multi_trajectories(data, keys, "odrpo_rloo", config=config).batch["advantages"].equal(wanted), "the trainer of verl 0.9"

    # an estimator that verl has not: those of `advantages`, group by group
    register_adv_est("gini", "odrpo-gini(grpo)", compat="paper")
    data = compute_advantage(data, "gini", config=config)
    mask, uids = data.batch["response_mask"], data.non_tensor_batch["uid"]
    scores = data.batch["token_level_rewards"].sum(1).double().numpy()
    last = (mask * torch.arange(mask.shape[1])).argmax(dim=1)
    got = data.batch["advantages"][torch.arange(len(uids)), last].numpy()
    wanted = np.zeros(len(uids))
    for uid in set(uids):
        wanted[uids == uid] = odrpo_bench.advantages(scores[uids == uid], "odrpo-gini(grpo)")
    wanted = (wanted - wanted.mean()) / wanted.std()
    assert np.abs(got - wanted).max() < 1e-5, "odrpo-gini"

    # a module that verl imports by itself
    environment = {**os.environ, "VERL_USE_EXTERNAL_MODULES": "verl_real", "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")])}
    code = "import verl; from verl.trainer.ppo.core_algos import get_adv_estimator_fn; print(get_adv_estimator_fn('outside'))"
    ran = subprocess.run([sys.executable, "-B", "-c", code], env=environment, capture_output=True, text=True)
    assert "compute" in ran.stdout, ran.stderr
    print("verl: passed")
