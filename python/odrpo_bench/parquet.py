"""Turns Parquet files, such as TRL's completions, into JSON lines that the program reads."""

import datetime
import decimal
import glob
import json
import math
import os
import sys
import tempfile
from typing import Any, Iterable, List, Sequence, Union

Paths = Union[str, os.PathLike, Sequence[Union[str, os.PathLike]]]


def convert(inputs: Paths, output: Union[str, os.PathLike]) -> int:
    """Writes the rows of Parquet files as one JSON object a line, in the order of files and rows, and returns their number.

    inputs   a file, a folder (its *.parquet), a pattern such as completions_*.parquet (names in order), or a list of these
    output   the file to write, NAME.jsonl; it is replaced whole, or left as it was where a row cannot be written

    Lists and structs stay; null and NaN become null; times are ISO 8601 texts; decimals are numbers. ImportError without pyarrow; OSError for a
    file that cannot be read or written; ValueError for one that is no Parquet file, is damaged, or holds what JSON lacks.
    """
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise ImportError(
            "Parquet files are read by pyarrow, which is not there: pip install 'odrpo-bench[parquet]'", name="pyarrow"
        ) from None
    target = os.fspath(output)
    if not target.endswith(".jsonl"):
        raise ValueError(f"{target}: the output is a file NAME.jsonl")
    files = _files([inputs] if isinstance(inputs, (str, os.PathLike)) else inputs)
    rows = 0
    with tempfile.NamedTemporaryFile(
        "w", dir=os.path.dirname(target) or ".", prefix=".odrpo-bench-", encoding="utf-8", delete=False
    ) as made:
        try:
            for name in files:
                for row in _rows(parquet, name):
                    made.write(row + "\n")
                    rows += 1
            if rows == 0:
                raise ValueError(f"{files[0]}: no rows")
            made.close()
            os.chmod(made.name, 0o666 & ~_umask())
            os.replace(made.name, target)
        except BaseException:
            os.unlink(made.name)
            raise
    return rows


def main(arguments: Sequence[str]) -> int:
    """`python -m odrpo_bench convert IN… OUT`: returns the exit code, with the program's meanings (docs/reference/commands.md)."""
    if len(arguments) < 2 or any(argument.startswith("-") for argument in arguments):
        print("usage: python -m odrpo_bench convert FILE.parquet … OUT.jsonl", file=sys.stderr)
        return 0 if "--help" in arguments or "-h" in arguments else 2
    try:
        rows = convert(list(arguments[:-1]), arguments[-1])
    except (ImportError, OSError, ValueError) as why:
        print(f"error: {why}", file=sys.stderr)
        return 8 if isinstance(why, ValueError) else 5
    print(f"{arguments[-1]}: {rows} rows", file=sys.stderr)
    return 0


def _files(inputs: Iterable[Any]) -> List[str]:
    """The files that paths, folders and patterns name."""
    files: List[str] = []
    for one in map(os.fspath, inputs):
        pattern = os.path.join(glob.escape(one), "*.parquet") if os.path.isdir(one) else one
        found = [one] if os.path.exists(pattern) and pattern == one else sorted(glob.glob(pattern))
        if not found:
            raise FileNotFoundError(f"{one}: no such file, and no file of such a name")
        files += found
    if not files:
        raise ValueError("no file to convert")
    return files


def _rows(parquet: Any, name: str) -> Iterable[str]:
    """The rows of a file as JSON. Errors name the file, and a row and column where they are of one."""
    try:
        file = parquet.ParquetFile(name)
        names = file.schema_arrow.names
        twice = sorted({column for column in names if names.count(column) > 1})
        if twice:
            raise ValueError(f"two columns are called {twice[0]}")
        number = 0
        for batch in file.iter_batches(batch_size=1024):
            for row in batch.to_pylist():
                number += 1
                yield json.dumps(
                    {column: _plain(value, f"row {number}, column {column}") for column, value in row.items()}, ensure_ascii=False
                )
    except FileNotFoundError:
        raise FileNotFoundError(f"{name}: no such file") from None
    except (
        ValueError,
        OSError,
        NotImplementedError,
        UnicodeError,
    ) as why:  # pyarrow's errors are ValueErrors, OSErrors and NotImplementedErrors
        kind = type(why) if isinstance(why, (PermissionError, IsADirectoryError)) else ValueError
        raise kind(f"{name}: {str(why).splitlines()[0] if str(why) else type(why).__name__}") from why


def _plain(value: Any, place: str) -> Any:
    """A value as JSON has it. ValueError names the place of what JSON lacks."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        if math.isinf(value):
            raise ValueError(f"{place}: {value}, which JSON lacks")
        return None if value != value else value
    if isinstance(value, dict):
        return {str(key): _plain(one, place) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        if value and all(isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str) for pair in value):  # a map
            return {key: _plain(one, place) for key, one in value}
        return [_plain(one, place) for one in value]
    if isinstance(value, decimal.Decimal):
        return _plain(float(value), place)
    if isinstance(value, (datetime.date, datetime.time)):  # a datetime is a date
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise ValueError(f"{place}: bytes that are no text") from None
    raise ValueError(f"{place}: a {type(value).__name__}, which JSON lacks")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
