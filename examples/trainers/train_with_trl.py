#!/usr/bin/env python3
# GRPO by TRL with an estimator of odrpo-bench, from nothing, on a CPU: a tiny model of random weights learns to repeat the letters of its prompt. Its reward is
# the score 1..10 of a noisy judge: one that `judge fit` made from a file of scores. docs/trainers.md explains it, docs/lab/trl-run.md has a run.
"""Use: train_with_trl.py [ESTIMATOR] [STEPS]; needs the packages odrpo-bench and trl, and the program odrpo-bench on PATH."""
import csv, os, subprocess, sys, tempfile

import numpy as np

LETTERS = "abcdefghijkl"
LEVELS, NEAREST = 10, 40  # of the judge; simulated scores that are near enough to a true quality


def fitted_judge(folder):
    """(true quality [n], score [n]), ascending in quality, of the judge that is fitted to a file of scores: 150 prompts x 8 responses x 4 calls."""
    def odrpo(*arguments):
        subprocess.run(["odrpo-bench", "judge", *arguments], cwd=folder, check=True, capture_output=True)

    odrpo("simulate", "hard", "--prompts", "150", "--samples", "4", "-o", "scores.csv")  # in your place: the scores of your judge
    odrpo("fit", "scores.csv", "-o", "judge.toml")
    odrpo("simulate", "judge.toml", "--prompts", "3000", "--samples", "1", "--truth", "-o", "simulated.csv")
    with open(os.path.join(folder, "simulated.csv"), newline="") as file:
        pairs = sorted((float(row["gold"]), float(row["score"])) for row in csv.DictReader(file))
    return np.array(pairs).T


def share_repeated(prompt, completion):
    """The share of the prompt's letters that the completion has."""
    return len(set(prompt.split()) & set(completion.split())) / len(set(prompt.split()))


def judge_of(pairs, rng):
    """A reward function of TRL: the score of a response of true quality 1..10, drawn among the simulated scores of responses as good."""
    qualities, scores = pairs

    def judge(prompts, completions, log_metric=None, **_):
        truth = np.array([1 + (LEVELS - 1) * share_repeated(p, c) for p, c in zip(prompts, completions)])
        first = np.clip(np.searchsorted(qualities, truth) - NEAREST // 2, 0, len(scores) - NEAREST)
        if log_metric:
            log_metric("true_quality", truth.mean())
        return scores[first + rng.integers(NEAREST, size=len(truth))].tolist()

    return judge


def prompts(count, rng):
    """Rows of a data set: six different letters each."""
    return [{"prompt": " ".join(rng.permutation(list(LETTERS))[:6])} for _ in range(count)]


def tiny_model():
    """A transformer of 2 layers with random weights, and its tokenizer of single letters."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = {word: i for i, word in enumerate(["<pad>", "<eos>", *LETTERS])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<pad>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    size = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=len(words), max_position_embeddings=64, pad_token_id=0, eos_token_id=1, bos_token_id=None, **size))
    return model, PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>")


def trainer_of(kind, folder, reward_funcs, steps, rng, config=None, **options):
    """A trainer of TRL, of a class `kind`: 64 responses a step in groups of 8, on the CPU."""
    import torch
    from datasets import Dataset
    from trl import GRPOConfig

    torch.manual_seed(1)
    model, tokenizer = tiny_model()
    settings = {"use_cpu": True, "bf16": False, "report_to": "none", "save_strategy": "no", "disable_tqdm": True, "seed": 1, "max_steps": steps, "logging_steps": 1,
                "learning_rate": 1e-3, "lr_scheduler_type": "constant", "per_device_train_batch_size": 64, "num_generations": 8, "max_completion_length": 8}
    args = GRPOConfig(output_dir=folder, **{**settings, **(config or {})})
    rows = Dataset.from_list(prompts(256, rng))
    return kind(model=model, processing_class=tokenizer, reward_funcs=reward_funcs, args=args, train_dataset=rows, eval_dataset=rows.select(range(8)), **options)


def main(estimator="odrpo-gini-median(maxrl)", steps="30"):
    import odrpo_bench
    from odrpo_bench.integrations.trl import OdrpoTrainer
    from transformers import PrinterCallback, TrainerCallback

    class Log(TrainerCallback):
        """A line for each step: what TRL logs, and how far the advantages that it logged are from those of its rewards."""

        def on_log(self, args, state, control, logs=None, **_):
            if "loss" not in logs:
                return
            scores = np.reshape(list(trainer._logs["rewards"]["judge"]), (-1, 8))
            ours = odrpo_bench.advantages(scores, estimator)
            ours = (ours - ours.mean()) / ours.std()  # the whitening of the convention `paper`
            off = np.abs(ours.ravel() - list(trainer._logs["advantages"])).max()
            if not (np.isfinite(float(logs["loss"])) and off < 1e-6):
                raise RuntimeError(f"step {state.global_step}: loss {logs['loss']}, advantages differ by {off}")
            numbers = (float(logs[name]) for name in ("loss", "reward", "true_quality"))
            print("%4d  %8.4f  %10.3f  %12.3f  %8.1e" % (state.global_step, *numbers, off))

    with tempfile.TemporaryDirectory() as folder:
        rng = np.random.default_rng(1)
        judge = judge_of(fitted_judge(folder), rng)
        trainer = trainer_of(OdrpoTrainer, folder, judge, int(steps), rng, estimator=estimator)
        trainer.remove_callback(PrinterCallback)
        trainer.add_callback(Log)
        print("step      loss  mean score  true quality     error")
        trainer.train()


if __name__ == "__main__":
    main(*sys.argv[1:])
