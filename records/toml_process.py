"""The process that reads TOML of strangers, plans and tasks, so that none of their texts can take this process with it.

One for each user process, started when first needed and again when a text has ended it. It has limits on memory and
open files, and CPU time for each text; the clock on the wall plays no part, so a busy machine only makes it slower. A
text that ends it is refused, unless a plain text ends its successor as well: then the machine is at fault. A process
that is confined itself, and may start no other, reads the texts on its own (`read_toml_here`).
"""

from __future__ import annotations

import atexit
import contextlib
import json
import math
import os
import re
import resource
import struct
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path
from typing import IO, Any

from records import toml_child
from records.errors import MachineError

CPU_S = 2  # for one text; an honest one takes a millisecond
MEMORY_BYTES = 256 << 20
ANSWER_BYTES = 4 << 20
_PROGRAM = Path(__file__).with_name("toml_child.py")
_CONTROL = "a = 1\n"
_HERE = threading.Event()
_LONG_KEY = re.compile(r"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){16}")  # takes time and memory by the square of its parts


class TomlProcess:
    """Reads texts one after another. Safe for threads."""

    def __init__(self, cpu_s: float = CPU_S, memory_bytes: int = MEMORY_BYTES) -> None:
        """Take limits: `cpu_s` is for one text, `memory_bytes` of address space."""
        self._cpu_s, self._memory = cpu_s, memory_bytes
        self._child: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()  # a fork has a process of its own
        self._turn = threading.Lock()

    def read(self, text: str) -> dict[str, Any]:
        """Return `table` with the contents, or `error` with what is wrong, and sometimes its `line`."""
        if long_key := _LONG_KEY.search(text):
            return {"error": "a key of too many parts", "line": text.count("\n", 0, long_key.start()) + 1}
        if _HERE.is_set():
            return toml_child.read(text)
        with self._turn:
            try:
                answer = self._ask(text)
                if answer is not None:
                    return answer
                if self._ask(_CONTROL) is None:
                    raise MachineError(
                        f"the process that reads TOML does not run here: {sys.executable} {_PROGRAM}; "
                        "see whether this Python starts and has 256 MiB of memory"
                    )
            except OSError as error:
                reason = error.strerror or str(error)
                raise MachineError(f"the process that reads TOML cannot be started: {reason}") from None
        return {"error": "it takes too much time or memory to read; write it plainly", "line": 1}

    def close(self) -> None:
        """End the process; the next text starts another one."""
        with self._turn:
            self._end()

    def _ask(self, text: str) -> dict[str, Any] | None:
        """Ask for the answer; None where the process has ended over it."""
        child, data = self._started(), text.encode("utf-8", errors="replace")
        try:
            limit = math.ceil(_cpu_seconds(child.pid) + self._cpu_s)
            resource.prlimit(child.pid, resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
            _stream(child.stdin).write(struct.pack("<I", len(data)) + data)
            _stream(child.stdin).flush()
            head = _stream(child.stdout).read(4)
            size = struct.unpack("<I", head)[0] if len(head) == 4 else ANSWER_BYTES + 1
            answer = _stream(child.stdout).read(size) if size <= ANSWER_BYTES else b""
        except (BrokenPipeError, ProcessLookupError, FileNotFoundError):
            answer = b""
        try:
            parsed: dict[str, Any] = json.loads(answer)
            return parsed
        except (ValueError, RecursionError):
            self._end()
            return None

    def _started(self) -> subprocess.Popen[bytes]:
        if self._owner != os.getpid():
            self._child, self._owner = None, os.getpid()
        if self._child is None or self._child.poll() is not None:
            self._end()
            self._child = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_PROGRAM)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={},
                start_new_session=True,
                close_fds=True,
            )
            for kind, most in (
                (resource.RLIMIT_AS, self._memory),
                (resource.RLIMIT_CORE, 0),
                (resource.RLIMIT_FSIZE, 0),
            ):
                resource.prlimit(self._child.pid, kind, (most, most))
        return self._child

    def _end(self) -> None:
        if self._child is not None:
            self._child.kill()
            for stream in (self._child.stdin, self._child.stdout):
                _close(_stream(stream))
            self._child.wait()
        self._child = None


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None  # all are pipes
    return stream


def _close(stream: IO[bytes]) -> None:
    with contextlib.suppress(BrokenPipeError):  # what was written and not read is of no use
        stream.close()


def _cpu_seconds(pid: int) -> float:
    """Read the CPU time that a process has used."""
    words = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def read_toml_here() -> None:
    """Read texts in this process from now on: for one with limits of its own, which may start no other."""
    _HERE.set()


@cache
def toml_process() -> TomlProcess:
    """Return the one of this process; it ends with it."""
    process = TomlProcess()
    atexit.register(process.close)
    return process
