"""What the tests of the package's Python share: the package, with the tested program; a test ends where other packages are missing."""
import importlib.util
import os
import sys
import warnings

from checks import check, program

_built = os.path.join(os.path.dirname(program), "python")  # has the compiled module, and links to the files of this tree
sys.path.insert(0, _built if os.path.isdir(os.path.join(_built, "odrpo_bench")) else os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "python"))
sys.dont_write_bytecode = True
os.environ["ODRPO_BENCH"] = program
os.environ["MPLBACKEND"] = "Agg"
os.environ["PYTHONPATH"] = sys.path[0]  # of `python -m odrpo_bench`


def need(*packages):
    """Skips the test where one of these packages is missing."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        print(f"skipped: no {', '.join(missing)} here")
        sys.exit(77)


def refused(kind, words, call, *arguments, **named):
    """call() must raise this kind of exception, with these words in its text; returns it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call(*arguments, **named)
    except kind as why:
        check(words in str(why), f"{words!r} is not in {str(why)!r}")
        return why
    except Exception as why:
        check(False, f"{type(why).__name__} instead of {kind}: {why}")
        return why
    check(False, f"nothing was raised; expected {kind} with {words!r}")
