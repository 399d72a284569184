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
    """Limits of a child; None leaves a limit as it is. Address space breaks GPU drivers: leave it to compilers."""

    cpu_s: int = 60
    memory_bytes: int | None = None
    file_bytes: int = 256 << 20
    processes: int | None = None


@dataclass(frozen=True)
class Completed:
    """The end of a program. `returncode` is minus the signal's number when a signal ended it.

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
    family = _Family(secrets.token_hex(16), _processes())
    started = time.monotonic()
    try:
        child = subprocess.Popen(
            list(argv),
            cwd=cwd,
            env={**env, MARK: family.mark},
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
        timed_out = _converse(child, stdin, out, err, started + timeout_s, family)
    finally:
        _end(child, family)
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
    child: subprocess.Popen[bytes], stdin: bytes, out: _Stream, err: _Stream, deadline: float, family: _Family
) -> bool:
    """Feed and drain the pipes until the program has ended; True when the deadline came first."""
    pipes = child.stdin, child.stdout, child.stderr
    assert pipes[0] and pipes[1] and pipes[2]
    rest = memoryview(stdin)
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
                if family.swept and not events:
                    return False  # whoever holds the pipes open is out of our reach
                if not family.swept:
                    family.sweep(child.pid)
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


def _end(child: subprocess.Popen[bytes], family: _Family) -> None:
    if child.returncode is None:
        if not family.is_gone:
            family.sweep(child.pid)
        child.wait()
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def _processes() -> frozenset[tuple[str, int]]:
    """Every process by its number and the inode of its folder, which a later process of the same number has not."""
    with os.scandir("/proc") as entries:
        return frozenset((entry.name, entry.inode()) for entry in entries if entry.name.isdigit())


@dataclass
class _Family:
    """A program and whatever it has started: its group, its session, everything that carries its mark."""

    mark: str
    before: frozenset[tuple[str, int]]  # processes that were there before it, so none of its own
    swept: bool = False
    is_gone: bool = False  # nobody was left when it was last swept

    def sweep(self, leader: int) -> None:
        """Kill the group of the leader, then whoever left the group; repeated because a fork may race with the kill."""
        self.swept = True
        for _ in range(20):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(leader, signal.SIGKILL)
            left = self.survivors(leader)
            self.is_gone = not left
            if self.is_gone:
                return
            for pid in left:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.001)

    def survivors(self, leader: int) -> list[int]:
        """Living processes of this family apart from the leader."""
        token = f"{MARK}={self.mark}".encode()
        found = []
        for name, _ in _processes() - self.before:
            if int(name) == leader:
                continue
            with contextlib.suppress(OSError):
                state, _, _, session = _read_file(f"/proc/{name}/stat").rpartition(b")")[2].split()[:4]
                if state in (b"Z", b"X"):
                    continue
                if int(session) == leader or token in _read_file(f"/proc/{name}/environ"):
                    found.append(int(name))
        return found


def _read_file(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - a Path for each process takes longer than its file
        return file.read()
