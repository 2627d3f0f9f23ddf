"""Every function of `odrpo-bench compute` under its name: odrpo_bench.kendall_w(judges=...). The functions, their arguments and their docstrings come
from the program's own table (docs/reference/functions.md)."""
import inspect
import json

from . import _numerics


def _signature(arguments):
    """Arguments that may be left out, and all after the first of them, are given by name."""
    parameters, kind = [], inspect.Parameter.POSITIONAL_OR_KEYWORD
    for name, _, optional in arguments:
        if optional:
            kind = inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter(name, kind, default=None if optional else inspect.Parameter.empty))
    return inspect.Signature(parameters)


def _docstring(arguments, out, text, source):
    lines = [text, "", "Arguments, lists or arrays:"]
    lines += [f"    {name}: {help}{' (may be left out)' if optional else ''}" for name, help, optional in arguments]
    lines += ["", f"Returns {out}.", "", "Raises ValueError for values and shapes that it does not take, TypeError for other types and missing arguments.", "", f"Source: {source}"]
    return "\n".join(lines)


def _function(name, arguments, out, text, source):
    signature = _signature(arguments)
    optional = {a for a, _, may in arguments if may}

    def function(*args, **kwargs):
        given = signature.bind(*args, **kwargs).arguments
        return json.loads(_numerics.call(name, {a: x for a, x in given.items() if not (x is None and a in optional)}))

    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__signature__ = signature
    function.__doc__ = _docstring(arguments, out, text, source)
    return function


__all__ = [row[0] for row in _numerics.functions()]
globals().update({row[0]: _function(*row) for row in _numerics.functions()})
