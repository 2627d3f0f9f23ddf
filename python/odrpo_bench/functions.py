"""Answers for estimators that are Python functions, by the protocol of docs/own-estimator.md.

The program starts `python-function NAME HASH` for each of its workers. That process (relay.py) hands its stdin and stdout to this one over a Unix
socket and waits, so that the functions run here, in the process that defined them.
"""

import hashlib
import inspect
import json
import os
import platform
import selectors
import shlex
import socket
import sys
import tempfile
import traceback
from typing import Any, Callable, Dict, List, Mapping, Optional

import numpy as np

_COMMAND = "python-function"


class Server:
    """Functions by name: f(scores[B, G]) -> advantages[B, G]. Used as a context, in which the program's processes can connect.

    `exception`: the first that a function raised. `environment`: what the program must be started with.
    """

    def __init__(self, functions: Mapping[str, Callable[[np.ndarray], Any]]):
        for name, function in functions.items():
            if not callable(function):
                raise TypeError(f"estimators[{name!r}] is no function but {type(function).__name__}")
        self.names = list(functions)
        self.exception: Optional[BaseException] = None
        self._functions = functions
        self._conversations: List[_Conversation] = []
        self._hashes = {name: _source_hash(function) for name, function in functions.items()}

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

    def __exit__(self, *_: Any) -> None:
        for conversation in self._conversations:  # those that the program did not end
            conversation.close()
        self._listener.close()
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
    """What the function answers, as lists. NaN becomes null, which a missing score may have. ValueError for another shape and for infinities."""
    answered = np.asarray(function(scores), dtype=np.float64)
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


def _source_hash(function: Callable) -> str:
    """SHA-256 of a function's source; of its byte code, or its name, where there is no source."""
    try:
        text = inspect.getsource(function).encode()
    except (OSError, TypeError):
        code = getattr(function, "__code__", None)
        text = (
            code.co_code + repr(code.co_consts).encode()
            if code
            else f"{type(function).__module__}.{getattr(function, '__qualname__', type(function).__qualname__)}".encode()
        )
    return hashlib.sha256(text).hexdigest()
