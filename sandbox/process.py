"""Run one program with limits, a deadline and nobody left behind.

Covered: a new session, no inherited descriptors but the three pipes, an environment of exactly what the caller names
plus one mark, limits on CPU, address space, file size, core files and processes, a deadline on the wall clock, output
that is drained for ever but kept up to a cap, and text without control characters. When the program ends, by itself or
at the deadline, every process that still carries the mark or belongs to its session is killed, daemons included.

The limits are set with prlimit(2) right after the spawn, not between fork and exec, because a hook there is not safe in
a program with threads. The programs started here are ours (the compiler, the lab's executor) and reach nothing that a
candidate controls in that moment.

Not covered: the file system and the network (no namespaces are needed or used here), a process that changes both its
session and its environment before the sweep sees it, RLIMIT_NPROC for root (the kernel ignores it), and our own sudden
death (the CPU limit then ends the child).
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import secrets
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from records.errors import MachineError

MARK = "KS_PROCESS"
_CHUNK = 65536
_TICK_S = 0.05
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class ProcessLimits:
    """What a child may use; None leaves a limit as it is. Address space breaks GPU drivers: leave it to compilers."""

    cpu_s: int = 60
    memory_bytes: int | None = None
    file_bytes: int = 256 << 20
    processes: int | None = None


@dataclass(frozen=True)
class Completed:
    """How a program ended. `returncode` is minus the signal's number when a signal ended it.

    `timed_out` is true for the wall clock's deadline and for the CPU limit.
    """

    returncode: int
    stdout: str
    stderr: str
    timed_out: bool
    seconds: float


@dataclass
class _Stream:
    cap: int
    kept: bytearray = field(default_factory=bytearray)
    cut: int = 0

    def add(self, data: bytes) -> None:
        room = max(0, self.cap - len(self.kept))
        self.kept += data[:room]
        self.cut += max(0, len(data) - room)

    def text(self) -> str:
        text = clean(self.kept.decode("utf-8", errors="replace"))
        return f"{text}\n[{self.cut} more bytes were cut]\n" if self.cut else text


def clean(text: str) -> str:
    """The text without terminal escapes, control characters and direction marks; tabs and line feeds stay."""
    return _CONTROLS.sub("", _ESCAPES.sub("", text.replace("\r\n", "\n")))


def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout_s: float,
    limits: ProcessLimits,
    stdin: bytes = b"",
    output_cap: int = 65536,
) -> Completed:
    """Run `argv` to its end or to the deadline. Safe from several threads. MachineError when it cannot be started."""
    mark = secrets.token_hex(16)
    started = time.monotonic()
    try:
        child = subprocess.Popen(
            list(argv),
            cwd=cwd,
            env={**env, MARK: mark},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            close_fds=True,
        )
    except OSError as error:
        raise MachineError(f"{argv[0]} cannot be started: {error.strerror or error}") from None
    out, err = _Stream(output_cap), _Stream(output_cap)
    try:
        _limit(child.pid, limits)
        timed_out = _converse(child, stdin, out, err, started + timeout_s, mark)
    finally:
        _end(child, mark)
    timed_out = timed_out or child.returncode == -signal.SIGXCPU
    return Completed(child.returncode, out.text(), err.text(), timed_out, time.monotonic() - started)


def _limit(pid: int, limits: ProcessLimits) -> None:
    wanted: list[tuple[int, int | None, int]] = [
        (resource.RLIMIT_CPU, limits.cpu_s, 2),
        (resource.RLIMIT_FSIZE, limits.file_bytes, 0),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_AS, limits.memory_bytes, 0),
        (resource.RLIMIT_NPROC, limits.processes, 0),
    ]
    # A program that has ended needs no limit: ESRCH once it is reaped, EPERM while it is a zombie.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        for kind, value, slack in wanted:
            if value is not None:
                hard = resource.prlimit(pid, kind)[1]
                top = value + slack if hard == resource.RLIM_INFINITY else min(value + slack, hard)
                resource.prlimit(pid, kind, (min(value, top), top))


def _converse(
    child: subprocess.Popen[bytes], stdin: bytes, out: _Stream, err: _Stream, deadline: float, mark: str
) -> bool:
    """Feed and drain the pipes until the program has ended; True when the deadline came first."""
    pipes = child.stdin, child.stdout, child.stderr
    assert pipes[0] and pipes[1] and pipes[2]
    rest, swept = memoryview(stdin), False
    with selectors.DefaultSelector() as selector:
        for pipe, stream in zip(pipes, (None, out, err), strict=True):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
            selector.register(pipe, selectors.EVENT_WRITE if stream is None else selectors.EVENT_READ, stream)
        while selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                return True
            events = selector.select(min(left, _TICK_S))
            for key, _ in events:
                pipe = key.fileobj  # type: ignore[assignment]
                if key.data is None:
                    rest = _write(selector, pipe, rest)
                else:
                    _read(selector, pipe, key.data)
            if _has_ended(child.pid):
                if swept and not events:
                    return False  # whoever holds the pipes open is out of our reach
                if not swept:
                    _sweep(child.pid, mark)
                    swept = True
    while not _has_ended(child.pid):  # it closed its pipes and runs on
        left = deadline - time.monotonic()
        if left <= 0:
            return True
        time.sleep(min(left, 0.002))
    return False


def _write(selector: selectors.BaseSelector, pipe: IO[bytes] | None, rest: memoryview) -> memoryview:
    assert pipe is not None
    try:
        rest = rest[os.write(pipe.fileno(), rest[:_CHUNK]) :] if rest else rest
    except BlockingIOError:
        return rest
    except BrokenPipeError:
        rest = rest[:0]
    if not rest:
        selector.unregister(pipe)
        with contextlib.suppress(BrokenPipeError):
            pipe.close()
    return rest


def _read(selector: selectors.BaseSelector, pipe: IO[bytes] | None, stream: _Stream) -> None:
    assert pipe is not None
    try:
        data = os.read(pipe.fileno(), _CHUNK)
    except BlockingIOError:
        return
    stream.add(data)
    if not data:
        selector.unregister(pipe)


def _has_ended(pid: int) -> bool:
    """True once the program is a zombie; it is not reaped, so its number cannot be taken by another process."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None


def _end(child: subprocess.Popen[bytes], mark: str) -> None:
    if child.returncode is None:
        _sweep(child.pid, mark)
        child.wait()
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def _sweep(leader: int, mark: str) -> None:
    """Kill the group of the leader, then whoever left the group; repeated because a fork may race with the kill."""
    for _ in range(20):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)
        left = _survivors(leader, mark)
        if not left:
            return
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.001)


def _survivors(leader: int, mark: str) -> list[int]:
    token = f"{MARK}={mark}".encode()
    found = []
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit() or int(entry.name) == leader:
            continue
        with contextlib.suppress(OSError):
            state, _, _, session = Path(entry.path, "stat").read_bytes().rpartition(b")")[2].split()[:4]
            if state in (b"Z", b"X"):
                continue
            if int(session) == leader or token in Path(entry.path, "environ").read_bytes():
                found.append(int(entry.name))
    return found
