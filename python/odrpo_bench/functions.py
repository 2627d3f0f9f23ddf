"""Answers for estimators that are Python functions, by the protocol of docs/own-estimator.md.

The program starts `python-function NAME HASH` for each of its workers. That process (relay.py) hands its stdin and stdout to this one over a Unix
socket and waits, so that the functions run here, in the process that defined them.
"""

import functools
import hashlib
import inspect
import json
import os
import pickle
import platform
import selectors
import shlex
import socket
import sys
import tempfile
import traceback
import types
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

import numpy as np

_COMMAND = "python-function"


class Server:
    """Functions by name: f(scores[B, G]) -> advantages[B, G]. Used as a context, in which the program's processes can connect.

    `exception`: the first that a function raised. `environment`: what the program must be started with.
    """

    def __init__(self, functions: Mapping[str, Callable[[np.ndarray], Any]]):
        if not isinstance(functions, Mapping):
            raise TypeError(f"estimators are functions by name, as a dict, and not {type(functions).__name__}")
        for name, function in functions.items():
            if not isinstance(name, str) or not name:
                raise TypeError(f"estimators have names, and {name!r} is none")
            if not callable(function):
                raise TypeError(f"estimators[{name!r}] is no function but {type(function).__name__}")
        self.names = list(functions)
        self.exception: Optional[BaseException] = None
        self._functions = functions
        self._conversations: List[_Conversation] = []
        self._hashes = {name: _source_hash(name, function) for name, function in functions.items()}

    def __enter__(self) -> "Server":
        self._folder = tempfile.TemporaryDirectory(
            prefix="odrpo-bench-", dir=None if len(tempfile.gettempdir()) < 80 else "/tmp"
        )  # sockets have short names
        folder = self._folder.name
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(os.path.join(folder, "socket"))
        self._listener.listen(64)
        start = os.path.join(folder, _COMMAND)
        relay = os.path.join(os.path.dirname(os.path.abspath(__file__)), "relay.py")
        with open(start, "w") as file:
            file.write(f"#!/bin/sh\nexec {shlex.join([sys.executable, '-I', '-S', relay, os.path.join(folder, 'socket')])} \"$@\"\n")
        os.chmod(start, 0o700)
        self.environment = {"PATH": folder + os.pathsep + os.environ.get("PATH", os.defpath)}
        return self

    def hang_up(self) -> None:
        """Ends the conversations that the program did not end, and begins no other."""
        self._listener.close()
        for conversation in self._conversations:
            conversation.close()

    def __exit__(self, *_: Any) -> None:
        self.hang_up()
        self._folder.cleanup()

    def command(self, name: str) -> str:
        """The value of `command` for a function. It changes with the function's source, so that results of another text are not continued."""
        return f"{_COMMAND} {name} {self._hashes[name][:16]}"

    def serve(self, selector: selectors.BaseSelector) -> None:
        """Lets the selector accept processes and answer them. Its data are functions to call when there is something to read."""

        def accept() -> None:
            connection, _ = self._listener.accept()
            name, (requests, answers), _, _ = socket.recv_fds(connection, 4096, 2)
            conversation = _Conversation(self, name.decode(), connection, requests, answers)
            self._conversations.append(conversation)
            selector.register(requests, selectors.EVENT_READ, lambda: None if conversation.read() else selector.unregister(requests))

        selector.register(self._listener, selectors.EVENT_READ, accept)

    def answer(self, name: str, request: Dict[str, Any]) -> Dict[str, Any]:
        """The answer to a message of the protocol."""
        if "protocol" in request:
            function = self._functions[name]
            return {
                "id": request["id"],
                "python_function": f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', type(function).__name__)}",
                "source_sha256": self._hashes[name],
                "python": platform.python_version(),
                "numpy": np.__version__,
            }
        if "scores" not in request:
            return {"id": request["id"]}
        try:
            advantages = _advantages(name, self._functions[name], np.array(request["scores"], dtype=np.float64))
            return {"id": request["id"], "advantages": advantages}
        except Exception as why:
            self.exception = self.exception or why
            place = traceback.extract_tb(why.__traceback__)[-1]
            return {
                "id": request["id"],
                "error": f"{traceback.format_exception_only(type(why), why)[-1].strip()} ({os.path.basename(place.filename)}:"
                f"{place.lineno} in {place.name})",
            }


def _advantages(name: str, function: Callable[[np.ndarray], Any], scores: np.ndarray) -> list:
    """What the function answers, as lists. NaN becomes null, which a missing score may have. ValueError for another shape, complex numbers and infinities."""
    answered = np.asarray(function(scores))
    if np.iscomplexobj(answered):
        raise ValueError(f"{name} returned complex numbers")
    answered = answered.astype(np.float64)
    if answered.shape != scores.shape:
        raise ValueError(f"{name} returned an array of shape {answered.shape} for scores of shape {scores.shape}")
    if np.isinf(answered).any():
        raise ValueError(f"{name} returned an infinite advantage")
    if not np.isnan(answered).any():
        return answered.tolist()
    return [[None if x != x else x for x in row] for row in answered.tolist()]


class _Conversation:
    """Lines from one process of the program, and the answers to them."""

    def __init__(self, server: Server, name: str, connection: socket.socket, requests: int, answers: int):
        self.server, self.name, self.connection, self.requests, self.answers = server, name, connection, requests, answers
        self.pending, self.open = b"", True

    def read(self) -> bool:
        """Answers what has come; False at the end."""
        piece = os.read(self.requests, 1 << 20)
        *lines, self.pending = (self.pending + piece).split(b"\n")
        try:
            for line in lines:
                _write(self.answers, json.dumps(self.server.answer(self.name, json.loads(line))).encode() + b"\n")
        except BrokenPipeError:  # the program has given up, and says why
            piece = b""
        if not piece:
            self.close()
        return bool(piece)

    def close(self) -> None:
        if self.open:
            self.open = False
            os.close(self.requests)
            os.close(self.answers)
            self.connection.close()  # the relay ends


def _write(end: int, data: bytes) -> None:
    while data:
        data = data[os.write(end, data) :]


def _source_hash(name: str, function: Callable) -> str:
    """SHA-256 of what a function is; of its source's text alone where it holds nothing else. TypeError if it holds what has no lasting text."""
    try:
        parts = _identity(function, ())
    except TypeError as why:
        raise TypeError(
            f"estimators[{name!r}] holds {why}, which cannot be told from another one in a later session: make it a global of the module, and give "
            "the estimator a new name when it changes"
        ) from why
    alone = parts[0] == "function" and isinstance(parts[1], str) and not any(parts[2:])
    return hashlib.sha256((parts[1] if alone else repr(parts)).encode()).hexdigest()


def _identity(value: Any, enclosing: Tuple[int, ...]) -> tuple:
    """Nested tuples, equal where values are, in other processes too: without addresses. TypeError with the words for what it cannot encode.

    `enclosing`: ids of the values that have this one. Globals, and what a function calls, are not looked at.
    """
    if id(value) in enclosing:  # a function that calls itself, for example
        return ("enclosing", enclosing.index(id(value)))
    within = (*enclosing, id(value))

    def parts(*values: Any) -> tuple:
        return tuple(_identity(one, within) for one in values)

    if value is None or value is Ellipsis or type(value) in (bool, int, float, complex, str, bytes):
        return (type(value).__name__, repr(value))
    if type(value) in (list, tuple):
        return (type(value).__name__, *parts(*value))
    if type(value) in (set, frozenset):
        return (type(value).__name__, *sorted(parts(*value), key=repr))
    if isinstance(value, dict):
        return (_name(type(value)), *parts(*value.keys()), *parts(*value.values()))
    if isinstance(value, types.CodeType):
        names = (value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars)
        return (value.co_code, getattr(value, "co_exceptiontable", b""), *names, *parts(*value.co_consts))
    if isinstance(value, types.FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or () if cell != types.CellType()]  # without those that are not filled yet
        held = [many and _identity(many, within) for many in (value.__defaults__, value.__kwdefaults__, cells, vars(value))]
        code = value.__code__  # its source is not that of a function which it wraps
        return ("function", (code.co_name != "<lambda>" and _source(code)) or _identity(code, within), *held)
    if isinstance(value, functools.partial):
        return ("partial", *parts(value.func, value.args, value.keywords))
    if isinstance(value, types.MethodType):
        owner = value.__self__
        return ("method", *parts(value.__func__), *(parts(type(owner), vars(owner)) if hasattr(owner, "__dict__") else parts(owner)))
    if isinstance(value, types.ModuleType):
        return ("module", value.__name__)
    if isinstance(value, type):
        return ("class", *((_name(one), _source(one)) for one in value.__mro__[:-1]))
    if isinstance(value, np.ufunc) and not value.__name__.endswith("(vectorized)"):  # not of numpy.frompyfunc
        return ("ufunc", value.__name__)
    if type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    if type(value) is np.ndarray or isinstance(value, np.generic):
        content = parts(value.tolist()) if value.dtype.hasobject else hashlib.sha256(value.tobytes()).hexdigest()
        return ("array", value.dtype.str, value.shape, content)
    if callable(value) and hasattr(value, "__dict__"):
        return ("object", *parts(type(value), vars(value)))
    try:
        return ("pickle", hashlib.sha256(pickle.dumps(value, 4)).hexdigest())
    except Exception as why:
        raise TypeError(f"a {_name(type(value))} ({why})") from why


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _source(what: Any) -> str:
    try:
        return inspect.getsource(what)
    except (OSError, TypeError):
        return ""
