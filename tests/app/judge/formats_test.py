#!/usr/bin/env python3
# Files of scores as people have them: layouts, packed files, encodings, tools, answers of a judge in words. Usage: formats_test.py PROGRAM
import csv, gzip, io, json, os, subprocess, zipfile

import checks
from checks import check, flowed, near, program


def call(*arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, env=checks.clean)


FOLDER = os.path.join(os.path.dirname(os.path.realpath(__file__)), "formats")


def path(name):
    return os.path.join(FOLDER, name)


def save(name, content):
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    with open(name, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    return name


def one_member(name):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as z:
        z.writestr(name, "<x/>")
    return archive.getvalue()


def lines(objects):
    return "".join(json.dumps(o) + "\n" for o in objects)


def analyzed(name, *flags, wanted=0):
    done = call("judge", "analyze", name, *flags, "--json")
    check(done.returncode == wanted, f"{name} {flags}: exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout) if done.returncode == 0 else {}


def refused(name, *flags, says):
    done = call("judge", "analyze", name, *flags, "--json")
    check(done.returncode in (2, 8) and says in done.stderr, f"{name} {flags}: {done.stderr}")


IGNORED = ("file", "notes", "warnings", "compared", "columns")


def same(one, two, what, ignored=IGNORED):
    for key in two:
        if key not in ignored:
            check(one.get(key) == two[key], f"{what}: {key} is {one.get(key)}, not {two[key]}")


# --- one table in many layouts: 6 prompts x 4 responses x 3 calls on 1..5, some missing
SCORES = {(p, r, s): (p + 2 * r + s * (p % 2)) % 5 + 1 for p in range(6) for r in range(4) for s in range(3)}
SCORES[1, 2, 0] = SCORES[3, 0, 2] = None
HEAD = ["prompt_id", "response_id", "sample_id", "score"]


def shown(score, decimal="."):
    return "" if score is None else str(score)


def long_rows(mark=","):
    return mark.join(HEAD) + "\n" + "".join(mark.join((str(p), str(r), str(s), shown(v))) + "\n" for (p, r, s), v in SCORES.items())


plain = analyzed(save("plain.csv", long_rows()))
check(plain["scores"] == 70 and plain["missing"] == 2, "the plain table")
objects = [{"prompt_id": p, "response_id": r, "sample_id": s, "score": v} for (p, r, s), v in SCORES.items()]
for name, content in (
    ("semicolons.csv", long_rows(";")), ("bars.csv", long_rows("|")), ("tabs.tsv", long_rows("\t")), ("tabs.csv", long_rows("\t")),
    ("sep.csv", "sep=;\n" + long_rows(";")), ("bom.csv", b"\xef\xbb\xbf" + long_rows().encode()), ("utf16.csv", long_rows().encode("utf-16")),
    ("utf16be.csv", b"\xfe\xff" + long_rows().encode("utf-16-be")), ("utf16plain.csv", long_rows().encode("utf-16-le")),
    ("packed.csv.gz", gzip.compress(long_rows().encode())), ("lines.jsonl", lines(objects)), ("list.json", json.dumps(objects)), ("pretty.json", json.dumps(objects, indent=2)),
    ("packed.jsonl.gz", gzip.compress(lines(objects).encode())),
):
    same(analyzed(save(name, content)), plain, name)
archive = io.BytesIO()
with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("scores.csv", long_rows())
same(analyzed(save("packed.zip", archive.getvalue())), plain, "packed.zip")
check("columns are separated by semicolons" in analyzed("semicolons.csv")["notes"], "the separator is said")
same(analyzed("semicolons.csv", "--separator", ";"), plain, "--separator")
refused("semicolons.csv", "--separator", ",", says="columns separated by semicolons")
refused("plain.csv", "--separator", "x", says="--separator is \"x\": one of , ; | and tab is wanted")
save("bad.gz", b"\x1f\x8b\x08\x00nonsense")
refused("bad.gz", says="bad.gz: cannot be unpacked")
refused(save("surrogate.csv", b"\xff\xfe" + "prompt".encode("utf-16-le") + b"\x00\xd8a\x00"), says="surrogate that is no pair")

# wide: a column for each call, or for each judge
wide = "prompt_id,response_id,s1,s2,s3\n" + "".join(f"{p},{r}," + ",".join(shown(SCORES[p, r, s]) for s in range(3)) + "\n" for p in range(6) for r in range(4))
named = {"s1": 0, "s2": 1, "s3": 2}
save("wide.csv", wide)
for flags in (("--score", "s1,s2,s3"), ("--score", "s*"), ("--score", "s?")):
    same(analyzed("wide.csv", *flags), plain, f"wide {flags}")
panel = analyzed(save("panel.csv", long_rows().replace("sample_id", "rater_id").replace("\n", "\n")), wanted=0)
judged = analyzed("wide.csv", "--score", "s*", "--rater", "columns")
check(judged["judges"] == ["s1", "s2", "s3"] and panel["judges"] == ["0", "1", "2"], f"columns are judges: {judged['judges']}")
same(judged, panel, "wide judges", IGNORED + ("judges", "by_judge", "pairs"))
save("wide.jsonl", lines({"prompt_id": p, "response_id": r, **{f"s{s + 1}": SCORES[p, r, s] for s in range(3)}} for p in range(6) for r in range(4)))
same(analyzed("wide.jsonl", "--score", "s1,s2,s3"), plain, "wide JSON")
same(analyzed("wide.jsonl", "--score", "s*", "--rater", "columns"), judged, "wide JSON, judges")
refused("wide.csv", "--score", "t*", says='no column is called like "t*"; found "prompt_id"')
refused("wide.csv", "--score", "s1,s9", says='no column "s9"')
refused("wide.csv", "--score", "s1", "--rater", "columns", says="name them all, such as")
refused("plain.csv", "--score", "score,sample_id", says="--sample none leaves it out")

# lists of scores in a cell; nested keys
save("lists.csv", "prompt_id,response_id,score\n" + "".join(f'{p},{r},"[' + ", ".join("null" if SCORES[p, r, s] is None else str(SCORES[p, r, s]) for s in range(3)) + ']"\n' for p in range(6) for r in range(4)))
same(analyzed("lists.csv"), plain, "lists in cells")
save("lists.jsonl", lines({"prompt_id": p, "response_id": r, "score": [SCORES[p, r, s] for s in range(3)]} for p in range(6) for r in range(4)))
same(analyzed("lists.jsonl"), plain, "lists in JSON")
nested = [{"item": {"prompt": p}, "id": r, "call": s, "grading": {"result": {"score": v}, "score": 99}} for (p, r, s), v in SCORES.items()]
same(analyzed(save("nested.jsonl", lines(nested)), "--prompt", "item.prompt", "--response", "id", "--sample", "call", "--score", "grading.result.score"), plain, "nested keys")
save("nested.json", json.dumps(nested, indent=1))
same(analyzed("nested.json", "--prompt", "item.prompt", "--response", "id", "--sample", "call", "--score", "grading.result.score"), plain, "nested keys of a list")
refused("nested.json", "--prompt", "item", "--response", "id", "--sample", "call", "--score", "grading.score", says="nested.json:3:3: error: item is an object: a number or a text is wanted")

# decimal commas
half = {k: None if v is None else v / 2 for k, v in SCORES.items()}
save("point.csv", ",".join(HEAD) + "\n" + "".join(f"{p},{r},{s},{'' if v is None else v}\n" for (p, r, s), v in half.items()))
save("comma.csv", ";".join(HEAD) + "\n" + "".join(f"{p};{r};{s};{'' if v is None else str(v).replace('.', ',')}\n" for (p, r, s), v in half.items()))
commas = analyzed("comma.csv")
same(commas, analyzed("point.csv"), "decimal commas")
check(any("decimal comma" in note for note in commas["notes"]), commas["notes"])

# --- items without prompts, continuous scores
items = "item,score\n" + "".join(f"{i},{(i * 7 + s * (i % 3)) % 5 + 1}\n" for i in range(40) for s in range(4))
alone = analyzed(save("items.csv", items), "--prompt", "none", "--response", "item")
check(alone["prompts"] == 40 and alone["kendall_w"]["mean"]["value"] is None and alone["icc1"]["value"] is not None, "each item is a prompt of its own")
check(call("judge", "fit", "items.csv", "--prompt", "none", "--response", "item").returncode == 0, "and can be fitted")
smooth = "prompt_id,response_id,sample_id,score\n" + "".join(f"{p},{r},{s},{(p * 37 + r * 101 + s * 3) % 997 / 996:.4f}\n" for p in range(20) for r in range(5) for s in range(3))
refused(save("smooth.csv", smooth), says="--round 0.1 or --bins 10 makes levels")
rounded = analyzed("smooth.csv", "--round", ".1")
check(rounded["scale"] == "0..1 by 0.1" and "scores are rounded to multiples of 0.1" in rounded["notes"], f"{rounded['scale']} {rounded['notes']}")
check(flowed(call("judge", "analyze", "smooth.csv", "--round", ".1").stdout).startswith("smooth.csv: scores are rounded to multiples of 0.1; 20 prompts,"), "the first line says so")
binned = analyzed("smooth.csv", "--bins", "10")
check(len(binned["values"]) == 10 and any("10 bins of equal width from" in note for note in binned["notes"]), f"{binned['values']} {binned['notes']}")
refused("smooth.csv", "--bins", "1", says="--bins is \"1\": a whole number 2..100 is wanted")
refused("smooth.csv", "--round", "0", says="--round is \"0\": a number above 0 is wanted")
refused("smooth.csv", "--round", ".1", "--bins", "5", says="keep one")

# --- a judge's answers instead of numbers, and words
ANSWERS = {
    "rating": [lambda v: json.dumps({"rating": v, "reason": "fine"}), lambda v: 'Sure! {"reason": "a {b}"} then ```{"score": "%d"}```' % v, lambda v: '<think>{"rating": 1}</think>{"rating": %d.0}' % v],
    "[[N]]": [lambda v: f"Rating: [[{v}]]", lambda v: f"[[A]] I think\n[[ {v} ]]", lambda v: f"<think>[[1]]</think> so [[{v}.0]]"],
    r"(?i)score\s*[:=]\s*([0-9]+)": [lambda v: f"Score: {v}", lambda v: f"the SCORE = {v}.", lambda v: f"<thinking>Score: 1</thinking>score:{v}"],
}
for pattern, forms in ANSWERS.items():
    rows = [{"prompt_id": p, "response_id": r, "sample_id": s, "score": None if v is None else forms[(p + r + s) % 3](v)} for (p, r, s), v in SCORES.items()]
    same(analyzed(save("answers.jsonl", lines(rows)), "--parse", pattern), plain, f"--parse {pattern}")
    table = io.StringIO()
    writer = csv.DictWriter(table, HEAD)
    writer.writeheader(), writer.writerows({**row, "score": row["score"] or ""} for row in rows)
    same(analyzed(save("answers.csv", table.getvalue()), "--parse", pattern), plain, f"--parse {pattern} of CSV")
rows[0]["score"] = "I cannot say."
unread = analyzed(save("unread.jsonl", lines(rows)), "--parse", r"(?i)score\s*[:=]\s*([0-9]+)")
check(unread["unreadable"] == 1 and any('"I cannot say." once' in note for note in unread["notes"] + unread["warnings"]), unread["notes"])
refused("answers.jsonl", "--parse", "([0-9]+", says="no regular expression")
refused("answers.jsonl", "--parse", "[0-9]+", says="a regular expression with one group is wanted")
words = {1: "bad", 2: "poor", 3: "fair", 4: "good", 5: "best"}
save("words.csv", ",".join(HEAD) + "\n" + "".join(f"{p},{r},{s},{'' if v is None else words[v]}\n" for (p, r, s), v in SCORES.items()))
same(analyzed("words.csv", "--map", "bad=1,poor=2", "--map", "fair=3,good=4,best=5"), plain, "words")
refused("words.csv", "--map", "bad", says="--map holds \"bad\": WORD=NUMBER is wanted")

# --- tools: their own files
def rows_of(name, *flags):
    """(prompt, response, judge) -> scores as `analyze` counts them, from what the tool's files say."""
    return analyzed(name, *flags)


RUBRIC = ("judge_one", "judge_two", "grade", "rubric.style", "rubric.facts")
for log in ("essays.eval", "essays.json"):
    expected = list(csv.DictReader(open(path(f"inspect/{log}.rows.csv"))))
    for judge in RUBRIC:
        grades = {"C": 1, "P": 0.5, "I": 0, "N": 0}
        values = [(row["id"], row["epoch"], grades.get(row["value"], row["value"])) for row in expected if row["scorer"] == judge]
        got = analyzed(path(f"inspect/{log}"), "--score", judge)
        right = save("right.csv", "prompt_id,response_id,rater_id,score\n" + "".join(f"{i},{e},{judge},{v}\n" for i, e, v in values))
        same(got, analyzed(right), f"{log} {judge}")
    everything = analyzed(path(f"inspect/{log}"))
    check(sorted(everything["judges"]) == sorted(RUBRIC) and everything["scores"] + everything["missing"] == len(expected), f"{log}: {everything['judges']}")
    check("read as a file of inspect" in everything["notes"] and any("different scales" in w for w in everything["warnings"]), f"{log}: {everything['notes']} {everything['warnings']}")
refused(path("inspect/essays.json"), "--score", "none_such", says='no judge or metric is called "none_such"; the file has "grade"')

deep = analyzed(path("deepeval"))
check((deep["prompts"], deep["responses"], sorted(deep["judges"]), deep["scores_per_response"]["most"]) == (4, 8, ["Correctness", "Helpfulness"], 4), f"deepeval: {deep['prompts']} {deep['judges']}")
harness = analyzed(path("lm-eval/samples_toy_ratings.jsonl"))
check((harness["prompts"], harness["scores"], harness["scores_per_response"]["most"]) == (7, 7, 1), "lm-evaluation-harness: seven documents, one score each")
fit = call("judge", "fit", path("lm-eval/samples_toy_ratings.jsonl"))
check(fit.returncode == 8 and "no response has two scores" in fit.stderr, f"fit says why not: {fit.stderr}")
verl = analyzed(path("verl"))
check((verl["prompts"], verl["responses"], verl["scores"], verl["scale"]) == (12, 47, 47, "1..10"), f"verl: {verl['prompts']} {verl['responses']} {verl['scale']}")
check(analyzed(path("verl/2.jsonl"))["prompts"] == 4, "one step of verl")
check(analyzed(path("verl"), "--format", "verl", "--score", "judge")["scores"] == 47, "a key of verl's reward extras")

# by their documented schemas
promptfoo = {"evalId": "e", "results": {"version": 3, "results": [
    {"promptIdx": 0, "testIdx": t, "vars": {"q": q}, "provider": {"id": "m"}, "response": {"output": o}, "score": 0.5, "success": True,
     "gradingResult": {"componentResults": [{"score": a, "assertion": {"type": "llm-rubric", "metric": "clear"}}, {"score": b, "assertion": {"type": "contains"}, "metadata": {"graderError": e}}]}}
    for t, (q, o, a, b, e) in enumerate([("x", "1", 0.5, 1, False), ("x", "1", 0.75, 0, True), ("x", "2", 1, 1, False), ("y", "3", 0, 0, False), ("y", "3", 0.25, 1, False)])] + [{"promptIdx": 0, "vars": {"q": "z"}, "error": "timeout"}]}}
foo = analyzed(save("results.json", json.dumps(promptfoo, indent=2)))
check((foo["prompts"], foo["responses"], sorted(foo["judges"]), foo["scores"], foo["unreadable"]) == (2, 3, ["clear", "contains"], 9, 1), f"promptfoo: {foo}"[:300])
check("1 results have no output: the provider failed" in foo["notes"], foo["notes"])
bench = [{"question_id": q, "turn": t, "model": m, "judge": ["gpt-4", "single-v1"], "judgment": "", "score": -1 if (q, t, m) == (81, 1, "a") else 5 + t} for q in (81, 82) for t in (1, 2) for m in "ab"]
mt = analyzed(save("gpt-4_single.jsonl", lines(bench)))
check((mt["prompts"], mt["responses"], mt["missing"], mt["judges"]) == (4, 8, 1, ["gpt-4 single-v1"]), f"MT-bench: {mt['prompts']} {mt['missing']}")
events = [{"spec": {"eval_name": "quiz", "run_id": "r"}}] + [{"run_id": "r", "event_id": i, "sample_id": f"s.{i % 5}", "type": "match" if i < 9 else "error", "data": {"correct": i % 2 == 0}} for i in range(10)]
save("evals/1.jsonl", lines(events[:6])), save("evals/2.jsonl", lines(events[:1] + events[1:6]))
openai = analyzed("evals")
check((openai["prompts"], openai["scores"], openai["judges"], openai["scores_per_response"]["most"]) == (5, 10, ["quiz"], 2), f"OpenAI evals: {openai}"[:300])
prime = [{"task": {"key": f"t{g}"}, "group": g, "traces": [{"id": f"{g}-{i}", "rewards": {"judge": {"score": (g + i) % 3}, "format": {"score": None if i else 1}}} for i in range(4)]} for g in range(3)]
rl = analyzed(save("traces.jsonl", lines(prime)))
check((rl["prompts"], rl["responses"], rl["scores"], rl["missing"], sorted(rl["judges"])) == (3, 12, 15, 9, ["format", "judge"]), f"prime-rl: {rl['scores']} {rl['missing']}")
results = [{"example_id": e, "rollout_number": n, "reward": (e + n) % 4, "metrics": {}} for e in range(4) for n in range(3)]
check(analyzed(save("verifiers.jsonl", lines(results)))["responses"] == 12, "verifiers")
nemo = [{"content": f"system prompt of all.\nQuestion {'abcdef'[g] * 9} and what follows of it?\nanswer {i}{g * i} ends", "rewards": float(i % 3), "idx": g * 4 + i, "token_ids": [1, 2, 3], "logprobs": {"a": [1]}} for g in range(5) for i in range(4)]
found = analyzed(save("train_data_step1.jsonl", lines(nemo)))
check((found["prompts"], found["responses"]) == (5, 20), f"NeMo RL: {found['prompts']}")
refused(save("odd.jsonl", lines(nemo[:7])), says="where a prompt's rows begin cannot be told")
refused("plain.csv", "--format", "promptfoo", says="plain.csv:1:1: error: this is no JSON object")
refused("lines.jsonl", "--format", "promptfoo", says="no file of promptfoo: no object has the keys results.results, evalId")
refused("plain.csv", "--format", "prompfoo", says='--format is "prompfoo"')
os.makedirs("empty", exist_ok=True)
refused("empty", says="a folder without files of scores")

# nesting, bare numbers, answers without scores, folders of several logs
def counts(name, *flags):
    got = analyzed(name, *flags)
    return got.get("prompts"), got.get("responses"), got.get("scores"), got.get("missing"), got.get("notes", [])[1:]


DEPTH = 300000
one = '{"input": "q", "output": "a", "score": 2, "step": 1}\n'
refused(save("nests.jsonl", one + '{"input":' + "[" * DEPTH + "]" * DEPTH + ',"output":"a","score":1,"step":1}\n'), says="nests.jsonl:2:521: error: objects and lists nest more than 512 deep")
refused(save("nests.json", '{"evalId":"e","results":{"results":[\n{"vars":' + '{"a":' * DEPTH + "1" + "}" * DEPTH + ',"response":{"output":"x"},"score":1}]}}'), says="nests.json:2:2549: error: objects and lists nest more than 512 deep")
bare = [{"input": "NaN \\\" NaN", "output": "a", "score": (1, float("nan"), float("inf"), 3)[i % 4], "step": i // 4} for i in range(8)]
check(counts(save("bare.jsonl", lines(bare))) == (2, 8, 4, 4, []), f"bare NaN and Infinity: {counts('bare.jsonl')}")

turns = [{"input": f"q{s}" + o * " more", "output": "a", "score": s + r + 1 if o else 9, "step": 1, "uid": f"{s}-ab_{r}_{o}"} for s in range(3) for o in (1, 0) for r in range(2)]
kept = "6 rows are further outputs of a rollout and repeat its score: the last output of each rollout is kept"
check(counts(save("outputs.jsonl", lines(turns))) == (3, 6, 6, 0, [kept]), f"verl keeps the last output: {counts('outputs.jsonl')}")
check(analyzed("outputs.jsonl")["scale"] == "1..4", "and its score")
check(counts(save("groups.jsonl", lines({**t, "input": t["input"][:2], "uid": f"g_0_{t['input'][1]}"} for t in turns)))[:3] == (3, 12, 12), "a uid of several rows is no output")
check(counts(save("uids.jsonl", lines({"input": f"q{i // 4}", "output": "a", "score": i % 3 + 1, "step": 1, "uid": f"u{i}"} for i in range(8))))[:3] == (2, 8, 8), "a prompt of verl is its step and input")

log = json.load(open(path("inspect/essays.json")))
save("logs/a.json", json.dumps(log)), save("logs/b.json", json.dumps({**log, "eval": {**log["eval"], "model": "other/model", "eval_id": "E2"}}))
check(counts("logs", "--score", "judge_one") == (3, 12, 10, 2, []), f"answers of two models are apart: {counts('logs', '--score', 'judge_one')}")
save("tasks/a.json", json.dumps(log)), save("tasks/b.json", json.dumps({**log, "eval": {**log["eval"], "task": "poems"}}))
check(counts("tasks", "--score", "judge_one")[:2] == (6, 12), "samples of two tasks are two prompts")
for name in ("2026-11-25T21-47-10+00-00_essays_A.eval", "2026-11-25T21-47-10+00-00_poems_B.eval"):
    save(f"packed/{name}", open(path("inspect/essays.eval"), "rb").read())
check(counts("packed", "--score", "judge_one")[:2] == (12, 36), "the task of a packed log is in its name")
del log["samples"][0]["scores"]
log["samples"][1].update(scores={}, error={"message": "timeout"})
check(counts(save("failed.json", json.dumps(log))) == (3, 6, 20, 10, ["2 samples have no scores: they count as missing"]), f"Inspect: samples without scores: {counts('failed.json')}")
summaries = [{"id": 1, "epoch": e, "input": "a", "target": "b", **({"scores": {"j": {"value": e}}} if e else {"error": "x"})} for e in range(3)]
check(counts(save("summaries.json", json.dumps(summaries))) == (1, 3, 2, 1, ["1 samples have no scores: they count as missing"]), "the first sample failed")


def documents(lacking=-1):
    return [{"doc_id": d, "filtered_resps": ["x"], "filter": "none", "metrics": ["acc"], **({} if d == lacking else {"acc": d % 2})} for d in range(4)]


for name, lacking in (("arc_easy_2026-11-25T21-47-10.12", -1), ("arc_easy_2026-11-26T21-47-10.12", -1), ("boolq_2026-11-25T21-47-10.12", 2)):
    save(f"harness/samples_{name}.jsonl", lines(documents(lacking)))
check(counts("harness") == (8, 8, 11, 1, ["1 scores of metrics are absent or null: they count as missing"]), f"lm-eval: tasks are apart, and runs of one are repeats: {counts('harness')}")
for episode in prime:
    del episode["traces"][0]["rewards"]
check(counts(save("unrewarded.jsonl", lines(prime))) == (3, 12, 9, 15, ["3 traces have no rewards: they count as missing"]), f"prime-rl: {counts('unrewarded.jsonl')}")
check(counts("train_data_step1.jsonl")[4] == ["found 5 groups of 4 answers by their common beginning: if that is wrong, write the prompt's id, the answer's id and the score into JSON lines"], "NeMo RL says what it found")

# --- what tools write beside their scores, and what an archive of a Mac holds
save("harness/results_2026-11-25T21-47-10.json", json.dumps({"results": {"arc_easy": {"acc,none": 0.5}}}))
check(counts("harness")[:4] == (8, 8, 11, 1) and counts("harness")[4][-1] == "not read, without scores of lm-eval: harness/results_2026-11-25T21-47-10.json", f"lm-eval's own results: {counts('harness')}")
for name in ("1.jsonl", "2.jsonl"):
    save(f"steps/{name}", open(path(f"verl/{name}")).read())
alone = counts("steps")[:4]
save("steps/advantages.csv", "step,advantage\n1,0.5\n")
check(counts("steps")[:4] == alone and counts("steps")[4][-1] == "not read, without scores of verl: steps/advantages.csv", f"a table beside verl's rows: {counts('steps')}")
archive = io.BytesIO()
with zipfile.ZipFile(archive, "w") as z:
    z.writestr("scores.csv", long_rows())
    z.writestr("__MACOSX/._scores.csv", b"\0\5\x16\7")
same(analyzed(save("mac.zip", archive.getvalue())), plain, "mac.zip")
with zipfile.ZipFile(archive, "w") as z:
    z.writestr("a.csv", long_rows())
    z.writestr("b.csv", long_rows())
refused(save("two.zip", archive.getvalue()), says="unpack it and name one, such as a.csv")
# where libarchive is not there, or is no library, packed files alone are refused
save("broken/libarchive.so.13", "no library")
without = {**checks.clean, "LD_LIBRARY_PATH": os.path.abspath("broken")}
for name, code in (("packed.csv.gz", 5), ("packed.zip", 5), ("plain.csv", 0)):
    done = subprocess.run([program, "judge", "analyze", save("plain.csv", long_rows()) if name == "plain.csv" else name], capture_output=True, text=True, env=without)
    check(done.returncode == code and (code == 0) == ("libarchive13" not in done.stderr), f"{name} without libarchive: exit {done.returncode}: {done.stderr}")
refused(path("verl/1.jsonl"), "--gold", "truth", says="what the keys of a file of verl mean is known: leave --gold \"truth\" out, or add --format json")
refused(path("verl/1.jsonl"), "--prompt", "step", "--format", "verl", says="leave --prompt \"step\" out")
refused(save("sheet.xlsx", one_member("xl/workbook.xml")), says="save the sheet as CSV")
refused(save("rows.parquet", b"PAR1" + bytes(20)), says="rows.parquet: a Parquet file: `python -m odrpo_bench convert rows.parquet OUT.jsonl` makes JSON lines of its rows")

# --- stats reads the same encodings
runs = "est;seed;v\n" + "".join(f"{e};{s};{s + (e == 'b')}\n" for e in "ab" for s in range(4))
STATS = ("--unit", "seed", "--cell", "est", "--value", "v", "--format", "json")
for name, content in (("runs.csv", runs), ("runs16.csv", runs.encode("utf-16")), ("runs.csv.gz", gzip.compress(runs.encode())), ("runsep.csv", "sep=;\n" + runs)):
    done = call("stats", save(name, content), *STATS)
    check(done.returncode == 0 and [c["mean"]["value"] for c in json.loads(done.stdout)["cells"]] == [1.5, 2.5], f"stats {name}: {done.stderr}")
done = call("stats", save("runscomma.csv", runs.replace(";0\n", ";0,5\n")), *STATS)
check(done.returncode == 0 and json.loads(done.stdout)["cells"][0]["mean"]["value"] == 1.625, f"a decimal comma in runs: {done.stderr}")
check("1 number has a decimal comma" in done.stdout + done.stderr and "separated by semicolons" in done.stdout + done.stderr, "it is said")

checks.finish()
