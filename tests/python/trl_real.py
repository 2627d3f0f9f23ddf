# OdrpoTrainer with the real TRL: the advantages against TRL's own, with several and missing rewards, in one process or several, and evaluation. Started by
# integrations.sh, alone and by torch.distributed.run.
import os, sys, tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../examples/trainers"))
sys.dont_write_bytecode = True
import train_with_trl as example
import odrpo_bench
from accelerate.utils import gather
from odrpo_bench.integrations.trl import Advantages, OdrpoTrainer
from trl import GRPOTrainer

STEPS = 2


class Recorder(GRPOTrainer):
    """TRL's trainer, which keeps what it computed."""

    def _generate_and_score_completions(self, inputs):
        self.output = super()._generate_and_score_completions(inputs)
        self.own, self.own_log = self.output["advantages"].clone(), list(self._logs["advantages"])
        return self.output


class Checked(Advantages, Recorder):
    """The adapter between that and the training: every batch is checked."""

    batches = evaluated = missing = unscored = 0

    def _generate_and_score_completions(self, inputs):
        output = super()._generate_and_score_completions(inputs)
        log, own_log = np.array(self._logs["advantages"]), np.array(self.own_log)
        if not self.model.training:
            assert output["advantages"].equal(self.own) and np.array_equal(log, own_log), "evaluation is touched"
            self.evaluated += 1
            return output
        rank, n = self.accelerator.process_index, len(inputs)
        everywhere = gather(output["advantages"]).numpy()
        assert len(log) == len(everywhere) == n * self.accelerator.num_processes and np.abs(log - everywhere).max() < 1e-6, "the log is not the advantages"
        none = np.isnan(self._rewards.numpy())
        assert not everywhere[none.all(axis=1)].any(), "advantages of responses without a reward"
        self.missing, self.unscored = self.missing + none.sum(), self.unscored + none.all(axis=1).sum()
        self.check(output, everywhere[rank * n : (rank + 1) * n])
        self.batches += 1
        return output


class AsTrl(Checked):
    def check(self, output, advantages):
        off = np.abs(advantages - self.own.numpy()).max()
        assert np.abs(advantages).max() > 0.5 and off < 1e-5, f"grpo under compat = \"trl\" differs from TRL's by {off}"


class Opo(Checked):
    def check(self, output, advantages):
        lengths, scores = output["completion_mask"].sum(1).numpy(), self.scores()
        there = ~np.isnan(scores)
        wanted = odrpo_bench.advantages(np.nan_to_num(scores).reshape(-1, 8), "opo", mask=there.reshape(-1, 8), lengths=lengths.reshape(-1, 8)).ravel()
        assert len(set(lengths)) > 1 and np.abs(wanted - advantages).max() < 1e-5, "opo"

    def scores(self):
        rank, n = self.accelerator.process_index, len(self.own)
        rewards, weights = self._rewards.numpy()[rank * n : (rank + 1) * n], self.reward_weights.numpy()
        return np.where(np.isnan(rewards).all(axis=1), np.nan, np.nansum(rewards * weights, axis=1))


def share(prompts, completions, **_):
    return [10 * example.share_repeated(p, c) for p, c in zip(prompts, completions)]


def sometimes(prompts, completions, **_):
    return [None if "a" in c else float(len(set(c.split()))) for c in completions]


def rarely(prompts, completions, **_):
    return [0.5 if "b" in c else None for c in completions]


def trained(kind, reward_funcs, weights, estimator, **options):
    with tempfile.TemporaryDirectory() as folder:
        config = {"reward_weights": weights, "per_device_train_batch_size": 32, "per_device_eval_batch_size": 8, "num_generations_eval": 4, "eval_strategy": "steps",
                  "eval_steps": 2}
        trainer = example.trainer_of(kind, folder, reward_funcs, STEPS, np.random.default_rng(1), config, estimator=estimator, estimator_options=options)
        trainer.train()
    assert trainer.batches == STEPS and trainer.evaluated > 0, trainer.batches
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert len(losses) == STEPS and np.isfinite(losses).all(), losses
    return trainer


trainer = trained(AsTrl, [sometimes, share, rarely], [1.0, 0.25, -2.0], "grpo", compat="trl")
assert trainer.missing > 0, "no reward is missing"
trainer = trained(AsTrl, [sometimes, rarely], None, "grpo", compat="trl")
assert trainer.unscored > 0, "every response has a reward"
trained(Opo, [sometimes, rarely], None, "opo")
try:
    trained(OdrpoTrainer, [share], None, "grpo", scale="none")
    raise AssertionError("an option that does not exist")
except TypeError:
    pass
for setting in ({"scale_rewards": "none"}, {"multi_objective_aggregation": "normalize_then_sum"}):
    try:
        with tempfile.TemporaryDirectory() as folder:
            example.trainer_of(OdrpoTrainer, folder, [share], 1, np.random.default_rng(1), setting, estimator="grpo")
        raise AssertionError(f"{setting} is not refused")
    except ValueError as e:
        assert "takes the place" in str(e), e
assert trainer.accelerator.num_processes == int(os.environ.get("WORLD_SIZE", "1"))
if trainer.accelerator.is_main_process:
    print(f"TRL, processes {trainer.accelerator.num_processes}: passed")
