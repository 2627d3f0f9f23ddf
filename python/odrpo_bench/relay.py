"""Hands its stdin and stdout to the process that listens on a socket, and waits until that closes the connection: relay.py SOCKET NAME HASH."""

import os
import socket
import sys

connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])
socket.send_fds(connection, [sys.argv[2].encode()], [0, 1])
os.close(0)
os.close(1)
connection.recv(1)
