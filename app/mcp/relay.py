"""The server of a run as a coding agent starts it: standard input and output, carried to the socket of the run.

Run as a file, by `python -I -S`: it needs the standard library only, and has nothing of this program's in reach.
"""

from __future__ import annotations

import os
import socket
import sys
import threading


def main(address: str) -> int:
    """Carry lines both ways until one side ends; 1 where the session has ended."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        try:
            line.connect(address)
        except OSError as error:
            os.write(2, f"the session has ended ({error.strerror})\n".encode())
            return 1

        def send() -> None:
            while data := os.read(0, 65536):
                line.sendall(data)
            line.shutdown(socket.SHUT_WR)

        threading.Thread(target=send, daemon=True).start()
        while data := line.recv(65536):
            os.write(1, data)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
