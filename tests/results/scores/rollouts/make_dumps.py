#!/usr/bin/env python3
# Makes dumps/trl-*.jsonl and dumps/verl-*/ with the real trainers: TRL's GRPOTrainer trains a tiny model of random weights on the CPU, and verl's own functions
# write rows as its trainers do. No test of CI. Needs trl==1.16.*, pyarrow and verl==0.9.1 (pip install --no-deps verl: its source alone is read).
# Use: PYTHONPATH=python make_dumps.py [NAME...]; the seeds are fixed, but other versions of torch give other completions.
import ast, importlib.util, json, os, random, sys, tempfile, uuid

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.join(here, "../../../..")
sys.path.insert(0, os.path.join(root, "examples/trainers"))
sys.dont_write_bytecode = True
os.environ.update(HF_HUB_OFFLINE="1", CUDA_VISIBLE_DEVICES="", OMP_NUM_THREADS="1")


def module(name, path):
    """A module of one file, without its package, which needs the compiled one."""
    spec = importlib.util.spec_from_file_location(name, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def train(name, prompts, held_out=(), extra=False, **settings):
    """A short training that logs its completions, as dumps/trl-NAME.jsonl."""
    import torch, train_with_trl as example
    from trl import GRPOConfig, GRPOTrainer

    random.seed(1), torch.manual_seed(1)
    rng = random.Random(1)
    model, tokenizer = example.tiny_model()
    tokenizer.chat_template = "{% for message in messages %}{{ message['content'] }} {% endfor %}"
    text = lambda x: x if isinstance(x, str) else " ".join(message["content"] for message in x)

    def judge(prompts, completions, log_extra=None, **_):
        scores = [float(min(10, 1 + 2 * len(set(text(p).split()) & set(text(c).split())) + rng.randint(0, 2))) for p, c in zip(prompts, completions)]
        if extra and log_extra:
            log_extra("words", [len(text(c).split()) for c in completions])
            log_extra("first", [text(c)[:1] for c in completions])
        return scores

    def brevity(completions, **_):
        return [None if len(text(c).split()) % 5 == 0 else -len(text(c).split()) / 10 for c in completions]

    with tempfile.TemporaryDirectory() as folder:
        config = GRPOConfig(output_dir=folder, log_completions=True, logging_steps=1, report_to=[], use_cpu=True, max_completion_length=12, learning_rate=1e-3, save_strategy="no",
                            disable_tqdm=True, seed=1, reward_weights=[1, 0.5], **settings)
        trainer = GRPOTrainer(model, [judge, brevity], config, train_dataset=dataset(prompts), eval_dataset=dataset(held_out) if held_out else None, processing_class=tokenizer)
        trainer.train()
        parquet = module("parquet", os.path.join(root, "python/odrpo_bench/parquet.py"))
        parquet.convert(os.path.join(folder, "completions"), os.path.join(here, "dumps", f"trl-{name}.jsonl"))


def dataset(prompts):
    from datasets import Dataset

    return Dataset.from_list([{"prompt": prompt} for prompt in prompts])


def letters(count, seed):
    rng = random.Random(seed)
    return [" ".join(rng.sample("abcdefghijkl", 6)) for _ in range(count)]


def trl(wanted):
    def case(name, *arguments, **settings):
        if name in wanted:
            train(name, *arguments, **settings)

    one = {"gradient_accumulation_steps": 1}
    # groups of three; every second prompt of the data is one and the same, so that a step has two groups of it, one behind the other or apart
    some = letters(6, 2)
    case("equal-prompts", [p for other in some for p in (some[0], other)], per_device_train_batch_size=12, num_generations=3, max_steps=4, **one)
    # one batch in three steps, prompts and completions that are chats, columns of log_extra
    chats = [[{"role": "system", "content": "a b c"}, {"role": "user", "content": p}] for p in letters(8, 3)]
    case("three-iterations", chats, extra=True, per_device_train_batch_size=8, num_generations=4, num_iterations=3, max_steps=6, loss_type="dr_grpo", scale_rewards="none", **one)
    # an evaluation before the training and after every second step, in groups of two: it leaves a part of the batch in the log
    case("evaluation-of-two", letters(12, 4), letters(2, 5), per_device_train_batch_size=8, per_device_eval_batch_size=4, num_generations=4, num_generations_eval=2, max_steps=6,
         eval_strategy="steps", eval_steps=2, eval_on_start=True, **one)
    # the same in groups of the same size, and as many rows as a batch has: nothing in a row tells it from a row of the training
    case("evaluation-of-four", letters(12, 6), letters(2, 7), per_device_train_batch_size=8, per_device_eval_batch_size=8, num_generations=4, max_steps=6, eval_strategy="steps",
         eval_steps=2, **one)


def verl_writer(path):
    """verl's _write_generations without its module, whose imports need a cluster."""
    source = os.path.join(os.path.dirname(importlib.util.find_spec("verl").origin), path)
    with open(source) as file:
        function = next(node for node in ast.walk(ast.parse(file.read())) if isinstance(node, ast.FunctionDef) and node.name == "_write_generations")
    function.decorator_list = []
    names = {"os": os, "json": json, "np": __import__("numpy")}
    exec(compile(ast.Module([function], []), source, "exec"), names)
    return names["_write_generations"]


def verl():
    rng = random.Random(8)
    made_uid = lambda: str(uuid.UUID(int=rng.getrandbits(128), version=4))
    prompt = lambda n: f"user\nQuestion {n}?\nassistant\n"
    answer = lambda: " ".join(["w"] * rng.randint(1, 9))
    write_new, write_old = verl_writer("trainer/ppo/v1/trainer_base.py"), verl_writer("trainer/ppo/ray_trainer.py")

    def rows(groups, outputs=lambda: 1):
        """(sort key, input, output, score) as the trainers have them: the score of a rollout is that of its last output."""
        made = []
        for n in groups:
            uid = made_uid()
            for session in range(3):
                score, count = float(rng.randint(1, 10)), outputs()
                for i in range(count):
                    made.append(((uid, session, i), prompt(n) + "tool\n" * i, answer(), score))
        return sorted(made)

    def write(name, write_rows, step, made, extras):
        keys, inputs, outputs, scores = zip(*made)
        write_rows(list(inputs), list(outputs), ["blue"] * len(made), list(scores), extras(keys, scores), os.path.join(here, "dumps", name), step)

    joined = lambda key: "_".join(map(str, key))
    for step in (9, 10, 11):  # the order of names is not that of steps
        # the new trainer: an id, no extras; one prompt twice in a step
        write("verl-new", write_new, step, rows([f"{step}.0", f"{step}.1", f"{step}.0"]), lambda keys, _: {"uid": [joined(k) for k in keys]})
        # the older trainer: extras, no id; the rows of a step are mixed
        mixed = rows([f"{step}.0", f"{step}.1", f"{step}.2"])
        rng.shuffle(mixed)
        write("verl-mixed", write_old, step, mixed, lambda _, scores: {"judge": [float("nan") if s == 1 else s for s in scores], "format_ok": [s > 3 for s in scores]})
    write("verl-validation", write_new, 10, rows(["v.0", "v.1"], lambda: rng.choice([1, 1, 2, 3])),
          lambda keys, scores: {"acc": [s > 5 for s in scores], "uid": [joined(k) for k in keys]})


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["equal-prompts", "three-iterations", "evaluation-of-two", "evaluation-of-four", "verl"]
    trl(wanted)
    if "verl" in wanted:
        verl()
