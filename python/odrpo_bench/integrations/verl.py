"""Estimators in verl, chosen by `algorithm.adv_estimator` (docs/trainers.md)."""
import numpy as np

from . import BatchEstimator, refuse_untested


def register_adv_est(name, estimator, *, posterior=None, **options):
    """Tells verl of an estimator, which `algorithm.adv_estimator=NAME` then chooses. Call it in the process that computes advantages: in a module that
    VERL_USE_EXTERNAL_MODULES names, or in your own main program.

    estimator and options: as of `odrpo_bench.advantages`; compat = "verl" computes as verl's own code of that form does. posterior:
    `odrpo_bench.posterior(model)`, whose values then take the place of the scores. A response's score is the sum of its token rewards, NaN a missing
    one; responses of one uid are a group, in any order and of any size. After the estimator a batch is whitened as its convention does.

    Returns the function that verl then calls. Raises ImportError for a version of verl that is not tested, ValueError for a name that is taken, and
    what `advantages` raises.

    Source: verl 0.9.1, compute_advantage of verl/trainer/ppo/ray_trainer.py."""
    refuse_untested("verl")
    from verl.trainer.ppo import core_algos

    batch = BatchEstimator(estimator, posterior, options)

    @core_algos.register_adv_est(name)
    def compute(token_level_rewards, response_mask, index, **_):
        """(advantages, returns), both [responses, tokens], of token_level_rewards and response_mask [responses, tokens] and uids index [responses]."""
        numbers = {}
        group = np.array([numbers.setdefault(uid, len(numbers)) for uid in index], int)
        rewards = token_level_rewards if token_level_rewards.is_floating_point() else token_level_rewards.float()
        mask = response_mask.detach().cpu().double().numpy()
        scores = rewards.detach().cpu().double().numpy().sum(axis=1)
        out = rewards.new_tensor(batch(scores, group, mask.sum(axis=1))[:, None] * mask)
        return out, out

    return compute
