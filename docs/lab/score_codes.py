#!/usr/bin/env python3
"""How often does `judge analyze` warn of a code for "no score" where there is one, and where there is none?

Simulates files of scores whose truth is known: a response has a quality, a call of the judge adds a normal error, some scores are outliers anywhere on the
scale, and in half of the files a share of the calls gives a code. Prints the share of files with a warning. Usage: score_codes.py PROGRAM [FILES] [SEED]
"""
import json, os, random, re, subprocess, sys, tempfile

program, files, seed = os.path.realpath(sys.argv[1]), int((sys.argv[2:] or ["40"])[0]), int((sys.argv[3:] or ["1"])[0])
rng = random.Random(seed)
SCALES = {"1..5": (1, 5), "1..7": (1, 7), "1..10": (1, 10), "0..4": (0, 4), "0..10": (0, 10), "-2..2": (-2, 2)}

CODES = (0, -1, 99)


def scores(scale, calls, noise, outliers, code=None, share=0.0, prompts=60, responses=4):
    """Rows of a file: prompt, response, sample, score. Noise in fifths of the scale's width."""
    low, high = SCALES[scale]
    rows = []
    for p in range(prompts):
        for r in range(responses):
            quality = low + (high - low) * rng.betavariate(2, 2)
            for s in range(calls):
                score = rng.randint(low, high) if rng.random() < outliers else min(high, max(low, round(rng.gauss(quality, noise * (high - low) / 5))))
                rows.append((p, r, s, code if rng.random() < share else score))
    return rows


def warned(rows):
    """The values of which the program warns."""
    with open("scores.csv", "w") as file:
        file.write("prompt_id,response_id,sample_id,score\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    ran = subprocess.run([program, "judge", "analyze", "scores.csv", "--resamples", "1000", "--json"], capture_output=True, text=True)
    if ran.returncode != 0:
        raise SystemExit(ran.stderr)
    return {float(v) for w in json.loads(ran.stdout)["warnings"] if "may mean" in w for v in re.findall(r"(\S+) \((?:once|\d+ times)\)", w)}


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    print(f"{files} files a cell, 60 prompts x 4 responses, seed {seed}: share of files with a warning of a code\n")
    print("scale    calls  noise  outliers  no code" + "".join(f"{code:>9}: 0.5 %   2 %   5 %" for code in CODES))
    for scale, (low, high) in SCALES.items():
        for calls, noise, outliers in ((1, 0.5, 0.02), (4, 0.5, 0), (4, 0.5, 0.05), (4, 1.5, 0.02)):
            line = f"{scale:8} {calls:5} {noise:6} {outliers:9} {sum(bool(warned(scores(scale, calls, noise, outliers))) for _ in range(files)) / files:8.2f}"
            for code in CODES:
                line += "     "
                for share in (0.005, 0.02, 0.05):
                    if low <= code <= high:
                        line += "     -"
                        continue
                    made = [scores(scale, calls, noise, outliers, code, share) for _ in range(files)]
                    made = [rows for rows in made if any(row[3] == code for row in rows)]
                    line += f"{sum(float(code) in warned(rows) for rows in made) / max(len(made), 1):6.2f}"
            print(line, flush=True)
