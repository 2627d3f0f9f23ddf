"""Calls TRL's trainers for odrpo-bench: python3 trl_advantages.py grpo. Needs trl (tested: 1.16.0) and torch; downloads nothing.

TRL has no function for advantages: they are computed in the middle of a trainer's step. So a trainer gets a model of one small layer, made here,
its generation is replaced by one token for each response, and its reward functions return the scores. A missing score is None, as TRL has it.
gdpo-levels is normalize_then_sum with 1[score >= k] as the reward of each level k = 1..K, which is odrpo(grpo)."""
import functools, os, tempfile

os.environ.update(CUDA_VISIBLE_DEVICES="", HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="error", TRL_EXPERIMENTAL_SILENCE="1")
from protocol import estimator, serve, version  # before torch, which prints

import datasets, torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer, RLOOConfig, RLOOTrainer

SETTINGS = {
    "grpo": {"scale_rewards": "group"},
    "grpo-batch": {"scale_rewards": "batch"},
    "grpo-none": {"scale_rewards": "none"},
    "gdpo": {"multi_objective_aggregation": "normalize_then_sum"},
    "gdpo-levels": {"multi_objective_aggregation": "normalize_then_sum"},
    "rloo": {"normalize_advantages": False},
    "rloo-normalized": {"normalize_advantages": True},
}
name = estimator(list(SETTINGS))
Trainer, Config = (RLOOTrainer, RLOOConfig) if name.startswith("rloo") else (GRPOTrainer, GRPOConfig)
scores = []  # of the batch in work, None where one is missing


def whole_score(completions, **_):
    return scores


def level(k):
    def reached(completions, **_):
        return [None if s is None else float(s >= k) for s in scores]

    reached.__name__ = f"level_{k}"
    return reached


@functools.cache
def trainer_of(levels):
    words = {"<pad>": 0, "<eos>": 1, "q": 2, "a": 3}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(WordLevel(words, "q")), pad_token="<pad>", eos_token="<eos>")
    model = GPT2LMHeadModel(GPT2Config(vocab_size=4, n_positions=8, n_embd=4, n_layer=1, n_head=1, bos_token_id=1, eos_token_id=1))
    config = Config(output_dir=tempfile.gettempdir(), report_to=[], use_cpu=True, bf16=False, beta=0.0, num_generations=2, per_device_train_batch_size=2, **SETTINGS[name])
    functions = [level(k) for k in range(1, levels + 1)] if name == "gdpo-levels" else whole_score
    trainer = Trainer(model=model, reward_funcs=functions, args=config, train_dataset=datasets.Dataset.from_dict({"prompt": ["q"]}), processing_class=tokenizer)
    trainer._generate = lambda prompts, *_: generated(len(prompts))
    trainer.model.train()
    return trainer


def generated(n):
    """A token for each prompt and each response, in the shape that the trainer's own method returns: GRPO's has five entries more than RLOO's."""
    lists = [[2]] * n, [[3, 1]] * n
    return (*lists, None, ["a"] * n, None, {}, None, None) if Trainer is GRPOTrainer else (*lists, ["a"] * n)


def advantages(batch):
    trainer = trainer_of(batch.levels)
    scores[:] = [score for row in batch.rows for score in row]
    trainer.num_generations = len(batch.rows[0])
    outputs = trainer._generate_and_score_completions([{"prompt": "q"} for _ in scores])
    return [a for a, score in zip(outputs["advantages"].tolist(), scores) if score is not None]


serve(advantages, name=f"trl {name}", version=version("trl"), source=f"{Trainer.__module__}.{Trainer.__name__}")
