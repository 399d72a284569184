"""A program of the user's own behind Landlock: it has the network and may start others, and some files are not there.

Run as a file, by `python -I -S`, with one JSON object; it becomes the program that it is told to start. `visible` are
paths that can be read and executed, `free` ones that can be written, too; all else cannot be opened. It ends with the
thread that has started it.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from sandbox.cage import landlock
from sandbox.cage.view import View

_PARENT_DEATH, _DROP_CAPABILITY, _CAPABILITIES = 1, 24, 64
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts")


def main(text: str) -> int:
    """Become the program; returns only where it cannot be started."""
    words = json.loads(text)
    ctypes.CDLL(None).prctl(_PARENT_DEATH, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != words["parent"]:
        return 73  # it died before
    program = list(words["program"])
    try:
        os.chdir(words["folder"])
        if words["is_fenced"]:
            view = View(executable=tuple(map(Path, words["visible"])), devices=())
            free = (*map(Path, words["free"]), *map(Path, DEVICES))
            if not landlock.restrict(view, free=free, has_network=True):
                raise OSError(0, "Landlock cannot be used")
            for capability in range(_CAPABILITIES):  # root's could read another process' environment past the fence
                ctypes.CDLL(None).prctl(_DROP_CAPABILITY, capability, 0, 0, 0)
        os.execv(program[0], program)
    except OSError as error:
        os.write(2, f"{program[0]} cannot be started: {error.strerror or error}\n".encode())
    return 71


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
