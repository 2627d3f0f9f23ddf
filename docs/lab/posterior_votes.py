"""The tables of docs/lab/posterior-tables.md about votes, from result files of suites/posterior-votes.toml.

Usage: posterior_votes.py PROGRAM JUDGE=FILE.h5…

For each judge and policy: the gain of grpo with one vote, and differences of gains, paired by seed, with their intervals; bold where
p < .05 after Holm's correction for all differences of the page. Each side is at its best learning rate, chosen on other seeds; p is against every
rate of the other (docs/tables.md). The best ODRPO is the one of the two with the higher mean on the same seeds, which favours it."""
import csv
import io
import subprocess
import sys

program, files = sys.argv[1], [argument.split("=", 1) for argument in sys.argv[2:]]
ordinal = ("gini-median-grpo-1", "gini-median-maxrl-1")
policies = ("linear", "tabular")


def table(file, baseline):
    """(policy, estimator) -> row of the table with this baseline."""
    command = [program, "table", file, "--baseline", baseline, "--format", "csv"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {(row["policy"], row["estimator"]): row for row in csv.DictReader(io.StringIO(text))}


# heading, row, baseline
comparisons = [
    ("one vote: posterior - `grpo`", "posterior-1", "grpo-1"),
    ("one vote: posterior - best ODRPO", "posterior-1", "best"),
    ("posterior of one vote - `grpo` of the mean of 8", "posterior-1", "grpo-mean-8"),
    ("8 votes: posterior of all - `grpo` of the mean", "posterior-all-8", "grpo-mean-8"),
    ("posterior: all of 8 votes - one vote", "posterior-all-8", "posterior-1"),
]
gains, cells = {}, {}
for judge, file in files:
    against = {name: table(file, name) for name in {b for _, _, b in comparisons if b != "best"} | set(ordinal)}
    for policy in policies:
        mean = {name: float(against["grpo-1"][policy, name]["centre"]) for name in ordinal}
        best = max(mean, key=mean.get)
        one = against["grpo-1"][policy, "grpo-1"]
        gains[judge, policy] = float(one["centre"]), (float(one["hi"]) - float(one["lo"])) / 2
        for heading, name, baseline in comparisons:
            row = against[best if baseline == "best" else baseline][policy, name]
            cells[judge, policy, heading] = float(row["difference"]), row["difference_lo"], row["difference_hi"], float(row["p"] or 1)

ordered = sorted(cells, key=lambda at: cells[at][3])
bold, still = set(), True
for rank, at in enumerate(ordered):
    still = still and cells[at][3] * (len(ordered) - rank) < 0.05
    if still:
        bold.add(at)


def text(at):
    mean, low, high, _ = cells[at]
    sign = "" if abs(mean) < 0.05 else "+" if mean > 0 else "-"
    low, high = (f"{float(bound):.1f}" if bound else "n/a" for bound in (low, high))
    number = f"{sign}{abs(mean):.1f} [{low}, {high}]"
    return f"**{number}**" if at in bold else number


print(f"{len(ordered)} differences\n")
for policy in policies:
    print(f"{policy}:\n")
    print("| judge | `grpo`, one vote | " + " | ".join(heading for heading, _, _ in comparisons) + " |")
    print("|---" * (len(comparisons) + 2) + "|")
    for judge, _ in files:
        gain = "{:.1f} ± {:.1f}".format(*gains[judge, policy])
        print(f"| `{judge}` | {gain} | " + " | ".join(text((judge, policy, heading)) for heading, _, _ in comparisons) + " |")
    print()
