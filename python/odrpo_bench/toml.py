"""Writes a suite that is a dict as TOML."""

import json
import math
import os
import re
from typing import Any, List, Mapping


def value_text(value: Any) -> str:
    """A value in TOML's syntax: text, number, bool, list, dict (as an inline table), or what numpy makes of these. TypeError for others."""
    if hasattr(value, "tolist"):  # numpy
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else "nan" if value != value else "inf" if value > 0 else "-inf"
    if isinstance(value, (str, os.PathLike)):
        return _text(os.fspath(value))
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {value_text(v)}" for k, v in value.items()) + " }" if value else "{}"
    if isinstance(value, (list, tuple, range)):
        return "[" + ", ".join(map(value_text, value)) + "]"
    raise TypeError(f"a suite has texts, numbers, bools, lists and dicts, and {value!r} is a {type(value).__name__}")


def suite_text(suite: Mapping[str, Any]) -> str:
    """A suite as TOML: a section for each dict, then its values line by line, then its own sections."""
    return "\n".join(_section((), suite)).strip() + "\n"


def _section(name: tuple, section: Mapping[str, Any]) -> List[str]:
    plain = {key: value for key, value in section.items() if not isinstance(value, Mapping)}
    lines = ["", f"[{'.'.join(map(_key, name))}]"] if name and (plain or not section) else []
    lines += [f"{_key(key)} = {value_text(value)}" for key, value in plain.items()]
    for key, value in section.items():
        if isinstance(value, Mapping):
            lines += _section((*name, key), value)
    return lines


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"keys of a suite are texts, and {key!r} is a {type(key).__name__}")
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _text(key)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
