#!/usr/bin/env python3
# What `judge analyze`, `fit` and `simulate` say to files and judges that cannot be, and to odd ones that can. Usage: refusals_test.py PROGRAM
import os, random

import checks
from checks import check

SEED = 24
rng = random.Random(SEED)
HEAD = "prompt_id,response_id,sample_id,score\n"
JUDGED = "prompt_id,response_id,rater_id,score\n"


def save(name, text):
    with open(name, "w", newline="") as file:
        file.write(text)


def table(score, prompts=12, responses=4, samples=3, header=HEAD):
    return header + "".join(f"{p},{r},{s},{score(p, r, s)}\n" for p in range(prompts) for r in range(responses) for s in range(samples))


def noisy(p, r, s):
    return min(5, max(1, r + 1 + rng.choice([-1, 0, 0, 1])))


save("good.csv", table(noisy))
save("panel.csv", table(noisy, header=JUDGED))
checks.call("judge", "fit", "good.csv", "-o", "good.toml")
GOOD = open("good.toml").read()

# --- files: what `judge fit` answers; 0 = it fits. Each is tried as it stands and, where it cannot be read at all, by `analyze` too.
FILES = (
    ("", 8, "f.csv:1:1: error: nothing in it"),
    (HEAD, 8, "f.csv:1:1: error: no scores below the header"),
    ("0,0,0,3\n0,0,1,4\n", 8, "f.csv:1:1: error: data where the header was expected"),
    (HEAD + "0,0,0,3\n0,0,0,4\n", 8, "f.csv:3:1: error: prompt 0, response 0, sample 0 is given twice"),
    (HEAD + "0,0,0,3\n0,0\n", 8, "f.csv:3:3: error: 2 fields, but the header has 4"),
    (HEAD + "0,0,0,inf\n0,0,1,2\n", 8, 'f.csv:2:7: error: score "inf" is no finite number'),
    (HEAD + "0,0,0,-inf\n0,0,1,2\n", 8, 'f.csv:2:7: error: score "-inf" is no finite number'),
    (HEAD + "0,0,0,1e999\n0,0,1,2\n", 8, 'f.csv:2:7: error: score "1e999" is out of the range'),
    (HEAD + '0,0,0,"1,000"\n0,0,1,2\n', 8, "has a thousands separator: write the digits alone"),
    (HEAD + '0,0,0,"3,5"\n0,0,1,2\n', 8, "has a decimal comma: write a point"),
    (HEAD + "0,0,0,80%\n0,0,1,20%\n", 8, 'f.csv:2:7: error: 2 of 2 scores are no numbers, the first is "80%"'),
    (HEAD + "0,0,0,4/5\n0,0,1,3/4\n0,0,2,2/3\n", 8, 'f.csv:2:7: error: 3 of 3 scores are no numbers, the first is "4/5"'),
    (HEAD + ",0,0,3\n", 8, "f.csv:2:1: error: prompt_id is empty"),
    (HEAD + "0,,0,3\n", 8, "f.csv:2:3: error: response_id is empty"),
    (HEAD.replace("score", "rating") + "0,0,0,3\n", 8, 'no column "score"; found "prompt_id", "response_id", "sample_id", "rating"; --score says which one it is, or which ones: --score a,b,c\n'),
    (HEAD.replace(",", ";") + "0;0;0;3\n", 8, "f.csv: no response has two scores"),
    (JUDGED + "0,0,,3\n", 8, "f.csv:2:5: error: rater_id is empty"),
    (HEAD + '0,0,0,"3\n', 8, "f.csv:2:7: error: a quote that is not closed"),
    (HEAD + "0,0,0,3\x00\n0,0,1,2\n", 8, "f.csv:2:8: error: a NUL byte"),
    (HEAD + "".join(f"0,0,{i},{i}\n" for i in range(101)), 8, "a scale has at most 100 levels"),
    (HEAD[:-1] + ",gold\n0,0,0,3,1\n0,0,1,3,2\n", 8, "f.csv:3:9: error: gold of prompt 0, response 0 is 2, but 1 on line 2"),
    (HEAD[:-1] + ",gold\n0,0,0,3,best\n", 8, 'gold "best": a number is wanted'),
    # nothing to learn from: read, and refused without a line
    (table(lambda p, r, s: 3), 8, "f.csv: all scores of each prompt are equal"),
    (table(lambda p, r, s: 1), 8, "f.csv: the scale has one level"),
    (table(noisy, samples=1), 8, "f.csv: no response has two scores"),
    (table(lambda p, r, s: p % 3 + 1), 8, "f.csv: all scores of each prompt are equal"),
    (JUDGED + "".join(f"{p},{r},{j},{r % 3 + 1}\n" for p in range(9) for r in range(4) for j in range(64)), 8, "at most 63 judges, not 64"),
    (JUDGED + "".join(f"{p},{r},a,3\n{p},{r},b,{r + 1}\n" for p in range(9) for r in range(4)), 8,
     "no response has two scores from judges that give more than one level"),
    (table(noisy, prompts=3, responses=1), 0, ""),
    # odd, and good
    (table(noisy, prompts=1), 0, ""),
    (table(noisy, prompts=2), 0, ""),
    (table(noisy, samples=2), 0, ""),
    (table(lambda p, r, s: (noisy(p, r, s) - 1) / 2), 0, ""),
    (table(lambda p, r, s: (noisy(p, r, s) - 1) * 25), 0, ""),
    (table(lambda p, r, s: -noisy(p, r, s)), 0, ""),
    (table(lambda p, r, s: "" if (p + r + s) % 5 == 0 else noisy(p, r, s)), 0, ""),
    (table(lambda p, r, s: "N/A" if (p + r + s) % 5 == 0 else noisy(p, r, s)), 0, ""),
    (table(noisy).replace("\n", "\r\n"), 0, ""),
    ("\ufeff" + table(noisy), 0, ""),
    (HEAD + "".join(f"p{p},{'aA'[r]},{s},{noisy(p, r, s)}\n" for p in range(12) for r in range(2) for s in range(3)), 0, ""),
    (table(lambda p, r, s: r % 2 + 1 if s else noisy(p, r, s) % 2 + 1), 0, ""),
    (HEAD[:-1] + ",gold\n" + "".join(f"{p},{r},{s},{noisy(p, r, s)},{r + 1 if p < 6 else ''}\n"
                                    for p in range(12) for r in range(4) for s in range(3)), 0, ""),
    (JUDGED.replace("rater_id", "rater_id,sample_id")
     + "".join(f"{p},{r},only,{s},{noisy(p, r, s)}\n" for p in range(12) for r in range(4) for s in range(3)), 0, ""),
    (table(lambda p, r, s: "never" if s == 2 else noisy(p, r, 0), header=JUDGED), 0, ""),
)
for i, (text, code, words) in enumerate(FILES):
    save("f.csv", text)
    out = checks.call("judge", "fit", "f.csv", "-o", f"f{i}.toml", code=code, words=words)
    check(os.path.exists(f"f{i}.toml") == (code == 0), f"file {i}: a judge only where one could be fitted")
    if code == 0:
        check("Goodness of fit" in out and "What the file cannot tell" in out, f"file {i}: the report")
        checks.call("judge", "simulate", f"f{i}.toml", "--prompts", "5", "--samples", "3", "-o", "s.csv")
        checks.call("judge", "analyze", "s.csv", "--resamples", "1000")
    elif "f.csv:" in words and "f.csv: " not in words:
        checks.call("judge", "analyze", "f.csv", code=code, words=words)
    else:
        checks.call("judge", "analyze", "f.csv", code=0 if words.startswith("f.csv: ") or "at most 63" in words or "no response" in words else 8)

# --- judges' files: what `simulate` and `analyze` answer
JUDGES = (
    ("", 3, "j.toml:1:1: error: the file is empty"),
    ("[rater.a]\n", 3, "j.toml:1:8: error: [rater.a] needs a noise model"),
    (GOOD.replace("sigma = ", "sigma = -"), 3, "`rater.judge.latent.sigma` is -0."),
    (GOOD.replace("sigma", "sigmma", 1), 3, 'did you mean `sigma`?'),
    (GOOD.replace("thresholds = [", "thresholds = [[3, 2, 1, 0], "), 3, "its numbers must not decrease"),
    (GOOD.replace("thresholds", "threshold"), 3, "thresholds` is missing"),
    (GOOD + "\n[rater.other]\nbase = \"mixed\"\n", 3, "a judge's file needs one section [rater.NAME]"),
    (GOOD + "\n[suite]\nname = \"x\"\n", 3, ("a judge's file has one section [rater.NAME] and nothing else", "the section [grid] is missing")),
    (GOOD.replace("[rater.judge]", "[rater.judge]\nfile = \"j.toml\""), 3, "unknown key `file` in [rater.judge]"),
    (GOOD.replace("[rater.judge]", "[rater.judge]\nscores = \"missing.csv\""), 3, "unknown key `scores`"),
    (GOOD.replace("prompt_share = ", "prompt_share = 1  # "), 0, ""),
    (GOOD[: len(GOOD) // 2], 3, "a judge's file needs one section [rater.NAME]"),
)
for i, (text, code, words) in enumerate(JUDGES):
    save("j.toml", text)
    for command, told in zip(("simulate", "analyze"), words if isinstance(words, tuple) else (words, words)):
        checks.call("judge", command, "j.toml", code=code, words=told)

# --- command lines; those without a judge's file are on pages/judge-refusals.txt
LINES = (
    (("simulate", "good.toml", "--levels", "10"), 2, "this judge has 5 levels"),
    (("analyze", "good.toml", "--levels", "10"), 2, "this judge has 5 levels"),
    (("analyze", "good.toml", "--scale", "1..5"), 2, "--scale says how a file of scores is read"),
    (("fit", "good.csv", "-o", "good.csv"), 5, "it is the input itself"),
)
for arguments, code, words in LINES:
    checks.call("judge", *arguments, code=code, words=words)
check(open("good.csv").read().startswith(HEAD), "a refused output leaves its input alone")

save("deaf.csv", JUDGED.replace("rater_id", "rater_id,sample_id") + "".join(
    f"{p},{r},heard,{s},{noisy(p, r, s)}\n" + (f"{p},{r},silent,0,none\n" if p < 6 and s == 0 else "") for p in range(12) for r in range(4) for s in range(3)))
check("judge silent gave no score that could be read, and is left out" in checks.call("judge", "fit", "deaf.csv").replace("\n  ", " "), "a silent judge")
check("; 3 judges" in checks.call("judge", "fit", "panel.csv", "--rater", "rater_id").replace("\n  ", " "), "judges of a panel")
checks.finish()
