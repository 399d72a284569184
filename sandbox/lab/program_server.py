"""An interpreter that has read a program and executes requests one after the other, each in a process of its own.

What takes longer than a small execution is there once: the cage, the interpreter, the program. The address space, the
limits and the filter of system calls are each execution's own. A server has one request at a time, so what ends badly
ends with its server and concerns no other request.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import struct
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from records import scratch_folder
from records.stopping import StopSignal
from sandbox.cage.confinement import Cage
from sandbox.cage.meter import End, Meter, ProcessLimits
from sandbox.cage.view import View
from sandbox.lab.execution_place import ExecutionPlace, Start, words
from sandbox.lab.memory_folder import prefix
from sandbox.process import Completed, Stream, ended_at
from sandbox.process_tree import children_of
from sandbox.started import StartedProgram

IDLE = 6  # servers at most that wait for requests
_ORDER = struct.Struct("<Q56s")  # see machine/interpreter/serve.h
_FIRST_LOOK_MS, _LOOK_MS = 150, 10  # at an execution's limits: most have ended by then; and between two looks
_MESSAGES = 4096  # bytes of what an execution says on standard error
_LIMITS = ProcessLimits(cpu_s=1 << 20, file_bytes=64 << 20)  # of the server, and at most of an execution
_ANSWER_BYTES = 64


class ProgramServer:
    """One interpreter with its folder, in a cage with namespaces of its own."""

    def __init__(self, executor: Path, image: Path, parent: Path, cage: Cage, stop: StopSignal) -> None:
        """Start it; `parent` is where its folder is made. MachineError, HostStarved, RunStopped."""
        stop.check()
        self.image, self._stop = image, stop
        self._base = scratch_folder.make_in(parent, prefix())
        self.folder, self._inputs = self._base / "work", self._base / "inputs"
        self.folder.mkdir()
        self._inputs.mkdir()
        self._has_failed = False
        view = View(executable=(executor,), readable=(image, self._inputs), writable=(self.folder,), may_fork=True)
        argv = [str(executor), "serve", str(image), str(self.folder), str(self._inputs)]
        try:
            self._launch = StartedProgram(argv, self.folder, {}, _LIMITS, cage, view)
            try:
                self._pid = self._launch.begin()
            except BaseException:
                self._launch.__exit__(None, None, None)
                raise
        except BaseException:
            scratch_folder.remove(self._base)
            raise
        _, out, err = self._pipes()
        os.set_blocking(err, False)
        self._poll = select.poll()
        self._poll.register(out, select.POLLIN)
        self._lock, self._has_ended = threading.Lock(), False

    def _pipes(self) -> tuple[int, int, int]:
        child = self._launch.child
        assert child.stdin and child.stdout and child.stderr
        return child.stdin.fileno(), child.stdout.fileno(), child.stderr.fileno()

    def run(self, limits: ProcessLimits, stored: Path | None) -> Completed:
        """Execute the request that lies in the folder; `stored` is a file of inputs. OSError where none can be.

        RunStopped where none may be, or where this one is not to end.
        """
        self._stop.check()
        started, name = time.monotonic(), b""
        into, out, _ = self._pipes()
        if stored is not None:
            name = stored.name.encode()
            os.link(stored, self._inputs / stored.name)
        try:
            os.write(into, _ORDER.pack(limits.cpu_s, name))
            end, cpu_s = self._awaited(limits)
            output = os.read(out, _ANSWER_BYTES) if end == "ended" else b""
        finally:
            if stored is not None:
                (self._inputs / stored.name).unlink(missing_ok=True)
        answer = output.split()
        if answer[:1] == [b"ended"] and len(answer) == 4:
            returncode, cpu_s = int(answer[2]) * (-1 if answer[1] == b"signal" else 1), int(answer[3]) / 1e6
        else:
            returncode = -signal.SIGKILL
        end = ended_at(end, returncode, cpu_s, limits)
        messages = self._messages()
        self._has_failed = returncode != 0
        late = end in ("cpu", "stalled", "deadline")
        return Completed(returncode, "", messages, late, time.monotonic() - started, end, cpu_s)

    def _awaited(self, limits: ProcessLimits) -> tuple[End, float]:
        """Wait for the end of the execution, by itself or at a limit; give it and the processor time so far."""
        if self._poll.poll(_FIRST_LOOK_MS):
            return "ended", 0.0
        assert self._pid is not None
        meters = [Meter(pid, limits, (self.folder,)) for pid in children_of(self._pid)]
        while not self._poll.poll(_LOOK_MS):
            self._stop.check()
            for meter in meters:
                if met := meter.look():
                    return met, meter.cpu_s
        return "ended", 0.0

    def _messages(self) -> str:
        stream = Stream(_MESSAGES)
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self._pipes()[2], _MESSAGES):
                stream.add(data)
        return stream.text()

    def clear(self) -> bool:
        """Leave nothing of the last request; True where another one can be executed."""
        for name in os.listdir(self.folder):  # noqa: PTH208 - a Path for each takes longer
            os.unlink(f"{self.folder}/{name}")  # noqa: PTH108
        return not (self._has_failed or self.has_ended)

    @property
    def has_ended(self) -> bool:
        """True once it takes no request."""
        return self._has_ended or self._launch.has_ended

    def end(self) -> None:
        """End it with all that it has started, and remove its folder; again without effect."""
        with self._lock:
            if self._has_ended:
                return
            self._has_ended = True
        self._launch.__exit__(None, None, None)
        scratch_folder.remove(self._base)


class ProgramServers:
    """Servers that wait for requests, by program. Safe for threads."""

    def __init__(self, executor: Callable[[], Path], cage: Cage, stop: StopSignal) -> None:
        """`executor` finds the interpreter; `stop` ends servers that are at work."""
        self._executor, self._cage, self._stop = executor, cage, stop
        self._idle = deque[ProgramServer]()
        self._lock, self._users = threading.Lock(), 0
        self._starter: ThreadPoolExecutor | None = None
        weakref.finalize(self, _end, self._idle)

    @contextmanager
    def place(self, image: Path, parent: Path, start: Start) -> Iterator[ExecutionPlace]:
        """Lend the folder of a server of this program; it waits for another request afterwards, unless it has failed.

        `parent` is where a new one makes its folder, `start` executes what no server can.
        """
        server = self._waiting(image) or self._start(image, parent)

        def run(limits: ProcessLimits, stored: Path | None) -> Completed:
            try:
                return server.run(limits, stored)
            except OSError:  # it is gone, or the inputs lie on another disk
                return start(words(image, server.folder, stored), limits)

        try:
            yield ExecutionPlace(server.folder, run)
            is_usable = server.clear()
        except BaseException:
            server.end()
            raise
        with self._lock:
            is_usable = is_usable and self._users > 0
            if is_usable:
                self._idle.append(server)
            surplus = server if not is_usable else self._idle.popleft() if len(self._idle) > IDLE else None
        if surplus:
            surplus.end()

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Servers wait for further requests until here, and no longer."""
        with self._lock:
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                waiting = [] if self._users else [*self._idle]
                for server in waiting:
                    self._idle.remove(server)
                starter = None if self._users else self._starter
                self._starter = self._starter if self._users else None
            for server in waiting:
                server.end()
            if starter:
                starter.shutdown()

    @property
    def are_kept(self) -> bool:
        """True where a server that is started can serve another request."""
        return self._users > 0

    def _start(self, image: Path, parent: Path) -> ProgramServer:
        """Start a server. It ends with the thread that has started it, so one thread starts them all."""
        with self._lock:
            self._starter = self._starter or ThreadPoolExecutor(1, thread_name_prefix="servers")
            starting = self._starter.submit(self._started, image, parent)
        return starting.result()

    def _started(self, image: Path, parent: Path) -> ProgramServer:
        return ProgramServer(self._executor(), image, parent, self._cage, self._stop)

    def _waiting(self, image: Path) -> ProgramServer | None:
        while True:
            with self._lock:
                server = next((idle for idle in reversed(self._idle) if idle.image == image), None)
                if server is None:
                    return None
                self._idle.remove(server)
            if not server.has_ended:
                return server
            server.end()


def _end(idle: deque[ProgramServer]) -> None:
    while idle:
        idle.pop().end()
