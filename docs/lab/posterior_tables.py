#!/usr/bin/env python3
# Tables of docs/lab/posterior-tables.md: for each policy the gain of the baseline, and the differences of the other rows, by column. Bold: a star of the table.
#   odrpo-bench table posterior.h5 --json | python3 docs/lab/posterior_tables.py [COLUMN ...]      columns in this order; default: as the table has them
import json
import sys

table = json.load(sys.stdin)


def rounded(x, sign=""):
    return f"{x if abs(x) >= 0.05 else 0.0:{sign}.1f}"


def cell_text(cell):
    d = cell.get("difference")
    if d is None:
        return f"{rounded(cell['mean'])} ± {(cell['hi'] - cell['lo']) / 2:.1f}"
    text = f"{rounded(d['mean'], '+' if abs(d['mean']) >= 0.05 else '')} [{rounded(d['lo'])}, {rounded(d['hi'])}]"
    return f"**{text}**" if d["star"] else text


for block in table["blocks"]:
    cells = {(c["row"], c["column"]): c for c in block["cells"]}
    rows = list(dict.fromkeys(row for row, _ in cells))
    columns = sys.argv[1:] or list(dict.fromkeys(column for _, column in cells))
    print(", ".join(f"{key}={value}" for key, value in block["fixed"].items()), "\n")
    print("|  | " + " | ".join(f"`{column}`" for column in columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for row in rows:
        name = f"`{row}`, gain" if row == table["baseline"] else f"`{row}`"
        print(f"| {name} | " + " | ".join(cell_text(cells[row, column]) for column in columns) + " |")
    print()
