"""The command `odrpo-bench` of the package: `convert` is Python's, everything else the program's."""

import os
import sys

from . import program


def main() -> int:
    """Runs the command line's command; returns the exit code of `convert`, and becomes the program for others."""
    if sys.argv[1:2] == ["convert"]:
        from . import parquet

        return parquet.main(sys.argv[2:])
    try:
        file = program.path()
    except FileNotFoundError as why:
        print(f"error: {why}", file=sys.stderr)
        return 5
    sys.stdout.flush()
    os.execv(file, ["odrpo-bench", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
