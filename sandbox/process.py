"""Run one program with limits and nobody left behind; in a cage where one is given.

Always: a new session, no inherited descriptors but the three pipes and those that a view names, an environment of
exactly what the caller names plus one mark, limits on CPU, address space, file size and core files, output that is
drained for ever but kept up to a cap, and text without control characters. When the program ends, every process that
still carries the mark or belongs to its session is killed, daemons included.

Without a cage (our own programs: the compiler that builds the runtime) the limits are set with prlimit(2) right after
the spawn, and a deadline on the wall clock may be given. In a cage (`sandbox/cage`) a launcher sets limits, view and
filter before the program starts, and deadlines are CPU time and progress: a program that neither runs nor could run is
stalled, one that could run but gets no processor is waited for, and in the end blames the machine.

Not covered without a cage: the file system and the network, a process that changes both its session and its environment
before the sweep sees it, and our own sudden death (the CPU limit then ends the child).
"""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from records.stopping import StopSignal
from sandbox.cage.confinement import Cage
from sandbox.cage.meter import End, Meter, ProcessLimits
from sandbox.cage.view import View
from sandbox.process_tree import MARK
from sandbox.started import StartedProgram

__all__ = ["MARK", "Completed", "ProcessLimits", "Stream", "clean", "converse", "ended_at", "last_words", "run"]

_CHUNK = 65536
_TICK_S = 0.05
_LOOK_S = 0.01  # between two looks at a program's limits, each of which reads its folders
_SAMPLED = 0.75  # the kernel's own limit of CPU time counts ticks, which on a shared machine run ahead of the time used
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Completed:
    """The end of a program. `returncode` is minus the signal's number when a signal ended it.

    `timed_out` is true for every deadline: CPU time, no progress, and the wall clock where one was asked for.
    """

    returncode: int
    stdout: str
    stderr: str
    timed_out: bool
    seconds: float
    end: End = "ended"
    cpu_s: float = 0.0  # of the program in a cage; 0 where it is not known


@dataclass
class Stream:
    """The first and the last of what a program writes, `cap` bytes in all: a cause stands at the end as a rule."""

    cap: int
    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)  # of what the head has no room for
    cut: int = 0

    def add(self, data: bytes) -> None:
        """Keep what there is room for, and count the rest."""
        room = max(0, self.cap - self.cap // 4 - len(self.head))
        self.head += data[:room]
        self.tail += data[room:]
        surplus = len(self.head) + len(self.tail) - self.cap
        if surplus > 0:
            del self.tail[:surplus]
            self.cut += surplus

    def text(self) -> str:
        """Decode it as text without control characters, with a note where it is cut."""
        if not self.cut:
            return clean((self.head + self.tail).decode("utf-8", errors="replace"))
        head, tail = (clean(part.decode("utf-8", errors="replace")) for part in (self.head, self.tail))
        return f"{head}\n[{self.cut} bytes were cut here]\n{tail}"


def last_words(text: str, most: int = 300) -> str:
    """Return the end of what a program printed, in one line: there it says what went wrong."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"… {flat[-most:]}"


def clean(text: str) -> str:
    """Strip terminal escapes, control characters and direction marks; tabs and line feeds stay."""
    return _CONTROLS.sub("", _ESCAPES.sub("", text.replace("\r\n", "\n")))


def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    limits: ProcessLimits,
    timeout_s: float | None = None,
    cage: Cage | None = None,
    view: View | None = None,
    stdin: bytes = b"",
    output_cap: int = 65536,
    stop: StopSignal | None = None,
) -> Completed:
    """Run `argv` to its end or to the first limit it meets. Safe from several threads.

    A cage takes a view. `timeout_s` is of the wall clock, for programs of our own. MachineError when the program cannot
    be started, HostStarved when it got no processor for too long, RunStopped when `stop` is asked, before or meanwhile.
    """
    if stop is not None:
        stop.check()
    started = time.monotonic()
    out, err = Stream(output_cap), Stream(output_cap)
    with StartedProgram(argv, cwd, env, limits, cage, view) as launch:
        program = launch.begin()
        meter = None if program is None else Meter(program, limits, view.writable if view else ())
        deadline = None if timeout_s is None else started + timeout_s
        most = limits.output_bytes if cage else None
        end = converse(launch, stdin, (out, err), deadline, meter, most, stop)
        launch.end()
        returncode, cpu_s = launch.returned()
    end = ended_at(end, returncode, cpu_s, limits)
    late = end in ("cpu", "stalled", "deadline")
    return Completed(returncode, out.text(), err.text(), late, time.monotonic() - started, end, cpu_s)


def ended_at(end: End, returncode: int, cpu_s: float, limits: ProcessLimits) -> End:
    """Name the limit that a program has met, where the kernel has ended it for one, too."""
    killed_late = returncode == -signal.SIGKILL and cpu_s >= _SAMPLED * limits.cpu_s
    return "cpu" if end == "ended" and (returncode == -signal.SIGXCPU or killed_late) else end


def converse(
    launch: StartedProgram,
    stdin: bytes,
    outputs: tuple[Stream, Stream],
    deadline: float | None,
    meter: Meter | None,
    most: int | None,
    stop: StopSignal | None = None,
) -> End:
    """Feed and drain the pipes until the program has ended or met a limit; RunStopped when it is to stop."""
    pipes = launch.child.stdin, launch.child.stdout, launch.child.stderr
    assert pipes[0] and pipes[1] and pipes[2]
    unwritten = memoryview(stdin)
    with selectors.DefaultSelector() as selector:
        for pipe, stream in zip(pipes, (None, *outputs), strict=True):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
            selector.register(pipe, selectors.EVENT_WRITE if stream is None else selectors.EVENT_READ, stream)
        looked = time.monotonic()
        while selector.get_map():
            if time.monotonic() >= looked + _LOOK_S:
                if met := _limit_met(deadline, meter):
                    return met
                looked = time.monotonic()
            if most is not None and any(stream.cut > most for stream in outputs):
                return "output"
            if stop is not None:
                stop.check()
            is_last = launch.has_ended and launch.is_swept  # asked first: all that was written then lies in the pipes
            events = selector.select(_TICK_S)
            for key, _ in events:
                pipe = key.fileobj  # type: ignore[assignment]
                if key.data is None:
                    unwritten = _write(selector, pipe, unwritten)
                else:
                    _read(selector, pipe, key.data)
            if is_last and not events:
                return "ended"  # whoever holds the pipes open is out of our reach
            if launch.has_ended:
                launch.sweep()
    while not launch.has_ended:  # it closed its pipes and runs on
        if met := _limit_met(deadline, meter):
            return met
        if stop is not None:
            stop.check()
        launch.wait(_TICK_S)
    return "ended"


def _limit_met(deadline: float | None, meter: Meter | None) -> End | None:
    if deadline is not None and time.monotonic() > deadline:
        return "deadline"
    return meter.look() if meter else None


def _write(selector: selectors.BaseSelector, pipe: IO[bytes] | None, unwritten: memoryview) -> memoryview:
    assert pipe is not None
    try:
        unwritten = unwritten[os.write(pipe.fileno(), unwritten[:_CHUNK]) :] if unwritten else unwritten
    except BlockingIOError:
        return unwritten
    except BrokenPipeError:
        unwritten = unwritten[:0]
    if not unwritten:
        selector.unregister(pipe)
        with contextlib.suppress(BrokenPipeError):
            pipe.close()
    return unwritten


def _read(selector: selectors.BaseSelector, pipe: IO[bytes] | None, stream: Stream) -> None:
    assert pipe is not None
    try:
        data = os.read(pipe.fileno(), _CHUNK)
    except BlockingIOError:
        return
    stream.add(data)
    if not data:
        selector.unregister(pipe)
