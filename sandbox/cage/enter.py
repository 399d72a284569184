"""The launcher where no compiler can build the static one: the same words, without own namespaces.

Run as a file, by `python -I -S`: it needs the standard library only, and becomes the program that it is told to start.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from sandbox.cage import landlock, seccomp
from sandbox.cage.view import View

_PARENT_DEATH, _NO_NEW_PRIVILEGES = 1, 38
_LENGTHS = {"p": 2, "R": 2, "k": 4, "r": 2, "x": 2, "w": 2, "d": 2, "l": 4, "i": 2, "f": 2, "c": 2}


def main(words: Sequence[str]) -> int:
    """Do as launcher/launcher.c does; returns only where the program cannot be started."""
    index, report, parent, folder, filtered, fenced = 0, -1, 0, "/", "", False
    paths: dict[str, list[Path]] = {kind: [] for kind in "rxwd"}
    descriptors: list[int] = []
    while words[index] != "--":
        name, values = words[index], words[index + 1 : index + _LENGTHS[words[index]]]
        index += _LENGTHS[name]
        if name in paths:
            paths[name].append(Path(values[0]))
        elif name == "l":
            kind, soft, hard = (int(value) for value in values)
            top = resource.getrlimit(kind)[1]
            hard = hard if top == resource.RLIM_INFINITY else min(hard, top)
            resource.setrlimit(kind, (min(soft, hard), hard))
        elif name == "i":
            descriptors.append(int(values[0]))
        elif name in "pR":
            parent, report = (int(values[0]), report) if name == "p" else (parent, int(values[0]))
        elif name == "c":
            folder = values[0]
        elif name == "f":
            filtered = values[0]
        fenced = fenced or name == "k"
    program = list(words[index + 1 :])
    os.set_inheritable(report, False)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PARENT_DEATH, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        return 73  # it died before
    try:
        os.chdir(folder)
        libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        view = View(tuple(paths["r"]), tuple(paths["x"]), tuple(paths["w"]), tuple(paths["d"]), tuple(descriptors))
        if fenced and not landlock.restrict(view):
            raise OSError(0, "Landlock cannot be used")
        if filtered:
            seccomp.install(seccomp.from_words(filtered), os.getpid())
        os.execv(program[0], program)
    except OSError as error:
        os.write(report, f"failed {error.errno or 0} {error.strerror or error}\n".encode())
    return 71


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
