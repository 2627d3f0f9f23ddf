#!/usr/bin/env python3
# Files of scores that were read wrongly once, beside their right values: codes, rounding, ids, fractions, lines with #. Usage: reading_test.py PROGRAM
import json, os, subprocess

import checks
from checks import check, flowed, near, program


def call(*arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, env=checks.clean)


FOLDER = os.path.join(os.path.dirname(os.path.realpath(__file__)), "read")
MTBENCH = ("--prompt", "question_id", "--response", "model", "--sample", "turn")


def path(name):
    return os.path.join(FOLDER, name)


def save(name, text):
    with open(name, "w") as file:
        file.write(text)
    return name


def analyzed(name, *flags):
    done = call("judge", "analyze", name, *flags, "--json")
    check(done.returncode == 0, f"{name} {flags}: {done.stderr}")
    return json.loads(done.stdout)


def same(name, other, flags=(), other_flags=(), ignored=("file", "notes", "warnings", "missing", "compared")):
    """Two files that must say the same, but for what is ignored; the first's JSON."""
    one, two = analyzed(name, *flags), analyzed(other, *other_flags)
    for key in two:
        if key not in ignored:
            check(one[key] == two[key], f"{name} and {other} differ in {key}: {one[key]} {two[key]}")
    return one


# --- codes for "no score": -1 in a file like MT-bench's
clean = save("clean.jsonl", open(path("gpt-4_single.jsonl")).read().replace('"score": -1', '"score": null'))
code = analyzed(path("gpt-4_single.jsonl"), *MTBENCH)
check(code["scale"] == "-1..10" and len(code["warnings"]) == 1 and code["warnings"][0].startswith("-1 (21 times) may mean"), code["warnings"])
left_out = same(path("gpt-4_single.jsonl"), clean, (*MTBENCH, "--missing", "-1"), MTBENCH)
near([100 * left_out["opposite"]["value"], left_out["icc1"]["value"]], [2.3, 0.849], "the clean file's statistics", 2e-2)
check(left_out["scale"] == "1..10" and left_out["missing"] == 21 and left_out["warnings"] == [], "21 scores are missing")
text = call("judge", "analyze", path("gpt-4_single.jsonl"), *MTBENCH).stdout
check("warning: -1 (21 times) may mean" in flowed(text) and "--missing -1 leaves it out" in flowed(text), "the page warns")
fitted = call("judge", "fit", path("gpt-4_single.jsonl"), *MTBENCH)
check("warning: -1 (21 times) may mean" in flowed(fitted.stdout), f"so does fit: {fitted.stdout[:400]}")
advised = call("judge", "advise", path("gpt-4_single.jsonl"), *MTBENCH, "--calls", "4000", "--seeds", "4", "--tuning-seeds", "8", "--drawn-judges", "0",
               "--votes", "1,2", "--rollouts", "8", "--estimators", "grpo", "--policies", "tabular", "-q", "--json")
check(advised.returncode == 0, f"advise: {advised.stderr}")
if advised.returncode == 0:
    advice = json.loads(advised.stdout)
    check(not advice["certain"] and any("may mean" in doubt for doubt in advice["doubts"]), f"and advise is uncertain: {advice['doubts']}")

# --- the same in a suite
suite = """[suite]
name = "read"
seeds = 1
[grid]
env = "bandit"
rater = "file"
policy = "tabular"
estimator = "grpo"
votes = 1
[env.bandit]
prompts = 16
[learn]
steps = 2
batch = 16
[rater.file]
scores = "%s"
columns = { prompt = "question_id", response = "model", sample = "turn" }
world = "resample"
%s
"""
for more, wanted in (("", "warning: -1 (21 times) may mean"), ("missing = [-1]", "21 blank scores"), ('missing = ["-1"]', "21 blank scores"), ("missing = -1", "21 blank scores")):
    said = call("check", save("suite.toml", suite % (path("gpt-4_single.jsonl"), more)))
    check(said.returncode == 0 and wanted in flowed(said.stdout + said.stderr), f"{more}: {said.stdout}{said.stderr}")
for more, wanted in (("missing = [true]", "a list of numbers and texts"), ('ids = "word"', "is \"word\": text or number is wanted"), ("ids = [3]", "a number or a text"), ("round = 0", "a number above 0")):
    said = call("check", save("suite.toml", suite % (path("gpt-4_single.jsonl"), more)))
    check(said.returncode == 3 and wanted in said.stderr and "suite.toml:19:" in said.stderr, f"{more}: {said.stderr}")

# --- sums of tenths
summed = same(path("rubric_sum.csv"), path("rubric_exact.csv"))
near([summed["icc1"]["value"], 100 * summed["tied"]["value"]], [0.547, 13.1], "sums of tenths", 5e-3)
check(len(summed["values"]) == 9 and "rounding" in summed["notes"][0], "9 levels, and said so")

# --- fractions for the high scores alone
fractions = same(path("part.csv"), path("truth.csv"))
check(fractions["scale"] == "1..10" and fractions["unreadable"] == 0 and fractions["notes"] == ["139 scores are written as N/10 and read as N"], fractions["notes"])
near(fractions["icc1"]["value"], 0.806, "fractions", 1e-3)
worded = save("worded.csv", open(path("part.csv")).read().replace("/10", " of ten"))
lost = analyzed(worded)
check(lost["unreadable"] == 139 and len(lost["warnings"]) == 1, "texts that are no scores")
check(" times, " in lost["warnings"][0] and "they are lost at the high end of the scale" in lost["warnings"][0], lost["warnings"])

# --- ids
floats = save("float.csv", "prompt_id,response_id,sample_id,score\n" + "".join(f"{p}{dot if s else ''},{r},{s},{v}\n" for p in (1, 2) for dot in (".0",) for r, s, v in (("a", 0, 3), ("b", 0, 5), ("a", 1, 4), ("b", 1, 5))))
two = analyzed(floats)
check((two["prompts"], two["responses"], two["scores_per_response"]) == (2, 4, {"fewest": 2, "most": 2}), f"1.0 is 1: {two['prompts']}")
lead = save("lead.csv", "prompt_id,response_id,score\n04,a,9\n04,b,5\n4,a,1\n4,b,2\n")
refused = call("judge", "analyze", lead)
check(refused.returncode == 8 and 'lead.csv:1:1: error: prompt_id has "04" and "4": one id or two? --ids text keeps them apart, --ids number makes them one' in refused.stderr, refused.stderr)
check(analyzed(lead, "--ids", "text")["prompts"] == 2, "two prompts")
check(analyzed(lead, "--ids", "number")["prompts"] == 1, "one prompt")

# --- stats: one rule for lines with #, blank values and ids
runs = save("hash.csv", "est,seed,v\ngrpo,1,0.5\ngrpo,2,0.6\n#7,1,0.7\n#7,2,0.75\n# three fields, they are not\nmaxrl,1,NA\nmaxrl,2,-1\nmaxrl,3.0,None\nmaxrl,3,0.4\n")
STATS = ("stats", runs, "--unit", "seed", "--cell", "est", "--value", "v")
done = call(*STATS, "--format", "json")
check(done.returncode == 8 and 'unit "3" of cell "maxrl" is given twice' in done.stderr or done.returncode == 0, done.stderr)
done = call(*STATS, "--format", "json", "--missing", "-1")
found = json.loads(done.stdout)
check({cell["cell"]["est"]: cell["runs"] for cell in found["cells"]} == {"grpo": 2, "#7": 2, "maxrl": 1}, f"cells of stats: {done.stdout[:300]}")
check(any("1 line below the header skipped" in note for note in found["notes"]), f"skipped lines are said: {found['notes']}")
twice = call("stats", save("ids.csv", "est,seed,v\na,04,1\nb,4,2\n"), "--unit", "seed", "--cell", "est", "--value", "v")
check(twice.returncode == 8 and '--ids text keeps them apart' in twice.stderr, twice.stderr)
check(call("stats", "ids.csv", "--unit", "seed", "--cell", "est", "--value", "v", "--baseline", "a", "--ids", "number", "--format", "json").returncode == 0, "one seed")

# --- what simulate writes: no comment among the data, one type for an id, and what made it beside it
call("judge", "simulate", "mixed", "--prompts", "3", "--responses", "2", "--samples", "2", "-o", "made.csv")
call("judge", "simulate", "mixed", "--prompts", "3", "--responses", "2", "--samples", "2", "-o", "made.jsonl")
rows = [json.loads(line) for line in open("made.jsonl")]
check(open("made.csv").readline() == "prompt_id,response_id,sample_id,score\n" and len(rows) == 12, "the first line is the header")
check({type(row[key]) for row in rows for key in ("prompt_id", "response_id", "sample_id")} == {int}, "ids are numbers")
check(open("made.csv.made-by.txt").read() == "odrpo-bench judge simulate mixed --prompts 3 --responses 2 --samples 2 --levels 10 --seed 1\n", "what made it")
check(analyzed("made.csv")["scores"] == analyzed("made.jsonl")["scores"] == 12, "both are read")
earlier = save("earlier.csv", "# odrpo-bench judge simulate mixed\n" + open("made.csv").read())
same(earlier, "made.csv")

checks.finish()
