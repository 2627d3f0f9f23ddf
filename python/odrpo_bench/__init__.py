"""odrpo-bench from Python: run suites, read their results, and compute advantages of arrays (docs/python.md).

A name's module is imported when the name is first used: `advantages` needs numpy and the compiled module, `load` pandas and h5py, `plot` matplotlib."""
import importlib
import importlib.metadata

# name -> the module that has it
_PLACES = {
    "advantages": "numerics",
    "estimator_options": "numerics",
    "posterior": "numerics",
    "vote_distribution": "numerics",
    "load": "results",
    "run": "running",
    "plot": "figures",
    "convert": "parquet",
}
_MODULES = ("compute", "integrations", "judge", "rollouts")


def _functions():
    """The module of the functions of `compute`; None where the compiled module was not built."""
    try:
        return importlib.import_module(".compute", __name__)
    except ModuleNotFoundError as missing:
        if missing.name != f"{__name__}._numerics":
            raise
        return None


def _version():
    """Of the installed package; of the program where the package is not installed."""
    try:
        return importlib.metadata.version("odrpo-bench")
    except importlib.metadata.PackageNotFoundError:
        from . import program

        return program.call("version").split()[1]


def __getattr__(name):
    if name == "__version__":
        value = _version()
    elif name in _PLACES:
        value = getattr(importlib.import_module("." + _PLACES[name], __name__), name)
    elif name in _MODULES:
        return importlib.import_module("." + name, __name__)
    elif name.startswith("_") or not hasattr(_functions(), name):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    else:
        value = getattr(_functions(), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*_PLACES, *_MODULES, "__version__", *(_functions().__all__ if _functions() else ())})
