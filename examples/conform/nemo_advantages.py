"""Calls NeMo RL's advantage estimators for odrpo-bench: python3 nemo_advantages.py grpo. Needs a checkout of NeMo RL (tested: 7ea279a) on PYTHONPATH:
PyPI has a placeholder alone.

NeMo RL forms its groups by the tokens of the prompts. Rows of a batch with the same prompt are one group for it, and this adapter leaves it so.
gdpo-levels is gdpo whose rewards are 1[score >= k], one for each level k = 1..K, which is odrpo(grpo)."""
import torch

from protocol import estimator, serve, stand_in_for, version

stand_in_for("decord", "megatron", "mlflow", "nemo_automodel", "prometheus_client", "pynvml", "soundfile", "swanlab", "vllm", "wandb", "zmq")
from nemo_rl.algorithms import advantage_estimator as nemo
from nemo_rl.algorithms.loss import ClippedPGLossConfig

CLASSES = {"grpo": nemo.GRPOAdvantageEstimator, "grpo-group-mean": nemo.GRPOAdvantageEstimator, "gdpo-levels": nemo.GDPOAdvantageEstimator, "reinforce_plus_plus": nemo.ReinforcePlusPlusAdvantageEstimator}
name = estimator(list(CLASSES))
config = nemo.AdvEstimatorConfig(name=name, use_leave_one_out_baseline=name != "grpo-group-mean")
computer = CLASSES[name](config, ClippedPGLossConfig())


def advantages(batch):
    lengths = torch.tensor(batch.lengths)
    mask = (torch.arange(int(lengths.max())) < lengths[:, None]).float()  # [responses][tokens]
    rewards = {f"reward/{k:03}": torch.tensor(batch.reached(k)) for k in range(1, batch.levels + 1)}
    result = computer.compute_advantage(torch.tensor(batch.prompts)[:, None], torch.tensor(batch.scores), mask, repeated_batch=rewards)
    return result[:, 0].tolist()


serve(advantages, name=f"nemo-rl {name}", version=version("nemo-rl"), source=f"{nemo.__name__}.{CLASSES[name].__name__}")
