"""Estimators in TRL: `OdrpoTrainer`, TRL's GRPOTrainer with their advantages (docs/trainers.md). TRL is imported when the class is first asked for."""
import numpy as np

from . import BatchEstimator, refuse_untested


class Advantages:
    """The part of `OdrpoTrainer` that stands before TRL's GRPOTrainer, or before a class of yours that inherits from it.

    estimator and estimator_options: as of `odrpo_bench.advantages`; compat = "trl" computes as TRL's own code of that form does. posterior:
    `odrpo_bench.posterior(model)`, whose values then take the place of the scores. The other arguments are TRL's. A response's score is the weighted sum
    of its rewards, as TRL makes it; one without any reward is missing, and its advantage is 0. After the estimator a batch is whitened as its convention
    does; where that is over tokens, a response counts once. Evaluation stays TRL's.

    Raises ValueError for TRL's settings that the estimator makes void, and what `advantages` raises.

    Source: TRL 1.16, _generate_and_score_completions of trl/trainer/grpo_trainer.py."""

    def __init__(self, *args, estimator, estimator_options=None, posterior=None, **kwargs):
        self._batch_estimator = BatchEstimator(estimator, posterior, estimator_options or {})
        super().__init__(*args, **kwargs)
        if self.scale_rewards != "group" or self.multi_objective_aggregation != "sum_then_normalize":
            raise ValueError("the estimator takes the place of scale_rewards and multi_objective_aggregation: leave both as TRL has them")

    def _calculate_rewards(self, *args, **kwargs):
        self._rewards = super()._calculate_rewards(*args, **kwargs)  # [responses of all processes, reward functions]
        return self._rewards

    def _generate_and_score_completions(self, inputs):
        output = super()._generate_and_score_completions(inputs)
        if self.model.training:
            everywhere = output["advantages"].new_tensor(self._advantages_of_all(output))
            first = self.accelerator.process_index * len(inputs)
            output["advantages"] = everywhere[first : first + len(inputs)]
            replace_tail(self._logs["advantages"], everywhere.tolist())
        return output

    def _advantages_of_all(self, output):
        """The advantages [responses] of all processes, which each of them computes."""
        scores = summed_rewards(self._rewards.detach().cpu().numpy(), self.reward_weights.detach().cpu().numpy())
        lengths = None
        if self._batch_estimator.reads_lengths:
            lengths = self.accelerator.gather(output["completion_mask"].sum(1)).cpu().numpy()
        return self._batch_estimator(scores, np.arange(len(scores)) // self.num_generations, lengths)


def summed_rewards(rewards, weights):
    """Scores [responses] of rewards [responses, functions], in float as TRL sums them: what a function gave no reward (NaN) counts as 0, and a response
    without any reward has none."""
    scores = np.nansum(rewards * weights, axis=1)
    scores[np.isnan(rewards).all(axis=1)] = np.nan
    return scores


def replace_tail(log, values):
    """Puts values in the place of as many last ones of a deque, which keeps the last of them if it is shorter."""
    for _ in range(min(len(log), len(values))):
        log.pop()
    log.extend(values)


def __getattr__(name):
    if name != "OdrpoTrainer":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    refuse_untested("trl")
    from trl import GRPOTrainer

    globals()[name] = type(name, (Advantages, GRPOTrainer), {"__module__": __name__, "__doc__": Advantages.__doc__})
    return globals()[name]
