"""odrpo-bench in Python: result files as frames, runs, figures, judges (docs/python.md)."""
import importlib

_HOME = {"load": "results", "run": "running", "plot": "figures", "convert": "convert"}


def __getattr__(name):
    if name == "judge":
        return importlib.import_module(".judge", __name__)
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module("." + _HOME[name], __name__), name)
