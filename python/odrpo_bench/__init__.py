"""odrpo-bench in Python: result files as frames, runs, figures, judges (docs/python.md)."""
import importlib

_PLACES = {"load": "results", "run": "running", "plot": "figures", "convert": "parquet"}


def __getattr__(name):
    if name == "judge":
        return importlib.import_module(".judge", __name__)
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module("." + _PLACES[name], __name__), name)
    return value
