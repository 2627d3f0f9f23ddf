#!/usr/bin/env python3
# The adapters for verl and TRL (docs/trainers.md) with stand-ins for both and for torch, whose signatures are the real ones; tests/python/integrations.sh runs the
# real ones. Advantages are compared with `export-estimator`, which is other code. Usage: integrations_test.py PROGRAM FOLDER; the package is in FOLDER.
import collections, importlib.metadata, json, os, sys, types, warnings

import checks
from checks import check, refuses

FOLDER, = checks.paths
if not os.path.isdir(FOLDER):
    print("the Python package was not built here: no nanobind, or no headers of Python")
    sys.exit(77)
sys.path[:0] = [FOLDER, os.getcwd()]
sys.dont_write_bytecode = True
import numpy as np

SEED = 20261128
rng = np.random.default_rng(SEED)
print("seed", SEED)


class Tensor:
    """As much of a tensor of torch in float32 as the adapters need."""

    def __init__(self, numbers, kind=np.float32):
        self.array = np.array(numbers, kind)

    def is_floating_point(self):
        return self.array.dtype.kind == "f"

    def new_tensor(self, numbers):
        return Tensor(numbers, self.array.dtype)

    def __getitem__(self, at):
        return Tensor(self.array[at], self.array.dtype)

    def detach(self):
        return self

    cpu = detach

    def float(self):
        return Tensor(self.array, np.float32)

    def double(self):
        return Tensor(self.array, np.float64)

    def sum(self, axis):
        return Tensor(self.array.sum(axis), self.array.dtype)

    def numpy(self):
        return self.array

    def tolist(self):
        return self.array.tolist()


def same(got, wanted, what, tolerance=1e-6):
    got, wanted = np.asarray(got, float), np.asarray(wanted, float)
    good = got.shape == wanted.shape and np.all(np.abs(got - wanted) <= tolerance * (1 + np.abs(wanted).max(initial=0)))
    check(good, f"{what}:\n{got}\nexpected\n{wanted}")


def exported(estimator, compat):
    """The module that `export-estimator` writes; None where the convention has no such form."""
    name = f"exported_{len(sys.modules)}"
    if not checks.subprocess.run([checks.program, "export-estimator", "--estimator", estimator, "--compat", compat, "-o", name + ".py"], capture_output=True).returncode:
        return importlib.import_module(name)


# the trainers' stand-ins

versions = {"verl": "0.9.1", "trl": "1.16.0"}
importlib.metadata.version = versions.__getitem__
registered = {}


def register_adv_est(name_or_enum):
    def decorator(fn):
        if name_or_enum in registered and registered[name_or_enum] != fn:
            raise ValueError(f"Adv estimator {name_or_enum} has already been registered")
        registered[name_or_enum] = fn
        return fn

    return decorator


class GRPOTrainer:
    """TRL's, with advantages of its own that the adapter must replace in training and keep in evaluation."""

    def __init__(self, model=None, reward_funcs=None, args=None, *, process=0, rewards=None, weights=(1,), scale_rewards="group"):
        self.model, self.accelerator = types.SimpleNamespace(training=True), types.SimpleNamespace(process_index=process, gather=self._gather)
        self.num_generations, self.scale_rewards, self.multi_objective_aggregation = 4, scale_rewards, "sum_then_normalize"
        self.reward_weights, self.rewards = Tensor(weights), rewards
        self._logs = {"advantages": collections.deque([7.0] * 3, maxlen=len(rewards) + 3)}

    def _calculate_rewards(self, inputs, prompts, completions, completion_ids_list):
        return Tensor(self.rewards)

    def _gather(self, local):
        return Tensor(np.arange(len(self.rewards)) % 5 + 1, int)

    def _generate_and_score_completions(self, inputs):
        n = len(self._calculate_rewards(inputs, [], [], []).array)
        self._logs["advantages"].extend([-9.0] * n)
        mine = slice(self.accelerator.process_index * len(inputs), (self.accelerator.process_index + 1) * len(inputs))
        return {"advantages": Tensor([-9.0] * n)[mine], "completion_mask": Tensor(np.ones((len(inputs), 3)), int), "prompt_ids": "untouched"}


for name in ("verl", "verl.trainer", "verl.trainer.ppo"):
    sys.modules[name] = types.ModuleType(name)
core_algos = sys.modules["verl.trainer.ppo.core_algos"] = types.ModuleType("core_algos")
sys.modules["verl.trainer.ppo"].core_algos = core_algos
core_algos.register_adv_est = register_adv_est

import odrpo_bench

integrations = importlib.import_module("odrpo_bench.integrations")
verl, trl = (importlib.import_module(f"odrpo_bench.integrations.{name}") for name in ("verl", "trl"))
check("trl" not in sys.modules and "torch" not in sys.modules, "the package imports TRL or torch by itself")
sys.modules["trl"] = types.ModuleType("trl")
sys.modules["trl"].GRPOTrainer = GRPOTrainer

# versions

for version in ("0.9.0", "0.9.10", "0.10.0", "1.0"):
    versions["verl"] = version
    refuses(ImportError, f"verl {version} is installed", verl.register_adv_est, "x", "grpo")
versions["verl"] = "0.9.1+local"
for version in ("1.15.2", "1.17.0.dev0", "1.1", "2.0"):
    versions["trl"] = version
    refuses(ImportError, f"trl {version} is installed", getattr, trl, "OdrpoTrainer")
versions["trl"] = "1.16.3"
OdrpoTrainer = trl.OdrpoTrainer
check(OdrpoTrainer is trl.OdrpoTrainer and issubclass(OdrpoTrainer, GRPOTrainer), "the class is made more than once")
refuses(AttributeError, "Trainer", getattr, trl, "Trainer")

# batches: groups of 1 to 5 in a random order, with missing scores, as the exported modules have them

WORDS = [e["word"] for e in json.loads(checks.call("list", "estimators", "--json"))["estimators"]["entries"]]
uids = rng.permutation(np.repeat([f"uid {i}" for i in range(12)], rng.integers(1, 6, 12))).astype(object)
scores = rng.integers(1, 11, len(uids)).astype(float)
scores[::9] = np.nan
mask = (np.arange(6) < rng.integers(1, 7, len(uids))[:, None]).astype(int)
mask[2, 1] = 0  # as of a tool's answer
rewards = np.zeros(mask.shape)
rewards[:, 0] = scores
compared = 0
for word in WORDS:
    for compat in ("paper", "verl", "trl", "openrlhf"):
        module = exported(word, compat)
        if module is None:
            continue
        compared += 1
        compute = verl.register_adv_est(f"{word} {compat}", word, compat=compat)
        got, returns = compute(token_level_rewards=Tensor(rewards), response_mask=Tensor(mask, int), config=None, index=uids, reward_baselines=None)
        same(got.array, module.verl(rewards, mask, uids)[0], f"verl, {word} {compat}")
        check(got is returns and got.array.dtype == np.float32 and registered[f"{word} {compat}"] is compute, f"verl, {word} {compat}: what it returns")
        trainer = OdrpoTrainer(estimator=word, estimator_options={"compat": compat}, rewards=scores[:28, None])
        same(trainer._generate_and_score_completions([{}] * 28)["advantages"].array, module.trl(scores[:28], 4), f"TRL, {word} {compat}")
check(compared >= 50, f"{compared} comparisons with exported modules")

# opo reads lengths: tokens of the mask in verl, of all processes in TRL

lengths = mask.sum(axis=1)
values = np.nan_to_num(scores)
got = verl.register_adv_est("opo", "opo")(Tensor(rewards), Tensor(mask, int), uids)[0].array.sum(axis=1) / lengths
for uid in set(uids):
    of = uids == uid
    wanted = odrpo_bench.advantages(values[of], "opo", mask=~np.isnan(scores[of]), lengths=lengths[of])
    same(got[of], wanted, f"verl, opo, {uid}")
trainer = OdrpoTrainer(estimator="opo", rewards=scores[:28, None])
wanted = odrpo_bench.advantages(values[:28].reshape(7, 4), "opo", mask=~np.isnan(scores[:28].reshape(7, 4)), lengths=(np.arange(28) % 5 + 1).reshape(7, 4))
same(trainer._generate_and_score_completions([{}] * 28)["advantages"].array, wanted.ravel(), "TRL, opo")

# verl: integers, posterior scores, and what is refused

grpo = verl.register_adv_est("whole", "grpo", compat="verl")
whole = grpo(Tensor(np.diag([3, 7, 7, 9]), int), Tensor(np.ones((4, 4)), int), np.array(["a"] * 4, object))[0].array
same(whole[:, 0], odrpo_bench.advantages([3, 7, 7, 9], "grpo", compat="verl"), "verl, whole rewards")
believed = odrpo_bench.posterior("hard")
four = scores[:28].reshape(7, 4)
there = ~np.isnan(four)
wanted = odrpo_bench.advantages(np.where(there, believed(np.nan_to_num(four), mask=there), 0), "rloo", mask=there, compat="verl")
of_four = np.repeat(np.arange(7), 4)
got = verl.register_adv_est("posterior", "rloo", posterior=believed, compat="verl")(Tensor(scores[:28, None]), Tensor(np.ones((28, 1)), int), of_four)
same(got[0].array[:, 0], wanted.ravel(), "verl, posterior scores")
refuses(ValueError, "already been registered", verl.register_adv_est, "whole", "rloo")
refuses(ValueError, "has no maxrl", verl.register_adv_est, "new", "maxrl", compat="verl")
refuses(TypeError, "epsilon", verl.register_adv_est, "new", "grpo", epsilon=1)
check("new" not in registered, "a refused estimator was registered")
refuses(ValueError, "inf", grpo, Tensor([[np.inf], [1]]), Tensor([[1], [1]], int), ["a", "a"])
refuses(TypeError, "index", grpo, Tensor([[2], [1]]), Tensor([[1], [1]], int))

# TRL: several rewards and missing ones, processes, logs, evaluation

several = rng.integers(1, 11, (24, 3)).astype(float)
several[rng.random((24, 3)) < 0.4] = np.nan
several[5] = np.nan
weights = np.array([1, 0.25, -0.5])
summed = np.where(np.isnan(several).all(axis=1), np.nan, np.nansum(several * weights, axis=1)).reshape(6, 4)
there = ~np.isnan(summed)
wanted = odrpo_bench.advantages(np.nan_to_num(summed), "odrpo-gini(grpo)", mask=there, compat="paper")
wanted = np.array(odrpo_bench.whiten(wanted.tolist(), "odrpo-gini(grpo)", kept=there.astype(int).tolist())).ravel()
for process in range(3):
    trainer = OdrpoTrainer("model", "functions", estimator="odrpo-gini(grpo)", process=process, rewards=several, weights=weights)
    output = trainer._generate_and_score_completions([{}] * 8)
    same(output["advantages"].array, wanted[8 * process : 8 * process + 8], f"TRL, process {process}")
    same(list(trainer._logs["advantages"]), [7, 7, 7, *wanted], f"TRL, the log of process {process}")
    check(output["prompt_ids"] == "untouched" and wanted[5] == 0, "TRL, the rest of the output")
trainer.model.training = False
check(set(trainer._generate_and_score_completions([{}] * 8)["advantages"].tolist()) == {-9.0}, "TRL, evaluation is touched")
check(list(trainer._logs["advantages"])[-24:] == [-9.0] * 24, "TRL, the log of evaluation is touched")
short = collections.deque([1, 2], maxlen=2)
trl.replace_tail(short, [3, 4, 5])
check(list(short) == [4, 5], f"the tail of a short log: {short}")
refuses(ValueError, "takes the place of scale_rewards", OdrpoTrainer, estimator="grpo", rewards=several, scale_rewards="none")
refuses(TypeError, "estimator", OdrpoTrainer, rewards=several)

# scores 0..1, of which an ordinal estimator knows no levels, are warned of
for word, shares, wanted in (("odrpo-gini(grpo)", [0.3, 0.7, 0.7, 0.9], 1), ("odrpo-gini(grpo)", [3, 7, 7, 9], 0), ("grpo", [0.3, 0.7, 0.7, 0.9], 0)):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        integrations.BatchEstimator(word, None, {})(np.array(shares, float), np.zeros(4, int))
    check(len(seen) == wanted, f"{word} of {shares}: {[str(w.message) for w in seen]}")

checks.finish()
