# Writes compute.pyi, the types of the functions of `compute`: stubs.py FOLDER OUTPUT, FOLDER has the compiled module _numerics.
import sys

sys.path.insert(0, sys.argv[1])
import _numerics  # noqa: E402

RESULTS = {"list": "list[Any]", "lists": "list[Any]", "object": "dict[str, Any]", "number": "float", "whole": "int"}


def stub(name, arguments, out, text, source):
    required = [a for a, _, optional in arguments if not optional]
    first = next((i for i, (_, _, optional) in enumerate(arguments) if optional), len(arguments))
    parts = [f"{a}: Any" for a, _, _ in arguments[:first]]
    if first < len(arguments):
        parts.append("*")
        parts += [f"{a}: Any" if a in required else f"{a}: Any | None = None" for a, _, _ in arguments[first:]]
    return f"def {name}({', '.join(parts)}) -> {RESULTS[out.replace(':', ' ').split()[0]]}: ..."


with open(sys.argv[2], "w") as file:
    print("# Types of the functions of `odrpo-bench compute`; written by python/stubs.py.", "from typing import Any", "",
          *(stub(*row) for row in _numerics.functions()), sep="\n", file=file)
